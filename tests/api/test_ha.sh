#!/usr/bin/env bash
#
# The life of a Flink with its own high availability on Kubernetes, under the Role of the chart: when killed, it continues
# under the same ids from what Flink has recorded, and quickly, because drey releases the dead leader's lock; a newer
# savepoint, a stop, and deleted maps lead to new ids. Nothing runs twice, nothing is lost, nothing is left over.
#
# runs in: ci on 2.3.0

# shellcheck disable=SC2119 # lib.sh has functions whose arguments are optional
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/api/lib.sh
. "$TOP/tests/api/lib.sh"
# shellcheck source=tests/api/ha_lib.sh
. "$TOP/tests/api/ha_lib.sh"

e2e_begin ha
api_begin ha
# none by itself, so that a savepoint can be the newest
DREY_CONF[flink.properties]='{execution.checkpointing.interval: 10 h}'
DREY_CONF[attempts.backoffFirst]=200ms
ha_begin
# S15: what only looks like ours; nobody may touch or follow it
look_alikes() {
	printf '%s\n' "$APPLICATION-eu-cluster-config-map" "$APPLICATION-eu-$(job_id_of 0)-config-map" \
		"$APPLICATION-$(job_id_of 0 other-salt)-config-map"
}
for map in $(look_alikes); do
	kubectl create configmap "$map" --from-literal="jobGraph-$(job_id_of 0)=x" --from-literal="executionPlan-$(job_id_of 0)=x" \
		--from-literal=checkpointID-0000000000000000099=x --from-literal=counter=100 >/dev/null
	kubectl label configmap "$map" app="$APPLICATION-eu" type=flink-native-kubernetes >/dev/null
done
versions() {
	local map
	for map in $(look_alikes); do
		kubectl get configmap "$map" --output 'jsonpath={.metadata.resourceVersion} '
	done
}
versions_before=$(versions)
check "the journal has the first job id" begin_at 0
start_tm_pod
start_drey
MUST_LIVE=(jm tm)
await "the job runs" phase_is Running
first=$(status .jobId)
is "$first" "$(job_id_of 0)" "its id is the one that the journal has named"
check "a checkpoint is asked for" checkpoint
await "its first checkpoint proves the launch" status_is .launch.proven
check "Flink keeps what it recovers from in the map of the job" has_map "$(job_map "$first")"
await "the holder of the lock is known" jm_says "leader lock is known"

# ---- killed
pid=$(jm_pid)
kill -KILL "$pid"
await "JobManager killed: another one is started" jm_is_new "$pid"
await "the lock of the dead one was given back" jm_says "released the leader lock of the dead Flink"
await "the job runs again" status_is '.phase == "Running" and .launch.number == 2'
is "$(status .jobId)" "$first" "under the same id"
check "as was decided" status_is '.transitions | any(.text | contains("continues with job id"))'
check "a checkpoint is asked for" checkpoint
await "and goes on" status_is .launch.proven
check "no state is lost" continuity
await "the holder of the lock is known again" jm_says "leader lock is known" 2

# ---- S14: killed, and Flink's maps may not be read
check "do-not-restart is set" drey do-not-restart on
kill -KILL "$(jm_pid)"
await "killed under do-not-restart: nothing is started" phase_is Holding
denied_from=$(date +%s%3N)
check "the Role does not name the maps any more" api_role_without \
	'del(.rules[] | select(.resourceNames // [] | any(endswith("-config-map"))))' get "configmaps/$(cluster_map)"
check "do-not-restart is lifted" drey do-not-restart off
await "403: held" status_is '.phase == "Holding" and (.reason | contains("403"))'
check "the Role names them again" api_role
await "the job runs again" status_is '.phase == "Running" and .launch.number == 3'
denied_to=$(date +%s%3N)
is "$(status .jobId)" "$first" "under the same id: an error was no absence"
check "a checkpoint is asked for" checkpoint
await "and goes on" status_is .launch.proven
check "no state is lost" continuity
await "the holder of the lock is known again" jm_says "leader lock is known" 3

# ---- a savepoint that Flink's maps do not know
newest=$(drey savepoint 2>>"$RUN/log/cli.log")
next=$(next_job_id)
check "the Role lets no map be deleted" api_role_without '.rules[].verbs -= ["delete"]' delete "configmaps/$(job_map "$first")"
kill -KILL "$(jm_pid)"
await "killed after a savepoint: the job runs again" status_is '.phase == "Running" and .launch.number == 4'
second=$(status .jobId)
is "$second" "$next" "under a new id"
check "that the Role names" is_named "$second"
check "from the savepoint, which is newer than what Flink would have taken" restore_matches "$newest"
is "$(rest jobs '.jobs | length')" 1 "one job runs"
is "$(map_keys "$(cluster_map)" | grep -cE '^(jobGraph|executionPlan)-')" 1 "one job is stored"
check "a checkpoint is asked for" checkpoint
await "the map of the old job is to be deleted once the new one is proven, and cannot" jm_says 'cannot delete the HA map of an earlier job'
check "it stays" has_map "$(job_map "$first")"
check "the Role lets it be deleted again" api_role
check "the next savepoint is made" drey savepoint
await "and the map is deleted after it" not has_map "$(job_map "$first")"
check "that of the job itself is not" has_map "$(job_map "$second")"
check "no state is lost" continuity

# ---- stopped
stopped=$(drey suspend 2>>"$RUN/log/cli.log")
check "the job is suspended" phase_is Suspended
check "and Flink has deleted what it would recover from" not has_map "$(job_map "$second")"
next=$(next_job_id)
check "drey resume" drey resume
third=$(status .jobId)
is "$third" "$next" "it runs under a new id"
check "from the savepoint of the stop" restore_matches "$stopped"
check "a checkpoint is asked for" checkpoint
await "and goes on" status_is .launch.proven

# ---- Flink's maps are deleted by somebody
check "do-not-restart is set" drey do-not-restart on
kill -KILL "$(jm_pid)"
await "killed under do-not-restart: nothing is started" phase_is Holding
kubectl delete configmap "$(cluster_map)" "$(job_map "$third")" >/dev/null
newest=$(newest_retained "$third")
next=$(next_job_id)
check "do-not-restart is lifted" drey do-not-restart off
await "without Flink's maps the job runs again" status_is '.phase == "Running" and .launch.number == 6'
is "$(status .jobId)" "$next" "under a new id"
check "from the newest checkpoint in storage" restore_matches "$newest"

check "no state was lost all the time" continuity
is "$(versions)" "$versions_before" "nobody has touched the maps that look alike"
is "$(api_denied | jq --compact-output "select(.verb != \"delete\" and (.unixMs < $denied_from or .unixMs > $denied_to))")" "" \
	"nothing was asked for that the Role does not allow"
e2e_end
