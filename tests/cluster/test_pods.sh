#!/usr/bin/env bash
#
# Pods as a platform team asks for them: a ResourceQuota that counts limits, a job that an init container fetches by HTTP and
# checks, a sidecar, labels for the injection of another; then TaskManagers as StatefulSets with volumes. Their state
# is read from the volume after the death of a container, and of a Pod: Flink's own log says so, and how often; the log of the bucket's
# server shows which files of state were read there.

# shellcheck disable=SC2317 # functions that check and await call
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/cluster/lib.sh
. "$TOP/tests/cluster/lib.sh"
# the state of each key is more than is kept in _metadata
JOB_LINE='class: drey.ContinuityJob, args: [--log, /events/log, --control, /events, --grow, "200"]'
node_begin pods

in_pod() { # COMPONENT CMD...
	local name component=$1
	name=$(pod "$component") && shift && kubectl exec "$name" --container "$component" -- "$@"
}

# ---- what is asked for -----------------------------------------------------------------------------

kubectl apply --filename - >/dev/null <<-YAML
	apiVersion: v1
	kind: ResourceQuota
	metadata: {name: team}
	spec: {hard: {limits.cpu: "8", limits.memory: 12Gi, requests.cpu: "8", requests.memory: 12Gi}}
YAML

# The jar is on a server, and not the one in the image.
FILES=$RUN/files
mkdir -p "$FILES"
"$TOP/tests/job/build.sh" "$("$TOP/tools/get-flink.sh" 2.3.0)" "$FILES/job.jar" ContinuityJob || die 1 "no jar"
FILES_PORT=$((9000 + $$ % 2000))
(cd "$FILES" && exec python3 -m http.server --bind "$ADDRESS" "$FILES_PORT") >"$RUN/log/files.log" 2>&1 &
DIGEST=$(sha256sum "$FILES/job.jar" | cut -d' ' -f1)

# shellcheck disable=SC2016 # expanded in the Pod
FETCH='exec 3<>"/dev/tcp/$HOST/$PORT"
printf "GET /job.jar HTTP/1.0\r\n\r\n" >&3
sed "1,/^\r$/d" <&3 >/usrlib/job.jar
echo "$DIGEST  /usrlib/job.jar" | sha256sum --check'

template() { # CONTAINER [SIDECAR]: for the Pods of CONTAINER
	cat <<-YAML
		  podTemplate:
		    spec:
		      volumes: [{name: usrlib, emptyDir: {}}]
		      initContainers:
		      - name: fetch
		        image: localhost/orders:1
		        imagePullPolicy: Never
		        command: [bash, -ec, $(jq --raw-input --slurp . <<<"$FETCH")]
		        env: [{name: HOST, value: $ADDRESS}, {name: PORT, value: "$FILES_PORT"}, {name: DIGEST, value: $DIGEST}]
		        resources: {requests: {cpu: 10m, memory: 32Mi}, limits: {cpu: 500m, memory: 64Mi}}
		        securityContext: {allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: {drop: [ALL]}}
		        volumeMounts: [{name: usrlib, mountPath: /usrlib}]
		      ${2:-}
		      containers:
		      - {name: $1, volumeMounts: [{name: usrlib, mountPath: /opt/flink/usrlib, readOnly: true}]}
	YAML
}

SIDECAR='- {name: beat, image: localhost/orders:1, imagePullPolicy: Never, restartPolicy: Always, command: [drey-init, --, bash, -c, "while sleep 1; do date >/beat/at; done"], volumeMounts: [{name: beat, mountPath: /beat}], resources: {limits: {cpu: 100m, memory: 32Mi}}, securityContext: {allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: {drop: [ALL]}}}'

more_values() {
	cat <<-YAML
		commonLabels: {team: payments}
		jobManager:
		  cpuLimit: "2"
		  podLabels: {sidecar.istio.io/inject: "true"}
		$(template jobmanager)
		taskManager:
		  cpuLimit: "2"
		  podLabels: {sidecar.istio.io/inject: "true"}
		$(template taskmanager "$SIDECAR" | sed 's/volumes: \[/&{name: beat, emptyDir: {}}, /')
		jobs:
		  podLabels: {sidecar.istio.io/inject: "false"}
		  resources: {limits: {cpu: 500m}}
		$(template check)
		upgradeCheck: {resources: {limits: {cpu: "1"}}}
	YAML
}

injection() { # COMPONENT: of its Pods
	kubectl get pods --selector "app.kubernetes.io/component=$1" --output json |
		jq --raw-output '[.items[].metadata.labels | "\(.["sidecar.istio.io/inject"]) \(.team)"] | unique | join(",")'
}

