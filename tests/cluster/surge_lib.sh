# shellcheck shell=bash disable=SC2034
#
# surge_lib.sh - what the tests of surge upgrades with Helm on a real node have in common. Sourced after tests/e2e/tap.sh; it
# sources tests/handover/lib.sh, whose journal, candidate and judges it uses, and tests/cluster/lib.sh.
#
#   surge_begin NAME [LINE...]    a namespace, the values with upgrade.strategy surge, LINEs appended; the observer
#   surge_cases CASE...       runs these functions, or those that are named on the command line, and then what is true of all:
#                             nothing lost or doubled, no TaskManager at the wrong JobManager, never two jobs, no 403
#   version T [LINE...]       one version of the application: the job HandoverJob, which writes T; LINEs are values
#   same_job T OF [LINE...]   T has the job of OF: the same generation, unless LINEs change it
#   begin_with T              the application runs as T (the first case installs it); sets OWNER, its Pod
#   helm_upgrade T [OPTION...]    `helm upgrade` to T, without --wait
#   deployed T [OPTION...]    the same, and waits for the new Pod: CANDIDATE
#   upgrade_to T [OPTION...]  the same; the old one was not told to end
#   await_done T              waits until the job runs there, the old Pods are gone, and it writes; OWNER is the new one
#   returned_to T [SAVEPOINT]     for after a hand-over that has failed: T writes again in the same Pod, OWNER, from that of the stop
#   ends_with T               after an accident, in which the Pod GONE was lost or none: T, which the Deployment wants, gets the job, at
#                             once or from its predecessor; OWNER is its Pod
#   untouched WHAT            OWNER was never told to end, is the owner, its job is that of remember_job, and writes
#   prepared T                upgrade_to T with do-not-restart, so that it stays Prepared, and the job runs; brake false ends that
#   pods_of T, tms_of T       names of the Pods of a version that are not ending
#   told EVENT POD [AFTER_MS] the observer has seen made, ready, unready, term or gone of this Pod
#   settled                   for await: both Deployments have only ready Pods of their newest template
#
# REPLAY is set to 1 by a case in which Flink recovers from a checkpoint.
# MAY_BE_DENIED: a pattern of the requests that the Roles of a case do not allow, and that do no harm.

# shellcheck source=tests/handover/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../handover/lib.sh"
# shellcheck source=tests/cluster/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

CURRENT='' # the version that runs
OWNER=''
CANDIDATE=''
REPLAY=''
HTTP_PORT=8085
REST_PORT=8081
# four JVMs of real Pods and a control plane on two cores
[ "$WAIT_S" -ge 400 ] || WAIT_S=400

surge_begin() { # NAME [LINE...]
	node_begin "$1"
	OUT=$VOLUME/out
	mkdir -p "$OUT"
	chmod 777 "$OUT"
	T0=$(($(date +%s) * 1000))
	values "upgrade: {strategy: surge}" "${@:2}"
	spawn observer python3 "$HANDOVER_DIR/observer.py" --server "$(jq --raw-output '.clusters[0].cluster.server' "$ADMIN")" \
		--pki "${ADMIN%/*}" --namespace "$NAMESPACE" --application "$APPLICATION" --rest-port "$REST_PORT" --pods
	MUST_LIVE=(observer)
}

# ---- versions --------------------------------------------------------------------------------------

version() { # T [LINE...]
	same_job "$1" "$@"
}

# Two files: a key of LINEs may be a key of ours, Helm merges them. The check does not build the job's graph: what holds main() in a
# Pod would hold it there, too.
same_job() { # T OF [LINE...]
	cat >"$RUN/$1.yaml" <<-YAML
		job: {class: drey.HandoverJob, args: [--version, "$2", --output, /events/out, --control, /events, --t0, "$T0"]}
		jobManager: {podAnnotations: {drey-test/version: "$1"}}
		taskManager: {podAnnotations: {drey-test/version: "$2"}}
		drey: {check: {graph: false}}
	YAML
	printf '%s\n' "${@:3}" >"$RUN/$1.more.yaml"
}

values_of() { # T: sets VALUES
	VALUES=(--values "$RUN/values.yaml" --values "$RUN/$1.yaml" --values "$RUN/$1.more.yaml")
}

