#!/usr/bin/env bash
#
# Roles of profiles at MinIO, whose STS checks the signature, and a credential_process that fails, recovers, floods and hangs
# under a drey that runs: it holds, says why, goes on when the keys are back, and leaves no program behind.
#
# runs in: all

# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/lib.sh"
# shellcheck source=tests/servers/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=tests/servers/snapshots.sh
. "$(dirname "${BASH_SOURCE[0]}")/snapshots.sh"

servers_begin roles minio openstack
mkdir -p "$RUN/minio/buckets/flink"
server_up minio "$RUN/minio"
snapshots_make "$RUN/tree"
export HOME=$RUN AWS_ENDPOINT_URL=$S3_ENDPOINT AWS_REGION=$S3_REGION AWS_EC2_METADATA_DISABLED=true
AWS_ACCESS_KEY_ID=$S3_ACCESS_KEY AWS_SECRET_ACCESS_KEY=$S3_SECRET_KEY \
	check "boto3 puts the snapshots there" s3_client upload "$RUN/tree" flink a/

# How it is today: a word in $RUN/mode.
cat >"$RUN/keys.sh" <<-END
	case \$(cat "$RUN/mode") in
	right) printf '{"Version": 1, "AccessKeyId": "%s", "SecretAccessKey": "%s"}' '$S3_ACCESS_KEY' '$S3_SECRET_KEY' ;;
	broken) echo "the sign-in has expired" >&2; exit 1 ;;
	garbage) echo "welcome" ;;
	flood) exec yes welcome ;;
	hang) echo \$\$ >"$RUN/hangs"; exec sleep 600 ;;
	esac
END
mode() { # WORD
	echo "$1" >"$RUN/mode.new" && mv "$RUN/mode.new" "$RUN/mode"
}
mkdir -p "$RUN/.aws"
cat >"$RUN/.aws/config" <<-END
	[profile jobs]
	role_arn = arn:minio:iam:::role/any
	source_profile = base
	role_session_name = orders
	duration_seconds = 900
	[profile base]
	aws_access_key_id = $S3_ACCESS_KEY
	aws_secret_access_key = $S3_SECRET_KEY
	[profile forged]
	role_arn = arn:minio:iam:::role/any
	source_profile = forger
	[profile forger]
	aws_access_key_id = $S3_ACCESS_KEY
	aws_secret_access_key = not-$S3_SECRET_KEY
	[profile program]
	credential_process = sh "$RUN/keys.sh"
	[profile both]
	role_arn = arn:minio:iam:::role/any
	source_profile = program
END

# ---- commands
mode right
AWS_PROFILE=jobs says 0 "complete" "a role: keys of STS read the store" verify "s3://flink/a/sp/$GOOD"
AWS_PROFILE=forged says 4 "request signature we calculated does not match" "a wrong secret key assumes no role" verify "s3://flink/a/sp/$GOOD"
AWS_PROFILE=program says 0 "complete" "keys that a program prints" verify "s3://flink/a/sp/$GOOD"
AWS_PROFILE=both says 0 "complete" "a role, assumed with the keys that a program prints" verify "s3://flink/a/sp/$GOOD"
mode broken
AWS_PROFILE=program says 4 "credential_process: exit status 1: the sign-in has expired" "one that fails is told" \
	verify "s3://flink/a/sp/$GOOD"
AWS_PROFILE=both says 4 "source_profile 'program': credential_process: exit status 1: the sign-in has expired" \
	"also before a role" verify "s3://flink/a/sp/$GOOD"
AWS_PROFILE=program says 4 "HOLD" "without keys the store is not empty: resolve holds" \
	resolve --explain --savepoints s3://flink/nothing
mode garbage
AWS_PROFILE=program says 4 "credential_process: its output: byte 0: expected a value" "one that prints no keys is told" \
	verify "s3://flink/a/sp/$GOOD"
mode flood
AWS_PROFILE=program says 4 "it was killed, for it had printed more than 65536 bytes" "one without end is killed" \
	verify "s3://flink/a/sp/$GOOD"

# ---- drey run
holds() { # CAUSE TEXT
	status . >"$RUN/held.json" &&
		jq --exit-status --arg cause "$1" --arg text "$2" '.phase == "Holding" and .cause == $cause and
			(.reason | contains($text))' "$RUN/held.json" >/dev/null
}
cat >"$RUN/drey.yaml" <<-END
	application: orders
	stateDirectory: $RUN/state
	flink:
	  command: [/bin/sleep, "600"]
	  version: 2.3.0
	  checkpointDirectory: s3://flink/a/ck
	  savepointDirectory: s3://flink/a/sp
	  resultStoreDirectory: file://$RUN/results
	holding:
	  retryFirst: 1s
	  retryMax: 1s
	http:
	  port: 0
	storage:
	  s3:
	    profile: program
END
mkdir -p "$RUN/state"
mode broken
spawn jm "$BUILD/drey-init" --agent -- "$BUILD/drey" run --config "$RUN/drey.yaml"
MUST_LIVE=(jm)
await "without keys drey holds, and says why" \
	holds StorageUnreadable "credential_process: exit status 1: the sign-in has expired"
mode garbage
await "the words follow the program" holds StorageUnreadable "its output: byte 0: expected a value"
mode right
await "once there are keys, drey has read the store" holds JournalLost "s3://flink/a/"
is "$(status .desired.state)" running "and nothing has changed what is desired"
process_down jm

mode hang
rm -rf "$RUN/state" && mkdir "$RUN/state"
spawn jm "$BUILD/drey-init" --agent -- "$BUILD/drey" run --config "$RUN/drey.yaml"
await "a program hangs" test -s "$RUN/hangs"
read -r hangs <"$RUN/hangs"
mode right
check "it runs" alive "$hangs"
kill -KILL "$(agent_pid)"
await "the agent is killed, and the program with it" gone "$hangs"
await "the next agent goes on" holds JournalLost "s3://flink/a/"

cat "$RUN/log/jm.log" >>"$RUN/said.log"
no_secret "$S3_ACCESS_KEY" "$S3_SECRET_KEY"
e2e_end
