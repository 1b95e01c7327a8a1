#!/usr/bin/env bash
#
# Blue/green upgrades by Helm on a real cluster: the first upgrade to that strategy, from surge; `helm upgrade --wait` to a version
# that takes over by itself; one that stays in the shadow until a person says `drey promote`; `helm rollback` of a version that is in
# the shadow.
#
# alone: the jobs of two versions run at a time
# runs in: all

# shellcheck disable=SC2317 # cases are called by name
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/cluster/surge_lib.sh
. "$TOP/tests/cluster/surge_lib.sh"
# shellcheck source=tests/handover/bluegreen_lib.sh
. "$TOP/tests/handover/bluegreen_lib.sh"

# PROMOTE is for the upgrade to the version after it: the owner decides. The graphs are compared, as they are by default.
bluegreen() { # T PROMOTE [LINE...]
	version "$1" 'job: {class: drey.BlueGreenJob}' 'upgrade: {strategy: blueGreen}' 'jobManager: {progressDeadlineSeconds: 3600}' \
		'drey:' '  check: {graph: true}' "  blueGreen: {sourcesCanBeReadTwice: true, sinkUids: [commit-blue, commit-green], promote: $2," \
		'    lead: 3s, caughtUp: 2s, settle: 1s, deadline: 4min}' "${@:3}"
}

# The first upgrade to blueGreen, as docs/tasks/blue-green.md says: the drey that runs knows surge only, and the sinks stay what they are.
from_surge() {
	begin_with s1
	upgrade_to b1
	await "the job of b1 runs" pod_phase "$CANDIDATE" Running
	await "the old Pods are gone, the new ones are ready" settled
	is "$(journal '"\(.owner.pod) \(.owner.side)"')" "$CANDIDATE green" "the new Pod is the owner, on the other side"
	is "$(journal .handover.transition.state)" null "it was no transition"
	is "$(happened returned)" 0 "the job was not returned"
	is "$(journal '.launches[-1] | "\(.outputSide) \(.allowNonRestored)"')" "null false" "its sinks have their state"
	await "b1 goes on" has_committed b1 100
	check "nothing was lost or doubled" exactly
	CURRENT=b1 OWNER=$CANDIDATE
}

helm_has_ended() {
	[ -e "$RUN/helm.status" ]
}

helm_in_background() { # T
	rm -f "$RUN/helm.status"
	{
		helm_upgrade "$1" --wait --timeout "${WAIT_S}s" >"$RUN/log/helm.log" 2>&1
		echo "$? $(now_ms)" >"$RUN/helm.new"
		mv "$RUN/helm.new" "$RUN/helm.status"
	} &
}

# When the observer saw this Pod as the owner.
owner_since() { # POD
	observed "select(.what == \"journal\" and .owner == \"$1\") | .ms" | head -n 1
}

