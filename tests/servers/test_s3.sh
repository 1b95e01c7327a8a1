#!/usr/bin/env bash
#
# S3 as versitygw implements it: what drey reports about snapshots there, and about keys, buckets and objects that it may
# not use.

# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/servers/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=tests/servers/snapshots.sh
. "$(dirname "${BASH_SOURCE[0]}")/snapshots.sh"
# shellcheck source=tests/servers/gc.sh
. "$(dirname "${BASH_SOURCE[0]}")/gc.sh"

servers_begin s3 versitygw openstack
server_up versitygw "$RUN/gw" --iam-dir "$(mkdir -p "$RUN/iam" && echo "$RUN/iam")"
export HOME=$RUN AWS_ENDPOINT_URL=$S3_ENDPOINT AWS_REGION=$S3_REGION AWS_EC2_METADATA_DISABLED=true
export AWS_ACCESS_KEY_ID=$S3_ACCESS_KEY AWS_SECRET_ACCESS_KEY=$S3_SECRET_KEY
snapshots_make "$RUN/tree"
check "boto3 puts the snapshots there" s3_client upload "$RUN/tree" flink a/b/

store_check s3://flink/a/b/check
snapshots_check s3://flink/a/b
says 0 "complete" "s3a:// is the same store" verify "s3a://flink/a/b/sp/$GOOD"
says 0 "complete" "s3p:// too" verify "s3p://flink/a/b/sp/$GOOD"

gc_make "$RUN/gc"
check "boto3 puts what launches have left there" s3_client upload "$RUN/gc" flink gc/
gc_check s3://flink/gc

# ---- the jar of a job in a private bucket, by the line of docs/tasks/fetched-jar.md
fetch=$(grep '^curl .*--aws-sigv4' "$TOP/docs/tasks/fetched-jar.md" | sed "s|us-east-1|$S3_REGION|; s|/usrlib/|$RUN/|")
mkdir "$RUN/jars"
head -c 100000 /dev/urandom >"$RUN/jars/orders.jar"
check "boto3 puts a jar there" s3_client upload "$RUN/jars" flink jars/
# shellcheck disable=SC2317 # called through check
fetch_jar() { # SECRET
	rm -f "$RUN/orders.jar"
	KEY=$S3_ACCESS_KEY SECRET=$1 JAR=$S3_ENDPOINT/flink/jars/orders.jar bash -c "$fetch" && cmp "$RUN/jars/orders.jar" "$RUN/orders.jar"
}
check "the init container's line fetches it" fetch_jar "$S3_SECRET_KEY"
check "but not with another secret" not fetch_jar "not-$S3_SECRET_KEY"

# ---- more than a page, which is read in spans
# shellcheck disable=SC2317 # called through check
make_many() {
	local i dir
	mkdir -p "$RUN/gw/buckets/flink/many"
	for ((i = 1; i <= 3000; i++)); do
		printf -v dir '%s/flink/many/savepoint-5b2c01-%012x' "$RUN/gw/buckets" $((i * 0x9e3779b97f4b & 0xffffffffffff))
		cp -r "$RUN/tree/sp/$GOOD" "$dir"
	done
}
check "3,000 savepoints of one job" make_many
says 0 "3000 found" "each of them is found, once" resolve --explain --savepoints s3://flink/many
check "several pages were read at once" grep -q 'start-after=many%2Fsavepoint-5b2c01-' "$RUN/gw/access.log"
rm -r "$RUN/gw/buckets/flink/many"

# ---- keys
AWS_SECRET_ACCESS_KEY=not-$S3_SECRET_KEY says 4 "SignatureDoesNotMatch" "a wrong secret key: unreadable, and why" \
	verify "s3://flink/a/b/sp/$GOOD"
AWS_ACCESS_KEY_ID=nobody says 4 "InvalidAccessKeyId" "a wrong access key: unreadable, and why" \
	verify "s3://flink/a/b/sp/$GOOD"
