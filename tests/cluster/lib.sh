# shellcheck shell=bash disable=SC2034
#
# lib.sh - an application that Helm has installed and that runs in real Pods, on the node in DREY_NODE. Sourced by
# tests/cluster/test_*.sh after tests/e2e/tap.sh; `tests/run.sh cluster NAME` starts them, inside the node's namespaces.
#
#   node_begin NAME           RUN; NAMESPACE, new, which enforces Pod Security "restricted"; an S3 server with the bucket flink,
#                             its keys in the Secret orders-s3; a volume for the events of the job (EVENTS, CONTROL)
#   values [LINE...]          RUN/values.yaml; LINEs are YAML appended to it, without keys that it already has
#   install [OPTION...]       `helm install orders`, and waits until it is ready; upgrade [OPTION...] does the same
#   helm ARG..., kubectl ARG...    as the administrator, in NAMESPACE; kubectl_cluster ARG... in none
#   drey COMMAND [ARG...]     in the Pod of the JobManager; status, phase_is, continuity of tests/e2e/lib.sh
#                             use it
#   rest PATH [JQ]            Flink's REST API
#   jvm COMPONENT             the pid of its JVM in the Pod; kill_jvm COMPONENT: SIGKILL
#   pod COMPONENT             the name of the one Pod, jobmanager or taskmanager
#   denied                    the requests of the application's accounts that the API server has denied
#   runs                      for await: the job runs, and this launch has completed a checkpoint
#   continued                 for check: the last launch has restored exactly the last snapshot of the previous job: nothing was
#                             counted after that
#   restored_from PATH        for check: drey has decided for PATH, Flink has restored it, and the job has read its contents
#   newest_on_s3              the newest retained checkpoint in the bucket, of the job that drey knows
#   bind_volume CLAIM DIR MODE     the volume that a class of the cluster would make for this claim: DIR, below VOLUME
#   pods_gone COMPONENT       for await: there is none, not even one that is terminating
#   e2e_end                   as in every end-to-end test; deletes the namespace

# shellcheck source=tests/servers/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../servers/lib.sh"

ADDRESS=10.99.0.1 # as in node.sh
APPLICATION=orders
CHART=$TOP/chart/flink-application
WAIT_S=${NODE_WAIT_S:-300}
JOB_LINE='class: drey.ContinuityJob, args: [--log, /events/log, --control, /events]'

node_begin() { # NAME
	local line
	if [ -z "${DREY_NODE:-}" ] || [ ! -e "$DREY_NODE/ready" ]; then
		echo "1..0 # SKIP there is no node: tests/run.sh cluster starts one"
		exit 0
	fi
	RUN=$(mktemp -d "${TMPDIR:-/tmp}/drey-$1.XXXXXX") || die 1 "cannot make a run directory in ${TMPDIR:-/tmp}"
	mkdir -p "$RUN/log"
	trap node_run_end EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP
	ADMIN=$DREY_NODE/control/pki/admin.conf
	NAMESPACE=$1-$$
	VOLUME=$DREY_NODE/volumes/$NAMESPACE
	EVENTS=$VOLUME/log
	CONTROL=$VOLUME
	mkdir -p "$VOLUME"
	chmod 777 "$VOLUME"
	: >"$EVENTS"
	chmod 666 "$EVENTS"
	kubectl_cluster apply --server-side --force-conflicts --filename "$TOP/chart/drey-crds/templates" >/dev/null || die 1 "no definition"
	node_namespace || die 1 "no namespace"
	node_bucket
	echo "# $1 in $RUN, namespace $NAMESPACE"
}

node_namespace() {
	kubectl_cluster create namespace "$NAMESPACE" >/dev/null &&
		kubectl_cluster label namespace "$NAMESPACE" pod-security.kubernetes.io/{enforce,warn,audit}=restricted >/dev/null &&
		kubectl apply --filename - >/dev/null <<-YAML
			apiVersion: v1
			kind: PersistentVolume
			metadata: {name: $NAMESPACE, labels: {drey-test: $NAMESPACE}}
			spec:
			  capacity: {storage: 1Gi}
			  accessModes: [ReadWriteMany]
			  persistentVolumeReclaimPolicy: Retain
			  storageClassName: ""
			  claimRef: {name: events, namespace: $NAMESPACE}
			  hostPath: {path: "$VOLUME"}
			---
			apiVersion: v1
			kind: PersistentVolumeClaim
			metadata: {name: events}
			spec: {accessModes: [ReadWriteMany], storageClassName: "", volumeName: $NAMESPACE, resources: {requests: {storage: 1Gi}}}
		YAML
}

bind_volume() { # CLAIM DIR MODE
	kubectl_cluster apply --filename - >/dev/null <<-YAML
		apiVersion: v1
		kind: PersistentVolume
		metadata: {name: $NAMESPACE-$1, labels: {drey-test: $NAMESPACE}}
		spec:
		  capacity: {storage: 10Gi}
		  accessModes: [$3]
		  persistentVolumeReclaimPolicy: Retain
		  storageClassName: ""
		  claimRef: {name: $1, namespace: $NAMESPACE}
		  hostPath: {path: "$2"}
	YAML
}

