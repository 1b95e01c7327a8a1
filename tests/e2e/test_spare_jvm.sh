#!/usr/bin/env bash
#
# The JVM of the warm spare, without drey: what it does before its arguments arrive leaves no trace, and after them it is
# what a fresh JVM is. Flink's whole distribution with checkpoints of RocksDB on S3 (presto's file system with 1.20, Hadoop's
# with 2.3), the Prometheus reporter, a log file that rolls, and a plugin of each kind.
#
# runs in: all

# shellcheck disable=SC2119 # lib.sh has functions whose arguments are optional
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"
# shellcheck source=tests/servers/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../servers/lib.sh"

# What the JVM PID is: the configuration and the properties that are effective, and its threads.
facts() { # NAME PID
	local to=$RUN/facts/$1
	rest jobmanager/config '.' | jq -S 'map(select(.key | test("blob|web.tmpdir|rpc.port|jobmanager.bind-port") | not))' >"$to.config"
	rest jobmanager/environment '.' | jq -S . >"$to.environment"
	jcmd "$2" VM.system_properties | grep -v '^#\|^[0-9]*:$' | sort |
		sed -E 's/jaas-[0-9]+/jaas-N/' | grep -v '^sun.java.command=' >"$to.properties"
	# the pools grow with the load; the names of other threads are compared
	jstack "$2" | sed -n 's/^"\([^"]*\)".*/\1/p' |
		grep -v 'dispatcher\|DelayScheduler\|prometheus-http\|GC\|Compiler\|Netty\|epoll\|^jobmanager-\|s3\|AWS\|sdk' |
		sed -E 's/[0-9a-f]{8,}/X/g; s/[0-9]+/N/g' | sort -u >"$to.threads"
}

same() { # KIND
	check "$1 as in a fresh JVM" diff "$RUN/facts/fresh.$1" "$RUN/facts/spare.$1"
}

# ARGS for the entry point: restore from $1, or start without state.
entry_args() { # [PATH]
	printf '%s\n' --configDir "$RUN/conf" --job-classname drey.ContinuityJob ${1:+--fromSavepoint "$1"}
	job_args
}

spare_java() { # into SPARE_JAVA: the JobManager's java, with our jar at the end of the class path
	local at
	flink_jm_argv "$RUN"
	SPARE_JAVA=("${FLINK_JM_ARGV[@]}")
	for at in "${!SPARE_JAVA[@]}"; do
		[ "${SPARE_JAVA[at]}" != -cp ] || break
	done
	SPARE_JAVA[at + 1]+=":$BUILD/drey-spare.jar"
	SPARE_JAVA=("${SPARE_JAVA[@]:0:at+2}" drey.spare.Spare "$FLINK_ENTRYPOINT" "$RUN/conf")
}

start_spare() { # NAME
	rm -f "$RUN/$1.ready" "$RUN/$1.args"
	spare_java
	spawn "$1" python3 "$E2E_DIR/spare_player.py" "$RUN/$1.ready" "$RUN/$1.args" "${SPARE_JAVA[@]}"
}

newest_checkpoint() { # JOB
	(cd "$BUCKETS" && find "flink/ck/$1" -path '*/chk-*/_metadata' -printf 's3://%h\n' | sort -V | tail -n 1)
}

