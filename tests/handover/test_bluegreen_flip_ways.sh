#!/usr/bin/env bash
#
# The other ways of a blue/green upgrade with gates as those of FLIP-504: both of the later version; given up before the cut, and
# after it; of a suspended job; and one in which agents and Flinks of both Pods are killed.
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
# shellcheck source=tests/handover/flip_lib.sh
. "$TOP/tests/handover/flip_lib.sh"

later() {
	begin_with g3
	marked
	upgrade_to g4
	finishes g4 BLUE GREEN
	is "$(contents)" "$(sequence BLUE GREEN)" "the keys went through all stages, in their order"
}

before_the_cut() {
	local other side coming
	begin_with g4
	in_shadow_of g3
	check "a person gives it up" drey_of "$OWNER" abort --yes
	await "the version is refused" handover_is refused
	at_rest "$side"
	is "$(contents)" "$(printf '%s\n' "$coming false INITIALIZING - -" "$coming false FAILING - -" "$side true RUNNING - -")" \
		"the side went back when the other job had ended"
	WRITTEN=$(committed_by g4)
	other=$(committed_by g3)
	await "the old version goes on" commits_more g4
	is "$(committed_by g3)" "$other" "and the other one writes nothing"
	check "nothing was lost or doubled" exactly
}

# A job that does not run is handed over without a transition: its gates and its sinks keep their colour, wherever the HA maps are
# then. The next transition divides the records as any other.
suspended() {
	local side coming
	begin_with g4
	side=$(colour) coming=$(other_colour)
	marked
	handed_over_suspended g5
	await "it goes on" has_committed g5 300
	is "$(contents | grep --invert-match --line-regexp "$side true RUNNING - -")" "" "the keys stay as they are"
	is "$(journal '.launches[-1].allowNonRestored')" false "no state was left out"
	check "nothing was lost or doubled" exactly
	CURRENT=g5 OWNER=$CANDIDATE
	await "the old Pod has ended" told gone "$(journal .handover.from.pod)"
	marked
	upgrade_to g6
	finishes g6 "$side" "$coming"
	is "$(contents)" "$(sequence "$side" "$coming")" "the keys went through all stages, in their order"
}

killed_flink() { # POD STATE PHASE
	killed flink "$1" "$2"
	await "and its job runs again" pod_phase "$1" "$3"
}

# The gates know from the keys where they are, and drey from its journal.
killed_on_both_sides() {
	local side coming
	begin_with "${CURRENT:-g4}"
	in_shadow_of g7
	killed agent "$OWNER" shadow
	killed agent "$CANDIDATE" shadow
	killed_flink "$OWNER" shadow Running
	killed_flink "$CANDIDATE" shadow Shadow
	check "drey promote" drey_of "$OWNER" promote
	await "the gates have chosen a cut" transition_is crossing
	killed agent "$OWNER" crossing
	killed agent "$CANDIDATE" crossing
	killed_flink "$CANDIDATE" crossing Shadow
	finishes g7 "$side" "$coming"
	is "$(contents)" "$(sequence "$side" "$coming")" "the keys went through all stages, in their order"
}

# What the gates hold back after the cut is not known, so the job starts again from before it.
after_the_cut() {
	local side
	begin_with g4
	side=$(colour)
	upgrade_to g5
	await "its job runs in the shadow" transition_is shadow
	check "drey promote" drey_of "$OWNER" promote
	await "the cut is in force" transition_is crossing
	await "the gates hold records back" keys_are '.stage == "CLEAR_TO_TEARDOWN"'
	check "a person gives it up" drey_of "$OWNER" abort --yes
	await "its job starts again from before the cut" journal_is .handover.transition.replayed
	await "the version is refused" handover_is refused
	at_rest "$side"
	is "$(journal '.launches[-1].restorePoint.path')" "$(journal .handover.transition.replay.path)" "from where the record says"
	WRITTEN=$(committed_by "$CURRENT")
	await "it goes on" commits_more "$CURRENT"
	judge -v replay=1 -v splits=2 >"$RUN/verdict.log" || :
	is "$(verdict .lost)" 0 "nothing was lost"
	check "what was written since then is there twice" test "$(verdict .doubled)" -gt 0
	diag "doubled: $(verdict .doubled), from $(journal .handover.transition.replay.path)"
	check "that is said" pod_log "$OWNER" 'is written twice'
}

flip_begin bluegreen_flip_ways
[ $# -gt 0 ] || set -- later before_the_cut suspended killed_on_both_sides after_the_cut
bluegreen_cases "$@"
