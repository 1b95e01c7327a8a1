#!/usr/bin/env bash
#
# The stores that drey reads with Flink's own file systems: HDFS, Google Cloud Storage (fake-gcs-server) and Azure's blob storage
# (Azurite), each filled by a client of its own.
#
# runs in: all

# shellcheck disable=SC2119 # lib.sh has functions whose arguments are optional
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/servers/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=tests/servers/snapshots.sh
. "$(dirname "${BASH_SOURCE[0]}")/snapshots.sh"
# shellcheck source=tests/servers/gc.sh
. "$(dirname "${BASH_SOURCE[0]}")/gc.sh"
# shellcheck source=tests/servers/hdfs.sh
. "$(dirname "${BASH_SOURCE[0]}")/hdfs.sh"
# shellcheck source=tests/servers/gcs.sh
. "$(dirname "${BASH_SOURCE[0]}")/gcs.sh"
# shellcheck source=tests/servers/azure.sh
. "$(dirname "${BASH_SOURCE[0]}")/azure.sh"

# Flink's plugin NAME, with the configuration on stdin.
flink_with() { # NAME
	local plugin
	plugin=$("$TOP/tools/get-flink.sh" --plugin "flink-$1-fs-hadoop" "$FLINK_VERSION") || die 1 "no flink-$1-fs-hadoop"
	mkdir "$RUN/flink/plugins/$1"
	ln -s "$plugin" "$RUN/flink/plugins/$1/"
	cat >"$RUN/conf/config.yaml"
}

hdfs_find || servers_skip "HDFS is not to be had"
gcs_find || servers_skip "fake-gcs-server is not to be had"
azure_find || servers_skip "Azurite is not to be had"
FLINK=$("$TOP/tools/get-flink.sh" "$FLINK_VERSION") || servers_skip "Flink $FLINK_VERSION is not to be had"
servers_begin flinkfs
mkdir -p "$RUN/drey/tests/store" "$RUN"/flink/{lib,plugins} "$RUN/conf"
cp "$BUILD/drey" "$RUN/drey/"
cp "$BUILD/tests/store/check_store" "$RUN/drey/tests/store/"
FLINK_HOME='' "$TOP/java/build.sh" files "$RUN/drey/drey-files.jar" || die 1 "java/files cannot be compiled"
ln -s ../../drey-files.jar "$RUN/drey/tests/store/"
BUILD=$RUN/drey
ln -s "$FLINK"/lib/*.jar "$RUN/flink/lib/"
export HOME=$RUN FLINK_LIB_DIR=$RUN/flink/lib FLINK_PLUGINS_DIR=$RUN/flink/plugins FLINK_CONF_DIR=$RUN/conf
export CHECK_DIRS=12 # Azurite and fake-gcs-server take their time for each object
snapshots_make "$RUN/tree"
gc_make "$RUN/gc"

# What a store cannot have is left out of the check of the contract.
check_without() { # CHARACTERS
	export CHECK_WITHOUT=$1
	rm -r "$RUN/tree/check"
	"$BUILD/tests/store/check_store" make "$RUN/tree/check"
}

# ---- Google Cloud Storage
gcs_up "$RUN/gcs" flink
flink_with gs <<EOF
gs.storage.root.url: $GCS_URL
gs.auth.service.account.enable: false
gs.auth.null.enable: true
EOF
export NO_GCE_CHECK=true
check_without ';' # fake-gcs-server ends a query there
check "the snapshots are put into Google's store" gcs_upload "$RUN/tree" x
store_check gs://flink/x/check
snapshots_check gs://flink/x
check "what launches have left is put there" gcs_upload "$RUN/gc" gc
gc_check gs://flink/gc
says 4 "gs://nix" "a bucket that is not there is an error, not an empty one" resolve --explain --savepoints gs://nix/sp
server_down gcs
says 4 "HOLD" "a server that is down: resolve holds" resolve --explain --savepoints gs://flink/x/none
gcs_up "$RUN/gcs" flink
says 0 "complete" "back again, all is as it was" verify "gs://flink/x/sp/$GOOD"
server_down gcs

# ---- Azure
azure_up "$RUN/azure"
azure_blobs create flink || die 1 "a container cannot be made"
flink_with azure <<EOF
fs.azure.account.key.$AZURE_HOST: $AZURE_KEY
EOF
uri=wasb://flink@$AZURE_HOST
export JAVA_TOOL_OPTIONS=-Djdk.net.hosts.file=$AZURE_HOSTS
check_without '.' # no name there may end with it
check "the snapshots are put into Azure's store" azure_blobs upload flink "$RUN/tree" x
store_check "$uri/x/check"
snapshots_check "$uri/x"
check "what launches have left is put there" azure_blobs upload flink "$RUN/gc" gc
gc_check "$uri/gc"
says 4 "nix@" "a container that is not there is an error, not an empty one" \
	resolve --explain --savepoints "wasb://nix@$AZURE_HOST/sp"
cp "$RUN/conf/config.yaml" "$RUN/conf.good"
wrong=$(random_hex 32 | base64 --wrap=0)
sed -i "s|: .*|: $wrong|" "$RUN/conf/config.yaml"
says 4 "HOLD" "a wrong key is not an empty store: resolve holds" resolve --explain --savepoints "$uri/x/none"
says 4 "" "and a savepoint is unreadable" verify "$uri/x/sp/$GOOD"
mv "$RUN/conf.good" "$RUN/conf/config.yaml"
server_down azure
says 4 "HOLD" "a server that is down: resolve holds" resolve --explain --savepoints "$uri/x/none"
azure_up "$RUN/azure"
says 0 "complete" "back again, all is as it was" verify "$uri/x/sp/$GOOD"
server_down azure
unset JAVA_TOOL_OPTIONS

# ---- HDFS
hdfs_up "$RUN/hdfs"
export HADOOP_CONF_DIR=$HDFS_CONF
ln -s "$HDFS"/client/*.jar "$RUN/flink/lib/"
check_without ':'
check "the snapshots are put into HDFS" hdfs_fs -put "$RUN/tree" /x
store_check "$HDFS_URI/x/check"
snapshots_check "$HDFS_URI/x"
check "what launches have left is put there" hdfs_fs -put "$RUN/gc" /gc
gc_check "$HDFS_URI/gc"
server_down hdfs
says 4 "HOLD" "a server that is down: resolve holds" resolve --explain --savepoints "$HDFS_URI/x/none"
no_secret "$AZURE_KEY" "$wrong"
e2e_end
