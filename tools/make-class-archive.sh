#!/usr/bin/env bash
#
# make-class-archive.sh - creates the archives of Flink's classes with which a JobManager starts in about half the time, and a
# TaskManager, too. In the image it is drey-class-archive.
#
#   drey-class-archive [--job JAR CLASS] [--output FILE] [--drey DIR] [-- COMMAND...]
#
# Starts a real JobManager on loopback, with Flink's high availability on Kubernetes and a real TaskManager, lets it run a small
# job, takes a savepoint, stops it, and keeps its loaded classes in FILE (/usr/lib/drey/flink.jsa), and the version of its Java
# and the size in FILE.jvm; those of the TaskManager in flink-taskmanager.jsa beside FILE (its name with -taskmanager). The API
# server is a stub. DIR (/usr/lib/drey) has the jars for this; without them there is neither high availability
# nor a TaskManager, and the job is WordCount of Flink's examples, if they are installed.
#
# --job submits JAR's CLASS instead. It never runs: there is no TaskManager then, and no archive for one.
#
# Run it in the image build, and again after each change of Flink's lib directory: a JVM accepts an archive only if its
# own class path starts with the one of the archive. COMMAND starts the JobManager without Flink's script:
# [java, -cp, ...] as in flink.command of drey.yaml, up to the entry point.
#
# With FLINK_HOME/lib/drey-held.jar the job is started by dev.drey.Held, so that a JobManager that waits with its main() has its
# classes from the archive, too.
#
# It also unpacks Flink's RPC into DIR, if DIR/rpc.jar is on Flink's class path.
#
# Needs bash and FLINK_HOME (/opt/flink), no root, no network. Exit status: 0 done, or this Java cannot create one (before
# 13: drey then starts Flink without it); 1 failed; 2 usage.

set -euo pipefail
output=/usr/lib/drey/flink.jsa
drey=/usr/lib/drey
jar='' class=''
session=org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint
export FLINK_HOME=${FLINK_HOME:-/opt/flink}

say() {
	echo "drey-class-archive: $*" >&2
}

usage() {
	echo "usage: drey-class-archive [--job JAR CLASS] [--output FILE] [--drey DIR] [-- COMMAND...]" >&2
	exit 2
}

while [ $# -gt 0 ]; do
	case $1 in
	--job)
		[ $# -ge 3 ] || usage
		jar=$2 class=$3
		shift 3
		;;
	--output)
		[ $# -ge 2 ] || usage
		output=$2
		shift 2
		;;
	--drey)
		[ $# -ge 2 ] || usage
		drey=$2
		shift 2
		;;
	--)
		shift
		break
		;;
	*) usage ;;
	esac
