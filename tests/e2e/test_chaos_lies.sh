#!/usr/bin/env bash
#
# A real Flink (RocksDB, incremental) whose state is on a real S3 server and in a real Swift, and a drey that sees them through a proxy
# that lies (lies_lib.sh): LIES lies (36), half of them in each of STORES, in an order that SEED (1) determines.
#
# In rounds: the JobManager is killed. PER_ROUND lies are told to `drey resolve`, `gc --delete` and `verify` about the state that the
# dead job has left; then one while drey launches the job again, and one to `drey gc --delete` and a savepoint with retention
# while it runs. What drey makes of them is compared with what the server has, past the proxy (lies_truth.py): a start is from the
# newest, or loses what it says, within restore.maxLoss; else it is held, and goes on when the lie is over. Nothing that a snapshot
# needs is deleted. JUDGED=DIR: the commands of another build are judged (launches are always of this one).
#
# runs in: all on 2.3.0

# shellcheck disable=SC2119,SC2153,SC2154,SC2317 # lib.sh has functions whose arguments are optional; variables of the libraries
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"
# shellcheck source=tests/servers/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../servers/lib.sh"
# shellcheck source=tests/e2e/store_lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/store_lib.sh"
# shellcheck source=tests/e2e/lies_lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lies_lib.sh"

SEED=${SEED:-1}
LIES=${LIES:-36}
STORES=${STORES:-s3 swift}
PER_ROUND=${PER_ROUND:-12}
JUDGED=${JUDGED:-$BUILD}
MAX_LOSS_MS=600000
OTHER_APPLICATION=0123456789abcdef0123456789abcdef
RANDOM=$SEED
violations=0 told=0 unknowable=0 turn=$SEED
declare -A outcomes=()

# ---- what drey made of it --------------------------------------------------------------------------

violation() { # STORY
	violations=$((violations + 1))
	printf '%s\n' "$*" >>"$RUN/log/violations.log"
	diag "violation on $STORE: $*"
}

# What came of the lie, once it was told.
outcome() { # COMMAND WORD BEGAN_MS
	lie_was_told || return 1
	outcomes["$STORE $1 $2"]=$((${outcomes["$STORE $1 $2"]:-0} + 1))
	told=$((told + 1))
	echo "$1 $(($(date +%s%3N) - $3))" >>"$RUN/times"
	printf '%s\t%s\t%s\t%s\t%s\n' "$STORE" "$KIND" "$1" "$2" "$RULE" >>"$RUN/log/lies.log"
}

# The highest checkpoint of JOB that the journal names: what is newer, and in no listing, nobody can know.
noted() { # JOURNAL
	grep -oE "${JOB}/chk-[0-9]+" "$1" | sed 's/.*chk-//' | sort -n | tail -n 1
}

# A listing that leaves out the newest hides it from all but the journal, which notes it once a minute.
cannot_be_known() { # RULE ID JOURNAL
	case $1 in
	hide* | until* | stale*) [ "$2" -ge "$(noted "$3" || echo 0)" ] && [ "$(noted "$3")" != "${NEWEST##*/chk-}" ] ;;
	*) false ;;
	esac
}

start_is_right() { # RULE PATH ID LOSS_MS JOURNAL
	if [ "${2#*://}" = "${NEWEST#*://}" ]; then
		WORD=newest
	elif [[ $4 =~ ^[0-9]+$ ]] && [ "$4" -le "$MAX_LOSS_MS" ]; then
		WORD=loss
	elif cannot_be_known "$1" "$3" "$5"; then
		WORD=unknowable
		unknowable=$((unknowable + 1))
	else
		WORD=older
		return 1
	fi
}

tell_resolve() { # RULE
	local said kind path id loss
	said=$(frozen resolve --json)
	IFS=$'\t' read -r kind path id loss < <(jq -r '[.decision, .snapshot.path // "-", .snapshot.checkpointId // 0,
		(.loss | if . then .ms // "unknown" else "-" end)] | @tsv' <<<"$said")
	WORD=hold
	case $kind in
	HOLD) ;;
	START_FROM) start_is_right "$1" "${path%/}" "$id" "$loss" "$FROZEN/state/journal.json" ;;
	*) WORD=$kind && false ;;
	esac || violation "resolve under '$1': $said"
}

