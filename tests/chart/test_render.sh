#!/usr/bin/env bash
#
# What the chart renders: a real API server accepts every example and variant without a warning, in a namespace that
# enforces Pod Security "restricted", and drey accepts its configuration; what changes with a value and what does not.
#
# runs in: ci

# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/api/lib.sh
. "$TOP/tests/api/lib.sh"
# shellcheck source=tests/chart/lib.sh
. "$TOP/tests/chart/lib.sh"
chart_begin chart-render

# The Pods of everything that makes Pods, without their accounts and priorities, which a dry run has not made.
pods() { # NAME
	jq '{apiVersion: "v1", kind: "List", items: [
		.items[] | .kind as $kind | .metadata.name as $name | (.spec.volumeClaimTemplates? // []) as $claims |
		(if $kind == "CronJob" then .spec.jobTemplate.spec.template else .spec.template? end) | select(. != null and .spec != null) |
		{apiVersion: "v1", kind: "Pod", metadata: {name: "\($kind | ascii_downcase)-\($name)"}, spec: (.spec | del(.serviceAccountName, .serviceAccount, .priorityClassName, .priority, .runtimeClassName) |
			.volumes += [$claims[] | {name: .metadata.name, emptyDir: {}}])}
	]}' "$RUN/$1.json"
}

pods_are_restricted() { # NAME
	pods "$1" >"$RUN/$1.pods.json"
	kubectl_team create --dry-run=server --output name --filename "$RUN/$1.pods.json" >"$RUN/$1.pods" 2>&1 && return
	sed 's/^/# /' "$RUN/$1.pods"
	return 1
}

# 0164279761790e18 would be a number. Where a template of the Pod is merged, Helm writes it anew, and quotes what needs it.
checksums_are_strings() { # NAME
	grep --quiet --extended-regexp 'checksum/[a-z]+: "' "$RUN/$1.yaml" && ! grep --extended-regexp 'checksum/[a-z]+: [^"]' "$RUN/$1.yaml"
}

# ---- every example and variant ---------------------------------------------------------------------

