#!/usr/bin/env bash
#
# The test job and the tool box themselves, without drey: a bare JobManager is started, killed and started again from a
# checkpoint that this script picks. If this fails, fix it before you investigate drey.
#
# runs in: test

# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"

first=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa01
second=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa02

e2e_begin job
mapfile -t args < <(job_args)
start_tm
MUST_LIVE=(jm tm)
start_bare_jm --job-id "$first" --job-classname drey.ContinuityJob -- "${args[@]}"
await "the job runs" job_runs
is "$(job_id)" "$first" "it has the id that was asked for"
await "two checkpoints are complete" has_completed 2 "$first"
is "$(event_count MAIN)" 1 "main() ran once"
is "$(last_event RESTORED checkpoint)" "-" "it started without state"

control fail-once
await "a failure on purpose" has_events THROW 1
await "Flink restarts the task from a checkpoint" has_events START 2
is "$(last_event RESTORED attempt)" 1 "that is the second attempt"

control hold-snapshot
await "a snapshot waits" has_events HOLD 1
held=$(last_event HOLD checkpoint)
MUST_LIVE=(tm)
kill -KILL "$(jm_pid)"
uncontrol hold-snapshot
await "the killed JobManager is gone" test -f "$RUN/jm.status"
is "$(exit_status jm)" 137 "its status is that of SIGKILL"
tm=$(tm_pid)
check "the TaskManager is alive" alive "$tm"

restore=$(newest_retained "$first")
check "the snapshot that waited did not complete" test ! -e "$RUN/ck/$first/chk-$held/_metadata"
check "state files lie beside _metadata" test "$(find "$restore" -type f ! -name _metadata | wc -l)" -ge 1
MUST_LIVE=(jm tm)
start_bare_jm --job-id "$second" --fromSavepoint "$restore" --job-classname drey.ContinuityJob -- "${args[@]}"
await "the next job runs on the same TaskManager" job_runs
is "$(tm_pid)" "$tm" "the TaskManager was not replaced"
is "$(last_event RESTORED checkpoint)" "${restore##*-}" "it restored that checkpoint"
is "$(last_event RESTORED count)" "$(snapshot_count "$first" "${restore##*-}")" "with the count that was snapshotted"
is "$(checkpoints .latest.restored.id)" "${restore##*-}" "Flink says the same"
await "it completes a newer checkpoint" has_completed "$((held + 1))" "$second"

control finish
MUST_LIVE=(tm)
await "the job finishes and the JobManager ends" test -f "$RUN/jm.status"
is "$(exit_status jm)" 0 "with status 0"
check "the state was continuous all the time" continuity 1
e2e_end
