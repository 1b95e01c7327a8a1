# shellcheck shell=bash
#
# resource_lib.sh - the custom resource of APPLICATION, as a person sees it. Sourced after tests/api/lib.sh, used after
# api_begin.
#
#   resource SPEC_JSON        it is there with this spec
#   resource_status JQ        from it
#   resource_is JQ              for check and await: JQ is true of the resource
#   condition_is TYPE STATUS [REASON]     likewise
#   observed                  likewise: what its status is about is what is there
#   with_resource POD [LINE...]           as pod_conf, but with the custom resource

resource() { # SPEC_JSON
	jq --null-input --compact-output --arg name "$APPLICATION" --argjson spec "$1" \
		'{apiVersion: "drey.dev/v1", kind: "FlinkApplication", metadata: {name: $name}, spec: $spec}' |
		kubectl apply --server-side --force-conflicts --field-manager person --filename - >/dev/null
}

resource_status() { # JQ
	kubectl get flapp "$APPLICATION" --output json | jq --raw-output "$1"
}

resource_is() { # JQ
	[ "$(resource_status "$1" 2>/dev/null)" = true ]
}

condition_is() { # TYPE STATUS [REASON]
	resource_is ".status.conditions[]? | select(.type == \"$1\") | .status == \"$2\" and (\"${3:-}\" == \"\" or .reason == \"${3:-}\")"
}

observed() {
	resource_is '.status.observedGeneration == .metadata.generation and
		all(.status.conditions[]; .observedGeneration >= 1 and (.lastTransitionTime | test("^[0-9T:-]+Z$")))'
}

with_resource() { # POD [LINE...]
	pod_conf "$@"
	sed -i '/resource: none/d' "$RUN/$1/drey.yaml"
}
