# shellcheck shell=bash disable=SC2034
#
# lib.sh - the tool box of contract tests: a directory, assertions, and a drey without Flink. Sourced first by
# tests/contract/test_*.sh; changes to the top of the tree.
#
#   contract_begin [TOOL...]   $BUILD, $DREY, $dir; if a TOOL is missing, the test is skipped, or fails if
#                              DREY_TEST_REQUIRE is set. At exit it calls `at_exit`, kills the processes in `pids`, and
#                              removes $dir
#   result STATUS WHAT         one assertion; if it fails, it shows the ends of the files `show` in $dir, and the test
#                              continues
#   ok WHAT CMD...             the same: CMD succeeds
#   skip WHAT WHY              an assertion that is not possible here
#   status WANT CMD...         CMD exits with status WANT; its output is in $dir/out and $dir/err
#   wait_for CMD...            CMD succeeds within WAIT_S seconds: for a loaded machine, so a failure is rare and slow
#   drey_yaml                  $dir/drey.yaml for the application "orders"; more lines on stdin. `checkpoints` and
#                              `rest_port` as set by the test
#   flink_is BODY              the script that runs instead of Flink
#   start_drey [WRAPPER...]    drey as in a container, in the background: $drey_pid, its log is $dir/log
#   end_drey                   sends SIGTERM and waits for the end: $status
#   phase_is PHASE             the phase that drey reports
#   contract_end               the plan; last line of the test

cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=tests/ports.sh
. tests/ports.sh

WAIT_S=${WAIT_S:-120}
count=0
failed=0
pids=()
show=(out err)
dir=''

at_exit() { :; }

contract_finish() {
	local status=$?
	[ "$BASHPID" = $$ ] || return "$status"
	at_exit
	# with the shell's words about what was killed
	[ "${#pids[@]}" -eq 0 ] || { kill -KILL "${pids[@]}" && wait "${pids[@]}"; } 2>/dev/null
	give_ports
	rm -rf "$dir"
	exit "$status"
}

contract_begin() { # [TOOL...]
	local tool
	for tool; do
		command -v "$tool" >/dev/null && continue
		[ -n "${DREY_TEST_REQUIRE:-}" ] || { echo "1..0 # SKIP $tool is missing" && exit 0; }
		echo "not ok 1 - $tool is missing, and DREY_TEST_REQUIRE is set"
		echo "1..1"
		exit 1
	done
	BUILD=$(cd "${BUILD:-build}" && pwd) || exit 1
	DREY=$BUILD/drey
	dir=$(mktemp -d) || exit 1
	trap contract_finish EXIT
	unset DREY_CONFIG DREY_INIT_FD
}

contract_end() {
	echo "1..$count"
	[ "$failed" -eq 0 ]
	exit
}

# ---- assertions

result() { # STATUS WHAT
	local name
	count=$((count + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $count - $2"
		return
	fi
	failed=$((failed + 1))
	echo "not ok $count - $2"
	for name in "${show[@]}"; do
		[ ! -f "$dir/$name" ] || tail -n 20 "$dir/$name" | cut -c1-300 | sed "s/^/# $name: /"
	done
}

ok() { # WHAT CMD...
	local what=$1 ended=0
	shift
	"$@" || ended=$?
	[ "$ended" -eq 0 ] || echo "# status $ended: $*"
	result "$ended" "$what"
}

skip() { # WHAT WHY
	count=$((count + 1))
	echo "ok $count - $1 # SKIP $2"
}

status() { # WANT CMD...
	local want=$1 got=0
	shift
	"$@" >"$dir/out" 2>"$dir/err" || got=$?
	[ "$got" -eq "$want" ]
}

wait_for() { # CMD...
	local end=$((SECONDS + WAIT_S))
	until "$@" >/dev/null 2>&1; do
		[ "$SECONDS" -lt "$end" ] || return 1
		sleep 0.05
	done
}

# ---- a drey without Flink

drey_yaml() {
	[ -n "${rest_port:-}" ] || take_port rest_port
	mkdir -p "$dir/ck" "$dir/sp"
	cat >"$dir/drey.yaml" <<-YAML
		application: orders
		stateDirectory: $dir/state
		flink:
		  version: 2.3.0
		  command: [$dir/flink]
		  jobClass: example.Job
		  restPort: $rest_port
		  checkpointDirectory: ${checkpoints:-file://$dir/ck}
		  savepointDirectory: file://$dir/sp
	YAML
	cat >>"$dir/drey.yaml"
}

flink_is() { # BODY
	printf '#!/bin/sh\n%s\n' "$1" >"$dir/flink"
	chmod +x "$dir/flink"
}

start_drey() { # [WRAPPER...]
	"$BUILD/drey-init" --agent -- "$@" "$DREY" run --config "$dir/drey.yaml" >"$dir/log" 2>&1 </dev/null &
	drey_pid=$!
	pids+=("$drey_pid")
}

end_drey() {
	kill -TERM "$drey_pid" 2>/dev/null
	reap_drey
}

# For a drey that ends on its own; afterwards another process may have its pid, so it is not killed at exit.
reap_drey() {
	local pid left=()
	wait "$drey_pid"
	status=$?
	for pid in "${pids[@]}"; do
		[ "$pid" = "$drey_pid" ] || left+=("$pid")
	done
	pids=("${left[@]}")
}

phase_is() { # PHASE
	[ "$("$DREY" status --json --config "$dir/drey.yaml" 2>/dev/null | jq -r .phase)" = "$1" ]
}
