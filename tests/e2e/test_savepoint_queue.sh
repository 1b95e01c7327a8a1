#!/usr/bin/env bash
#
# Several people request a savepoint at the same time. One is taken at a time; requests that arrive in the meantime share
# the next one, and each gets a response.
#
# runs in: test on 2.3.0

# shellcheck disable=SC2119 # lib.sh has functions whose arguments are optional
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"

# shellcheck disable=SC2317 # called through await
requests_are() { # STATES
	status_is "[.savepointRequests[].state] | join(\" \") == \"$1\""
}

ask() { # N
	drey savepoint --timeout 60s >"$RUN/said.$1" 2>"$RUN/log/cli.$1.log" &
	ASKED+=($!)
}

# Waits for it: its exit status is in ENDED, the place in PLACE.
answer() { # N
	ENDED=0
	wait "${ASKED[$1]}" || ENDED=$?
	PLACE=$(cat "$RUN/said.$1")
}

e2e_begin savepoint-queue
drey_conf
start_tm_pod
start_drey
MUST_LIVE=(jm tm)
await "the job runs" phase_is Running
await "the launch is proven" status_is .launch.proven
ASKED=()

# ---- one is under way, two more ask
control hold-snapshot
await "a snapshot waits" has_events HOLD 1
ask 0
await "a savepoint is under way" requests_are running
ask 1
await "another one is asked for" requests_are "running waiting"
ask 2
await "and one more" requests_are "running waiting waiting"
uncontrol hold-snapshot
answer 0
is "$ENDED" 0 "the first is answered"
first=$PLACE
check "with a savepoint" verify "$first"
answer 1
is "$ENDED" 0 "the second is answered"
second=$PLACE
check "with a savepoint" verify "$second"
check "with another one" [ "$first" != "$second" ]
answer 2
is "$ENDED $PLACE" "0 $second" "the third has the same answer"
is "$(find "$RUN/sp" -name _metadata | wc -l)" 2 "there are no others"

# ---- three at the same moment
for n in 3 4 5; do ask "$n"; done
for n in 3 4 5; do
	answer "$n"
	is "$ENDED" 0 "request $n is answered"
	check "with a savepoint" verify "$PLACE"
done

# ---- nobody waits in vain
held=$(event_count HOLD)
control hold-snapshot
await "a snapshot waits" has_events HOLD $((held + 1))
ask 6
await "a savepoint is under way" status_is '.savepointRequests[-1].state == "running"'
ask 7
await "another one is asked for" status_is '.savepointRequests[-1].state == "waiting"'
check "cancelled meanwhile" drey cancel --timeout 60s
answer 6
is "$ENDED" 1 "the one under way has failed"
answer 7
is "$ENDED" 1 "the one that waited has, too"
check "it says why" grep -q 'no job is running (Cancelled)' "$RUN/log/cli.7.log"
MUST_LIVE=(tm)
e2e_end
