#!/usr/bin/env bash
#
# Conditional writes, on which the lease object rests: kept by MinIO, also when several write at once; kept by versitygw, but
# only one after another; refused by Swift's S3 API, which drey notices.
#
# runs in: all

# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/servers/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# shellcheck disable=SC2317 # called through check
objects() { # [OPTION] URI
	"$BUILD/tests/store/check_object" "$@" >"$RUN/objects.tap" 2>&1
	local status=$?
	diag "$(cat "$RUN/objects.tap")"
	return $status
}

servers_begin lease versitygw minio openstack
export HOME=$RUN AWS_EC2_METADATA_DISABLED=true

server_up versitygw "$RUN/gw"
mkdir -p "$RUN/gw/buckets/flink"
export AWS_ENDPOINT_URL=$S3_ENDPOINT AWS_REGION=$S3_REGION AWS_ACCESS_KEY_ID=$S3_ACCESS_KEY AWS_SECRET_ACCESS_KEY=$S3_SECRET_KEY
check "versitygw: one after another" objects --one-by-one s3://flink/a/lease.json
AWS_SECRET_ACCESS_KEY=wrong check "a wrong key is an error, not absence" objects --denied s3://flink/a/lease.json

mkdir -p "$RUN/minio/buckets/flink"
server_up minio "$RUN/minio"
export AWS_ENDPOINT_URL=$S3_ENDPOINT AWS_REGION=$S3_REGION AWS_ACCESS_KEY_ID=$S3_ACCESS_KEY AWS_SECRET_ACCESS_KEY=$S3_SECRET_KEY
check "MinIO: several at once" objects s3://flink/a/lease.json

server_up swift "$RUN/swift"
mkdir -p "$RUN/marker" && touch "$RUN/marker/a-bucket"
check "a container in Swift" env "ST_AUTH=$SWIFT_AUTH_URL" "ST_USER=$SWIFT_USER" "ST_KEY=$SWIFT_KEY" \
	"$OPENSTACK/bin/swift" upload flink "$RUN/marker/a-bucket"
AWS_ENDPOINT_URL=$SWIFT_S3_ENDPOINT AWS_REGION=us-east-1 AWS_ACCESS_KEY_ID=$SWIFT_USER AWS_SECRET_ACCESS_KEY=$SWIFT_KEY \
	check "Swift's S3 API has none, and that is noticed" objects --refuse s3://flink/b/lease.json
e2e_end
