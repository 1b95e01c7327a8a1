#!/usr/bin/env bash
#
# A JobManager that is killed goes on under the same ids, from what Flink itself has recorded on Kubernetes; and fast,
# because drey gives the dead leader's lock back. The whole life under the Role of the chart.

# shellcheck disable=SC2119 # lib.sh has functions whose arguments are optional
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/api/lib.sh
. "$TOP/tests/api/lib.sh"
# shellcheck source=tests/api/ha_lib.sh
. "$TOP/tests/api/ha_lib.sh"

e2e_begin ha
api_begin ha
ha_begin
start_tm_pod
start_drey
MUST_LIVE=(jm tm)
await "the job runs" phase_is Running
first=$(status .jobId)
is "$first" "$(job_id_of 0)" "its id is the first that the Role names"
await "its first checkpoint proves the launch" status_is .launch.proven
check "Flink keeps what it recovers from in the map of the job" has_map "$(job_map "$first")"
await "the holder of the lock is known" jm_says "leader lock is known"

# ---- kill -9
pid=$(jm_pid)
kill -KILL "$pid"
began=$(date +%s%N)
await "JobManager killed: another one is started" jm_is_new "$pid"
await "the lock of the dead one was given back" jm_says "was given back"
await "the job runs again" status_is '.phase == "Running" and .launch.restoreVerified'
diag "RUNNING $((($(date +%s%N) - began) / 1000000)) ms after the kill"
is "$(status .jobId)" "$first" "under the same id"
check "continued, as drey says" status_is '.transitions | any(.text | contains("goes on under its job id"))'
check "no checkpoint is lost" continuity
is "$(api_denied)" "" "nothing was asked for that the Role does not allow"
e2e_end
