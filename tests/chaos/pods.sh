# shellcheck shell=bash disable=SC2034,SC2154
#
# pods.sh - chaos for an application that Helm has installed: its Pods are deleted, evicted, and deleted by force, and in them
# processes get signals. Sourced by tests/cluster/test_chaos.sh after tests/cluster/lib.sh and tests/chaos/lib.sh, of which
# it replaces what is different here: where processes are found, how drey is called, what the storage is (S3).
#
# The node finds the processes and sends the signals: its process namespace contains those of all Pods. So none of this depends
# on a Pod that responds.

# Failures are to be noticed in seconds: the defaults are made for networks.
chaos_values() {
	local line
	MORE_CONFIGURATION=$(printf '%s\n    ' \
		"heartbeat.interval: 2000" "heartbeat.timeout: 10000" \
		"high-availability.kubernetes.leader-election.lease-duration: 5 s" \
		"high-availability.kubernetes.leader-election.renew-deadline: 5 s" \
		"high-availability.kubernetes.leader-election.retry-period: 1 s")
	MORE_DREY='attempts: {max: 32, backoffFirst: 200ms, backoffMax: 2s}'
	values "highAvailability: {enabled: ${HA:-true}}" "upgradeCheck: {enabled: false}"
	sed -i -e '/^taskManager:/a\  replicas: 2' -e 's/checkpointing.interval: 2 s/checkpointing.interval: 1 s/' \
		-e 's/terminationGracePeriodSeconds: 120/terminationGracePeriodSeconds: 40/' \
		-e 's,s3://flink/orders,&1,' "$RUN/values.yaml"
}

# A disk for the buckets that can become full; it is in the node's mounts, and gone with them.
chaos_disk() {
	DISK=$RUN/gw/buckets
	STORE=$DISK/flink
	server_down versitygw
	mount -t tmpfs -o size=256m chaos "$DISK" || die 1 "cannot mount $DISK"
	trap chaos_run_end EXIT
	mkdir "$STORE"
	: >"$STORE/.here"
	server_up versitygw "$RUN/gw"
}

chaos_run_end() {
	local status=$?
	if ui_is_main; then
		kubectl_cluster uncordon node >/dev/null 2>&1
		[ "$status" -eq 0 ] || cp -a "$DISK" "$RUN/kept"
		umount --lazy "$DISK"
	fi
	(exit "$status")
	node_run_end
}

chaos_begin() {
	: >"$RUN/signals"
	chaos_disk
	spawn watch python3 "$CHAOS_DIR/watch.py" "$STORE" "$RUN/storage.log"
	chaos_values
	MUST_LIVE=(watch)
	check "helm install" helm install "$APPLICATION" "$CHART" --values "$RUN/values.yaml"
	await "the job runs" chaos_is_well 0
}

# ---- processes and Pods ------------------------------------------------------------------------------------

chaos_pid() { # jm|tm|agent|init WHICH
	local pids what
	case $1 in
	jm) what="^[^ ]*java .*$FLINK_ENTRYPOINT" ;;
	tm) what="^[^ ]*java .*$FLINK_TASKMANAGER" ;;
	agent) what="^drey run --config " ;;
	init) what="^drey-init --agent " ;;
	esac
	mapfile -t pids < <(pgrep -f -- "$what")
	[ ${#pids[@]} -gt 0 ] || return 1
	printf '%s\n' "${pids[$(($2 % ${#pids[@]}))]}"
}

chaos_component() { # jm|tm
	case $1 in
	jm) echo jobmanager ;;
	tm) echo taskmanager ;;
	esac
}

chaos_pod() { # jm|tm WHICH: one that nobody has deleted yet
	local pods
	mapfile -t pods < <(kubectl get pods --selector "app.kubernetes.io/component=$(chaos_component "$1")" --output json |
		jq --raw-output '.items[] | select(.metadata.deletionTimestamp == null) | .metadata.name')
	[ ${#pods[@]} -gt 0 ] || return 1
	printf '%s\n' "${pods[$(($2 % ${#pods[@]}))]}"
}

eval "$(declare -f chaos_signal | sed '1s/chaos_signal/chaos_signal_process/')"

chaos_signal() { # KILL|TERM|STOP|DELETE|FORCE|EVICT TARGET WHICH MS
	local pod
	case $1 in
	KILL | TERM | STOP)
		chaos_signal_process "$@"
		return
		;;
	esac
	pod=$(chaos_pod "$2" "$3") || {
		chaos_log "there is no Pod $2"
		return
	}
	chaos_log "$2 is $pod"
	echo "$1 $2" >>"$RUN/signals"
	case $1 in
	DELETE) kubectl delete pod "$pod" --wait=false >/dev/null 2>&1 ;;
	FORCE) kubectl delete pod "$pod" --grace-period=0 --force >/dev/null 2>&1 ;;
	EVICT) chaos_evict "$2" & ;;
	esac
}

