#!/usr/bin/env bash
#
# A real bucket that keeps old versions (MinIO): it goes on listing a directory of which only deleted ones are left. That is an absence,
# and holds neither a launch nor a first start.
#
# runs in: all

# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/servers/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=tests/servers/snapshots.sh
. "$(dirname "${BASH_SOURCE[0]}")/snapshots.sh"
# shellcheck source=tests/gc_world.sh
. "$TOP/tests/gc_world.sh"

servers_begin versions minio openstack
server_up minio "$RUN/minio"
export HOME=$RUN AWS_ENDPOINT_URL=$S3_ENDPOINT AWS_REGION=$S3_REGION AWS_EC2_METADATA_DISABLED=true
export AWS_ACCESS_KEY_ID=$S3_ACCESS_KEY AWS_SECRET_ACCESS_KEY=$S3_SECRET_KEY
for n in 1 2 3; do
	mkdir -p "$RUN/tree/ck/$(gc_job $n)/chk-7"
	cp "$FIXTURES/2.3.0-hashmap-chk" "$RUN/tree/ck/$(gc_job $n)/chk-7/_metadata"
done
check "boto3 makes a bucket with versions" s3_client version flink
check "and puts three checkpoints there" s3_client upload "$RUN/tree" flink a/
gc_configure "$RUN" s3://flink/a
gc_journal "$RUN" s3://flink/a 3
launch=(resolve --explain --config "$RUN/drey.yaml")
says 0 "START_FROM" "the newest one is started from" "${launch[@]}"
says 0 "$(gc_job 3)/chk-7" "which is that of the last launch" "${launch[@]}"

# what Flink deletes keeps a version, and so does what is overwritten
for n in 1 2; do
	check "the checkpoint of launch $n is deleted" s3_client delete flink "a/ck/$(gc_job $n)/chk-7/_metadata"
done
check "one is overwritten" s3_client upload "$RUN/tree/ck/$(gc_job 3)" flink "a/ck/$(gc_job 3)/"
s3_client directories flink a/ck/ >"$RUN/listed"
check "a listing goes on with the directories of all three" test "$(grep -c . "$RUN/listed")" = 3
says 0 "START_FROM" "a launch is not held" "${launch[@]}"
says 0 "$(gc_job 3)/chk-7" "and starts from the one that is there" "${launch[@]}"

# of nothing else
check "the last one is deleted, too" s3_client delete flink "a/ck/$(gc_job 3)/chk-7/_metadata"
check "and is listed still" test -n "$(s3_client directories flink a/)"
says 0 "START_EMPTY" "a first start is not held" resolve --explain --checkpoints s3://flink/a/ck
no_secret "$S3_ACCESS_KEY" "$S3_SECRET_KEY"
e2e_end
