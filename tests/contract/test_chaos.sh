#!/usr/bin/env bash
#
# The oracle of `make chaos` (tests/chaos/oracle.py): each history that breaks the promise is a violation, and each that
# only looks like it is not. And its plan: the same seed gives the same actions, and over time every action occurs.

# shellcheck source=tests/contract/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

contract_begin python3

A=aaaaaa00000000000000000000000000
B=bbbbbb00000000000000000000000000
now=0

event() { # EVENT CHECKPOINT COUNT JOB [ATTEMPT]
	now=$((now + 1000))
	echo "$1 $2 $3 subtask=0/1 job=$4 attempt=${5:-0} ms=$now" >>"$dir/events"
}

stored() { # JOB ID PATH
	now=$((now + 1000))
	echo "STORED $now $1 $2 $3" >>"$dir/storage"
}

gone() { # PATH
	now=$((now + 1000))
	echo "GONE $now $1" >>"$dir/storage"
}

# A has started empty and put 100 into checkpoint 1 and 200 into checkpoint 2, which it was told of.
# shellcheck disable=SC2154 # dir is from lib.sh
begin() {
	now=0
	: >"$dir/events"
	: >"$dir/storage"
	event RESTORED - 0 "$A"
	event SNAPSHOT 1 100 "$A"
	stored "$A" 1 "/ck/$A/chk-1"
	event COMPLETED 1 100 "$A"
	event SNAPSHOT 2 200 "$A"
	stored "$A" 2 "/ck/$A/chk-2"
	event COMPLETED 2 200 "$A"
}

# shellcheck disable=SC2317 # called by ok
clean() {
	python3 tests/chaos/oracle.py "$dir/events" "$dir/storage" >"$dir/out" 2>"$dir/err"
}

# shellcheck disable=SC2317 # called by ok
violation() { # TEXT
	! clean && grep -q -- "$1" "$dir/out" && tail -n 1 "$dir/out" | grep -q ' 1 violations$'
}

begin
event RESTORED 2 200 "$B"
ok "from the newest: nothing to say" clean
begin
event RESTORED 1 100 "$B"
ok "from an older checkpoint" violation "restored 100 from 1, 200 were in"
begin
event RESTORED - 0 "$B"
ok "empty" violation "started empty, 200 were in"
begin
event SNAPSHOT 3 300 "$A"
stored "$A" 3 "/ck/$A/chk-3"
event RESTORED 2 200 "$B"
ok "from an older one than the storage has, of which the job was never told" violation "300 were in /ck/$A/chk-3"
begin
event SNAPSHOT 3 300 "$A"
stored aaaaaa 3 /sp/savepoint-aaaaaa-0123456789ab
event RESTORED 2 200 "$B"
ok "from an older one than a savepoint" violation "300 were in /sp/savepoint-aaaaaa"
begin
event SNAPSHOT 3 300 "$A"
event RESTORED 2 200 "$B"
ok "a snapshot that was never complete does not count" clean
begin
event SNAPSHOT 3 300 "$A"
stored "$A" 3 "/ck/$A/chk-3"
event RESTORED 2 200 "$A" 1
ok "nor one that a failure inside of Flink came before" clean
begin
event RESTORED 1 100 "$A" 1
ok "but Flink itself goes back to the last that it has told of" violation "attempt 1 restored 100"
begin
event SNAPSHOT 3 300 "$A"
stored aaaaaa 3 /sp/savepoint-aaaaaa-0123456789ab
event RESTORED 2 200 "$A" 1
cp "$dir/events" "$dir/behind"
event RESTORED 2 200 "$B"
ok "a savepoint that such a failure came after is the newest" violation "300 were in /sp/savepoint-aaaaaa"
cp "$dir/behind" "$dir/events"
event SNAPSHOT 4 220 "$A" 1
stored "$A" 4 "/ck/$A/chk-4"
event RESTORED 4 220 "$B"
ok "until the job has completed something again" clean
begin
event ASKED path 100 by=person
event RESTORED 1 100 "$B"
ok "an older one that was asked for" clean
begin
event ASKED empty 0 by=person
event RESTORED - 0 "$B"
event SNAPSHOT 1 50 "$B"
event COMPLETED 1 50 "$B"
ok "an empty start that was asked for" clean
event RESTORED - 0 cccccc
ok "is one start" violation "started empty, 50 were in"
begin
event RESTORED 2 200 "$B"
event SNAPSHOT 3 300 "$A"
stored "$A" 3 "/ck/$A/chk-3"
ok "two jobs at a time" violation "two jobs: $A"
begin
event SNAPSHOT 3 300 "$A"
event RESTORED 2 200 "$A"
event SNAPSHOT 3 280 "$A"
ok "the same job twice at a time" violation "made snapshot 3 twice"
begin
event GAP - 17 "$A"
ok "a gap" violation "do not continue"
begin
event END - 250 -
event SNAPSHOT 3 250 "$A"
event COMPLETED 3 250 "$A"
gone "/ck/$A/chk-1"
gone "/ck/$A/chk-2"
event RESTORED 3 250 "$B"
ok "a job that has finished runs again" violation "$A has finished"
begin
event END - 200 -
event RESTORED 2 200 "$B"
event SNAPSHOT 3 200 "$B"
event COMPLETED 3 200 "$B"
stored "$B" 3 "/ck/$B/chk-3"
gone "/ck/$B/chk-3"
event RESTORED 3 200 cccccc
ok "also one whose source had ended before its state was read" violation "$B has finished"
begin
event END - 250 -
event RESTORED 2 200 "$B"
ok "its input had ended, it had not finished: it may run again" clean

same_plan() {
	local seed
	for seed in 7 8; do
		python3 tests/chaos/plan.py "$seed" 200 >"$dir/plan.$seed" || return
	done
	python3 tests/chaos/plan.py 7 200 >"$dir/plan" && cmp "$dir/plan" "$dir/plan.7" && ! cmp -s "$dir/plan" "$dir/plan.8"
}
ok "the same seed gives the same plan, another one another" same_plan
everything() {
	local want
	[ "$(grep -c '^signal ' "$dir/plan")" = 200 ] || return
	for want in signal.{KILL,TERM,STOP}.{jm,tm,agent,init} savepoint suspend resume restart fail hold unhold finish older \
		move.{TERM,KILL} away gone deny readonly full back wait settle; do
		grep -qE "^${want//./ }" "$dir/plan" || {
			echo "# no $want"
			return 1
		}
	done
}
ok "and has everything in it" everything
contract_end