# The node takes no new Pod until the old one has gone.
chaos_evict() { # jm|tm
	kubectl_cluster drain node --delete-emptydir-data --timeout 60s --skip-wait-for-delete-timeout 1 \
		--pod-selector "app.kubernetes.io/instance=$APPLICATION,app.kubernetes.io/component=$(chaos_component "$1")" \
		>>"$RUN/log/drain.log" 2>&1
	kubectl_cluster uncordon node >>"$RUN/log/drain.log" 2>&1
	chaos_log "the node is drained of $1"
}

chaos_nothing_runs() {
	pods_gone jobmanager
}

# ---- what people do --------------------------------------------------------------------------------------------

chaos_cli() { # COMMAND [ARG...]
	timeout 60 "$KUBE_HOME/bin/kubectl" --kubeconfig "$ADMIN" --namespace "$NAMESPACE" \
		exec "deployment/$APPLICATION-jobmanager" --container jobmanager -- drey "$@"
}

chaos_patch() { # KEY VALUE: the control ConfigMap
	kubectl patch configmap "$APPLICATION-drey-control" --type merge --patch "{\"data\": {\"$1\": \"$2\"}}" >/dev/null 2>>"$RUN/log/cli.log"
}

# Other arguments, or also another place for the state: another generation, from a savepoint of the one before.
chaos_helm() { # RATE
	helm upgrade "$APPLICATION" "$CHART" --values "$RUN/values.yaml" --set "state.uri=s3://flink/orders$chaos_directory" \
		--set-json "job.args=[\"--log\",\"/events/log\",\"--control\",\"/events\",\"--rate\",\"$1\"]" >>"$RUN/log/helm.log" 2>&1 ||
		chaos_log "helm: $(tail -n 1 "$RUN/log/helm.log")"
}

chaos_rate=500
chaos_upgrade() {
	chaos_rate=$((chaos_rate % 600 + 50))
	chaos_helm "$chaos_rate"
}

chaos_move() {
	chaos_directory=$((chaos_directory + 1))
	chaos_helm "$chaos_rate"
}

chaos_uri() { # PATH
	echo "s3:/${1#"$DISK"}"
}

# The phase, the job and the reason, by drey's own port. A container that the kubelet lets wait, because it has ended so often, is
# one that a person replaces.
status() { # JQ
	local address answer pod
	address=$(cat "$RUN/address" 2>/dev/null)
	if [ -z "$address" ] || ! answer=$(curl --silent --fail --max-time 3 "http://$address:8085/status"); then
		kubectl get pods --selector app.kubernetes.io/component=jobmanager --output json |
			jq --raw-output '.items[] | select(.metadata.deletionTimestamp == null) | .status.podIP // empty' >"$RUN/address"
		for pod in $(chaos_waiting_pods); do
			chaos_log "a person replaces $pod"
			kubectl delete pod "$pod" --wait=false >/dev/null 2>&1
		done
		sleep 0.5
		return 1
	fi
	jq --raw-output --exit-status "$1" <<<"$answer"
}

chaos_waiting_pods() {
	kubectl get pods --output json | jq --raw-output '.items[] | select(.metadata.deletionTimestamp == null and
		any(.status.containerStatuses[]?; .state.waiting.reason == "CrashLoopBackOff")) | .metadata.name'
}

# ---- what is wrong with the storage ------------------------------------------------------------------------------

chaos_server() { # [OPTION...]: ends it and starts it once more
	local MUST_LIVE=()
	server_down versitygw
	server_up versitygw "$RUN/gw" "$@"
}

chaos_break() { # away|gone|deny|readonly|full
	local MUST_LIVE=()
	chaos_back
	chaos_fault=$1
	case $1 in
	# it takes connections, and answers nothing
	away) kill -STOP "$(pgrep -f "^$VERSITYGW/bin/versitygw ")" ;;
	gone) server_down versitygw ;;
	deny)
		mv "$RUN/gw/secret-key" "$RUN/gw/kept-key"
		chaos_server
		;;
	readonly) chaos_server --readonly ;;
	full) head -c 1G /dev/zero >"$DISK/fill" 2>/dev/null ;;
	esac
}

chaos_back() {
	case $chaos_fault in
	away) kill -CONT "$(pgrep -f "^$VERSITYGW/bin/versitygw ")" ;;
	gone) server_up versitygw "$RUN/gw" ;;
	deny)
		mv "$RUN/gw/kept-key" "$RUN/gw/secret-key"
		chaos_server
		;;
	readonly) chaos_server ;;
	full) rm -f "$DISK/fill" ;;
	esac
	[ -z "$chaos_fault" ] || chaos_log "not $chaos_fault any more"
	chaos_fault=''
}

# ---- the end --------------------------------------------------------------------------------------------------------

chaos_stop() {
	kubectl_cluster uncordon node >/dev/null 2>&1
	kubectl scale deployment "$APPLICATION-jobmanager" --replicas=0 >/dev/null
}
