#!/usr/bin/env bash
#
# `helm uninstall` with onDelete, by both Helms: refused while the savepoint cannot be made, with a savepoint, with `cancel`, while
# the JobManager crashes; what is left, and what the next installation does with it. TaskManagers at 0 while the application
# is parked, and of a job that has finished.

# shellcheck disable=SC2317 # functions that check and await call
# shellcheck disable=SC2119 # lib.sh has functions whose arguments are optional
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/cluster/lib.sh
. "$TOP/tests/cluster/lib.sh"
node_begin uninstall
HELM3_HOME=$HELM_HOME
HELM4_HOME=${HELM4_HOME:-$("$TOP/tools/get-kube.sh" helm4)} || exit 1

uninstall() { # [OPTION...]
	helm uninstall "$APPLICATION" --timeout "${WAIT_S}s" "$@" >"$RUN/uninstall.out" 2>&1
	local status=$?
	sed 's/^/# /' "$RUN/uninstall.out"
	return "$status"
}

says() { # TEXT: the Job has said so
	kubectl logs job/orders-uninstall | grep --quiet --fixed-strings -- "$1"
}

journal() { # JQ
	kubectl get configmap orders-drey-journal --output json | jq --raw-output '.data["journal.json"]' | jq --raw-output "$1"
}

newest_savepoint() {
	(cd "$BUCKETS" && find flink/orders/savepoints -name _metadata -printf '%T@ s3://%h\n') | sort -n | tail -n 1 | cut -d' ' -f2
}

savepoints() {
	find "$BUCKETS/flink/orders/savepoints" -name _metadata 2>/dev/null | wc -l
}

released() { # what Helm still has
	kubectl get deployments,services,roles,rolebindings,serviceaccounts --selector app.kubernetes.io/instance=orders --output name
}

runs_again() { # JOB
	runs && [ "$(status .jobId)" != "$1" ]
}

gone() {
	await "the Pods go" pods_gone jobmanager
	await "the Pods go" pods_gone taskmanager
}

job_is_gone() {
	[ -z "$(kubectl get job orders-jobmanager --ignore-not-found --output name)" ]
}

workers() { # N
	[ "$(kubectl get deployment orders-taskmanager --output 'jsonpath={.spec.replicas}')" = "$1" ]
}

values "onDeleteTimeoutSeconds: 120"
check "helm install" install --set taskManager.whenParked=scaleToZero
await "the job runs" runs

# ---- parked: no TaskManagers -------------------------------------------------------------------------------

job=$(status .jobId)
check "drey suspend" drey suspend
await "suspended: the TaskManagers are scaled to 0" workers 0
await "and go" pods_gone taskmanager
check "helm upgrade of a suspended application" upgrade --set taskManager.whenParked=scaleToZero --set taskManager.podLabels.colour=blue --wait=false
await "what Helm has scaled up is scaled to 0 again" workers 0
check "drey resume" drey resume
check "the TaskManager is back" workers 1
await "the job runs" runs_again "$job"
check "nothing was counted after the savepoint" continued

# ---- the savepoint fails ---------------------------------------------------------------------------------------

job=$(status .jobId)
before=$(savepoints)
mv "$BUCKETS/flink/orders/savepoints" "$RUN/savepoints"
: >"$BUCKETS/flink/orders/savepoints"
check "helm uninstall is refused" not uninstall
check "the log of the Job says why" says "the stop failed: "
check "that the request was withdrawn" says "the request was withdrawn"
check "and how to uninstall anyway" says "helm uninstall orders --namespace $NAMESPACE --no-hooks"
rm "$BUCKETS/flink/orders/savepoints"
mv "$RUN/savepoints" "$BUCKETS/flink/orders/savepoints"
await "the job runs" runs
is "$(status .jobId)" "$job" "it is the same job"
is "$(status .desired.state)" running "which is to run"
is "$(savepoints)" "$before" "there is no savepoint"

