#!/usr/bin/env bash
#
# pod.sh - the container of a Pod of the bench (lib.sh), and its readiness probe.
#
#   pod.sh start jobmanager|taskmanager
#   pod.sh ready jobmanager|taskmanager
#
# The environment is what the kubelet would give: POD_NAME, POD_UID, POD_IP, POD_NAMESPACE, POD_TEMPLATE_HASH, DREY_CHECKSUM; and
# E2E_RUN, the directory of the run, TEMPLATE, a directory in its templates/ (lib.sh, template), and the ports. Everything of the
# Pod is in pods/POD_NAME, which a container that is started again finds, as in an emptyDir.

set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/e2e/lib.sh
. "$here/../e2e/lib.sh"

[ $# -eq 2 ] || die 2 "usage: pod.sh start|ready jobmanager|taskmanager"
run=$E2E_RUN
component=$2
template=$run/templates/$TEMPLATE
pod=$run/pods/$POD_NAME
generation=$(cat "$template/generation")
[ ! -e "$template/build" ] || BUILD=$(cat "$template/build")

# The two that Flink needs beside each other, and what is the Pod's own.
layout() {
	mkdir -p "$pod"/{conf,log,tmp,flink/usrlib}
	ln -sfn "$template/lib" "$pod/flink/lib"
	mkdir -p "$pod/flink/plugins"
	[ -f "$pod/flink/usrlib/job.jar" ] || cp "$template/job.jar" "$pod/flink/usrlib/job.jar"
	[ ! -e "$template/usrlib" ] || ln -sfn "$template"/usrlib/*.jar "$pod/flink/usrlib/"
	flink_conf "$pod" "$BENCH_REST_PORT" "$BENCH_RPC_PORT" <"$template/config"
	sed -i -e "s/127\.0\.0\.1/$POD_IP/" -e "s,file://$pod/,file://$run/," -e "s/^blob.server.port: .*/blob.server.port: $BENCH_BLOB_PORT/" \
		-e 's/^heartbeat.timeout: .*/heartbeat.timeout: 50000/; s/^heartbeat.interval: .*/heartbeat.interval: 3000/' \
		-e 's/^taskmanager.registration.timeout: .*/taskmanager.registration.timeout: 5 min/' "$pod/conf/config.yaml"
	echo "kubernetes.config.file: \"$pod/flink.conf\"" >>"$pod/conf/config.yaml"
}

# How the API server is reached: directly, or through the Pod's own proxy, whose rules are in faults/POD_NAME.
kubeconfigs() { # KUBECONFIG
	local server=$BENCH_API_URL
	if [ -e "$template/proxied" ]; then
		rm -f "$pod/proxy.port"
		mkdir -p "$run/faults"
		python3 "$here/../api/fault_proxy.py" --upstream "$server" --ca "$BENCH_PKI/ca.crt" --cert "$run/proxy.crt" \
			--key "$run/proxy.key" --faults "$run/faults/$POD_NAME" --port-file "$pod/proxy.port" >>"$run/log/$POD_NAME.proxy.log" 2>&1 &
		wait_until "the proxy listens" "$WAIT_S" test -e "$pod/proxy.port" || die 1 "no proxy"
		server=https://127.0.0.1:$(cat "$pod/proxy.port")
	fi
	jq --arg server "$server" --arg ca "$([ ! -e "$template/ca.crt" ] || echo "$template/ca.crt")" '.clusters[0].cluster |=
		(.server = $server | if $ca != "" then ."certificate-authority" = $ca else . end)' "$1" >"$pod/kube.conf"
	# Flink's client does not know tokenFile
	jq --arg token "$(cat "$(jq --raw-output '.users[0].user.tokenFile' "$1")")" '.users[0].user = {token: $token}' \
		"$pod/kube.conf" >"$pod/flink.conf"
}

# The class path is the one of the archive, which is the same for all Pods.
class_path() { # FLINK_JM_ARGV|FLINK_TM_ARGV
	local -n argv=$1
	argv=("${argv[@]/#$pod\/flink\/lib/$(readlink -f "$template/lib")}")
}

# drey.yaml: the keys of the template, and what is the Pod's own.
drey_yaml() {
	local key value
	while IFS='=' read -r key value; do
		DREY_CONF[$key]=$value
	done <"$template/drey"
	flink_jm_argv "$pod"
	class_path FLINK_JM_ARGV
	DREY_CONF[stateDirectory]=$pod/state
	DREY_CONF[flink.command]=$(yaml_list "${FLINK_JM_ARGV[@]}")
	DREY_CONF[flink.restAddress]=$POD_IP
	DREY_CONF[flink.rpcAddress]=pod
	DREY_CONF[http.address]=$POD_IP
	DREY_CONF[kubernetes.kubeconfig]=$pod/kube.conf
	# shellcheck disable=SC2034 # for write_drey_yaml
	RUN=$pod
	write_drey_yaml
}

# A build with sanitizers wants to be loaded first, and is content without.
network() {
	export BENCH_ADDRESSES=$run/addresses LD_PRELOAD=$run/network.so ASAN_OPTIONS=verify_asan_link_order=0
	[ ! -e "$template/preload" ] || LD_PRELOAD+=:$(cat "$template/preload")
	export WALL_CLOCK=$template/clock.$component BROKEN_DISK=$run/broken/$POD_NAME BROKEN_DISK_UNDER=$run/ck:$run/sp
}

join_argv() {
	local archive
	archive=$(sed -n 's/^flink.classArchive=\(.*\)\.jsa$/\1-taskmanager.jsa/p' "$template/drey")
	JOIN_ARGV=("$BUILD/drey" join --service "$BENCH_APPLICATION-jobmanager" --port "$BENCH_HTTP_PORT" --generation "$generation"
		--file "$pod/ready" --class-archive "${archive:-none}")
}

start() {
	mkdir -p "$run/addresses" "$pod"
	echo "$POD_NAME $component $generation ${POD_TEMPLATE_HASH:-}" >"$pod/address"
	cp "$pod/address" "$run/addresses/.$POD_NAME"
	mv "$run/addresses/.$POD_NAME" "$run/addresses/$POD_IP"
	cd "$pod"
	[ ! -x "$template/run" ] || exec "$template/run" "$component"
	layout
	flink_env "$pod"
	export "${FLINK_ENV[@]}"
	if [ "$component" = jobmanager ]; then
		kubeconfigs "$run/pod.conf"
		drey_yaml
		network
		exec "$BUILD/drey-init" --agent --grace "$BENCH_GRACE_S" -- "$BUILD/drey" run --config "$pod/drey.yaml"
	fi
	kubeconfigs "$run/taskmanager.conf"
	flink_tm_argv "$pod"
	class_path FLINK_TM_ARGV
	[ ! -e "$template/slots" ] || FLINK_TM_ARGV+=(-D "taskmanager.numberOfTaskSlots=$(cat "$template/slots")")
	network
	if [ -e "$template/join" ]; then
		join_argv
		exec "$BUILD/drey-init" -- "${JOIN_ARGV[@]}" -- "${FLINK_TM_ARGV[@]}"
	fi
	exec "$BUILD/drey-init" -- "${FLINK_TM_ARGV[@]}" -D "taskmanager.resource-id=$generation-$POD_NAME"
}

ready() {
	[ ! -x "$template/ready" ] || exec "$template/ready" "$component"
	if [ "$component" = jobmanager ]; then
		exec curl --silent --fail --max-time 2 --output /dev/null "http://$POD_IP:$BENCH_HTTP_PORT/readyz"
	fi
	if [ -e "$template/join" ]; then
		join_argv
		network
		exec "${JOIN_ARGV[@]}" --ready
	fi
}

case $1 in
start | ready) "$1" ;;
*) die 2 "usage: pod.sh start|ready jobmanager|taskmanager" ;;
esac
