#!/usr/bin/env bash
#
# A main() that is held (java/held), without drey: the JobManager is up and its TaskManager registered, and the job starts when a
# file says from what. A JobManager that is killed is held again, or continues; a wrong class and a refusal end it.
#
# runs in: ci on 2.3.0

# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"
# shellcheck source=tests/e2e/held_lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/held_lib.sh"

first=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa01
second=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa02

held_begin held
start_tm_pod
start_held "$first" drey.ContinuityJob
MUST_LIVE=(jm tm)
await "main() is held" is_held
is "$(jq -c '[.schema, .class]' "$GO.held")" '[1,"drey.ContinuityJob"]' "the file beside the go file says so"
await "the TaskManager is registered, and there is no job" held_with_slots
is "$(event_count MAIN)" 0 "the user's main() was not called"

# without rename: whatever is incomplete is not taken
printf '{"schema": 1, "go": true, "path": "", "allowNonRes' >"$GO"
await "a truncated go file is noticed" said 'stays held: .*is not JSON'
go '{"schema": 1, "go": true}'
await "so is one without a path" said 'stays held: .*"path" is no string'
go '{"schema": 2, "go": true, "path": "", "allowNonRestored": false}'
await "and one of another schema" said 'stays held: .*schema is not 1'
check "main() is still held" held_with_slots
is "$(event_count MAIN)" 0 "and the user's was not called"

go_from ""
await "without a path the job starts" job_runs
is "$(job_id)" "$first" "under the id that it was given"
is "$(last_event RESTORED checkpoint)" "-" "without state"
await "a checkpoint is complete" has_completed 1 "$first"
stop_held_job

start_held "$second" drey.ContinuityJob
MUST_LIVE=(jm tm)
await "the next JobManager is held" is_held
MUST_LIVE=(tm)
kill -KILL "$(jm_pid)"
await "it is killed" jm_ended
start_held "$second" drey.ContinuityJob
MUST_LIVE=(jm tm)
await "a new one is held again" is_held
await "with the same TaskManager" held_with_slots
go_from "$SAVEPOINT"
await "with a path the job starts" job_runs
is "$(plain_path "$(checkpoints .latest.restored.external_path)")" "$(plain_path "$SAVEPOINT")" "from exactly that savepoint"
is "$(checkpoints .latest.restored.is_savepoint)" true "as a savepoint"
is "$(last_event RESTORED count)" "$(snapshot_count "$first" "$(last_event RESTORED checkpoint)")" "with the count that it had"
check "the state was continuous all the time" continuity 1

MUST_LIVE=(tm)
kill -KILL "$(jm_pid)"
await "this JobManager is killed, too" jm_ended
mains=$(event_count MAIN)
start_held "$second" drey.ContinuityJob
MUST_LIVE=(jm tm)
await "with its go file a new one calls main()" has_events MAIN $((mains + 1))
await "and the job runs" job_runs
check "it was never held" test ! -e "$GO.held"
is "$(plain_path "$(checkpoints .latest.restored.external_path)")" "$(plain_path "$SAVEPOINT")" \
	"without high availability it started from the savepoint once more"
check "nothing was lost or repeated in one start" not has_events GAP 1
# the checkpoints that it makes now are there already, from before: such a job fails now and then, and is not worth a stop
MUST_LIVE=(tm)
kill -KILL "$(jm_pid)"
await "it is killed" jm_ended

start_held aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa03 drey.NoSuchJob
await "with a wrong class the JobManager ends" jm_ended
check "it was not held" test ! -e "$GO.held"
check "and says why" said 'the class of the job, drey.NoSuchJob, was not found'

mains=$(event_count MAIN)
start_held aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa04 drey.ContinuityJob
MUST_LIVE=(jm tm)
await "another one is held" is_held
MUST_LIVE=(tm)
go '{"schema": 1, "go": false, "why": "the owner kept the job"}'
await "it ends when it is not to start" jm_ended
check "with the reason" said 'this job is not to start: the owner kept the job'
is "$(event_count MAIN)" "$mains" "the user's main() was not called"
e2e_end
