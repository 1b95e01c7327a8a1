#!/usr/bin/env bash
#
# SIGKILL for the agent - at rest, in the middle of a savepoint, in the middle of a stop - and for drey-init. The agent
# comes back and finds everything as it was; with drey-init the whole container dies, and the next one continues.
#
# runs in: test on 2.3.0

# shellcheck disable=SC2119 # lib.sh has functions whose arguments are optional
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"

kill_agent() { # sets AGENT, the pid that it had
	AGENT=$(agent_pid)
	kill -KILL "$AGENT"
}

e2e_begin kill-drey
drey_conf
start_tm_pod
start_drey
MUST_LIVE=(jm tm)
await "the job runs" phase_is Running
await "its first checkpoint proves the launch" status_is .launch.proven
job=$(status .jobId) jm=$(jm_pid)

# ---- the agent, in peace
last=$(last_event COMPLETED checkpoint)
kill_agent
await "agent killed: there is another one" agent_is_new "$AGENT"
await "it has taken the job over" phase_is Running
is "$(jm_pid) $(status .jobId)" "$jm $job" "the same job in the same JobManager"
await "its checkpoints go on" has_completed $((last + 2)) "$job"

# ---- the agent, in the middle of a savepoint
control hold-snapshot
drey savepoint >"$RUN/location" 2>>"$RUN/log/cli.log" &
cli=$!
await "a savepoint is under way" status_is '.operation.kind == "savepoint"'
await "and a snapshot waits" has_events HOLD 1
trigger=$(status .operation.triggerId)
kill_agent
await "agent killed: there is another one" agent_is_new "$AGENT"
is "$(status .operation.triggerId)" "$trigger" "it knows the savepoint"
uncontrol hold-snapshot
wait "$cli"
is $? 0 "drey savepoint has waited for it"
location=$(cat "$RUN/location")
is "$(status '.lastSavepoint | [.path, .origin, .verified] | join(" ")')" "$location manual true" "it is on record"
check "and complete" verify "$location"
is "$(find "$RUN/sp" -name _metadata | wc -l)" 1 "there is one savepoint, not two"
is "$(jm_pid) $(status .jobId)" "$jm $job" "the same job in the same JobManager"

# ---- S26, S32: the agent, in the middle of a stop
control hold-snapshot
holds=$(event_count HOLD)
drey suspend >"$RUN/location" 2>>"$RUN/log/cli.log" &
cli=$!
await "a stop is under way" status_is '.operation.kind == "stop"'
await "and a snapshot waits" has_events HOLD $((holds + 1))
trigger=$(status .operation.triggerId)
kill_agent
await "agent killed: there is another one" agent_is_new "$AGENT"
check "it goes on with the stop" phase_is Stopping
is "$(status .operation.triggerId)" "$trigger" "under the same trigger id"
is "$(jm_pid)" "$jm" "in the same JobManager"
uncontrol hold-snapshot
wait "$cli"
is $? 0 "drey suspend has waited for it"
check "the job is suspended" phase_is Suspended
check "Flink has ended" not alive "$jm"
is "$(find "$RUN/sp" -name _metadata | wc -l)" 2 "there is one more savepoint, not two"
location=$(cat "$RUN/location")
check "the savepoint is complete" verify "$location"

# ---- S28: drey-init, while the job is suspended
end_drey KILL
is "$(exit_status jm)" 137 "drey-init killed: everything ends with it"
start_drey
MUST_LIVE=(jm tm)
await "started again, it is still suspended" phase_is Suspended
is "$(status .launch.number)" 1 "nothing was launched"
check "drey resume" drey resume
check "the job continues from that savepoint, with the count that it holds" restore_matches "$location"

# ---- drey-init, while the job runs
await "the launch is proven" status_is .launch.proven
job=$(status .jobId)
end_drey KILL
is "$(exit_status jm) $(jm_pid)" "137 " "drey-init killed: Flink and the agent die with it"
check "the TaskManager lives" alive "$(tm_pid)"
newest=$(newest_retained "$job")
start_drey
MUST_LIVE=(jm tm)
await "started again, the job runs" runs_after "$job"
check "from the newest retained checkpoint" restore_matches "$newest"
is "$(status .attempts.failed)" 0 "the end of a container is no failure of the job"

check "the state was continuous all the time" continuity
check "and never went back to something older" never_older
e2e_end
