#!/usr/bin/env bash
#
# `helm install` in a namespace that enforces Pod Security "restricted": the Pods as they really are, the job with its
# state on S3, the requests of the accounts to the API server, and `helm test`.
#
# runs in: ci

# shellcheck disable=SC2317 # functions that check and await call
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/cluster/lib.sh
. "$TOP/tests/cluster/lib.sh"
node_begin install

process_status() { # COMPONENT LINE...: the values of lines of /proc/1/status
	local component=$1 said line
	shift
	said=$(in_pod "$component" cat /proc/1/status)
	for line; do
		awk -v line="$line:" '$1 == line { printf "%s ", $2 }' <<<"$said"
	done
}

writes() { # COMPONENT PATH
	in_pod "$1" touch "$2"
}

values
check "helm install waits until the job runs" install
is "$(rest jobs/overview '[.jobs[].state] | join(" ")')" RUNNING "Flink says that it is RUNNING"
is "$(rest taskmanagers '.taskmanagers | length')" 1 "on one TaskManager"
check "drey says so" phase_is Running
await "checkpoints are made" has_completed 2
check "in the bucket" test -n "$(newest_on_s3)"

# ---- the Pods --------------------------------------------------------------------------------------

for component in jobmanager taskmanager; do
	is "$(in_pod $component cat /proc/1/comm)" drey-init "$component: drey-init is process 1"
	is "$(process_status $component Uid Gid CapEff CapBnd NoNewPrivs Seccomp)" "9999 9999 0000000000000000 0000000000000000 1 2 " \
		"$component: user 9999, no capabilities, seccomp"
	check "$component: the root directory is read-only" not writes $component /opt/flink/x
	check "$component: Flink's configuration is read-only" not writes $component /opt/flink/conf/config.yaml
	check "$component: /tmp is not" writes $component /tmp/x
done
check "Flink was started by its own script" in_pod jobmanager grep --quiet --text StandaloneApplicationClusterEntryPoint "/proc/$(jvm jobmanager)/cmdline"
check "with its classes from the archive" in_pod jobmanager grep --quiet /usr/lib/drey/flink.jsa "/proc/$(jvm jobmanager)/maps"
check "the JobManager is found by name" in_pod taskmanager getent hosts orders-jobmanager
check "without a stop the TaskManager does not wait for one" in_pod taskmanager timeout 20 bash /etc/drey/await-stop.sh orders-jobmanager 8085 60
is "$(kubectl get pods --output json | jq '[.items[].status.containerStatuses[].restartCount] | add')" 0 "no container was started again"
is "$(kubectl get events --output json | jq --raw-output '[.items[] | select(.reason == "FailedCreate" or .reason == "BackOff") |
	.message] | join("; ")')" "" "and no Pod was refused"

# ---- what Kubernetes shows -------------------------------------------------------------------------

check "the Deployment is available" deployment_is jobmanager Available True
await "the FlinkApplication is ready" resource_condition Ready '.status == "True" or empty'
check "so is its condition of the Deployment" kubectl wait --for=condition=drey.dev/Ready "deployment/$APPLICATION-jobmanager" --timeout=60s
check "helm test" helm test "$APPLICATION"
is "$(denied)" "" "nothing was asked for that the Role does not allow"

# ---- kubectl drey, through the kubelet as well, as a user with the rights of docs/reference/kubectl.md -------

# shellcheck source=tests/api/plugin_lib.sh
. "$TOP/tests/api/plugin_lib.sh"
CLUSTER=$DREY_NODE/control
API_URL=$(jq --raw-output '.clusters[0].cluster.server' "$ADMIN")
plugin_begin
plugin_user me
for role in drey-viewer drey-operator drey-pods; do
	plugin_role me "$role"
done

page_is_shown() {
	curl --silent --max-time 10 "$(head -n 1 "$RUN/page")" | grep --quiet '<html'
}

plugin me status "$APPLICATION"
ended "kubectl drey status: running, and ready" 0 "$APPLICATION: Running since "
plugin me list
ended "kubectl drey list" 0 "$APPLICATION   Running"
plugin me logs "$APPLICATION" --tail 3
ended "kubectl drey logs" 0
is "$(wc -l <"$RUN/out")" 3 "which are those of the Pod"
as_plugin me drey page "$APPLICATION" >"$RUN/page" 2>"$RUN/page.err" &
page_pid=$!
await "kubectl drey page: the page is at the address that it prints" page_is_shown
kill -TERM "$page_pid"
plugin me savepoint "$APPLICATION"
ended "kubectl drey savepoint" 0 's3://flink/'
check "it is in the bucket" test -e "$BUCKETS/flink/$(sed 's|s3://flink/||' "$RUN/out")/_metadata"

check "the job has lost nothing" continuity
e2e_end