container() { # COMPONENT NAME JQ: of its status
	kubectl get pod "$(pod "$1")" --output json |
		jq --raw-output --arg name "$2" "[.status.containerStatuses[], .status.initContainerStatuses[]?] | .[] | select(.name == \$name) | $3"
}

values
more_values >"$RUN/more.yaml"
check "helm install waits until the job runs" install --values "$RUN/more.yaml"
await "the launch is proven" runs
is "$(injection jobmanager) $(injection taskmanager)" "true payments true payments" "the Pods have their labels"
is "$(container jobmanager fetch .state.terminated.reason) $(container taskmanager fetch .state.terminated.reason)" "Completed Completed" "the jar was fetched"
is "$(in_pod jobmanager sha256sum /opt/flink/usrlib/job.jar | cut -d' ' -f1)" "$DIGEST" "and is the one that runs"
is "$(in_pod taskmanager cat /proc/1/comm)" drey-init "beside a sidecar drey-init is process 1"
is "$(container taskmanager beat .started)" true "and the sidecar runs"

# Without its limits a Job would have no Pod at all.
kubectl create job --from=cronjob/orders-savepoint by-hand >/dev/null
check "a savepoint by a Job" kubectl wait --for=condition=Complete job/by-hand --timeout="${WAIT_S}s"
is "$(injection savepoint)" "false payments" "whose Pod gets no sidecar"
check "helm test" helm test "$APPLICATION"
is "$(kubectl get events --output json | jq --raw-output '[.items[] | select(.reason == "FailedCreate") | .message] | join("; ")')" "" "no Pod was refused"

upgrade_with_digest() { # DIGEST
	sed "s/$DIGEST/$1/" "$RUN/more.yaml" >"$RUN/wrong.yaml"
	helm upgrade "$APPLICATION" "$CHART" --values "$RUN/values.yaml" --values "$RUN/wrong.yaml" --timeout 120s
}

job=$(status .jobId)
check "a jar with another digest is refused before the upgrade" not upgrade_with_digest "${DIGEST//[0-9]/0}"
is "$(status .jobId)" "$job" "and the job runs"

# ---- pools -----------------------------------------------------------------------------------------

slots() { # of each TaskManager
	rest taskmanagers '[.taskmanagers[].slotsNumber] | sort | join(" ")'
}

slots_are() { # WANTED
	[ "$(slots)" = "$1" ]
}

restored=$(event_count RESTORED)
jq --null-input '{taskManager: {pools: [{name: "small", replicas: 1, slots: 2, memoryMiB: 850}]}}' >"$RUN/pools.json"
check "one more pool" upgrade --values "$RUN/more.yaml" --values "$RUN/pools.json"
await "Flink has its slots" slots_are "1 2"
is "$(kubectl get pod --selector drey.dev/pool=small --output json | jq --raw-output '[.items[] | .spec.containers[0].resources.limits.memory, (.status.initContainerStatuses[] | select(.name == "beat") | .started)] | map(tostring) | join(" ")')" \
	"850Mi true" "in Pods of its own size, with what is asked of all TaskManagers"
is "$(status .jobId) $(event_count RESTORED)" "$job $restored" "the job has run on"

# ---- TaskManagers with volumes ---------------------------------------------------------------------

# What a class of the cluster would make.
LOCAL=$VOLUME/local
mkdir -p "$LOCAL"
chmod 777 "$LOCAL"
bind_volume local-orders-taskmanager-0-0 "$LOCAL" ReadWriteOnce
{
	cat "$CHART/files/log4j-console.properties"
	printf 'logger.%s.name = org.apache.flink.%s\nlogger.%s.level = DEBUG\n' \
		store runtime.state.TaskLocalStateStoreImpl store restore streaming.api.operators.BackendRestorerProcedure restore
} >"$RUN/log4j.properties"
ON_SETS=(--set 'taskManager.kind=StatefulSet,taskManager.localRecovery.enabled=true,taskManager.localRecovery.size=1Gi' --set-file "flink.log4j=$RUN/log4j.properties")

# Files of the job's state on the volume.
local_files() {
	find "$LOCAL" -path "*/tm_*/localState/*/jid_$(status .jobId)/*" -type f
}

has_local_files() {
	[ -n "$(local_files)" ]
}

