#!/usr/bin/env bash
#
# sides.sh - the applications of run.sh, which starts it inside of the node: DIR STARTS UPGRADES.
#
#   orders   the chart as it is: drey, Flink's HA, state on S3, journal, custom resource
#   surge    the same with upgrade.strategy surge; only if there are UPGRADES
#   plain    what the chart makes for the same values, without drey: the same script of Flink is process 1
#   lyft-a, lyft-b   the same as session clusters, in the order of steps of Lyft's operator (mode Dual): the second cluster is up, with
#            TaskManagers and the jar, before the job of the first one is stopped with a savepoint; only if there are UPGRADES
#
# Leaves in DIR, a line of ms for each turn:
#   start.drey, start.hand      bound to JVM, bound to process 1, process 1 to JVM, process 1 to the start of Flink's script
#   upgrade.drey, upgrade.surge, upgrade.hand, upgrade.lyft   last record to first record; to the end of the old job, from there to main(), from there
#   parts.surge                 last record to Granted, to Taken, to go, to main(), to first record
# and, a line for each hand-over:
#   agent.drey, agent.surge     kB of the agent's memory at rest, before each upgrade
#   memory.surge                MiB of all Pods before it, and at most while it lasts
#   requests.surge              to the API server from the new Pod until the job runs there: of both dreys, of these since the stop began,
#                               of both Flinks; and the seconds that this took

# shellcheck disable=SC2317 # functions that are waited for
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../tests/e2e/tap.sh"
# shellcheck source=tests/cluster/lib.sh
. "$TOP/tests/cluster/lib.sh"
results=$1 starts=$2 upgrades=$3
cd "$TOP" || exit 1
node_begin pod
AUDIT=$DREY_NODE/control/log/audit.log
POLL_S=0.05

fail() {
	say "sides.sh: $*"
	exit 1
}

until_true() { # WHAT CMD...: without looking often at anything but files
	local what=$1 end=$((SECONDS + WAIT_S))
	shift
	until "$@" >/dev/null 2>&1; do
		[ "$SECONDS" -lt "$end" ] || fail "not within $WAIT_S s: $what"
		sleep "$POLL_S"
	done
}

now_ms() {
	echo $(($(date +%s%N) / 1000000))
}

side() { # drey|surge|hand|lyft: what the functions of lib.sh are about
	case $1 in
	drey) APPLICATION=orders ;;
	surge) APPLICATION=surge ;;
	hand) APPLICATION=plain ;;
	lyft) APPLICATION=$LYFT ;;
	esac
	EVENTS=$VOLUME/log.${APPLICATION/#lyft-?/lyft}
}

pod() { # COMPONENT
	kubectl get pods --selector "app.kubernetes.io/instance=$APPLICATION,app.kubernetes.io/component=$1" --output json |
		jq --raw-output --exit-status '[.items[] | select(.metadata.deletionTimestamp == null and .status.phase != "Failed")] |
			if length == 1 then .[0].metadata.name else empty end'
}

# ---- the applications --------------------------------------------------------------------------------------

side_values() { # APPLICATION [LINE...]
	# shellcheck disable=SC2034 # of lib.sh
	JOB_LINE="class: drey.ContinuityJob, args: [--log, /events/log.$1, --control, /events/control.$1]"
	# shellcheck disable=SC2034 # of lib.sh
	MORE_CONFIGURATION="env.java.opts.jobmanager: \"-Xlog:os=info:file=/events/jvm.$1.%t:time,uptime\""
	values "${@:2}"
	mv "$RUN/values.yaml" "$RUN/$1.yaml"
	: >"$VOLUME/log.$1"
	chmod 666 "$VOLUME/log.$1"
}

begin_drey() {
	side drey
	side_values orders
	by_helm install 1
}

begin_surge() {
	side surge
	side_values surge "upgrade: {strategy: surge}"
	by_helm install 1
	spawn observer python3 "$TOP/tests/handover/observer.py" --server "$(jq --raw-output '.clusters[0].cluster.server' "$ADMIN")" \
		--pki "${ADMIN%/*}" --namespace "$NAMESPACE" --application surge --rest-port 8081 --pods
}

