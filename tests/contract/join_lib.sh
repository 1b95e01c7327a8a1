# shellcheck shell=bash
#
# join_lib.sh - `drey join` below drey-init, as in a TaskManager's Pod, with dreys and a TaskManager that scripts play. Sourced first
# by tests/contract/test_join*.sh; it sources lib.sh.
#
#   join_begin                      dreys on $port of 127.0.0.2 to 127.0.0.5 (fake_drey.py), and the TaskManager $dir/tm
#   own, own_green, no_side, other ADDRESS    what that drey answers from now on to generation G
#   drey_says ADDRESS ANSWER        the same: "STATUS BODY" or a word, see fake_drey.py
#   start_join ADDRESSES [COMMAND]  drey-init -- drey join, in the background: $init_pid, its log is $dir/$log; "2 3" are 127.0.0.2
#                                   and .3
#   end_join                        SIGTERM, and waits for the end: $status
#   says TEXT, times N TEXT, lines  of the log; the messages and details of drey join alone
#   up [TIMES], tm_pid, helper_pid  the TaskManager has been started TIMES times; its pid, and that of its own child
#   asked TIMES                     127.0.0.2 was asked at least so often since start_join
#   requests ADDRESS                how often it was asked

# shellcheck disable=SC2016 # for the shell that plays the TaskManager
# shellcheck disable=SC2120,SC2034 # for those who source it

# shellcheck source=tests/contract/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

join_begin() {
	contract_begin jq python3
	log=log
	show=(log)
	export POD_NAME=tm-1
	take_port port
	mkdir "$dir/dreys"
	: >"$dir/dreys/requests"
	python3 tests/contract/fake_drey.py "$dir/dreys" "${port:?}" 127.0.0.{2,3,4,5} 2>"$dir/dreys.log" &
	pids+=($!)
	wait_for test -e "$dir/dreys/up"
	result $? 'the dreys that are played listen'
	make_tm
}

# ---- the dreys ------------------------------------------------------------------------------------------

blue='{"generation":"G","side":"blue","clusterId":"orders"}'
green='{"generation":"G","side":"green","clusterId":"orders-green"}'

# What the drey with this address answers from now on: "STATUS BODY" or a word, see fake_drey.py.
drey_says() { # ADDRESS ANSWER
	printf '%s\n' "$2" >"$dir/dreys/.$1"
	mv "$dir/dreys/.$1" "$dir/dreys/$1"
}

own() { drey_says "$1" "200 $blue"; }
own_green() { drey_says "$1" "200 $green"; }
no_side() { drey_says "$1" '503 {"generation":"G","why":"not yet"}'; }
other() { drey_says "$1" '404 {"generation":"H"}'; }

# ---- the TaskManager ------------------------------------------------------------------------------------

# It says its arguments and each signal that it gets; "deaf": ignores SIGTERM.
make_tm() {
	cat >"$dir/tm" <<-'SH'
		#!/bin/bash
		echo "tm $$ starts: $*"
		[ "$1" = deaf ] && trap 'echo "tm $$ ignores TERM"' TERM || trap 'echo "tm $$ got TERM"; exit 143' TERM
		trap 'echo "tm $$ got QUIT"' QUIT
		trap 'echo "tm $$ got HUP"' HUP
		sleep 1000 & # in its group: to be swept
		echo "tm $$ is up with $!"
		while :; do wait; done
	SH
	chmod +x "$dir/tm"
}

# drey join as in a Pod, for these addresses ("2 3": 127.0.0.2 and .3); its log is $dir/log.
start_join() { # ADDRESSES [COMMAND...]
	local service=() n
	for n in $1; do service+=(--service "127.0.0.$n"); done
	shift
	[ $# -gt 0 ] || set -- "$dir/tm" plain
	: >"$dir/$log"
	requests_before=$(requests 127.0.0.2)
	"$BUILD/drey-init" --remap 143 -- "$DREY" join "${service[@]}" --port "$port" --generation G \
		--file "$dir/ready" -- "$@" >"$dir/$log" 2>&1 </dev/null &
	init_pid=$!
	pids+=("$init_pid")
}

says() { # TEXT
	grep -qF -- "$1" "$dir/$log"
}

times() { # N TEXT
	[ "$(grep -cF -- "$2" "$dir/$log")" -eq "$1" ]
}

# The message and the detail of each line that drey join has logged.
lines() {
	grep -h '^{' "$dir/$log" | jq -r '"\(.msg): \(.detail)"'
}

join_pid() {
	pgrep -P "$init_pid" -x drey
}

tm_pid() {
	sed -n 's/^tm \([0-9]*\) is up .*/\1/p' "$dir/$log" | tail -n 1
}

helper_pid() {
	sed -n 's/^tm [0-9]* is up with //p' "$dir/$log" | tail -n 1
}

up() { # TIMES
	times "${1:-1}" ' is up with '
}

gone() { # PID
	! kill -0 "$1" 2>/dev/null
}

requests() { # ADDRESS: how often it was asked
	grep -c "^$1 " "$dir/dreys/requests"
}

asked() { # TIMES
	[ "$(requests 127.0.0.2)" -ge $((requests_before + $1)) ]
}

end_join() {
	kill -TERM "$init_pid" 2>/dev/null
	wait "$init_pid"
	status=$?
	forget "$init_pid"
}

forget() { # PID
	local pid left=()
	for pid in "${pids[@]}"; do
		[ "$pid" = "$1" ] || left+=("$pid")
	done
	pids=("${left[@]}")
}
