#!/usr/bin/env bash
#
# Stopping on purpose: replicas 0 and back to 1, suspend and resume by `kubectl patch`, do-not-restart, and savepoints by
# `kubectl create job --from=cronjob/...`.
#
# runs in: ci

# shellcheck disable=SC2317 # functions that check and await call
# shellcheck disable=SC2119 # lib.sh has functions whose arguments are optional
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/cluster/lib.sh
. "$TOP/tests/cluster/lib.sh"
node_begin stop

control_patch() { # KEY VALUE
	kubectl patch configmap orders-drey-control --type merge --patch "{\"data\":{\"$1\":\"$2\"}}"
}

journal() { # JQ
	kubectl get configmap orders-drey-journal --output json | jq --raw-output "$1"
}

savepoints() {
	find "$BUCKETS/flink/orders/savepoints" -name _metadata 2>/dev/null | wc -l
}

runs_again() { # JOB
	runs && [ "$(status .jobId)" != "$1" ]
}

job_has() { # NAME CONDITION
	[ "$(kubectl get job "$1" --output "jsonpath={.status.conditions[?(@.type==\"$2\")].status}")" = True ]
}

resumed() { # WHAT JOB SAVEPOINT
	await "$1: the job runs again" runs_again "$2"
	check "$1: from exactly the savepoint of the stop" restored_from "$3"
	check "$1: nothing was counted after it" continued
}

newest_savepoint() {
	(cd "$BUCKETS" && find flink/orders/savepoints -name _metadata -printf '%T@ s3://%h\n') | sort -n | tail -n 1 | cut -d' ' -f2
}

values
check "helm install" install
await "the job runs" runs

# ---- scaled to 0 and back ------------------------------------------------------------------------------

job=$(status .jobId)
kubectl scale deployment orders-jobmanager --replicas 0 >/dev/null
await "scaled to 0: the Pod goes" pods_gone jobmanager
is "$(savepoints)" 1 "and leaves a savepoint"
saved=$(newest_savepoint)
check "a savepoint by the CronJob" kubectl create job --from=cronjob/orders-savepoint by-hand-0
await "is a success: there is nothing to save" job_has by-hand-0 Complete
kubectl scale deployment orders-jobmanager --replicas 1 >/dev/null
resumed "scaled to 1" "$job" "$saved"

# ---- savepoints by hand --------------------------------------------------------------------------------

check "a savepoint by the CronJob" kubectl create job --from=cronjob/orders-savepoint by-hand-1
await "is done" job_has by-hand-1 Complete
is "$(savepoints)" 2 "it is there"
check "the log of the Job says where" grep --quiet "$(newest_savepoint)" <(kubectl logs job/by-hand-1)

# ---- suspend and resume --------------------------------------------------------------------------------

job=$(status .jobId)
check "kubectl patch: suspended" control_patch state suspended
await "it is" phase_is Suspended
saved=$(newest_savepoint)
is "$(status .lastSavepoint.path)" "$saved" "with a savepoint"
await "the Deployment is not available" deployment_is jobmanager Available False
check "but the FlinkApplication is ready: that is what is wanted" resource_condition Ready '.status == "True" or empty'
check "a savepoint by the CronJob" kubectl create job --from=cronjob/orders-savepoint by-hand-2
await "is a success: it is suspended" job_has by-hand-2 Complete
is "$(savepoints)" 3 "nothing was made"
kubectl delete pod "$(pod jobmanager)" >/dev/null
await "another Pod: it stays suspended" phase_is Suspended
check "kubectl patch: running" control_patch state running
resumed "resumed" "$job" "$saved"

# ---- do-not-restart -------------------------------------------------------------------------------------------

job=$(status .jobId)
check "kubectl patch: do-not-restart" control_patch do-not-restart true
await "drey knows" status_is .desired.doNotRestart
check "the job runs on" phase_is Running
kill_jvm jobmanager
await "its JobManager is killed: nothing is started" phase_is Holding
newest=$(newest_on_s3)
check "and drey says that it is do-not-restart" status_is '.conditions[] | select(.type == "Ready") | .reason == "DoNotRestart"'
kubectl delete pod "$(pod jobmanager)" >/dev/null
await "also not in another Pod" phase_is Holding
check "kubectl patch: do-not-restart is off" control_patch do-not-restart false
await "the job runs" runs
check "from the newest checkpoint that is in the bucket" restored_from "$newest"

check "the whole log is continuous" continuity
is "$(denied)" "" "nothing was asked for that the Roles do not allow"
e2e_end
