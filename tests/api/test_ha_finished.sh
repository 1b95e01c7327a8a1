#!/usr/bin/env bash
#
# A job that has FINISHED never runs again, with Flink's own high availability on Kubernetes: Flink has deleted the job's
# map at its end, so the map shows nothing, and the record in the job result store is the only evidence. The JobManager
# dies, everything dies, and the record is one that Flink has not cleaned up.
#
# runs in: all

# shellcheck disable=SC2119,SC2154 # lib.sh has functions whose arguments are optional; keys of DREY_CONF
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/e2e/finished_lib.sh
. "$TOP/tests/e2e/finished_lib.sh"
# shellcheck source=tests/api/lib.sh
. "$TOP/tests/api/lib.sh"
# shellcheck source=tests/api/ha_lib.sh
. "$TOP/tests/api/ha_lib.sh"

e2e_begin ha-finished
api_begin ha-finished
ha_begin
DREY_CONF[poll.slow]=10m
DREY_CONF[poll.tasks]=0s
start_tm_pod

# ---- the JobManager dies
finish
await "Flink has left a record of the end" has_record
await "and has deleted the map of the job" not has_map "$(job_map "$JOB")"
kill -KILL "$(jm_pid)"
stays_finished "after the death of the JobManager"

# ---- everything dies
again
await "Flink has left a record of the end" has_record
kill_all
start_drey
stays_finished "after the death of everything"

# ---- the same, and Flink had not cleaned up
again
await "Flink has left a record of the end" has_record
kill_all
record=$(find "$RUN/ck/job-results" -name "$JOB.json")
check "the record is that of the job result store" mv "$record" "${record%.json}_DIRTY.json"
start_drey
stays_finished "after the death of everything, with a dirty record"
check "the state was continuous all the time" continuity 3
e2e_end
