#!/usr/bin/env bash
#
# A real S3 server (versitygw) behind a proxy that lies (lying_proxy.py): no lie is an absence, an empty store or an older start.
#
# runs in: all

# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/servers/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=tests/servers/snapshots.sh
. "$(dirname "${BASH_SOURCE[0]}")/snapshots.sh"

servers_begin lies versitygw openstack
server_up versitygw "$RUN/gw"
export HOME=$RUN AWS_ENDPOINT_URL=$S3_ENDPOINT AWS_REGION=$S3_REGION AWS_EC2_METADATA_DISABLED=true
export AWS_ACCESS_KEY_ID=$S3_ACCESS_KEY AWS_SECRET_ACCESS_KEY=$S3_SECRET_KEY
snapshots_make "$RUN/tree"
check "boto3 puts the snapshots there" s3_client upload "$RUN/tree" flink a/
snapshots_savepoint "$RUN/long/sp/$GOOD"
for ((n = 0; n < 1300; n++)); do # so that a listing has pages, and is cut
	dir=$(printf '%s/long/sp/savepoint-000000-%012x' "$RUN" $((n * 0x31415926)))
	mkdir "$dir"
	: >"$dir/x"
done
check "and a directory of more than one page" s3_client upload "$RUN/long" flink long/
mkdir -p "$RUN/left/ck/$JOB/chk-"{7,8}
cp "$FIXTURES/2.3.0-hashmap-chk" "$RUN/left/ck/$JOB/chk-7/_metadata"
cp -r "$RUN/left/ck/$JOB/chk-7/." "$RUN/left/ck/$JOB/chk-8"
touch "$RUN/left/ck/$JOB/chk-8/state"
check "and two checkpoints" s3_client upload "$RUN/left" flink left/
for n in 1 2 3; do
	snapshots_savepoint "$RUN/short/sp/savepoint-aaaaaa-${n}${GOOD#*-*-0}"
done
check "and three savepoints" s3_client upload "$RUN/short" flink short/
lying_up "$S3_ENDPOINT"
export AWS_ENDPOINT_URL=$LYING_URL

savepoints=(resolve --explain --savepoints s3://flink/a/sp)
says 0 "START_FROM" "the truth: it starts" "${savepoints[@]}"
for lie in absent absent-text absent-html; do
	lies "$lie GET /sp/$GOOD/_metadata"
	says 4 "HOLD" "$lie against the listing: it holds" "${savepoints[@]}"
done
lies "short GET|HEAD /sp/$GOOD/_metadata 0 100"
says 4 "HOLD" "shorter than it was listed: it holds" "${savepoints[@]}"
lies "short HEAD /sp/$GOOD/(?!_metadata) 0 1"
says 4 "is listed with" "a state file answers with another size than it is listed with: unreadable" verify "s3://flink/a/sp/$GOOD"
lies "foreign-empty GET list-type=2"
says 4 "HOLD" "an empty listing of another prefix is no first start" "${savepoints[@]}"
lies "foreign GET list-type=2"
says 4 "HOLD" "and neither is a foreign one with names" "${savepoints[@]}"
lies "no-bucket GET ."
says 4 "there is no bucket" "a bucket that is not there is an error" "${savepoints[@]}"
lies "archived GET /sp/$GOOD/_metadata"
says 4 "is archived" "an archived _metadata: unreadable, with the remedy" verify "s3://flink/a/sp/$GOOD"
lies "class HEAD /sp/$GOOD/ 0 GLACIER"
says 4 "is archived" "archived state files: the same" verify "s3://flink/a/sp/$GOOD"
long=(resolve --explain --savepoints s3://flink/long/sp)
lies
says 0 "START_FROM" "a long listing: it starts" "${long[@]}"
lies "gap GET start-after 0 1"
says 4 "is left out of what comes after" "a name is left out where a page begins: it holds" "${long[@]}"
says 4 "drey explain StorageUnreadable" "and says so by the cause" "${long[@]}"
short=(resolve --explain --savepoints s3://flink/short/sp)
lies "split GET list-type=2 0 savepoint-aaaaaa-3 3"
says 4 "is left out of what comes after" "a whole savepoint is left out after a page of six names: it holds" "${short[@]}"
checkpoints=(resolve --explain --checkpoints s3://flink/left/ck)
lies "hide GET list-type=2 0 chk-8/_metadata"
says 4 "its _metadata is of checkpoint 7, not 8" "a _metadata that no listing has may have been written since: it is read" "${checkpoints[@]}"
find "$RUN/gw" -path "*left*chk-8/_metadata" -exec touch -d "-5 minutes" {} +
says 4 "its _metadata is there, and was not listed" "one that was left out of the listing: it holds" "${checkpoints[@]}"
lies
says 0 "START_FROM" "the truth again: it starts" "${savepoints[@]}"
no_secret "$S3_ACCESS_KEY" "$S3_SECRET_KEY"
e2e_end
