# shellcheck shell=bash
#
# journal_lib.sh - drey in a Pod, with a script in Flink's place, so that a test of the journal or of the control inputs
# is fast. Sourced after tests/api/lib.sh, used after api_begin.
#
#   pod_conf POD [LINE...]    drey.yaml of one Pod; POD is a word. All Pods are of the same application and share the
#                             directories of the snapshots. More lines of drey.yaml
#   pod_start POD             its container
#   pod_end POD, pod_kill POD     SIGTERM, and its end; the node dies: nobody is asked. The state directory goes with it
#   pod_status POD JQ         from its status document
#   pod_is POD JQ             for check and await: JQ is true there
#   pod_phase POD PHASE       likewise
#   pod_log POD REGEX         its log has such a line
#   launches                  how often Flink was started, by any Pod
#   journal JQ                from the journal in the ConfigMap
#   journal_is JQ             for check and await
#   control KEY=VALUE...      the control ConfigMap has these keys, and no others

JOURNAL=$APPLICATION-drey-journal
CONTROL_MAP=$APPLICATION-drey-control
declare -A POD_PID=() POD_REST=()

pod_conf() { # POD [LINE...]
	local pod=$1 port=${POD_REST[$1]:-}
	shift
	if [ -z "$port" ]; then
		take_port port
		POD_REST[$pod]=$port
	fi
	mkdir -p "$RUN/ck" "$RUN/sp" "$RUN/$pod"
	printf '#!/bin/sh\necho started >>%q\nexec sleep 100000\n' "$RUN/launches" >"$RUN/flink.sh"
	chmod +x "$RUN/flink.sh"
	{
		cat <<-YAML
			application: $APPLICATION
			stateDirectory: $RUN/$pod/state
			flink:
			  version: 2.3.0
			  command: [$RUN/flink.sh]
			  jobClass: example.Job
			  restPort: $port
			  checkpointDirectory: file://$RUN/ck
			  savepointDirectory: file://$RUN/sp
			http:
			  port: 0
			holding:
			  retryFirst: 200ms
			  retryMax: 1s
			kubernetes:
			  enabled: true
			  kubeconfig: $POD_KUBECONFIG
			  namespace: $NAMESPACE
			  resource: none
		YAML
		printf '%s\n' "$@"
	} >"$RUN/$pod/drey.yaml"
}

pod_start() { # POD
	local pod=$1
	[ -f "$RUN/$pod/drey.yaml" ] || pod_conf "$pod"
	env "E2E_RUN=$RUN" "POD_NAME=$APPLICATION-$pod" "POD_UID=uid-of-$pod-$RANDOM" "POD_NAMESPACE=$NAMESPACE" \
		"$BUILD/drey-init" --agent -- "$BUILD/drey" run --config "$RUN/$pod/drey.yaml" \
		>>"$RUN/log/$pod.log" 2>&1 </dev/null &
	POD_PID[$pod]=$!
}

pod_gone() { # POD
	wait "${POD_PID[$1]}" 2>/dev/null
	unset "POD_PID[$1]"
	rm -rf "${RUN:?}/$1/state"
}

pod_end() { # POD
	kill -TERM "${POD_PID[$1]}"
	pod_gone "$1"
}

pod_kill() { # POD: drey-init takes all the others along
	kill -KILL "${POD_PID[$1]}"
	pod_gone "$1"
}

# The agent alone; it is started again.
pod_kill_agent() { # POD
	kill -KILL "$(pgrep -P "${POD_PID[$1]}" -x drey)"
}

pod_status() { # POD JQ
	"$BUILD/drey" status --json --config "$RUN/$1/drey.yaml" 2>/dev/null | jq --raw-output "$2"
}

pod_is() { # POD JQ
	[ "$(pod_status "$1" "$2")" = true ]
}

pod_phase() { # POD PHASE
	pod_is "$1" ".phase == \"$2\""
}

pod_says() { # POD TEXT
	pod_status "$1" .reason | grep --quiet --fixed-strings -- "$2"
}

pod_log() { # POD REGEX
	grep --quiet --extended-regexp -- "$2" "$RUN/log/$1.log"
}

launches() {
	grep --count started "$RUN/launches" 2>/dev/null || :
}

launched() { # AT_LEAST
	[ "$(launches)" -ge "$1" ]
}

journal() { # JQ
	kubectl get configmap "$JOURNAL" --output json | jq --raw-output '.data["journal.json"]' | jq --raw-output "$1"
}

journal_is() { # JQ
	[ "$(journal "$1" 2>/dev/null)" = true ]
}

has_configmap() { # NAME
	[ -n "$(kubectl get configmap "$1" --ignore-not-found --output name)" ]
}

control() { # KEY=VALUE...
	local args=() one
	for one; do
		args+=("--from-literal=$one")
	done
	kubectl create configmap "$CONTROL_MAP" "${args[@]}" --dry-run=client --output json | kubectl replace --filename - >/dev/null 2>&1 ||
		kubectl create configmap "$CONTROL_MAP" "${args[@]}" >/dev/null
}
