#!/usr/bin/env bash
#
# bench/flinkfs/run.sh - what it costs that drey reads a store with Flink's own file system, in a JVM that it starts for that: a cold
# decision on HDFS, compared with the same savepoints in a directory, which drey reads itself, and with `hdfs dfs -ls -R | sort`; on
# Google Cloud Storage (fake-gcs-server) and Azure's blob storage (Azurite) compared with the directory.
#
#   bench/flinkfs/run.sh [full]    10, 1,000 and 10,000 savepoints on HDFS, 10 on the others; 10 turns
#   bench/flinkfs/run.sh quick     10 and 1,000, and 10; 3 turns
#
# The sides are run in turn. Prints Markdown. The servers come from tools/get-servers.sh.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=bench/lib.sh
. bench/lib.sh

case ${1:-full} in
full) counts=(10 1000 10000) turns=10 ;;
quick) counts=(10 1000) turns=3 ;;
*) bench_usage 7,8 ;;
esac
[ $# -le 1 ] || bench_usage 7,8
# shellcheck source=tests/e2e/tap.sh
. tests/e2e/tap.sh
# shellcheck source=tests/servers/lib.sh
. tests/servers/lib.sh
# shellcheck source=tests/servers/hdfs.sh
. tests/servers/hdfs.sh
# shellcheck source=tests/servers/gcs.sh
. tests/servers/gcs.sh
# shellcheck source=tests/servers/azure.sh
. tests/servers/azure.sh
# shellcheck source=tests/e2e/store_lib.sh
. tests/e2e/store_lib.sh
make -j2 all build/bench/resolve/fixtures >&2
FIXTURES=$BUILD/bench/resolve/fixtures

row() { # CELL...
	printf '|'
	printf ' %s |' "$@"
	printf '\n'
}

# One command as a measurement of the side NAME.
turn() { # NAME CMD...
	local s cpu kb status
	read -r s cpu kb status <<<"$("$FIXTURES" measure "${@:2}")"
	[ "$status" = 0 ] || die 1 "status $status: ${*:2}"
	awk -v s="$s" 'BEGIN { print s * 1000 }' >>"$RUN/turns/$1.ms"
	awk -v s="$cpu" 'BEGIN { print s * 1000 }' >>"$RUN/turns/$1.cpu"
	echo "$kb" >>"$RUN/turns/$1.kb"
}

spread() { # NAME ms|cpu
	bench_spread 1000 <"$RUN/turns/$1.$2"
}

# What one side takes longer than the other in the same turn.
added() { # NAME THAN
	paste "$RUN/turns/$1.ms" "$RUN/turns/$2.ms" | awk '{ print $1 - $2 }' | bench_spread 1000
}

# How long one side takes, relative to another in the same turn.
relative() { # NAME TO
	paste "$RUN/turns/$1.ms" "$RUN/turns/$2.ms" | awk '{ print $1 / $2 * 1000 }' | bench_spread 1000
}

# A row: the decision in the directory DIR and in the store, and perhaps another command.
compare() { # WHAT DIR URI [CMD...]
	local i other=- ratio=-
	rm -rf "$RUN/turns"
	mkdir -p "$RUN/turns"
	flink_env "$RUN"
	for ((i = 0; i <= turns; i++)); do
		[ "$i" != 1 ] || rm -f "$RUN"/turns/* # the first turn does not count
		turn own "$BUILD/drey" resolve --savepoints "file://$2"
		turn flink env "${FLINK_ENV[@]}" "$BUILD/drey" resolve --savepoints "$3"
		[ $# -eq 3 ] || turn other "${@:4}"
	done
	[ $# -eq 3 ] || other="$(spread other ms) s, CPU $(spread other cpu) s"
	[ $# -eq 3 ] || ratio=$(relative flink other)
	row "$1" "$(spread own ms) s" "$(spread flink ms) s" "$(added flink own) s" "$(spread flink cpu) s" \
		"$(bench_median <"$RUN/turns/flink.kb" | awk '{ printf "%d MB", $1 / 1024 }')" "$other" "$ratio"
}

# Flink with the file system that is asked for.
with_plugin() { # NAME, configuration on stdin
	local jar
	jar=$("$TOP/tools/get-flink.sh" --plugin "flink-$1-fs-hadoop" "$FLINK_VERSION")
	mkdir -p "$RUN/flink/plugins/$1"
	ln -sf "$jar" "$RUN/flink/plugins/$1/"
	run_conf
}

on_hdfs() {
	local n
	hdfs_up "$RUN/hdfs"
	export HADOOP_CONF_DIR=$HDFS_CONF
	rm "$RUN/flink/lib"
	mkdir "$RUN/flink/lib"
	ln -s "$FLINK"/lib/*.jar "$HDFS"/client/*.jar "$RUN/flink/lib/"
	for n in "${counts[@]}"; do
		"$FIXTURES" job "$RUN/local-$n" "$n"
		hdfs_fs -put -t 8 "$RUN/local-$n" "/sp-$n" >>"$RUN/log/hdfs-fs.log" 2>&1
		compare "$n on HDFS" "$RUN/local-$n" "$HDFS_URI/sp-$n" bash -o pipefail -c \
			"java -Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp '$HDFS_CONF/../conf:$HDFS/lib/*' org.apache.hadoop.fs.FsShell -ls -R /sp-$n |
				grep _metadata | sort -k 6,7 | tail -n 1"
	done
	server_down hdfs
}

on_gs() {
	gcs_up "$RUN/gcs" flink
	with_plugin gs <<-EOF
		gs.storage.root.url: $GCS_URL
		gs.auth.service.account.enable: false
		gs.auth.null.enable: true
	EOF
	export NO_GCE_CHECK=true
	gcs_upload "$RUN/local-10" sp
	compare "10 on Google Cloud Storage" "$RUN/local-10" gs://flink/sp
	server_down gcs
}

on_azure() {
	azure_up "$RUN/azure"
	azure_blobs create flink
	azure_blobs upload flink "$RUN/local-10" sp
	with_plugin azure <<-EOF
		fs.azure.account.key.$AZURE_HOST: $AZURE_KEY
	EOF
	export JAVA_TOOL_OPTIONS=-Djdk.net.hosts.file=$AZURE_HOSTS
	compare "10 on Azure, wasb" "$RUN/local-10" "wasb://flink@$AZURE_HOST/sp"
	server_down azure
}

hdfs_find || bench_lacks "HDFS is not available"
gcs_find || bench_lacks "fake-gcs-server is not available"
azure_find || bench_lacks "Azurite is not available"
FLINK_VERSION=2.3.0
e2e_begin bench-flinkfs >/dev/null
store_files_jar >&2 || bench_lacks "java/files cannot be compiled"

bench_head "A store that Flink's file systems read" "drey $("$BUILD/drey" --version | cut -d' ' -f2), Flink $FLINK_VERSION, Hadoop 3.3.6"
echo
row savepoints "drey, a directory" "drey, the store, cold" "what that adds" "CPU, with the JVM" "peak memory" "\`hdfs dfs -ls -R\`, sorted" "drey relative to it"
row --- --- --- --- --- --- --- ---
on_hdfs
on_gs
on_azure
cat <<'END'

Limits of these figures:
* Store and client share this machine: the servers' own time is in every figure.
* Each decision of drey is cold: it starts the JVM, which loads Flink's plugins. drey run keeps the JVM for 5 s after the last
  request, so that one decision has one JVM, and none is left at rest (tests/e2e/store_lib.sh).
* `hdfs dfs -ls` only finds the name of the newest savepoint. drey also reads the beginnings of the newest thousand, because only
  they tell which is the newest, and checks every file of the one that it decides for.
END
