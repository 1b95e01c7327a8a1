#!/usr/bin/env bash
#
# Blue/green upgrades by Helm on a real cluster, with gates that behave as those of FLIP-504 (tests/job/FlipGate.java): they read and
# write their ConfigMap as the account of the TaskManagers, with the Role of the chart. One upgrade that a person promotes, and one
# that takes over by itself under `helm upgrade --wait`.
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

# PROMOTE is for the upgrade to the version after it: the owner decides.
flip() { # T PROMOTE
	version "$1" 'job: {class: drey.FlipJob}' 'upgrade: {strategy: blueGreen}' 'jobManager: {progressDeadlineSeconds: 3600}' \
		'flink: {configuration: {test.flip-gate: later}}' 'drey:' \
		'  blueGreen: {gate: flip, gateName: the gate, sourcesCanBeReadTwice: true, sinkUids: [commit-blue, commit-green],' \
		"    promote: $2, lead: 30s, caughtUp: 10s, settle: 2s, deadline: 4min}"
}

finished() { # T SIDE
	local cut before=$CURRENT
	await "the transition is done" transition_is "done"
	cut=$(journal .handover.transition.toggleUnixMs)
	is "$(journal .owner.pod)" "$CANDIDATE" "the new Pod is the owner"
	at_rest "$2"
	await "its job runs" pod_phase "$CANDIDATE" Running
	await "the old Pods are gone, the new ones are ready" settled
	WRITTEN=$(committed_by "$1")
	await "$1 goes on" commits_more "$1"
	check "nothing was lost or doubled" exactly
	check "the two have divided the records at the cut of the gates" divided_by_flip "$cut" "$before" "$1"
	CURRENT=$1 OWNER=$CANDIDATE
}

promoted() {
	begin_with f1
	at_rest BLUE
	upgrade_to f2
	await "the job of f2 runs in the shadow" pod_phase "$CANDIDATE" Shadow
	await "the owner knows" transition_is shadow
	check "the new Pod is not ready" not pod_ready "$CANDIDATE"
	is "$(committed_by f2)" 0 "nothing of it is committed"
	check "drey promote, by the Deployment" drey promote
	finished f2 GREEN
}

automatic() {
	begin_with f2
	deployed f3 --wait --timeout "${WAIT_S}s"
	check "helm returned when that was the owner" journal_is ".owner.pod == \"$CANDIDATE\""
	finished f3 BLUE
}

surge_begin bluegreen-flip
flip f1 manual
flip f2 automatic
flip f3 automatic
[ $# -gt 0 ] || set -- promoted automatic
bluegreen_cases "$@"
