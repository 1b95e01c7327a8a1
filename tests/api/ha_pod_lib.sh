# shellcheck shell=bash disable=SC2016,SC2034
#
# ha_pod_lib.sh - a Pod of journal_lib.sh whose Flink has its own high availability: a script stands in Flink's place, and
# the test writes the ConfigMaps that Flink would. Sourced after tests/api/journal_lib.sh.
#
#   ha_pod_conf POD [LINE...]    drey.yaml and Flink's configuration; attempts cost no time
#   lead HOLDER [MORE [VERSION]]    the cluster's map as a leader writes it (MAP, RPC_PORT); HOLDER "": the lock is free. MORE
#                                is JSON of other keys; VERSION: only if it is this one still
#   lead_until_known POD HOLDER [MORE]    for await: its lock is renewed, and drey has seen that
#   map_is JQ                    for check and await: JQ is true of it; $holder has the lock
#   put_job_map JOB FILE         the map of a job has these keys (JSON), and no others
#   job_map_version JOB          changes with every write to it
#   flink_dies POD               the script is killed

MAP=$APPLICATION-cluster-config-map
RPC_PORT=6123

ha_pod_conf() { # POD [LINE...]
	local pod=$1
	shift
	mkdir -p "$RUN/conf" "$RUN/ha"
	cat >"$RUN/conf/config.yaml" <<-END
		$(ha_options)
		jobmanager.rpc.address: 127.0.0.1
	END
	pod_conf "$pod" 'attempts:' '  window: 1s' '  backoffFirst: 0ms' '  backoffMax: 100ms' "$@"
	sed -i "s|^flink:|&\n  configDirectory: $RUN/conf|" "$RUN/$pod/drey.yaml"
}

lead() { # HOLDER [MORE [VERSION]]
	local at
	at=$(date --utc +%Y-%m-%dT%H:%M:%S.%6NZ)
	jq --null-input --arg name "$MAP" --arg app "$APPLICATION" --arg holder "$1" --arg at "$at" --argjson more "${2:-{\}}" \
		--arg version "${3:-}" --arg where "pekko.tcp://flink@127.0.0.1:$RPC_PORT/user" '{
		apiVersion: "v1", kind: "ConfigMap",
		metadata: ({name: $name, labels: {app: $app, type: "flink-native-kubernetes"}, annotations: {
			"control-plane.alpha.kubernetes.io/leader": ({holderIdentity: $holder, leaseDuration: "PT15S", acquireTime: $at,
				renewTime: $at, leaderTransitions: 0} | tojson)}} + (if $version == "" then {} else {resourceVersion: $version} end)),
		data: ((if $holder == "" then {} else {"org.apache.flink.k8s.leader.dispatcher": "\($holder),\($where)"} end) + $more)
	}' | kubectl apply --server-side --force-conflicts --filename - >/dev/null
}

lead_until_known() { # POD HOLDER [MORE]
	lead "${@:2}" && grep --quiet "leader lock is known.*\"$2\"" "$RUN/log/$1.log"
}

map_is() { # JQ
	[ "$(kubectl get configmap "$MAP" --output json | jq '(.metadata.annotations["control-plane.alpha.kubernetes.io/leader"]
		| fromjson.holderIdentity) as $holder | '"$1")" = true ]
}

put_job_map() { # JOB FILE
	jq --arg name "$APPLICATION-$1-config-map" --arg app "$APPLICATION" '{apiVersion: "v1", kind: "ConfigMap", metadata: {
		name: $name, labels: {app: $app, type: "flink-native-kubernetes"}}, data: .}' "$2" | kubectl apply --server-side --force-conflicts --filename - >/dev/null
}

job_map_version() { # JOB
	kubectl get configmap "$APPLICATION-$1-config-map" --output 'jsonpath={.metadata.resourceVersion}'
}

flink_dies() { # POD
	kill -KILL "$(pgrep -P "${POD_PID[$1]}" -x sleep)"
}