# The server is a process of the test; Pods reach it at the address of the node.
node_bucket() {
	SERVER_ADDRESS=$ADDRESS
	SERVER_PORT[$RUN/gw]=$((7000 + $$ % 2000)) # this network has no other users than the tests
	while server_answers "http://$ADDRESS:${SERVER_PORT[$RUN/gw]}/"; do
		SERVER_PORT[$RUN/gw]=$((SERVER_PORT[$RUN/gw] + 1))
	done
	S3_REGION=us-east-1
	server_up versitygw "$RUN/gw"
	BUCKETS=$RUN/gw/buckets
	mkdir -p "$BUCKETS/flink"
	node_keys
}

node_keys() {
	kubectl create secret generic orders-s3 --from-literal=access-key="$S3_ACCESS_KEY" \
		--from-literal=secret-key="$S3_SECRET_KEY" --dry-run=client --output yaml | kubectl apply --filename - >/dev/null
}

# The clean-up of the cluster must not wait for anything: no last savepoint is taken here.
node_run_end() {
	local status=$?
	ui_is_main || return "$status"
	if [ "$status" -ne 0 ]; then
		node_show >"$RUN/log/cluster.log" 2>&1
		SHOW_LINES=${SHOW_LINES:-60}
	fi
	if [ -n "$NAMESPACE" ] && [ -z "${KEEP_RUN:-}" ]; then
		kubectl delete deployments,jobs,cronjobs,pods --all --grace-period=0 --force >/dev/null 2>&1
		kubectl_cluster delete namespace "$NAMESPACE" --wait=false >/dev/null 2>&1
		kubectl_cluster delete persistentvolume --selector "drey-test=$NAMESPACE" --wait=false >/dev/null 2>&1
		[ "$status" -ne 0 ] || rm -rf "$VOLUME"
	fi
	(exit "$status")
	run_end
}

node_show() {
	local name
	helm list --all
	kubectl get pods,deployments,jobs --output wide
	kubectl get events --sort-by=.metadata.creationTimestamp | tail -n 40
	kubectl get flinkapplications --output yaml
	for name in $(kubectl get pods --output name); do
		kubectl logs "$name" --all-containers --timestamps >"$RUN/log/${name##*/}.log" 2>&1
		kubectl logs "$name" --all-containers --previous >"$RUN/log/${name##*/}.previous.log" 2>/dev/null ||
			rm -f "$RUN/log/${name##*/}.previous.log"
	done
}

# ---- tools -------------------------------------------------------------------------------------------

kubectl_cluster() {
	"$KUBE_HOME/bin/kubectl" --kubeconfig "$ADMIN" "$@"
}

kubectl() {
	kubectl_cluster --namespace "$NAMESPACE" "$@"
}

helm() {
	HELM_CACHE_HOME=$RUN/helm HELM_CONFIG_HOME=$RUN/helm HELM_DATA_HOME=$RUN/helm \
		"$HELM_HOME/bin/helm" --kubeconfig "$ADMIN" --namespace "$NAMESPACE" "$@"
}

drey() { # COMMAND [ARG...]
	kubectl exec "deployment/$APPLICATION-jobmanager" --container jobmanager -- drey "$@"
}

in_pod() { # COMPONENT CMD...
	local name
	name=$(pod "$1") && shift && kubectl exec "$name" -- "$@"
}

# Flink's images have no pgrep.
jvm() { # COMPONENT
	# shellcheck disable=SC2016 # expanded in the Pod
	in_pod "$1" bash -c 'for process in /proc/[0-9]*; do
		[[ $(readlink "$process/exe") != */java ]] || echo "${process#/proc/}"
	done'
}

kill_jvm() { # COMPONENT
	in_pod "$1" bash -c "kill -KILL $(jvm "$1")"
}

pod() { # COMPONENT
	kubectl get pods --selector "app.kubernetes.io/component=$1" --output json |
		jq --raw-output --exit-status '[.items[] | select(.metadata.deletionTimestamp == null and .status.phase != "Failed")] |
			if length == 1 then .[0].metadata.name else empty end'
}

pods_gone() { # COMPONENT
	[ -z "$(kubectl get pods --selector "app.kubernetes.io/component=$1" --output name)" ]
}

