#!/usr/bin/env bash
#
# A version that cannot run gets the job, and returns it: T3, its main() throws; T4, it has no place for the state of an
# operator. The old version goes on from the savepoint of the stop, in the Pod that it always had, and the bad one is not tried
# again.

# shellcheck disable=SC2317 # cases are called by name
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/api/lib.sh
. "$TOP/tests/api/lib.sh"
# shellcheck source=tests/handover/lib.sh
. "$TOP/tests/handover/lib.sh"
# shellcheck source=tests/handover/surge_lib.sh
. "$TOP/tests/handover/surge_lib.sh"

is_bad() { # T
	local offered returned
	returned=$(happened returned)
	upgrade_to "$1"
	await_returned "$CURRENT" "$returned"
	await "$1 is remembered" handover_is refused
	offered=$(happened offered)
	count_written "$CURRENT"
	await "the job goes on" goes_on_writing "$CURRENT"
	is "$(happened offered)" "$offered" "it is not offered to $1 again"
	check "$1 has written nothing" not has_written "$1"
	diag "without a record: $(judge ${REPLAY:+-v replay=1} >/dev/null; verdict .longestMs) ms"
	roll_back "$CURRENT"
}

t3() {
	template good
	template throws
	template_keys good handover.tries=1
	control throw-in-main.throws
	begin_with good
	is_bad throws
	check "its main() ran" has_event MAIN throws
}

t4() {
	template also --also more
	template without
	template_keys also handover.tries=1
	if [ -z "$CURRENT" ]; then
		begin_with also
	else
		upgrade_to also
		await_done also
	fi
	is_bad without
	check "no task of it has begun" not has_event OPEN without
}

surge_begin surge-returned
if [ $# -eq 0 ]; then
	set -- t3 t4
fi
surge_cases "$@"
