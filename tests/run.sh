#!/usr/bin/env bash
#
# run.sh - runs the tests through prove(1) and ends with one line: "N passed, N failed".
#
#   tests/run.sh [--build DIR] [--level test|ci|all] all|unit|init|contract|sim|servers|e2e|api|handover|chart|cluster|image|valgrind [NAME...]
#
# DIR (build) contains the programs; it is exported to the tests as BUILD. NAMEs select files of a group:
# `tests/run.sh unit json`, `tests/run.sh e2e job`. `all` are the groups up to cluster.
#
# The level selects how many tests run. A file of e2e, api, handover, chart and cluster is in the level all, unless its head has
#
#   # runs in: test              in all three levels: it is quick, and relevant for every change
#   # runs in: ci                in ci and all
#   # runs in: ci on 1.20.0      the same; below all only with that Flink (there can be several), if FLINK_VERSIONS is not set
#
# The files of the other groups take seconds and are in every level, unless their head has such a line. Without a level, or
# by its name, every file runs. docs/development/testing.md lists them, with the time that each takes.
#
#   unit      DIR/tests/unit/test_*                  eight at a time; programs for arm64 under an emulator
#   init      tests/init/test_*.sh                   one at a time
#   contract  tests/contract/test_*.sh               three at a time, the long ones first
#   sim       tests/sim/test_*.sh                    likewise
#   servers   tests/servers/test_*.sh                with real object stores (tools/get-servers.sh)
#   e2e       tests/e2e/test_*.sh                    two at a time (ci: four), once for each of FLINK_VERSIONS (tests/versions.txt);
#                                                    files that start no Flink only once
#   api       tests/api/test_*.sh                    the same, against a real Kubernetes control plane that is started for
#                                                    them (tests/cluster), and then chart
#   handover  tests/handover/test_*.sh               two Flinks at a time, likewise; one file at a time
#   chart     tests/chart/test_*.sh                  the chart, likewise
#   image     tests/image/test_*.sh                  the Dockerfile's image, without a registry; as root; not part of all
#   cluster   tests/cluster/test_*.sh                real Pods on a real node, which is started for them (tests/cluster/node.sh), or on
#                                                    that in DREY_NODE; as root; two at a time, except files with a line "# alone: WHY"
#   valgrind  the unit tests under valgrind; an error is a failure (leaks: SAN=1)
#
# A test is an executable that prints TAP. The tests inside are counted; a file that fails for another reason (a crash, a
# wrong plan, the time limit) counts as one more failure. If something is missing on this machine, a test is skipped with
# the reason; with DREY_TEST_REQUIRE=1, as in CI, it fails. Exit status: 0 all passed, 1 not, 2 usage.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

usage() {
	sed -n '5p' "${BASH_SOURCE[0]}" | sed 's/^# *//' >&2
	exit 2
}

BUILD=build
level=all
while [[ ${1:-} == --* ]]; do
	[ $# -ge 2 ] || usage
	case $1=$2 in
	--build=*) BUILD=$2 ;;
	--level=test | --level=ci | --level=all) level=$2 ;;
	*) usage ;;
	esac
	shift 2