by_helm() { # install|upgrade TAG
	helm "$1" "$APPLICATION" "$CHART" --values "$RUN/$APPLICATION.yaml" --set "state.uri=s3://flink/$APPLICATION" \
		--set-string "image.tag=$2" --wait --timeout "${WAIT_S}s" >/dev/null || fail "helm $1"
}

# What the chart makes for the release RELEASE, as far as it does not need drey, in $RUN/RELEASE.json.
chart_objects() { # RELEASE STATE
	helm template "$1" "$CHART" --values "$RUN/$2.yaml" --no-hooks --set "state.uri=s3://flink/$2" --set customResource=false \
		--set drey.kubernetes.launches=0 --set savepointCronJob.enabled=false >"$RUN/$1.objects" &&
		kubectl create --dry-run=client --output json --filename "$RUN/$1.objects" >"$RUN/$1.json" || fail "helm template"
}

# With those of RELEASE the image of TAG, where Flink's script SCRIPT is the JobManager, with ARG...
without_drey() { # RELEASE TAG SCRIPT ARG...
	# shellcheck disable=SC2016 # of jq
	jq --arg name "$1-jobmanager" --arg image "localhost/orders:$2" --arg script "/opt/flink/bin/$3" '
		if .kind != "Deployment" then .
		else .spec.template.spec.containers[0] |= (.image = $image | del(.startupProbe, .livenessProbe, .readinessProbe, .lifecycle)) |
			if .metadata.name == $name then .spec.template.spec.containers[0] |= (
				.command = [$script, "start-foreground"] | .args = $ARGS.positional |
				.env += [{name: "LD_PRELOAD", value: "/usr/$LIB/libjemalloc.so"}])
			else .spec.template.spec.containers[0] |= (.command = ["/opt/flink/bin/taskmanager.sh", "start-foreground"] |
				.args = ["-D", "taskmanager.host=$(POD_IP)", "-D", "taskmanager.resource-id=$(POD_NAME)"])
			end
		end' "$RUN/$1.json" --args -- "${@:4}"
}

# The chart's objects. The JobManager starts as its image lets it; what only drey answers is not asked. Each version of them has job
# results of its own: else Flink 2.3 recovers the old job, which is over, and main() fails ("Base job ID is not found").
plain_objects() { # TAG [SAVEPOINT JOB_ID]
	local restore=()
	[ $# -lt 2 ] || restore=(--fromSavepoint "$2" --job-id "$3")
	# shellcheck disable=SC2016 # of Kubernetes
	without_drey plain "$1" standalone-job.sh -D 'jobmanager.rpc.address=$(POD_IP)' \
		-D execution.checkpointing.dir=s3://flink/plain/checkpoints -D execution.checkpointing.savepoint-dir=s3://flink/plain/savepoints \
		-D "job-result-store.storage-path=s3://flink/plain/results/${3:-first}" -D execution.shutdown-on-application-finish=false \
		--job-classname drey.ContinuityJob "${restore[@]}" -- --log /events/log.plain --control /events/control.plain
}

# ---- the REST API of a cluster, without asking for its address each time ----

rest_at() { # ADDRESS PATH JQ [CURL_OPTION...]
	local answer
	answer=$(curl --silent --fail --max-time 20 "${@:4}" "http://$1:8081/$2") && jq --raw-output --exit-status "$3" <<<"$answer"
}

jobmanager_address() { # fails while its Pod has none
	kubectl get pod "$(pod jobmanager)" --output 'jsonpath={.status.podIP}' | grep .
}

saved_at() { # ADDRESS JOB TRIGGER
	savepoint=$(rest_at "$1" "jobs/$2/savepoints/$3" 'select(.status.id == "COMPLETED") | .operation.location')
}

# Sets `savepoint`.
stop_at() { # ADDRESS JOB
	local trigger
	trigger=$(rest_at "$1" "jobs/$2/stop" '."request-id"' --header 'Content-Type: application/json' --data '{}')
	until_true "the savepoint is there" saved_at "$1" "$2" "$trigger"
}

begin_hand() {
	side hand
	side_values plain
	chart_objects plain plain
	plain_objects 1 | kubectl apply --filename - >/dev/null || fail "kubectl apply"
}

# ---- Lyft's order of steps: a session cluster for each version ----

LYFT=lyft-a

session_objects() { # NAME TAG
	# shellcheck disable=SC2016 # of Kubernetes
	without_drey "$1" "$2" jobmanager.sh -D 'jobmanager.rpc.address=$(POD_IP)' \
		-D execution.checkpointing.dir=s3://flink/lyft/checkpoints -D execution.checkpointing.savepoint-dir=s3://flink/lyft/savepoints
}

cluster_is_up() {
	local address
	address=$(jobmanager_address) && rest_at "$address" overview '.taskmanagers == 1 and ."slots-available" >= 1'
}

# Sets LYFT_AT and LYFT_JAR: where the job of this version can be started.
session_up() { # TAG
	session_objects "$APPLICATION" "$1" | kubectl apply --filename - >/dev/null || fail "kubectl apply"
	until_true "the session cluster is up" cluster_is_up
	LYFT_AT=$(jobmanager_address)
	LYFT_JAR=$(rest_at "$LYFT_AT" jars/upload '.filename | sub(".*/"; "")' --form "jarfile=@$RUN/lyft.jar;type=application/x-java-archive") ||
		fail "the jar cannot be uploaded"
}

session_run() { # [SAVEPOINT]
	jq --null-input --compact-output --arg path "${1:-}" '{entryClass: "drey.ContinuityJob",
		programArgsList: ["--log", "/events/log.lyft", "--control", "/events/control.lyft"]} +
		if $path == "" then {} else {savepointPath: $path} end' |
		rest_at "$LYFT_AT" "jars/$LYFT_JAR/run" .jobid --header 'Content-Type: application/json' --data @- >/dev/null || fail "the job cannot be started"
}

