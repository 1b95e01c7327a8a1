#!/usr/bin/env bash
#
# SIGKILL for the JobManager - while the job runs, in the middle of a savepoint, between exec and the first response of
# its REST API - and for the TaskManager. Each time the next job continues from the newest complete snapshot. And a
# JobManager that hangs: drey waits for it, but everything else continues.
#
# runs in: test

# shellcheck disable=SC2119 # lib.sh has functions whose arguments are optional
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"

e2e_begin kill-jobmanager
DREY_CONF[attempts.backoffFirst]=200ms
drey_conf
start_tm_pod
start_drey
MUST_LIVE=(jm tm)
await "the job runs" phase_is Running
is "$(status '.launch.restorePoint == null')" true "the first start is empty, and says so"
await "its first checkpoint proves the launch" status_is .launch.proven

# ---- S48: while it runs
first=$(status .jobId)
await "three checkpoints are complete" has_completed 3 "$first"
kill -KILL "$(jm_pid)"
await "JobManager killed: drey starts another job" runs_after "$first"
check "from the newest retained checkpoint, with the count that it holds" restore_matches "$(newest_retained "$first")"
# the last error is over when the next launch is proven, which may have happened by now
check "why it ended is on record" status_is 'any(.transitions[]; .text | contains("killed with SIGKILL"))'
second=$(status .jobId)
await "the new launch is proven" status_is .launch.proven
is "$(status .attempts.failed)" 0 "and no failed attempt is counted any more"

# ---- in the middle of a savepoint
control hold-snapshot
drey savepoint >"$RUN/location" 2>"$RUN/log/cli.log" &
cli=$!
await "a savepoint is under way" status_is '.operation.kind == "savepoint"'
await "and a snapshot waits" has_events HOLD 1
kill -KILL "$(jm_pid)"
await "JobManager killed: drey starts another job" runs_after "$second"
uncontrol hold-snapshot
wait "$cli"
is "$? $(cat "$RUN/location")" "1 " "drey savepoint fails and prints no place"
check "it says why" grep -q 'the savepoint failed: Flink exited during' "$RUN/log/cli.log"
check "the job continues from the newest retained checkpoint" restore_matches "$(newest_retained "$second")"

# ---- between exec and the REST API
third=$(status .jobId)
await "the launch is proven" status_is .launch.proven
pid=$(jm_pid)
kill -KILL "$pid"
# shellcheck disable=SC2317 # called through await
new_jm() {
	local now
	now=$(jm_pid)
	[ -n "$now" ] && [ "$now" != "$pid" ]
}
await "JobManager killed: another one starts" new_jm
fourth=$(status .jobId)
kill -KILL "$(jm_pid)"
check "it is killed before it answers" not rest_is_up
await "drey starts a third one" runs_after "$fourth"
check "not as the job of before" test "$(status .jobId)" != "$third"
check "from the same checkpoint" restore_matches "$(newest_retained "$third")"
check "two attempts were counted" status_is '.transitions | any(.text | contains("attempt 2 of 5 failed"))'

# ---- the TaskManager
await "the launch is proven" status_is .launch.proven
job=$(status .jobId) pid=$(jm_pid)
kill -KILL "$(tm_pid)"
await "TaskManager killed: Flink notices" not job_runs
await "with another TaskManager the job runs again" job_runs
await "and drey sees it" status_is '.phase == "Running" and .job.state == "RUNNING"'
is "$(status .jobId) $(jm_pid)" "$job $pid" "the same job in the same JobManager"
await "its checkpoints go on" has_completed $(($(last_event RESTORED checkpoint) + 1)) "$job"

# ---- S64: a JobManager that hangs
kill -STOP "$pid"
await "JobManager stopped: drey sees that it does not answer" status_is '.job.reachable == false'
check "drey itself does: do-not-restart on" drey do-not-restart on
check "it is so" status_is '.desired.doNotRestart and .phase == "Running"'
check "do-not-restart off" drey do-not-restart off
last=$(last_event COMPLETED checkpoint)
kill -CONT "$pid"
await "it goes on: drey sees it" status_is '.phase == "Running" and .job.reachable and .job.state == "RUNNING"'
await "so do the checkpoints" has_completed $((last + 2)) "$job"
is "$(status .jobId) $(jm_pid)" "$job $pid" "the same job in the same JobManager"

check "the state was continuous all the time" continuity
check "and never went back to something older" never_older
e2e_end