done
[ $# -ge 1 ] || usage
group=$1
shift
names=("$@")
export BUILD
emulator=''
[[ $BUILD != */static/arm64 || $(uname -m) = aarch64 ]] || emulator=qemu-aarch64-static
# kernels since 6.6 may spread addresses further than TSan knows
tsan=''
if [[ $BUILD == */tsan* ]]; then
	tsan=env
	! setarch -R true 2>/dev/null || tsan='setarch -R'
fi
passed=0
failed=0
skipped='' # a group that cannot be here, and may say so
flaky=() # files that failed once, see prove_twice()
scratch=$(mktemp -d)
# What a sanitizer says goes to files: a program that ends of it may be one that the test does not look at, such as an agent
# that drey-init starts again.
reports=''
if [[ $BUILD == */tsan* || $group:$BUILD == contract:*/san* ]]; then
	reports=$scratch/reports
	mkdir "$reports"
	for name in ASAN UBSAN TSAN; do
		options=${name}_OPTIONS
		export "$options=${!options:+${!options}:}log_path=$reports/of:log_exe_name=1"
	done
fi
cluster=''
cluster_is_up=''
node=''
trap '[ -z "$cluster" ] || tests/cluster/cluster.sh down "$cluster"; [ -z "$node" ] || tests/cluster/node.sh down "$node"
	rm -rf "$scratch"' EXIT

# Adds up the results of one run of prove: the number of tests from its last lines, the failures file by file from the
# state that it saves (last_result: failed tests, and one more if the file as a whole has failed).
count() { # STATUS
	local tests bad
	tests=$(sed -n 's/^Files=[0-9]*, Tests=\([0-9]*\),.*/\1/p' "$scratch/output" | tail -n 1)
	bad=$(sed -n 's/^ *last_result: //p' "$scratch/state" | awk '$1 > 0 { tap += $1 - 1; files += $1 > 1 ? 0 : 1 }
		END { print tap + 0, files + 0 }')
	local in_files=${bad#* } in_tests=${bad% *}
	passed=$((passed + ${tests:-0} - in_tests))
	failed=$((failed + in_tests + in_files))
	# prove is not happy and has not said why: never call that a success
	if [ "$1" -ne 0 ] && [ $((in_files + in_tests)) -eq 0 ]; then
		failed=$((failed + 1))
	fi
}

prove_run() { # JOBS LIMIT_S EXEC FILE...: leaves what prove says in $scratch/output and state; its exit status
	local jobs=$1 limit=$2 exec=$3
	shift 3
	rm -f "$scratch/state"
	# the limit is for a test that hangs; nothing that works comes near it
	prove --nocolor --failures --comments --timer -j "$jobs" --statefile="$scratch/state" --state=save \
		--exec "timeout -k 10 $limit $exec" "$@" </dev/null 2>&1 |
		sed -u '/^--[0-9]*-- /d' | tee "$scratch/output" # valgrind, about system calls that it does not know
}

prove_files() { # JOBS LIMIT_S EXEC FILE...
	[ $# -gt 3 ] || return 0
	local status=0
	prove_run "$@" || status=$?
	count "$status"
}

# The same with real Flinks and control planes (e2e, api, handover, chart, cluster), which can reach a time limit on a busy machine:
# up to three files that fail are run a second time, alone. Below the level all the second result counts, and the files are
# named before the last line. In the level all a file that needs its second try has failed: find its cause.
prove_twice() { # JOBS LIMIT_S EXEC FILE...
	[ $# -gt 3 ] || return 0
	local limit=$2 exec=$3 status=0 failed_before=$failed bad good
	prove_run "$@" || status=$?
	count "$status"
	# what prove says of each: "FILE (Wstat: 256 (exited 1) Tests: 93 Failed: 2)"
	mapfile -t bad < <(sed -n 's/^\(tests[^ ]*\) *(Wstat: .* Tests: .*)$/\1/p' "$scratch/output")
	if [ ${#bad[@]} -eq 0 ] || [ ${#bad[@]} -gt 3 ]; then
		return 0
	fi
	good=$(sed -n 's/^tests.* (Wstat: .* Tests: \([0-9]*\) Failed: \([0-9]*\))$/\1 \2/p' "$scratch/output" |
		awk '{ good += $1 - $2 } END { print good + 0 }')
	echo "A second time, alone: ${bad[*]}"
	passed=$((passed - good)) failed=$failed_before status=0
	prove_run 1 "$limit" "$exec" "${bad[@]}" || status=$?
	count "$status"
	if [ "$level" = all ] && [ "$failed" -eq "$failed_before" ]; then
		failed=$((failed + ${#bad[@]}))
	fi
	flaky+=("${bad[@]}")
}

# The lowest level that a file is in, and after "on" the versions of Flink that it has below the level all.
mark_of() { # FILE
	local mark=''
	[[ $1 != *.sh ]] || mark=$(sed -n '/^# runs in: /{ s///p; q }' "$1")
	if [ -z "$mark" ] && [[ ! $1 =~ ^tests/(e2e|api|handover|chart|cluster)/ ]]; then
		mark='test'
	fi
	printf '%s\n' "${mark:-all}"
}

in_level() { # FILE
	local mark
	mark=$(mark_of "$1")
	case $level in
	test) [[ $mark == test* ]] ;;
	ci) [[ $mark != all* ]] ;;
	esac
}

# A wrong mark would silently skip a test.
check_marks() {
	local bad
	bad=$(grep -rHE '^# *runs in\b' tests --include='test_*.sh' |
		grep -vE ':# runs in: (test|ci|all)( on( [0-9]+\.[0-9]+\.[0-9]+)+)?$') || return 0
	echo "run.sh: not \"# runs in: test|ci|all [on VERSION...]\": $bad" >&2
	exit 2
}

# The executable test_* of a directory in this level, or the named ones.
files_of() { # DIR SUFFIX
	local file name
	for file in "$1"/test_*"$2"; do
		name=${file##*/test_}
		if [ ! -f "$file" ] || [ ! -x "$file" ]; then
			continue
		fi
		[ ${#names[@]} -eq 0 ] || [[ " ${names[*]} " == *" ${name%"$2"} "* ]] || continue
		in_level "$file" || continue
		printf '%s\n' "$file"
	done
}

has_version() { # FILE VERSION: does it run with that Flink in this level?
	local mark
	mark=$(mark_of "$1")
	[ "$level" = all ] || [ -n "${FLINK_VERSIONS:-}" ] || [[ $mark != *" on "* ]] || [[ " ${mark#* on } " == *" $2 "* ]]
}

# How many files of DIR run at a time. They wait most of the time: two of e2e use a third of one processor.
at_a_time() { # DIR
	case $level:$1 in
	all:tests/handover) echo 1 ;; # some measure
	*:tests/handover) echo 2 ;;   # each has four JVMs
	ci:tests/e2e) echo 4 ;;
	ci:*) echo 3 ;;
	*) echo 2 ;;
	esac
}

# The scripts of DIR: those that start no Flink once, the others once for each version.
prove_with_flink() { # DIR LIMIT_WITHOUT_S
	local files file version versions with jobs
	jobs=$(at_a_time "$1")
	mapfile -t files < <(files_of "$1" .sh | xargs -r grep -LE '^(e2e|handover)_begin( |$)' | xargs -r ls -S)
	prove_twice "$jobs" "$2" "" "${files[@]}"
	# the long ones first, so that those that run at a time end together
	mapfile -t files < <(files_of "$1" .sh | xargs -r grep -lE '^(e2e|handover)_begin( |$)' | xargs -r ls -S)
	read -ra versions <<<"${FLINK_VERSIONS:-$(sed -n 's/^flink-tested //p' tests/versions.txt)}"
	for version in "${versions[@]}"; do
		with=()
		for file in "${files[@]}"; do
			! has_version "$file" "$version" || with+=("$file")
		done
		[ ${#with[@]} -eq 0 ] || echo "Flink $version:"
		FLINK_VERSION=$version prove_twice "$jobs" 1200 "" "${with[@]}"
	done
}

run_group() { # GROUP
	local files limit=300
	case $1 in
	unit | valgrind)
		# only what has a source: a binary of a test that is gone stays in the build directory
		mapfile -t files < <(files_of "$BUILD/tests/unit" "" | while read -r file; do
			[ ! -f "tests/unit/${file##*/}.c" ] || echo "$file"
		done)
		if [ "$1" = unit ]; then
			# nearly all that they need is patience: each waits for something most of its time; under TSan those
			# that compute are twenty times slower
			[ -z "$emulator$tsan" ] || limit=1800
			prove_files 8 "$limit" "$emulator$tsan" "${files[@]}"
		else
			# leaks are found by SAN=1: here a forked child would count what its parent holds
			prove_files 2 900 "valgrind -q --error-exitcode=99 --leak-check=no --child-silent-after-fork=yes" \
				"${files[@]}"
		fi
		;;
	init)
		# one at a time: a storm of processes beside another test is a fault that nobody asked for
		mapfile -t files < <(files_of tests/init .sh)
		prove_files 1 900 "" "${files[@]}"
		;;
	contract | sim)
		mapfile -t files < <(files_of "tests/$1" .sh | xargs -r ls -S)
		prove_files 3 900 "$tsan" "${files[@]}"
		;;
	servers)
		# fetched here, where it can be seen: a test would only say that it is slow
		tools/get-servers.sh versitygw >/dev/null || :
		tools/get-servers.sh openstack >/dev/null || :
		mapfile -t files < <(files_of tests/servers .sh)
		prove_files 2 600 "" "${files[@]}"
		;;
	e2e)
		prove_with_flink tests/e2e 300
		;;
	handover)
		mapfile -t files < <(files_of tests/handover .sh)
		[ ${#files[@]} -gt 0 ] || return 0
		if ! control_plane_up handover; then
			return 0
		fi
		prove_with_flink tests/handover 600
		;;
	api | chart)
		mapfile -t files < <(files_of tests/chart .sh && [ "$1" = chart ] || files_of tests/api .sh)
		[ ${#files[@]} -gt 0 ] || return 0
		if ! control_plane_up "$1"; then
			return 0
		fi
		[ "$1" = chart ] || prove_with_flink tests/api 1500 # test_two_clusters has twenty rounds
		prove_with_flink tests/chart 900
		;;
	image)
		mapfile -t files < <(files_of tests/image .sh)
		prove_files 1 3600 "" "${files[@]}"
		;;
	cluster)
		mapfile -t files < <(files_of tests/cluster .sh)
		[ ${#files[@]} -gt 0 ] || return 0
		if [ "$(id -u)" -ne 0 ] && [ -z "${DREY_TEST_REQUIRE:-}" ]; then
			skipped="tests/cluster: a node for Pods needs root"
			return 0
		fi
		if ! node_up; then
			echo "run.sh: no node, see above: the tests of tests/cluster did not run" >&2
			failed=$((failed + 1))
			return 0
		fi
		prove_on_node "${files[@]}"
		;;
	*) usage ;;
	esac
}

# Without it nothing of the group was tested, and that is no success.
control_plane_up() { # GROUP
	[ -z "$cluster_is_up" ] || return 0
	if ! api_up "$1"; then
		echo "run.sh: no Kubernetes control plane, see above: the tests of tests/$1 did not run" >&2
		failed=$((failed + 1))
		return 1
	fi
	cluster_is_up=yes
	export DREY_CLUSTER=$cluster
}

prove_on_node() { # FILE...
	local alone together
	mapfile -t alone < <(printf '%s\n' "$@" | xargs -r grep -l '^# alone: ' | xargs -r ls -S)
	mapfile -t together < <(printf '%s\n' "$@" | xargs -r grep -L '^# alone: ' | xargs -r ls -S)
	prove_twice 2 1800 "tests/cluster/node.sh enter $DREY_NODE" "${together[@]}"
	prove_twice 1 1800 "tests/cluster/node.sh enter $DREY_NODE" "${alone[@]}"
}

# The programs that the tests need are built here, with visible progress, and with a network: there is none inside.
node_up() {
	local name home layout images=${IMAGES:-${XDG_CACHE_HOME:-$HOME/.cache}/drey/images}
	for name in KUBE:kube NODE:node DNS:dns HELM:helm HELM4:helm4; do
		home=$(tools/get-kube.sh "${name#*:}") && export "${name%:*}_HOME=$home" || return 1
	done
	VERSITYGW=$(tools/get-servers.sh versitygw) || return 1
	export VERSITYGW
	if [ -z "${DREY_NODE:-}" ]; then
		layout=$(tests/cluster/images.sh "$images") || return 1
		node=$scratch/node
		tests/cluster/node.sh up "$node" --owner $$ && tests/cluster/node.sh load "$node" "$layout" || return 1
		export DREY_NODE=$node
		# large, and from PyPI: only for its test, which says when it is not there
		if files_of tests/cluster .sh | grep --quiet /test_python.sh; then
			layout=$(tests/cluster/images.sh "$images" python) && tests/cluster/node.sh load "$node" "$layout" || :
		fi
	fi
}

# One control plane for all tests that do not damage it; it ends with this script. Its parts are built here, with visible
# progress: in a test it would only be slow.
api_up() { # GROUP
	local tool
	KUBE_HOME=$(tools/get-kube.sh kube) && HELM_HOME=$(tools/get-kube.sh helm) || return 1
	export KUBE_HOME HELM_HOME
	if [ "$1" != handover ] && [ -n "$(files_of tests/chart .sh)" ]; then
		for tool in helm4 kubeconform kube-score schemas; do
			tools/get-kube.sh "$tool" >/dev/null || return 1
		done
	fi
	cluster=$scratch/cluster
	tests/cluster/cluster.sh up "$cluster" --owner $$ >/dev/null
}

command -v prove >/dev/null || {
	echo "run.sh: prove is missing; install it: apt-get install perl" >&2
	exit 2
}
# under make everything has been built already
if [ -z "${MAKELEVEL:-}" ]; then
	knobs=()
	[[ $BUILD != */san* ]] || knobs+=(SAN=1)
	[[ $BUILD != */tsan* ]] || knobs+=(SAN=thread)
	[[ $BUILD != *cov* ]] || knobs+=(COV=1)
	[[ $BUILD != */static/* ]] || knobs+=("STATIC=${BUILD##*/static/}")
	make -j2 "${knobs[@]}" build-tests
fi
check_marks
if [ "$group" = all ]; then
	for group in unit init contract sim servers e2e api handover cluster; do
		run_group "$group"
	done
else
	run_group "$group"
fi
if [ -n "$reports" ] && [ -n "$(ls "$reports")" ]; then
	cat "$reports"/*
	echo "run.sh: reports of sanitizers, see above: $(ls "$reports" | wc -l)" >&2
	failed=$((failed + 1))
fi
[ -z "$skipped" ] || echo "run.sh: skipped: $skipped"
if [ $((passed + failed)) -eq 0 ] && [ -z "$skipped" ]; then
	echo "run.sh: no test was found" >&2
	failed=1
fi
[ ${#flaky[@]} -eq 0 ] || echo "run.sh: failed once, see above: ${flaky[*]}" >&2
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
