#!/usr/bin/env bash
#
# Checkpoints and savepoints on Azure's blob storage, which Flink writes and drey reads with Flink's own plugin (store_lib.sh).
# Without the plugin drey says what is missing. By wasb: abfs speaks the DFS protocol, which Azurite (3.35.0) does not implement: it
# answers 400 to ?resource=filesystem (https://github.com/Azure/Azurite/issues/409, open).
#
# runs in: all on 2.3.0

# shellcheck disable=SC2119 # lib.sh has functions whose arguments are optional
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"
# shellcheck source=tests/servers/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../servers/lib.sh"
# shellcheck source=tests/servers/azure.sh
. "$(dirname "${BASH_SOURCE[0]}")/../servers/azure.sh"
# shellcheck source=tests/e2e/store_lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/store_lib.sh"

store_start() {
	azure_up "$RUN/azure"
	STORE_URI=wasb://flink@$AZURE_HOST
}

store_stop() {
	server_down azure
}

store_names() { # DIR
	azure_blobs names flink "$1/" | sed "s|^$1/||"
}

store_read() { # NAME
	azure_blobs read flink "$1"
}

store_remove() { # NAME
	azure_blobs remove flink "$1"
}

azure_find || servers_skip "Azurite is not to be had"
plugin=$("$TOP/tools/get-flink.sh" --plugin flink-azure-fs-hadoop "$FLINK_VERSION") || servers_skip "no flink-azure-fs-hadoop"
e2e_begin store-azure
store_files_jar || die 1 "java/files cannot be compiled"
store_start
azure_blobs create flink || die 1 "a container cannot be made"
STORE_SECRET=$AZURE_KEY
store_refused flink-azure-fs-hadoop
mkdir "$RUN/flink/plugins/azure"
ln -s "$plugin" "$RUN/flink/plugins/azure/"
run_conf <<EOF
fs.azure.account.key.$AZURE_HOST: $AZURE_KEY
EOF
# the first part of the host is the account, and so it needs a name; drey's JVM gets the option, too
export HOME=$RUN JAVA_TOOL_OPTIONS=-Djdk.net.hosts.file=$AZURE_HOSTS
store_story
e2e_end
