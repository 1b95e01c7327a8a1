#!/usr/bin/env bash
#
# Blue/green upgrades between two real Flinks: the jobs of both versions run at the same time, and divide the records at a cut.
# Then the agent of the next version is killed while its job runs in the shadow, and that upgrade is given up.
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

in_shadow() { # T
	await "its job runs in the shadow" pod_phase "$CANDIDATE" Shadow
	await "its gates hold everything back, by order" gates_are closed
	is "$(committed_by "$1")" 0 "nothing of it is committed"
	check "that of the owner runs, too" pod_phase "$OWNER" Running
	check "with its TaskManagers" test -n "$(tms_of "$CURRENT")"
	check "the new Pod is not ready" eval '! pod_ready "$CANDIDATE"'
	check "its job has restored the seed" restored_from "$CANDIDATE" "$(own_journal '.launches[-1].restorePoint.path')"
	is "$(own_journal '.launches[-1].restorePoint.path')" "$(journal '.handover.transition.seed.path')" "which its own journal says"
	is "$(own_journal '.launches[-1].held')" true "its JVM had waited in front of main()"
	is "$(own_journal '.launches[-1].allowNonRestored')" true "the state of sinks may stay with its side"
}

# The Events of a transition, each of which was posted: the reasons.
steps_told() {
	kubectl get events.events.k8s.io --output json | jq --exit-status --raw-output '[.items[] | select(.reportingController == "drey.dev/drey") | .reason] as $told |
		"Offered Stopping Granted Taken Done" / " " | map("Handover" + .) + ("Seeding Seeded Shadow CaughtUp Arming Armed Crossing Crossed" / " " | map("Transition" + .)) |
		. - $told == []'
}

# What `drey check` says of a version that is not there yet: one with another configuration, for the other side.
checks() { # STATUS TEXT SED [OPTION...]
	local status=0
	sed "s/^generation: .*/generation: g9/; $3" "$RUN/pods/$OWNER/drey.yaml" >"$RUN/check.yaml"
	flink_env "$RUN/pods/$OWNER"
	env "${FLINK_ENV[@]}" POD_NAME=check POD_UID=check POD_IP=127.0.0.1 "$BUILD/drey" check --config "$RUN/check.yaml" "${@:4}" \
		>"$RUN/check.out" 2>&1 || status=$?
	[ "$status" -eq "$1" ] && grep --quiet -F -- "$2" "$RUN/check.out" && return
	diag "status $status" "$(cat "$RUN/check.out")"
	return 1
}

one_transition() {
	local cut
	begin_with g1
	upgrade_to g2
	await "its job runs in the shadow" pod_log "$CANDIDATE" '"the job runs in the shadow"'
	await "it is done" transition_is "done"
	cut=$(journal .handover.transition.toggleUnixMs)
	await "each step was told by an Event" steps_told
	is "$(journal .owner.pod)" "$CANDIDATE" "the new Pod is the owner"
	is "$(journal .owner.side)" green "on the other side"
	await "it says that its job runs" pod_phase "$CANDIDATE" Running
	is "$(journal '.launches | length')" 2 "no job was started for that, but the one in the shadow"
	await "the Deployments have nothing left to do" rolled_out
	await "the old Pod has ended" told gone "$OWNER"
	await "it goes on" has_committed g2 500
	await "its own journal is deleted" own_journal_is_gone
	check "nothing was lost or doubled" exactly
	check "the two have divided the records at the cut" divided_at "$cut" g1 g2
	is "$(journal '.handover.transition | "\(.above) \(.below)"')" "null null" "none was counted twice"
	CURRENT=g2 OWNER=$CANDIDATE
	check "drey check builds the job for the side that is free" checks 0 'state is left out' ''
	check "it names a uid of sinkUids that no operator has" checks 0 "no operator of either version has 'comit-blue'" 's/commit-blue/comit-blue/'
	check "it refuses a job without a gate" checks 4 'the new job has no gate' 's/BlueGreenJob/HandoverJob/' --allow-non-restored-state
	check "which may be meant" checks 0 'state is left out' 's/BlueGreenJob/HandoverJob/; s/^blueGreen:/&\n  gate: none/' --allow-non-restored-state
}

killed_agent() {
	local job
	begin_with g2
	upgrade_to g3
	in_shadow g3
	job=$(own_journal '.launches[-1].jobId')
	check "the agent of the new Pod is killed" kill_agent "$CANDIDATE"
	await "the next one continues" pod_log "$CANDIDATE" 'the job in the shadow continues'
	await "in the shadow" pod_phase "$CANDIDATE" Shadow
	is "$(pod_status "$CANDIDATE" .jobId)" "$job" "with the same job"
	is "$(own_journal '.launches | map(select(.jobId == "'"$job"'")) | length')" 1 "which was not started again"
	await "and says so" shadow_is shadowing
}

given_up() {
	WRITTEN=$(committed_by g2)
	check "g2 is deployed again" deploy g2
	await "the owner gives it up" journal_is '.handover.state == "none" or .handover.state == "refused"'
	await "the Pod of the new version has ended" told gone "$CANDIDATE"
	await "the Deployments have nothing left to do" rolled_out
	check "the owner's Pod was never told to end" not told term "$OWNER"
	check "its job runs" pod_phase "$OWNER" Running
	await "and writes" commits_more g2
	is "$(committed_by g3)" 0 "nothing of the other one is committed"
	check "nothing was lost or doubled" exactly
}

# And back to the first side, when a person says so.
promoted() {
	local cut before
	begin_with g2
	before=$(journal .owner.side)
	upgrade_to g3
	in_shadow g3
	is "$(from_outside promote "$APPLICATION" --timeout 60s)" promoted "kubectl drey promote"
	await "it is done" transition_is "done"
	cut=$(journal .handover.transition.toggleUnixMs)
	check "on the other side" test "$(journal .owner.side)" != "$before"
	await "the old Pod has ended" told gone "$OWNER"
	await "it goes on" has_committed g3 500
	check "nothing was lost or doubled" exactly
	check "the two have divided the records at the cut" divided_at "$cut" g2 g3
	CURRENT=g3 OWNER=$CANDIDATE
}

bluegreen_begin bluegreen 1s
template_keys g2 check.graphTimeout=10min # four JVMs run beside that of `drey check`
# the one after stays in the shadow
template_keys g2 blueGreen.promote=manual
[ $# -gt 0 ] || set -- one_transition killed_agent given_up promoted
bluegreen_cases "$@"
