# shellcheck shell=bash disable=SC2034,SC2154
#
# ha_lib.sh - a Flink with its own high availability on Kubernetes, supervised by drey, both with the Role that the
# chart ships. Sourced after tests/api/lib.sh, used between api_begin and start_drey.
#
#   ha_begin               Flink's library and configuration, and drey's, for HA in NAMESPACE; KUBE_LINES are more lines
#                          of config.yaml
#   cluster_map, job_map JOB          names of the ConfigMaps
#   map_keys MAP                      its keys, one a line; nothing when there is no such map
#   holder                            who holds the leader lock
#   jm_log REGEX                      counts lines of the log of drey and Flink
#   checkpoint                        makes Flink take one

# two Flinks and a control plane side by side: what takes seconds on an idle machine takes minutes on a busy one
[ "$WAIT_S" -ge 300 ] || WAIT_S=300

# Flink's library with the jar that brings the high availability. Its client does not know tokenFile.
ha_flink() {
	local jar
	jar=$("$TOP/tools/get-flink.sh" --plugin flink-kubernetes "$FLINK_VERSION") || exit $?
	if [ -L "$RUN/flink/lib" ]; then
		rm "$RUN/flink/lib"
		mkdir "$RUN/flink/lib"
		ln -s "$FLINK"/lib/*.jar "$jar" "$RUN/flink/lib/"
	fi
	jq --arg token "$(cat "$POD_SECRETS/token")" '.users[0].user = {token: $token}' "$POD_KUBECONFIG" >"$RUN/flink.conf"
}

ha_begin() {
	ha_flink
	run_conf <<-END
		$(ha_options)
		kubernetes.config.file: "$RUN/flink.conf"
		${KUBE_LINES:-}
	END
	# where Flink itself tells the TaskManagers who leads, the heartbeat need not, and they can wait
	sed -i 's/^heartbeat.timeout: .*/heartbeat.timeout: 50000/; s/^heartbeat.interval: .*/heartbeat.interval: 10000/
		s/^taskmanager.registration.timeout: .*/taskmanager.registration.timeout: 5 min/' "$RUN/conf/config.yaml"
	DREY_CONF[application]=$APPLICATION
	DREY_CONF[generation]=one
	DREY_CONF[kubernetes.enabled]=true
	DREY_CONF[kubernetes.kubeconfig]=$POD_KUBECONFIG
	DREY_CONF[kubernetes.namespace]=$NAMESPACE
	DREY_CONF[kubernetes.resource]=none
	drey_conf
}

cluster_map() {
	echo "$APPLICATION-cluster-config-map"
}

job_map() { # JOB
	echo "$APPLICATION-$1-config-map"
}

map_keys() { # MAP
	kubectl get configmap "$1" --ignore-not-found --output json | jq --raw-output '.data // {} | keys[]'
}

has_map() { # MAP
	[ -n "$(kubectl get configmap "$1" --ignore-not-found --output name)" ]
}

holder() {
	kubectl get configmap "$(cluster_map)" --output json |
		jq --raw-output '.metadata.annotations["control-plane.alpha.kubernetes.io/leader"] | fromjson.holderIdentity // ""'
}

checkpoint() {
	rest_send POST "jobs/$(status .jobId)/checkpoints" '{"checkpointType": "CONFIGURED"}' >/dev/null
}

jm_log() { # REGEX
	grep -cE -- "$1" "$RUN/log/jm.log"
}

jm_says() { # REGEX [AT_LEAST]
	[ "$(jm_log "$1")" -ge "${2:-1}" ]
}

# The JobManager that runs is another one than PID.
jm_is_new() { # PID
	local now
	now=$(jm_pid)
	[ -n "$now" ] && [ "$now" != "$1" ]
}