for name in $(all_values); do
	mapfile -t options < <(values "$name")
	check "$name: the API server takes it, without a warning" render "$name" "${options[@]}"
	check "$name: nothing outside of the namespace" test "$(jq "[.items[] | select(.metadata.namespace != \"$TEAM\")] | length" "$RUN/$name.json")" = 0
	check "$name: every Pod is allowed by the standard restricted" pods_are_restricted "$name"
	check "$name: drey takes drey.yaml and Flink's configuration" drey_takes "$name"
done
pod_ip_is_missing() {
	env KUBECONFIG="$POD_KUBECONFIG" POD_NAMESPACE="$TEAM" "$BUILD/drey" check --config "$RUN/s3.conf/drey.yaml" 2>&1 | grep 'POD_IP is not in the environment'
}
check "and says so where the address of the Pod is not known" pod_ip_is_missing
check "a checksum is a string, whatever it looks like" checksums_are_strings s3
check "ten lines are enough" test "$(grep --count --invert-match '^#' "$EXAMPLES/s3.yaml")" -le 12
check "README.md of the chart says what values.yaml says" "$TOP/tools/chart-readme.sh" --check
is "$(jq '.items | length' "$RUN/full.pods.json")" 6 "a Pod was made of each: JobManager, TaskManager, CronJob, check, uninstall, test"

# What the chart says to Flink about deaths, in one line.
recovery_of() {
	key_values | grep -E '^(heartbeat|restart-strategy|taskmanager.slot.timeout)' | sort | tr '\n' ' ' | sed 's/ $//'
}

key_values() {
	sed -n 's/^\([a-z][^:]*\): "\?\([^"]*\)"\?$/\1=\2/p'
}

recovery() { # NAME
	configuration "$1" flink config.yaml | recovery_of
}

recovery_with() { # KEY=VALUE
	render with "${s3[@]}" --set-string "flink.configuration.$1" && recovery with
}

# ---- what makes the variants -----------------------------------------------------------------------

mapfile -t s3 < <(values s3)
is "$(object s3-plain Role/orders '.rules[] | select(.resourceNames // [] | length > 1) | "\(.resourceNames | length) \(.verbs | join(" "))"')" "201 get" \
	"without high availability the maps of a generation before can be read, and no more"
is "$(object s3-plain Deployment/orders-taskmanager .spec.template.spec.automountServiceAccountToken)" false "and a TaskManager has no token"
is "$(object full-job ConfigMap/orders-drey '.data["drey.yaml"]' | grep -E 'owner|whenFinished' | tr -d '\n ')" \
	"owner:job/orders-jobmanagerwhenFinished:exit" "in a Job drey is told what it belongs to, and to end with the job"
is "$(recovery s3)" "heartbeat.interval=3 s restart-strategy.exponential-delay.initial-backoff=100 ms restart-strategy.type=exponential-delay" \
	"the death of a TaskManager is noticed soon, and the job is started again at once"
is "$(recovery s3-plain)" "heartbeat.timeout=5 s restart-strategy.exponential-delay.initial-backoff=100 ms restart-strategy.type=exponential-delay taskmanager.slot.timeout=2 s" \
	"without high availability heartbeats are drey's, and slots are freed soon"
is "$(recovery_with 'restart-strategy\.type=failure-rate,flink.configuration.heartbeat\.interval=10 s')" "heartbeat.interval=10 s restart-strategy.type=failure-rate" \
	"a restart strategy of the user is the only one"
is "$(recovery_with 'execution\.checkpointing\.interval=0')" "heartbeat.interval=3 s" "without checkpoints there is none: the job would start empty"
is "$(object s3-plain Deployment/orders-taskmanager '.spec.template.spec.containers[0] | .args[-1], (.env[] | select(.name == "POD_NAME") | .valueFrom.fieldRef.fieldPath)' | tr '\n' ' ')" \
	'taskmanager.resource-id=$(POD_NAME) metadata.name ' "a TaskManager keeps its id when its container is restarted, and no other has it"
is "$(object s3-plain ConfigMap/orders-drey '.data["drey.yaml"]' | grep owner)" "  owner: deployment/orders-jobmanager" \
	"else, too: the Pods of the CronJob have nothing else to know it by"
is "$(grep -c '^  replicas:' "$RUN/reactive.yaml") $(object reactive HorizontalPodAutoscaler/orders-taskmanager '.spec.scaleTargetRef | "\(.kind)/\(.name)"')" \
	"1 Deployment/orders-taskmanager" "in reactive mode the number of TaskManagers is left to the autoscaler: only the JobManager has one"
is "$(object s3 Job/orders-check '.spec.template.spec.containers[0].args[]' | grep task-managers) $(object reactive Job/orders-check '.spec.template.spec.containers[0].args')" \
	"--task-managers=2 null" "the check knows how many TaskManagers there will be, if the chart does"
is "$(object bounded-waits Job/orders-jobmanager .spec.suspend)" true "a Job that is to wait is suspended"
is "$(jq -r '[.items[].kind] | map(select(. == "Role" or . == "RoleBinding")) | length' "$RUN/s3-bare.json")" 0 "without rbac there is no Role"
is "$(object s3-port Service/orders-jobmanager '[.spec.ports[] | "\(.name)=\(.port)"] | join(" ")')" "rpc=6123 blob=6124 drey=9000" \
	"another port of drey, and none of Flink's metrics, are those of the Service"
is "$(object s3-wanted ConfigMap/orders-drey-control '.data | del(.[".chart"]) | to_entries | map("\(.key)=\(.value)") | join(" ")')" \
	'abort=q1 do-not-restart=true parallelism={"all":4,"vertices":{"sink":2}} promote=p1 2026-11-26T12:00:00Z restart-nonce=b1 restore={"generation":"'"$(object s3-wanted Deployment/orders-jobmanager '.spec.template.metadata.annotations["drey.dev/generation"]')"'","kind":"path","path":"s3://flink/orders/savepoints/savepoint-1","token":"t1"} savepoint-nonce=a1 state=suspended' \
	"what is wanted by values are keys of the control ConfigMap"
is "$(object s3 ConfigMap/orders-drey-control '.data | keys | join(" ")')" .chart "and else it is left to others"
is "$(grep -c '^  replicas:' "$RUN/s3-unscaled.yaml")" 0 "replicas that are null are left to whoever scales"
is "$(object pvc-existing Deployment/orders-taskmanager '.spec.template.spec.volumes[] | select(.name == "state") | .persistentVolumeClaim.claimName')" \
	shared-state "a volume that is there already is used"
is "$(jq -r '[.items[] | select(.kind == "PersistentVolumeClaim")] | length' "$RUN/pvc-existing.json")" 0 "and none is made"
is "$(object full-placed ConfigMap/more .data.release) $(object full-placed ConfigMap/orders-text .metadata.name)" "orders orders-text" \
	"more objects are templates, as maps and as text"
is "$(object full-placed Deployment/payments-jobmanager '[.spec.template.spec | .containers[0].image, .priorityClassName, .nodeSelector["kubernetes.io/arch"], .tolerations[0].key, .serviceAccountName] | join(" ")')" \
	"registry.example/orders@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef high amd64 dedicated flink" \
	"what is said of Pods is handed on, and a digest goes before a tag"

# ---- what is asked of every object and every Pod ---------------------------------------------------

# What of it has not all of MAP: of objects, or of Pods.
without() { # NAME objects|pods labels|annotations MAP
	jq --raw-output --arg of "$2" --arg where "$3" --argjson map "$4" '.items[] | (.kind + "/" + .metadata.name) as $name |
		(if $of == "objects" then . elif .kind == "CronJob" then .spec.jobTemplate.spec.template else .spec.template? end) |
		select(. != null and .metadata != null) | select(.metadata[$where] // {} | contains($map) | not) | $name' "$RUN/$1.json"
}

for of in objects pods; do
	is "$(without full-common "$of" labels '{"cost-center": "4711"}')" "" "common labels: all $of have them"
	is "$(without full-common "$of" annotations '{"example.com/owner": "payments"}')" "" "common annotations: all $of have them"
done
is "$(without s3 objects labels '{"app.kubernetes.io/version": "1.4.0"}')" "" "each object says which version of the application it is of"
is "$(object full-placed Deployment/payments-jobmanager '.metadata.labels["app.kubernetes.io/version"]')" 1.4.0 "by its tag, also beside a digest"
is "$(object full-common PodMonitor/orders '.metadata.labels.team') $(object full-common Deployment/orders-taskmanager '.spec.template.metadata.labels.team')" \
	"monitoring payments-flink" "what is asked of one of them goes before"
is "$(without full-common pods labels '{"sidecar.istio.io/inject": "false"}' | sort | tr '\n' ' ')" "Deployment/orders-jobmanager Deployment/orders-taskmanager " \
	"no sidecar is put into the Pods of Jobs, and only there"
is "$(jq --raw-output '[.items[] | select(.metadata.annotations["helm.sh/resource-policy"] == "keep") | "\(.kind)/\(.metadata.name)"] | sort | join(" ")' "$RUN/full-common.json")" \
	"ConfigMap/orders-drey-control FlinkApplication/orders ServiceAccount/orders" "what is to outlive the release does"
# a ResourceQuota refuses a Pod in which one container has no limit of CPU
is "$(jq '.items[] | .spec | .containers[], .initContainers[]? | select(.resources.limits.cpu == null) | .name' "$RUN/full-common.pods.json")" "" "every container has a limit of CPU"
is "$(object full-common Deployment/orders-jobmanager '.spec.template.spec.containers[0].resources | tojson')" \
	'{"limits":{"cpu":"1","ephemeral-storage":"3Gi","memory":"2Gi"},"requests":{"cpu":"500m","ephemeral-storage":"1Gi","memory":"1728Mi"}}' "more resources are beside those of Flink's sizes"
is "$(jq -r '[.items[].kind] | map(select(. == "Role" or . == "RoleBinding" or . == "ServiceAccount")) | length' "$RUN/without-roles.json")" 0 \
	"where all accounts are there already, none is made, nor is a Role"
is "$(object without-roles Deployment/orders-taskmanager .spec.template.spec.serviceAccountName)" flink-worker "and each Pod has its own"
check "with rights for accounts that are there already" render theirs "${s3[@]}" --set serviceAccount.taskManager.name=worker,serviceAccount.check.name=looker
is "$(object theirs RoleBinding/orders-taskmanager '.subjects[0].name') $(object theirs RoleBinding/orders-check '.subjects[0].name')" "worker looker" "the Roles are bound to them"

is "$(jq --compact-output '[.items[] | select(.kind == "Service") | .spec.ipFamilyPolicy] | unique' "$RUN/ipv6.json")" '["PreferDualStack"]' "every Service has the addresses that are asked for"
all_services=(--values="$EXAMPLES/full.yaml" --values="$VARIANTS/full-service-monitor.yaml" --values="$VARIANTS/full-surge.yaml")
check "with all Services" render dual "${all_services[@]}" --set service.ipFamilyPolicy=PreferDualStack
is "$(jq --compact-output '[.items[] | select(.kind == "Service") | .spec.ipFamilyPolicy] | [length, unique]' "$RUN/dual.json")" '[4,["PreferDualStack"]]' \
	"each of the four has them"
# this API server has IPv4 only, and would refuse them
is "$(helm template orders "$CHART" "${all_services[@]}" --set-json 'service.ipFamilies=["IPv6"]' | grep -cx '  ipFamilies: \["IPv6"\]')" 4 "IPv6 alone: each of them, too"
listens() { # NAME
	echo "$(configuration "$1" flink config.yaml | grep -cE "^(jobmanager\.bind-host|rest\.bind-address|taskmanager\.bind-host): '::'\$")" \
		"$(configuration "$1" drey drey.yaml | grep -cx "  address: '::'")"
}
for name in ipv6 dual; do
	is "$(listens "$name")" "3 1" "$name: Flink and drey listen on both families"
done
is "$(listens s3)" "0 0" "and else not"
check "with addresses of one's own" render bound --values="$EXAMPLES/ipv6.yaml" --set 'drey.http.address=fd00::7' --set 'flink.configuration.rest\.bind-address=fd00::7'
is "$(listens bound) $(configuration bound drey drey.yaml | grep -cx '  address: fd00::7')" "2 0 1" "these count"
is "$(jq '[.items[].spec | .. | objects | .runAsUser, .runAsGroup, .fsGroup | select(. != null)] | length' "$RUN/openshift.pods.json")" 0 \
	"where the cluster chooses the user, no Pod names one"

# ---- podTemplate -----------------------------------------------------------------------------------

check "the same without a podTemplate" render s3-same "${s3[@]}" --set 'jobManager.env[0].name=TOPIC,jobManager.env[0].value=orders'

spec_of() { # NAME COMPONENT JQ
	object "$1" "Deployment/orders-$2" ".spec.template.spec | $3"
}

for component in jobmanager taskmanager; do
	is "$(spec_of s3-template $component '[.initContainers[].name, .containers[].name] | join(" ")')" "fetch logs $component" "$component: more containers, and its own is the same one"
	is "$(spec_of s3-template $component .containers[0] | sha256sum)" "$(spec_of s3-same $component .containers[0] | sha256sum)" \
		"$component: whose members are those of before"
	is "$(spec_of s3-template $component '[.volumes[] | .name] | join(" ")')" "$(spec_of s3-same $component '[.volumes[] | .name] | join(" ")') lib" "$component: one more volume"
	is "$(spec_of s3-template $component '.volumes[] | select(.name == "tmp") | .emptyDir | "\(.medium) \(.sizeLimit)"')" "Memory $(spec_of s3-same $component '.volumes[] | select(.name == "tmp") | .emptyDir.sizeLimit')" \
		"$component: a map is merged"
	is "$(spec_of s3-template $component '[.securityContext.runAsUser, .securityContext.supplementalGroups[0], .hostAliases[0].ip, .dnsConfig.options[0].name, .runtimeClassName, .schedulerName, .terminationGracePeriodSeconds] | map(tostring) | join(" ")')" \
		"9999 2000 192.0.2.1 ndots gvisor volcano 600" "$component: what the Pod had and what it gets"
done
is "$(spec_of s3-template jobmanager '[.tolerations[].key] | join(" ")')" "dedicated spot" "tolerations are appended"
is "$(spec_of s3-template taskmanager '[.topologySpreadConstraints[] | "\(.whenUnsatisfiable)=\(.labelSelector.matchLabels | keys | map(ltrimstr("app.kubernetes.io/")) | join(","))"] | join(" ")')" "ScheduleAnyway=instance,name DoNotSchedule=name" \
	"the constraint of the same two keys is merged"
is "$(object s3-template Job/orders-check '.spec.template.spec | [.hostAliases[0].ip, (.containers[0].env[] | select(.name == "HTTPS_PROXY") | .value)] | join(" ")') $(object s3-template CronJob/orders-savepoint '.spec.jobTemplate.spec.template.spec.containers | "\(length) \(.[0].terminationMessagePolicy)"')" \
	"192.0.2.1 http://proxy.example:3128 1 File" "what is said of a container counts in the Pod of its Job"
check "null removes, a variable is replaced, ports and mounts are added" render removed "${s3[@]}" --values <(cat <<-'YAML'
	jobManager:
	  env: [{name: TOPIC, value: orders}]
	  podTemplate:
	    spec:
	      securityContext: {runAsUser: null, fsGroup: null}
	      containers:
	      - name: jobmanager
	        env: [{name: TOPIC, valueFrom: {configMapKeyRef: {name: topics, key: a}}}]
	        envFrom: [{configMapRef: {name: more}}]
	        ports: [{containerPort: 5005, name: debug}, {containerPort: 5005, protocol: UDP, name: more}]
	        volumeMounts: [{name: tmp, mountPath: /scratch, subPath: scratch}]
	        securityContext: {readOnlyRootFilesystem: false}
YAML
)
is "$(spec_of removed jobmanager '[.securityContext.runAsUser, .securityContext.fsGroup, .securityContext.runAsNonRoot, .containers[0].securityContext.readOnlyRootFilesystem, .containers[0].securityContext.allowPrivilegeEscalation] | map(tostring) | join(" ")')" \
	"null null true false false" "users and groups are gone, the rest is not"
is "$(spec_of removed jobmanager '.containers[0] | [.env[] | select(.name == "TOPIC") | .value // .valueFrom.configMapKeyRef.name] + [.envFrom[0].configMapRef.name, .ports[-2].name, .ports[-1].protocol, .volumeMounts[-1].mountPath] | join(" ")')" \
	"topics more debug UDP /scratch" "and the other things are there"

# ---- pools and StatefulSets of TaskManagers --------------------------------------------------------

# What makes TaskManagers, a line each.
makers() { # NAME JQ
	jq --raw-output ".items[] | select(.spec.template.metadata.labels[\"app.kubernetes.io/component\"]? == \"taskmanager\") | \"\(.kind)/\(.metadata.name) \" + ($2)" "$RUN/$1.json" | sort
}

is "$(makers s3-pools '[.spec.replicas, .spec.selector.matchLabels["drey.dev/pool"], .spec.template.metadata.labels["drey.dev/pool"], .spec.template.metadata.labels.tier] | map(tostring) | join(" ")')" \
	"Deployment/orders-taskmanager 2 null null stream
Deployment/orders-taskmanager-large 2 large large stream
Deployment/orders-taskmanager-spot 1 spot spot null" "each pool is a Deployment; what it says of itself replaces what is said of all"
is "$(makers s3-pools '.spec.template.spec | [(.hostAliases | length), .priorityClassName, .tolerations[0].key, .nodeSelector["example.com/size"], .containers[0].resources.limits.memory, .containers[0].resources.requests.cpu] | map(tostring) | join(" ")')" \
	"Deployment/orders-taskmanager 1 null null null 1728Mi 1
Deployment/orders-taskmanager-large 1 null null large 8Gi 4
Deployment/orders-taskmanager-spot 2 low spot null 1728Mi 1" "and its podTemplate comes on top of that of all"
is "$(makers s3-pools '.spec.template.spec | [.initContainers[0].image, (.containers[0] | (.env[] | select(.name == "TIER") | .value), (.volumeMounts[] | select(.mountPath == "/scratch") | .name, .subPath))] | map(tostring) | join(" ")' | grep -v large)" \
	"Deployment/orders-taskmanager registry.example/fluent-bit:3.1 stream tmp scratch
Deployment/orders-taskmanager-spot registry.example/fluent-bit:3.2 spot log null" "also over what that of all has added"
is "$(makers s3-pools '.spec.template.spec.containers[0].args | join(" ") | sub(".*taskmanager.host=[^ ]*"; "")')" \
	"Deployment/orders-taskmanager 
Deployment/orders-taskmanager-large  -D taskmanager.numberOfTaskSlots=8 -D taskmanager.memory.process.size=8192m
Deployment/orders-taskmanager-spot " "Flink is told of what differs"
is "$(grep -A3 'name: orders-taskmanager-spot$' "$RUN/s3-pools.yaml" | grep -c replicas:)" 0 "replicas that are null are left to whoever scales"
is "$(object s3-pools Deployment/orders-jobmanager '.spec.template.metadata.annotations["drey.dev/generation"]')" \
	"$(object s3 Deployment/orders-jobmanager '.spec.template.metadata.annotations["drey.dev/generation"]')" "pools are no other version of the job"
is "$(makers full-sets '[.spec.replicas, .spec.podManagementPolicy, (.spec.volumeClaimTemplates[0] | .metadata.name, .spec.storageClassName, .spec.resources.requests.storage), .spec.persistentVolumeClaimRetentionPolicy.whenDeleted, .spec.selector.matchLabels["drey.dev/taskmanager"]] | map(tostring) | join(" ")')" \
	"StatefulSet/orders-taskmanager-0 1 Parallel local fast 20Gi Delete orders-taskmanager-0
StatefulSet/orders-taskmanager-1 1 Parallel local fast 20Gi Delete orders-taskmanager-1
StatefulSet/orders-taskmanager-large-0 1 Parallel local fast 20Gi Delete orders-taskmanager-large-0" "StatefulSets: one for each TaskManager, with a claim"
is "$(object full-sets ConfigMap/orders-flink '.data["config.yaml"]' | key_values | grep -E 'local|working-dir' | sort | tr '\n' ' ')" \
	"execution.checkpointing.local-backup.enabled=true execution.state-recovery.from-local=true process.taskmanager.working-dir=/flink/local state.backend.rocksdb.localdir=/flink/local/rocksdb " \
	"local recovery: Flink is told to keep state there, and to look for it"
is "$(object full-sets StatefulSet/orders-taskmanager-1 '.spec.template.spec.containers[0] | (.command[4:8] | join(" ")), (.volumeMounts[] | select(.name == "local") | .mountPath), .args[-1]' | tr '\n' ' ')" \
	"bash /etc/drey/local.sh /flink/local $(object full-sets Deployment/orders-jobmanager '.spec.template.metadata.annotations["drey.dev/generation"]')-\$(POD_NAME) /flink/local taskmanager.host=\$(POD_IP) " \
	"which drey join starts with the id of this Pod"
check "local recovery of a Deployment" render local "${s3[@]}" --set taskManager.localRecovery.enabled=true
is "$(object local Deployment/orders-taskmanager '.spec.template.spec.volumes[] | select(.name == "local") | .emptyDir.sizeLimit')" 10Gi "is on an emptyDir"
check "with a class" render claim "${s3[@]}" --set taskManager.localRecovery.enabled=true,taskManager.localRecovery.storageClass=fast,flink.version=1.19.1
is "$(object claim Deployment/orders-taskmanager '.spec.template.spec.volumes[] | select(.name == "local") | .ephemeral.volumeClaimTemplate.spec.storageClassName') $(object claim ConfigMap/orders-flink '.data["config.yaml"]' | key_values | grep local-)" \
	"fast state.backend.local-recovery=true" "on a claim of each Pod; Flink 1.19 has another key for it"

SECONDS=0
helm template orders "$CHART" "${s3[@]}" >/dev/null
diag "200 names were rendered in $SECONDS s"
is "$(object s3 Role/orders '[.rules[].resourceNames // [] | length] | max')" 402 "the Role names 200 job ids and the map of the cluster, on both sides"
is "$(object s3 Role/orders-check '[.rules[].resourceNames[] | select(endswith("-config-map"))] | length')" 402 "and so does that of the check"
is "$(object s3 Role/orders '.rules[].resourceNames[0]? // "" | select(endswith("-config-map"))') $(object s3 Role/orders '.rules[].resourceNames[201]? // empty')" \
	"orders-cluster-config-map orders-green-cluster-config-map" "blue has the names that were there before there were sides"

artifacts() { # NAME: where Flink copies the jars of the job
	configuration "$1" flink config.yaml | sed -n 's/^user.artifacts.base-dir: //p'
}

is "$(artifacts pyflink) $(artifacts s3)" "/tmp/artifacts " "Flink copies the jars of a job to where it can write"

# ---- what the workloads are ------------------------------------------------------------------------

is "$(object s3 Deployment/orders-jobmanager '[.spec.strategy.type, .spec.replicas] | join(" ")')" "Recreate 1" "one JobManager, and the old one goes first"
is "$(object s3 Service/orders-jobmanager '[.spec.clusterIP, .spec.publishNotReadyAddresses] | map(tostring) | join(" ")')" "None true" \
	"TaskManagers find one that is not ready"
is "$(object s3 Deployment/orders-jobmanager '.spec.template.metadata.annotations["drey.dev/generation"]')" \
	"$(object s3 ConfigMap/orders-drey '.data["drey.yaml"]' | sed -n 's/^generation: *//p' | tr -d '"')" "Pod template and drey.yaml name the same generation"
is "$(object s3 Deployment/orders-jobmanager '.spec.template.spec.containers[0].resources.limits.memory')" 1728Mi "memory: Flink's and drey's"
is "$(object s3-spare Deployment/orders-jobmanager '.spec.template.spec.containers[0].resources | "\(.requests.memory) \(.limits.memory)"')" "2Gi 2Gi" \
	"and that of the spare JVM, also requested"
is "$(object s3-spare ConfigMap/orders-drey '.data["drey.yaml"]' | grep '  spare:')$(object s3 ConfigMap/orders-drey '.data["drey.yaml"]' | grep '  spare:')" "  spare: warm" \
	"drey is told of it, and only then"
is "$(object s3-spare Deployment/orders-jobmanager '.spec.template.metadata.annotations["drey.dev/generation"]')" \
	"$(object s3 Deployment/orders-jobmanager '.spec.template.metadata.annotations["drey.dev/generation"]')" "a spare is no other version of the job"
is "$(object s3 Deployment/orders-taskmanager '.spec.template.spec.terminationGracePeriodSeconds')" 330 \
	"TaskManagers may stay longer than the JobManager needs for the last savepoint"
is "$(object pvc Deployment/orders-jobmanager '.spec.template.spec.initContainers[0].command | join(" ")')" \
	"mkdir -p /flink/state/checkpoints /flink/state/savepoints" "a new volume gets its directories"
is "$(object pvc PersistentVolumeClaim/orders-state '.metadata.annotations["helm.sh/resource-policy"]')" keep "the volume is not deleted with the release"
is "$(object full CronJob/orders-savepoint '[.spec.suspend, .spec.schedule, .spec.timeZone] | map(tostring) | join(" ")')" "false 0 3 * * * Europe/Berlin" "the CronJob by schedule"
is "$(object s3 CronJob/orders-savepoint .spec.suspend)" true "and without one only by hand"

# ---- before an uninstall, and while it is parked ---------------------------------------------------

hook() { # NAME
	object "$1" Job/orders-uninstall '.spec.template.spec.containers[0].args[1]'
}

scales() { # NAME: drey's keys, and the right
	object "$1" ConfigMap/orders-drey '.data["drey.yaml"]' | sed -n 's/^  \(scale[A-Za-z]*: .*\)/\1/p' | sort | tr '\n' ' '
	object "$1" Role/orders '.rules[] | select(.resources[0] | endswith("/scale")) | "\(.resources | join(" ")) \(.resourceNames | join(" ")): \(.verbs | join(" "))"'
}

check "with onDelete: cancel" render cancel "${s3[@]}" --set onDelete=cancel
check "with onDelete: nothing" render nothing "${s3[@]}" --set onDelete=nothing
is "$(hook s3) $(hook cancel) $(hook nothing)" "suspend cancel " "before an uninstall the job is suspended, cancelled, or nothing happens"
is "$(object nothing ConfigMap/orders-drey '.data | keys | join(" ")' | grep -c uninstall)" 0 "and then there is no script for it"
is "$(object s3 Role/orders-uninstall '[.rules[] | "\(.resources | join(" ")) \(.resourceNames | join(" ")): \(.verbs | join(" "))"] | join(", ")')" \
	"configmaps orders-drey-control: patch, configmaps orders-drey-journal: get, deployments orders-jobmanager: get, flinkapplications orders: get patch" \
	"its account may do this and nothing else"
is "$(scales s3)" "" "TaskManagers are not scaled, and there is no right to"
check "with whenParked: scaleToZero" render parked "${s3[@]}" --set taskManager.whenParked=scaleToZero
is "$(scales parked)" "scale: orders-taskmanager scaleWhen: parked deployments/scale orders-taskmanager: get patch" "TaskManagers may be scaled, and nothing else of them"
check "with ttlAfterFinished" render ttl "${s3[@]}" --set ttlAfterFinished=60
is "$(scales ttl)" "scale: orders-taskmanager scaleFinishedAfter: 60s scaleWhen: finished deployments/scale orders-taskmanager: get patch" "only of a job that has finished"

# The objects that drey scales, and those that the Role names.
scaled() { # NAME
	object "$1" ConfigMap/orders-drey '.data["drey.yaml"]' | sed -n 's/^  - kind: //p; s/^    name: //p' | paste -sd '/ '
	object "$1" Role/orders '.rules[] | select(.resources[0] | endswith("/scale")) | "\(.resources | join(" ")) \(.resourceNames | join(" "))"'
}

cat >"$RUN/pools.yaml" <<-YAML
	taskManager:
	  whenParked: scaleToZero
	  replicas: 2
	  pools: [{name: large, replicas: 1}, {name: spot, replicas: null}]
YAML
check "with pools, too" render parked-pools "${s3[@]}" --values "$RUN/pools.yaml"
is "$(scaled parked-pools)" \
	"Deployment/orders-taskmanager Deployment/orders-taskmanager-large Deployment/orders-taskmanager-spot
deployments/scale orders-taskmanager orders-taskmanager-large orders-taskmanager-spot" \
	"all of them are scaled"
check "and drey accepts the list" drey_takes parked-pools
check "and as StatefulSets" render parked-sets "${s3[@]}" --values "$RUN/pools.yaml" --set taskManager.kind=StatefulSet,taskManager.pools[1].replicas=0
is "$(scaled parked-sets)" \
	"StatefulSet/orders-taskmanager-0 StatefulSet/orders-taskmanager-1 StatefulSet/orders-taskmanager-large-0
statefulsets/scale orders-taskmanager-0 orders-taskmanager-1 orders-taskmanager-large-0" \
	"each TaskManager is one"
is "$(object parked-sets StatefulSet/orders-taskmanager-1 .metadata.name)" orders-taskmanager-1 "by the names that they have"
check "and drey accepts that list" drey_takes parked-sets
check "with ttlAfterFinished of a Job" render ttljob "${s3[@]}" --set ttlAfterFinished=60,jobManager.kind=Job
is "$(object ttljob Job/orders-jobmanager .spec.ttlSecondsAfterFinished)" 60 "Kubernetes deletes a Job"
is "$(object s3 Deployment/orders-jobmanager '.spec.template.metadata.annotations["drey.dev/generation"]')" \
	"$(object parked Deployment/orders-jobmanager '.spec.template.metadata.annotations["drey.dev/generation"]')" "none of that is another version of the job"

# ---- two versions at the same time -----------------------------------------------------------------

pod() { # NAME JOBMANAGER|TASKMANAGER JQ
	object "$1" "Deployment/orders-$2" ".spec.template | $3"
}

rollout() { # NAME COMPONENT
	object "$1" "Deployment/orders-$2" '.spec | [.strategy.type, .strategy.rollingUpdate.maxSurge, .strategy.rollingUpdate.maxUnavailable,
		.minReadySeconds // 0, .progressDeadlineSeconds] | map(tostring) | join(" ")'
}

handover() { # NAME
	object "$1" ConfigMap/orders-drey '.data["drey.yaml"]' | sed -n '/^handover:/,/^[a-z]*:$/p' | grep '^ ' | tr -d '\n' | sed 's/  */ /g'
}

is "$(rollout s3 jobmanager), $(rollout s3 taskmanager)" "Recreate null null 0 900, Recreate null null 0 600" "by default the old Pods go first"
is "$(rollout s3-surge jobmanager)" "RollingUpdate 1 0 60 900" "surge: one more JobManager, never none, and the old one stays for the probation"
is "$(rollout s3-surge taskmanager)" "RollingUpdate 100% 0 60 900" "surge: all TaskManagers twice, as long as the JobManager"
is "$(rollout full-surge jobmanager), $(rollout full-surge taskmanager)" "RollingUpdate 1 0 0 900, Recreate null null 0 900" "late: the TaskManagers are replaced"
is "$(handover s3)" " clusterIds: - orders - orders-green" "by default drey is told only of both sides"
is "$(handover s3-plain)$(object s3-plain ConfigMap/orders-drey '.data["drey.yaml"]' | grep -c clusterIds)" 0 "and of none without high availability"
is "$(handover s3-surge)" " candidate: orders-drey-candidate clusterIds: - orders - orders-green mode: surge probation: 60s stopDeadline: 300s" \
	"surge: it is told of everything, and has as long for the savepoint as the grace period"
is "$(handover full-surge)" " candidate: orders-drey-candidate clusterIds: - orders - orders-green hold: none mode: surge onFailure: hold prepareDeadline: 2min probation: 0s runDeadline: 2min stopDeadline: 300s takeDeadline: 10s tries: 3" \
	"and what the values say goes before"
is "$(handover s3-bluegreen)" " candidate: orders-drey-candidate clusterIds: - orders - orders-green mode: blueGreen probation: 0s stopDeadline: 300s" \
	"blueGreen: the same as surge, but for the mode"
is "$(object s3-bluegreen ConfigMap/orders-drey '.data["drey.yaml"]' | sed -n '/^blueGreen:/,/^[a-z]*:$/p' | grep '^ ' | tr -d '\n' | sed 's/  */ /g')" \
	" lead: 1min sinkUids: - orders-sink sourcesCanBeReadTwice: true" "and what the values have for it"
is "$(object s3-bluegreen Role/orders '.rules[] | select(.resourceNames == ["orders-drey-candidate-journal"]) | .verbs | join(" ")')" "get patch delete" \
	"blueGreen: the Role has the journal of the new version's job"
is "$(object s3-surge Role/orders '[.rules[].resourceNames // [] | .[] | select(. == "orders-drey-candidate-journal")] | length')" 0 "and with surge it has not"
made() { # NAME: the ConfigMaps that the chart makes for drey, and what drey is told about that
	jq --raw-output '[.items[] | select(.kind == "ConfigMap" and .metadata.annotations["drey.dev/made-by"] == "chart" and (has("data") | not)) | .metadata.name] | sort | .[]' "$RUN/$1.json"
	configuration "$1" drey drey.yaml | grep createMaps
}
is "$(made s3-bluegreen)" "" "drey makes its own ConfigMaps, and an image that does not know the key is not told of it"
mapfile -t options < <(values s3-bluegreen)
check "with drey.kubernetes.createMaps: false" render made "${options[@]}" --set drey.kubernetes.createMaps=false
is "$(made made | tr -s '\n ' ' ')" "orders-drey-candidate orders-drey-candidate-journal orders-drey-journal createMaps: false " "the chart makes them, empty"
is "$(object made Role/orders '.rules[] | select(.resourceNames == ["orders-drey-candidate-journal"]) | .verbs | join(" ")')" "get patch" "and drey deletes none"
flip_rules() { # ROLE
	object s3-flip "Role/$1" '.rules[] | select(.resourceNames == ["orders-bluegreen"]) | .verbs | join(" ")'
}
is "$(flip_rules orders), $(flip_rules orders-taskmanager)" "get list watch patch, get list watch update patch" \
	"gates of FLIP-504: both Roles have their ConfigMap, and no other one more"
is "$(object s3-bluegreen Role/orders-taskmanager '[.rules[].resourceNames[]] | join(" ")')" "orders-cluster-config-map orders-green-cluster-config-map" \
	"and with drey's own gate TaskManagers write nothing"
is "$(rollout s3-bluegreen jobmanager), $(rollout s3-bluegreen taskmanager)" "$(rollout s3-surge jobmanager | sed 's/ 60 900/ 0 3600/'), $(rollout s3-surge taskmanager | sed 's/ 60 900/ 0 3600/')" \
	"blueGreen: the Pods are replaced as by surge"
generation=$(pod s3-surge jobmanager '.metadata.annotations["drey.dev/generation"]')
join="--service orders-jobmanager --port 8085 --generation"
for name in s3 s3-surge; do
	of=$(pod "$name" jobmanager '.metadata.annotations["drey.dev/generation"]')
	is "$(pod "$name" taskmanager '.spec.containers[0] | .command + .args | join(" ")')" \
		"drey-init --remap 143 -- drey join $join $of -- /opt/flink/bin/taskmanager.sh start-foreground -D taskmanager.host=\$(POD_IP)" \
		"$name: a TaskManager asks drey of its generation for its side"
	is "$(pod "$name" taskmanager '.spec.containers[0].lifecycle.preStop.exec.command | join(" ")')" \
		"bash /etc/drey/await-stop.sh orders-jobmanager 8085 300 $of" "$name: and for the last savepoint"
	is "$(pod "$name" taskmanager '.metadata.annotations["drey.dev/generation"]')" "$of" "$name: and the template says which it is"
	is "$(pod "$name" taskmanager '.spec.containers[0] | [.livenessProbe.exec.command[1], .startupProbe] | map(tostring) | join(" ")')" \
		"/etc/drey/alive.sh null" "$name: waiting for that is alive"
	is "$(pod "$name" jobmanager '[.spec.containers[0].env[] | select(.name == "POD_TEMPLATE_HASH" or .name == "DREY_CHECKSUM") | .valueFrom.fieldRef.fieldPath] | join(" ")')" \
		"metadata.labels['pod-template-hash'] metadata.annotations['checksum/drey']" "$name: drey can say which template it is of"
done
is "$(pod full-surge taskmanager '[.spec.terminationGracePeriodSeconds, .spec.containers[0].lifecycle.preStop.exec.command[4, 6]] | join(" ")')" "930 900 late" \
	"late: a TaskManager waits for the hand-over as long as the Deployment does"
is "$(pod s3-surge taskmanager '.spec.containers[0].readinessProbe.exec.command | join(" ")')" "drey join --ready $join $generation" \
	"surge: it is ready when the job of its generation runs"
is "$(pod s3-surge jobmanager '.spec.containers[0].readinessProbe | "\(.periodSeconds) \(.failureThreshold)"')" "1 5" \
	"surge: the JobManager stays ready while its drey becomes the reserve"
is "$(pod s3 jobmanager '.spec.containers[0].readinessProbe | "\(.periodSeconds) \(.failureThreshold)"')" "5 1" "which else it need not"
is "$(pod s3 taskmanager .spec.containers[0].readinessProbe) $(pod full-surge taskmanager .spec.containers[0].readinessProbe)" "null null" "and else at once"
is "$(object pvc-surge PodDisruptionBudget/orders-taskmanager '.spec.unhealthyPodEvictionPolicy')" AlwaysAllow "and those that are not do not block a drain"
is "$(object s3-surge Service/orders-next-rest '[.spec.publishNotReadyAddresses, .spec.selector["drey.dev/generation"], .spec.selector["app.kubernetes.io/component"]] | map(tostring) | join(" ")')" \
	"true $generation jobmanager" "there is a way to the web interface of the next version"
is "$(pod s3-surge jobmanager '.metadata.labels["drey.dev/generation"]') $(pod s3-surge taskmanager '.metadata.labels["drey.dev/generation"]')" "$generation $generation" \
	"whose Pods have its label"
is "$(object s3-surge Deployment/orders-jobmanager '.spec.selector.matchLabels | keys | length')" 3 "but the Deployment selects both"
is "$(object s3-surge Role/orders-taskmanager '.rules[].resourceNames | join(" ")')" "orders-cluster-config-map orders-green-cluster-config-map" \
	"a TaskManager reads the leader of either side"
is "$(object s3-surge Role/orders '.rules[] | select(.resourceNames == ["orders-drey-candidate"] or .resourceNames == ["orders-drey-journal"]) | .verbs | join(" ")' | tr '\n' ,)" \
	"get list watch patch,get list watch patch," "surge: the new drey reads the journal, the old one what the new one reports, and both soon"
is "$(object s3 Role/orders '.rules[] | select(.resourceNames == ["orders-drey-candidate"] or .resourceNames == ["orders-drey-journal"]) | .verbs | join(" ")')" \
	"get patch" "and only then"
is "$(object s3-surge Role/orders-check '[.rules[].resourceNames[] | select(startswith("orders-drey"))] | join(" ")')" \
	"orders-drey-journal orders-drey-control orders-drey-candidate" "the check can see a hand-over"
long=a234567890b234567890c234567890d234567890e234567890f2345678 # 58
check "a cluster id that leaves no room for -green is taken" render long "${s3[@]}" --set clusterId="$long"
is "$(handover long) $(object long Role/orders '[.rules[].resourceNames // [] | length] | max')" " 201" "and has one side"

# ---- the configuration travels with the Pod template -----------------------------------------------

# A text of the Pod template, and the same as Helm parses it.
annotation() { # COMPONENT KEY
	pod s3-surge "$1" ".metadata.annotations[\"$2\"]"
}

mkdir -p "$RUN/parse/templates"
printf 'apiVersion: v2\nname: parse\nversion: 0.1.0\n' >"$RUN/parse/Chart.yaml"
printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: parsed}\ndata: {"json": {{ .Values.text | fromYaml | toJson | b64enc | quote }}}\n' >"$RUN/parse/templates/parsed.yaml"
parsed() { # COMPONENT KEY JQ
	annotation "$1" "$2" >"$RUN/parse.yaml"
	helm template parse "$RUN/parse" --set-file text="$RUN/parse.yaml" | sed -n 's/^data: {"json": "\(.*\)"}/\1/p' | base64 --decode | jq --sort-keys --compact-output "$3"
}

values_of() { # JQ
	helm template parse "$RUN/parse" --set-file text="$VARIANTS/s3-surge.yaml" | sed -n 's/^data: {"json": "\(.*\)"}/\1/p' | base64 --decode | jq --sort-keys --compact-output "$1"
}

is "$(annotation jobmanager drey.dev/drey-yaml | sha256sum)" "$(object s3-surge ConfigMap/orders-drey '.data["drey.yaml"]' | sha256sum)" "drey.yaml of the Pod template is that of the ConfigMap, byte for byte"
for component in jobmanager taskmanager; do
	is "$(annotation "$component" drey.dev/flink-config | sha256sum)" "$(object s3-surge ConfigMap/orders-flink '.data["config.yaml"]' | sha256sum)" \
		"config.yaml of the $component, too"
	is "$(parsed "$component" drey.dev/flink-config '[to_entries[] | select(.key | startswith("pipeline."))] | from_entries')" "$(values_of .flink.configuration)" \
		"with quotes, \$HOME, \$(X), {{ }}, tabs, other alphabets and line ends"
	is "$(pod s3-surge "$component" '.spec.volumes[] | select(.name == "flink") | [.projected.sources[] | (.downwardAPI.items[]? | "\(.path)=\(.fieldRef.fieldPath)"), (.configMap | select(.) | .name as $of | .items[] | "\(.path)=\($of)")] | join(" ")')" \
		"config.yaml=metadata.annotations['drey.dev/flink-config'] log4j-console.properties=orders-flink" "the $component reads it from there, and log4j from the ConfigMap"
	is "$(pod s3-surge "$component" '[.spec.containers[0].volumeMounts[] | select(.name == "flink") | .mountPath, .subPath] | map(tostring) | join(" ")')" \
		"/opt/flink/conf null" "as a directory: a change of log4j is seen"
done
is "$(parsed jobmanager drey.dev/drey-yaml .flink.arguments)" "$(values_of .job.args)" "and the arguments of the job"
is "$(pod s3-surge jobmanager '[.spec.containers[0].volumeMounts[] | select(.name == "drey") | .mountPath, .subPath] | join(" ")')" \
	"/etc/drey/drey.yaml drey.yaml" "a living Pod keeps its drey.yaml whatever becomes of its annotations"
is "$(annotation jobmanager checksum/drey)" "$(annotation jobmanager drey.dev/drey-yaml | head -c -2 | sha256sum | cut -c 1-16)" "the checksum is that of drey.yaml"
is "$(pod s3 jobmanager '.metadata.annotations | keys | join(" ")')" "checksum/drey drey.dev/generation" "without surge the ConfigMaps are enough"

# ---- what a change changes -------------------------------------------------------------------------

# The generation, and both Pod templates without it.
facts_of() { # NAME
	object "$1" Deployment/orders-jobmanager '.spec.template.metadata.annotations["drey.dev/generation"]'
	object "$1" Deployment/orders-jobmanager '.spec.template | del(.metadata.annotations["drey.dev/generation"])' | sha256sum
	object "$1" Deployment/orders-taskmanager .spec.template | sha256sum
}

changes() { # WHAT(GENERATION JOBMANAGER TASKMANAGER: yes no) TITLE OPTION...
	local want=$1 title=$2 got='' i
	local -a before after
	shift 2
	render changed "${s3[@]}" "$@" || { tap_result 1 "$title"; return; }
	mapfile -t before < <(facts_of s3)
	mapfile -t after < <(facts_of changed)
	for i in 0 1 2; do
		[ "${before[i]}" = "${after[i]}" ] && got+='no ' || got+='yes '
	done
	is "${got% }" "$want" "$title: generation, JobManager, TaskManager"
	is "$(jq -r '.items[] | "\(.kind)/\(.metadata.name)"' "$RUN/changed.json" | sort | sha256sum)" \
		"$(jq -r '.items[] | "\(.kind)/\(.metadata.name)"' "$RUN/s3.json" | sort | sha256sum)" "$title: no name has changed"
}

changes 'yes yes yes' "another image" --set image.tag=1.5.0
changes 'yes yes yes' "other arguments" --set 'job.args={--topic,payments}'
changes 'yes yes yes' "another configuration of Flink" --set-string 'flink.configuration.state\.backend\.type=rocksdb'
changes 'no yes no' "another setting of drey" --set drey.savepoints.interval=6h
changes 'no no no' "something wanted" --set control.state=suspended
changes 'no no no' "a promotion: that is no third version" --set control.promote.token=p1
is "$(jq -r '.items[] | select(.kind == "ConfigMap" and .metadata.name == "orders-drey-control").data.promote' "$RUN/changed.json")" p1 "its token is the key"
changes 'no no no' "another log configuration" --set flink.log4j=rootLogger.level=DEBUG
changes 'no no no' "more TaskManagers" --set taskManager.replicas=5
changes 'no no no' "another schedule" --set-string 'savepointCronJob.schedule=0 4 * * *'
changes 'no yes no' "more CPU for the JobManager" --set jobManager.cpu=2
changes 'no no yes' "another label of the TaskManagers" --set taskManager.podLabels.team=a

e2e_end
