#!/usr/bin/env bash
#
# What the chart renders: every example is taken by a real API server without a warning, in a namespace that enforces Pod
# Security "restricted"; what changes with a value and what does not; what the schema refuses.

# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/api/lib.sh
. "$TOP/tests/api/lib.sh"
# shellcheck source=tests/chart/lib.sh
. "$TOP/tests/chart/lib.sh"
chart_begin chart-render

# The Pods of everything that makes Pods, without their accounts, which a dry run has not made.
pods() { # NAME
	jq '{apiVersion: "v1", kind: "List", items: [
		.items[] | .kind as $kind | .metadata.name as $name |
		(if $kind == "CronJob" then .spec.jobTemplate.spec.template else .spec.template? end) | select(. != null and .spec != null) |
		{apiVersion: "v1", kind: "Pod", metadata: {name: "\($kind | ascii_downcase)-\($name)"}, spec: (.spec | del(.serviceAccountName, .serviceAccount))}
	]}' "$RUN/$1.json"
}

pods_are_restricted() { # NAME
	pods "$1" >"$RUN/$1.pods.json"
	kubectl_team create --dry-run=server --output name --filename "$RUN/$1.pods.json" >"$RUN/$1.pods" 2>&1 && return
	sed 's/^/# /' "$RUN/$1.pods"
	return 1
}

# drey itself reads its configuration and Flink's, and finds nothing wrong but that there is no Flink here.
drey_takes() { # NAME
	local dir=$RUN/$1.conf
	mkdir -p "$dir"
	object "$1" ConfigMap/orders-flink '.data["config.yaml"]' >"$dir/config.yaml"
	object "$1" ConfigMap/orders-drey '.data["drey.yaml"]' | sed "s|/opt/flink/conf|$dir|" >"$dir/drey.yaml"
	grep --quiet '^  version:' "$dir/drey.yaml" || sed -i 's/^flink:/&\n  version: 2.3.0/' "$dir/drey.yaml"
	mkdir -p "$RUN/secrets"
	printf 'secret' >"$RUN/secrets/secret"
	sed -i "s|/secrets/swift|$RUN/secrets|" "$dir/drey.yaml"
	env KUBECONFIG="$POD_KUBECONFIG" POD_NAMESPACE="$TEAM" POD_IP=127.0.0.1 "$BUILD/drey" check --config "$dir/drey.yaml" >"$RUN/$1.check" 2>&1
	grep --quiet 'flink.command: install Flink' "$RUN/$1.check" && return
	sed 's/^/# /' "$RUN/$1.check"
	return 1
}

# ---- every example ---------------------------------------------------------------------------------

