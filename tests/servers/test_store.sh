#!/usr/bin/env bash
#
# The contract of store/store.h, call by call, with every kind of object store: tests/store/check_store.c.

# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/servers/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

servers_begin store versitygw openstack
export HOME=$RUN AWS_EC2_METADATA_DISABLED=true
check_store=$BUILD/tests/store/check_store
contract() { # WHAT URI
	local line
	while IFS= read -r line; do
		case $line in
		"ok "*) tap_result 0 "$1: ${line#ok * - }" ;;
		"not ok "*) tap_result 1 "$1: ${line#not ok * - }" ;;
		"Bail out!"*) tap_result 1 "$1: $line" ;;
		"#"*) echo "$line" ;;
		esac
	done < <("$check_store" "$2" 2>&1 || echo "not ok 0 - ends with status 0")
}
check "the files are made" "$check_store" make "$RUN/tree"

contract "a directory" "$RUN/tree"

server_up versitygw "$RUN/gw"
mkdir -p "$RUN/gw/buckets/drey"
cp -r "$RUN/tree" "$RUN/gw/buckets/drey/a dir"
AWS_ENDPOINT_URL=$S3_ENDPOINT AWS_REGION=$S3_REGION AWS_ACCESS_KEY_ID=$S3_ACCESS_KEY \
	AWS_SECRET_ACCESS_KEY=$S3_SECRET_KEY contract versitygw "s3://drey/a dir"
server_down versitygw

server_up swift "$RUN/swift"
export AWS_ENDPOINT_URL=$SWIFT_S3_ENDPOINT AWS_REGION=us-east-1
export AWS_ACCESS_KEY_ID=$SWIFT_USER AWS_SECRET_ACCESS_KEY=$SWIFT_KEY
check "boto3 puts the files into Swift" "$OPENSTACK/bin/python" "$SERVERS_DIR/client.py" upload "$RUN/tree" drey "a dir/"
contract s3api "s3://drey/a dir"
export ST_AUTH=$SWIFT_AUTH_URL ST_USER=$SWIFT_USER ST_KEY=$SWIFT_KEY
contract Swift "swift://drey/a dir"
e2e_end
