# shellcheck shell=bash disable=SC2034,SC2119
#
# lib.sh - the bench for hand-overs: two real Flinks and a real Kubernetes control plane on one machine, without a node. Pods
# are directories and processes (pod.sh), each with its own address of 127.0.0.0/8, so that all of them have the same ports.
# Which Pods there are is decided by the real controller of Deployments, or by the test. Sourced after tests/e2e/tap.sh and
# tests/api/lib.sh.
#
#   handover_begin NAME none|surge|blueGreen [own]    Flink, namespace, the rights of the chart, T0; with hand-overs drey join and
#                             drey-held.jar; `blueGreen`: and a job with a gate (tests/job/BlueGreenJob.java; or
#                             BLUEGREEN_JOB=FlipJob)
#   handover_begin_bare NAME  without Flink, for templates with `run` and `ready`
#   template T [JOB_ARG...]   one template of the Pods: the directory $RUN/templates/T, of which T is the version that the job
#                             writes. Before it is used its files may be changed: generation (T), checksum (of drey.yaml);
#                             arguments; config (lines of config.yaml), drey (lines KEY=VALUE); slots (of a TaskManager); usrlib: a
#                             directory of jars beside the job's; proxied: an empty file, if the Pods are to reach the API server
#                             through fault_proxy.py each; build: the directory of another drey; run, ready: programs that
#                             replace the container and the readiness probe
#   template_bare T           a template without Flink
#   template_keys T KEY=VALUE...    drey.yaml has these keys, too, or with other values
#   preload T LIBRARY.c       the processes of its Pods have it: tests/api/wall_clock.c, with the file clock.jobmanager or
#                             clock.taskmanager of the template; broken_disk.c, for the Pods that have broken/POD in $RUN.
#                             ca.crt: another file whom its Pods trust instead of the cluster's
#   faults POD [RULE...]      the rules of the Pod's proxy from now on
#   has_met POD CONFIGMAP FAULT [WORD]   a request for that ConfigMap has met it there; WORD: what follows FAULT in the proxy's log
#
# By hand:
#   start_pod POD IP T        a JobManager; start_tm POD IP T a TaskManager
#   end_pod POD SIGNAL        signal to its process 1, and its end; POD is gone then. kill_pod POD: all of it at once
#
# By the controller of Deployments:
#   start_node                the kubelet that runs the Pods, $RUN/log/kubelet.log has what it did
#   deploy T [REPLICAS]       the Deployments APP-jobmanager (RollingUpdate, maxSurge 1, maxUnavailable 0) and APP-taskmanager
#                             (maxSurge 100%) have this template. REPLICAS: of TaskManagers (default $TASK_MANAGERS, or 1)
#   pods_of T                 names of the JobManager Pods of that template that are not being deleted; tms_of T
#   rolled_out                for await: only Pods of the newest template, ready
#
# About a Pod:
#   pod_status POD JQ, pod_is POD JQ, pod_phase POD PHASE, pod_ready POD, pod_log POD REGEX; pod_rest POD PATH [JQ] asks its Flink;
#   pod_template POD: the name of its template
#   journal JQ, journal_is JQ; candidate JQ; candidate_has_held (its main()); handover_is STATE
#
# What happens to a Pod that the controller has made, and to one by hand that is proxied:
#   kill_agent POD, kill_flink POD    SIGKILL for drey run, for its JVM
#   lose_pod POD              its node dies: it is deleted by force, and nobody is asked
#   partition POD             its proxy dies, and with it every connection to the API server, for ever
#   at_state STATE CMD...     runs CMD as soon as the observer has seen the journal's hand-over in this state once more
#
# What happened:
#   happened STATE            how often the journal's hand-over has come to this state
#   start_observer, end_observer; observed JQ    lines of observer.py for which JQ is true, or what it gives
#   nobody_astray, one_runs   for check: the oracles of the observer
#   judge [OPTION...]         check.awk on the output; its JSON is $RUN/verdict.json, its status is returned. verdict JQ
#   event_ms EVENT VERSION    when the job wrote its last such event
#   has_written VERSION [AT_LEAST]; count_written VERSION sets WRITTEN, and goes_on_writing VERSION compares with that
#   turns_end_with BEFORE T   for check: T wrote after BEFORE, and nothing was lost or doubled until then
#   check_handovers           the checks that all hand-overs have at their end. REPLAY=1: Flink has recovered from a checkpoint
#   gap_parts                 JSON: when what happened in the last hand-over, in ms since its last record

