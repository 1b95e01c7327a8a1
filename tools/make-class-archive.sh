#!/usr/bin/env bash
#
# make-class-archive.sh - creates the archive of Flink's classes with which a JobManager starts in about half the time.
# In the image it is drey-class-archive.
#
#   drey-class-archive [--job JAR CLASS] [--output FILE] [-- COMMAND...]
#
# Starts a real JobManager on loopback, waits until its REST API responds, stops it, and keeps its loaded classes in
# FILE (/usr/lib/drey/flink.jsa), and the version of its Java in FILE.jvm. The job is JAR's CLASS; without --job WordCount
# of Flink's examples, if they are installed, else none. It is submitted, and never runs: there is no TaskManager.
#
# Run it in the image build, and again after each change of Flink's lib directory: a JVM accepts an archive only if its
# own class path starts with the one of the archive. COMMAND starts the JobManager without Flink's script:
# [java, -cp, ...] as in flink.command of drey.yaml, up to the entry point.
#
# Needs bash and FLINK_HOME (/opt/flink), no root, no network. Exit status: 0 done, or this Java cannot create one (before
# 13: drey then starts Flink without it); 1 failed; 2 usage.

set -euo pipefail
output=/usr/lib/drey/flink.jsa
jar='' class=''
session=org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint
export FLINK_HOME=${FLINK_HOME:-/opt/flink}

say() {
	echo "drey-class-archive: $*" >&2
}

usage() {
	echo "usage: drey-class-archive [--job JAR CLASS] [--output FILE] [-- COMMAND...]" >&2
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
	--)
		shift
		break
		;;
	*) usage ;;
	esac
done
command=("$@")

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
major=$(sed -n 's/^JAVA_VERSION="\(1\.\)\{0,1\}\([0-9]*\).*/\2/p' "$home/release")
if [ "${major:-0}" -lt 13 ]; then
	say "Java ${major:-?} cannot create an archive (13 and later can); Flink starts without it"
	exit 0
fi

# ---- a JobManager ----------------------------------------------------------------------------------

work=$(mktemp -d)
pid=''
cleanup() {
	[ -z "$pid" ] || kill -KILL "$pid" 2>/dev/null || :
	rm -rf "$work"
}
trap cleanup EXIT
mkdir -p "$work/conf" "$work/log" "$work/tmp" "$(dirname "$output")"
cat >"$work/conf/config.yaml" <<-YAML
	jobmanager.rpc.address: 127.0.0.1
	jobmanager.rpc.port: 0
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
YAML
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
if [ -z "$jar" ] && [ -f "$FLINK_HOME/examples/streaming/WordCount.jar" ]; then
	jar=$FLINK_HOME/examples/streaming/WordCount.jar
	class=org.apache.flink.streaming.examples.wordcount.WordCount
fi
[ -z "$jar" ] || arguments=(--job-id 00000000000000000000000000000001 --jars "$jar" --job-classname "$class")

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

get() { # PATH: true for an answer with status 200
	local line
	exec 3<>"/dev/tcp/127.0.0.1/$port" || return 1
	printf 'GET %s HTTP/1.0\r\nHost: localhost\r\n\r\n' "$1" >&3
	read -r line <&3 || :
	cat <&3 >"$work/answer" || :
	exec 3>&-
	[[ $line == *" 200 "* ]]
}

has_job() {
	get /jobs/overview 2>/dev/null && grep -q '"jid"' "$work/answer"
}

start=$SECONDS
# The scripts of Flink exec their JVM: the pid stays the same.
"${command[@]}" >"$work/flink.log" 2>&1 </dev/null &
pid=$!
wait_for "address of the REST API" rest_port
wait_for "answer of the REST API" get /config
[ -z "$jar" ] || wait_for "job" has_job
# the requests of drey while a job runs
for path in /overview /jobs /taskmanagers /jobmanager/config; do
	get "$path" || :
done
kill -TERM "$pid"
status=0
wait "$pid" || status=$?
pid=''
[ -s "$work/flink.jsa" ] || fail "the JVM has ended with status $status and left no archive"
cp "$home/release" "$work/flink.jsa.jvm"
chmod 644 "$work"/flink.jsa*
# the archive last: with an old .jvm it would seem to belong to that Java
rm -f "$output"
mv "$work/flink.jsa.jvm" "$output.jvm"
mv "$work/flink.jsa" "$output"
say "$output: $(($(stat -c %s "$output") / 1048576)) MB in $((SECONDS - start)) s"
