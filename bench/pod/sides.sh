#!/usr/bin/env bash
#
# sides.sh - the two applications of run.sh, which starts it inside of the node: DIR STARTS UPGRADES.
#
#   orders   the chart as it is: drey, Flink's HA, state on S3, journal, custom resource
#   plain    what the chart makes for the same values, without drey: the same script of Flink is process 1
#
# Leaves in DIR, a line of ms for each turn:
#   start.drey, start.hand      bound to JVM, bound to process 1, process 1 to JVM, process 1 to the start of Flink's script
#   upgrade.drey, upgrade.hand  last record to first record; to the end of the old job, from there to main(), from there

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

side() { # drey|hand: what the functions of lib.sh are about
	case $1 in
	drey) APPLICATION=orders ;;
	hand) APPLICATION=plain ;;
	esac
	EVENTS=$VOLUME/log.$APPLICATION
}

pod() { # COMPONENT
	kubectl get pods --selector "app.kubernetes.io/instance=$APPLICATION,app.kubernetes.io/component=$1" --output json |
		jq --raw-output --exit-status '[.items[] | select(.metadata.deletionTimestamp == null and .status.phase != "Failed")] |
			if length == 1 then .[0].metadata.name else empty end'
}

# ---- the applications --------------------------------------------------------------------------------------

side_values() { # APPLICATION
	# shellcheck disable=SC2034 # of lib.sh
	JOB_LINE="class: drey.ContinuityJob, args: [--log, /events/log.$1, --control, /events/control.$1]"
	# shellcheck disable=SC2034 # of lib.sh
	MORE_CONFIGURATION="env.java.opts.jobmanager: \"-Xlog:os=info:file=/events/jvm.$1.%t:time,uptime\""
	values
	mv "$RUN/values.yaml" "$RUN/$1.yaml"
	: >"$VOLUME/log.$1"
	chmod 666 "$VOLUME/log.$1"
}

begin_drey() {
	side drey
	side_values orders
	cp "$RUN/orders.yaml" "$RUN/values.yaml"
	install >/dev/null || fail "helm install"
}

# The chart's objects. The JobManager starts as its image lets it; what only drey answers is not asked. Each version of them has job
# results of its own: else Flink 2.3 recovers the old job, which is over, and main() fails ("Base job ID is not found").
plain_objects() { # TAG [SAVEPOINT JOB_ID]
	local restore=()
	[ $# -lt 2 ] || restore=(--fromSavepoint "$2" --job-id "$3")
	# shellcheck disable=SC2016 # of jq
	jq --arg image "localhost/orders:$1" --arg results "${3:-first}" '
		def args: ["-D", "jobmanager.rpc.address=$(POD_IP)", "-D", "execution.checkpointing.dir=s3://flink/plain/checkpoints",
			"-D", "execution.checkpointing.savepoint-dir=s3://flink/plain/savepoints",
			"-D", "job-result-store.storage-path=s3://flink/plain/results/" + $results,
			"-D", "execution.shutdown-on-application-finish=false", "--job-classname", "drey.ContinuityJob"] + $ARGS.positional +
			["--", "--log", "/events/log.plain", "--control", "/events/control.plain"];
		if .kind != "Deployment" then .
		else .spec.template.spec.containers[0] |= (.image = $image | del(.startupProbe, .livenessProbe, .readinessProbe, .lifecycle)) |
			if .metadata.name == "plain-jobmanager" then .spec.template.spec.containers[0] |= (
				.command = ["/opt/flink/bin/standalone-job.sh", "start-foreground"] | .args = args |
				.env += [{name: "LD_PRELOAD", value: "/usr/$LIB/libjemalloc.so"}])
			else .spec.template.spec.containers[0] |= (.command = ["/opt/flink/bin/taskmanager.sh", "start-foreground"] |
				.args = ["-D", "taskmanager.host=$(POD_IP)", "-D", "taskmanager.resource-id=$(POD_NAME)"])
			end
		end' "$RUN/plain.json" --args -- "${restore[@]}"
}

begin_hand() {
	side hand
	side_values plain
	helm template plain "$CHART" --values "$RUN/plain.yaml" --no-hooks --set state.uri=s3://flink/plain --set customResource=false \
		--set drey.kubernetes.launches=0 --set savepointCronJob.enabled=false >"$RUN/plain.objects" &&
		kubectl create --dry-run=client --output json --filename "$RUN/plain.objects" >"$RUN/plain.json" || fail "helm template"
	plain_objects 1 | kubectl apply --filename - >/dev/null || fail "kubectl apply"
}

# The job runs, and checkpoints have been completed since N of them were.
settled() { # COMPLETED
	has_events COMPLETED $(($1 + 2)) || return 1
	job_runs || return 1
	[ "$APPLICATION" = plain ] || runs
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

# Between two jobs of the log: from the last snapshot of the old one to the first element of the new one.
away() { # OLD_LINES: those that were there before
	awk -v old="$1" '
		function ms() { return substr($NF, 4) }
		NR <= old && $1 == "SNAPSHOT" { job = $5; last = ms() }
		NR > old && $1 == "SNAPSHOT" && $5 == job { last = ms() }
		NR > old && $1 == "CLOSE" && $5 == job { closed = ms() }
		NR > old && $1 == "MAIN" { main = ms() }
		NR > old && $1 == "START" && $5 != job { print ms() - last, closed - last, main - closed, ms() - main; exit }' "$EVENTS"
}

begun_again() { # OLD_LINES
	[ -n "$(away "$1")" ]
}

by_helm() { # TAG
	upgrade --set-string "image.tag=$1" >/dev/null || fail "helm upgrade"
}

saved() { # JOB TRIGGER
	savepoint=$(rest "jobs/$1/savepoints/$2" 'select(.status.id == "COMPLETED") | .operation.location')
}

by_hand() { # TAG
	local address job trigger savepoint
	job=$(job_id) address=$(kubectl get pod "$(pod jobmanager)" --output 'jsonpath={.status.podIP}')
	rest() { # as that of lib.sh, without asking for the address each time
		curl --silent --fail --max-time 10 "http://$address:8081/$1" | jq --raw-output --exit-status "$2"
	}
	trigger=$(curl --silent --fail --request POST --header 'Content-Type: application/json' --data '{}' \
		"http://$address:8081/jobs/$job/stop" | jq --raw-output '."request-id"')
	until_true "the savepoint is there" saved "$job" "$trigger"
	plain_objects "$1" "$savepoint" "$(openssl rand -hex 16)" | kubectl apply --filename - >/dev/null || fail "kubectl apply"
}

one_upgrade() { # drey|hand TAG
	local lines
	side "$1"
	lines=$(wc -l <"$EVENTS")
	if [ "$1" = drey ]; then
		by_helm "$2"
	else
		(by_hand "$2") || exit 1
	fi
	until_true "the job has begun again" begun_again "$lines"
	away "$lines" | tee -a "$results/upgrade.$1" | sed "s/^/# upgrade, $1: /" >&2
	settle
	continuity >&2 || fail "the job has lost something"
}

begin_drey
settle
begin_hand
settle
mv "$RUN/orders.yaml" "$RUN/values.yaml" # for upgrade
for ((i = 0; i < starts; i++)); do
	one_start drey
	one_start hand
done
for ((i = 0; i < upgrades; i++)); do
	one_upgrade drey $((2 - i % 2))
	one_upgrade hand $((2 - i % 2))
done
exit 0
