# shellcheck shell=bash
#
# ready_lib.sh - what the Pod belongs to, and the condition drey.dev/Ready in its status. Sourced after
# tests/api/journal_lib.sh.
#
#   OWNER, KIND               of it: <application>-jobmanager, deployment (or job)
#   deployment, job           it is there; no Pod of it ever runs
#   owner_says JQ             from the condition; empty: there is none
#   shown STATUS REASON       for check and await: it says so
#   agrees POD                likewise: it says what the status document of the Pod says
#   asked VERB                how often drey has asked for that, with anything of the owner
#   quick                     lines for pod_conf: the control ConfigMap is read often

OWNER=$APPLICATION-jobmanager
KIND=deployment
# shellcheck disable=SC2034 # for those who source this
quick=('control:' '  poll: 1s')

pod_template() {
	jq --null-input --compact-output --arg name "$OWNER" '{metadata: {labels: {app: $name}}, spec: {
		restartPolicy: "Always", containers: [{name: "c", image: "example.org/none"}]}}'
}

deployment() {
	jq --null-input --arg name "$OWNER" --argjson template "$(pod_template)" '{apiVersion: "apps/v1", kind: "Deployment",
		metadata: {name: $name}, spec: {replicas: 1, selector: {matchLabels: {app: $name}}, template: $template}}' |
		kubectl create --filename - >/dev/null
}

job() {
	jq --null-input --arg name "$OWNER" --argjson template "$(pod_template)" '{apiVersion: "batch/v1", kind: "Job",
		metadata: {name: $name}, spec: {template: ($template | .spec.restartPolicy = "Never")}}' |
		kubectl create --filename - >/dev/null
}

owner_says() { # JQ
	kubectl get "$KIND" "$OWNER" --output json |
		jq --raw-output ".status.conditions[]? | select(.type == \"drey.dev/Ready\") | $1"
}

shown() { # STATUS REASON
	[ "$(owner_says '"\(.status) \(.reason)"')" = "$1 $2" ]
}

agrees() { # POD
	[ "$(owner_says '[.status, .reason, .message] | tojson')" = \
		"$(pod_status "$1" '.conditions[] | select(.type == "Ready") | [.status, .reason, .message] | tojson')" ]
}

asked() { # VERB
	api_requests ".verb == \"$1\" and .name == \"$OWNER\"" | wc -l
}
