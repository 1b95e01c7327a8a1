#!/usr/bin/env bash
#
# Surge upgrades in which something is killed: T5, the agent of one of the two Pods, at each state of the hand-over: another one
# goes on, with the same end as without. T6, one of the Pods, as if its node had died: its Deployment makes another one. S69: that
# of the owner when its job has ended, before it could grant it.
#
# Right after a write means: the server has it, and the agent has no answer yet. So the answers to the writes of the Pod that is
# to be killed are 3 s late.

# shellcheck disable=SC2317 # cases are called by name
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/api/lib.sh
. "$TOP/tests/api/lib.sh"
# shellcheck source=tests/handover/lib.sh
. "$TOP/tests/handover/lib.sh"
# shellcheck source=tests/handover/surge_lib.sh
. "$TOP/tests/handover/surge_lib.sh"

LATE='delay PATCH drey- 0 3'
JOURNAL='PATCH drey-journal'

# ---- T5: the agents --------------------------------------------------------------------------------

# The agent of that Pod is killed as soon as COMMAND has seen what it waits for.
killed_and_done() { # POD WHAT COMMAND...
	check "the agent is killed: $2" "${@:3}" kill_the_agent "$1"
	faults "$1"
	uncontrol hold-snapshot
	await "another one starts" another_agent "$1" "$KILLED_AGENT"
	await_done "$NEXT"
	is "$(happened "done")" $((BEFORE[done] + 1)) "one hand-over"
	is "$(happened returned)" "${BEFORE[returned]}" "at its first try"
	check "the job was restored from the savepoint of the stop" restored_from "$OWNER" "$(journal .handover.savepoint)"
}

at_prepared() { # CMD...
	wait_until "the candidate is prepared" "$WAIT_S" candidate_is_prepared && "$@"
}

t5_owner() { # STATE
	begin
	faults "$OWNER" "$LATE"
	upgrade_to "$NEXT"
	killed_and_done "$OWNER" "the owner's, at $1" at "$1"
}

t5_candidate() { # STATE
	begin
	upgrade_to "$NEXT"
	faults "$CANDIDATE" "$LATE"
	killed_and_done "$CANDIDATE" "the candidate's, at $1" at "$1"
}

t5_offered() {
	t5_owner offered
}

t5_prepared() {
	begin
	upgrade_to "$NEXT"
	killed_and_done "$CANDIDATE" "the candidate's, when it is prepared" at_prepared
}

t5_stopping() {
	t5_owner stopping
}

# The savepoint of the stop is being taken.
t5_stop() {
	begin
	upgrade_to "$NEXT"
	await "the candidate's main() is held" candidate_has_held
	control hold-snapshot
	killed_and_done "$OWNER" "the owner's, during the stop" at_stop
}

at_stop() { # CMD...
	at stopping sleep 2 && handover_is stopping && "$@"
}

t5_granted() {
	t5_owner granted
}

# It cannot take the job before it dies.
t5_granted_to() {
	begin
	upgrade_to "$NEXT"
	faults "$CANDIDATE" "refuse $JOURNAL"
	killed_and_done "$CANDIDATE" "the candidate's, at granted" at granted
}

t5_taken() {
	t5_candidate taken
}

t5_done() {
	t5_candidate "done"
}

# ---- T6: the Pods ----------------------------------------------------------------------------------

another_pod_of() { # T BEFORE: sets POD
	pod_of "$1" && [ "$POD" != "$2" ]
}

# The next Pod of its template is the candidate.
next_candidate() {
	await "there is another Pod of $NEXT" another_pod_of "$NEXT" "$CANDIDATE"
	CANDIDATE=$POD
}

t6_candidate_offered() {
	begin
	upgrade_to "$NEXT"
	await "the candidate's main() is held" candidate_has_held
	check "the candidate is lost" lose_pod "$CANDIDATE"
	next_candidate
	await_done "$NEXT"
	is "$(happened returned)" "${BEFORE[returned]}" "the job was never touched for the first one"
}

# The stop cannot be taken back.
t6_candidate_stopping() {
	begin
	upgrade_to "$NEXT"
	await "the candidate's main() is held" candidate_has_held
	control hold-snapshot
	check "the candidate is lost during the stop" at stopping lose_pod "$CANDIDATE"
	uncontrol hold-snapshot
	returned_and_done
}

t6_candidate_granted() {
	begin
	upgrade_to "$NEXT"
	faults "$CANDIDATE" "refuse $JOURNAL"
	check "the candidate is lost when it was granted the job" at granted lose_pod "$CANDIDATE"
	returned_and_done
}

returned_and_done() {
	await "the job was returned" happened_again returned "${BEFORE[returned]}"
	next_candidate
	await_done "$NEXT"
	is "$(happened "done")" $((BEFORE[done] + 1)) "it was handed over once"
}

t6_candidate_taken() {
	begin
	upgrade_to "$NEXT"
	check "the new owner is lost when it has taken the job" at taken lose_pod "$CANDIDATE"
	next_candidate
	await_done "$NEXT"
	is "$(journal .owner.side)" "$(journal .handover.to.side)" "on the same side"
}

t6_owner_offered() {
	begin
	upgrade_to "$NEXT"
	await "the candidate's main() is held" candidate_has_held
	check "the owner is lost" lose_pod "$OWNER"
	await_moved "$NEXT"
}

job_has_ended() { # POD
	[ "$(pod_rest "$1" jobs/overview '[.jobs[].state] | unique | join(" ")' 2>/dev/null)" = FINISHED ] ||
		[ -z "$(pod_pids "$1" "^[^ ]*java .*$FLINK_ENTRYPOINT")" ]
}

s69() {
	local before
	begin
	upgrade_to "$NEXT"
	await "the candidate's main() is held" candidate_has_held
	control hold-snapshot
	await "the job is being stopped" happened_again stopping "${BEFORE[stopping]}"
	sleep 2
	faults "$OWNER" "refuse $JOURNAL"
	uncontrol hold-snapshot
	await "the job ends" job_has_ended "$OWNER"
	check "and that is not on record" handover_is stopping
	before=$(has_records)
	check "the owner is lost" lose_pod "$OWNER"
	await_moved "$NEXT"
	diag "records: $before when it was lost, turns $(judge -v replay=1 >/dev/null; verdict '.turns[-3:] | join(" ")')"
}

has_records() {
	wc -l <"$OUT/records.log"
}

surge_begin surge-kills
GAP_LIMIT_MS=120000
REPLAY=1
for t in g1 g2; do
	template $t
	: >"$RUN/templates/$t/proxied"
done
if [ $# -eq 0 ]; then
	set -- t5_offered t5_prepared t5_stopping t5_stop t5_granted t5_granted_to t5_taken t5_done \
		s69 t6_candidate_offered t6_candidate_stopping t6_candidate_granted t6_candidate_taken t6_owner_offered
fi
surge_cases "$@"
