#!/usr/bin/env bash
#
# Surge upgrades of a job that comes to its end in the middle of the hand-over: when it is offered, when the candidate is prepared, while it
# is being stopped, when the new version has just taken it. It ends once, with all of its output, and nobody starts it again.

# shellcheck disable=SC2317 # cases are called by name
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/api/lib.sh
. "$TOP/tests/api/lib.sh"
# shellcheck source=tests/handover/lib.sh
. "$TOP/tests/handover/lib.sh"
# shellcheck source=tests/handover/surge_lib.sh
. "$TOP/tests/handover/surge_lib.sh"

COUNT=500

# Sets NEXT; the job waits before its end.
bounded() {
	local state
	template old --count "$COUNT"
	template new --count "$COUNT"
	template_keys old handover.runDeadline=1min
	template_keys new handover.runDeadline=1min
	control hold-1
	begin_with old
	NEXT=new
	for state in offered stopping granted taken returned "done"; do
		BEFORE[$state]=$(happened "$state")
	done
}

ends() {
	uncontrol hold-1
}

has_all() {
	find "$OUT/committed" -name 'part-*' -exec cat {} + | awk -v count="$COUNT" '
		{ id = $2 " " $3; twice += id in seen; seen[id] = 1; n++ }
		END { print n + 0, "records,", twice + 0, "twice"; exit n != 2 * count || twice }'
}

# Wherever: the owner says so, and nothing starts again.
has_finished() {
	OWNER=$(journal .owner.pod)
	[ -n "$OWNER" ] && pod_phase "$OWNER" Finished
}

over() {
	await "the new Pod is the owner" journal_is ".owner.pod == \"$CANDIDATE\""
	await "the application has finished" has_finished
	diag "hand-over: $(journal '[.handover.state, .handover.why, .launches[-1].generation] | tojson')"
	await "all records are committed, once" has_all
	# a Pod whose application has finished is not ready, so the old one stays
	sleep 5
	check "it stays finished" pod_phase "$CANDIDATE" Finished
	is "$(grep -c '^RESTORED .* - ' "$OUT/events.log")" 1 "the job was started without state once"
	is "$(happened returned)" "${BEFORE[returned]}" "nothing was returned"
	check "all records are committed, once, still" has_all
	CURRENT=$NEXT OWNER=$CANDIDATE
}

ends_offered() {
	bounded
	upgrade_to "$NEXT"
	check "the job ends when it is offered" at offered ends
	over
}

ends_prepared() {
	bounded
	check "do-not-restart keeps it" drey_of "$OWNER" do-not-restart on
	upgrade_to "$NEXT"
	await "the candidate is prepared" candidate_is_prepared
	ends
	await "the job has ended" has_all
	check "do-not-restart is off" drey_of "$OWNER" do-not-restart off
	over
}

# The stop waits for the snapshot; at its end there is nothing left to read.
ends_stopping() {
	bounded
	upgrade_to "$NEXT"
	await "the candidate's main() is held" candidate_has_held
	control hold-snapshot
	await "the job is being stopped" happened_again stopping "${BEFORE[stopping]}"
	ends
	sleep 1
	uncontrol hold-snapshot
	over
}

# All is read before the stop, and committed by it.
ends_at_stopping() {
	bounded
	upgrade_to "$NEXT"
	check "the job ends when it is stopped" at stopping ends
	over
}

# It is over before anybody has seen it run.
ends_taken() {
	bounded
	upgrade_to "$NEXT"
	check "the new version ends as soon as it starts" at taken ends
	over
}

# A job that has ended is no beginning for another case: each has a bench of its own.
if [ $# -eq 0 ]; then
	for one in ends_offered ends_prepared ends_stopping ends_at_stopping ends_taken; do
		check "$one" "${BASH_SOURCE[0]}" "$one"
	done
	e2e_end
fi
surge_begin surge-bounded
run_cases "$@"
check "the observer ends" end_observer
check "no TaskManager was at the JobManager of another version" nobody_astray
check "never did two jobs run" one_runs
check_denied
e2e_end
