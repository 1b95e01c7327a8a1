#!/usr/bin/env bash
#
# A job that has FINISHED is never restarted automatically, whether or not drey saw its end: SIGTERM right after it, the
# death of the JobManager, the death of everything, a stop that comes too late. drey polls rarely here, so it does not
# notice the end by a poll. The job's own log shows how often it has started.
#
# runs in: ci on 2.3.0

# shellcheck disable=SC2119 # lib.sh has functions whose arguments are optional
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"
# shellcheck source=tests/e2e/finished_lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/finished_lib.sh"

e2e_begin finished
drey_conf
DREY_CONF[poll.slow]=10m
DREY_CONF[poll.tasks]=0s
start_tm_pod

# ---- SIGTERM at once
finish
end_drey TERM
start_drey
stays_finished "after SIGTERM"

# ---- the JobManager dies
again
await "Flink has left a record of the end" has_record
kill -KILL "$(jm_pid)"
stays_finished "after the death of the JobManager"

# ---- everything dies
again
await "Flink has left a record of the end" has_record
kill_all
start_drey
stays_finished "after the death of everything"

# ---- the same, and the journal's last word is that of a running job: drey resolve says the same
again
await "Flink has left a record of the end" has_record
kill_all
drey resolve --explain >"$RUN/explain" 2>&1
is $? 3 "drey resolve: parked"
check "because it has FINISHED" grep -q "job $JOB: it has FINISHED" "$RUN/explain"
start_drey
stays_finished "after the death of everything, once more"

# ---- the record cannot be read: nothing is started before it can
again
await "Flink has left a record of the end" has_record
kill_all
results=$(results)
mv "$results" "$RUN/away"
ln -s "${results##*/}" "$results" # a loop
start_drey
await "the record cannot be read: drey holds" phase_is Holding
is "$(status .cause)" StorageUnreadable "in one word"
is "$(mains)" "$STARTS" "the job did not run again"
rm "$results"
mv "$RUN/away" "$results"
stays_finished "once it can be read"

# ---- a stop comes too late
again
timeout 60 "$BUILD/drey" suspend --config "$RUN/drey.yaml" >"$RUN/log/suspend.log" 2>&1
no_flink() {
	[ -z "$(jm_pid)" ]
}
await "suspended too late: no Flink runs" no_flink
await "suspended too late: the outcome is on record" status_is '.outcome.kind == "finished"'
is "$(mains)" "$STARTS" "suspended too late: the job did not run again"

check "the state was continuous all the time" continuity 20
e2e_end
