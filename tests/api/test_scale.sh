#!/usr/bin/env bash
#
# The TaskManagers of an application that does not run are scaled to 0, and back: the real controller of Deployments, a new
# agent, a new Pod, `kubectl scale`, a Deployment that was made anew. Through a proxy: conflicts, answers
# that are lost, no right. With the Role of the chart, against a real API server.
#
# runs in: ci

# shellcheck disable=SC2119,SC2317 # lib.sh has functions whose arguments are optional; called by name
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/api/lib.sh
. "$TOP/tests/api/lib.sh"
# shellcheck source=tests/api/client.sh
. "$TOP/tests/api/client.sh"

# shellcheck disable=SC2034 # of lib.sh
API_VALUES="--set taskManager.whenParked=scaleToZero"
api_begin scale
# shellcheck source=tests/api/journal_lib.sh
. "$TOP/tests/api/journal_lib.sh"
proxy_begin
WORKERS=$APPLICATION-taskmanager
scaling=('  scale: '"$WORKERS" 'control:' '  poll: 1s' 'attempts:' '  readyDeadline: 1h')

# No Pod of it ever runs.
workers() { # REPLICAS
	jq --null-input --arg name "$WORKERS" --argjson replicas "$1" '{apiVersion: "apps/v1", kind: "Deployment",
		metadata: {name: $name}, spec: {replicas: $replicas, selector: {matchLabels: {app: $name}}, template: {
			metadata: {labels: {app: $name}}, spec: {containers: [{name: "c", image: "example.org/none"}]}}}}' |
		kubectl create --filename - >/dev/null
}

replicas() {
	kubectl get deployment "$WORKERS" --output 'jsonpath={.spec.replicas}'
}

has_replicas() { # N
	[ "$(replicas)" = "$1" ]
}

record() {
	kubectl get configmap "$JOURNAL" --output json | jq --raw-output '.data["task-managers.json"] // empty' | jq --raw-output .replicas
}

has_record() { # N
	[ "$(record)" = "$1" ]
}

proxied() { # POD
	pod_conf "$1" "${scaling[@]}"
	sed -i "s|kubeconfig: .*|kubeconfig: $PROXY_KUBECONFIG|" "$RUN/$1/drey.yaml"
}

# ---- there and back --------------------------------------------------------------------------------------

workers 3
control state=suspended
pod_conf a "${scaling[@]}"
pod_start a
await "suspended: scaled to 0" has_replicas 0
is "$(record)" 3 "the number is on record"
await "the status says so" pod_is a '.scale == {deployment: "'"$WORKERS"'", goal: "down", replicas: 0, recorded: 3, contested: false, error: null}'
control state=running
await "it is to run: they are back" has_replicas 3
await "and nothing is on record" has_record ''
await "the job is launched" launched 1

# ---- another number, another agent, another Pod ------------------------------------------------------------

# The Pod ends, and the next one has this desired state.
next_pod() { # OLD NEW STATE
	pod_end "$1"
	control state="$3"
	[ -f "$RUN/$2/drey.yaml" ] || pod_conf "$2" "${scaling[@]}"
	before=$(launches)
	pod_start "$2"
}

kubectl scale deployment "$WORKERS" --replicas 5 >/dev/null
next_pod a b suspended
await "another number: scaled to 0" has_replicas 0
is "$(record)" 5 "that one is on record"
pod_kill_agent b
control state=running
await "another agent has them back" has_replicas 5
next_pod b c suspended
await "scaled to 0" has_replicas 0
next_pod c d suspended
await "another Pod leaves it" pod_is d '.scale.replicas == 0 and .scale.recorded == 5'
control state=running
await "and has them back" has_replicas 5
await "nothing is on record" has_record ''
kubectl scale deployment "$WORKERS" --replicas 0 >/dev/null
next_pod d e running
await "the job is launched" launched $((before + 1))
await "drey has looked" pod_is e '.scale.goal == "up" and .scale.replicas == 0'
is "$(replicas)" 0 "what others have scaled to 0 stays there"

# ---- made anew -------------------------------------------------------------------------------------------------

kubectl scale deployment "$WORKERS" --replicas 2 >/dev/null
next_pod e f suspended
await "scaled to 0" has_replicas 0
is "$(record)" 2 "the number is on record"
kubectl delete deployment "$WORKERS" >/dev/null
workers 0
next_pod f g running
await "made anew with none: the job is launched" launched $((before + 1))
await "drey has looked" pod_is g '.scale.goal == "up" and .scale.replicas == 0 and .scale.error == null'
is "$(replicas)" 0 "the number of the deleted one does not count"

# ---- faults ----------------------------------------------------------------------------------------------------

kubectl scale deployment "$WORKERS" --replicas 4 >/dev/null
proxied h
proxy_faults "status GET $WORKERS/scale 6 503" "status PATCH $WORKERS/scale 2 409" "lose PATCH $WORKERS/scale 1"
next_pod g h suspended
await "503, conflicts and a lost answer: scaled to 0 all the same" has_replicas 0
is "$(record)" 4 "with the right number on record"
await "and drey knows" pod_is h '.scale.replicas == 0 and .scale.error == null'
proxy_faults "status PATCH $WORKERS/scale 1000 500"
before=$(launches)
control state=running
await "the job is launched although they cannot be scaled up" launched $((before + 1))
await "the status says why there are none" pod_is h '.scale.error | tostring | test("500")'
check "so does drey status" grep --quiet "cannot scale deployment $WORKERS: .*500" <("$BUILD/drey" status --config "$RUN/h/drey.yaml")
proxy_faults
await "when it works again, they are back" has_replicas 4
await "and the status is clean" pod_is h '.scale.error == null'

# ---- no such Deployment, no right ------------------------------------------------------------------------------

kubectl delete deployment "$WORKERS" >/dev/null
next_pod h i suspended
await "there is none: the status says so" pod_is i '.scale.error | tostring | test("404|not found")'
check "and it is suspended all the same" pod_phase i Suspended
workers 1
api_role_without 'del(.rules[] | select(.resources == ["deployments/scale"]))' get "deployments.apps/$WORKERS --subresource=scale"
before=$(launches)
control state=running
await "without the right the job is launched" launched $((before + 1))
await "and it is said" pod_is i '.scale.error | tostring | test("cannot get resource .deployments/scale")'
await "with the rule that is missing" pod_log i "deployments/scale\\], resourceNames: \\[$WORKERS\\], verbs: \\[get, patch\\]"

is "$(api_requests '.resource == "deployments" and .name == "'"$WORKERS"'"' | jq --raw-output '.verb' | sort --unique | tr '\n' ' ')" "get patch " \
	"of the Deployment nothing else was asked for"
e2e_end
