#!/usr/bin/env bash
#
# Blue/green upgrades in which the job of the next version fails, in the shadow (S68) and behind the cut (G4), and in which the
# source stops after the cut was chosen (S71).
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

# A failure of the task is one of the job, and the third one is the last.
DIES=(attempts.max=3 attempts.sameFailure=0 "flink.properties={restart-strategy.type: none}")

# There is time for something between the choice of the cut and the cut.
LATE_CUT=(1s blueGreen.lead=20s blueGreen.deadline=3min handover.tries=1)

# How often a job of that version has started.
begun() { # T
	grep -cE "^RESTORED $1 " "$OUT/events.log"
}

refused_and_replaced() {
	await "the version is refused" handover_is refused
	await "its Pod says so" pod_is "$CANDIDATE" '.cause == "HandoverRefused"'
	check "the owner's Pod was never told to end" not told term "$OWNER"
	check "it has the job" pod_phase "$OWNER" Running
}

# ---- S68 ---------------------------------------------------------------------------------------------

s68_fails_in_shadow() {
	local job bad
	owned_with 1s handover.tries=1
	job=$(pod_status "$OWNER" .jobId)
	next_version 1s "${DIES[@]}"
	bad=$NEXT
	in_the_shadow
	control "fail.$bad"
	refused_and_replaced
	is "$(grep -cE "^THROW $bad " "$OUT/events.log")" 3 "its job has died three times"
	is "$(committed_by "$bad")" 0 "nothing of it is committed"
	is "$(pod_status "$OWNER" .jobId)" "$job" "the owner's job is the one of before"
	is "$(begun "$CURRENT")" 1 "and has never stopped"
	is "$(journal '.handover.transition | .toggleUnixMs')" null "there was no cut"
	goes_over 1s
	is "$(journal '.handover.tries // 0')" 0 "a good version has all its tries"
}

# ---- G4 ----------------------------------------------------------------------------------------------

# The next version has passed records at or above the cut, and fails from now on.
poisoned_behind_the_cut() {
	in_the_shadow
	check "drey promote" drey_of "$OWNER" promote
	await "the cut is in force" transition_is crossing
	await "the owner holds records back" holds_back
	control "fail.$NEXT"
	await "the job of the next version dies" has_event THROW "$NEXT"
}

# All that is there twice was processed after the checkpoint that the journal names.
doubled_since() { # WALL_MS
	find "$OUT/committed" -name 'part-*' -exec cat {} + | awk -v since="$1" '
		{ id = $2 " " $3; count[id]++; if (!(id in first) || $5 < first[id]) first[id] = $5 }
		END {
			for (id in count)
				if (count[id] > 1) { twice++; if (first[id] < since) { earlier++; print id, first[id] } }
			print twice + 0, "twice,", earlier + 0, "of them from before", since
			exit !twice || earlier
		}'
}

# When the job had taken that checkpoint.
taken_ms() { # T CHECKPOINT
	sed -nE "s/^SNAPSHOT $1 $2 .*ms=([0-9]+)$/\1/p" "$OUT/events.log" | head -n 1
}

g4_replay() {
	local from
	owned_with 2min handover.tries=1
	next_version 1s "${DIES[@]}"
	poisoned_behind_the_cut
	await "the owner's job starts again from before the cut" journal_is .handover.transition.replayed
	from=$(journal .handover.transition.replay.checkpointId)
	is "$(journal '.launches[-1].restorePoint.path')" "$(journal .handover.transition.replay.path)" "from where the journal says"
	refused_and_replaced
	check "that records are written twice is said" pod_log "$OWNER" 'is written twice'
	check "in the status, too" pod_is "$OWNER" '.handover.transition.replay != null'
	WRITTEN=$(committed_by "$CURRENT")
	await "it goes on" commits_more "$CURRENT"
	judge -v replay=1 -v splits=2 >"$RUN/verdict.log" || :
	is "$(verdict .lost)" 0 "nothing was lost"
	check "no more is there twice than since that checkpoint" doubled_since "$(taken_ms "$CURRENT" "$from")"
	DOUBLED=$(verdict .doubled)
	diag "$DOUBLED records are there twice"
}

# ---- S71 ---------------------------------------------------------------------------------------------

below_the_cut() {
	pod_is "$OWNER" '.handover.transition | .cutUnixMs > .watermarkUnixMs'
}

s71_source_stops() {
	owned_with "${LATE_CUT[@]}"
	next_version 1s
	in_the_shadow
	check "drey promote" drey_of "$OWNER" promote
	await "the cut is in force" transition_is crossing
	control hold-0
	control hold-1
	check "no record has come to it" below_the_cut
	is "$(pod_status "$OWNER" .handover.transition.waitsFor)" "all gates of this version are behind the cut, for blueGreen.settle" \
		"the status says what is waited for"
	refused_and_replaced
	check "for its time" journal_is '.handover.why | test("in time")'
	is "$(journal .handover.transition.replay.path)" null "nothing was held back, so nothing is written twice"
	uncontrol hold-0
	uncontrol hold-1
	WRITTEN=$(committed_by "$CURRENT")
	await "the owner's job goes on with its source" commits_more "$CURRENT"
	is "$(begun "$CURRENT")" 1 "it has never stopped"
	is "$(committed_by "$NEXT")" 0 "nothing of the other one is committed"
	check "nothing was lost, or doubled" exactly
}

bluegreen_begin bluegreen_faults 1s
[ $# -gt 0 ] || set -- s68_fails_in_shadow g4_replay s71_source_stops
bluegreen_cases "$@"
