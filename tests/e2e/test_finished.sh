#!/usr/bin/env bash
#
# A job that has FINISHED never runs again by itself, whoever saw its end: SIGTERM right after it, the death of the
# JobManager, the death of everything, a stop that comes too late. drey looks rarely here, so that it sees nothing of
# the end by itself. The job's own log says how often it has started.
#
# runs in: ci on 2.3.0

# shellcheck disable=SC2119 # lib.sh has functions whose arguments are optional
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"

e2e_begin finished
drey_conf
DREY_CONF[poll.slow]=10m
DREY_CONF[poll.tasks]=0s
start_tm_pod

# Every start of the job's main().
mains() {
	event_count MAIN
}

# A job that runs, is proven, and then comes to its end; Flink has it on record. STARTS is how often it has started.
finish() {
	uncontrol finish
	start_drey
	MUST_LIVE=(jm tm)
	await "the job runs" status_is .launch.proven
	JOB=$(status .jobId)
	STARTS=$(mains)
	MUST_LIVE=(tm)
	control finish
	await "it comes to its end" is_over
}

# drey sees nothing of it: its next look is minutes away.
is_over() {
	rest "jobs/$JOB" '.state == "FINISHED"'
}

has_record() {
	find "$RUN/ck/job-results/$JOB" -type f | grep -q .
}

# SIGKILL to all there is of the JobManager's side, as the death of a node.
kill_all() {
	local pid
	MUST_LIVE=(tm)
	for pid in "${PIDS[jm]}" $(run_pids "^$BUILD/drey-init --agent") $(agent_pid) $(jm_pid); do
		kill -KILL "$pid" 2>/dev/null
	done
	wait_quietly "$WAIT_S" drey_has_ended
}

stays_finished() { # WHAT
	MUST_LIVE=(tm)
	await "$1: it is Finished" phase_is Finished
	is "$(status .cause)" Finished "$1: in one word"
	is "$(status .outcome.kind)" finished "$1: that is on record"
	is "$(mains)" "$STARTS" "$1: the job did not run again"
	is "$(jm_pid)" "" "$1: no Flink runs"
}

# The next job: a person asks for it. Flink has deleted the checkpoints of the one that has FINISHED.
again() {
	uncontrol finish
	check "drey resume starts it again" drey resume --empty
	await "the job runs" status_is ".launch.proven and .jobId != \"$JOB\""
	JOB=$(status .jobId)
	STARTS=$(mains)
	control finish
	await "it comes to its end" is_over
}

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
mv "$RUN/ck/job-results/$JOB" "$RUN/away"
ln -s "$JOB" "$RUN/ck/job-results/$JOB" # a loop
start_drey
await "the record cannot be read: drey holds" phase_is Holding
is "$(status .cause)" StorageUnreadable "in one word"
is "$(mains)" "$STARTS" "the job did not run again"
rm "$RUN/ck/job-results/$JOB"
mv "$RUN/away" "$RUN/ck/job-results/$JOB"
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