AWS_SECRET_ACCESS_KEY=not-$S3_SECRET_KEY says 4 "HOLD" "a wrong key is not an empty store: resolve holds" \
	resolve --explain --savepoints s3://flink/a/b/none
AWS_ENDPOINT_URL_S3=http://127.0.0.1:1 says 4 "http://127.0.0.1:1 (AWS_ENDPOINT_URL_S3 in the environment): " \
	"a wrong endpoint: unreadable, and which variable has it" verify "s3://flink/a/b/sp/$GOOD"
AWS_ENDPOINT_URL=https://${S3_ENDPOINT#*://} says 4 "(AWS_ENDPOINT_URL in the environment): " \
	"TLS to a server without it: unreadable, and which variable has it" verify "s3://flink/a/b/sp/$GOOD"
AWS_SESSION_TOKEN=token-of-a-session says 0 "complete" "a session token is signed and sent" \
	verify "s3://flink/a/b/sp/$GOOD"
(
	unset AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY
	mkdir -p "$RUN/.aws"
	printf '[test]\naws_access_key_id = %s\naws_secret_access_key = %s\n' "$S3_ACCESS_KEY" "$S3_SECRET_KEY" \
		>"$RUN/.aws/credentials"
	AWS_PROFILE="test" "$BUILD/drey" verify "s3://flink/a/b/sp/$GOOD" >>"$RUN/said.log" 2>&1
)
is $? 0 "keys from the shared file and a profile"

# ---- buckets and objects
says 4 "NoSuchBucket" "a bucket that is not there is an error, not an empty one" \
	resolve --explain --savepoints s3://nix/sp
says 4 "$S3_ENDPOINT (AWS_ENDPOINT_URL in the environment): s3://nix/sp" "and it is said what names the server" \
	verify s3://nix/sp
# shellcheck disable=SC2317 # called through check
server_user() { # NAME SECRET
	"$VERSITYGW/bin/versitygw" admin --access "$S3_ACCESS_KEY" --secret "$S3_SECRET_KEY" --region "$S3_REGION" \
		--endpoint-url "$S3_ENDPOINT" create-user --access "$1" --secret "$2" --role user >/dev/null
}
GUEST_SECRET=$(random_hex 16)
check "a second user" server_user guest "$GUEST_SECRET"
check "who may list and read all but one savepoint" s3_client policy flink '{"Version": "2012-10-17", "Statement": [
	{"Effect": "Allow", "Principal": {"AWS": ["guest"]}, "Action": ["s3:ListBucket", "s3:GetObject"],
	 "Resource": ["arn:aws:s3:::flink", "arn:aws:s3:::flink/*"]},
	{"Effect": "Deny", "Principal": {"AWS": ["guest"]}, "Action": "s3:GetObject",
	 "Resource": "arn:aws:s3:::flink/a/b/sp/*"}]}'
guest() {
	AWS_ACCESS_KEY_ID=guest AWS_SECRET_ACCESS_KEY=$GUEST_SECRET says "$@"
}
guest 0 "complete" "the second user: a savepoint that may be read" verify "s3://flink/a/b/$WEIRD/$GOOD"
guest 4 "AccessDenied" "one that is denied: unreadable, and why" verify "s3://flink/a/b/sp/$GOOD"
guest 4 "HOLD" "resolve holds, for it could be the newest" resolve --explain --savepoints s3://flink/a/b/sp

# ---- the server
server_down versitygw
says 4 "$S3_ENDPOINT (AWS_ENDPOINT_URL in the environment): " "a server that is down: unreadable, and what names it" verify "s3://flink/a/b/sp/$GOOD"
says 4 "HOLD" "and resolve holds" resolve --explain --savepoints s3://flink/a/b/none
server_up versitygw "$RUN/gw" --iam-dir "$RUN/iam"
says 0 "complete" "back again, all is as it was" verify "s3://flink/a/b/sp/$GOOD"
no_secret "$S3_ACCESS_KEY" "$S3_SECRET_KEY" "$GUEST_SECRET" token-of-a-session
e2e_end
