#!/usr/bin/env bash
#
# An autoscaler sets the bounds of the running job through Flink's REST API: drey leaves them alone, also when it has set others
# itself or is started again. They are lost with the launch; what was requested of drey is not.

# shellcheck disable=SC2119,SC2317 # functions with optional arguments, called by name
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"
# shellcheck source=tests/e2e/elastic_lib.sh
. "$E2E_DIR/elastic_lib.sh"

e2e_begin bounds
adaptive_conf 4
drey_conf

# Some of its polls later.
still_has() { # UPPER
	local seen
	seen=$(status .lastCheckpoint.id)
	await "some polls later" status_is ".lastCheckpoint.id > $seen + 3"
	has_bound "$1" && runs_with "$1"
}

start_drey
start_tm_pod
MUST_LIVE=(jm tm)
await "the job has a checkpoint" status_is .launch.proven
job=$(status .jobId)

check "an autoscaler asks for more" put_bounds 3
await "the job runs with it" runs_with 3
check "drey does not undo it" still_has 3
check "nothing was requested of it" status_is '.parallelism == null and .launch.number == 1'
check "it is the same job" status_is ".jobId == \"$job\" and .attempts.failed == 0"
await "to which nothing has happened, as far as drey counts" status_is '.job.restarts == 0'
check "its state continues" continues
agent=$(agent_pid)
kill -KILL "$agent"
await "a new agent" agent_is_new "$agent"
await "takes the job over" phase_is Running
check "and does not undo it either" still_has 3

kill -KILL "$(jm_pid)"
await "the JobManager was killed: the next launch runs" runs_after "$job"
await "all its tasks run" status_is '.tasks.running == .tasks.total and .launch.proven'
is "$(parallelism)" 1 "without high availability it begins with the job's own parallelism"
check "and its state continues" continues

check "drey rescale sets another one" rescale 0 --vertex count=2
check "an autoscaler changes it" put_bounds 4
await "the job runs with that" runs_with 4
check "drey does not undo it" still_has 4
check "to drey its own is in force" status_is '.parallelism.vertices.count == 2'
job=$(status .jobId)
kill -KILL "$(jm_pid)"
await "the JobManager was killed: the next launch runs" runs_after "$job"
await "with what drey was asked for" runs_with 2
check "and its state continues" continues
e2e_end
