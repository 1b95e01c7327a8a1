#!/usr/bin/env bash
#
# The TaskManagers of an application that does not run are scaled to 0, and back: the real controller of Deployments, a new
# agent, a new Pod, `kubectl scale`, a Deployment that was made anew. Through a proxy: conflicts, answers
# that are lost, no right. Then several pools, and StatefulSets. With the Role of the chart, against a real API server.
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
current=("${scaling[@]}")

# No Pod of it ever runs.
workers() { # REPLICAS [KIND [NAME]]
	jq --null-input --arg name "${3:-$WORKERS}" --arg kind "${2:-Deployment}" --argjson replicas "$1" '{apiVersion: "apps/v1", kind: $kind,
		metadata: {name: $name}, spec: ({replicas: $replicas, selector: {matchLabels: {app: $name}}, template: {
			metadata: {labels: {app: $name}}, spec: {containers: [{name: "c", image: "example.org/none"}]}}} +
			if $kind == "StatefulSet" then {serviceName: "none"} else {} end)}' |
		kubectl create --filename - >/dev/null
}

replicas() { # [OBJECT...]
	[ $# -gt 0 ] || set -- "deployment/$WORKERS"
	local object
	for object; do
		kubectl get "$object" --output 'jsonpath={.spec.replicas} '
	done | sed 's/ $//'
}

has_replicas() { # N
	[ "$(replicas)" = "$1" ]
}

record() {
	kubectl get configmap "$JOURNAL" --output json | jq --raw-output --arg key "task-managers.deployment.$WORKERS.json" '.data[$key] // empty' |
		jq --raw-output .replicas
}

# All that is on record, KIND.NAME=REPLICAS.
records() {
	kubectl get configmap "$JOURNAL" --output json |
		jq --raw-output '[.data | to_entries[] | select(.key | startswith("task-managers.")) | "\(.key[14:-5])=\(.value | fromjson.replicas)"] | join(" ")'
}

has_record() { # N
	[ "$(record)" = "$1" ]
}

records_are() { # RECORDS
	[ "$(records)" = "$1" ]
}

test_others() { # REPLICAS of the Deployment, of the StatefulSet
	[ "$(replicas "deployment/$WORKERS" "statefulset/$SET")" = "$*" ]
}

proxied_several() { # POD
	pod_conf "$1" "${several[@]}"
	sed -i "s|kubeconfig: .*|kubeconfig: $PROXY_KUBECONFIG|" "$RUN/$1/drey.yaml"
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
await "the status says so" pod_is a '.scale == [{kind: "Deployment", name: "'"$WORKERS"'", goal: "down", replicas: 0, recorded: 3, contested: false, error: null}]'
control state=running
await "it is to run: they are back" has_replicas 3
await "and nothing is on record" has_record ''
await "the job is launched" launched 1

# ---- another number, another agent, another Pod ------------------------------------------------------------

# The Pod ends, and the next one has this desired state.
next_pod() { # OLD NEW STATE
	pod_end "$1"
	control state="$3"
	[ -f "$RUN/$2/drey.yaml" ] || pod_conf "$2" "${current[@]}"
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
await "another Pod leaves it" pod_is d '.scale[0].replicas == 0 and .scale[0].recorded == 5'
control state=running
await "and has them back" has_replicas 5
await "nothing is on record" has_record ''
kubectl scale deployment "$WORKERS" --replicas 0 >/dev/null
next_pod d e running
await "the job is launched" launched $((before + 1))
await "drey has looked" pod_is e '.scale[0].goal == "up" and .scale[0].replicas == 0'
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
await "drey has looked" pod_is g '.scale[0].goal == "up" and .scale[0].replicas == 0 and .scale[0].error == null'
is "$(replicas)" 0 "the number of the deleted one does not count"

# ---- faults ----------------------------------------------------------------------------------------------------

kubectl scale deployment "$WORKERS" --replicas 4 >/dev/null
proxied h
proxy_faults "status GET $WORKERS/scale 6 503" "status PATCH $WORKERS/scale 2 409" "lose PATCH $WORKERS/scale 1"
next_pod g h suspended
await "503, conflicts and a lost answer: scaled to 0 all the same" has_replicas 0
is "$(record)" 4 "with the right number on record"
await "and drey knows" pod_is h '.scale[0].replicas == 0 and .scale[0].error == null'
proxy_faults "status PATCH $WORKERS/scale 1000 500"
before=$(launches)
control state=running
await "the job is launched although they cannot be scaled up" launched $((before + 1))
await "the status says why there are none" pod_is h '.scale[0].error | tostring | test("500")'
check "so does drey status" grep --quiet "cannot scale Deployment $WORKERS: .*500" <("$BUILD/drey" status --config "$RUN/h/drey.yaml")
proxy_faults
await "when it works again, they are back" has_replicas 4
await "and the status is clean" pod_is h '.scale[0].error == null'

# ---- no such Deployment, no right ------------------------------------------------------------------------------

kubectl delete deployment "$WORKERS" >/dev/null
next_pod h i suspended
await "there is none: the status says so" pod_is i '.scale[0].error | tostring | test("404|not found")'
check "and it is suspended all the same" pod_phase i Suspended
workers 1
api_role_without 'del(.rules[] | select(.resources == ["deployments/scale"]))' get "deployments.apps/$WORKERS" --subresource=scale
before=$(launches)
control state=running
await "without the right the job is launched" launched $((before + 1))
await "and it is said" pod_is i '.scale[0].error | tostring | test("cannot get resource .deployments/scale")'
await "with the rule that is missing" pod_log i "deployments/scale\\], resourceNames: \\[$WORKERS\\], verbs: \\[get, patch\\]"

# ---- pools and StatefulSets ------------------------------------------------------------------------------------

kubectl delete deployment "$WORKERS" >/dev/null
POOL=$WORKERS-large SET=$WORKERS-spot-0
ALL=("deployment/$WORKERS" "deployment/$POOL" "statefulset/$SET")
several=("  scale: [{kind: Deployment, name: $WORKERS}, {kind: Deployment, name: $POOL}, {kind: StatefulSet, name: $SET}]" "${scaling[@]:1}")
current=("${several[@]}")
workers 3
workers 2 Deployment "$POOL"
workers 1 StatefulSet "$SET"
# the chart gives the rights of one kind; here both are needed
api_role --set "taskManager.pools[0].name=large,taskManager.pools[0].replicas=2"
kubectl get role "$APPLICATION" --output json |
	jq --arg set "$SET" '.rules += [{apiGroups: ["apps"], resources: ["statefulsets/scale"], resourceNames: [$set], verbs: ["get", "patch"]}]' |
	kubectl replace --filename - >/dev/null
await "the Role allows it" api_may patch "statefulsets.apps/$SET" --subresource=scale

are() { # REPLICAS...
	[ "$(replicas "${ALL[@]}")" = "$*" ]
}

pod_conf j "${several[@]}"
next_pod i j suspended
await "all are scaled to 0" are 0 0 0
is "$(records)" "deployment.$POOL=2 deployment.$WORKERS=3 statefulset.$SET=1" "each number is on record"
await "the status has each" pod_is j '[.scale[] | "\(.kind) \(.name) \(.replicas) \(.recorded)"] == ["Deployment '"$WORKERS"' 0 3", "Deployment '"$POOL"' 0 2", "StatefulSet '"$SET"' 0 1"]'
check "drey status sums it up" grep --quiet "Deployment $WORKERS and 2 more are at 0; 6 will be back" <("$BUILD/drey" status --config "$RUN/j/drey.yaml")
kubectl scale "deployment/$POOL" --replicas 4 >/dev/null
pod_kill_agent j
await "another number while it is parked, and another agent" are 0 0 0
await "that number is on record" records_are "deployment.$POOL=4 deployment.$WORKERS=3 statefulset.$SET=1"
before=$(launches)
control state=running
await "all are back, each with its own number" are 3 4 1
await "the job is launched" launched $((before + 1))
await "and nothing is on record" records_are ''

# One that cannot be scaled is the only one.
proxied_several k
next_pod j k suspended
await "all are scaled to 0" are 0 0 0
proxy_faults "status PATCH $POOL/scale 1000 500"
before=$(launches)
control state=running
await "one fails: the others are back" are 3 0 1
await "the job is launched all the same" launched $((before + 1))
await "the status says which, and that no other does" pod_is k '[.scale[] | select(.error) | .name] == ["'"$POOL"'"]'
check "so does drey status" grep --quiet "cannot scale Deployment $POOL: .*500" <("$BUILD/drey" status --config "$RUN/k/drey.yaml")
is "$(records)" "deployment.$POOL=4" "its number stays on record"
proxy_faults
await "when it works again, it is back, too" are 3 4 1
await "and the status is clean" pod_is k 'all(.scale[]; .error == null)'

# A pool that is removed while it is parked takes none of the others along, and its record goes with theirs.
next_pod k l suspended
await "all are scaled to 0" are 0 0 0
kubectl delete "deployment/$POOL" >/dev/null
before=$(launches)
control state=running
await "a pool was deleted: the others are back" test_others 3 1
await "the job is launched" launched $((before + 1))
await "the status says which is not there" pod_is l '[.scale[] | select(.error // "" | test("404|not found")) | .name] == ["'"$POOL"'"]'
is "$(records)" "deployment.$POOL=4" "its number is on record, until it is no longer to be scaled"
ALL=("deployment/$WORKERS" "statefulset/$SET")
pod_conf m "  scale: [{kind: Deployment, name: $WORKERS}, {kind: StatefulSet, name: $SET}]" "${scaling[@]:1}"
next_pod l m suspended
await "it is no longer to be: the others are scaled to 0" are 0 0
control state=running
await "and are back" are 3 1
await "and nothing is on record" records_are ''

is "$(api_requests '.resource == "statefulsets"' | jq --raw-output '.verb' | sort --unique | tr '\n' ' ')" "get patch " \
	"of StatefulSets nothing else was asked for"
is "$(api_requests '.resource == "deployments" and .name == "'"$WORKERS"'"' | jq --raw-output '.verb' | sort --unique | tr '\n' ' ')" "get patch " \
	"of the Deployment nothing else was asked for"
e2e_end
