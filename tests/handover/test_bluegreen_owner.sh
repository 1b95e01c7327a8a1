#!/usr/bin/env bash
#
# Blue/green upgrades in which something happens to the owner while the cut is in force: its agent and its Flink are killed, its Pod is
# lost, and a person gives the upgrade up. And an upgrade of a job that is suspended.
#
# runs in: all on 2.3.0

# shellcheck disable=SC2317 # cases are called by name
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/api/lib.sh
. "$TOP/tests/api/lib.sh"
# shellcheck source=tests/handover/lib.sh
. "$TOP/tests/handover/lib.sh"
# shellcheck source=tests/handover/surge_lib.sh
. "$TOP/tests/handover/surge_lib.sh"
# shellcheck source=tests/handover/bluegreen_lib.sh
. "$TOP/tests/handover/bluegreen_lib.sh"

says_who_follows() {
	drey_of "$OWNER" handover >"$RUN/handover.log" || :
	grep --quiet "if lost *only a Pod of template $(journal .handover.from.template) follows the owner; .kubectl rollout undo. brings it back" "$RUN/handover.log"
}

crossing() { # T
	upgrade_to "$1"
	await "the cut is in force" transition_is crossing
	check "drey handover says which template follows the owner" says_who_follows
	await "the owner holds records back" holds_back
}

killed_agent() {
	begin_with g1
	crossing g2
	check "the agent of the owner is killed" kill_agent "$OWNER"
	finishes g2
}

killed_flink() {
	begin_with g2
	crossing g3
	check "the Flink of the owner is killed" kill_flink "$OWNER"
	await "its job runs again" pod_phase "$OWNER" Running
	finishes g3
}

another_owns() {
	[ "$(journal .owner.pod)" != "$OWNER" ]
}

# Flink recovers the graph of the job, which names the directory of the Pod that built it.
lost_pod() {
	begin_with g3
	crossing g4
	check "the Pod of the owner is lost" lose_pod "$OWNER"
	await "another one of its version is the owner" another_owns
	OWNER=$(journal .owner.pod)
	await "its job runs again" pod_phase "$OWNER" Running
	finishes g4
}

given_up() {
	begin_with "${CURRENT:-g3}"
	crossing g1
	check "promoted it is no more" eval '! from_outside promote "$APPLICATION" 2>"$RUN/refused.log"'
	check "which kubectl drey says" grep --quiet 'not promoted: the cut was chosen already' "$RUN/refused.log"
	is "$(from_outside abort "$APPLICATION" --timeout 60s)" "given up" "a person gives it up, by kubectl drey abort"
	await "the owner's output is open" journal_is .handover.transition.opened
	await "its job starts again from before the cut" journal_is .handover.transition.replayed
	is "$(journal '.launches[-1].restorePoint.path')" "$(journal .handover.transition.replay.path)" "which is on record"
	await "the version is refused" handover_is refused
	WRITTEN=$(committed_by "$CURRENT")
	await "it goes on" commits_more "$CURRENT"
	is "$(journal .owner.pod)" "$OWNER" "at the owner"
	judge -v replay=1 -v splits=2 >"$RUN/verdict.log" || :
	is "$(verdict .lost)" 0 "nothing was lost"
	check "what was written since the checkpoint is there twice" test "$(verdict .doubled)" -gt 0
	check "that records were written twice is said" pod_log "$OWNER" 'is written twice'
}

# A job that does not run is handed over without a transition: its sinks stay what they are, so that their state is restored.
suspended() {
	local side
	begin_with "${CURRENT:-g3}"
	side=$(journal '.launches[-1].outputSide // "blue"')
	handed_over_suspended g2
	is "$(journal '.launches[-1].outputSide // "blue"')" "$side" "and with the same sinks"
	is "$(journal '.launches[-1].allowNonRestored')" false "of which no state is left out"
	await "it goes on" has_committed g2 300
	judge -v replay=1 -v splits=2 >"$RUN/verdict.log" || :
	is "$(verdict .lost)" 0 "nothing was lost"
	CURRENT=g2 OWNER=$CANDIDATE
}

bluegreen_begin bluegreen_owner 15s
bluegreen_template g4 15s
[ $# -gt 0 ] || set -- killed_agent killed_flink lost_pod given_up suspended
bluegreen_cases "$@"
