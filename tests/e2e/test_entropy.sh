#!/usr/bin/env bash
#
# A stop whose result was not read is settled in its own directory, on S3 and with Flink's entropy key in the path: the
# container dies while the stop is in flight, and the next one has another savepoint directory, or the same. If the
# directory of the stop cannot be read, nothing is started.
#
# runs in: all

# shellcheck disable=SC2119 # lib.sh has functions whose arguments are optional
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"
# shellcheck source=tests/servers/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../servers/lib.sh"

savepoints_of() { # JOB
	(cd "$BUCKETS" && find . -path "*/savepoint-${1:0:6}-*/_metadata" -printf 's3:/%h\n' | sed 's|/\./|//|')
}

# The job is stopped, and the container dies before anybody has read what came of it: it has FINISHED, its savepoint is
# complete. Sets JOB and SAVED.
die_in_stop() { # COMMAND
	local holds agent
	await "the launch is proven" status_is .launch.proven
	JOB=$(status .jobId)
	holds=$(event_count HOLD)
	control hold-snapshot
	check "drey $1 --no-wait" drey "$1" --no-wait
	await "Flink is asked" status_is '.operation.kind == "stop"'
	await "and its savepoint waits" has_events HOLD $((holds + 1))
	agent=$(agent_pid)
	kill -STOP "$agent"
	uncontrol hold-snapshot
	await "the job has come to its end, and drey does not know" job_is FINISHED
	SAVED=$(savepoints_of "$JOB")
	end_drey KILL
	await "nothing of Flink is left" test -z "$(jm_pid)"
}

directories() { # CHECKPOINTS SAVEPOINTS
	DREY_CONF[flink.checkpointDirectory]=$1
	DREY_CONF[flink.savepointDirectory]=$2
}

server_find versitygw || servers_skip "versitygw is not to be had"
case $FLINK_VERSION in
1.20.0) plugin="flink-s3-fs-presto" ;;
2.3.0) plugin="flink-s3-fs-hadoop" ;;
*) servers_skip "no file system for S3 is pinned for Flink $FLINK_VERSION" ;;
esac
plugin=$("$TOP/tools/get-flink.sh" --plugin "$plugin" "$FLINK_VERSION") || servers_skip "$plugin is not to be had"
e2e_begin entropy
BUCKETS=$RUN/gw/buckets
S3_REGION=us-east-1
server_up versitygw "$RUN/gw"
mkdir -p "$BUCKETS"/{flink,saved} "$RUN/flink/plugins/s3"
ln -s "$plugin" "$RUN/flink/plugins/s3/"
run_conf <<EOF
s3.endpoint: $S3_ENDPOINT
s3.access-key: $S3_ACCESS_KEY
s3.secret-key: $S3_SECRET_KEY
s3.path.style.access: true
s3.path-style-access: true
s3.directory.marker.retention: keep
s3.entropy.key: _entropy_
s3.entropy.length: 4
execution.checkpointing.data-inline-threshold: 0 b
EOF
DREY_CONF[holding.retryFirst]=300ms
DREY_CONF[holding.retryMax]=500ms
drey_conf
directories s3://flink/_entropy_/ck s3://saved/_entropy_/sp
export HOME=$RUN AWS_EC2_METADATA_DISABLED=true
start_tm_pod
start_drey
MUST_LIVE=(jm tm)
await "the job runs" phase_is Running

# ---- the next container has another savepoint directory, and the bucket of the stop is away
die_in_stop restart
is "${SAVED%-*}" "s3://saved/sp/savepoint-${JOB:0:6}" "Flink has left the key out of where the savepoint is"
check "and has spread its state" test -n "$(find "$BUCKETS/saved" -path "$BUCKETS/saved/????/sp/*" -type f)"
directories s3://flink/_entropy_/ck s3://flink/other/_entropy_/sp
mv "$BUCKETS/saved" "$RUN/saved"
start_drey
MUST_LIVE=(jm tm)
await "the bucket is away: held" status_is '.phase == "Holding" and .cause == "OperationUnsettled"'
diag "$(status .reason)"
check "nothing was started" test -z "$(jm_pid)"
mv "$RUN/saved" "$BUCKETS/saved"
await "it is back: the job is started" runs_after "$JOB"
check "from the savepoint of the stop" restore_matches "$SAVED"
is "$(status '.lastOperation | [.kind, .ok, .location] | join(" ")')" "stop true $SAVED" "which is on record"

# ---- the same directory, with the key
die_in_stop suspend
is "${SAVED%-*}" "s3://flink/other/sp/savepoint-${JOB:0:6}" "the next stop saves in the new directory"
start_drey
MUST_LIVE=(jm tm)
await "the job is suspended" phase_is Suspended
is "$(status '.lastOperation | [.kind, .ok, .location] | join(" ")')" "stop true $SAVED" "the stop is settled"
check "drey resume" drey resume
check "the job continues from exactly that" restore_matches "$SAVED"
check "the state was continuous all the time" continuity
e2e_end