for file in "$EXAMPLES"/*.yaml; do
	name=$(basename "$file" .yaml)
	check "$name: helm lint --strict" helm lint --strict --quiet "$CHART" --values "$file"
	check "$name: the API server takes it, without a warning" render "$name" --values "$file"
	check "$name: nothing outside of the namespace" test "$(jq "[.items[] | select(.metadata.namespace != \"$TEAM\")] | length" "$RUN/$name.json")" = 0
	check "$name: every Pod is allowed by the standard restricted" pods_are_restricted "$name"
	check "$name: drey takes drey.yaml and Flink's configuration" drey_takes "$name"
done
pod_ip_is_missing() {
	env KUBECONFIG="$POD_KUBECONFIG" POD_NAMESPACE="$TEAM" "$BUILD/drey" check --config "$RUN/s3.conf/drey.yaml" 2>&1 | grep 'POD_IP is not in the environment'
}
check "and says so where the address of the Pod is not known" pod_ip_is_missing
check "ten lines are enough" test "$(grep --count --invert-match '^#' "$EXAMPLES/s3.yaml")" -le 12
check "README.md of the chart says what values.yaml says" "$TOP/tools/chart-readme.sh" --check
is "$(jq '.items | length' "$RUN/full.pods.json")" 5 "a Pod was made of each: JobManager, TaskManager, CronJob, check, test"

# ---- other variants --------------------------------------------------------------------------------

mapfile -t s3 < <(values s3)
check "without high availability" render plain "${s3[@]}" --set highAvailability.enabled=false
is "$(object plain Role/orders '[.rules[].resourceNames // [] | length] | max')" 1 "no HA map is named in the Role"
is "$(object plain Deployment/orders-taskmanager .spec.template.spec.automountServiceAccountToken)" false "and a TaskManager has no token"
check "drey takes it" drey_takes plain
check "a Job with everything" render job "$(values full)" --set jobManager.kind=Job
is "$(object job ConfigMap/orders-drey '.data["drey.yaml"]' | grep -E 'owner|whenFinished' | tr -d '\n ')" \
	"owner:job/orders-jobmanagerwhenFinished:exit" "drey is told what it belongs to, and to end with the job"
check "drey takes it" drey_takes job
check "a Job that is to wait" render waits "$(values bounded)" --set jobManager.replicas=0
is "$(object waits Job/orders-jobmanager .spec.suspend)" true "is suspended"
check "a ServiceMonitor" render service-monitor "$(values full)" --set monitoring.monitor=ServiceMonitor
check "nothing of drey's in the API server" render files "${s3[@]}" --set \
	'drey.kubernetes.journal=none,drey.kubernetes.control=none,drey.kubernetes.resource=none,savepointCronJob.enabled=false'
check "drey takes it" drey_takes files
check "no accounts, Roles or hooks of the chart's own" render bare "${s3[@]}" --set \
	'serviceAccount.create=false,serviceAccount.name=theirs,rbac.create=false,upgradeCheck.enabled=false,savepointCronJob.enabled=false'
is "$(jq -r '[.items[].kind] | map(select(. == "Role" or . == "RoleBinding")) | length' "$RUN/bare.json")" 0 "there is no Role"
check "another port of drey, and no metrics of Flink" render port "${s3[@]}" --set drey.http.port=9000,monitoring.flinkMetrics=false
is "$(object port Service/orders-jobmanager '[.spec.ports[] | "\(.name)=\(.port)"] | join(" ")')" "rpc=6123 blob=6124 drey=9000" "are the ports of the Service"
check "what is wanted, by values" render wanted "${s3[@]}" --set control.state=suspended,control.doNotRestart=true,control.savepointNonce=a1 \
	--set 'control.restore.kind=path,control.restore.token=t1,control.restore.path=s3://flink/orders/savepoints/savepoint-1'
is "$(object wanted ConfigMap/orders-drey-control '.data | del(.[".chart"]) | to_entries | map("\(.key)=\(.value)") | join(" ")')" \
	'do-not-restart=true restore={"kind":"path","path":"s3://flink/orders/savepoints/savepoint-1","token":"t1"} savepoint-nonce=a1 state=suspended' \
	"are keys of the control ConfigMap"
is "$(object s3 ConfigMap/orders-drey-control '.data | keys | join(" ")')" .chart "and else it is left to others"
check "replicas are left to whoever scales" render unscaled "${s3[@]}" --set taskManager.replicas=null,jobManager.replicas=null
is "$(helm template orders "$CHART" "${s3[@]}" --set taskManager.replicas=null,jobManager.replicas=null | grep -c '^  replicas:')" 0 "with null"
SECONDS=0
helm template orders "$CHART" "${s3[@]}" >/dev/null
check "200 names are rendered within a second or so" test "$SECONDS" -le 1

# ---- what the workloads are ------------------------------------------------------------------------

is "$(object s3 Deployment/orders-jobmanager '[.spec.strategy.type, .spec.replicas] | join(" ")')" "Recreate 1" "one JobManager, and the old one goes first"
is "$(object s3 Service/orders-jobmanager '[.spec.clusterIP, .spec.publishNotReadyAddresses] | map(tostring) | join(" ")')" "None true" \
	"TaskManagers find one that is not ready"
is "$(object s3 Deployment/orders-jobmanager '.spec.template.metadata.annotations["drey.dev/generation"]')" \
	"$(object s3 ConfigMap/orders-drey '.data["drey.yaml"]' | sed -n 's/^generation: *//p' | tr -d '"')" "Pod template and drey.yaml name the same generation"
is "$(object s3 Deployment/orders-jobmanager '.spec.template.spec.containers[0].resources.limits.memory')" 1728Mi "memory: Flink's and drey's"
is "$(object s3 Deployment/orders-taskmanager '.spec.template.spec.terminationGracePeriodSeconds')" 330 \
	"TaskManagers may stay longer than the JobManager needs for the last savepoint"
is "$(object pvc Deployment/orders-jobmanager '.spec.template.spec.initContainers[0].command | join(" ")')" \
	"mkdir -p /flink/state/checkpoints /flink/state/savepoints" "a new volume gets its directories"
