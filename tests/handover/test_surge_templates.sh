#!/usr/bin/env bash
#
# Surge upgrades whose template is changed again on the way: back to that of the owner while it stops, or when it has granted the job;
# back and forth; three versions in a zigzag, at each state and in a hurry. The last one wins, and nothing is lost.

# shellcheck disable=SC2317 # cases are called by name
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/api/lib.sh
. "$TOP/tests/api/lib.sh"
# shellcheck source=tests/handover/lib.sh
. "$TOP/tests/handover/lib.sh"
# shellcheck source=tests/handover/surge_lib.sh
. "$TOP/tests/handover/surge_lib.sh"

SEED=${SEED:-1}

stops() { # the owner of `begin`, for NEXT
	upgrade_to "$NEXT"
	await "the candidate's main() is held" candidate_has_held
	control hold-snapshot
	await "the job is being stopped" happened_again stopping "${BEFORE[stopping]}"
}

# The Pod of the candidate ends because another template is wanted.
changed_to() { # T
	local gone=$CANDIDATE
	check "$1 is deployed" deploy "$1"
	await "that of the other version ends" told term "$gone"
	check "the owner is not told to end" not told term "$OWNER"
}

# The owner's own template is wanted: it goes on in its Pod, from its savepoint.
runs_on() {
	await_returned "$CURRENT" "${BEFORE[returned]}"
	await "the Deployments have nothing left to do" rolled_out
	check "the Pod is the one of before" test "$(pods_of "$CURRENT")" = "$OWNER"
	is "$(happened "done")" "${BEFORE[done]}" "nothing was handed over"
}

back_in_stopping() {
	begin
	stops
	changed_to "$CURRENT"
	sleep 3
	check "the stop goes on" handover_is stopping
	uncontrol hold-snapshot
	runs_on
	check "$NEXT has written nothing" not has_written "$NEXT"
}

# It cannot take the job. Its Pod is the only one with a proxy: that ends with Flink, so what a Pod writes at last does not get through.
back_at_granted() {
	begin
	: >"$RUN/templates/$NEXT/proxied"
	stops
	rm "$RUN/templates/$NEXT/proxied"
	faults "$CANDIDATE" "refuse PATCH drey-journal"
	uncontrol hold-snapshot
	await "the job is granted" happened_again granted "${BEFORE[granted]}"
	changed_to "$CURRENT"
	runs_on
	check "$NEXT has written nothing" not has_written "$NEXT"
}

# The second Pod of that version is another candidate than the one for which the job is being stopped.
back_and_forth() {
	local first
	begin
	stops
	first=$CANDIDATE
	changed_to "$CURRENT"
	await "the first candidate is gone" told gone "$first"
	upgrade_to "$NEXT"
	check "it is another Pod" test "$CANDIDATE" != "$first"
	uncontrol hold-snapshot
	await_done "$NEXT"
}

# One version stops, the second was offered the job, the third takes it, the first is wanted again.
zigzag() {
	begin
	stops
	changed_to g3
	await "there is a Pod of g3" pod_of g3
	CANDIDATE=$POD
	control hold-main.g3
	uncontrol hold-snapshot
	await "g3 has taken the job" happened_again taken "${BEFORE[taken]}"
	is "$(journal .owner.pod)" "$CANDIDATE" "it is the owner"
	check "$CURRENT is deployed" deploy "$CURRENT"
	await "the Pod of g3 ends" told term "$CANDIDATE"
	uncontrol hold-main.g3
	runs_on
	check "$NEXT has written nothing" not has_written "$NEXT"
	check "nor has g3" not has_written g3
}

# Nobody waits for anything. The last one is another one than that of the beginning.
in_a_hurry() {
	local order=(g1 g2 g3 g1 g3 g2) i
	begin
	RANDOM=$SEED
	for ((i = 0; i < 12; i++)); do
		NEXT=${order[i % 6]}
		deploy "$NEXT"
		sleep "$((RANDOM % 9)).$((RANDOM % 10))"
	done
	[ "$NEXT" != "$CURRENT" ] || NEXT=g3
	check "$NEXT is deployed" deploy "$NEXT"
	await_moved "$NEXT"
}

surge_begin surge-templates
GAP_LIMIT_MS=120000
REPLAY=1
for t in g1 g2 g3; do
	template $t
	template_keys $t check.graph=false # which runs main(), too
done
if [ $# -eq 0 ]; then
	set -- back_in_stopping back_at_granted back_and_forth zigzag in_a_hurry
fi
surge_cases "$@"
