#!/usr/bin/env bash
#
# Keys for S3 from a real STS: a web identity, or the keys of another profile, are exchanged for keys, an S3 that checks
# signatures and enforces IAM accepts requests signed with them, and the rights that docs/reference/storage.md requires are
# sufficient and necessary.

# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/servers/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

servers_begin sts openstack
"$OPENSTACK/bin/python" -c 'import moto.server' 2>/dev/null || servers_skip "moto is missing"
moto_port=''
take_port moto_port
url=http://127.0.0.1:$moto_port
spawn moto "$OPENSTACK/bin/python" -W ignore "$SERVERS_DIR/run_moto.py" "$moto_port" \
	"$TOP/tests/fixtures/metadata/2.3.0-hashmap-chk"
MUST_LIVE=(moto)
wait_until "moto is ready" 60 grep -q '^ready' "$RUN/log/moto.log" || {
	tail -n 20 "$RUN/log/moto.log" | sed 's/^/# /' >&2
	die 1 "moto has not started"
}
read -r robot_key robot_secret < <(sed -n 's/^robot //p' "$RUN/log/moto.log")
read -r clerk_key clerk_secret < <(sed -n 's/^clerk //p' "$RUN/log/moto.log")
token=$(random_hex 40)
echo "$token" >"$RUN/token"
savepoint=s3://flink/sp/savepoint-aabbcc-0123456789ab

# Sets status; the output is in $RUN/out. Nothing of this machine's own AWS configuration is seen.
drey() { # VARIABLE=VALUE... COMMAND...
	status=0
	env -i PATH="$PATH" HOME="$RUN" AWS_REGION=eu-central-1 AWS_ENDPOINT_URL="$url" AWS_EC2_METADATA_DISABLED=true \
		"$@" >"$RUN/out" 2>&1 || status=$?
}

as_role() { # ROLE COMMAND...
	drey AWS_WEB_IDENTITY_TOKEN_FILE="$RUN/token" AWS_ROLE_ARN="arn:aws:iam::123456789012:role/$1" \
		"$BUILD/drey" "${@:2}"
}

says() { # TEXT
	grep -qF -- "$1" "$RUN/out" || {
		cat "$RUN/out"
		return 1
	}
}

as_role reader verify "$savepoint"
is "$status" 0 "a web identity with the documented rights verifies a savepoint"
check "it is complete" says "complete: $savepoint"
as_role reader resolve --explain --checkpoints s3://flink/ck --savepoints s3://flink/sp
is "$status" 0 "and resolves"
check "it has found the checkpoint" says chk-7
check "and the savepoint" says savepoint-aabbcc-0123456789ab
check "the token is not told" not says "$token"

as_role lister verify "$savepoint"
is "$status" 4 "without the right to read, a snapshot is unreadable, not missing"
check "the store's reason is told" says AccessDenied
as_role stranger resolve --checkpoints s3://flink/ck --savepoints s3://flink/sp
is "$status" 4 "without the right to list, drey holds"
as_role reader verify s3://flink/sp/savepoint-aabbcc-0123456789ac
is "$status" 1 "who may list is told that a snapshot is missing"

cat >"$RUN/profiles" <<-END
	[profile jobs]
	role_arn = arn:aws:iam::123456789012:role/reader
	web_identity_token_file = $RUN/token
END
drey AWS_CONFIG_FILE="$RUN/profiles" AWS_PROFILE=jobs "$BUILD/drey" verify "$savepoint"
is "$status" 0 "a profile with a web identity does the same"

# ---- roles of profiles
cat >"$RUN/profiles" <<-END
	[profile chain]
	role_arn = arn:aws:iam::123456789012:role/reader
	source_profile = middle
	duration_seconds = 900
	[profile middle]
	role_arn = arn:aws:iam::123456789012:role/middle
	role_session_name = orders
	external_id = of-the-team
	source_profile = clerk
	[profile clerk]
	aws_access_key_id = $clerk_key
	aws_secret_access_key = $clerk_secret
	[profile forger]
	aws_access_key_id = $clerk_key
	aws_secret_access_key = ${clerk_secret}x
	[profile forged]
	role_arn = arn:aws:iam::123456789012:role/middle
	source_profile = forger
	[profile nameless]
	role_arn = arn:aws:iam::123456789012:role/middle
	source_profile = clerk
	[profile skipped]
	role_arn = arn:aws:iam::123456789012:role/reader
	source_profile = clerk
	[profile program]
	credential_process = printf '{"Version": 1, "AccessKeyId": "%s", "SecretAccessKey": "%s"}' $robot_key $robot_secret
	[profile broken]
	credential_process = echo "sign in first" >&2; exit 1
END
as_profile() { # NAME
	drey AWS_CONFIG_FILE="$RUN/profiles" AWS_PROFILE="$1" "$BUILD/drey" verify "$savepoint"
}
as_profile chain
is "$status" 0 "two roles in a row, assumed with the keys of a user who may do nothing else"
as_profile clerk
is "$status" 4 "without the roles that user reads nothing"
check "the store says so" says AccessDenied
as_profile skipped
is "$status" 4 "nor may it assume the second role without the first"
check "STS says so, and which role" says "role arn:aws:iam::123456789012:role/reader: HTTP 403: AccessDenied"
as_profile nameless
is "$status" 4 "nor the first without its external id"
as_profile forged
is "$status" 4 "a wrong secret key assumes no role"
check "because of the signature" says SignatureDoesNotMatch
check "and is not told" not says "$clerk_secret"
as_profile program
is "$status" 0 "a program prints keys"
as_profile broken
is "$status" 4 "a program that fails leaves a snapshot unreadable"
check "its words are told" says "profile 'broken': credential_process: exit status 1: sign in first"

drey AWS_ACCESS_KEY_ID="$robot_key" AWS_SECRET_ACCESS_KEY="$robot_secret" "$BUILD/drey" verify "$savepoint"
is "$status" 0 "fixed keys do the same"
drey AWS_ACCESS_KEY_ID="$robot_key" AWS_SECRET_ACCESS_KEY="${robot_secret}x" "$BUILD/drey" verify "$savepoint"
is "$status" 4 "a wrong secret key is refused"
check "because of the signature" says SignatureDoesNotMatch
check "and is not told" not says "$robot_secret"

drey "$BUILD/drey" verify "$savepoint"
is "$status" 4 "without keys a snapshot is unreadable"
check "every place where keys could be is named" says AWS_WEB_IDENTITY_TOKEN_FILE
e2e_end