HANDOVER_DIR=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
declare -gA POD_IPS=()
# four JVMs and a control plane on two cores
[ "$WAIT_S" -ge 300 ] || WAIT_S=300

handover_begin() { # NAME none|surge|blueGreen [own]
	MODE=$2
	e2e_begin "$1"
	api_begin "$1" "${3:-}"
	OUT=$RUN/out
	mkdir -p "$OUT"
	JOB=HandoverJob
	[ "$MODE" != blueGreen ] || JOB=${BLUEGREEN_JOB:-BlueGreenJob}
	"$TOP/tests/job/build.sh" "$FLINK" "$RUN/handover.jar" "$JOB" || exit $?
	handover_lib
	handover_rights
	handover_proxy
	handover_env
	T0=$(date +%s%3N)
}

# Without Flink, for templates with programs of their own.
handover_begin_bare() { # NAME
	api_begin "$1"
	take_port REST_PORT
	take_port RPC_PORT
	handover_env
}

# What pod.sh reads.
handover_env() {
	mkdir -p "$RUN"/{pods,templates,addresses,faults}
	take_port BLOB_PORT
	take_port HTTP_PORT
	export BENCH_REST_PORT=$REST_PORT BENCH_RPC_PORT=$RPC_PORT BENCH_BLOB_PORT=$BLOB_PORT BENCH_HTTP_PORT=$HTTP_PORT
	export BENCH_APPLICATION=$APPLICATION BENCH_API_URL=$API_URL BENCH_PKI=$CLUSTER/pki BENCH_GRACE_S=${BENCH_GRACE_S:-60}
	export BUILD POD_NAMESPACE=$NAMESPACE
	NODE=bench-$NAMESPACE
}

# Flink's library for all Pods: with its high availability, with the class that holds main() back, and an archive of their classes, so
# that the JVMs start with half the processor time. A JVM takes one only with the class path with which it was made, so all of that is
# in the user's cache folder. Sets LIB.
handover_lib() {
	local jar cc
	jar=$("$TOP/tools/get-flink.sh" --plugin flink-kubernetes "$FLINK_VERSION") || exit $?
	[ "$MODE" = none ] || "$TOP/java/build.sh" held "$RUN/drey-held.jar" "$FLINK/lib" || exit $?
	LIB=${XDG_CACHE_HOME:-$HOME/.cache}/drey/bench-$(lib_hash "$jar")
	mkdir -p "${LIB%/*}"
	(flock 9 && { [ -e "$LIB/done" ] || lib_make "$jar"; }) 9>"$LIB.lock" || die 1 "$LIB cannot be made: $RUN/log/lib.log"
	read -ra cc <<<"${CC:-cc}"
	"${cc[@]}" -shared -fPIC -O -Wall -Wextra -o "$RUN/network.so" "$HANDOVER_DIR/network.c" -ldl || exit $?
}

