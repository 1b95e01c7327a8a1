#!/usr/bin/env bash
#
# The life of a Flink under its custom resource, with Flink's own high availability and the Role of the chart: created,
# waited for, a savepoint, suspended, resumed, deleted while the job runs. How soon a transition is visible, and what it
# costs the API server at rest.
#
# runs in: ci on 2.3.0

# shellcheck disable=SC2119 # lib.sh has functions whose arguments are optional
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/api/lib.sh
. "$TOP/tests/api/lib.sh"
# shellcheck source=tests/api/ha_lib.sh
. "$TOP/tests/api/ha_lib.sh"

REST_S=${REST_S:-60}
REST_REQUESTS=12
SEEN_MS=1000

e2e_begin resource-flink
api_begin resource-flink
# shellcheck source=tests/api/resource_lib.sh
. "$TOP/tests/api/resource_lib.sh"
# shellcheck source=tests/api/ready_lib.sh
. "$TOP/tests/api/ready_lib.sh"
ha_begin
unset 'DREY_CONF[kubernetes.resource]'
DREY_CONF[flink.properties]='{execution.checkpointing.timeout: 3 s, execution.checkpointing.tolerable-failed-checkpoints: "1000"}'
export POD_NAME=$APPLICATION-jobmanager-1 POD_UID=uid-of-the-pod POD_NAMESPACE=$NAMESPACE

ready() {
	kubectl wait --for=condition=Ready "flapp/$APPLICATION" --timeout="${WAIT_S}s" >/dev/null
}

has_event() { # REASON [KIND]
	kubectl get events.events.k8s.io --output json | jq --exit-status --arg reason "$1" --arg kind "${2:-FlinkApplication}" \
		'any(.items[]; .reason == $reason and .regarding.kind == $kind and .reportingController == "drey.dev/drey")' >/dev/null
}

# ---- created ---------------------------------------------------------------------------------------

resource '{"state": "running", "savepointNonce": "0"}'
# all that is to be seen, with the time at which it is
# shellcheck disable=SC2016
spawn seen bash -c '"$@" | jq --unbuffered --compact-output \
	"{ms: (now * 1000 | floor), transitions: [.status.transitions[]? | {unixMs, text}]}"' - \
	"$KUBE_HOME/bin/kubectl" --kubeconfig "$ADMIN" --namespace "$NAMESPACE" get flapp "$APPLICATION" --watch --output json
deployment
start_tm_pod
start_drey
check "created: kubectl wait sees it ready" ready
check "so does the Deployment" kubectl wait --for=condition=drey.dev/Ready "deployment/$OWNER" --timeout="${WAIT_S}s"
check "in so many words" shown True Running
MUST_LIVE=(jm tm)
check "the status is about this spec" observed
check "the job runs" resource_is '.status.phase == "Running" and .status.job.state == "RUNNING"'
job=$(resource_status .status.jobId)
check "its id is in the status, one that the Role names" is_named "$job"
is "$(kubectl get flapp "$APPLICATION" --no-headers | awk '{ print $2 }')" Running "and its phase is what kubectl shows"
check "nothing is under way" condition_is Reconciling False
check "nothing is wrong" condition_is Stalled False
check "it started empty, as decided" condition_is RestoreVerified True StartedEmpty
check "Flink answers" condition_is ClusterUnreachable False Reachable
check "it does not fail" condition_is JobFailing False
await "the launch is proven" resource_is .status.launch.proven
await "a checkpoint is in the status" resource_is '.status.lastCheckpoint.id >= 1'

await "as the newest of the snapshots" resource_is '.status.snapshots[0] | .kind == "checkpoint" and .checkpointId >= 1 and .sizeBytes > 0'
is "$(resource_status '.status | .snapshots[0].path == .lastCheckpoint.path')" true "with its path"
check "kubectl shows its age" test "$(kubectl get flapp "$APPLICATION" --output json |
	jq '.status.snapshots[0].completedAt | sub("[.][0-9]*Z"; "Z") | fromdate | now - . < 600')" = true

# ---- a savepoint -----------------------------------------------------------------------------------

resource '{"state": "running", "savepointNonce": "1"}'
await "another nonce: a savepoint" resource_is '.status.lastOperation | .kind == "savepoint" and .nonce == "1" and .ok'
savepoint=$(plain_path "$(resource_status .status.lastSavepoint.path)")
check "it is there" test -e "$savepoint/_metadata"
await "the snapshots have it, with its size" resource_is \
	'.status | .lastSavepoint.path as $path | .snapshots | any(.path == $path and .kind == "savepoint" and .sizeBytes > 0)'
check "the status is about this spec" observed
await "an event tells of it" has_event SavepointCompleted

# ---- checkpoints that fail, and complete again -----------------------------------------------------

control hold-snapshot
await "snapshots expire: the resource says so" condition_is CheckpointsFailing True ManyFailures
await "an event tells of it" has_event CheckpointsFailing
check "it is ready" condition_is Ready True Running
is "$(resource_status .status.cause)" CheckpointsFailing "the cause has a page"
uncontrol hold-snapshot
await "they complete again" condition_is CheckpointsFailing False Completing
await "an event tells of it" has_event CheckpointsCompleting

# ---- suspended, resumed ----------------------------------------------------------------------------

