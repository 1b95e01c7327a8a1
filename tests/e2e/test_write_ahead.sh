#!/usr/bin/env bash
#
# A write-ahead sink (GenericWriteAheadSink) keeps records in <job>/taskowned until it can send them, and only its own state says in
# which files. Two launches die while it can send nothing; `drey gc --delete` deletes what they have left, but none of these
# files; when the sink can send again, every record arrives.
#
# runs in: all

# shellcheck disable=SC2016,SC2119,SC2317 # jq; lib.sh has functions whose arguments are optional; some are called by name
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"

owned() { # [JOB]
	find "$RUN/ck/${1:-}" -type f -path '*/taskowned/*' | sort
}

owns() { # JOB AT_LEAST
	[ "$(owned "$1" | wc -l)" -ge "$2" ]
}

is_proven() {
	phase_is Running && status_is .launch.proven
}

next_launch() {
	JOB=$(status .jobId)
	kill -KILL "$(jm_pid)"
	await "the JobManager is killed, and started again" runs_after "$JOB"
	await "the launch is proven" is_proven
	JOB=$(status .jobId)
}

has_sent() { # AT_LEAST
	[ "$(sort -n "$RUN/out" 2>/dev/null | tail -n 1)" -ge "$1" ]
}

# Prints what has not arrived of 1, 2, 3, ... up to the last one.
lost() {
	sort -nu "$RUN/out" | awk '$1 != NR { print "the record after " last " is " $1; exit 1 } { last = $1 }'
}

e2e_begin write-ahead
"$TOP/tests/job/build.sh" "$FLINK" "$RUN/flink/usrlib/write-ahead.jar" WriteAheadJob || die 1 "no job"
run_conf <<<'execution.checkpointing.data-inline-threshold: 0 b'
drey_conf
DREY_CONF[flink.jobClass]=drey.WriteAheadJob
DREY_CONF[flink.arguments]=$(yaml_list --out "$RUN/out" --control "$CONTROL")
DREY_CONF[attempts.backoffFirst]=200ms
control shut
start_tm_pod
start_drey
MUST_LIVE=(jm tm)
await "the job runs" is_proven
first=$(status .jobId)
await "its sink keeps records in taskowned" owns "$first" 4
next_launch
await "the second launch, too" owns "$JOB" 3
next_launch
before=$(owned)
kept=$(owned "$first" | wc -l)
drey gc --json --keep 0 --keep-for 0s --grace 0s --delete >"$RUN/gc.json" 2>>"$RUN/log/gc.log"
is $? 0 "drey gc --delete"
diag "$(jq --raw-output '[.rows[] | "\(.verdict) \(.reason) \(.files)"] | join(", ")' "$RUN/gc.json")"
check "deletes checkpoints of dead launches" jq --exit-status '.deleted.files > 0 and .failed == 0' "$RUN/gc.json"
is "$(comm -23 <(echo "$before") <(owned))" "" "and nothing in taskowned"
is "$(owned "$first" | wc -l)" "$kept" "the first launch's $kept files are there"
check "it says why" jq --exit-status --arg job "$first" \
	'[.rows[] | select(.jobId == $job and .reason == "task-owned" and .verdict != "delete")] | length == 1' "$RUN/gc.json"

# ---- another restart, and the sink can send
next_launch
uncontrol shut
await "everything is sent" has_sent 500
await "the files of the first launch are used up" not owns "$first" 1
check "every record has arrived" lost
diag "$(sort -nu "$RUN/out" | wc -l) records"
e2e_end
