#!/usr/bin/env bash
#
# drey rescale with a real Flink and its adaptive scheduler: the job gets another parallelism under the same job id, and its
# state continues; every later launch has it again, after a kill of Flink and after an upgrade; --reset withdraws it. With
# the default scheduler it is refused.
#
# runs in: ci on 2.3.0

# shellcheck disable=SC2119,SC2317 # functions with optional arguments, called by name
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"
# shellcheck source=tests/e2e/elastic_lib.sh
. "$E2E_DIR/elastic_lib.sh"

e2e_begin rescale
adaptive_conf 4
drey_conf
DREY_CONF[generation]=v1

has_parallelism() { # JQ
	status_is ".parallelism | $1"
}

start_drey
start_tm_pod
MUST_LIVE=(jm tm)
await "the job has a checkpoint" status_is .launch.proven
job=$(status .jobId)
check "without a request there is none" has_parallelism '. == null'

# ---- another parallelism ---------------------------------------------------------------------------

is "$(parallelism)" 1 "the job runs with its own parallelism"
check "rescale succeeds" rescale 0 --vertex count=3
is "$(parallelism)" 3 "Flink runs it with the other one"
is "$(status .jobId)" "$job" "it is the same job"
check "and the state continues" continues
check "no attempt has failed" status_is '.attempts.failed == 0'
await "Flink has restarted nothing, as far as drey counts" status_is '.job.restarts == 0'
check "the status has it" has_parallelism '.state == "reached" and .vertices.count == 3 and .last.ok'
check "as its condition" status_is '.conditions[] | select(.type == "ParallelismAsRequested") | .status == "True"'

check "an unknown vertex is refused" rescale 1 --vertex nobody=2
check "and those that there are, are named" said "count -> sink: Writer ($counters)"
check "more than the maximum is refused" rescale 1 --parallelism 200
check "and the maximum is named" said "the maximum parallelism of"
check "what was in force stays" has_parallelism '.vertices.count == 3 and (.last.ok | not)'
is "$(parallelism)" 3 "and the job is left alone"

# ---- too few slots ---------------------------------------------------------------------------------

LIMIT=5s
check "more than there are slots is accepted" rescale 6 --vertex count=6
LIMIT=90s
check "with a warning, and its numbers" said "it needs 6 slots, and there are 4 (1 TaskManager)"
check "so does the status" has_parallelism '.state == "settling" and .slotsNeeded == 6 and .slotsTotal == 4'
check "and the condition" status_is '.conditions[] | select(.type == "ParallelismAsRequested") | .message |
	contains("it needs 6 slots, and there are 4")'
await "the job takes all that there are" runs_with 4
start_tm_pod tm2
await "with another TaskManager it runs as requested" has_parallelism '.state == "reached" and .slotsTotal == 8'
is "$(parallelism)" 6 "with all its subtasks"
check "without a launch" status_is ".jobId == \"$job\""
check "and the state continues" continues
check "less is reached at once" rescale 0 --vertex count=3
check "and nothing is said of slots" not_said "slots"

# ---- it survives -----------------------------------------------------------------------------------

kill -KILL "$(jm_pid)"
await "Flink was killed: the next launch" runs_after "$job"
await "has the parallelism again" runs_with 3
await "as the status says" has_parallelism '.state == "reached"'
job=$(status .jobId)
agent=$(agent_pid)
kill -KILL "$agent"
await "a new agent" agent_is_new "$agent"
await "takes the job over" phase_is Running
check "and asks for nothing" has_parallelism '.state == "accepted"'
end_drey TERM
DREY_CONF[generation]=v2
DREY_CONF[savepoints.interval]=1h
start_drey
MUST_LIVE=(jm tm)
await "after an upgrade the job runs" runs_after "$job"
await "with that parallelism" runs_with 3
check "from the state of the last version" continues

# ---- no more ---------------------------------------------------------------------------------------

await "the new launch has got it" has_parallelism '.state == "reached"'
check "reset succeeds" rescale 0 --reset
is "$(parallelism)" 1 "the job has its own parallelism again"
check "and nothing is in force" has_parallelism '.state == "none" and .vertices == {}'
check "the state continues" continues

# ---- another scheduler -----------------------------------------------------------------------------

drey rescale --vertex count=2 --timeout 90s >/dev/null 2>&1
end_drey TERM
job=$(status .jobId 2>/dev/null || true)
sed -i '/jobmanager.scheduler/d' "$RUN/conf/config.yaml"
start_drey
MUST_LIVE=(jm tm)
await "with the default scheduler the job runs" phase_is Running
await "with its own parallelism, and the status says so" has_parallelism '.state == "refused"'
check "with the reason" has_parallelism '.last.error | contains("set jobmanager.scheduler: adaptive")'
check "a request is refused" rescale 1 --parallelism 2
check "with the reason, too" said "set jobmanager.scheduler: adaptive"
check "and the job runs on" phase_is Running
is "$(parallelism)" 1 "as before"
e2e_end