begin_lyft() {
	side lyft
	side_values lyft
	chart_objects lyft-a lyft
	chart_objects lyft-b lyft
	kubectl exec "$(APPLICATION=orders pod jobmanager)" -- sh -c 'cat /opt/flink/usrlib/job.jar' >"$RUN/lyft.jar"
	session_up 1
	session_run
}

by_lyft() { # TAG
	local old=$APPLICATION from job savepoint
	job=$(job_id) from=$(jobmanager_address)
	LYFT=$([ "$old" = lyft-a ] && echo lyft-b || echo lyft-a) APPLICATION=$LYFT
	session_up "$1"
	stop_at "$from" "$job"
	session_run "$savepoint"
	kubectl delete deployment "$old-jobmanager" "$old-taskmanager" --wait=false >/dev/null
}

# The job runs, and checkpoints have been completed since N of them were.
settled() { # COMPLETED
	has_events COMPLETED $(($1 + 2)) || return 1
	job_runs || return 1
	[[ "$APPLICATION" = plain || "$APPLICATION" = lyft-? ]] || runs
}

settle() {
	local before
	before=$(event_count COMPLETED)
	POLL_S=1 until_true "$APPLICATION runs" settled "$before"
}

# ---- a start -----------------------------------------------------------------------------------------------

jvm_log() {
	find "$VOLUME" -name "jvm.$APPLICATION.*" -size +0
}

# The JVM's clock and how long it has been up, in its first line.
jvm_ms() {
	sed -n '1s/^\[\([^]]*\)\]\[\([0-9.]*\)s\].*/\1 \2/p' "$(jvm_log | head -n 1)" | while read -r time uptime; do
		echo "$(date -d "$time" +%s%3N) $uptime" | awk '{ printf "%.0f\n", $1 - 1000 * $2 }'
	done
}