rest() { # PATH [JQ_FILTER]
	local address answer
	address=$(kubectl get pod "$(pod jobmanager)" --output 'jsonpath={.status.podIP}') && [ -n "$address" ] &&
		answer=$(curl --silent --show-error --fail --max-time 10 "http://$address:8081/${1#/}") || return
	if [ $# -gt 1 ]; then
		jq --raw-output --exit-status "$2" <<<"$answer"
	else
		printf '%s\n' "$answer"
	fi
}

denied() {
	jq --raw-output --arg namespace "$NAMESPACE" 'select(.responseStatus.code == 401 or .responseStatus.code == 403) |
		select(.user.username // "" | startswith("system:serviceaccount:\($namespace):")) |
		"\(.user.username | split(":")[3]) \(.verb) \(.requestURI) \(.responseStatus.code)"' "$DREY_NODE/control/log/audit.log" | sort -u
}

# ---- the application ----------------------------------------------------------------------------------

# Small JVMs and short waits.
# shellcheck disable=SC2120 # most tests take them as they are
values() { # [LINE...]
	{
		cat <<-YAML
			image: {repository: localhost/orders, tag: "1", pullPolicy: Never}
			job: {$JOB_LINE}
			state: {uri: "s3://flink/orders"}
			s3: {endpoint: "$S3_ENDPOINT", region: $S3_REGION, pathStyle: true, secret: {name: orders-s3}}
			flink:
			  javaOptions: -XX:+UseSerialGC -XX:TieredStopAtLevel=1
			  configuration:
			    execution.checkpointing.interval: 2 s
			    execution.checkpointing.num-retained: 3
			    restart-strategy.type: fixed-delay
			    restart-strategy.fixed-delay.attempts: 2147483647
			    restart-strategy.fixed-delay.delay: 1 s
			    taskmanager.memory.managed.size: 16m
			    taskmanager.memory.network.max: 32m
			    taskmanager.memory.network.min: 32m
			    taskmanager.memory.framework.off-heap.size: 64m
			    s3.directory.marker.retention: keep
			    ${MORE_CONFIGURATION:-}
			jobManager:
			  memoryMiB: 900
			  cpu: 10m
			  terminationGracePeriodSeconds: 120
			  extraVolumes: [{name: events, persistentVolumeClaim: {claimName: events}}]
			  extraVolumeMounts: [{name: events, mountPath: /events}]
			taskManager:
			  memoryMiB: 900
			  cpu: 10m
			  extraVolumes: [{name: events, persistentVolumeClaim: {claimName: events}}]
			  extraVolumeMounts: [{name: events, mountPath: /events}]
			drey:
			  poll: {slow: 1s}
			  control: {poll: 2s}
			  holding: {retryFirst: 1s, retryMax: 5s}
			  ${MORE_DREY:-}
		YAML
		printf '%s\n' "$@"
	} >"$RUN/values.yaml"
}

install() { # [OPTION...]
	helm install "$APPLICATION" "$CHART" --values "$RUN/values.yaml" --wait --timeout "${WAIT_S}s" "$@"
}

upgrade() { # [OPTION...]
	helm upgrade "$APPLICATION" "$CHART" --values "$RUN/values.yaml" --wait --timeout "${WAIT_S}s" "$@"
}

newest_on_s3() {
	(cd "$BUCKETS" && find flink/orders/checkpoints -path "*/$(status .jobId)/chk-*/_metadata" -printf 's3://%h\n') | sort -V | tail -n 1
}

deployment_is() { # COMPONENT CONDITION STATUS
	[ "$(kubectl get deployment "$APPLICATION-$1" --output "jsonpath={.status.conditions[?(@.type==\"$2\")].status}")" = "$3" ]
}

resource_condition() { # TYPE JQ
	kubectl get flinkapplication "$APPLICATION" --output json |
		jq --raw-output --exit-status ".status.conditions[] | select(.type == \"$1\") | $2"
}

runs() {
	status_is '.phase == "Running" and .launch.proven'
}

# After a stop with savepoint. RESTORED lines of the last job (attempt 0), and the SNAPSHOT before it.
continued() {
	local job
	job=$(status .jobId)
	awk -v job="job=$job" '
		$1 == "SNAPSHOT" && $5 != job { id = $2; count = $3 }
		$1 == "RESTORED" && $5 == job && !seen { seen = 1; got = $2; sum = $3; want = id; least = count }
		END {
			if (!seen) print "it has restored nothing"
			else if (got != want || sum != least) print "restored " got " with " sum ", the last snapshot was " want " with " least
			exit !(seen && got == want && sum == least)
		}' "$EVENTS"
}

# As restore_matches of tests/e2e/lib.sh, but a job may have continued under its id any number of times. One subtask.
restored_from() { # PATH
	local maker=$1 id decided flink
	case $1 in
	*/savepoint-*) maker=${maker##*/savepoint-} maker=${maker%%-*} ;;
	*) maker=${maker%/chk-*} maker=${maker##*/} ;;
	esac
	id=$(status .launch.restorePoint.checkpointId)
	decided=$(status .launch.restorePoint.path)
	[ "$decided" = "$1" ] || { echo "drey decided for $decided" && return 1; }
	status_is .launch.restoreVerified || { echo "drey has not verified what Flink restored" && return 1; }
	flink=$(checkpoints .latest.restored.external_path)
	[ "$(plain_path "$flink")" = "$(plain_path "$1")" ] || { echo "Flink restored $flink" && return 1; }
	[ "$(last_event RESTORED checkpoint | head -n 1)" = "$id" ] || { echo "the job has not restored $id" && return 1; }
	[ "$(last_event RESTORED count | head -n 1)" = "$(snapshot_count "$maker" "$id")" ] ||
		{ echo "the job restored $(last_event RESTORED count), the snapshot had $(snapshot_count "$maker" "$id")" && return 1; }
}