# The same for gc: the only checkpoint of another application, which every listing leaves out. One of a job with others, drey finds
# by its number.
not_out_of_sight() { # RULE
	local line bad=0
	while read -r line; do
		if [[ $1 =~ ^(hide|until) && $line == "ck/$OTHER_APPLICATION/"*" stays, "* ]]; then
			echo "$STORE under '$1': ${line%% stays,*}" >>"$RUN/log/unseen.log"
			continue
		fi
		echo "$line"
		bad=1
	done
	return "$bad"
}

tell_gc() { # RULE
	local status=0 said
	lies_names >"$RUN/before"
	frozen gc --json --files --delete --keep 1 --keep-for 0s --grace 0s >"$RUN/gc.json" || status=$?
	lies_names >"$RUN/after"
	WORD=stopped
	[ "$status" -ne 0 ] || WORD=$(jq -r 'if .deleted.files > 0 then "deleted" else "nothing" end' "$RUN/gc.json")
	said=$("$LIES_DIR/lies_truth.py" judge "$FROZEN/needs" "$RUN/before" "$RUN/after" "$JOB" | not_out_of_sight "$1") ||
		violation "gc under '$1': $said; $(jq -c 'del(.rows[].names)' "$RUN/gc.json")"
	[ "$1" = none ] || lies_thaw
	lies_names | grep '/_metadata$' >"$FROZEN/metadata"
}

# What it calls missing is. Flink deletes the files of an old checkpoint side by side, and is killed meanwhile: its _metadata may
# remain the longest.
all_missing() { # FILE
	local uri
	grep -q '^ *missing ' "$1" || return
	while read -r _ uri; do
		! grep -qxF "${uri#"$SCHEME://flink/"}" "$FROZEN/names" || return
	done < <(grep '^ *missing ' "$1")
}

# Only damage may be called so, or what every answer says is not there: verify lists nothing. Not what one of them has.
tell_verify() { # RULE VICTIM
	local status=0
	lied_to verify "$SCHEME://flink/$2" >"$RUN/verify" || status=$?
	WORD=$status
	case $1/$status in
	*/0 | */4 | short*/1 | cut*/1 | mangle*/1 | as*/1 | empty*/1 | absent\ GET\|HEAD*/1) ;;
	*/1) all_missing "$RUN/verify" || violation "verify of $2 under '$1': $(tail -n 3 "$RUN/verify")" ;;
	*) violation "verify of $2 under '$1' ends with $status: $(tail -n 3 "$RUN/verify")" ;;
	esac
}

# ---- lies about a dead job -------------------------------------------------------------------------

some_snapshot() { # [GREP [NOT]]
	sed 's|/_metadata$||' "$FROZEN/metadata" | grep -E "${1:-.}" | grep -vxF "${2:--}" | shuf -n 1 --random-source=<(yes "$RANDOM")
}