# When the scheduler reported the node of the Pod to the API server.
bound_ms() { # POD
	local time
	time=$(jq --raw-output --arg pod "$1" 'select(.objectRef.name == $pod and .objectRef.subresource == "binding") |
		.requestReceivedTimestamp' <(grep --text -F "pods/$1/binding" "$AUDIT") | head -n 1) && [ -n "$time" ] &&
		date -d "$time" +%s%3N
}

# Ticks since boot, 10 ms each, at which process PID of the Pod was begun.
begun_ms() { # PID
	local ticks
	ticks=$(in_pod jobmanager cat "/proc/$1/stat" | sed 's/.*) //' | cut -d' ' -f20) && echo $((ticks * 10 + boot_ms))
}

# The boot, in ms of the clock that everything else has.
find_boot() {
	boot_ms=$(($(date +%s%3N) - $(awk '{ printf "%.0f", $1 * 1000 }' /proc/uptime)))
}

one_start() { # drey|hand
	local name jvm bound first script
	side "$1"
	rm -f "$VOLUME/jvm.$APPLICATION".*
	name=$(pod jobmanager)
	kubectl delete pod "$name" --wait=false >/dev/null
	until_true "another JVM" another_jvm
	find_boot
	until_true "another Pod" other_pod "$name"
	jvm=$(jvm_ms) bound=$(bound_ms "$(pod jobmanager)") first=$(begun_ms 1) script=$(begun_ms "$(jvm_pid)")
	echo "$((jvm - bound)) $((first - bound)) $((jvm - first)) $((script - first))" | tee -a "$results/start.$1" | sed "s/^/# start, $1: /" >&2
	settle
}

another_jvm() {
	[ -n "$(jvm_log)" ]
}

other_pod() { # NAME
	local name
	name=$(pod jobmanager) && [ "$name" != "$1" ] && [ -n "$(jvm_pid)" ]
}

# The JVM has the number of the script, which becomes it.
jvm_pid() {
	jvm jobmanager | head -n 1
}

# ---- an upgrade --------------------------------------------------------------------------------------------

# Between two jobs of the log: the last snapshot of the old one, its end, main(), the first element of the new one.
moments() { # OLD_LINES: those that were there before
	awk -v old="$1" '
		function ms() { return substr($NF, 4) }
		NR <= old && $1 == "SNAPSHOT" { job = $5; last = ms() }
		NR > old && $1 == "SNAPSHOT" && $5 == job { last = ms() }
		NR > old && $1 == "CLOSE" && $5 == job { closed = ms() }
		NR > old && $1 == "MAIN" { main = ms() }
		NR > old && $1 == "START" && $5 != job { print last, closed, main, ms(); exit }' "$EVENTS"
}

begun_again() { # OLD_LINES
	[ -n "$(moments "$1")" ]
}

away() { # OLD_LINES
	moments "$1" | awk '{ print $4 - $1, $2 - $1, $3 - $2, $4 - $3 }'
}

by_hand() { # TAG
	local savepoint
	stop_at "$(jobmanager_address)" "$(job_id)"
	plain_objects "$1" "$savepoint" "$(openssl rand -hex 16)" | kubectl apply --filename - >/dev/null || fail "kubectl apply"
}

agent_kb() {
	# shellcheck disable=SC2016 # of the shell in the Pod
	in_pod jobmanager sh -c 'for p in /proc/[0-9]*; do
		[ "$(tr "\0" " " <$p/cmdline | cut -d" " -f1,2 | sed "s,.*/,,")" != "drey run" ] || sed -n "s/^VmRSS:[^0-9]*\([0-9]*\).*/\1/p" $p/status
	done'
}

one_upgrade() { # drey|surge|hand|lyft TAG
	local lines
	side "$1"
	lines=$(wc -l <"$EVENTS")
	[[ $1 != drey && $1 != surge ]] || agent_kb >>"$results/agent.$1"
	case $1 in
	drey) by_helm upgrade "$2" ;;
	surge) by_surge "$2" ;;
	hand) by_hand "$2" ;;
	lyft) by_lyft "$2" ;;
	esac
	until_true "the job has begun again" begun_again "$lines"
	away "$lines" | tee -a "$results/upgrade.$1" | sed "s/^/# upgrade, $1: /" >&2
	[ "$1" != surge ] || surge_parts "$lines" | tee -a "$results/parts.surge" | sed 's/^/# its parts: /' >&2
	settle
	continuity >&2 || fail "the job has lost something"
}

# ---- a hand-over -------------------------------------------------------------------------------------------

observed() { # JQ
	jq --raw-output "$1" "$RUN/log/observer.log"
}