helm_upgrade() { # T [OPTION...]
	local VALUES
	values_of "$1"
	helm upgrade "$APPLICATION" "$CHART" "${VALUES[@]}" "${@:2}"
}

begin_with() { # T
	local VALUES
	if [ -z "$CURRENT" ]; then
		values_of "$1"
		check "$1 is installed" helm install "$APPLICATION" "$CHART" "${VALUES[@]}" --wait --timeout "${WAIT_S}s"
		await "there is a Pod" pod_of "$1"
		OWNER=$POD
		is "$(happened offered)" 0 "the first installation is no hand-over"
		CURRENT=$1
	elif [ "$CURRENT" != "$1" ]; then
		upgrade_to "$1"
		await_done "$1"
	fi
	await "the job of $CURRENT is proven" pod_is "$OWNER" '.phase == "Running" and .launch.proven'
}

deployed() { # T [OPTION...]
	check "helm upgrade to $1" helm_upgrade "$@"
	await "there is a Pod of $1" pod_of "$1"
	CANDIDATE=$POD
}

upgrade_to() { # T [OPTION...]
	deployed "$@"
	check "that of before is not told to end" not told term "$OWNER"
}

# ---- about Pods --------------------------------------------------------------------------------------

version_pods() { # COMPONENT T
	kubectl get pods --selector "app.kubernetes.io/component=$1" --output json | jq --raw-output --arg version "$2" '.items[] |
		select(.metadata.deletionTimestamp == null and (.status.phase != "Failed") and
			.metadata.annotations["drey-test/version"] == $version) | .metadata.name'
}

pods_of() { # T
	version_pods jobmanager "$1"
}

tms_of() { # T
	version_pods taskmanager "$1"
}

pod_address() { # POD
	kubectl get pod "$1" --output 'jsonpath={.status.podIP}'
}

pod_status() { # POD JQ
	curl --silent --max-time 10 "http://$(pod_address "$1"):$HTTP_PORT/status" | jq --raw-output "$2"
}

pod_ready() { # POD
	[ "$(kubectl get pod "$1" --output 'jsonpath={.status.conditions[?(@.type=="Ready")].status}')" = True ]
}

pod_drey() { # POD COMMAND [ARG...]
	kubectl exec "$1" --container jobmanager -- drey "${@:2}"
}