done
command=("$@")
by_script=''
[ ${#command[@]} -gt 0 ] || by_script=yes
jvm_args=${JVM_ARGS:-}
for_taskmanager=${output%.jsa}-taskmanager.jsa

# ---- which Java ------------------------------------------------------------------------------------

# As drey finds it: the Java that starts Flink must be the one that creates the archive.
java=java
if [ ${#command[@]} -gt 0 ]; then
	java=${command[0]}
elif [ -d "${JAVA_HOME:-}" ]; then
	java=$JAVA_HOME/bin/java
fi
java=$(command -v "$java") || {
	say "Java not found; install it, or set JAVA_HOME"
	exit 1
}
home=$(dirname "$(dirname "$(readlink -f "$java")")")
[ ${#command[@]} -gt 0 ] || [ ! -d "${JAVA_HOME:-}" ] || home=$JAVA_HOME
if [ ! -r "$home/release" ]; then
	say "$home/release does not exist; without it drey cannot check which Java created the archive"
	exit 1
fi
class_path="$FLINK_HOME/lib/*"
for i in "${!command[@]}"; do
	case ${command[i]} in
	-cp | -classpath | --class-path) class_path=${command[i + 1]} ;;
	esac
done

# ---- Flink's RPC: compiled jars of drey are only in images that were built with a JDK ----------------------

if [ -f "$drey/rpc.jar" ] && ! "$java" -XX:TieredStopAtLevel=1 -cp "$drey/rpc.jar:$class_path" drey.rpc.Unpack; then
	say "Flink's RPC could not be unpacked: Flink does that itself at each start"
fi

major=$(sed -n 's/^JAVA_VERSION="\(1\.\)\{0,1\}\([0-9]*\).*/\2/p' "$home/release")
if [ "${major:-0}" -lt 13 ]; then
	say "Java ${major:-?} cannot create an archive (13 and later can); Flink starts without it"
	exit 0
fi

# What Flink needs to be opened in Java's modules, as in the configuration of its distribution.
opens=''
for package in java.lang java.net java.io java.nio sun.nio.ch java.lang.reflect java.text java.time java.util \
	java.util.concurrent java.util.concurrent.atomic java.util.concurrent.locks; do
	opens+="--add-opens=java.base/$package=ALL-UNNAMED "
done

# ---- a JobManager ----------------------------------------------------------------------------------

work=$(mktemp -d)
pid='' stub='' taskmanager=''
cleanup() {
	local process
	for process in $pid $stub $taskmanager; do
		kill -KILL "$process" 2>/dev/null || :
		wait "$process" 2>/dev/null || :
	done
	rm -rf "$work"
}
trap cleanup EXIT
mkdir -p "$work/conf" "$work/log" "$work/tmp" "$(dirname "$output")"
# without high availability a TaskManager has to know it
while rpc_port=$((20000 + RANDOM % 12000)) && (: <"/dev/tcp/127.0.0.1/$rpc_port") 2>/dev/null; do
	:
done
cat >"$work/conf/config.yaml" <<-YAML
	jobmanager.rpc.address: 127.0.0.1
	jobmanager.rpc.port: $rpc_port
	jobmanager.bind-host: 127.0.0.1
	jobmanager.memory.process.size: 1600m
	rest.address: 127.0.0.1
	rest.bind-address: 127.0.0.1
	rest.bind-port: 0
	io.tmp.dirs: $work/tmp
	execution.checkpointing.interval: 10 s
	execution.checkpointing.dir: file://$work/tmp/checkpoints
	execution.shutdown-on-application-finish: false
	execution.submit-failed-job-on-application-error: true
	env.java.opts.all: $opens
	cluster.registration.error-delay: 500 ms
	taskmanager.host: 127.0.0.1
	taskmanager.bind-host: 127.0.0.1
	taskmanager.numberOfTaskSlots: 1
YAML

# A certificate for 127.0.0.1, the API server, and the kubeconfig for it.
start_stub() {
	local tls=(-storetype PKCS12 -storepass class-archive -keystore "$work/keys") keytool
	keytool=$(dirname "$java")/keytool
	[ -x "$keytool" ] || keytool=$home/bin/keytool
	"$keytool" -genkeypair "${tls[@]}" -keyalg EC -alias stub -dname CN=127.0.0.1 -ext san=ip:127.0.0.1 -validity 2 &&
		"$keytool" -exportcert -rfc "${tls[@]}" -alias stub -file "$work/ca.pem" || return 1
	"$java" -XX:TieredStopAtLevel=1 -cp "$drey/archive.jar:$class_path" drey.archive.KubeStub "$work/keys" class-archive "$work/port" &
	stub=$!
	until [ -s "$work/port" ]; do
		kill -0 "$stub" 2>/dev/null || return 1
		sleep 0.1
	done
	cat >"$work/kubeconfig" <<-YAML
		apiVersion: v1
		kind: Config
		current-context: stub
		clusters: [{name: stub, cluster: {server: "https://127.0.0.1:$(cat "$work/port")", certificate-authority: "$work/ca.pem"}}]
		users: [{name: stub, user: {token: stub}}]
		contexts: [{name: stub, context: {cluster: stub, user: stub, namespace: default}}]
	YAML
	tee -a "$work"/conf/*.yaml >/dev/null <<-YAML
		high-availability.type: kubernetes
		high-availability.storageDir: file://$work/tmp/ha
		kubernetes.cluster-id: archive
		kubernetes.namespace: default
	YAML
	export KUBECONFIG=$work/kubeconfig
}

# As its Pod will: the class path of an archive must be the one that it is used with.
start_taskmanager() {
	local size sizes=()
	for size in cpu.cores=1 memory.task.heap.size=64m memory.task.off-heap.size=0b memory.network.min=16m \
		memory.network.max=16m memory.managed.size=32m memory.framework.heap.size=64m memory.framework.off-heap.size=64m \
		memory.jvm-metaspace.size=160m memory.jvm-overhead.min=64m memory.jvm-overhead.max=64m; do
		sizes+=(-D "taskmanager.$size")
	done
	if [ -n "$by_script" ]; then
		JVM_ARGS="${jvm_args:+$jvm_args }-XX:TieredStopAtLevel=1 -XX:ArchiveClassesAtExit=$work/taskmanager.jsa" \
			"$FLINK_HOME/bin/taskmanager.sh" start-foreground "${sizes[@]}" >"$work/taskmanager.log" 2>&1 </dev/null &
		taskmanager=$!
		return
	fi
	# Flink's scripts would calculate the sizes
	# shellcheck disable=SC2086 # words
	"$java" "-XX:ArchiveClassesAtExit=$work/taskmanager.jsa" -Xmx160m -XX:TieredStopAtLevel=1 $opens \
		-Dlog4j.configurationFile="file:$work/conf/log4j-console.properties" -cp "$class_path" \
		org.apache.flink.runtime.taskexecutor.TaskManagerRunner --configDir "$work/conf" "${sizes[@]}" >"$work/taskmanager.log" 2>&1 &
	taskmanager=$!
}

# Worth no failed build, either.
end_taskmanager() {
	[ -n "$taskmanager" ] || return 0
	kill -TERM "$taskmanager" 2>/dev/null || :
	wait "$taskmanager" || :
	taskmanager=''
	[ -s "$work/taskmanager.jsa" ] || say "no archive for TaskManagers: $(tail -n 1 "$work/taskmanager.log")"
}

runs_job='' # drey's own, which really runs
if [ -f "$drey/archive.jar" ]; then
	start_stub >"$work/stub.log" 2>&1 || {
		say "without Flink's high availability in it: $(tail -n 1 "$work/stub.log")"
		[ -z "$stub" ] || kill -KILL "$stub" 2>/dev/null || :
		stub=''
	}
	[ -n "$jar" ] || runs_job=yes jar=$drey/archive.jar class=drey.archive.Job
fi
# until 1.18 Flink has only this name
cp "$work/conf/config.yaml" "$work/conf/flink-conf.yaml"
for major_of in "$FLINK_HOME"/lib/flink-dist-[2-9]*.jar; do
	[ ! -e "$major_of" ] || rm -f "$work/conf/flink-conf.yaml"
done
cat >"$work/conf/log4j-console.properties" <<-'LOG'
	rootLogger.level = INFO
	rootLogger.appenderRef.out.ref = Out
	appender.out.name = Out
	appender.out.type = CONSOLE
	appender.out.layout.type = PatternLayout
	appender.out.layout.pattern = %d{HH:mm:ss,SSS} %-5p %-40.40c{1} - %m%n
LOG
export FLINK_CONF_DIR=$work/conf FLINK_LOG_DIR=$work/log FLINK_PID_DIR=$work
archive=-XX:ArchiveClassesAtExit=$work/flink.jsa
arguments=()
id=00000000000000000000000000000001
if [ -z "$jar" ] && [ -f "$FLINK_HOME/examples/streaming/WordCount.jar" ]; then
	jar=$FLINK_HOME/examples/streaming/WordCount.jar
	class=org.apache.flink.streaming.examples.wordcount.WordCount
fi
if [ -n "$jar" ] && [ -r "$FLINK_HOME/lib/drey-held.jar" ]; then
	export DREY_HELD_CLASS=$class DREY_HELD_FILE=$work/held.json
	echo '{"schema": 1, "go": true, "path": "", "allowNonRestored": false}' >"$DREY_HELD_FILE"
	class=dev.drey.Held
fi
[ -z "$jar" ] || arguments=(--job-id "$id" --jars "$jar" --job-classname "$class")

if [ ${#command[@]} -gt 0 ]; then
	command=("${command[0]}" "$archive" "${command[@]:1}")
	[ -n "$jar" ] || command[-1]=$session
	command+=(--configDir "$work/conf" "${arguments[@]}")
else
	export JVM_ARGS="${JVM_ARGS:+$JVM_ARGS }$archive"
	command=("$FLINK_HOME/bin/standalone-job.sh" start-foreground "${arguments[@]}")
	[ -n "$jar" ] || command=("$FLINK_HOME/bin/jobmanager.sh" start-foreground)
fi
[ -n "$jar" ] || say "no --job, and Flink's examples are not installed: the archive lacks the classes that only a job needs"

fail() {
	say "$1; the end of the log of Flink:"
	grep -v '\]\[cds' "$work/flink.log" | tail -n 25 >&2
	exit 1
}

running() {
	kill -0 "$pid" 2>/dev/null
}

wait_for() { # WHAT CMD...
	local what=$1 end=$((SECONDS + 600))
	shift
	until "$@"; do
		running || fail "Flink has ended before $what"
		[ "$SECONDS" -lt "$end" ] || fail "after 600 s: no $what"
		sleep 0.2
	done
}

rest_port() {
	port=$(sed -n 's/.*[Rr]est endpoint listening at 127\.0\.0\.1:\([0-9]*\).*/\1/p' "$work/flink.log" | head -n 1)
	[ -n "$port" ]
}

request() { # METHOD PATH [JSON]: true for an answer with status 200 or 202
	local line body=${3:-}
	exec 3<>"/dev/tcp/127.0.0.1/$port" || return 1
	printf '%s %s HTTP/1.0\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s' \
		"$1" "$2" "${#body}" "$body" >&3
	read -r line <&3 || :
	cat <&3 >"$work/answer" || :
	exec 3>&-
	[[ $line == *" 200 "* || $line == *" 202 "* ]]
}

get() { # PATH
	request GET "$1"
}

has_job() {
	get /jobs/overview 2>/dev/null && grep -q '"jid"' "$work/answer"
}

# With all its tasks: a savepoint is refused before.
job_runs() {
	local answer running=0 total=0
	get /jobs/overview 2>/dev/null || return 1
	answer=$(cat "$work/answer")
	[[ $answer =~ \"running\":([0-9]+) ]] && running=${BASH_REMATCH[1]}
	[[ $answer =~ \"total\":([0-9]+) ]] && total=${BASH_REMATCH[1]}
	[ "$total" -gt 0 ] && [ "$running" = "$total" ]
}

job_is_saved() {
	get "/jobs/$id/savepoints/$trigger" 2>/dev/null || return 1
	grep -q '"location"' "$work/answer"
}

# A TaskManager, and a savepoint. It is worth no failed build: without them a part of the classes is missing.
run_job() {
	start_taskmanager
	try "running job" job_runs || return 1
	request POST "/jobs/$id/savepoints" "{\"target-directory\": \"file://$work/tmp/savepoints\", \"cancel-job\": false}" || return 1
	trigger=$(sed -n 's/.*"request-id":"\([0-9a-f]*\)".*/\1/p' "$work/answer")
	try "savepoint" job_is_saved
}

try() { # WHAT CMD...
	local what=$1 end=$((SECONDS + 300)) why=''
	shift
	until "$@"; do
		if ! running || ! kill -0 "$taskmanager" 2>/dev/null; then
			why=$(grep -m 1 'Caused by' "$work/taskmanager.log") || why="see the log of Flink"
		elif [ "$SECONDS" -ge "$end" ]; then
			why="timed out after 300 s" # its log has causes of what it has got over
		fi
		if [ -n "$why" ]; then
			say "no $what, its classes will be missing: $why"
			return 1
		fi
		sleep 0.2
	done
}

start=$SECONDS
# The scripts of Flink exec their JVM: the pid stays the same.
"${command[@]}" >"$work/flink.log" 2>&1 </dev/null &
pid=$!
wait_for "address of the REST API" rest_port
wait_for "answer of the REST API" get /config
[ -z "$jar" ] || wait_for "job" has_job
[ -z "$runs_job" ] || run_job || say "the archive lacks what a JobManager loads for its TaskManagers"
# the requests of drey while a job runs
for path in /overview /jobs /taskmanagers /jobmanager/config ${runs_job:+"/jobs/$id" "/jobs/$id/checkpoints" "/jobs/$id/config"}; do
	get "$path" || :
done
kill -TERM "$pid"
status=0
wait "$pid" || status=$?
pid=''
end_taskmanager
[ -s "$work/flink.jsa" ] || fail "the JVM has ended with status $status and left no archive"

keep() { # FILE OUTPUT
	{
		cat "$home/release"
		echo "DREY_ARCHIVE_BYTES=\"$(stat -c %s "$1")\"" # a JVM crashes if it is truncated
	} >"$1.jvm"
	chmod 644 "$1" "$1.jvm"
	# the archive last: with an old .jvm it would seem to belong to that Java
	rm -f "$2"
	mv "$1.jvm" "$2.jvm"
	mv "$1" "$2"
	say "$2: $(($(stat -c %s "$2") / 1048576)) MB in $((SECONDS - start)) s"
}

keep "$work/flink.jsa" "$output"
rm -f "$for_taskmanager"
[ ! -s "$work/taskmanager.jsa" ] || keep "$work/taskmanager.jsa" "$for_taskmanager"
