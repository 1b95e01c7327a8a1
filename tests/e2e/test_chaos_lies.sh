#!/usr/bin/env bash
#
# A real Flink whose checkpoints are on a real S3 server, and `drey resolve`, which sees that server through a proxy that lies
# (tests/servers/lying_proxy.py): LIES lies (12), in an order that SEED (1) determines. Each is told while the JobManager is dead: what drey
# would start from is compared with what the server really has. After each ROUND of lies the job is launched, from the newest.
#
# runs in: all on 2.3.0

# shellcheck disable=SC2119 # lib.sh has functions whose arguments are optional
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"
# shellcheck source=tests/servers/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../servers/lib.sh"
# shellcheck source=tests/e2e/store_lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/store_lib.sh"

SEED=${SEED:-1}
LIES=${LIES:-12}
ROUND=${ROUND:-20} # lies for one death of the JobManager
STORE_URI=s3://flink
RANDOM=$SEED
violations=0
told=0

store_names() { # DIR
	find "$BUCKETS/flink/$1" -type f -printf '%P\n' 2>/dev/null
}

store_read() { # NAME
	cat "$BUCKETS/flink/$1"
}

# ---- the lies -------------------------------------------------------------------------------------

# One rule for the proxy about the newest snapshot, "ck/<job>/chk-7", and its directory.
lie_about() { # NAME
	local name=$1 dir=${1%/*} file
	file=$(store_names "$name" | grep -v '^_metadata$' | head -n 1)
	case $((RANDOM % 14)) in
	0) echo "absent GET|HEAD $name/_metadata" ;;
	1) echo "absent-text GET|HEAD $name/_metadata" ;;
	2) echo "absent HEAD $name/_metadata" ;;
	3) echo "absent GET $name/_metadata" ;;
	4) echo "absent-html GET|HEAD $name/${file:-_metadata}" ;;
	5) echo "hide GET prefix= 0 ${name##*/}/" ;;
	6) echo "until GET prefix= 0 $((RANDOM % 4))" ;;
	7) echo "foreign GET prefix=" ;;
	8) echo "foreign-empty GET prefix=" ;;
	9) echo "short GET $name/_metadata 0 $((RANDOM % 200))" ;;
	10) echo "cut GET $name/_metadata 0 $((RANDOM % 200))" ;;
	11) echo "status GET|HEAD $dir 0 503" ;;
	12) echo "archived GET $name/_metadata" ;;
	13) echo "no-bucket GET|HEAD $name" ;;
	esac
}

# A listing that leaves out the newest hides it from all but the journal, which notes it once a minute.
cannot_be_known() { # NEWEST RULE
	case $2 in
	hide* | until*) ! grep -qF "${1##*/}" "$RUN/lies.journal" ;;
	*) return 1 ;;
	esac
}

# What drey would start from now must be the newest, or it must hold, or it must say what is lost.
judge_decision() { # NEWEST RULE
	local kind path
	said=$(env "AWS_ENDPOINT_URL=$LYING_URL" "AWS_ACCESS_KEY_ID=$S3_ACCESS_KEY" "AWS_SECRET_ACCESS_KEY=$S3_SECRET_KEY" \
		"AWS_REGION=$S3_REGION" "$BUILD/drey" resolve --json --checkpoints "$STORE_URI/ck" --savepoints "$STORE_URI/sp" \
		--journal "$RUN/lies.journal" 2>>"$RUN/log/resolve.log")
	printf '%s\n%s\n' "$2" "$said" >>"$RUN/log/lies.log"
	kind=$(jq -r '.decision' <<<"$said")
	path=$(jq -r '.snapshot.path // empty' <<<"$said")
	case $kind in
	HOLD | PARK) return 0 ;;
	START_FROM | CONTINUE) [ "${path%/}" = "$1" ] || jq -e '.loss != null' <<<"$said" >/dev/null ;;
	*) return 1 ;;
	esac
}

lie_once() { # NEWEST
	local rule
	rule=$(lie_about "${1#"$STORE_URI/"}")
	lies "$rule"
	judge_decision "$1" "$rule" || cannot_be_known "$1" "$rule" || {
		violations=$((violations + 1))
		diag "violation under: $rule"
	}
	told=$((told + 1))
	lies
}

# ---- the run --------------------------------------------------------------------------------------

server_find versitygw || servers_skip "versitygw is not to be had"
plugin=$("$TOP/tools/get-flink.sh" --plugin flink-s3-fs-hadoop "$FLINK_VERSION") || servers_skip "flink-s3-fs-hadoop is not to be had"
e2e_begin chaos-lies
BUCKETS=$RUN/gw/buckets
S3_REGION=us-east-1
server_up versitygw "$RUN/gw"
lying_up "$S3_ENDPOINT"
mkdir -p "$BUCKETS/flink" "$RUN/flink/plugins/s3"
ln -s "$plugin" "$RUN/flink/plugins/s3/"
run_conf <<YAML
s3.endpoint: $S3_ENDPOINT
s3.access-key: $S3_ACCESS_KEY
s3.secret-key: $S3_SECRET_KEY
s3.path.style.access: true
s3.path-style-access: true
s3.directory.marker.retention: keep
YAML
drey_conf
DREY_CONF[flink.checkpointDirectory]=$STORE_URI/ck
DREY_CONF[flink.savepointDirectory]=$STORE_URI/sp
DREY_CONF[holding.retryFirst]=300ms
DREY_CONF[holding.retryMax]=500ms
DREY_CONF[attempts.backoffFirst]=200ms
export HOME=$RUN AWS_EC2_METADATA_DISABLED=true
start_tm_pod
start_drey
MUST_LIVE=(jm tm)
await "the job runs" phase_is Running
diag "seed $SEED, $LIES lies"
while [ "$told" -lt "$LIES" ]; do
	die_and_wait
	newest=$(newest_stored "$JOB")
	jq '.intent.doNotRestart = false' "${DREY_CONF[stateDirectory]}/journal.json" >"$RUN/lies.journal"
	judge_decision "$newest" none && check "without a lie it is the newest" \
		test "$(jq -r '.snapshot.path // empty' <<<"$said")" = "$newest"
	for ((i = 0; i < ROUND && told < LIES; i++)); do
		lie_once "$newest"
	done
	drey do-not-restart off >/dev/null
	lies
	await "the store tells the truth: drey starts the job" runs_after "$JOB"
	check "from the newest snapshot" restore_matches "$newest"
done
is "$violations" 0 "$told lies, no start from anything older that is not said"
check "the state was continuous all the time" continuity