# Sets RULE, of the next kind, about VICTIM.
next_lie() { # VICTIM
	local other
	VICTIM=$1 KIND=${LIE_KINDS[turn % ${#LIE_KINDS[@]}]}
	turn=$((turn + 1))
	other=$(some_snapshot . "$VICTIM")
	[ "$KIND" != older ] || other=$(some_snapshot "^${VICTIM%/*}/" "$VICTIM")
	RULE=$(lie_of "$KIND" "$VICTIM" "$other")
}

# One lie to one command; whether it was told.
lie_to() { # COMMAND
	local began victim=$NEWEST_NAME
	[ "$1" = resolve ] || victim=$(some_snapshot)
	next_lie "$victim"
	[ -n "$RULE" ] || return 1
	lie_begins "$RULE"
	began=$(date +%s%3N)
	"tell_$1" "$RULE" "$VICTIM"
	outcome "$1" "$WORD" "$began"
}

lies_about_the_dead() { # COUNT
	local left=$1 tries=$((3 * $1)) said
	lies
	tell_resolve none
	is "$WORD" newest "without a lie it is the newest"
	frozen gc --json --keep 1 --keep-for 0s --grace 0s >"$RUN/gc.json"
	diag "gc would delete $(jq -r '"\(.delete.files) files; \(.stopped // "nothing") stops it"' "$RUN/gc.json")"
	while [ "$left" -gt 0 ] && [ "$tries" -gt 0 ]; do
		case $((tries % 7)) in
		0 | 2 | 4) lie_to gc ;;
		6) lie_to verify ;;
		*) lie_to resolve ;;
		esac && left=$((left - 1))
		tries=$((tries - 1))
	done
	lies
	tell_gc none
	diag "without a lie: $WORD"
}

# ---- a lie while the job is launched, and while it runs --------------------------------------------

has_decided() {
	status_is ".jobId != \"$JOB\" and .phase == \"Running\" or .phase == \"Holding\" and .cause != \"DoNotRestart\""
}

launch_under_a_lie() {
	local began path claim=''
	if [ $((RANDOM % 3)) -eq 0 ]; then control claim && claim=1; else uncontrol claim; fi
	next_lie "$NEWEST_NAME"
	lie_begins "${RULE:=none GET nothing}"
	began=$(date +%s%3N)
	drey do-not-restart off >/dev/null
	await "launch under '$RULE': drey has decided" has_decided
	if phase_is Running; then
		path=$(status .launch.restorePoint.path)
		start_is_right "$RULE" "${path%/}" "$(status .launch.restorePoint.checkpointId)" \
			"$(status '.stateLoss.ms // "-"')" "$RUN/state/journal.json" || violation "launch under '$RULE': $(status '.launch | tojson')"
		outcome launch "$WORD" "$began"
		lies
	else
		diag "it holds: $(status '"\(.cause): \(.reason)"' | cut -c1-200)"
		outcome launch hold "$began"
		lies
		await "the store tells the truth: drey starts the job" runs_after "$JOB"
		path=$NEWEST
	fi
	check "from what it says, with its count" restore_matches "$path"
	[ -z "$claim" ] || claimed+=("$(sed -E 's|.*/ck/([^/]*)/.*|\1|; s|.*/sp/||' <<<"$path")")
	[[ -z $claim || ${claimed[-1]} != "$others" ]] || claimed+=("$OTHER_APPLICATION")
	! status_is '.stateLoss != null' || drey acknowledge >/dev/null
}

# gc deletes what older launches have left, and a new savepoint takes the place of the one before.
run_under_a_lie() {
	local began said path
	await "the launch is proven" status_is .launch.proven
	if [ -z "$others" ] && [ "${#claimed[@]}" -eq 0 ]; then
		check "another application has a checkpoint that refers to the same files" lies_copy "$NEWEST_NAME" "ck/$OTHER_APPLICATION/${NEWEST_NAME##*/}"
		others=$JOB
	fi
	next_lie "$(some_snapshot)"
	lie_begins "${RULE:=none GET nothing}"
	began=$(date +%s%3N)
	lies_names >"$RUN/before"
	drey gc --json --delete --keep 1 --keep-for 0s --grace 0s >"$RUN/gc.json" 2>>"$RUN/log/gc.log" && WORD=deleted || WORD=stopped
	lies_names >"$RUN/after"
	said=$("$LIES_DIR/lies_truth.py" judge "$FROZEN/needs" "$RUN/before" "$RUN/after" none | not_by_others)
	if [ -n "$said" ]; then
		not_out_of_sight "$RULE" <<<"$said" >/dev/null || violation "gc beside the job under '$RULE': $said"
		# nothing is put back here: what no listing showed lacks files from now on
		mapfile -t -O "${#claimed[@]}" claimed < <(grep -oE '^ck/[0-9a-f]{32}' <<<"$said" | cut -d/ -f2 | sort -u)
	fi
	drey savepoint --timeout 60s >>"$RUN/log/savepoint.log" 2>&1 && WORD+=+savepoint
	outcome running "$WORD" "$began"
	lies
	for path in $(status '.lastSavepoint.path // empty, .launch.restorePoint.path'); do
		path=${path#"$STORE_URI/"}
		[[ $path != sp/* || " ${claimed[*]} " == *" ${path##*/} "* ]] || lies_names "$path" | grep -q '/_metadata$' || violation "$path is gone, under '$RULE'"
	done
}

# What Flink deletes of a claimed checkpoint is not drey's doing, and retention may have its turn right now.
not_by_others() {
	local job said
	said=$(grep -v '^sp/')
	for job in "${claimed[@]}"; do
		said=$(grep -vF "$job" <<<"$said")
	done
	[ -z "$said" ] || { echo "$said" && return 1; }
}

# ---- the run ---------------------------------------------------------------------------------------

round() { # LIES
	local said
	die_and_wait
	NEWEST=$(newest_stored "$JOB")
	NEWEST_NAME=${NEWEST#"$STORE_URI/"}
	check "what the store has is known" lies_freeze
	said=$("$LIES_DIR/lies_truth.py" whole "$FROZEN/needs" "$FROZEN/names" "${claimed[@]}") || violation "after the round: $said"
	lies_about_the_dead "$1"
	launch_under_a_lie
	run_under_a_lie
}

story() { # STORE LIES
	local claimed=() others='' end=$((told + $2)) left
	rm -rf "$RUN/state" "$RUN/ck" "$RUN/sp"
	: >"$EVENTS"
	lies_store "$1"
	run_conf <<-YAML
		s3.endpoint: $S3_ENDPOINT
		s3.endpoint.region: us-east-1
		s3.access-key: $S3_ACCESS_KEY
		s3.secret-key: $S3_SECRET_KEY
		s3.path.style.access: true
		s3.path-style-access: true
		s3.directory.marker.retention: keep
		state.backend.type: rocksdb
		execution.checkpointing.incremental: true
		state.backend.rocksdb.compaction.style: FIFO
		execution.checkpointing.data-inline-threshold: 0 b
	YAML
	DREY_CONF[storage]="{s3: {endpoint: \"$LYING_URL\"}}"
	drey_conf --rate 200 --grow 100
	DREY_CONF[flink.checkpointDirectory]=$STORE_URI/ck
	DREY_CONF[flink.savepointDirectory]=$STORE_URI/sp
	DREY_CONF[savepoints.retention]="{count: 1, all: true}"
	DREY_CONF[restore.maxLoss]=${MAX_LOSS_MS}ms
	DREY_CONF[holding.retryFirst]=300ms
	DREY_CONF[holding.retryMax]=500ms
	DREY_CONF[attempts.backoffFirst]=200ms
	start_tm_pod
	start_drey
	MUST_LIVE=(jm tm)
	await "$1: the job runs" phase_is Running
	while [ "$told" -lt "$end" ]; do
		left=$((end - told - 2))
		round $((left < PER_ROUND ? (left > 0 ? left : 0) : PER_ROUND))
	done
	check "$1: the state was continuous all the time" continuity
	end_drey TERM
	MUST_LIVE=()
	run_stop
}

LIES_DIR=$E2E_DIR
server_find versitygw || servers_skip "versitygw is not to be had"
server_find openstack || servers_skip "OpenStack Swift is not to be had"
plugin=$("$TOP/tools/get-flink.sh" --plugin flink-s3-fs-hadoop "$FLINK_VERSION") || servers_skip "flink-s3-fs-hadoop is not to be had"
home=$("$TOP/tests/image/get-home.sh" "${FLINK_VERSION/1.20.0/1.20.5}") || servers_skip "no distribution of Flink $FLINK_VERSION"
e2e_begin chaos-lies
ln -sfn "$home/lib" "$RUN/flink/lib"
mkdir -p "$RUN/flink/plugins/s3"
ln -s "$plugin" "$RUN/flink/plugins/s3/"
export HOME=$RUN AWS_EC2_METADATA_DISABLED=true
diag "seed $SEED, $LIES lies"
for name in $STORES; do
	story "$name" $((LIES / $(wc -w <<<"$STORES")))
done
for name in "${!outcomes[@]}"; do
	diag "$name: ${outcomes[$name]}"
done
diag "lies by kind: $(cut -f2 "$RUN/log/lies.log" | sort | uniq -c | awk '{ printf "%s%s %d", (NR > 1 ? ", " : ""), $2, $1 }')"
for name in resolve gc verify launch running; do
	diag "$name: median $(awk -v n="$name" '$1 == n { print $2 }' "$RUN/times" | sort -n |
		awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] + 0 }') ms"
done
diag "$unknowable starts from an older one that nothing shows"
[ ! -e "$RUN/log/unseen.log" ] || diag "of another application, and shown by nothing: $(sort "$RUN/log/unseen.log" | uniq -c | tr -s ' \n' ' ;')"
is "$violations" 0 "$told lies: no silent start from anything older, nothing that is needed is deleted"
e2e_end
