#!/usr/bin/env bash
#
# Surge upgrades by Helm on a real cluster: T1, the new Pods come beside the old ones, and the job goes on there from the savepoint
# of its stop; T2, versions whose Pods never start: the job does not notice; T12, `helm rollback` during a hand-over and after
# it; T11, a third version during one.
#
# alone: two versions of a Flink run at a time
# runs in: all

# shellcheck disable=SC2317 # cases are called by name
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/cluster/surge_lib.sh
. "$TOP/tests/cluster/surge_lib.sh"

has_tms() { # T
	[ -n "$(tms_of "$1")" ]
}

helm_has_ended() {
	[ -e "$RUN/helm.status" ]
}

t1() {
	version g1
	version g2 'image: {tag: "2"}'
	begin_with g1
	rm -f "$RUN/helm.status"
	{
		helm_upgrade g2 --wait --timeout "${WAIT_S}s" >"$RUN/log/helm.log" 2>&1
		echo $? >"$RUN/helm.status"
	} &
	await "there is a new Pod" pod_of g2
	CANDIDATE=$POD
	check "beside the old one" not told term "$OWNER"
	await "so there are new TaskManagers" has_tms g2
	check "beside the old ones" has_tms g1
	await_done g2
	await "helm upgrade --wait returns" helm_has_ended
	is "$(cat "$RUN/helm.status")" 0 "with success"
	check "the job was restored from the savepoint of the stop" pod_restored "$OWNER" "$(journal .handover.savepoint)"
	is "$(journal .owner.side)" green "on the other side"
	is "$(journal '.launches[-1].held')" true "its JVM had waited in front of main()"
	check "the old TaskManagers have gone" not has_tms g1
	is "$(happened "done")" 1 "one hand-over, at its first try"
	is "$(happened returned)" 0 "none was returned"
	check "drey handover says so" pod_drey "$OWNER" handover
	check "helm test" helm test "$APPLICATION"
}

# ---- T2 ------------------------------------------------------------------------------------------------

container_waits() { # POD REASON
	kubectl get pod "$1" --output json | jq --exit-status --arg reason "$2" '.status.containerStatuses[0] |
		[.state.waiting.reason, .state.terminated.reason, .lastState.terminated.reason] | any(. == $reason)' >/dev/null
}

unschedulable() { # POD
	kubectl get pod "$1" --output json |
		jq --exit-status 'any(.status.conditions[]; .type == "PodScheduled" and .reason == "Unschedulable")' >/dev/null
}

# All but the events that drey writes down, and the count of writes.
journal_kernel() {
	journal '{owner, handover, launches: [.launches[] | del(.lastCheckpoint)], operation, outcome, failuresUnixMs} | tojson'
}

no_start() { # T WHY CMD...: the Pod of T is as CMD says; the hand-over never begins
	local offered kernel
	remember_job
	offered=$(happened offered) kernel=$(journal_kernel)
	check "$2: helm upgrade --wait gives up" not helm_upgrade "$1" --no-hooks --wait --timeout 20s
	await "$2: there is a Pod" pod_of "$1"
	CANDIDATE=$POD
	await "$2: its Pod does not start" "${@:3}" "$CANDIDATE"
	untouched "$2"
	is "$(happened offered)" "$offered" "$2: the job was not offered to it"
	is "$(journal_kernel)" "$kernel" "$2: the journal is as before"
}

is_backing_off() { # POD
	container_waits "$1" CrashLoopBackOff
}

has_no_image() { # POD
	container_waits "$1" ErrImageNeverPull
}

# The JobManager starts, its TaskManagers do not.
no_task_managers() {
	remember_job
	check "TaskManagers without room: helm upgrade --wait gives up" not helm_upgrade wide --no-hooks --wait --timeout 20s
	await "there is a Pod" pod_of wide
	CANDIDATE=$POD
	await "the job is offered to it" handover_is offered
	await "its JVM waits in front of main()" main_is_held
	untouched "TaskManagers without room"
	check "without slots it is not prepared" not candidate_is Prepared
	check "nothing is stopped" handover_is offered
}

