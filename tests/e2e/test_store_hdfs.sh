#!/usr/bin/env bash
#
# Checkpoints and savepoints on HDFS, which drey reads with Flink's own file system (store_lib.sh). Without Hadoop on Flink's
# class path drey says what is missing. And 10,000 savepoints.
#
# runs in: all on 2.3.0

# shellcheck disable=SC2119 # lib.sh has functions whose arguments are optional
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"
# shellcheck source=tests/servers/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../servers/lib.sh"
# shellcheck source=tests/servers/hdfs.sh
. "$(dirname "${BASH_SOURCE[0]}")/../servers/hdfs.sh"
# shellcheck source=tests/e2e/store_lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/store_lib.sh"

store_start() {
	hdfs_up "$RUN/hdfs"
	STORE_URI=$HDFS_URI
}

store_stop() {
	server_down hdfs
}

store_names() { # DIR
	hdfs_names "$1"
}

store_read() { # NAME
	hdfs_fs -cat "/$1" 2>>"$RUN/log/hdfs-fs.log"
}

store_remove() { # NAME
	hdfs_fs -rm -skipTrash "/$1" >>"$RUN/log/hdfs-fs.log" 2>&1
}

many_names() {
	local i
	for ((i = 1; i <= 10000; i++)); do
		printf 'savepoint-5b2c01-%012x\n' $((i * 0x9e3779b97f4b & 0xffffffffffff))
	done
}

# 10,000 savepoints of one job, each whole: its state is in its _metadata.
many_savepoints() {
	mkdir "$RUN/many"
	(
		cd "$RUN/many" && many_names | xargs mkdir && many_names | sed 's|$|/_metadata|' |
			xargs -n 500 sh -c 'tee "$@" <"$0" >/dev/null' "$TOP/tests/fixtures/metadata/1.20.5-hashmap-sp-native"
	) || return
	hdfs_fs -put -t 8 "$RUN/many" / >>"$RUN/log/hdfs-fs.log" 2>&1
}

hdfs_find || servers_skip "HDFS is not to be had"
e2e_begin store-hdfs
store_files_jar || die 1 "java/files cannot be compiled"
store_start
export HADOOP_CONF_DIR=$HDFS_CONF
STORE_SECRET=''

store_refused Hadoop

rm "$RUN/flink/lib"
mkdir "$RUN/flink/lib"
ln -s "$FLINK"/lib/*.jar "$HDFS"/client/*.jar "$RUN/flink/lib/"
store_story

check "10,000 savepoints are put there" many_savepoints
began=${EPOCHREALTIME/./}
store_drey resolve --explain --savepoints "$STORE_URI/many" >"$RUN/said" 2>&1
diag "they were listed in $(((${EPOCHREALTIME/./} - began) / 1000)) ms, with the start of the JVM"
check "each of them is found, once" grep -q '10000 found' "$RUN/said"
check "and one of them is what the job starts from" grep -q "START_FROM" "$RUN/said"
e2e_end
