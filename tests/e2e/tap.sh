# shellcheck shell=bash
#
# tap.sh - the assertions of end-to-end tests. Sourced first by every tests/e2e/test_*.sh; it sources lib.sh.
#
#   e2e_begin NAME              a run (lib.sh) of Flink $FLINK_VERSION; prints the version as a comment
#   is GOT EXPECTED WHAT        one assertion; if it fails, the test continues
#   check WHAT CMD...           the same: CMD succeeds
#   await WHAT CMD...           CMD succeeds within WAIT_S seconds; the next steps depend on it, so a failure
#                               ends the test
#   not CMD...                  for check and await: CMD fails
#   e2e_end                     the plan; last line of the test
#
# The output is TAP. A test that fails ends with status 1, shows the end of its logs and keeps its directory.

# shellcheck source=tests/e2e/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

FLINK_VERSION=${FLINK_VERSION:-2.3.0}
tap_count=0
tap_failed=0

e2e_begin() { # NAME
	local tool
	for tool in curl jq java setsid; do
		if ! command -v "$tool" >/dev/null; then
			[ -z "${DREY_TEST_REQUIRE:-}" ] || die 1 "$tool is missing, and DREY_TEST_REQUIRE is set"
			echo "1..0 # SKIP $tool is missing"
			exit 0
		fi
	done
	run_begin "$1" "$FLINK_VERSION"
	echo "# $1 with Flink $FLINK_VERSION in $RUN"
}

tap_result() { # STATUS WHAT
	tap_count=$((tap_count + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $tap_count - $2"
	else
		tap_failed=$((tap_failed + 1))
		echo "not ok $tap_count - $2"
	fi
}

not() {
	! "$@"
}

diag() {
	printf '%s\n' "$*" | sed 's/^/# /'
}

is() { # GOT EXPECTED WHAT
	if [ "$1" = "$2" ]; then
		tap_result 0 "$3"
	else
		tap_result 1 "$3"
		diag "     got: $1"
		diag "expected: $2"
	fi
}

check() { # WHAT CMD...
	local what=$1 said
	shift
	if said=$("$@" 2>&1); then
		tap_result 0 "$what"
	else
		tap_result 1 "$what"
		diag "$* said: ${said:-nothing}"
	fi
}

await() { # WHAT CMD...
	local what=$1
	shift
	if wait_until "$what" "$WAIT_S" "$@"; then
		tap_result 0 "$what"
		diag "after $WAITED_S s"
	else
		tap_result 1 "$what"
		diag "$*"
		e2e_end
	fi
}

e2e_end() {
	echo "1..$tap_count"
	[ "$tap_failed" -eq 0 ]
	exit
}
