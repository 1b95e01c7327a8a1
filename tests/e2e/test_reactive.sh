#!/usr/bin/env bash
#
# Flink's reactive mode under drey: another TaskManager, and the job runs with more subtasks; one that is lost, and it runs with
# fewer. It is the same launch and the same job, its state continues, and drey rescale is refused.

# shellcheck disable=SC2119,SC2317 # functions with optional arguments, called by name
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"
# shellcheck source=tests/e2e/elastic_lib.sh
. "$E2E_DIR/elastic_lib.sh"

e2e_begin reactive
adaptive_conf 1 'scheduler-mode: reactive'
drey_conf

has_new_checkpoint() {
	status_is ".lastCheckpoint.id > $seen"
}

# Nothing but the tasks was restarted, and from state.
same_launch() {
	status_is ".jobId == \"$job\" and .launch.number == 1 and .attempts.failed == 0" && continues &&
		[ "$(event_count 'RESTORED -')" -eq 1 ]
}

rescaled_to() { # N WHAT
	await "$2" runs_with "$1"
	await "all its tasks run" status_is '.phase == "Running" and .tasks.running == .tasks.total'
	seen=$(status .lastCheckpoint.id)
	await "it completes checkpoints" has_new_checkpoint
	check "it is the same launch, and its state continues" same_launch
	check "which is no failure" status_is '[.conditions[] | select(.type == "JobFailing" or .type == "Stalled") | .status] | all(. != "True")'
}

flink_counts() { # RESTARTS
	status_is ".job.restarts >= 2" && [ "$(rest "jobs/$job/metrics?get=numRestarts" '.[0].value')" -ge "$1" ]
}

start_drey
start_tm
MUST_LIVE=(jm tm)
await "the job has a checkpoint" status_is .launch.proven
job=$(status .jobId)
is "$(parallelism)" 1 "the job has as many subtasks as there are slots"

check "drey rescale is refused" rescale 1 --parallelism 2
check "with the reason, and what to do" said "in Flink's reactive mode the slots decide: add or remove TaskManagers"
check "nothing is in force" status_is '.parallelism | .vertices == {} and .all == null and (.last.ok | not)'

start_tm tm2
rescaled_to 2 "with another TaskManager it has more"
await "drey sees its slots" status_is '.slots.total == 2 and .slots.free == 0 and .taskManagers == 2'

pkill -KILL -P "${PIDS[tm2]}" java
rescaled_to 1 "without the one that was killed it has fewer"

start_tm tm2
rescaled_to 2 "with the next one it has more again"
kill -TERM "${PIDS[tm2]}"
rescaled_to 1 "without the one that was stopped it has fewer"
await "Flink counts, some seconds later, what has happened" flink_counts 4
is "$(status .job.restarts)" 2 "only the TaskManagers that were lost count as restarts of the job"

start_tm tm2
await "once more it has more" runs_with 2
kill -KILL "$(jm_pid)"
await "the JobManager was killed: the next launch runs" runs_after "$job"
await "with all slots that there are" runs_with 2
check "from the newest state" continues
is "$(event_count 'RESTORED -')" 1 "it was started without state only once"
e2e_end
