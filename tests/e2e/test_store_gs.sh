#!/usr/bin/env bash
#
# Checkpoints and savepoints on Google Cloud Storage, which Flink writes and drey reads with Flink's own plugin (store_lib.sh).
# Without the plugin drey says what is missing; so it does of a store that is in none of the tests (oss), and of one that Flink does
# not have.
#
# runs in: all on 2.3.0

# shellcheck disable=SC2119 # lib.sh has functions whose arguments are optional
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"
# shellcheck source=tests/servers/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../servers/lib.sh"
# shellcheck source=tests/servers/gcs.sh
. "$(dirname "${BASH_SOURCE[0]}")/../servers/gcs.sh"
# shellcheck source=tests/e2e/store_lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/store_lib.sh"

store_start() {
	gcs_up "$RUN/gcs" flink
	STORE_URI=gs://flink
}

store_stop() {
	server_down gcs
}

store_names() { # DIR
	gcs_names "$1/" | sed -n "s|^$1/||; /[^/]\$/p"
}

store_read() { # NAME
	gcs_read "$1"
}

store_remove() { # NAME
	gcs_remove "$1"
}

gcs_find || servers_skip "fake-gcs-server is not to be had"
plugin=$("$TOP/tools/get-flink.sh" --plugin flink-gs-fs-hadoop "$FLINK_VERSION") || servers_skip "no flink-gs-fs-hadoop"
e2e_begin store-gs
store_files_jar || die 1 "java/files cannot be compiled"
store_start
STORE_SECRET=''
store_refused flink-gs-fs-hadoop
STORE_URI=oss://flink store_refused flink-oss-fs-hadoop
STORE_URI=nfs://server/flink store_refused 'a plugin'
mkdir "$RUN/flink/plugins/gs"
ln -s "$plugin" "$RUN/flink/plugins/gs/"
run_conf <<EOF
gs.storage.root.url: $GCS_URL
gs.auth.service.account.enable: false
gs.auth.null.enable: true
EOF
# the part of the plugin that writes _metadata looks for a key on the node's own server otherwise, three times 0.5 s
export HOME=$RUN NO_GCE_CHECK=true
store_story
e2e_end
