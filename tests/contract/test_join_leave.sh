#!/usr/bin/env bash
#
# `drey join` while its TaskManager runs: when it ends it, and when it must not. As test_join.sh, with dreys and a TaskManager
# that scripts play.

# shellcheck disable=SC2016 # for the shell in the namespace
# shellcheck disable=SC2317 # a function that is called by its name

set -uo pipefail
# shellcheck source=tests/contract/join_lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/join_lib.sh"
join_begin

# ---- leaves ---------------------------------------------------------------------------------------------

own 127.0.0.2
other 127.0.0.3
start_join '2 3'
wait_for up
wait_for asked 2
pid=$(tm_pid) helper=$(helper_pid)
other 127.0.0.2
SECONDS=0
wait_for says 'got TERM'
[ "$SECONDS" -ge 7 ] && [ "$SECONDS" -le 25 ] && says 'TaskManager ends: only dreys of another generation answer'
result $? 'only another generation answers for 10 s: the TaskManager is ended'
echo "# after $SECONDS s"
wait_for says 'waiting: only dreys of another generation answer'
result $? 'and it waits again'
gone "$pid" && wait_for gone "$helper"
result $? 'nothing of the TaskManager is left'
own_green 127.0.0.3
wait_for up 2
says '-D kubernetes.cluster-id=orders-green -D high-availability.cluster-id=orders-green'
result $? 'its generation is on the other side now: it joins that one'
own 127.0.0.3
other 127.0.0.2
SECONDS=0
wait_for up 3
[ "$SECONDS" -le 15 ] && says 'TaskManager ends: its generation is on another side' && says 'cluster id orders'
result $? 'the cluster id changes while it runs: it joins anew'
echo "# after $SECONDS s"
end_join
[ "$status" -eq 0 ]
result $? 'and ends as ever'

own 127.0.0.2
start_join 2 "$dir/tm" deaf
wait_for up
pid=$(tm_pid) helper=$(helper_pid)
own_green 127.0.0.2
wait_for says 'ignores TERM'
SECONDS=0
wait_for says 'did not end in time: SIGKILL'
[ "$SECONDS" -ge 7 ] && [ "$SECONDS" -le 25 ]
result $? 'a TaskManager that ignores SIGTERM gets SIGKILL after 10 s'
echo "# after $SECONDS s"
wait_for up 2
gone "$pid" && gone "$helper" && says 'exit status 137'
result $? 'with what it has started, before the next one starts'
kill -KILL "$(join_pid)"
wait "$init_pid"
[ $? -eq 137 ]
result $? 'drey join is killed: the container ends with 137'
wait_for gone "$(tm_pid)" && wait_for gone "$(helper_pid)"
result $? 'and its TaskManager with it, though it ignores SIGTERM'
forget "$init_pid"

# ---- stays ----------------------------------------------------------------------------------------------

# Three at the same time, because each takes more than 10 s.
own 127.0.0.2
other 127.0.0.3
own 127.0.0.4
own 127.0.0.5
declare -A joins=()
for case in 'hang 2 3' 'silent 4 9' 'sideless 5 3'; do
	log=${case%% *}
	start_join "${case#* }"
	joins[$log]=$init_pid
	wait_for up || break
done
drey_says 127.0.0.2 hang
drey_says 127.0.0.4 reset
no_side 127.0.0.5
log=hang
wait_for says 'no drey of this generation answers; the TaskManager keeps running'
result $? 'its own drey hangs while another generation answers: a warning after 10 s'
log=silent
wait_for says 'no drey of this generation answers; the TaskManager keeps running'
result $? 'nobody answers at all: likewise'
log=sideless
wait_for says 'the drey of this generation has no side; the TaskManager keeps running'
result $? 'its drey has no side any more: likewise'
was=$(requests 127.0.0.2)
more() { # N: questions, to each of the three
	[ "$(requests 127.0.0.2)" -ge $((was + $1)) ]
}
wait_for more 3
for log in hang silent sideless; do
	kill -0 "$(tm_pid)" && ! says 'got TERM' && ! says 'TaskManager ends'
	result $? "$log: the TaskManager keeps running"
done
own 127.0.0.2
own 127.0.0.4
own 127.0.0.5
for log in hang silent sideless; do
	wait_for says 'answers again'
	times 1 'TaskManager starts'
	result $? "$log: until its drey answers again, and it is still the first one"
	init_pid=${joins[$log]}
	end_join
done
log=log

# ---- one name with several addresses --------------------------------------------------------------------

# A name as a headless Service has it, in /etc/hosts of a mount namespace.
name_has() { # NUMBER...
	printf '127.0.0.1 localhost\n' >"$dir/hosts"
	[ $# -eq 0 ] || printf '127.0.0.%s orders-jobmanager\n' "$@" >>"$dir/hosts"
}

name_has 2 3
if ! unshare --user --map-root-user --mount mount --bind "$dir/hosts" /etc/hosts 2>/dev/null; then
	skip 'one name with several addresses' 'no user namespaces here'
else
	own 127.0.0.2
	other 127.0.0.3
	: >"$dir/log"
	unshare --user --map-root-user --mount sh -c 'mount --bind "$1" /etc/hosts && shift && exec "$@"' - "$dir/hosts" \
		"$BUILD/drey-init" --remap 143 -- "$DREY" join --service orders-jobmanager --port "$port" --generation G \
		--file "$dir/ready" -- "$dir/tm" plain >"$dir/log" 2>&1 &
	init_pid=$!
	pids+=("$init_pid")
	wait_for up
	result $? 'one name with two addresses: both are asked'
	name_has
	sleep 1
	was=$(wc -l <"$dir/dreys/requests")
	wait_for says 'no drey of this generation answers; the TaskManager keeps running'
	kill -0 "$(tm_pid)" && [ "$(wc -l <"$dir/dreys/requests")" -le $((was + 2)) ]
	result $? 'the name has no address any more: the TaskManager keeps running'
	name_has 3
	wait_for says 'waiting: only dreys of another generation answer'
	result $? 'its address has vanished, and another generation answers: the TaskManager is ended'
	name_has 3 2
	wait_for up 2
	result $? 'its address is back: it starts again'
	end_join
	[ "$status" -eq 0 ]
	result $? 'and ends as ever'
fi

contract_end