# As the kubelet counts it: without what is only cached.
memory_mib() {
	local uid dir sum=0 used
	for uid in $(kubectl get pods --selector "app.kubernetes.io/instance=$APPLICATION" --output 'jsonpath={.items[*].metadata.uid}'); do
		for dir in /sys/fs/cgroup/{memory/,}drey-node-*/kubepods/{*/,}"pod$uid"; do
			[ -e "$dir/memory.stat" ] || continue
			used=$(cat "$dir/memory.usage_in_bytes" 2>/dev/null || cat "$dir/memory.current") || continue
			used=$((used - $(sed -nE 's/^(total_)?inactive_file //p' "$dir/memory.stat" | tail -n 1)))
			sum=$((sum + used))
			break
		done
	done
	echo $((sum / 1048576))
}

watch_memory() {
	while :; do
		memory_mib
		sleep 0.5
	done >"$RUN/memory"
}

# drey says who it is; everything else with these accounts is Flink.
requests() { # FROM_MS TO_MS
	local from to
	from=$(date -u -d "@${1:0:-3}.${1: -3}" +%FT%T.%3N) to=$(date -u -d "@${2:0:-3}.${2: -3}" +%FT%T.%3N)
	jq --raw-output --arg user "system:serviceaccount:$NAMESPACE:surge" --arg from "$from" --arg to "$to" '
		select(.user.username == $user and .requestReceivedTimestamp >= $from and .requestReceivedTimestamp <= $to) |
		"\(.auditID) \(if .userAgent | startswith("drey/") then "drey" else "flink" end) \(.verb) \(.objectRef.resource)/\(.objectRef.name // "")"' \
		"$AUDIT" | sort -u -k 1,1 | cut -d' ' -f2- >"$RUN/requests"
}

count_requests() { # MADE_MS STOPPING_MS DONE_MS
	local dreys flinks
	requests "$1" "$3"
	sort "$RUN/requests" | uniq -c | sed 's/^/# requests: /' >&2
	dreys=$(grep -c '^drey ' "$RUN/requests") flinks=$(grep -c '^flink ' "$RUN/requests")
	requests "$2" "$3"
	echo "$dreys $(grep -c '^drey ' "$RUN/requests") $flinks $((($3 - $1) / 1000))"
}

by_surge() { # TAG
	local watcher before made
	before=$(memory_mib)
	watch_memory &
	watcher=$!
	by_helm upgrade "$1"
	until_true "the old Pods have gone" alone
	kill "$watcher"
	wait "$watcher" 2>/dev/null
	echo "$before $(sort -n "$RUN/memory" | tail -n 1)" | tee -a "$results/memory.surge" | sed 's/^/# MiB: /' >&2
	made=$(observed 'select(.what == "pod" and .component == "jobmanager" and .event == "made") | .ms' | tail -n 1)
	count_requests "$made" "$(state_ms stopping)" "$(state_ms "done")" | tee -a "$results/requests.surge" | sed 's/^/# requests: /' >&2
}

alone() {
	[ "$(kubectl get pods --selector "app.kubernetes.io/instance=$APPLICATION" --output name | wc -l)" -eq 2 ]
}

state_ms() { # STATE: when the last hand-over came to it
	observed "select(.what == \"journal\" and .handover == \"$1\") | .ms" | tail -n 1
}

surge_parts() { # OLD_LINES
	local last main first go
	read -r last _ main first < <(moments "$1")
	go=$(kubectl get configmap surge-drey-journal --output json | jq --raw-output '.data["journal.json"] | fromjson | .launches[-1].startedUnixMs')
	set -- "$last" "$(state_ms granted)" "$(state_ms taken)" "$go" "$main" "$first"
	echo "$(($2 - $1)) $(($3 - $2)) $(($4 - $3)) $(($5 - $4)) $(($6 - $5))"
}

begin_drey
settle
begin_hand
settle
if [ "$upgrades" -gt 0 ]; then
	begin_surge
	settle
	begin_lyft
	settle
fi
for ((i = 0; i < starts; i++)); do
	one_start drey
	one_start hand
done
for ((i = 0; i < upgrades; i++)); do
	one_upgrade drey $((2 - i % 2))
	one_upgrade surge $((2 - i % 2))
	one_upgrade hand $((2 - i % 2))
	one_upgrade lyft $((2 - i % 2))
done
exit 0
