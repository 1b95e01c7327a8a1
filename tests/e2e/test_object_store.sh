#!/usr/bin/env bash
#
# Checkpoints and savepoints on S3: Flink writes them with its own file system - presto's with 1.20, Hadoop's with
# 2.3 - and drey finds them with its own, with the endpoint and the keys that Flink's config.yaml has.
#
# runs in: ci on 1.20.0

# shellcheck disable=SC2119 # lib.sh has functions whose arguments are optional
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"
# shellcheck source=tests/servers/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../servers/lib.sh"
# shellcheck source=tests/e2e/store_lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/store_lib.sh"

# The store is a folder to the test: what is in it is looked at, and damaged, behind the server's back.
STORE_URI=s3://flink

store_names() { # DIR
	find "$BUCKETS/flink/$1" -type f -printf '%P\n'
}

store_read() { # NAME
	cat "$BUCKETS/flink/$1"
}

server_find versitygw || servers_skip "versitygw is not to be had"
case $FLINK_VERSION in
1.20.0) plugin="flink-s3-fs-presto" ;;
2.3.0) plugin="flink-s3-fs-hadoop" ;;
*) servers_skip "no file system for S3 is pinned for Flink $FLINK_VERSION" ;;
esac
plugin=$("$TOP/tools/get-flink.sh" --plugin "$plugin" "$FLINK_VERSION") || servers_skip "$plugin is not to be had"
e2e_begin object-store
BUCKETS=$RUN/gw/buckets
S3_REGION=us-east-1
server_up versitygw "$RUN/gw"
mkdir -p "$BUCKETS/flink" "$RUN/flink/plugins/s3"
ln -s "$plugin" "$RUN/flink/plugins/s3/"
run_conf <<EOF
s3.endpoint: $S3_ENDPOINT
s3.access-key: $S3_ACCESS_KEY
s3.secret-key: $S3_SECRET_KEY
s3.path.style.access: true
s3.path-style-access: true
s3.directory.marker.retention: keep
EOF
DREY_CONF[flink.checkpointDirectory]=s3://flink/ck
DREY_CONF[flink.savepointDirectory]=s3://flink/sp
DREY_CONF[savepoints.interval]=4s
DREY_CONF[holding.retryFirst]=300ms
DREY_CONF[holding.retryMax]=500ms
DREY_CONF[attempts.backoffFirst]=200ms
drey_conf
DREY_CONF[flink.checkpointDirectory]=s3://flink/ck
DREY_CONF[flink.savepointDirectory]=s3://flink/sp
# what has no business with drey: only Flink's options lead to the store
export HOME=$RUN AWS_EC2_METADATA_DISABLED=true
start_tm_pod
start_drey
MUST_LIVE=(jm tm)
await "the job runs" phase_is Running
await "a periodic savepoint is taken" status_is '.lastSavepoint.path | startswith("s3://flink/sp/savepoint-")'
await "its first checkpoint proves the launch" status_is .launch.proven

# ---- the JobManager is killed
first=$(status .jobId)
await "three checkpoints are complete" has_completed 3 "$first"
kill -KILL "$(jm_pid)"
await "JobManager killed: drey starts another job" runs_after "$first"
check "from the newest snapshot on S3, with the count that it holds" restore_matches "$(newest_stored "$first")"

# ---- suspend and resume
second=$(status .jobId)
await "the launch is proven" status_is .launch.proven
check "drey suspend" drey suspend
savepoint=$(status .lastSavepoint.path)
check "its savepoint is complete" env "AWS_ENDPOINT_URL=$S3_ENDPOINT" "AWS_ACCESS_KEY_ID=$S3_ACCESS_KEY" \
	"AWS_SECRET_ACCESS_KEY=$S3_SECRET_KEY" "$BUILD/drey" verify "$savepoint"
check "drey resume" drey resume
await "resumed: the job runs" runs_after "$second"
check "from exactly that savepoint" restore_matches "$savepoint"

# ---- the next container, from here on without periodic savepoints
third=$(status .jobId)
await "the launch is proven" status_is .launch.proven
end_drey TERM
DREY_CONF[savepoints.interval]=0
start_drey
MUST_LIVE=(jm tm)
await "the next container runs the job" runs_after "$third"
check "from the newest snapshot" restore_matches "$(newest_stored "$third")"

# ---- S12: the store is down when the job has to start
die_and_wait
server_down versitygw
drey do-not-restart off >/dev/null
await "S3 is down: drey holds" status_is '.phase == "Holding" and (.reason | contains("cannot be read"))'
diag "$(status .reason)"
drey resolve --explain >"$RUN/log/explain.log" 2>&1
is $? 4 "drey resolve says so too, with status 4"
check "nothing was launched" test -z "$(jm_pid)"
server_up versitygw "$RUN/gw"
await "S3 is back: drey starts the job by itself" runs_after "$JOB"
check "from the newest checkpoint" restore_matches "${KEPT[0]}"

# ---- the newest checkpoint has lost a file, the one before its _metadata
die_and_wait
check "at least three are kept" test "${#KEPT[@]}" -ge 3
rm "$(find "$BUCKETS/${KEPT[0]#s3://}" -type f ! -name _metadata | head -n 1)"
rm "$BUCKETS/${KEPT[1]#s3://}/_metadata"
drey do-not-restart off >/dev/null
await "the job is started again" runs_after "$JOB"
check "from the newest checkpoint that is whole" restore_matches "${KEPT[2]}"
check "the log says loudly that ${KEPT[0]##*/} was passed over" \
	grep -qE "\"(warn|error)\".*${KEPT[0]##*/}" "$RUN/log/jm.log"

check "the state was continuous all the time" continuity
drey resolve --explain >>"$RUN/log/explain.log" 2>&1
check "the secret key is in no log" not grep -rqF -- "$S3_SECRET_KEY" "$RUN/log"
e2e_end
