#!/usr/bin/env bash
#
# demo-kube.sh - the demo on Kubernetes: a real cluster of one node on this machine, the chart, a Flink job. `make demo-kube` runs it.
#
# Helm installs an application; its JobManager is killed; a surge upgrade hands the job to a new Pod; it is suspended and resumed; and
# uninstalled, with a last savepoint. Each step is one line. As root: the node is in namespaces of its own, and the machine is as
# before when it has gone (tests/cluster/node.sh).
#
#   KEEP=1       leave the node running at the end, and print how to enter and stop it
#   NO_COLOR=1   plain output, also on a terminal

# shellcheck disable=SC2119 # lib.sh has functions whose arguments are optional

set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
# shellcheck source=tools/ui.sh
. tools/ui.sh
DEMO_LIMIT_S=${DEMO_LIMIT_S:-300}
# shellcheck source=tools/narrate.sh
. tools/narrate.sh

# ---- outside: the node -------------------------------------------------------------------------------

node_up() {
	local name home layout
	[ "$(id -u)" -eq 0 ] || die 1 "a node for Pods needs root; run: sudo make demo-kube"
	heading "A Kubernetes of your own (the first time it is built, which takes half an hour)"
	tools/deps.sh build test cluster || exit $?
	run_with_progress "building drey" build/demo-build.log make -j"$(nproc)" all || fail "drey does not build; see build/demo-build.log"
	for name in KUBE:kube NODE:node DNS:dns HELM:helm; do
		home=$(tools/get-kube.sh "${name#*:}") || exit $?
		export "${name%:*}_HOME=$home"
	done
	VERSITYGW=$(tools/get-servers.sh versitygw) || exit $?
	export VERSITYGW
	tick "kube-apiserver, kubelet, containerd, Helm and an S3 server are here"
	layout=$(tests/cluster/images.sh "${XDG_CACHE_HOME:-$HOME/.cache}/drey/images") || exit $?
	tick "the image has Flink, the job and drey"
	DREY_NODE=$(mktemp -d "${TMPDIR:-/tmp}/drey-node.XXXXXX")
	export DREY_NODE
	if [ -n "${KEEP:-}" ]; then
		tests/cluster/node.sh up "$DREY_NODE" || exit $?
	else
		trap 'tests/cluster/node.sh down "$DREY_NODE" >/dev/null 2>&1; rm -rf "$DREY_NODE"' EXIT
		tests/cluster/node.sh up "$DREY_NODE" --owner $$ || exit $?
	fi
	tests/cluster/node.sh load "$DREY_NODE" "$layout" || exit $?
	tick "the node is ready"
}

if [ "${1:-}" != --inside ]; then
	mkdir -p build
	node_up
	tests/cluster/node.sh enter "$DREY_NODE" tools/demo-kube.sh --inside || exit $?
	[ -z "${KEEP:-}" ] || cat <<-EOF
		to enter           tests/cluster/node.sh enter $DREY_NODE bash
		                   export KUBECONFIG=$DREY_NODE/control/pki/admin.conf PATH=$KUBE_HOME/bin:$HELM_HOME/bin:\$PATH
		to stop            tests/cluster/node.sh down $DREY_NODE; rm -rf $DREY_NODE
	EOF
	exit 0
fi

# ---- inside: the application -----------------------------------------------------------------------------

BUILD=$PWD/build
export BUILD
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
# shellcheck source=tests/cluster/lib.sh
. tests/cluster/lib.sh

quiet() { # WHAT CMD...
	local what=$1
	shift
	ui_ticker_start "$what"
	"$@" >>"$RUN/log/demo.log" 2>&1 || fail "$what; see $RUN/log/demo.log"
	ui_ticker_stop
}

# With Flink's high availability a JobManager that was killed continues with the same job id.
next_launch() {
	runs && [ "$(status .launch.number)" -gt "$LAUNCH" ]
}

other_pod() {
	next_launch && [ -n "$(pod jobmanager)" ] && [ "$(pod jobmanager)" != "$POD" ]
}

remember_job() {
	LAUNCH=$(status .launch.number)
	POD=$(pod jobmanager)
}

install_it() {
	heading "helm install"
	values "upgrade: {strategy: surge}"
	quiet "helm install orders" install
	tick "helm install orders --wait: the job is running"
	expect "the first checkpoint" runs
	tick "first checkpoint: $(status .lastCheckpoint.path)"
}

kill_it() {
	heading "The JobManager dies"
	remember_job
	kill_jvm jobmanager
	expect "the job runs again" next_launch
	tick "kill -9 of its JVM: drey launched Flink again in the same Pod, and the job continues from $(checkpoints '.latest.restored.external_path | split("/")[-1]')"
}

upgrade_it() {
	heading "A surge upgrade"
	remember_job
	quiet "helm upgrade orders" upgrade --set-string 'jobManager.podAnnotations.version=2'
	expect "the new Pod has the job" other_pod
	check_continued
	tick "helm upgrade --wait: the new Pod $(pod jobmanager) prepared beside the old one and got the job, with its state"
}

check_continued() {
	local problem
	problem=$(continuity) || fail "the job's state was not continuous: $problem"
}

suspend_it() {
	heading "Suspend and resume by kubectl"
	remember_job
	quiet "suspend" kubectl patch configmap orders-drey-control --type merge --patch '{"data":{"state":"suspended"}}'
	expect "the job is suspended" phase_is Suspended
	tick "kubectl patch ... state: suspended: stopped with savepoint $(status '.lastSavepoint.path | split("/")[-1]')"
	quiet "resume" kubectl patch configmap orders-drey-control --type merge --patch '{"data":{"state":"running"}}'
	expect "the job runs again" next_launch
	check_continued
	tick "state: running: job $(status '.jobId[0:8]') continues from that savepoint"
}

uninstall_it() {
	heading "helm uninstall"
	quiet "helm uninstall orders" helm uninstall "$APPLICATION" --wait --timeout "${WAIT_S}s"
	tick "stopped with a savepoint first: $(cd "$BUCKETS" && find flink -path '*/savepoint-*/_metadata' -printf '%T@ s3://%h\n' | sort -n | tail -n 1 | cut -d' ' -f2)"
	printf '%s s in all.\n' "$(seconds $(($(now_ms) - started_ms)))"
}

node_begin demo >/dev/null
install_it
kill_it
upgrade_it
suspend_it
if [ -n "${KEEP:-}" ]; then
	trap - EXIT
	heading "Left running"
	echo "namespace          $NAMESPACE"
else
	uninstall_it
fi