main_is_held() {
	[ "$(candidate .warm.mainHeld 2>/dev/null)" = true ]
}

back() { # WHAT: helm rollback, of an upgrade that has not touched the job
	check "$1: helm rollback" helm rollback "$APPLICATION" --wait --timeout "${WAIT_S}s"
	await "$1: the other Pod goes" told gone "$CANDIDATE"
	await "$1: nothing is left to do" settled
	untouched "$1"
}

t2() {
	version g2 'image: {tag: "2"}'
	begin_with g2
	version nowhere 'image: {tag: nowhere}'
	version crash 'flink: {home: /opt/nowhere}'
	version big 'jobManager: {cpu: "64"}'
	version wide 'taskManager: {cpu: "64"}'
	version g3
	no_start nowhere "an image that there is not" has_no_image
	back "back from it"
	no_start crash "a wrong configuration" is_backing_off
	back "back from it"
	no_start big "no room" unschedulable
	back "back from it"
	no_task_managers
	upgrade_to g3 --no-hooks # a good version heals it as well
	check "the version without room has ended" test "$(tms_of wide)" = ""
	await_done g3
}

# ---- T12 -----------------------------------------------------------------------------------------------

t12() {
	local taken
	version g3
	version g4
	begin_with g3
	remember_job
	prepared g4
	untouched "prepared"
	back "in Prepared"
	brake false
	await "do-not-restart is off" pod_is "$OWNER" '.desired.doNotRestart | not'
	untouched "without do-not-restart"

	control hold-main.g4
	taken=$(happened taken)
	upgrade_to g4
	await "the job is taken" happened_again taken "$taken"
	check "in Taken: helm rollback" helm rollback "$APPLICATION" --wait --timeout "${WAIT_S}s"
	await "its Pod goes" told gone "$CANDIDATE"
	uncontrol hold-main.g4
	returned_to g3
	check "the other version has written nothing" not has_written g4
	await "nothing is left to do" settled

	upgrade_to g4
	await_done g4
	check "after it: helm rollback" helm rollback "$APPLICATION"
	await "that is a hand-over to a new Pod of the old version" pod_of g3
	CANDIDATE=$POD
	await_done g3
}

# ---- T11 -----------------------------------------------------------------------------------------------

is_refused() { # T: `helm upgrade`, by the check, which says why
	local said
	said=$(helm_upgrade "$1" 2>&1) && return 1
	printf '%s\n' "$said"
	grep --quiet "hand-over" <<<"$said"
}

third() { # STATE T: T is forced in, and the second version goes
	local second=$CANDIDATE
	upgrade_to "$2" --no-hooks
	await "in $1: the second version goes" told gone "$second"
}

t11() {
	local before
	version g3
	version g5
	version g6
	begin_with g3
	remember_job
	prepared g5
	check "in Prepared: helm upgrade is refused" is_refused g6
	untouched "refused"
	check "the candidate is still there" pod_phase "$CANDIDATE" Prepared
	third Prepared g6
	untouched "in Prepared, with --no-hooks"
	brake false
	await_done g6

	version g7
	version g8
	control hold-snapshot.g6
	before=$(happened stopping)
	upgrade_to g7
	await "the job is being stopped" happened_again stopping "$before"
	check "in Stopping: helm upgrade is refused" is_refused g8
	third Stopping g8
	uncontrol hold-snapshot.g6
	await_done g8
	check "the second version has written nothing" not has_written g7

	version g9
	version g10
	control hold-main.g9
	before=$(happened taken)
	upgrade_to g9
	await "the job is taken" happened_again taken "$before"
	check "in Taken: helm upgrade is refused" is_refused g10
	third Taken g10
	uncontrol hold-main.g9
	await_done g10
	check "the second version has written nothing" not has_written g9
}

surge_begin surge
if [ $# -eq 0 ]; then
	set -- t1 t2 t12 t11
fi
surge_cases "$@"