is "$(object pvc PersistentVolumeClaim/orders-state '.metadata.annotations["helm.sh/resource-policy"]')" keep "the volume is not deleted with the release"
is "$(object full CronJob/orders-savepoint '[.spec.suspend, .spec.schedule, .spec.timeZone] | map(tostring) | join(" ")')" "false 0 3 * * * Europe/Berlin" "the CronJob by schedule"
is "$(object s3 CronJob/orders-savepoint .spec.suspend)" true "and without one only by hand"

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
changes 'yes yes no' "other arguments" --set 'job.args={--topic,payments}'
changes 'yes yes yes' "another configuration of Flink" --set-string 'flink.configuration.state\.backend\.type=rocksdb'
changes 'no yes no' "another setting of drey" --set drey.savepoints.interval=6h
changes 'no no no' "something wanted" --set control.state=suspended
changes 'no no no' "another log configuration" --set flink.log4j=rootLogger.level=DEBUG
changes 'no no no' "more TaskManagers" --set taskManager.replicas=5
changes 'no no no' "another schedule" --set-string 'savepointCronJob.schedule=0 4 * * *'
changes 'no yes no' "more CPU for the JobManager" --set jobManager.cpu=2
changes 'no no yes' "another label of the TaskManagers" --set taskManager.podLabels.team=a

# ---- what the schema refuses -----------------------------------------------------------------------

refuses() { # PATH OPTION...
	local path=$1
	shift
	if helm template orders "$CHART" "${s3[@]}" "$@" >"$RUN/refused" 2>&1; then
		tap_result 1 "refused: $*"
	else
		check "refused with its path: $*" grep --quiet --fixed-strings -- "$path" "$RUN/refused"
	fi
}

refuses "at '/image/repository'" --set image.repository=
refuses "at '/image/tag'" --set image.tag=
refuses "at '/image/digest'" --set image.digest=sha256:12
refuses "at '/state/uri'" --set state.uri=orders
refuses "at '/job/parallelism'" --set job.parallelism=0
refuses "at '/job/args/0'" --set 'job.args={1}'
refuses "additional properties 'replica' not allowed" --set taskManager.replica=2
refuses "at '/taskManager/replicas'" --set taskManager.replicas=-1
refuses "at '/jobManager/replicas'" --set jobManager.replicas=2
refuses "at '/jobManager/kind'" --set jobManager.kind=StatefulSet
refuses "at '/jobManager/memoryMiB'" --set jobManager.memoryMiB=2Gi
refuses "at '/flink/version'" --set-string flink.version=1.17
refuses "at '/flink/configuration/s3.secret-key'" --set 'flink.configuration.s3\.secret-key=x'
refuses "at '/flink/configuration/kubernetes.cluster-id'" --set 'flink.configuration.kubernetes\.cluster-id=x'
refuses "at '/drey/savepoints/interval'" --set drey.savepoints.interval=6hours
refuses "at '/drey/upgrade'" --set drey.upgrade=maybe
refuses "at '/drey/kubernetes/launches'" --set drey.kubernetes.launches=2000
refuses "at '/drey'" --set drey.generation=x
refuses "at '/control/state'" --set control.state=stopped
refuses "at '/control/restore'" --set control.restore.kind=path
refuses "at '/savepointCronJob/schedule'" --set-string savepointCronJob.schedule=daily
refuses "at '/ingress/host'" --set ingress.enabled=true
refuses "at '/monitoring/monitor'" --set monitoring.monitor=podMonitor
refuses "at '/application'" --set application="a$(printf 'b%.0s' {1..40})"
refuses "at '/drey/http/port'" --set drey.http.port=0
refuses "savepointCronJob: " --set drey.kubernetes.control=none

# Every key of drey.yaml is known here, but for those that are the chart's own business.
schema_keys() {
	jq -r '.properties.drey | paths(type == "object" and (has("type") or has("enum") or has("$ref")) and (has("properties") | not)) |
		select(.[-1] != "items") | map(select(. != "properties")) | join(".")' "$CHART/values.schema.json" | sort
}
own='application|stateDirectory|generation|flink\.(version|configDirectory|properties|jobClass|jars|arguments|restAddress|restPort|rpcAddress)'
own+='|kubernetes\.(enabled|kubeconfig|namespace|owner)|control\.directory'
is "$(schema_keys | tr '\n' ' ')" \
	"$(grep -oE '^\| `[a-zA-Z0-9.]+` ' "$TOP/docs/configuration.md" | tr -d '|` ' | grep -vxE "$own" | sort | tr '\n' ' ')" \
	"drey: has the keys of docs/configuration.md"
e2e_end
