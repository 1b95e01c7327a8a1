#!/usr/bin/env bash
#
# A version that cannot run gets the job, and returns it: T3, its main() throws; T4, it has no place for the state of an
# operator. The old version goes on from the savepoint of the stop, in the Pod that it always had, and the bad one is not tried
# again. Both only without check.graph; with it, T5, the candidate finds out before the old version is stopped.

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
	template_keys throws check.graph=false
	control throw-in-main.throws
	begin_with good
	is_bad throws
	check "its main() ran" has_event MAIN throws
}

t4() {
	template also --also more
	template without
	template_keys also handover.tries=1
	template_keys without check.graph=false
	if [ -z "$CURRENT" ]; then
		begin_with also
	else
		upgrade_to also
		await_done also
	fi
	is_bad without
	check "no task of it has begun" not has_event OPEN without
}

# The candidate's check says this, and the job is not touched.
is_never_stopped() { # T TEXT
	local stopping
	stopping=$(happened stopping)
	upgrade_to "$1"
	await "the check of $1 refuses it" candidate_is_refused "$2"
	count_written "$CURRENT"
	await "$1 is refused when its time is up" handover_is refused
	check "with the reason, in its own Pod" pod_is "$CANDIDATE" ".reason | contains(\"HandoverRefused\") or contains(\"the candidate was not prepared\")"
	await "the job goes on" goes_on_writing "$CURRENT"
	is "$(happened stopping)" "$stopping" "it was never stopped"
	check "$1 has written nothing" not has_written "$1"
	roll_back "$CURRENT"
}

candidate_is_refused() { # TEXT
	candidate ".checked | \"\(.decision): \(.why)\"" >"$RUN/checked" 2>/dev/null && grep --quiet "^refused: .*$1" "$RUN/checked"
}

t5() {
	template first --also more
	template dropped
	template thrown
	template_keys first handover.prepareDeadline=40s
	control throw-in-main.thrown
	if [ -z "$CURRENT" ]; then
		begin_with first
	else
		upgrade_to first
		await_done first
	fi
	is_never_stopped dropped "the new job does not take the state in .*: 1 operator does not fit: operator .* is not in the new job"
	diag "$(cat "$RUN/checked")"
	is_never_stopped thrown "the new job cannot be built: .*main() threw"
}

surge_begin surge-returned
if [ $# -eq 0 ]; then
	set -- t3 t4 t5
fi
surge_cases "$@"
