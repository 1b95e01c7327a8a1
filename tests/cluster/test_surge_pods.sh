#!/usr/bin/env bash
#
# T16: other Pods of the same version by Helm and kubectl on a real cluster, with surge: the job goes on in another Pod, under its job id,
# at its side, and without a savepoint.
#
# alone: two versions of a Flink run at a time
# runs in: all

# shellcheck disable=SC2317 # cases are called by name
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/cluster/surge_lib.sh
. "$TOP/tests/cluster/surge_lib.sh"
# shellcheck disable=SC2034 # of surge_lib.sh
REPLAY=1

# ---- T16 -----------------------------------------------------------------------------------------------

savepoints() {
	find "$BUCKETS/flink/orders/savepoints" -name _metadata 2>/dev/null | wc -l
}

other_pod() { # T: sets POD, the one that is not OWNER
	POD=$(pods_of "$1" | grep -vxF "$OWNER")
	[ -n "$POD" ] && [ "$(wc -l <<<"$POD")" -eq 1 ]
}

same() { # WHAT T: the job goes on in another Pod of its generation
	local old=$OWNER
	await "$1: there is another Pod" other_pod "$2"
	OWNER=$POD
	await "$1: it is the owner" journal_is ".owner.pod == \"$OWNER\""
	await "$1: the job runs there" pod_phase "$OWNER" Running
	await "$1: the old Pod has ended" told gone "$old"
	await "$1: nothing is left to do" settled
	is "$(pod_status "$OWNER" .jobId)" "$JOB" "$1: under its job id"
	is "$(journal .owner.side)" "$SIDE" "$1: on its side"
	is "$(savepoints)" "$SAVEPOINTS" "$1: without a savepoint"
	is "$(journal .handover.mode)" same "$1: as a hand-over of one version"
	is "$(tms_of "$CURRENT")" "$TMS" "$1: with the TaskManagers of before"
	count_written "$CURRENT"
	await "$1: it goes on writing" goes_on_writing "$CURRENT"
}

t16() {
	version g1
	begin_with g1
	remember_job
	SIDE=$(journal .owner.side) SAVEPOINTS=$(savepoints) TMS=$(tms_of g1)
	same_job g1-label g1 'jobManager: {podLabels: {drey-test/label: "1"}}'
	check "helm upgrade with another label" helm_upgrade g1-label
	same "a label" g1-label
	same_job g1-log g1 'drey: {log: {level: debug}}'
	check "helm upgrade with another log level" helm_upgrade g1-log
	same "drey's log level" g1-log
	check "kubectl rollout restart" kubectl rollout restart "deployment/$APPLICATION-jobmanager"
	same "rollout restart" g1-log
}

surge_begin surge-pods
if [ $# -eq 0 ]; then
	set -- t16
fi
surge_cases "$@"
