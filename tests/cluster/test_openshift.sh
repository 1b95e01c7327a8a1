#!/usr/bin/env bash
#
# Pods as OpenShift makes them: a user of the namespace's range that the image does not know, of the group root, and no fsGroup; only
# in /etc/passwd, for the Pods of Flink, is the user, as CRI-O adds it. Everything that starts a process or writes a file: install,
# checks and Jobs, a savepoint, the death of both JVMs, an upgrade. Then what is parked: the TaskManagers of two pools, and StatefulSets, are scaled to 0 and back by drey,
# each to its own number. Who installs it all may make neither accounts nor Roles, as in examples/without-roles.yaml.
#
# runs in: all

# shellcheck disable=SC2317 # functions that check and await call
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/cluster/lib.sh
. "$TOP/tests/cluster/lib.sh"
node_begin openshift
USER_ID=1000660000

note() {
	restored=$(event_count RESTORED)
	completed=$(event_count COMPLETED)
}

goes_on() { # WHAT
	await "$1: the job has read its state again" has_events RESTORED $((restored + 1))
	await "$1: checkpoints go on" has_events COMPLETED $((completed + 2))
	await "$1: drey says that it runs" runs
	check "$1: nothing is lost" continuity
}

# ---- an administrator makes accounts and Roles, and a developer installs ------------------------------

# Roles and RoleBindings are what the chart would make for these values.
roles() { # [OPTION...]
	helm template "$APPLICATION" "$CHART" --values "$RUN/values.yaml" "$@" --set rbac.create=true >"$RUN/rendered.yaml" &&
		kubectl create --dry-run=client --output json --filename "$RUN/rendered.yaml" |
		jq --slurp '{apiVersion: "v1", kind: "List", items: [.[] | (.items[]? // .) | select(.kind == "Role" or .kind == "RoleBinding")]}' |
			kubectl apply --filename - >/dev/null
}

ACCOUNTS='serviceAccount: {create: false, name: flink, taskManager: {name: flink-worker}, savepoint: {name: flink-savepoint}, check: {name: flink-check}, uninstall: {name: flink-uninstall}}'
for account in flink flink-worker flink-savepoint flink-check flink-uninstall; do
	kubectl create serviceaccount "$account" >/dev/null
done
kubectl create rolebinding developer --clusterrole edit --user developer >/dev/null
kubectl create role applications --verb '*' --resource flinkapplications.drey.dev >/dev/null
kubectl create rolebinding applications --role applications --user developer >/dev/null
for kind in roles rolebindings; do
	check "who installs may make no $kind" not kubectl auth can-i create "$kind" --as developer
done

# ---- a user whom nobody knows ----------------------------------------------------------------------

# As examples/openshift.yaml; the user is what the admission of OpenShift adds. Hadoop, in Flink's file system for S3, cannot do
# without its name, which CRI-O writes into /etc/passwd (containerd does not).
kubectl create configmap passwd --from-literal=passwd="$USER_ID:x:$USER_ID:0:$USER_ID user:/:/sbin/nologin
" >/dev/null
passwd() { # CONTAINER
	cat <<-YAML
		podTemplate:
		    spec:
		      volumes: [{name: passwd, configMap: {name: passwd}}]
		      containers: [{name: $1, volumeMounts: [{name: passwd, mountPath: /etc/passwd, subPath: passwd, readOnly: true}]}]
	YAML
}
values "podSecurityContext: {runAsUser: $USER_ID, runAsGroup: null, fsGroup: null, fsGroupChangePolicy: null}" "$ACCOUNTS" "rbac: {create: false}"
cat >"$RUN/passwd.yaml" <<-YAML
	jobManager:
	  $(passwd jobmanager)
	taskManager:
	  $(passwd taskmanager)
YAML
check "the Roles for these values" roles
export HELM_KUBEASUSER=developer
check "helm install waits until the job runs" install --values "$RUN/passwd.yaml"
await "the launch is proven" runs
for component in jobmanager taskmanager; do
	is "$(in_pod $component bash -c 'echo "$(id -u) $(id -g)"')" "$USER_ID 0" "$component: the user is of the namespace, the group is root"
	check "$component: the root directory is read-only" not in_pod $component touch /opt/flink/x
	is "$(kubectl get pod "$(pod $component)" --output json | jq --raw-output '.spec.securityContext | "\(.fsGroup) \(.runAsGroup) \(.runAsNonRoot)"')" \
		"null null true" "$component: no group is asked for"
done
check "Flink has its classes from the archive" in_pod jobmanager grep --quiet /usr/lib/drey/flink.jsa "/proc/$(jvm jobmanager)/maps"
check "kubectl exec: drey answers" drey status
kubectl create job --from=cronjob/orders-savepoint by-hand >/dev/null
check "a savepoint by a Job" kubectl wait --for=condition=Complete job/by-hand --timeout="${WAIT_S}s"
check "helm test" helm test "$APPLICATION"
for component in jobmanager taskmanager; do
	note
	kill_jvm $component
	goes_on "the JVM of the $component was killed"
done
check "helm upgrade to another version" upgrade --values "$RUN/passwd.yaml" --set-string image.tag=2
await "another job runs" runs
check "from the savepoint" continued

# ---- parked: pools, then StatefulSets ----------------------------------------------------------------

desired() { # KIND: its objects of TaskManagers and their numbers
	kubectl get "$1" --selector app.kubernetes.io/component=taskmanager --output json |
		jq --raw-output '[.items[] | "\(.metadata.name | ltrimstr("orders-taskmanager")):\(.spec.replicas)"] | sort | join(" ")'
}

desired_are() { # KIND WANTED
	[ "$(desired "$1")" = "$2" ]
}

slots_are() { # WANTED
	[ "$(rest overview '.["slots-total"]')" = "$1" ]
}

has_no_record() {
	kubectl get configmap orders-drey-journal --output json | jq --exit-status '.data | keys | all(startswith("task-managers.") | not)' >/dev/null
}

park_and_resume() { # KIND AT_0 BACK SLOTS WHAT
	note
	check "$5: drey suspend" drey suspend
	await "$5: all are scaled to 0" desired_are "$1" "$2"
	await "$5: no Pod of them is left" pods_gone taskmanager
	check "$5: drey resume" drey resume
	await "$5: each has its number again" desired_are "$1" "$3"
	await "$5: the job runs" runs
	check "$5: from the savepoint" continued
	await "$5: with all slots" slots_are "$4"
}

POOLS=(--values "$RUN/passwd.yaml" --set-string image.tag=2 --set 'taskManager.whenParked=scaleToZero,taskManager.pools[0].name=small,taskManager.pools[0].replicas=2,taskManager.pools[0].memoryMiB=850')
note
HELM_KUBEASUSER='' check "the Roles for pools" roles "${POOLS[@]}"
check "two pools" upgrade "${POOLS[@]}"
await "all have registered" slots_are 3
park_and_resume deployments "-small:0 :0" "-small:2 :1" 3 "two pools"
await "nothing stays on record" has_no_record
HELM_KUBEASUSER='' check "the Roles for StatefulSets" roles "${POOLS[@]}" --set taskManager.kind=StatefulSet
check "as StatefulSets" upgrade "${POOLS[@]}" --set taskManager.kind=StatefulSet
await "all have registered" slots_are 3
await "the job runs" runs
park_and_resume statefulsets "-0:0 -small-0:0 -small-1:0" "-0:1 -small-0:1 -small-1:1" 3 "StatefulSets"
await "nothing stays on record" has_no_record
is "$(denied)" "" "nothing was asked for that the Roles do not allow"
check "the job has lost nothing" continuity
e2e_end
