#!/usr/bin/env bash
#
# Surge upgrades and Pods on a real cluster: T16, other Pods of the same version, without a savepoint; T24, an old Pod that gets its job
# back has its own configuration; T23, a version that fails in its probation returns the job; T13, the owner is evicted when the new
# version is prepared; T6, Pods are lost at states of a hand-over.
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

# ---- T24 -----------------------------------------------------------------------------------------------

flink_says() { # POD VALUE
	[ "$(pod_rest "$1" jobmanager/config '.[] | select(.key == "metrics.fetcher.update-interval") | .value')" = "$2" ]
}

file_says() { # POD VALUE
	kubectl exec "$1" --container jobmanager -- grep --quiet --line-regexp "metrics.fetcher.update-interval: \"*$2\"*" /opt/flink/conf/config.yaml
}

drey_says() { # POD VALUE, of prepareDeadline
	kubectl exec "$1" --container jobmanager -- grep --quiet "prepareDeadline: *\"*$2" /etc/drey/drey.yaml
}

has_config() { # POD T
	case $2 in
	c1) file_says "$1" 11111 && drey_says "$1" 7min ;;
	c2) file_says "$1" 22222 && drey_says "$1" 6min ;;
	esac
}

t24() {
	local returned
	version c1 'flink: {configuration: {metrics.fetcher.update-interval: "11111"}}' 'drey: {handover: {prepareDeadline: 7min, tries: 1}}'
	version c2 'flink: {configuration: {metrics.fetcher.update-interval: "22222"}}' 'drey: {handover: {prepareDeadline: 6min, runDeadline: 90s}}'
	begin_with c1
	control hold-main.c2
	returned=$(happened returned)
	upgrade_to c2
	check "the new Pod has its configuration" has_config "$CANDIDATE" c2
	await "it does not run: the job is returned" happened_again returned "$returned"
	check "the old Pod has its configuration" has_config "$OWNER" c1
	returned_to c1
	check "Flink runs with it" flink_says "$OWNER" 11111
	uncontrol hold-main.c2
	await "c2 is refused" handover_is refused
	check "helm rollback" helm rollback "$APPLICATION" --wait --timeout "${WAIT_S}s"
	await "its Pod goes" told gone "$CANDIDATE"
	await "nothing is left to do" settled
}

# ---- T23 -----------------------------------------------------------------------------------------------

t23() {
	local returned revision
	version p1 'upgrade: {probationSeconds: 200}' 'drey: {handover: {tries: 1}}'
	version p2 'upgrade: {probationSeconds: 200}' 'drey: {handover: {tries: 1}}' \
		'flink: {configuration: {restart-strategy.type: none}}'
	begin_with p1
	revision=$(helm status "$APPLICATION" --output json | jq .version)
	returned=$(happened returned)
	upgrade_to p2
	await "the hand-over is done" handover_is "done"
	await "p2 writes" has_written p2 50
	await "its Pod is ready" pod_ready "$CANDIDATE"
	await "the old one is not, so that Services lead to the new one" not pod_ready "$OWNER"
	check "it is still there" not told term "$OWNER"
	check "in the probation helm upgrade is refused" is_refused_again
	control fail-once.p2
	await "p2 fails: the job is returned" happened_again returned "$returned"
	await "the job of p1 runs in the Pod that had it" pod_phase "$OWNER" Running
	is "$(journal .owner.pod)" "$OWNER" "which is the owner again"
	check "it was not told to end" not told term "$OWNER"
	await "it is ready" pod_ready "$OWNER"
	await "p2 is not" not pod_ready "$CANDIDATE"
	count_written p1
	await "p1 goes on writing" goes_on_writing p1
	await "p2 is refused" handover_is refused
	remember_job
	check "helm rollback" helm rollback "$APPLICATION" "$revision" --wait --timeout "${WAIT_S}s"
	await "its Pod goes" told gone "$CANDIDATE"
	untouched "rolled back"
}

is_refused_again() {
	version p3 'upgrade: {probationSeconds: 200}'
	not helm_upgrade p3
}

# ---- T13 -----------------------------------------------------------------------------------------------

evict() { # POD
	printf '{"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "%s"}}' "$1" |
		kubectl create --raw "/api/v1/namespaces/$NAMESPACE/pods/$1/eviction" --filename - >/dev/null
}

t13() {
	version e1
	version e2
	begin_with e1
	prepared e2
	GONE=$OWNER
	brake false
	check "the owner is evicted" evict "$OWNER"
	await "it has ended" told gone "$OWNER"
	ends_with e2
}

# ---- T6 ------------------------------------------------------------------------------------------------

lost_in() { # STATE T POD_VARIABLE HOLD: that Pod is lost in this state, in which HOLD keeps the hand-over
	local before
	before=$(happened "$1")
	control "$4"
	upgrade_to "$2"
	await "$1" happened_again "$1" "$before"
	GONE=${!3}
	check "the Pod is lost: $3 in $1" lose_pod "$GONE"
	await "it is gone" told gone "$GONE"
	uncontrol "$4"
	ends_with "$2"
}

t6() {
	version k1
	version k2
	version k3
	version k4
	version k5
	begin_with k1
	prepared k2
	GONE=$OWNER
	check "the Pod is lost: the owner in Prepared" lose_pod "$OWNER"
	brake false
	ends_with k2
	lost_in stopping k3 CANDIDATE hold-snapshot.k2
	lost_in taken k4 CANDIDATE hold-main.k4
	lost_in taken k5 OWNER hold-main.k5
}

surge_begin surge-pods
if [ $# -eq 0 ]; then
	set -- t16 t24 t23 t13 t6
fi
surge_cases "$@"
