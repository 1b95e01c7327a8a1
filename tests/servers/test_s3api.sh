#!/usr/bin/env bash
#
# S3 as OpenStack Swift implements it (s3api): another server that checks every signature itself.

# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/servers/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=tests/servers/snapshots.sh
. "$(dirname "${BASH_SOURCE[0]}")/snapshots.sh"

servers_begin s3api openstack
server_up swift "$RUN/swift"
export HOME=$RUN AWS_ENDPOINT_URL=$SWIFT_S3_ENDPOINT AWS_REGION=us-east-1 AWS_EC2_METADATA_DISABLED=true
export AWS_ACCESS_KEY_ID=$SWIFT_USER AWS_SECRET_ACCESS_KEY=$SWIFT_KEY
export CHECK_DIRS=12 # Swift takes its time for each object
snapshots_make "$RUN/tree"
check "boto3 puts the snapshots there" s3_client upload "$RUN/tree" flink a/b/

store_check s3://flink/a/b/check
snapshots_check s3://flink/a/b
AWS_SECRET_ACCESS_KEY=not-$SWIFT_KEY says 4 "SignatureDoesNotMatch" "a wrong secret key: unreadable, and why" \
	verify "s3://flink/a/b/sp/$GOOD"
AWS_ACCESS_KEY_ID=test:nobody says 4 "SignatureDoesNotMatch" "a wrong access key: unreadable, and why" \
	verify "s3://flink/a/b/sp/$GOOD"
AWS_REGION=eu-west-9 says 4 "AuthorizationHeaderMalformed" "the wrong region: unreadable, and why" \
	verify "s3://flink/a/b/sp/$GOOD"
AWS_ACCESS_KEY_ID=$SWIFT_GUEST AWS_SECRET_ACCESS_KEY=$SWIFT_GUEST_KEY says 4 "AccessDenied" \
	"a user without rights: unreadable, and why" verify "s3://flink/a/b/sp/$GOOD"
AWS_SECRET_ACCESS_KEY=not-$SWIFT_KEY says 4 "HOLD" "a wrong key is not an empty store: resolve holds" \
	resolve --explain --savepoints s3://flink/a/b/none
says 4 "NoSuchBucket" "a bucket that is not there is an error, not an empty one" \
	resolve --explain --savepoints s3://nix/sp
no_secret "$SWIFT_KEY" "$SWIFT_GUEST_KEY"
e2e_end
