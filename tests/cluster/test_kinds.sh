#!/usr/bin/env bash
#
# State on a volume, and a job that finishes: first as a Deployment, then, on the same volume, as a Job; installed by Helm
# 4, which waits differently from Helm 3.
#
# runs in: ci

# shellcheck disable=SC2317 # functions that check and await call
# shellcheck disable=SC2119 # lib.sh has functions whose arguments are optional
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/cluster/lib.sh
. "$TOP/tests/cluster/lib.sh"
# shellcheck disable=SC2034 # of lib.sh
HELM_HOME=${HELM4_HOME:-$("$TOP/tools/get-kube.sh" helm4)} || exit 1
node_begin kinds
STATE=$VOLUME/state

drey() { # COMMAND [ARG...]: also of a Job
	in_pod jobmanager drey "$@"
}

journal() { # JQ
	kubectl get configmap orders-drey-journal --output json | jq --raw-output '.data["journal.json"]' | jq --raw-output "$1"
}

job_has() { # NAME CONDITION
	[ "$(kubectl get job "$1" --output "jsonpath={.status.conditions[?(@.type==\"$2\")].status}")" = True ]
}

savepoints() {
	find "$STATE/savepoints" -name _metadata | wc -l
}

newest_savepoint() {
	find "$STATE/savepoints" -name _metadata -printf '%T@ /flink/state/savepoints/%P\n' | sort -n | tail -n 1 | cut -d' ' -f2- | xargs dirname
}

new_pod() { # NAME: another one than NAME
	local name
	name=$(pod jobmanager) && [ "$name" != "$1" ] && [ "$(kubectl get pod "$name" --output 'jsonpath={.status.phase}')" = Running ]
}

note() {
	restored=$(event_count RESTORED)
	completed=$(event_count COMPLETED)
	job=$(status .jobId)
}

goes_on() { # WHAT
	await "$1: the job has read its state again" has_events RESTORED $((restored + 1))
	await "$1: checkpoints go on" has_events COMPLETED $((completed + 3))
	await "$1: drey says that it runs" runs
	check "$1: nothing is lost" continuity
	is "$(status .jobId)" "$job" "$1: it is the same job"
}

other_job() { # JOB
	runs && [ "$(status .jobId)" != "$1" ]
}

# The claim is the chart's own; this is what a class of the cluster would make for it.
mkdir -p "$STATE"
chmod 777 "$STATE"
bind_volume orders-state "$STATE" ReadWriteMany
values "persistentVolumeClaim: {enabled: true}"
ON_VOLUME=(--set 's3.endpoint=,s3.region=,s3.secret.name=' --set state.uri=file:///flink/state)

# ---- a Deployment ----------------------------------------------------------------------------------------

check "helm install waits until the job runs" install "${ON_VOLUME[@]}"
check "drey says so" phase_is Running
await "the launch is proven" runs
check "checkpoints are on the volume" test -e "$STATE/checkpoints/$(status .jobId)"

note
pod=$(pod jobmanager)
kubectl delete pod "$pod" --wait=false >/dev/null
await "the Pod is deleted: there is another one" new_pod "$pod"
goes_on "the Pod is deleted"

check "helm uninstall, which stops the job with a savepoint first" helm uninstall "$APPLICATION" --timeout "${WAIT_S}s"
await "the Pods go" pods_gone jobmanager
await "the Pods go" pods_gone taskmanager
is "$(kubectl get persistentvolumeclaim orders-state --output 'jsonpath={.status.phase}')" Bound "the claim stays"

# ---- the same application as a Job -----------------------------------------------------------------------

job=$(journal .launch.jobId)
saved=$(newest_savepoint)
AS_JOB=("${ON_VOLUME[@]}" --set jobManager.kind=Job)
check "helm install with kind: Job" install "${AS_JOB[@]}"
await "it is suspended as before" phase_is Suspended
check "drey resume" drey resume
await "it runs" other_job "$job"
check "from the savepoint of the volume" restored_from "file:$saved"
check "nothing was counted after it" continued

check "a savepoint by the CronJob" kubectl create job --from=cronjob/orders-savepoint by-hand
await "is done" job_has by-hand Complete
is "$(savepoints)" 2 "it is on the volume"
check "the log says where" grep --quiet "$(newest_savepoint)" <(kubectl logs job/by-hand)

note
kill_jvm jobmanager
goes_on "SIGKILL for the JVM"
note
pod=$(pod jobmanager)
kubectl delete pod "$pod" --wait=false >/dev/null
await "the Pod is deleted: the Job makes another one" new_pod "$pod"
goes_on "the Pod is deleted"

# ---- an upgrade of a Job ---------------------------------------------------------------------------------

job=$(status .jobId)
check "helm upgrade to another image is refused: a Job cannot be changed" not upgrade "${AS_JOB[@]}" --set-string image.tag=2
is "$(status .jobId) $(status .phase)" "$job Running" "and the job runs on"
check "the Job is deleted" kubectl delete job orders-jobmanager --cascade=foreground --wait --timeout "${WAIT_S}s"
is "$(savepoints)" 3 "which leaves a savepoint"
check "helm upgrade to another image" upgrade "${AS_JOB[@]}" --set-string image.tag=2
await "another job runs" other_job "$job"
check "from the savepoint" restored_from "file:$(newest_savepoint)"
check "where the old one had stopped" continued

# ---- its end ---------------------------------------------------------------------------------------------

control finish
await "the job comes to its end: the Job is Complete" job_has orders-jobmanager Complete
is "$(kubectl get job orders-jobmanager --output 'jsonpath={.status.succeeded}')" 1 "one Pod has done it"
is "$(journal .phase)" Finished "that is in the journal"
check "and in the log" grep --quiet 'Finished' <(kubectl logs job/orders-jobmanager --tail 20)
check "the FlinkApplication is ready" resource_condition Ready '.reason == "Finished" or empty'
starts=$(event_count MAIN)
uncontrol finish
check "the Job is deleted" kubectl delete job orders-jobmanager --cascade=foreground --wait --timeout "${WAIT_S}s"
check "helm upgrade makes it again" upgrade "${AS_JOB[@]}" --set-string image.tag=2
await "it is Complete at once" job_has orders-jobmanager Complete
is "$(event_count MAIN)" "$starts" "the job was not run again"

check "the whole log is continuous" continuity
check "helm uninstall" helm uninstall "$APPLICATION"
await "nothing is left of it" pods_gone taskmanager
e2e_end
