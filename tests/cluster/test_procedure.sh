#!/usr/bin/env bash
#
# The written upgrade procedure of docs/tasks/migration.md: do-not-restart by `kubectl patch`, a stop with savepoint by Flink's REST
# API, replicas 0, `helm upgrade --wait` with the new image and that savepoint; and the same with a Job.
#
# runs in: ci

# shellcheck disable=SC2317 # functions that check and await call
# shellcheck disable=SC2119 # lib.sh has functions whose arguments are optional
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/cluster/lib.sh
. "$TOP/tests/cluster/lib.sh"
node_begin procedure

drey() { # COMMAND [ARG...]: also of a Job
	in_pod jobmanager drey "$@"
}

# With a Pod of a Job that has ended there is none to be asked.
journal() { # JQ
	kubectl get configmap orders-drey-journal --output json | jq --raw-output '.data["journal.json"]' | jq --raw-output "$1"
}

job_has() { # NAME CONDITION
	[ "$(kubectl get job "$1" --output "jsonpath={.status.conditions[?(@.type==\"$2\")].status}")" = True ]
}

# By REST; JOB is stopped.
stop_by_rest() { # WHAT
	local address trigger
	JOB=$(status .jobId)
	address=$(kubectl get pod "$(pod jobmanager)" --output 'jsonpath={.status.podIP}')
	trigger=$(curl --silent --show-error --fail --request POST --header 'Content-Type: application/json' \
		--data '{"targetDirectory": "s3://flink/by-hand", "drain": false}' "http://$address:8081/jobs/$JOB/stop" | jq -r '.["request-id"]')
	check "$1" test -n "$trigger"
}

# Flink goes soon after: what is complete in the bucket tells as well.
is_saved() {
	PLACE=$(cd "$BUCKETS" && find flink/by-hand -path "*/savepoint-${JOB:0:6}-*/_metadata" -printf 's3://%h\n' 2>/dev/null | head -n 1)
	[ -n "$PLACE" ]
}

other_job() {
	runs && [ "$(status .jobId)" != "$JOB" ]
}

next_version() { # WHAT
	await "$1: another job runs" other_job
	check "$1: from exactly the savepoint of the stop" restored_from "$PLACE"
	check "$1: where the old one had stopped" continued
}

values "upgradeCheck: {timeoutSeconds: 60}"
# the ConfigMap is read in time only because drey reads it before it judges the end of the job
RARELY=(--set drey.control.poll=10m)
check "helm install" install "${RARELY[@]}"
await "the job runs" runs

# ---- a Deployment --------------------------------------------------------------------------------------

check "1. do-not-restart" kubectl patch configmap orders-drey-control --type merge --patch '{"data":{"do-not-restart":"true"}}'
stop_by_rest "2. stop with savepoint by REST"
await "the savepoint is there" is_saved
await "drey says that do-not-restart is on" status_is '.phase == "Holding" and .cause == "DoNotRestart"'
check "and names the savepoint" status_is ".reason | contains(\"$PLACE\")"
check "3. replicas 0" kubectl scale deployment orders-jobmanager --replicas 0
await "the Pod goes" pods_gone jobmanager
check "4. helm upgrade with the image, the savepoint, and do-not-restart off" upgrade "${RARELY[@]}" --set-string image.tag=2 \
	--set "drey.restore.initialSavepoint=$PLACE" --set control.doNotRestart=false
next_version "a Deployment"
is "$(kubectl get deployment orders-jobmanager --output 'jsonpath={.spec.replicas}')" 1 "Helm has set the replicas back to 1"

# ---- the same without step 1, and with no flag at all ---------------------------------------------------

stop_by_rest "no flag: stop with savepoint by REST"
await "the savepoint is there" is_saved
await "it is parked" phase_is Cancelled
check "replicas 0" kubectl scale deployment orders-jobmanager --replicas 0
await "the Pod goes" pods_gone jobmanager
check "helm upgrade with the image and the savepoint" upgrade "${RARELY[@]}" --set-string image.tag=1 \
	--set "drey.restore.initialSavepoint=$PLACE" --set control.doNotRestart=false
next_version "no flag"

# ---- a Job -----------------------------------------------------------------------------------------------

JOB=$(status .jobId)
check "the Deployment is deleted" kubectl delete deployment orders-jobmanager --cascade=foreground --wait --timeout "${WAIT_S}s"
AS_JOB=("${RARELY[@]}" --set jobManager.kind=Job --set control.doNotRestart=false)
check "helm upgrade with kind: Job" upgrade "${AS_JOB[@]}" --set-string image.tag=1
await "the job runs" other_job
stop_by_rest "stop with savepoint by REST"
await "the savepoint is there" is_saved
await "the Job is Complete" job_has orders-jobmanager Complete
is "$(kubectl get job orders-jobmanager --output 'jsonpath={.status.succeeded} {.status.failed}')" "1 " "one Pod has ended with 0"
is "$(journal .outcome.savepoint)" "$PLACE" "the journal has the savepoint"
check "the Job is deleted" kubectl delete job orders-jobmanager --cascade=foreground --wait --timeout "${WAIT_S}s"
check "helm upgrade with the image and the savepoint" upgrade "${AS_JOB[@]}" --set-string image.tag=2 \
	--set "drey.restore.initialSavepoint=$PLACE"
next_version "a Job"

check "the whole log is continuous" continuity
is "$(denied)" "" "nothing was asked for that the Roles do not allow"
e2e_end
