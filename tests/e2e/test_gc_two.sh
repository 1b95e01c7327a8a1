#!/usr/bin/env bash
#
# Two applications that write to one checkpoint directory and one savepoint directory, with checkpoints that share files:
# `drey gc` of each deletes what its own dead launches have left, and not a file of the other, which is not even running. That one
# then starts from its newest checkpoint.
#
# runs in: all

# shellcheck disable=SC2119 # lib.sh has functions whose arguments are optional
# shellcheck disable=SC2317 # functions are called by name
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"

declare -A JM=() TM=() REST=() RPC=() WHERE=()
declare -A JOBS=() # of each application, in order

# What lib.sh works on is this application.
use() { # APPLICATION
	[ -z "${APP:-}" ] || JM[$APP]=${PIDS[jm]:-} TM[$APP]=${PIDS[tm]:-}
	APP=$1
	RUN=${WHERE[$APP]} REST_PORT=${REST[$APP]} RPC_PORT=${RPC[$APP]}
	EVENTS=$RUN/events.log CONTROL=$RUN/control
	PIDS=()
	[ -z "${JM[$APP]:-}" ] || PIDS=([jm]=${JM[$APP]} [tm]=${TM[$APP]})
	MUST_LIVE=()
}

both_end() {
	local status=$?
	ui_is_main || return "$status"
	[ "$status" -eq 0 ] || run_show_logs 2>&1 | sed 's/^/# /' >&2
	use payments
	run_stop
	use orders
	(exit "$status")
	run_end
}

is_proven() {
	phase_is Running && status_is .launch.proven
}

begin() { # APPLICATION
	use "$1"
	mkdir -p "$RUN/log" "$RUN/control"
	: >"$EVENTS"
	run_conf <<-END
		state.backend.type: rocksdb
		execution.checkpointing.incremental: true
		execution.checkpointing.data-inline-threshold: 0 b
	END
	sed -i "s,\"file://$RUN/\(ck\|sp\)\",\"file://$SHARED/\1\"," "$RUN/conf/config.yaml"
	start_tm_pod
	start
	JOBS[$1]=$(status .jobId)
	await "$1: some checkpoints" has_completed 4 "$(status .jobId)"
}

start() {
	DREY_CONF[application]=$APP
	# both run the same job: what the other has made could be its own
	DREY_CONF[restore.foreign]=ignore
	drey_conf --rate 400 --grow 300
	DREY_CONF[flink.checkpointDirectory]=file://$SHARED/ck
	DREY_CONF[flink.savepointDirectory]=file://$SHARED/sp
	start_drey
	MUST_LIVE=(jm tm)
	await "$APP: the job runs" is_proven
}

next_launch() {
	local job
	job=$(status .jobId)
	kill -KILL "$(jm_pid)"
	await "$APP: the JobManager is killed, and started again" runs_after "$job"
	await "$APP: the launch is proven" is_proven
	JOBS[$APP]+=" $(status .jobId)"
	await "$APP: some checkpoints" has_completed $(($(status .launch.restorePoint.checkpointId) + 3)) "$(status .jobId)"
}

files_of() { # APPLICATION
	local job
	for job in ${JOBS[$1]}; do
		[ ! -d "$SHARED/ck/$job" ] || find "$SHARED/ck/$job" -type f -printf '%p %s %T@\n'
	done | sort
}

collect() { # OPTION...
	drey gc --json --files --keep 0 --keep-for 0s --grace 0s "$@" >"$RUN/gc.json" 2>>"$RUN/log/gc.log"
}

collected() { # JQ_FILTER
	jq --raw-output --exit-status "$1" "$RUN/gc.json"
}

# This one stands still, that one collects.
story() { # ONE OTHER
	local newest
	use "$1"
	end_drey KILL
	newest=$(newest_of_run)
	files_of "$1" >"$SHARED/before"
	check "$1 stands still, and has files of three launches" test "$(wc -l <"$SHARED/before")" -gt 20
	use "$2"
	check "$2: a dry run" collect
	is "$(collected '.stopped // "nothing"')" nothing "nothing stops it"
	is "$(collected '[.rows[].jobId] | unique | .[]' | grep -cvwF "$(tr ' ' '\n' <<<"${JOBS[$2]}")")" 0 "it is about its own launches only"
	check "it deletes" collect --delete
	check "something" collected '.deleted.files > 0 and .failed == 0'
	files_of "$1" >"$SHARED/after"
	is "$(diff "$SHARED/before" "$SHARED/after")" "" "and no file of $1"
	use "$1"
	start
	check "$1 starts from its newest checkpoint" restore_matches "$newest"
	JOBS[$1]+=" $(status .jobId)"
	check "no state of $1 was lost" continuity
	use "$2"
	check "nor of $2" continuity
}

# The newest checkpoint of the newest launch.
newest_of_run() {
	newest_retained "${JOBS[$APP]##* }"
}

# newest_retained() of lib.sh looks below $RUN
newest_retained() { # JOB
	find "$SHARED/ck/$1" -path '*/chk-*/_metadata' -printf '%h\n' | sort -V | tail -n 1
}

home=$("$TOP/tests/image/get-home.sh" "${FLINK_VERSION/1.20.0/1.20.5}") || {
	echo "1..0 # SKIP no distribution of Flink $FLINK_VERSION"
	exit 0
}
e2e_begin gc-two
SHARED=$RUN
WHERE=([orders]=$RUN [payments]=$RUN/payments)
REST[orders]=$REST_PORT RPC[orders]=$RPC_PORT
take_port REST_PORT
take_port RPC_PORT
REST[payments]=$REST_PORT RPC[payments]=$RPC_PORT
mkdir -p "$RUN/payments"
flink_layout "$RUN/payments" "$FLINK" "$JOB_JAR"
use orders
trap both_end EXIT
for app in orders payments; do
	ln -sfn "$home/lib" "${WHERE[$app]}/flink/lib"
done
mkdir -p "$RUN/ck" "$RUN/sp"
begin orders
begin payments
for app in orders payments; do
	use "$app"
	next_launch
	next_launch
done
is "$(find "$SHARED/ck" -mindepth 1 -maxdepth 1 -name '????????????????????????????????' | wc -l)" 6 "one directory has the launches of both"
story payments orders
story orders payments
e2e_end
