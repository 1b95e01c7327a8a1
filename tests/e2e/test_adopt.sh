#!/usr/bin/env bash
#
# A cluster is lost, and its journal with it: the application is installed again, and starts from the newest snapshot that
# a real Flink has left in a real Swift, through its S3 API. By default drey holds; with restore.adopt: newest nobody is
# asked, but what another job has left is not taken.
#
# runs in: all

# shellcheck disable=SC2119 # lib.sh has functions whose arguments are optional
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"
# shellcheck source=tests/servers/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../servers/lib.sh"

# What is in Swift, asked for through its own API.
in_swift() { # JQ_FILTER
	ST_AUTH=$SWIFT_AUTH_URL ST_USER=$SWIFT_USER ST_KEY=$SWIFT_KEY "$BUILD/drey" snapshots --json \
		--checkpoints swift://flink/ck --savepoints swift://flink/sp 2>/dev/null | jq --raw-output "$1"
}

# As Flink and drey name it.
newest_of() { # JOB
	in_swift "[.snapshots[] | select(.jobId == \"$1\")] | max_by(.checkpointId).path" | sed 's|^swift:|s3:|'
}

# Every process is gone, and the state directory. Sets JOB and NEWEST.
lose_cluster() {
	await "the launch is proven" status_is .launch.proven
	JOB=$(status .jobId)
	await "checkpoints are complete" has_completed $(($(status '.launch.restorePoint.checkpointId // 0') + 3)) "$JOB"
	end_drey KILL
	await "nothing of Flink is left" test -z "$(jm_pid)"
	rm -r "$RUN/state"
	NEWEST=$(newest_of "$JOB")
	diag "lost; the newest checkpoint is $NEWEST"
}

case $FLINK_VERSION in
1.20.0) plugin="flink-s3-fs-presto" ;;
2.3.0) plugin="flink-s3-fs-hadoop" ;;
*) servers_skip "no file system for S3 is pinned for Flink $FLINK_VERSION" ;;
esac
plugin=$("$TOP/tools/get-flink.sh" --plugin "$plugin" "$FLINK_VERSION") || servers_skip "$plugin is not to be had"
server_find openstack || servers_skip "OpenStack Swift is not to be had"
e2e_begin adopt
held_jar
"$TOP/tests/job/build.sh" "$FLINK" "$RUN/flink/usrlib/handover.jar" HandoverJob
server_up swift "$RUN/swift"
mkdir -p "$RUN/flink/plugins/s3" "$RUN/marker"
touch "$RUN/marker/a-bucket"
ST_AUTH=$SWIFT_AUTH_URL ST_USER=$SWIFT_USER ST_KEY=$SWIFT_KEY swift_upload "$RUN/marker" flink
ln -s "$plugin" "$RUN/flink/plugins/s3/"
run_conf <<EOF
s3.endpoint: $SWIFT_S3_ENDPOINT
s3.endpoint.region: us-east-1
s3.access-key: $SWIFT_USER
s3.secret-key: $SWIFT_KEY
s3.path.style.access: true
s3.path-style-access: true
s3.directory.marker.retention: keep
EOF
export HOME=$RUN AWS_EC2_METADATA_DISABLED=true
drey_conf
DREY_CONF[flink.checkpointDirectory]=s3://flink/ck
DREY_CONF[flink.savepointDirectory]=s3://flink/sp
DREY_CONF[journal.copy]=off # what is adopted without one; tests/api/test_recovery.sh has one
DREY_CONF[holding.retryFirst]=300ms
DREY_CONF[holding.retryMax]=500ms
start_tm_pod
start_drey
MUST_LIVE=(jm tm)
await "the job runs, with its state in Swift" phase_is Running

# ---- by default a person decides
lose_cluster
start_drey
await "the journal is lost: drey holds" status_is '.phase == "Holding" and .cause == "JournalLost"'
check "it names the newest" status_is ".reason | contains(\"$NEWEST\")"
check "nothing was launched" test -z "$(jm_pid)"
is "$(event_count MAIN)" 1 "and no main() has run"
end_drey TERM
rm -rf "$RUN/state"

# ---- restore.adopt: newest
DREY_CONF[restore.adopt]=newest
write_drey_yaml
env "E2E_RUN=$RUN" "${FLINK_ENV[@]}" "$BUILD/drey" resolve --config "$RUN/drey.yaml" >"$RUN/resolve" 2>&1
is $? 0 "drey resolve says that it would start"
check "from the newest" grep -q -F "$NEWEST" "$RUN/resolve"
sed 's/^/# /' "$RUN/resolve"
start_drey
MUST_LIVE=(jm tm)
await "restore.adopt is newest: the job runs" runs_after "$JOB"
check "from the newest checkpoint, with its count" restore_matches "$NEWEST"
check "the reason says that it was adopted" grep -q "restore.adopt is newest" "$RUN/log/jm.log"

# ---- another job's snapshots are the newest there
lose_cluster
OURS=$NEWEST OUR_JOB=$JOB
DREY_CONF[application]=other
DREY_CONF[flink.jobClass]=drey.HandoverJob
DREY_CONF[flink.arguments]=$(yaml_list --output "$RUN/out" --t0 1)
DREY_CONF[restore.adopt]=hold
DREY_CONF[restore.foreign]=ignore
start_drey
MUST_LIVE=(jm tm)
await "another job writes to the same directory" runs_after "$JOB"
await "its launch is proven" status_is .launch.proven
JOB=$(status .jobId)
end_drey KILL
await "it is gone" test -z "$(jm_pid)"
rm -r "$RUN/state"
check "it has left the newest snapshot" test -n "$(newest_of "$JOB")"
DREY_CONF[application]=e2e
drey_conf
DREY_CONF[flink.checkpointDirectory]=s3://flink/ck
DREY_CONF[flink.savepointDirectory]=s3://flink/sp
DREY_CONF[restore.adopt]=newest
unset "DREY_CONF[restore.foreign]"
start_drey
MUST_LIVE=(jm tm)
await "the first job runs again" runs_after "$OUR_JOB"
check "from its own newest checkpoint" restore_matches "$OURS"

# ---- the job's operators are not known
lose_cluster
DREY_CONF[check.graphTimeout]=1s
DREY_CONF[flink.jobClass]=drey.NoSuchJob
start_drey
await "the job cannot be built: drey holds" status_is '.phase == "Holding" and .cause == "JournalLost"'
diag "$(status .reason)"
check "and says why" status_is '.reason | contains("the operators of the job are not known")'
is "$(status '.launch == null')" true "nothing was launched" # a JVM may be there: the job's graph is asked for again
end_drey TERM
check "no count was lost, and none repeated" continuity
e2e_end