resource '{"state": "suspended", "savepointNonce": "1"}'
await "suspended" resource_is '.status.phase == "Suspended" and .status.lastSavepoint.origin == "stop"'
check "that is what was wanted: it is ready" ready
check "in so many words" condition_is Ready True Suspended
check "nothing is wrong with it" condition_is Stalled False
stopped=$(resource_status .status.lastSavepoint.path)
await "events tell of it" has_event StopCompleted
await "likewise" has_event Suspended
resource '{"state": "running", "savepointNonce": "1"}'
await "resumed" resource_is '.status.phase == "Running" and .status.launch.number == 2'
check "ready" ready
is "$(resource_status .status.launch.restorePoint.path)" "$stopped" "from the savepoint of the stop"
check "Flink says so" restore_matches "$(plain_path "$stopped")"
check "the status says so" condition_is RestoreVerified True Restored
await "events tell of it" has_event RestoreVerified
await "and goes on" resource_is .status.launch.proven

# ---- its TaskManagers go, and come back ------------------------------------------------------------

MUST_LIVE=(jm)
kill -KILL "${PIDS[tm]}" # what would start it again
# shellcheck disable=SC2046 # pids
kill -KILL $(run_pids "drey-init .*$FLINK_TASKMANAGER") $(tm_pid)
await "no TaskManager: not ready" condition_is Ready False JobNotRunning
await "so says the Deployment" shown False JobNotRunning
check "with the numbers" resource_is '.status | .tasks.running == 0 and .taskManagers == 0 and .slots.total == 0'
check "phase, cause and sentence" resource_is \
	'.status | .phase == "Running" and .cause == "JobNotRunning" and (.reason | test("^0 of [0-9]+ tasks run: no TaskManager"))'
check "Flink recovers by itself: under way" condition_is Reconciling True JobNotRunning
start_tm_pod
check "it is back: ready" ready
await "so says the Deployment" shown True Running
check "the same launch" resource_is '.status.launch.number == 2'
# triggers fail until Flink notices the loss, which is told until the next checkpoint completes
await "nothing is wrong" resource_is '.status.cause == null'
MUST_LIVE=(jm tm)

# ---- its JobManager dies ---------------------------------------------------------------------------

kill -KILL "$(jm_pid)"
await "killed: the last error, with its date and launch" resource_is \
	'.status | .lastError != null and .lastErrorUnixMs > 0 and .lastErrorLaunch == 2'
await "the next launch is proven: all three are cleared" resource_is '.status | .launch.number == 3 and .launch.proven and
	(has("lastError") and has("lastErrorUnixMs") and has("lastErrorLaunch")) and
	.lastError == null and .lastErrorUnixMs == null and .lastErrorLaunch == null'

# ---- at rest ---------------------------------------------------------------------------------------

begin=$(date +%s%3N)
sleep "$REST_S"
api_requests "(.userAgent | startswith(\"drey/\")) and .unixMs >= $begin" >"$RUN/rest.json"
diag "$(jq --raw-output '[.verb, .resource, .subresource // empty] | join(" ")' "$RUN/rest.json" | sort | uniq -c | tr --squeeze-repeats ' \n' ' ')"
count=$(jq --slurp "length * 60 / $REST_S | ceil" "$RUN/rest.json")
check "$count requests of drey in a minute, at most $REST_REQUESTS" test "$count" -le "$REST_REQUESTS"

# ---- deleted ---------------------------------------------------------------------------------------

job=$(status .jobId)
kubectl delete flapp "$APPLICATION" >/dev/null
await "deleted: noticed" jm_says 'the custom resource was deleted'
await "an event of the Pod tells of it" has_event ResourceGone Pod
check "nothing happens to the job" status_is '.phase == "Running" and .launch.number == 3 and .job.state == "RUNNING"'
is "$(status .control.resource)" absent "drey status says so"
check "a checkpoint is asked for" checkpoint
newest=$(checkpoints .latest.completed.id)
await "it goes on" has_completed "$((newest + 1))" "$job"
resource '{"state": "running"}'
await "made anew: it has a status" resource_is '.status.phase == "Running" and .status.launch.number == 3'
is "$(resource_status .status.jobId)" "$job" "of the same job"
check "ready" ready

# ---- how soon --------------------------------------------------------------------------------------

# each transition, and when it was seen first
jq --slurp --compact-output '[.[] | .ms as $ms | .transitions[] | {key: "\(.unixMs) \(.text)", ms: ($ms - .unixMs)}] |
	group_by(.key) | map(min_by(.ms)) | map(select(.ms < 60000))' "$RUN/log/seen.log" >"$RUN/soon.json"
check "transitions were seen" jq --exit-status 'length >= 8' "$RUN/soon.json"
diag "of $(jq length "$RUN/soon.json") transitions the slowest was seen after $(jq '[.[].ms] | max' "$RUN/soon.json") ms, half of them within $(jq '[.[].ms] | sort | .[length / 2 | floor]' "$RUN/soon.json") ms"
check "all of them within $SEEN_MS ms" jq --exit-status "all(.[]; .ms <= $SEEN_MS)" "$RUN/soon.json"

MUST_LIVE=()
end_drey TERM
await "the end is the last word" resource_is '.status.phase == "Terminating"'
check "no state was lost all the time" continuity
is "$(api_denied)" "" "nothing was asked for that the Role does not allow"
e2e_end