server_find versitygw || servers_skip "versitygw is not to be had"
command -v jcmd >/dev/null || servers_skip "jcmd is missing"
case $FLINK_VERSION in
1.20.0) plugin="flink-s3-fs-presto" ;;
2.3.0) plugin="flink-s3-fs-hadoop" ;;
*) servers_skip "no file system for S3 is pinned for Flink $FLINK_VERSION" ;;
esac
plugin=$("$TOP/tools/get-flink.sh" --plugin "$plugin" "$FLINK_VERSION") || servers_skip "$plugin is not to be had"
home=$("$TOP/tests/image/get-home.sh" "${FLINK_VERSION/1.20.0/1.20.5}") || servers_skip "no distribution of Flink $FLINK_VERSION"
make -C "$TOP" --silent TOP="$BUILD" "$BUILD/drey-spare.jar" >/dev/null || servers_skip "java/spare does not compile"
e2e_begin warm-jvm
ln -sfn "$home/lib" "$RUN/flink/lib"
ln -s "$home"/plugins/* "$RUN/flink/plugins/"
mkdir -p "$RUN/flink/plugins/s3" "$RUN/facts"
ln -s "$plugin" "$RUN/flink/plugins/s3/"
BUCKETS=$RUN/gw/buckets
S3_REGION=us-east-1
server_up versitygw "$RUN/gw"
mkdir -p "$BUCKETS/flink"
take_port PROMETHEUS
cat >"$RUN/more.yaml" <<EOF
s3.endpoint: $S3_ENDPOINT
s3.access-key: $S3_ACCESS_KEY
s3.secret-key: $S3_SECRET_KEY
s3.path.style.access: true
s3.path-style-access: true
s3.directory.marker.retention: keep
state.backend.type: rocksdb
execution.checkpointing.dir: s3://flink/ck
execution.checkpointing.savepoint-dir: s3://flink/sp
metrics.reporter.prom.factory.class: org.apache.flink.metrics.prometheus.PrometheusReporterFactory
metrics.reporter.prom.port: $PROMETHEUS-$((PROMETHEUS + 1))
EOF
run_conf <"$RUN/more.yaml"
sed -i '/^execution.checkpointing.*file:/d' "$RUN/conf/config.yaml"
# one that a second JVM rolls when it opens it
cat >>"$RUN/conf/log4j.properties" <<'EOF'
rootLogger.appenderRef.file.ref = File
appender.file.name = File
appender.file.type = RollingFile
appender.file.fileName = ${sys:log.file}.file
appender.file.filePattern = ${sys:log.file}.file.%i
appender.file.layout.type = PatternLayout
appender.file.layout.pattern = %d %-5p %c - %m%n
appender.file.policies.type = Policies
appender.file.policies.startup.type = OnStartupTriggeringPolicy
appender.file.policies.size.type = SizeBasedTriggeringPolicy
appender.file.policies.size.size = 100MB
EOF

export HOME=$RUN AWS_EC2_METADATA_DISABLED=true
start_tm_pod

# ---- the first JobManager, and a spare beside it
mapfile -t args < <(entry_args)
start_bare_jm "${args[@]:2}"
MUST_LIVE=(jm tm)
await "the job runs" job_runs
await "checkpoints are complete" has_completed 3
rolled=$(find "$RUN/log" -name 'jm.log.file.*' | wc -l)
start_spare one
await "a spare is ready" test -s "$RUN/one.ready"
spare=$(cat "$RUN/one.ready")
is "$(find "$RUN/log" -name 'jm.log.file.*' | wc -l)" "$rolled" "the log of the JobManager was not rolled"
is "$(cat "$RUN/log/one.log")" "" "it has logged nothing"
is "$(find "$RUN/tmp" -path '*drey-spare-*' -type f ! -name lock ! -name 'flink-rpc-akka*' | wc -l)" 0 \
	"it has left nothing but Pekko's jar and its lock"
is "$(find "$BUCKETS/flink" -mindepth 1 -maxdepth 1 ! -name ck ! -name '.*' -printf '%f ')" "" "and nothing on S3"
is "$(ss -Hltnp 2>/dev/null | grep -c "pid=$spare,")" 0 "it listens on no port"
diag "$(grep -E '^(Rss|Pss|Private_Dirty)' "/proc/$spare/smaps_rollup" | tr -s ' \n' ' ')"
diag "$(awk '{ print "processor time of its start:", ($14 + $15) * 10, "ms" }' "/proc/$spare/stat")"

# ---- it takes over, from the newest checkpoint
first=$(job_id)
kill -KILL "$(jm_pid | grep -v "^$spare$")"
MUST_LIVE=(tm one)
newest=$(newest_checkpoint "$first")
entry_args "$newest" >"$RUN/one.args.new"
mv "$RUN/one.args.new" "$RUN/one.args"
await "the spare runs the job" job_runs
diag "$(grep '^spare:' "$RUN/log/one.log")"
is "$(rest "jobs/$(job_id)/checkpoints" '.latest.restored.external_path')" "$newest" "from the newest checkpoint"
await "with a checkpoint of its own" has_completed $((${newest##*-} + 1))
check "its metrics are on the port of the reporter" \
	eval "curl -sf http://127.0.0.1:$PROMETHEUS/metrics http://127.0.0.1:$((PROMETHEUS + 1))/metrics | grep -q ^flink_jobmanager"
check "it logs to the file as configured" grep -q "Starting StandaloneApplicationClusterEntryPoint" "$RUN/log/jm.log.file"
check "the count continues" continuity
facts spare "$spare"

# ---- a fresh one, to compare
kill -KILL "$spare"
MUST_LIVE=(tm)
second=$(job_id)
newest=$(newest_checkpoint "${second:-$first}")
mapfile -t args < <(entry_args "$newest")
start_bare_jm "${args[@]:2}"
await "a fresh JVM runs the job" job_runs
await "with a checkpoint of its own" has_completed $((${newest##*-} + 1))
facts fresh "$(jm_pid)"
same config
same environment
same properties
same threads

# ---- what is not complete is no launch
start_spare two
MUST_LIVE=(tm jm two)
await "another spare is ready" test -s "$RUN/two.ready"
is "$(find "$RUN/tmp" -mindepth 2 -maxdepth 2 -path '*/drey-spare-*/*' | wc -l)" 1 "the directory of the spare that was killed is gone"
MUST_LIVE=(tm jm)
kill -KILL "$(cat "$RUN/two.ready")"

start_spare three
sed -i 's/^io.tmp.dirs:.*/io.tmp.dirs: \/proc\/nowhere/' "$RUN/conf/config.yaml"
await "a spare that cannot rehearse ends" test -e "$RUN/three.status"
is "$(grep -c '^drey spare: ' "$RUN/log/three.log")" 1 "with one line"
diag "$(cat "$RUN/log/three.log")"
e2e_end