told() { # EVENT POD [AFTER_MS]
	[ -n "$(observed "select(.what == \"pod\" and .event == \"$1\" and .pod == \"$2\" and .ms >= ${3:-0})")" ]
}

told_ms() { # EVENT POD
	observed "select(.what == \"pod\" and .event == \"$1\" and .pod == \"$2\") | .ms" | head -n 1
}

settled() {
	local name
	for name in jobmanager taskmanager; do
		kubectl get deployment "$APPLICATION-$name" --output json | jq --exit-status '.metadata.generation == .status.observedGeneration and
			.status.replicas == .spec.replicas and .status.updatedReplicas == .spec.replicas and
			.status.readyReplicas == .spec.replicas' >/dev/null || return 1
		[ "$(kubectl get pods --selector "app.kubernetes.io/component=$name" --output name | wc -l)" -eq 1 ] || return 1
	done
}

now_ms() {
	date +%s%3N
}

# ---- the course of a hand-over -------------------------------------------------------------------------

brake() { # true|false
	kubectl patch configmap "$APPLICATION-drey-control" --type merge --patch "{\"data\":{\"do-not-restart\":\"$1\"}}" >/dev/null
}

# A version that stays Prepared.
prepared() { # T
	brake true
	await "do-not-restart is on" pod_is "$OWNER" .desired.doNotRestart
	upgrade_to "$1"
	await "$1 is prepared" pod_phase "$CANDIDATE" Prepared
}

remember_job() {
	JOB=$(pod_status "$OWNER" .jobId)
}

untouched() { # WHAT
	check "$1: the owner was not told to end" not told term "$OWNER"
	is "$(journal .owner.pod)" "$OWNER" "$1: it is the owner"
	is "$(pod_status "$OWNER" .jobId)" "$JOB" "$1: the job is that of before"
	check "$1: the Pod is ready" pod_ready "$OWNER"
	count_written "$CURRENT"
	await "$1: it goes on writing" goes_on_writing "$CURRENT"
}

await_done() { # T
	local before=$CURRENT old=$OWNER
	await "the job of $1 runs" pod_phase "$CANDIDATE" Running
	await "the hand-over is done" handover_is "done"
	await "$1 writes" has_written "$1" 50
	await "the old Pods are gone, the new ones are ready" settled
	await "the old Pod has ended" told gone "$old"
	check "not before the hand-over was done" test "$(told_ms term "$old")" -ge \
		"$(observed 'select(.what == "journal" and .handover == "done") | .ms' | tail -n 1)"
	check "it was ready until then" stayed_ready "$old"
	is "$(observed "select(.event == \"gone\" and .pod == \"$old\") | .exit")" 0 "with status 0"
	is "$(journal .owner.pod)" "$CANDIDATE" "the new Pod is the owner"
	check "$1 comes after $before" turns_end_with "$before" "$1"
	diag "$before -> $1: $(verdict '.handovers[-1].gapMs') ms: $(gap_parts)"
	CURRENT=$1 OWNER=$CANDIDATE
}

# From the last offer until the hand-over was done, or until now: Kubernetes ends an unready Pod first.
stayed_ready() { # POD
	jq --slurp --exit-status --arg pod "$1" '
		(map(select(.what == "journal" and .handover == "offered")) | last.ms) as $from |
		(map(select(.what == "journal" and .handover == "done" and .ms > $from)) | (first.ms // infinite)) as $to |
		map(select(.what == "pod" and .pod == $pod and .event == "unready" and .ms > $from and .ms < $to)) | length == 0' \
		"$RUN/log/observer.log"
}

pod_restored() { # POD PATH
	local flink
	flink=$(pod_rest "$1" "jobs/$(pod_status "$1" .jobId)/checkpoints" '.latest.restored.external_path')
	printf 'restored: %s, wanted: %s\n' "$flink" "$2"
	[ "$(plain_path "$flink")" = "$(plain_path "$2")" ]
}

returned_to() { # T [SAVEPOINT]
	local savepoint
	await "the job of $1 runs in the Pod that had it" pod_phase "$OWNER" Running
	is "$(journal .owner.pod)" "$OWNER" "which is the owner again"
	check "it was not told to end" not told term "$OWNER"
	check "it was ready all the time" stayed_ready "$OWNER"
	count_written "$1"
	await "it goes on writing" goes_on_writing "$1"
	savepoint=${2:-$(observed 'select(.what == "journal" and .handover == "returned") | .savepoint' | tail -n 1 | jq --raw-output .)}
	check "from the savepoint of the stop" pod_restored "$OWNER" "$savepoint"
}

# ---- after an accident ---------------------------------------------------------------------------------

# Of two versions, and it is one Pod that does it.
one_works() {
	local owner
	owner=$(journal .owner.pod) && [ -n "$owner" ] && [ "$owner" != "$GONE" ] && pod_phase "$owner" Running
}

ends_with() { # T
	await "a Pod runs the job" one_works
	diag "$(journal '"\(.owner.pod), \(.handover.state): \(.handover.why)"')"
	await "the hand-over to $1 is over" runs_version "$1"
	await "$1 writes" has_written "$1" 50
	await "nothing is left to do" settled
	pod_of "$1"
	CURRENT=$1 OWNER=$POD
}

runs_version() { # T
	pod_of "$1" && journal_is ".owner.pod == \"$POD\"" && pod_phase "$POD" Running && pod_ready "$POD"
}

# ---- cases ---------------------------------------------------------------------------------------------

run_cases() { # CASE...
	local one start
	for one; do
		start=$SECONDS
		diag "---- $one"
		"$one"
		diag "---- $one took $((SECONDS - start)) s, $(cut -d' ' -f1-3 /proc/loadavg)"
	done
	MUST_LIVE=()
}

check_denied() {
	is "$(denied | grep -vE "${MAY_BE_DENIED:-^$}")" "" "nothing was asked for that the Roles do not allow"
}

surge_cases() { # CASE...
	run_cases "$@"
	check_handovers
	check_denied
	e2e_end
}
