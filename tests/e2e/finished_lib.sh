# shellcheck shell=bash disable=SC2034,SC2119,SC2154,SC2317
#
# finished_lib.sh - a job that comes to its end while drey does not look. Sourced after tap.sh by the tests that a job which has
# FINISHED never runs again; poll.slow and poll.tasks keep drey from seeing the end by itself.
#
#   finish                 starts drey; the job runs, is proven, and comes to its end: JOB, STARTS
#   again                  the same, of a drey that runs and has parked the job
#   has_record             Flink has left a record of the end
#   results                the directory of the record, which is that of its launch
#   kill_all               SIGKILL to everything of the JobManager's side
#   stays_finished WHAT    drey is in Finished, and the job has not run again

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
	[ -n "$(results)" ]
}

results() {
	find "$RUN/ck/job-results" -path "*$JOB*" -type f -print -quit 2>/dev/null | grep -o "^$RUN/ck/job-results/[^/]*"
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
