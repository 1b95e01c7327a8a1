#!/usr/bin/env bash
#
# Surge upgrades in which storage gives EIO to one Pod only: to the candidate while it prepares, when it has taken the job; to the owner
# while it stops; to a TaskManager. The job goes on where storage works, nothing is lost, and drey says what cannot be read, and where.

# shellcheck disable=SC2317 # cases are called by name
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/api/lib.sh
. "$TOP/tests/api/lib.sh"
# shellcheck source=tests/handover/lib.sh
. "$TOP/tests/handover/lib.sh"
# shellcheck source=tests/handover/surge_lib.sh
. "$TOP/tests/handover/surge_lib.sh"

breaks() { # POD
	: >"$RUN/broken/$1"
}

works() { # POD
	rm -f "$RUN/broken/$1"
}

undisturbed() { # WHAT
	count_written "$CURRENT"
	await "$1: the job goes on" goes_on_writing "$CURRENT"
	check "$1: nothing is stopped" test "$(happened stopping)" -eq "${BEFORE[stopping]}"
	check "$1: the owner's Pod is ready" pod_ready "$OWNER"
}

candidate_says() { # REGEX
	candidate "select(.pod == \"$CANDIDATE\") | .checked | \"\(.decision): \(.why)\"" >"$RUN/checked" 2>/dev/null &&
		grep --quiet --extended-regexp "$1" "$RUN/checked"
}

# The candidate cannot read the newest state. Its Flink's own directories are elsewhere.
candidate_prepares() {
	begin
	check "main() of $NEXT waits" control "hold-main.$NEXT"
	upgrade_to "$NEXT"
	breaks "$CANDIDATE"
	uncontrol "hold-main.$NEXT"
	await "the candidate cannot read storage, and says so" candidate_says 'Input/output error'
	diag "$(cat "$RUN/checked")"
	undisturbed "one that cannot read"
	check "it is not prepared" not candidate_is_prepared
	works "$CANDIDATE"
	await_done "$NEXT"
	is "$(happened returned)" "${BEFORE[returned]}" "at its first try"
}

# The candidate was prepared, takes the job, and cannot read what it was granted.
broken_taker() {
	begin
	upgrade_to "$NEXT"
	await "the candidate's main() is held" candidate_has_held
	control hold-snapshot
	await "the job is being stopped" happened_again stopping "${BEFORE[stopping]}"
	breaks "$CANDIDATE"
	uncontrol hold-snapshot
	await "it takes the job" happened_again taken "${BEFORE[taken]}"
}

# It cannot read it until the job is returned.
candidate_takes() {
	broken_taker
	await "and says what it cannot read" pod_is "$CANDIDATE" '.cause == "StorageUnreadable"'
	diag "$(pod_status "$CANDIDATE" '"\(.phase): \(.reason)"')"
	await_returned "$CURRENT" "${BEFORE[returned]}"
	check "drey says why: $(journal .handover.returned)" journal_is '.handover.returned | test("could not be started|cannot be read")'
	works "$CANDIDATE"
	await_moved "$NEXT"
}

# For a moment only: nothing is returned.
candidate_hiccup() {
	broken_taker
	sleep 5
	works "$CANDIDATE"
	await_done "$NEXT"
	is "$(happened returned)" "${BEFORE[returned]}" "at its first try"
}

# Flink cannot complete the savepoint; the job runs on.
owner_stops() {
	begin
	upgrade_to "$NEXT"
	await "the candidate's main() is held" candidate_has_held
	check "the owner's disk breaks when it stops" at stopping breaks "$OWNER"
	await "the stop fails: it is offered again" happened_again offered $((BEFORE[offered] + 1))
	check "drey says why: $(journal .handover.why)" journal_is '.handover.why | length > 0'
	check "it has the job" pod_phase "$OWNER" Running
	count_written "$CURRENT"
	await "which goes on" goes_on_writing "$CURRENT"
	works "$OWNER"
	await_moved "$NEXT"
}

# What was stopped cannot be looked at any more by who has stopped it.
owner_reads() {
	begin
	upgrade_to "$NEXT"
	await "the candidate's main() is held" candidate_has_held
	control hold-snapshot
	await "the job is being stopped" happened_again stopping "${BEFORE[stopping]}"
	: >"$RUN/stop-began"
	uncontrol hold-snapshot
	await "the savepoint is complete" savepoint_is_there
	breaks "$OWNER"
	sleep 20
	diag "after 20 s: $(journal '[.handover.state, .handover.why, .owner.pod]' | jq --compact-output .)"
	works "$OWNER"
	await_moved "$NEXT"
}

savepoint_is_there() {
	[ -n "$(find "$RUN/sp" -name _metadata -newer "$RUN/stop-began" 2>/dev/null)" ]
}

# The tasks cannot write their part.
taskmanager_stops() {
	local tm
	begin
	tm=$(tms_of "$CURRENT")
	upgrade_to "$NEXT"
	await "the candidate's main() is held" candidate_has_held
	# on a quick machine the savepoint is complete before a disk can break
	control hold-snapshot
	check "the disk of the TaskManager breaks when the job is stopped" at stopping breaks "$tm"
	uncontrol hold-snapshot
	await "the stop fails: it is offered again" happened_again offered $((BEFORE[offered] + 1))
	check "drey says why: $(journal .handover.why)" journal_is '.handover.why | length > 0'
	works "$tm"
	await_moved "$NEXT"
}

# The new version's tasks cannot read their state.
taskmanager_restores() {
	local tm
	begin
	upgrade_to "$NEXT"
	await "the candidate's main() is held" candidate_has_held
	tm=$(tms_of "$NEXT")
	control hold-snapshot
	await "the job is being stopped" happened_again stopping "${BEFORE[stopping]}"
	breaks "$tm"
	uncontrol hold-snapshot
	await_returned "$CURRENT" "${BEFORE[returned]}"
	check "drey says why: $(journal .handover.why)" journal_is '.handover.why | length > 0'
	works "$tm"
	await_moved "$NEXT"
}

surge_begin surge-disk
GAP_LIMIT_MS=240000
REPLAY=1
for t in g1 g2; do
	template $t
	template_keys $t handover.runDeadline=1min handover.tries=9 savepoints.stopRetry=2s
	preload $t "$HANDOVER_DIR/broken_disk.c"
	# the tasks write files of their own, however small their state is
	echo 'execution.checkpointing.data-inline-threshold: 0 b' >>"$RUN/templates/$t/config"
done
if [ $# -eq 0 ]; then
	set -- candidate_prepares candidate_takes candidate_hiccup owner_stops owner_reads taskmanager_stops taskmanager_restores
fi
surge_cases "$@"
