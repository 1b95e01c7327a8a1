#!/usr/bin/env bash
#
# Blue/green upgrades in which the job of the next version fails, in the shadow (S68) and behind the cut (G4); whose sinks were not
# named (G8), or which does not run when the owner could be stopped; in which the source stops after the cut was chosen (S71), and
# in which a part of it has no records (S72).
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

# ---- G8 ----------------------------------------------------------------------------------------------

# Each side has its own sinks, and nobody has said so: the state of the old side's is not left out.
g8_sinks_not_named() {
	local job
	owned_with 1s handover.tries=1 handover.prepareDeadline=2min
	job=$(pod_status "$OWNER" .jobId)
	next_version 1s "blueGreen.sinkUids=[]"
	upgrade_to "$NEXT"
	refused_and_replaced
	check "for the state of the other side's sink" pod_log "$CANDIDATE" 'does not take the state in .*commit-'
	is "$(begun "$NEXT")" 0 "its job was never restored"
	is "$(pod_status "$OWNER" .jobId)" "$job" "the owner's job is the one of before"
	check "nothing was lost, or doubled" exactly
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

# A gap, until the cause is cured.
g4_forward() {
	owned_with 2min blueGreen.afterCut=forward
	next_version 1s attempts.max=20 attempts.sameFailure=0 attempts.backoffMax=2s "flink.properties={restart-strategy.type: none}"
	poisoned_behind_the_cut
	await "it is started again" has_event THROW "$NEXT" 2
	check "the cut is in force" journal_is '.handover.transition.state | IN("crossing", "crossed")'
	check "the owner runs" pod_phase "$OWNER" Running
	check "and holds back what is above it" holds_back
	uncontrol "fail.$NEXT"
	finishes "$NEXT"
	OWNED_WITH=''
}

# ---- the owner could be stopped, and the job of the next version does not run ------------------------

# A JVM that stands still is one on a node that has no CPU for it.
another_flink_stands_still() { # POD PID_BEFORE
	another_flink "$@" && kill -STOP "$(flink_of "$1")"
}

next_does_not_run() {
	shadow_is starting
}

has_records() { # AT_LEAST
	[ "$(wc -l <"$OUT/records.log")" -ge "$1" ]
}

not_there_when_needed() {
	local before
	owned_with "${LATE_CUT[@]}"
	next_version "${LATE_CUT[@]}"
	in_the_shadow
	check "drey promote" drey_of "$OWNER" promote
	await "the cut is in force" transition_is crossing
	before=$(flink_of "$CANDIDATE")
	check "the Flink of the next version is killed" kill_flink "$CANDIDATE"
	await "the one after it stands still" another_flink_stands_still "$CANDIDATE" "$before"
	await "the owner knows that the job does not run" next_does_not_run
	check "before the owner is behind the cut" transition_is crossing
	await "the owner has nothing left to write" transition_is crossed
	await "for some time" has_records $(($(wc -l <"$OUT/records.log") + 20 * 2 * 50))
	check "the owner's job is not stopped for one that does not run" transition_is crossed
	check "it runs" pod_phase "$OWNER" Running
	check "the Flink of the next version runs again" kill -CONT "$(flink_of "$CANDIDATE")"
	finishes "$NEXT"
	OWNED_WITH="${LATE_CUT[*]}"
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

# ---- S72 ---------------------------------------------------------------------------------------------

# Two subtasks, each with the records of one split, and one of them without any. The next version lets it pass.
half_idle() { # IDLE
	SLOTS=2
	JOB_ARGS=(--idle 1000)
	owned_with 1s "blueGreen.idle=$1" "flink.properties={parallelism.default: 2}"
	next_version 1s blueGreen.idle=pass "flink.properties={parallelism.default: 2}"
	in_the_shadow
	control hold-1
	await "one subtask is idle" pod_is "$OWNER" '.handover.transition.idle == 1'
	check "drey promote" drey_of "$OWNER" promote
}

s72_idle_waits() {
	half_idle wait
	await "the cut is in force" transition_is crossing
	await "the other subtask is behind it" holds_back
	WRITTEN=$(committed_by "$NEXT")
	await "long since" has_committed "$NEXT" $((WRITTEN + 500))
	check "the transition waits" transition_is crossing
	check "the status says for what: one that is idle" pod_is "$OWNER" '.handover.transition.idle == 1'
	check "drey handover says so, too" names_the_idle
	uncontrol hold-1
	finishes "$NEXT"
	OWNED_WITH="1s blueGreen.idle=pass flink.properties={parallelism.default: 2}"
}

names_the_idle() {
	local said
	said=$(drey_of "$OWNER" handover)
	printf '%s\n' "$said"
	grep --quiet --extended-regexp '^ +idle +1 subtask' <<<"$said"
}

# Records that a version has read and none has committed, from before the cut; those from after it will be.
not_written() { # CUT_MS
	find "$OUT/committed" -name 'part-*' -exec cat {} + | awk -v cut="$1" '
		FILENAME == "-" { committed[$2 " " $3] = 1; next }
		!(($2 " " $3) in committed) && $4 < cut { n++ }
		END { print n + 0 }' - "$OUT/records.log"
}

s72_idle_passes() {
	local lost
	half_idle pass
	await "the job is the next version's" transition_is taken
	uncontrol hold-1
	await "it is done when the split has come to the cut" transition_is "done"
	await "it goes on" has_committed "$NEXT" 1000
	judge -v replay=1 -v splits=2 >"$RUN/verdict.log" || :
	lost=$(verdict .lost)
	DOUBLED=$((DOUBLED + $(counted_twice)))
	is "$(verdict .doubled)" "$DOUBLED" "nothing is there twice that was not counted"
	check "what came late from below the cut is not written: $lost" test "$lost" -gt 0
	is "$lost" "$(not_written "$(journal .handover.transition.toggleUnixMs)")" "and nothing else"
}

bluegreen_begin bluegreen_faults 1s
[ $# -gt 0 ] || set -- s68_fails_in_shadow g8_sinks_not_named g4_replay g4_forward not_there_when_needed s71_source_stops \
	s72_idle_waits s72_idle_passes
bluegreen_cases "$@"
