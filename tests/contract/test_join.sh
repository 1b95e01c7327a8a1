#!/usr/bin/env bash
#
# `drey join`, below drey-init as in a TaskManager's Pod: with dreys that a script plays on several addresses (fake_drey.py), and
# a TaskManager that is a script, too: how it starts and ends, and the probe. When it leaves: test_join_leave.sh. With a real
# TaskManager: tests/e2e/test_join.sh.

# shellcheck disable=SC2016 # for the shell that plays the TaskManager

set -uo pipefail
# shellcheck source=tests/contract/join_lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/join_lib.sh"
join_begin

# ---- finds its side -------------------------------------------------------------------------------------

own 127.0.0.2
other 127.0.0.3
touch "$dir/ready"
start_join '3 2'
wait_for up
result $? 'two addresses, one of another generation: the TaskManager starts'
says 'starts: plain -D kubernetes.cluster-id=orders -D high-availability.cluster-id=orders -D taskmanager.resource-id=G-tm-1'
result $? 'with the cluster id that its drey has named, and the id of its generation and Pod'
[ ! -e "$dir/ready" ]
result $? 'and without the file that says that it has been ready'
wait_for asked 3
result $? 'it keeps asking while the TaskManager runs'
kill -QUIT "$init_pid"
wait_for says 'got QUIT'
kill -HUP "$init_pid" # not at the same moment: bash sees only one of two
wait_for says 'got HUP'
result $? 'signals reach the TaskManager'
pid=$(tm_pid) helper=$(helper_pid)
end_join
[ "$status" -eq 0 ] && says 'got TERM' && times 1 'got TERM'
result $? "SIGTERM ends it with the TaskManager's status, 143, which is a success"
gone "$pid" && gone "$helper"
result $? 'nothing is left'

own 127.0.0.2
start_join 2 sh -c 'exit 239'
wait "$init_pid"
[ $? -eq 239 ]
result $? "the TaskManager's own status is that of the container"
forget "$init_pid"
start_join 2 sh -c 'kill -SEGV $$'
wait "$init_pid"
[ $? -eq 139 ]
result $? 'or 128 + its signal'
forget "$init_pid"
start_join 2 "$dir/absent"
wait "$init_pid"
[ $? -eq 127 ] && says 'the command was not found'
result $? 'a command that is not there: 127'
forget "$init_pid"
start_join 2 "$dir"
wait "$init_pid"
[ $? -eq 126 ] && says 'the command cannot be executed'
result $? 'one that is no program: 126'
forget "$init_pid"

# ---- waits ----------------------------------------------------------------------------------------------

other 127.0.0.2
start_join '2 9' # nobody listens there
wait_for asked 3
! up && [ "$(lines)" = "waiting: no drey of this generation answers: generation 'H' answers; 1 without an answer: 127.0.0.9:$port: connect: Connection refused" ]
result $? 'nobody of its generation: waits without a TaskManager, and says so once'
[ "$(pgrep -cP "$(join_pid)")" -eq 0 ]
result $? 'without any child'
no_side 127.0.0.2
wait_for says 'has no side'
! up && [ "$(lines | wc -l)" -eq 2 ] && says 'not yet'
result $? '503: waits on, and says why'
own 127.0.0.2
wait_for up
result $? 'then 200: the TaskManager starts'
end_join

other 127.0.0.2
start_join 2
wait_for asked 1
SECONDS=0
end_join
[ "$status" -eq 0 ] && [ "$SECONDS" -lt 8 ]
result $? 'SIGTERM while it waits ends it with 143'

# What is no answer is no side: each of them is said, and none starts anything.
for mode in hang reset close big drip cut '200 {"generation":"G","side":"blue"' '200 {}' '200 []' '500 x' '404 Not Found' \
	'200 {"generation":"G","side":"blue","clusterId":"-Dx=y"}' '200 {"generation":"H","side":"blue","clusterId":"orders"}' \
	"404 $blue" "301 $blue" "200 $blue$blue"; do
	drey_says 127.0.0.2 "$mode"
	start_join 2
	wait_for says 'no drey of this generation answers'
	! up
	result $? "\"${mode:0:40}\" starts nothing: $(lines | sed 's/.*: 127.0.0.2:[0-9]*: //')"
	end_join
