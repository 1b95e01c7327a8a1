#!/usr/bin/env bash
#
# Stops with problems: one takes longer than any client waits, no client reads the result, the job fails at its end. In
# each case the next launch is from the newest state, and nothing runs twice.
#
# runs in: test on 2.3.0

# shellcheck disable=SC2119 # lib.sh has functions whose arguments are optional
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"

# The complete savepoints of a job, one path a line.
savepoints_of() { # JOB
	find "$RUN/sp" -path "*/savepoint-${1:0:6}-*/_metadata" -printf '%h\n'
}

# shellcheck disable=SC2317 # called through await
# The operation in flight has been so for that long. What has not happened by then is judged by what is on record.
in_flight_for() { # MS
	status_is ".operation != null and now * 1000 - .operation.startedUnixMs > $1"
}

# shellcheck disable=SC2317
# Asked for once more, and not waited for until it is done.
suspend_takes_longer() {
	drey suspend --timeout 1s >"$RUN/said" 2>>"$RUN/log/cli.log"
	[ $? -eq 6 ] && [ ! -s "$RUN/said" ]
}

# Suspends, and stops the agent before it can know what came of it: the job has FINISHED, its savepoint is complete,
# and Flink waits for somebody to read the result.
suspend_unread() { # sets JOB, SAVED and AGENT
	local holds
	await "the launch is proven" status_is .launch.proven
	JOB=$(status .jobId)
	holds=$(event_count HOLD)
	control hold-snapshot
	check "drey suspend --no-wait" drey suspend --no-wait
	await "Flink is asked" status_is '.operation.kind == "stop"'
	await "and its savepoint waits" has_events HOLD $((holds + 1))
	AGENT=$(agent_pid)
	kill -STOP "$AGENT"
	uncontrol hold-snapshot
	await "the job has come to its end, and drey does not know" job_is FINISHED
	SAVED=$(savepoints_of "$JOB")
}

# What was not read was found, and the job continues from it.
settled() {
	await "the job is suspended" phase_is Suspended
	is "$(status '.lastOperation | [.kind, .reason, .ok] | join(" ")')" "stop suspend true" "the stop is on record"
	is "$(plain_path "$(status .lastOperation.location)")" "$SAVED" "with its savepoint, which was found in storage"
	check "drey resume" drey resume
	check "the job continues from exactly that" restore_matches "$SAVED"
}

e2e_begin stop
DREY_CONF[attempts.backoffFirst]=200ms
drey_conf
start_tm_pod
start_drey
MUST_LIVE=(jm tm)
await "the job runs" phase_is Running
await "the launch is proven" status_is .launch.proven

# ---- S31, S32, S33: slower than anybody waits, and asked for once more
job=$(status .jobId) jm=$(jm_pid)
control hold-snapshot
check "drey suspend --no-wait" drey suspend --no-wait
await "Flink is asked" status_is '.operation.kind == "stop"'
await "and its savepoint waits" has_events HOLD 1
trigger=$(status .operation.triggerId)
await "drey suspend, once more: the time is up" suspend_takes_longer
await "a while later" in_flight_for 4000
is "$(status '[.phase, .operation.kind, .operation.triggerId] | join(" ")')" "Stopping stop $trigger" \
	"it is still the same stop"
is "$(jm_pid) $(status '[.jobId, .launch.number] | join(" ")')" "$jm $job 1" "and nothing else was started"
uncontrol hold-snapshot
await "the job is suspended" phase_is Suspended
saved=$(savepoints_of "$job")
is "$(plain_path "$(status .lastSavepoint.path)")" "$saved" "there is one savepoint of it"
is "$(last_event CLOSE count)" "$(snapshot_count "$job" "$(status .lastSavepoint.checkpointId)")" \
	"the job has counted nothing after it"
is "$(grep -c '"Stopping: stop with savepoint' "$RUN/log/jm.log")" 1 "and there was one stop"
check "drey resume" drey resume
check "the job continues from exactly that" restore_matches "$saved"

# ---- S35: Flink has gone before the result was read
suspend_unread
kill -KILL "$(jm_pid)"
await "JobManager killed: the result is lost" not rest_is_up
kill -CONT "$AGENT"
settled

# ---- S26: so has the container
suspend_unread
end_drey KILL
is "$(exit_status jm)" 137 "the container dies"
start_drey
MUST_LIVE=(jm tm)
settled

# ---- S27: the savepoint is complete, then the job fails. Flink does not restart it, although it restarts every
# other failure of this job.
await "the launch is proven" status_is .launch.proven
job=$(status .jobId)
control fail-in-close-once
check "drey restart" drey restart
is "$(events THROW | grep -c " job=$job ")" 1 "the job has failed at its end"
saved=$(savepoints_of "$job")
is "$(plain_path "$(status .lastOperation.location)")" "$saved" "the savepoint of the stop is on record"
check "the next job continues from exactly that" restore_matches "$saved"
is "$(status .launch.number)" 5 "that was one start"
check "the state was continuous all the time" continuity
e2e_end
