#!/usr/bin/env bash
#
# Blue/green upgrades with gates that behave as the first and as the later published version of FLIP-504 (tests/job/FlipGate.java):
# drey serves the keys of their ConfigMap. A transition with each version, one that is given up before the cut, one after it, a
# CLEAR_TO_TEARDOWN that somebody else has written too early, and writes of others in between; an upgrade of a suspended job; and one in
# which agents and Flinks of both Pods are killed.
#
# runs in: ci on 2.3.0

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

BLUEGREEN_JOB=FlipJob
RATE=50  # numbers a second of each of two splits

# ---- the keys ------------------------------------------------------------------------------------

write_keys() { # JQ, on data: the whole object, without comparison
	kubectl get configmap "$APPLICATION-bluegreen" --output json | jq "del(.metadata.resourceVersion) | .data |= ($1)" | kubectl replace --filename - >/dev/null
}

# Each content since the last `marked`, in a line: side, first, stage, stage of the watermark, and T for a cut.
contents() {
	tail -n "+$((MARK + 1))" "$RUN/keys.log" | uniq
}

marked() {
	MARK=$(wc -l <"$RUN/keys.log")
}

watch_keys() {
	spawn keys bash -c '"$0" --kubeconfig "$1" --namespace "$2" get configmaps --field-selector "metadata.name=$3" --watch --output json |
		jq --unbuffered --raw-output ".data | [.\"active-deployment-type\", .\"is-first-deployment\", .stage, .\"watermark-stage\" // \"-\",
			(if .\"watermark-toggle-value\" then \"T\" else \"-\" end)] | join(\" \")" >>"$4"' \
		"$KUBE_HOME/bin/kubectl" "$ADMIN" "$NAMESPACE" "$APPLICATION-bluegreen" "$RUN/keys.log"
}

flip_begin() {
	local one
	watched_begin bluegreen_flip blueGreen
	: >"$RUN/keys.log"
	watch_keys
	MUST_LIVE+=(keys)
	for one in g1:first g2:first g3:later g4:later g5:later g6:later g7:later; do
		flip_template "${one%:*}" "${one#*:}"
	done
	template_keys g2 blueGreen.promote=manual blueGreen.lead=60s
	for one in g4 g6; do
		template_keys "$one" blueGreen.promote=manual blueGreen.settle=1min
	done
	template_keys g7 blueGreen.promote=manual blueGreen.lead=5min attempts.max=20 attempts.sameFailure=0 "${NO_HURRY[@]}"
}

flip_template() { # T first|later
	template "$1"
	echo "test.flip-gate: $2" >>"$RUN/templates/$1/config"
	template_keys "$1" blueGreen.gate=flip "blueGreen.gateName=the gate" blueGreen.sourcesCanBeReadTwice=true \
		"blueGreen.sinkUids=[commit-blue, commit-green]" blueGreen.lead=30s blueGreen.caughtUp=10s blueGreen.settle=2s \
		blueGreen.deadline=4min
}

colour() {
	keys '."active-deployment-type"'
}

other_colour() {
	[ "$(colour)" = BLUE ] && echo GREEN || echo BLUE
}

# The contents of a transition from one side to the other; what the gates write at the same time as drey may come before it.
sequence() { # FROM TO
	cat <<-END
		$2 false INITIALIZING - -
		$2 false TRANSITIONING - -
		$2 false TRANSITIONING WAITING_FOR_WATERMARK -
		$2 false TRANSITIONING WATERMARK_SET T
		$2 false CLEAR_TO_TEARDOWN WATERMARK_SET T
		$2 false RUNNING WATERMARK_SET T
		$2 true RUNNING - -
	END
}

finishes() { # T FROM TO
	local cut before=$CURRENT
	await "it is done, and the new Pod is the owner" journal_is ".owner.pod == \"$CANDIDATE\" and .handover.transition.state == \"done\""
	cut=$(journal .handover.transition.toggleUnixMs)
	at_rest "$3"
	await "the old Pod has ended" told gone "$OWNER"
	await "it goes on" has_committed "$1" 300
	check "nothing was lost or doubled" exactly
	check "the two have divided the records at the cut of the gates" divided_by_flip "$cut" "$before" "$1"
	CURRENT=$1 OWNER=$CANDIDATE
}

# ---- cases ---------------------------------------------------------------------------------------

first() {
	begin_with g1
	at_rest BLUE
	is "$(keys '."deployment-deletion-delay-ms"')" 30000 "with the distance of the cut"
	is "$(head -n 1 "$RUN/keys.log")" "BLUE true RUNNING - -" "since the ConfigMap was made"
	marked
	upgrade_to g2
	finishes g2 BLUE GREEN
	is "$(contents)" "$(sequence BLUE GREEN)" "the keys went through all stages, in their order"
}

past_the_seed() {
	pod_is "$OWNER" ".handover.transition.watermarkUnixMs >= $(journal .handover.transition.seenUnixMs)"
}

# What somebody else has written is not believed, and does not stay; and no key of drey's, of the gates or of others is lost.
others_write() {
	begin_with g2
	marked
	upgrade_to g3
	await "its job runs in the shadow" transition_is shadow
	check "somebody writes CLEAR_TO_TEARDOWN" write_keys '.stage = "CLEAR_TO_TEARDOWN" | .theirs = "x"'
	await "drey puts its word back" keys_are '.stage == "INITIALIZING"'
	await "the old version has read all that it had seen at the seed" past_the_seed
	COMPLETED=$(pod_status "$OWNER" .checkpoints.completed)
	await "and has checkpoints since" pod_is "$OWNER" ".checkpoints.completed >= $((COMPLETED + 5))" # one that drey has looked before
	: >"$CONTROL/hold-0.g2" # so the watermark of the old version stays, and it does not come to the cut
	check "drey promote" drey_of "$OWNER" promote
	await "the gates have chosen a cut" transition_is crossing
	check "somebody writes CLEAR_TO_TEARDOWN, and another distance" write_keys '.stage = "CLEAR_TO_TEARDOWN" |
		."deployment-deletion-delay-ms" = "7"'
	await "the distance is put back" keys_are '."deployment-deletion-delay-ms" == "60000"'
	await "the cut is past for longer than \`settle\`: the new version writes" has_committed g3 $((10 * 2 * RATE))
	is "$(keys .stage)" CLEAR_TO_TEARDOWN "CLEAR_TO_TEARDOWN is there"
	check "and is not believed alone" transition_is crossing
	rm "$CONTROL/hold-0.g2"
	finishes g3 GREEN BLUE
	is "$(keys .theirs)" x "a key that is none of FLIP-504 is still there"
}

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
	side=$(colour) coming=$(other_colour)
	marked
	upgrade_to g3
	await "its job runs in the shadow" transition_is shadow
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

killed_flink() { # POD STATE PHASE
	killed flink "$1" "$2"
	await "and its job runs again" pod_phase "$1" "$3"
}

# The gates know from the keys where they are, and drey from its journal.
killed_on_both_sides() {
	local side coming
	begin_with "${CURRENT:-g4}"
	side=$(colour) coming=$(other_colour)
	marked
	upgrade_to g7
	await "its job runs in the shadow" transition_is shadow
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

flip_begin
[ $# -gt 0 ] || set -- first others_write later before_the_cut suspended killed_on_both_sides after_the_cut
bluegreen_cases "$@"