done

drey_says 127.0.0.2 hang
drey_says 127.0.0.3 hang
drey_says 127.0.0.4 drip
own 127.0.0.5
SECONDS=0
start_join '2 3 4 5'
wait_for up
result $? 'addresses that hang do not keep it from the one that answers'
echo "# after $SECONDS s"
end_join
own 127.0.0.2
own_green 127.0.0.3
start_join '2 3'
wait_for says 'different sides'
wait_for asked 4
! up
result $? 'two sides for one generation: neither is joined'
end_join

# ---- the probe ------------------------------------------------------------------------------------------

ready() { # ADDRESS...
	local service=() n
	for n; do service+=(--service "127.0.0.$n"); done
	"$DREY" join --ready "${service[@]}" --port "$port" --generation 'G 1' --file "$dir/mark" >"$dir/out" 2>"$dir/err"
}

: >"$dir/dreys/requests"
ready 2 3
[ $? -eq 1 ] && [ ! -e "$dir/mark" ] && grep -q 'does not run' "$dir/err"
result $? '--ready: the job does not run: 1, and no file'
grep -qx '127.0.0.2 /readyz?generation=G%201' "$dir/dreys/requests"
result $? 'the generation is sent percent-encoded'
ready 9
[ $? -eq 1 ] && [ ! -e "$dir/mark" ] && grep -q 'Connection refused' "$dir/err"
result $? '--ready: nobody answers: 1, and why'
echo '200 Running: the job is running' >"$dir/dreys/127.0.0.3.readyz"
ready 3
[ $? -eq 1 ] && [ ! -e "$dir/mark" ]
result $? '--ready: a drey of before hand-overs means its own job'
echo 200 >"$dir/dreys/127.0.0.3.readyz"
ready 2 9 3 && [ -f "$dir/mark" ] && [ ! -s "$dir/err" ]
result $? '--ready: it runs at one of them: 0, and the file says so'
rm "$dir/dreys/127.0.0.3.readyz"
: >"$dir/dreys/requests"
ready 2 3 && [ ! -s "$dir/dreys/requests" ]
result $? 'from then on it is ready, and nobody is asked'
rm "$dir/mark"
mkdir "$dir/mark"
ready 2 3
[ $? -eq 1 ]
result $? 'what is no file does not count'
rmdir "$dir/mark"
ln -s "$dir/target" "$dir/mark"
echo 200 >"$dir/dreys/127.0.0.3.readyz"
ready 2 3 && [ ! -e "$dir/target" ] && grep -q "create $dir/mark" "$dir/err"
result $? 'nor does a link, which is not followed; ready all the same'
rm "$dir/mark"
status 0 "$DREY" join --ready --service 127.0.0.3 --port "$port" --generation G --file "$dir/absent/mark"
result $? 'a file that cannot be made does not make it unready'
mkdir "$dir/ready.d"
touch "$dir/ready.d/x"
status 1 "$DREY" join --service 127.0.0.2 --port "$port" --generation G --file "$dir/ready.d" -- true
result $? 'a file that cannot be removed ends drey join: the probe would believe it'

# ---- wrong use ------------------------------------------------------------------------------------------

refused() { # WHAT TEXT ARG...
	local what=$1 text=$2
	shift 2
	status 2 "$DREY" join "$@" && grep -qF -- "$text" "$dir/err" && [ ! -s "$dir/out" ]
	result $? "$what"
}

refused 'no service' '--service HOST' --generation G -- true
refused 'no generation' '--generation GENERATION' --service a -- true
refused 'no command' 'COMMAND ARG' --service a --generation G
refused 'a command for the probe' '--ready takes no command' --ready --service a --generation G -- true
for bad in 0 65536 -1 80x ' 80' 99999999999999999999; do
	refused "port '$bad'" "not '$bad'" --service a --generation G --port="$bad" -- true
done
refused 'a generation that is too long' 'more than 1023 bytes' --service a --generation "$(head -c 1024 /dev/zero | tr '\0' a)" -- true
POD_NAME='' refused 'no POD_NAME' '--resource-id ID' --service a --generation G -- true

contract_end