# Of what it is made of.
lib_hash() { # JAR
	{
		echo "$FLINK"/lib/*.jar "$1"
		[ "$MODE" = none ] || cat "$RUN/drey-held.jar"
		cat "$TOP/tools/make-class-archive.sh" "$TOP"/java/archive/*
		declare -f lib_make make_class_archive
		java -version 2>&1
	} | sha256sum | cut -c1-16
}

lib_make() { # JAR
	local log=$RUN/log/lib.log
	echo "# making the library of the bench, with the archive of its classes: $LIB"
	rm -rf "$LIB"
	mkdir -p "$LIB/flink/lib" "$LIB/conf"
	ln -s "$FLINK"/lib/*.jar "$1" "$LIB/flink/lib/"
	[ "$MODE" = none ] || cp "$RUN/drey-held.jar" "$LIB/flink/lib/"
	flink_conf "$LIB" 0 0 </dev/null
	"$TOP/java/build.sh" archive "$LIB/drey/archive.jar" "$FLINK/lib" || return 1
	RUN=$LIB # of this subshell
	make_class_archive >"$log" 2>&1 || return 1
	: >"$LIB/done"
}

# One ServiceAccount for each kind of Pod, with what the chart gives it, by name.
handover_rights() {
	local file values=()
	[ "$MODE" = none ] || values=(--set "upgrade.strategy=$MODE")
	[ "$MODE" != blueGreen ] || values+=(--set drey.blueGreen.sourcesCanBeReadTwice=true --set jobManager.progressDeadlineSeconds=3600)
	[ "$JOB" != FlipJob ] || values+=(--set drey.blueGreen.gate=flip --set "drey.blueGreen.gateName=the gate")
	api_role "${values[@]}" || api_fail "the chart's Role cannot be made"
	api_template taskmanager-role.yaml "${values[@]}" >"$RUN/taskmanager-role.yaml" &&
		api_apply "$RUN/taskmanager-role.yaml" || api_fail "the Role of the TaskManagers cannot be made"
	kubectl create token "$APPLICATION-taskmanager" --duration 14400s >"$RUN/taskmanager.token" || api_fail "no token"
	jq --arg file "$RUN/taskmanager.token" '.users[0].user.tokenFile = $file' "$POD_KUBECONFIG" >"$RUN/taskmanager.conf"
}

handover_proxy() {
	openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$RUN/proxy.key" -subj /CN=proxy 2>/dev/null |
		openssl x509 -req -CA "$CLUSTER/pki/ca.crt" -CAkey "$CLUSTER/pki/ca.key" -set_serial "0x$(openssl rand -hex 8)" -days 1 \
			-out "$RUN/proxy.crt" -extfile <(echo "subjectAltName=IP:127.0.0.1") 2>/dev/null
}

# ---- templates -----------------------------------------------------------------------------------

template_bare() { # T
	mkdir -p "$RUN/templates/$1"
	echo "$1" >"$RUN/templates/$1/generation"
	echo "checksum-$1" >"$RUN/templates/$1/checksum"
}

template() { # T [JOB_ARG...]
	local dir=$RUN/templates/$1 name=$1
	shift
	template_bare "$name"
	ln -sfn "$LIB/flink/lib" "$dir/lib"
	cp "$RUN/handover.jar" "$dir/job.jar"
	printf '%s\n' --version "$name" --output "$OUT" --control "$CONTROL" --t0 "$T0" "$@" >"$dir/arguments"
	ha_options >"$dir/config"
	template_drey "$name" "$dir"
}

template_drey() { # T DIR
	local args
	mapfile -t args <"$2/arguments"
	cat >"$2/drey" <<-END
		application=$APPLICATION
		generation=$1
		flink.version=$FLINK_VERSION
		flink.jobClass=drey.$JOB
		flink.arguments=$(yaml_list "${args[@]}")
		flink.restPort=$REST_PORT
		flink.checkpointDirectory=file://$RUN/ck
		flink.savepointDirectory=file://$RUN/sp
		http.port=$HTTP_PORT
		kubernetes.enabled=true
		kubernetes.namespace=$NAMESPACE
		kubernetes.resource=none
		kubernetes.owner=deployment/$APPLICATION-jobmanager
		attempts.backoffFirst=200ms
		poll.slow=1s
	END
	[ ! -e "$LIB/flink.jsa" ] || echo "flink.classArchive=$LIB/flink.jsa" >>"$2/drey"
	if [ "$MODE" != none ]; then
		: >"$2/join"
		printf '%s\n' "handover.mode=$MODE" "handover.clusterIds=[$APPLICATION, $APPLICATION-green]" >>"$2/drey"
	fi
}

# Its file `drey` has these keys, too, or with other values.
template_keys() { # T KEY=VALUE...
	local file=$RUN/templates/$1/drey line
	for line in "${@:2}"; do
		grep -vF "${line%%=*}=" "$file" >"$file.new" || :
		printf '%s\n' "$line" >>"$file.new"
		mv "$file.new" "$file"
	done
}

preload() { # T LIBRARY.c
	local library cc
	library=$(basename "$2" .c)
	read -ra cc <<<"${CC:-cc}"
	"${cc[@]}" -shared -fPIC -O -Wall -Wextra -o "$RUN/$library.so" "$2" -ldl || exit $?
	mkdir -p "$RUN/broken"
	echo "$RUN/$library.so" >"$RUN/templates/$1/preload"
}

faults() { # POD [RULE...]
	local file=$RUN/faults/$1
	shift
	: >"$file.new"
	[ $# -eq 0 ] || printf '%s\n' "$@" >"$file.new"
	mv "$file.new" "$file"
}

has_met() { # POD CONFIGMAP FAULT [WORD]
	grep --quiet "/configmaps/$2.* $3 ${4:-}" "$RUN/log/$1.proxy.log"
}

# ---- Pods by hand --------------------------------------------------------------------------------

pod_env() { # POD IP T
	POD_WORDS=("POD_NAME=$1" "POD_UID=$(cat /proc/sys/kernel/random/uuid)" "POD_IP=$2" "TEMPLATE=$3" "POD_TEMPLATE_HASH=hash-$3"
		"DREY_CHECKSUM=$(cat "$RUN/templates/$3/checksum")")
	POD_IPS[$1]=$2
}

start_pod() { # POD IP T
	pod_env "$@"
	spawn "$1" "${POD_WORDS[@]}" "$HANDOVER_DIR/pod.sh" start jobmanager
}

# One that fails is started again.
start_tm() { # POD IP T
	pod_env "$@"
	# shellcheck disable=SC2016 # expanded by that shell
	spawn "$1" "${POD_WORDS[@]}" bash -c 'until "$@"; do echo "the container has ended with status $?"; sleep 1; done' tm \
		"$HANDOVER_DIR/pod.sh" start taskmanager
}

pod_has_ended() { # POD
	[ -e "$RUN/$1.status" ]
}

end_pod() { # POD SIGNAL
	kill "-$2" "${PIDS[$1]}" 2>/dev/null
	wait_quietly "$WAIT_S" pod_has_ended "$1" || return 1
	kill -KILL -- "-${PIDS[$1]}" 2>/dev/null # its proxy
	rm -f "$RUN/addresses/${POD_IPS[$1]}"
}

kill_pod() { # POD
	kill -KILL -- "-${PIDS[$1]}" 2>/dev/null
	end_pod "$1" KILL
}

# ---- Pods by the controller ----------------------------------------------------------------------

# Its Pods have not root's right to bypass file modes, so forbidden means forbidden for them.
start_node() {
	local as=()
	[ "$(id -u)" -ne 0 ] || as=(setpriv "--bounding-set=-dac_override,-dac_read_search" --)
	spawn kubelet "${as[@]}" python3 "$HANDOVER_DIR/kubelet.py" --server "$API_URL" --pki "$CLUSTER/pki" --namespace "$NAMESPACE" \
		--node "$NODE" --pod "$HANDOVER_DIR/pod.sh"
	await "the node is there" grep --quiet registered "$RUN/log/kubelet.log"
}

deployment() { # COMPONENT T REPLICAS MAX_SURGE
	jq --null-input --arg app "$APPLICATION" --arg component "$1" --arg template "$2" --argjson replicas "$3" --argjson surge "$4" \
		--arg node "$NODE" --arg generation "$(cat "$RUN/templates/$2/generation")" \
		--arg checksum "$(cat "$RUN/templates/$2/checksum")" --argjson grace "$((BENCH_GRACE_S + 30))" '
		({app: $app, component: $component}) as $labels | {
		apiVersion: "apps/v1", kind: "Deployment", metadata: {name: "\($app)-\($component)", labels: $labels},
		spec: {replicas: $replicas, selector: {matchLabels: $labels}, progressDeadlineSeconds: 1200,
			strategy: {type: "RollingUpdate", rollingUpdate: {maxSurge: $surge, maxUnavailable: 0}},
			template: {
				metadata: {labels: $labels, annotations: ({"bench/template": $template, "drey.dev/generation": $generation} +
					(if $component == "jobmanager" then {"checksum/drey": $checksum} else {} end))},
				spec: {nodeName: $node, terminationGracePeriodSeconds: $grace, automountServiceAccountToken: false,
					containers: [{name: "c", image: "bench/none"}]}}}}'
}

deploy() { # T [REPLICAS]
	deployment taskmanager "$1" "${2:-${TASK_MANAGERS:-1}}" '"100%"' | kubectl apply --server-side --force-conflicts --filename - >/dev/null &&
		deployment jobmanager "$1" 1 1 | kubectl apply --server-side --force-conflicts --filename - >/dev/null
}

pods_named() { # COMPONENT T
	kubectl get pods --selector "app=$APPLICATION,component=$1" --output json | jq --raw-output --arg template "$2" '.items[] |
		select(.metadata.deletionTimestamp == null and .metadata.annotations["bench/template"] == $template) | .metadata.name'
}

pods_of() { # T
	pods_named jobmanager "$1"
}

tms_of() { # T
	pods_named taskmanager "$1"
}

# Sets POD to the one JobManager Pod of that template.
pod_of() { # T
	POD=$(pods_of "$1") && [ -n "$POD" ] && [ "$(wc -l <<<"$POD")" -eq 1 ]
}

rolled_out() {
	local name
	for name in jobmanager taskmanager; do
		kubectl get deployment "$APPLICATION-$name" --output json | jq --exit-status '.metadata.generation == .status.observedGeneration and
			.status.replicas == .spec.replicas and .status.updatedReplicas == .spec.replicas and
			.status.readyReplicas == .spec.replicas' >/dev/null || return 1
	done
}

# ---- about Pods ----------------------------------------------------------------------------------

pod_status() { # POD JQ
	local document
	document=$("$BUILD/drey" status --json --config "$RUN/pods/$1/drey.yaml" 2>/dev/null) || [ -n "$document" ] || return 1
	jq --raw-output "$2" <<<"$document"
}

pod_is() { # POD JQ
	[ "$(pod_status "$1" "$2")" = true ]
}

pod_phase() { # POD PHASE
	pod_is "$1" ".phase == \"$2\""
}

pod_address() { # POD
	grep -l "^$1 " "$RUN"/addresses/* 2>/dev/null | sed 's,.*/,,'
}

pod_ready() { # POD
	curl --silent --fail --max-time 2 --output "$RUN/readyz" "http://$(pod_address "$1"):$HTTP_PORT/readyz"
}

pod_log() { # POD REGEX
	grep --quiet --extended-regexp -- "$2" "$RUN/log/$1.log"
}

pod_rest() { # POD PATH [JQ]
	curl --silent --show-error --fail --max-time 10 "http://$(pod_address "$1"):$REST_PORT/${2#/}" | jq --raw-output "${3:-.}"
}

pod_template() { # POD
	kubectl get pod "$1" --output 'jsonpath={.metadata.annotations.bench/template}'
}

pod_pids() { # POD REGEX: of its processes
	local pid
	for pid in $(run_pids "$2"); do
		! tr '\0' '\n' 2>/dev/null <"/proc/$pid/environ" | grep --quiet --line-regexp "POD_NAME=$1" || echo "$pid"
	done
}

kill_agent() { # POD
	kill -KILL "$(pod_pids "$1" "^$BUILD/drey run ")"
}

kill_flink() { # POD
	kill -KILL "$(pod_pids "$1" "^[^ ]*java .*($FLINK_ENTRYPOINT|$FLINK_TASKMANAGER)")"
}

lose_pod() { # POD
	kubectl delete pod "$1" --grace-period=0 --force >/dev/null 2>&1
}

partition() { # POD
	kill -KILL "$(pod_pids "$1" "fault_proxy.py")"
}

at_state() { # STATE CMD...
	local state=$1 before
	shift
	before=$(happened "$state")
	wait_until "the hand-over is $state" "$WAIT_S" happened_again "$state" "$before" && "$@"
}

# How often the journal's hand-over has come to this state.
happened() { # STATE
	observed "select(.what == \"journal\" and .handover == \"$1\")" | wc -l
}

happened_again() { # STATE BEFORE
	[ "$(happened "$1")" -gt "$2" ]
}

journal() { # JQ
	kubectl get configmap "$APPLICATION-drey-journal" --output json | jq --raw-output '.data["journal.json"]' | jq --raw-output "$1"
}

journal_is() { # JQ
	[ "$(journal "$1" 2>/dev/null)" = true ]
}

candidate() { # JQ
	kubectl get configmap "$APPLICATION-drey-candidate" --output json | jq --raw-output '.data["candidate.json"]' | jq --raw-output "$1"
}

candidate_is() { # STATE
	[ "$(candidate .state 2>/dev/null)" = "$1" ]
}

# Of the Pod CANDIDATE.
candidate_has_held() {
	[ "$(candidate "select(.pod == \"$CANDIDATE\") | .warm.mainHeld" 2>/dev/null)" = true ]
}

handover_is() { # STATE
	journal_is ".handover.state == \"$1\""
}

# ---- what happened -------------------------------------------------------------------------------

start_observer() {
	spawn observer python3 "$HANDOVER_DIR/observer.py" --server "$API_URL" --pki "$CLUSTER/pki" --namespace "$NAMESPACE" \
		--application "$APPLICATION" --rest-port "$REST_PORT"
}

end_observer() {
	kill -TERM "${PIDS[observer]}"
	wait_quietly "$WAIT_S" test -e "$RUN/observer.status"
}

observed() { # JQ
	jq --compact-output "$1" "$RUN/log/observer.log"
}

nobody_astray() {
	local said
	said=$(observed 'select(.what == "astray")' | head -n 5)
	printf '%s\n' "$said"
	[ -z "$said" ]
}

one_runs() {
	local said
	said=$(observed 'select(.what == "two")' | head -n 5)
	printf '%s\n' "$said"
	[ -z "$said" ]
}

judge() { # OPTION...
	local status=0 parts
	mapfile -t parts < <(find "$OUT/committed" -name 'part-*' 2>/dev/null)
	awk "$@" -f "$HANDOVER_DIR/check.awk" "$OUT/records.log" committed=1 "${parts[@]}" >"$RUN/verdict.json" || status=$?
	cat "$RUN/verdict.json"
	return "$status"
}

verdict() { # JQ
	jq --raw-output "$1" "$RUN/verdict.json"
}

event_ms() { # EVENT VERSION
	grep -E "^$1 $2 " "$OUT/events.log" | tail -n 1 | sed 's/.*ms=//'
}

has_event() { # EVENT VERSION [AT_LEAST]
	[ "$(grep -cE "^$1 $2 " "$OUT/events.log")" -ge "${3:-1}" ]
}

# VERSION has written at least that many records.
has_written() { # VERSION [AT_LEAST]
	[ "$(grep -c "^$1 " "$OUT/records.log" 2>/dev/null)" -ge "${2:-1}" ]
}

# Of the last change of turns in the verdict: the journal's writes and the job's events, in ms since the last record.
gap_parts() {
	local from to
	from=$(verdict '.handovers[-1].from') to=$(verdict '.handovers[-1].to')
	jq --null-input --compact-output --slurpfile seen "$RUN/log/observer.log" --argjson verdict "$(cat "$RUN/verdict.json")" \
		--arg savepoint "$(event_ms SNAPSHOT "$from")" --arg main "$(event_ms MAIN "$to")" --arg open "$(event_ms OPEN "$to")" '
		$verdict.handovers[-1] as $last | ($seen | map(select(.what == "journal" and .handover != null and
			.ms > $last.lastMs - 60000 and .ms < $last.firstMs + 60000)) | map({key: .handover, value: (.ms - $last.lastMs)}) | from_entries) +
		{snapshot: ($savepoint | tonumber? - $last.lastMs), main: ($main | tonumber? - $last.lastMs),
			open: ($open | tonumber? - $last.lastMs), first: $last.gapMs}'
}

# Sets WRITTEN, the number of records of T by now.
count_written() { # T
	WRITTEN=$(grep -c "^$1 " "$OUT/records.log" 2>/dev/null)
}

goes_on_writing() { # T
	has_written "$1" $((WRITTEN + 50))
}

turns_end_with() { # BEFORE T
	judge ${REPLAY:+-v replay=1}
	[ "$(verdict '.turns[-2:] | join(" ")')" = "$1 $2" ]
}

# What is true of all hand-overs, when they are over.
check_handovers() {
	check "the observer ends" end_observer
	check "in all of this, nothing was lost or doubled" judge ${REPLAY:+-v replay=1} -v splits=2
	diag "$(verdict tojson)"
	check "no TaskManager was at the JobManager of another version" nobody_astray
	check "never did two jobs run" one_runs
	diag "$(observed 'select(.what == "end")')"
}
