#!/usr/bin/env bash
#
# Does Kubernetes notice when no task of the job runs? `helm install --wait` while the TaskManagers have no replicas, and
# a Deployment without Pods counts as complete: only the JobManager makes Helm wait. Then the TaskManagers start, die and
# come back: the readiness of the Pod, the Deployment, the custom resource, and how long each takes.
#
# runs in: ci

# shellcheck disable=SC2317 # functions that check and await call
# shellcheck disable=SC2119 # lib.sh has functions whose arguments are optional
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/cluster/lib.sh
. "$TOP/tests/cluster/lib.sh"
node_begin ready

NUMBERS='0 of [1-9][0-9]* tasks run: no TaskManager is registered [(]0 (of [0-9]+ )?slots[)]'

now_ms() {
	date +%s%3N
}

helm_waits() {
	kill -0 "$helm_pid" 2>/dev/null
}

no_task_runs() { # as Flink says
	jobs '.jobs | length == 1 and .[0].tasks.running == 0'
}

all_tasks_run() {
	jobs '.jobs | length == 1 and (.[0] | .state == "RUNNING" and .tasks.running == .tasks.total)'
}

jobs() { # JQ; without asking the API server for the address each time, because time is measured here
	curl --silent --fail --max-time 5 "http://$address:8081/jobs/overview" | jq --exit-status "$1" >/dev/null
}

readyz_is() { # CODE
	[ "$(curl --silent --output /dev/null --write-out '%{http_code}' --max-time 5 "http://$address:8085/readyz")" = "$1" ]
}

pod_ready_is() { # STATUS
	[ "$(kubectl get pod "$jobmanager" --output 'jsonpath={.status.conditions[?(@.type=="Ready")].status}')" = "$1" ]
}

probe_failed() {
	kubectl get events --field-selector "involvedObject.name=$jobmanager,reason=Unhealthy" --output json |
		jq --exit-status 'any(.items[]; .message | test("Readiness probe failed: .*503"))' >/dev/null
}

# The sentence, wherever somebody may look.
say_why() { # WHAT CAUSE
	await "$1: the status has the numbers and the command" status_is ".reason | test(\"$NUMBERS.*; kubectl get pods -l [^ ]+\")"
	await "$1: so does the condition of the Deployment" deployment_says "$2"
	await "$1: and the FlinkApplication" resource_condition Ready \
		"select(.status == \"False\" and .reason == \"$2\") | .message | test(\"$NUMBERS.*; kubectl get pods -l\") or empty"
	await "$1: the Pod is not ready" pod_ready_is False
	await "$1: the Deployment is not available" deployment_is jobmanager Available False
	diag "$(status .reason)"
}

deployment_says() { # CAUSE
	kubectl get deployment "$APPLICATION-jobmanager" --output json |
		jq --exit-status --arg cause "$1" --arg numbers "$NUMBERS" '.status.conditions[] | select(.type == "drey.dev/Ready") |
			.status == "False" and .reason == $cause and (.message | test("\($numbers).*; kubectl get pods -l"))'
}

named_pods() { # what the command at the end of the sentence shows
	kubectl get pods --selector "$selector" --output name | wc -l
}

# ---- no TaskManager, and Helm waits ------------------------------------------------------------------

values
sed -i '/poll: {slow: 1s}/d' "$RUN/values.yaml" # how soon it is known is as installed
install --set taskManager.replicas=0 >"$RUN/log/helm.log" 2>&1 &
helm_pid=$!
await "a JobManager" pod jobmanager
jobmanager=$(pod jobmanager)
await "Flink calls the job RUNNING, and no task of it runs" rest jobs/overview \
	'.jobs | length == 1 and (.[0] | .state == "RUNNING" and .tasks.running == 0)'
address=$(kubectl get pod "$jobmanager" --output 'jsonpath={.status.podIP}')
say_why "no TaskManager" Launching
await "the kubelet was told so" probe_failed
check "the Deployment of the TaskManagers lacks nothing" kubectl rollout status deployment/orders-taskmanager --timeout 10s
check "helm install --wait has not come back" helm_waits
selector=$(status .reason | sed 's/.* -l //')
is "$(named_pods)" 0 "the command of the sentence: no Pod"

kubectl scale deployment orders-taskmanager --replicas=1 >/dev/null
wait "$helm_pid"
is $? 0 "with a TaskManager it succeeds"
check "because all tasks run" all_tasks_run
check "and the Pod is ready" pod_ready_is True
is "$(named_pods)" 1 "the command of the sentence: its Pod"
await "the Deployment says it" deployment_is jobmanager drey.dev/Ready True
await "and the FlinkApplication" resource_condition Ready '.status == "True" or empty'
await "a checkpoint is complete" runs

# ---- the last one dies, and comes back ---------------------------------------------------------------

# Every moment as soon as it is to be seen: that of the kill, Flink's, drey's, the kubelet's.
began=$(now_ms)
kill_jvm taskmanager
kubectl scale deployment orders-taskmanager --replicas=0 >/dev/null # before the kubelet starts it again
wait_quietly "$WAIT_S" no_task_runs
flink=$(now_ms)
await "the last TaskManager is dead: not ready" readyz_is 503
drey=$(now_ms)
await "so the kubelet says" pod_ready_is False
check "drey says so within 10 s of Flink" test $((drey - flink)) -le 10000
diag "ms after SIGKILL: Flink $((flink - began)), drey $((drey - began)), Pod $(($(now_ms) - began))"
say_why "the last TaskManager is dead" JobNotRunning
await "its Pod is gone" pods_gone taskmanager
is "$(kubectl get pod "$jobmanager" --output 'jsonpath={.status.containerStatuses[0].restartCount}')" 0 \
	"the JobManager is left alone"

kubectl scale deployment orders-taskmanager --replicas=1 >/dev/null
await "another one: all tasks run" all_tasks_run
flink=$(now_ms)
await "ready again" readyz_is 200
drey=$(now_ms)
await "so the kubelet says" pod_ready_is True
check "within a few seconds" test $((drey - flink)) -le 4000
diag "ms after Flink: drey $((drey - flink)), Pod $(($(now_ms) - flink))"
await "the Deployment is available" deployment_is jobmanager Available True
await "and says that it is ready" deployment_is jobmanager drey.dev/Ready True
await "the FlinkApplication too" resource_condition Ready '.status == "True" or empty'
await "checkpoints go on" runs
check "the job has lost nothing" continuity
is "$(denied)" "" "nothing was asked for that the Roles do not allow"
e2e_end