never_unready() { # POD: until it was told to end
	local term
	term=$(told_ms term "$1")
	[ -z "$(observed "select(.what == \"pod\" and .event == \"unready\" and .pod == \"$1\" and .ms < ${term:-infinite})")" ]
}

in_shadow() { # T
	local seed
	await "the job of $1 runs in the shadow" pod_phase "$CANDIDATE" Shadow
	await "its gates hold everything back, by order" gates_are closed
	seed=$(journal .handover.transition.seed.path)
	check "it was restored from the seed" pod_restored "$CANDIDATE" "$seed"
	is "$(own_journal '.launches[-1].restorePoint.path')" "$seed" "which its own journal says"
	is "$(own_journal '.launches[-1].held')" true "its JVM had waited in front of main()"
	check "the job of $CURRENT runs, too" pod_phase "$OWNER" Running
	check "with its TaskManagers" test -n "$(tms_of "$CURRENT")"
	check "the new Pod is not ready" not pod_ready "$CANDIDATE"
	check "the owner's is" pod_ready "$OWNER"
}

finished() { # T
	local cut before=$CURRENT old=$OWNER side=green
	await "the transition is done" transition_is "done"
	cut=$(journal .handover.transition.toggleUnixMs)
	[ "$(journal .handover.from.side)" = blue ] || side=blue
	is "$(journal '.owner | "\(.pod) \(.side)"')" "$CANDIDATE $side" "the new Pod is the owner, on the other side"
	await "its job runs" pod_phase "$CANDIDATE" Running
	await "the old Pods are gone, the new ones are ready" settled
	await "the old Pod has ended" told gone "$old"
	check "it was told to when the new one was the owner" test "$(told_ms term "$old")" -ge "$(owner_since "$CANDIDATE")"
	check "it was ready until then" never_unready "$old"
	is "$(observed "select(.event == \"gone\" and .pod == \"$old\") | .exit")" 0 "it ended with status 0"
	is "$(tms_of "$before")" "" "the old TaskManagers have gone"
	WRITTEN=$(committed_by "$1")
	await "$1 goes on" commits_more "$1"
	await "the journal of the job in the shadow is deleted" own_journal_is_gone
	check "nothing was lost or doubled" exactly
	check "the two have divided the records at the cut" divided_at "$cut" "$before" "$1"
	check "both have committed" test "$(committed_by "$before")" -gt 0
	is "$(journal '.handover.transition | "\(.above) \(.below)"')" "null null" "none was counted twice"
	CURRENT=$1 OWNER=$CANDIDATE
}

automatic() {
	local ended launches
	begin_with "${CURRENT:-g1}"
	launches=$(journal '.launches | length')
	helm_in_background g2
	await "there is a new Pod" pod_of g2
	CANDIDATE=$POD
	await "a transition is under way" journal_is '.handover.transition.state != null'
	check "helm upgrade --wait waits for it" not helm_has_ended
	finished g2
	await "helm upgrade --wait has returned" helm_has_ended
	read -r status ended <"$RUN/helm.status"
	is "$status" 0 "with success"
	check "not before the new Pod was the owner" test "$ended" -ge "$(owner_since "$OWNER")"
	is "$(journal '.launches | length')" $((launches + 1)) "no job was started for that, but the one in the shadow"
	check "helm test" helm test "$APPLICATION"
}

has_caught_up() {
	pod_is "$OWNER" '.handover.transition | .state == "shadow" and (.behindMs | type == "number" and . <= 2000)'
}

says_what_it_waits_for() {
	drey handover >"$RUN/handover.log" 2>&1 # 1: it is under way
	cat "$RUN/handover.log"
	grep --quiet 'transition *shadow, waits for: a person: `drey promote`' "$RUN/handover.log"
}

has_beaten() { # AT_LEAST
	[ "$(candidate .beat)" -ge "$1" ]
}

# The lines of docs/tasks/blue-green.md: kubectl takes the Pod that is ready.
promoted() {
	local beat
	begin_with g2
	upgrade_to g3
	in_shadow g3
	await "it has caught up" has_caught_up
	check "drey handover, by the Deployment, says what it waits for" says_what_it_waits_for
	beat=$(candidate .beat)
	await "the owner has looked ten times more" has_beaten $((beat + 10)) # a cut needs three looks
	check "it stays in the shadow" pod_phase "$CANDIDATE" Shadow
	is "$(committed_by g3)" 0 "nothing of it is committed"
	check "drey promote, by the Deployment" drey promote
	finished g3
}

rolled_back() {
	begin_with g3
	remember_job
	upgrade_to g4
	in_shadow g4
	WRITTEN=$(committed_by g3)
	check "helm rollback" helm rollback "$APPLICATION" --wait --timeout "${WAIT_S}s"
	await "the Pod of the other version has ended" told gone "$CANDIDATE"
	await "nothing is left to do" settled
	await "the owner gives it up" journal_is '.handover.state == "none" or .handover.state == "refused"'
	is "$(tms_of g4)" "" "its TaskManagers have gone"
	check "the owner's Pod was not told to end" not told term "$OWNER"
	check "it was ready all the time" never_unready "$OWNER"
	is "$(journal .owner.pod)" "$OWNER" "it is the owner"
	is "$(pod_status "$OWNER" .jobId)" "$JOB" "its job is that of before"
	check "which runs" pod_phase "$OWNER" Running
	await "and writes" commits_more g3
	is "$(committed_by g4)" 0 "nothing of the other version is committed"
	check "nothing was lost or doubled" exactly
}

surge_begin bluegreen
version s1 'job: {class: drey.BlueGreenJob}' 'upgrade: {strategy: surge}'
bluegreen b1 automatic
bluegreen g1 automatic
for one in g2 g3 g4; do
	bluegreen "$one" manual
done
[ $# -gt 0 ] || set -- from_surge automatic promoted rolled_back
bluegreen_cases "$@"