# ---- with a savepoint -------------------------------------------------------------------------------------------

check "helm uninstall, when it can be made" uninstall
saved=$(newest_savepoint)
check "the log of the Job says where it is" says "$saved"
is "$(released)" "" "nothing of the release is left, and no account of the hook"
gone
is "$(journal '"\(.phase) \(.intent.state) \(.lastOperation.location)"' | sed 's/^Terminating/Suspended/')" "Suspended suspended $saved" "the journal is left, and names it"
is "$(kubectl get configmaps --output name | grep -c -- -config-map)" "$(kubectl get configmaps --selector app=orders,type=flink-native-kubernetes --output name | wc -l)" \
	"the HA ConfigMaps that are left have the labels by which they are deleted"

HELM_HOME=$HELM4_HOME
check "helm install by Helm 4" install --wait=false
await "it is suspended still: nothing starts by itself" phase_is Suspended
check "helm uninstall of what is suspended" uninstall
check "there was nothing to do" says "no job is running: it is suspended; nothing to do"
gone
check "helm install with control.state" install --set control.state=running
await "the job runs" runs
check "from exactly that savepoint" restored_from "$saved"
check "nothing was counted after it" continued

# ---- cancelled ---------------------------------------------------------------------------------------------------

check "onDelete: cancel" upgrade --set onDelete=cancel --set control.state=running
await "the job runs" runs
newest=$(newest_on_s3)
check "there is a checkpoint" test -n "$newest"
before=$(savepoints)
check "helm uninstall by Helm 4" uninstall
is "$(savepoints)" "$before" "takes no savepoint"
check "and says so" says "the job was stopped without a savepoint"
gone
HELM_HOME=$HELM3_HOME
check "helm install" install --wait=false
await "it is cancelled still" phase_is Cancelled
check "drey resume" drey resume
await "the job runs" runs
check "nothing is lost" continuity

# ---- the JobManager cannot start -----------------------------------------------------------------------------------

check "an image that does not start drey" kubectl patch deployment orders-jobmanager --type json --patch \
	'[{"op": "replace", "path": "/spec/template/spec/containers/0/command", "value": ["false"]}, {"op": "replace", "path": "/spec/strategy", "value": {"type": "Recreate"}}]'
crashes() {
	[ "$(kubectl get pods --selector app.kubernetes.io/component=jobmanager --output 'jsonpath={.items[0].status.containerStatuses[0].restartCount}')" -ge 1 ]
}
await "its Pod crashes" crashes
check "helm uninstall is refused" not uninstall
check "the log of the Job says what it waited for" grep --quiet -E 'gave up after 2 ?min|no drey has read the request' <(kubectl logs job/orders-uninstall)
check "helm uninstall --no-hooks is not" uninstall --no-hooks
gone

# ---- a job that comes to its end -----------------------------------------------------------------------------------

check "helm install" install --set ttlAfterFinished=20
await "the job runs" runs
control finish
await "it finishes" phase_is Finished
ended=$(status .outcome.unixMs)
await "its TaskManagers go" workers 0
check "not before the time" test "$(date +%s%3N)" -ge $((ended + 20000))
check "helm uninstall of what has finished" uninstall
check "there was nothing to do" says "the job has finished"

# ---- the same as a Job ---------------------------------------------------------------------------------------------

uncontrol finish
gone
check "helm install with kind: Job" install --set ttlAfterFinished=5,jobManager.kind=Job --wait=false
await "it has finished before: Kubernetes deletes the Job" job_is_gone
is "$(journal .phase)" Finished "the result is in the journal"
check "the TaskManagers were scaled to 0 before" workers 0
check "helm uninstall" uninstall
check "the whole log is continuous" continuity
# the JobManager outlives its Role by a moment
is "$(denied | grep -vE '^orders [a-z]+ .*(events|configmaps/orders-drey|deployments/orders-jobmanager|flinkapplications)')" "" \
	"nothing else was asked for that the Roles do not allow"
e2e_end