# How often keyed state was read from the first of two places, the volume, and from the second, the bucket.
restored_locally() {
	local log
	log=$(kubectl logs "$(pod taskmanager)" --container taskmanager | grep -i 'Creating keyed state backend')
	echo "$(grep --count 'alternative (1/2)' <<<"$log") $(grep --count 'alternative (2/2)' <<<"$log") $(grep --count 'alternative (1/1)' <<<"$log")"
}

# Which files are in the bucket, and how large: a checkpoint is deleted soon.
SIZES=$RUN/sizes
keep_sizes() {
	while sleep 0.3; do
		find "$BUCKETS/flink" -type f -printf '%P %s\n' 2>/dev/null
	done >"$SIZES"
}

# The bytes of the files of state that were read from the bucket since `note`.
read_from_bucket() {
	tail -n "+$((served + 1))" "$RUN/gw/access.log" | awk '/ s3_GetObject / { print $9 }' | sort -u | grep -E '/(chk-|shared/|savepoint-)' |
		grep -v '/_metadata$' | awk 'NR == FNR { size[$1] = $2; next } !($1 in size) { unknown++ } { bytes += size[$1] }
			END { print unknown ? "not known" : bytes + 0 }' "$SIZES" -
}

note() {
	served=$(wc -l <"$RUN/gw/access.log")
	restored=$(event_count RESTORED)
	completed=$(event_count COMPLETED)
}

restored_again() {
	has_events RESTORED $((restored + 1)) && has_events COMPLETED $((completed + 2))
}

keep_sizes 2>/dev/null &
keeper=$!
before=$(status .jobId)
note
check "the TaskManagers become StatefulSets" upgrade --values "$RUN/more.yaml" "${ON_SETS[@]}"
await "another job runs" runs
check "from the savepoint" continued
whole=$(read_from_bucket)
check "whose state was read from the bucket: $whole bytes" test "$whole" -gt 100000
is "$(pod taskmanager) $(kubectl get deployments --output name | grep --count taskmanager)" "orders-taskmanager-0-0 0" "in a Pod with a name that stays"
check "it is another launch" test "$(status .jobId)" != "$before"
await "its state is on the volume, too" has_local_files
is "$(kubectl get persistentvolumeclaim local-orders-taskmanager-0-0 --output 'jsonpath={.status.phase}')" Bound "which is that of the claim"

id=$(rest taskmanagers '.taskmanagers[0].id')
note
kill_jvm taskmanager
await "its container has died: the job reads its state again" restored_again
is "$(container taskmanager taskmanager .restartCount)" 1 "in a container that was started again"
is "$(rest taskmanagers '[.taskmanagers[].id] | join(" ")')" "$id" "it is the same TaskManager to Flink"
is "$(restored_locally)" "1 0 0" "keyed state was read from the volume, and not from the bucket"
some=$(read_from_bucket) # operator state is there only
check "the bucket was asked for the rest: $some bytes" test "$some" -lt $((whole / 10))
check "nothing is lost" continuity

note
files=$(local_files | wc -l)
kubectl delete pod orders-taskmanager-0-0 --timeout=120s >/dev/null
await "its Pod was deleted: the job reads its state again" restored_again
is "$(rest taskmanagers '[.taskmanagers[].id] | join(" ")')" "$id" "in a Pod of the same name"
is "$(restored_locally)" "1 0 0" "from the volume, which has outlived the Pod"
some=$(read_from_bucket)
check "and from the bucket the rest: $some bytes" test "$some" -lt $((whole / 10))
kill "$keeper"
check "nothing is lost" continuity
diag "$files files of local state, $(du --summarize --bytes "$LOCAL" | cut -f1) bytes on the volume"

# Local state belongs to a job; the next version has another one, and the volume must not fill.
check "another version" upgrade --values "$RUN/more.yaml" "${ON_SETS[@]}" --set-string image.tag=2
await "another job runs" runs
check "from the savepoint" continued
await "its state is on the volume, too" has_local_files
is "$(find "$LOCAL" -maxdepth 1 -name 'tm_*' | wc -l)" 1 "and nothing of the version before"
is "$(denied)" "" "nothing was asked for that the Roles do not allow"
check "the job has lost nothing" continuity

# A smaller state is a smaller volume, which Kubernetes would refuse in the middle of the upgrade.
helm upgrade "$APPLICATION" "$CHART" --values "$RUN/values.yaml" --values "$RUN/more.yaml" "${ON_SETS[@]}" --set taskManager.localRecovery.size=2Gi \
	>"$RUN/said" 2>&1
check "another size of the volumes is refused before anything changes" grep --quiet 'taskManager.localRecovery: the volumes of a StatefulSet cannot be changed' "$RUN/said"
e2e_end
