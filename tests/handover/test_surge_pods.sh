#!/usr/bin/env bash
#
# Surge upgrades and other Pods: T19, a second replica only waits; T20, TaskManagers of the new version are late and die, and one of
# the old version dies: the job is stopped when the new version has all its slots, and nobody registers at the wrong place.

# shellcheck disable=SC2317 # cases are called by name
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/api/lib.sh
. "$TOP/tests/api/lib.sh"
# shellcheck source=tests/handover/lib.sh
. "$TOP/tests/handover/lib.sh"
# shellcheck source=tests/handover/surge_lib.sh
. "$TOP/tests/handover/surge_lib.sh"

two_pods() { # T
	[ "$(pods_of "$1" | wc -l)" -eq 2 ]
}

the_other_pod() { # T: sets POD
	POD=$(pods_of "$1" | grep -vxF "$OWNER")
}

t19() {
	begin_with g1
	kubectl scale deployment "$APPLICATION-jobmanager" --replicas=2 >/dev/null
	await "there are two Pods" two_pods g1
	the_other_pod g1
	await "the second one only waits" pod_phase "$POD" Standby
	check "it is not ready" not pod_ready "$POD"
	count_written g1
	await "the job is not disturbed" goes_on_writing g1
	is "$(happened offered)" 0 "and there is no hand-over"
	kubectl scale deployment "$APPLICATION-jobmanager" --replicas=1 >/dev/null
	await "one replica again: the one that waited ends" told gone "$POD"
	check "and not the owner" not told term "$OWNER"
	await "nothing is left to do" rolled_out
}

held() {
	[ "$(candidate .warm.mainHeld 2>/dev/null)" = true ]
}

has_task_manager() { # POD
	[ "$(pod_rest "$1" taskmanagers '.taskmanagers | length')" -ge 1 ]
}

t20() {
	local tm
	REPLAY=1
	begin_with g1
	deployment jobmanager g2 1 1 | kubectl apply --server-side --force-conflicts --filename - >/dev/null
	await "there is a Pod of g2, and no TaskManager" pod_of g2
	CANDIDATE=$POD
	await "its JVM waits in front of main()" held
	count_written g1
	await "the job of g1 is not disturbed" goes_on_writing g1
	check "without slots it is not prepared" not candidate_is Prepared
	check "and nothing is stopped" handover_is offered
	tm=$(tms_of g1)
	kill_flink "$tm"
	await "a TaskManager of g1 dies: the job recovers" has_event RESTORED g1 2
	count_written g1
	await "and goes on" goes_on_writing g1
	deployment taskmanager g2 1 '"100%"' | kubectl apply --server-side --force-conflicts --filename - >/dev/null
	await "a TaskManager of g2 starts" has_tm_process g2
	kill_flink "$(tms_of g2)"
	await_done g2
	is "$(happened "done")" 1 "one hand-over, at its first try"
}

has_tm_process() { # T
	[ -n "$(pod_pids "$(tms_of "$1")" "^[^ ]*java .*$FLINK_TASKMANAGER")" ]
}

surge_begin surge-pods
template g1
template_keys g1 handover.prepareDeadline=10min
template g2
if [ $# -eq 0 ]; then
	set -- t19 t20
fi
surge_cases "$@"
