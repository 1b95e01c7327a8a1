#!/usr/bin/env bash
#
# What ends Pods and processes: deletion of the JobManager's and the TaskManager's Pod, SIGKILL, the out-of-memory killer,
# a drained node. The job continues from its newest state each time, without any intervention.
#
# alone: it drains the node
# runs in: ci

# shellcheck disable=SC2317 # functions that check and await call
# shellcheck disable=SC2119 # lib.sh has functions whose arguments are optional
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/cluster/lib.sh
. "$TOP/tests/cluster/lib.sh"
node_begin failover

new_pod() { # COMPONENT NAME: another one than NAME
	local name
	name=$(pod "$1") && [ "$name" != "$2" ] &&
		[ "$(kubectl get pod "$name" --output 'jsonpath={.status.phase}')" = Running ]
}

# As many checkpoints since as make sure that what happened is over.
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
}

restarts() { # COMPONENT
	kubectl get pod "$(pod "$1")" --output 'jsonpath={.status.containerStatuses[0].restartCount}'
}

values
check "helm install" install
await "the job runs" runs

# ---- processes -------------------------------------------------------------------------------------------

note
kill_jvm jobmanager
goes_on "SIGKILL for the JobManager's JVM"
is "$(status .jobId)" "$job" "Flink's high availability keeps the job's id"
is "$(restarts jobmanager)" 0 "in the same container"

note
kill_jvm taskmanager
goes_on "SIGKILL for the TaskManager's JVM"

note
pod=$(pod taskmanager)
# many that are smaller than the JVM, which is then the one to be killed; nobody reads what they would say
in_pod taskmanager bash -c 'for i in {1..9}; do head -c 90000000 /dev/zero | tail >/tmp/x & done; wait' >/dev/null 2>&1
goes_on "the TaskManager is out of memory"
check "Kubernetes has seen it" test "$(kubectl get pod "$pod" --output 'jsonpath={.status.containerStatuses[0].restartCount}')" -ge 1

# ---- Pods ------------------------------------------------------------------------------------------------

note
pod=$(pod taskmanager)
kubectl delete pod "$pod" --wait=false >/dev/null
await "the TaskManager's Pod is deleted: there is another one" new_pod taskmanager "$pod"
goes_on "the TaskManager's Pod is deleted"

note
pod=$(pod jobmanager)
kubectl delete pod "$pod" --wait=false >/dev/null
await "the JobManager's Pod is deleted: there is another one" new_pod jobmanager "$pod"
goes_on "the JobManager's Pod is deleted"

note
kubectl delete pod "$(pod jobmanager)" --grace-period=0 --force >/dev/null 2>&1
goes_on "the JobManager's Pod is deleted by force"

# ---- the node --------------------------------------------------------------------------------------------

note
check "kubectl drain" kubectl_cluster drain node --pod-selector app.kubernetes.io/instance=orders --delete-emptydir-data --timeout 200s
await "the Pods wait for a node" not new_pod jobmanager -
check "kubectl uncordon" kubectl_cluster uncordon node
goes_on "the node is drained"

check "the whole log is continuous" continuity
is "$(denied)" "" "nothing was asked for that the Roles do not allow"
e2e_end
