#!/usr/bin/env bash
#
# Two installations, one bucket, one lease object (docs/tasks/two-clusters.md): the one that is lost is followed by the other one,
# from the newest snapshot; never do both run the job. Each has a real Flink, on a real S3 server.
#
# runs in: all

# shellcheck disable=SC2119 # lib.sh has functions whose arguments are optional
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"
# shellcheck source=tests/servers/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../servers/lib.sh"
# shellcheck source=tests/e2e/lease_lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lease_lib.sh"

two_begin lease
site_make a
site_make b

# ---- one runs, the other one waits
at a site_start
await "nobody has ever held the lease: a waits" at a site_holds LeaseElsewhere
await "then it runs the job" at a site_runs
JOB=$(at a status .jobId)
at b site_start
await "b holds" at b site_holds LeaseElsewhere
check "and names a" at b status_is '.reason | startswith("a holds the lease")'
check "the object says so" lease_is '.name == "a" and .parked == false'
some_checkpoints "$JOB"
check "b holds still" at b site_holds LeaseElsewhere

# ---- the agent alone is killed
OLD=$(at a agent_pid)
kill -KILL "$OLD"
await "the agent is killed: there is another one" at a agent_is_new "$OLD"
some_checkpoints "$JOB"
check "and the same job" at a status_is ".jobId == \"$JOB\" and .phase == \"Running\""

# ---- the store is away for a moment
kill -STOP "${PIDS[minio]}"
sleep 2 # it must be shorter than what a holder endures
kill -CONT "${PIDS[minio]}"
some_checkpoints "$JOB"
stays "the store was away for 2 s: nothing happens" at a status_is ".jobId == \"$JOB\" and .lease.held"

# ---- a is lost
LOST_MS=$(now_ms)
at a site_lose
END_MS=$(lease_end_ms)
follows b "$JOB" "$END_MS" "$LOST_MS"
at a site_start
await "a comes back, and holds" at a site_holds LeaseElsewhere
stays "it stays so" at a site_holds LeaseElsewhere
check "the job of b goes on" at b status_is ".jobId == \"$JOB\" and .phase == \"Running\""

# ---- the store is away for longer than the lease
some_checkpoints "$JOB"
END_MS=$(lease_end_ms)
server_down minio
LOST_MS=$(now_ms)
await "the store is away: b ends its Flink" no_flink_anywhere
DEAD_MS=$(now_ms)
diag "$((DEAD_MS - LOST_MS)) ms after the store was gone, $((END_MS - DEAD_MS)) ms before the lease ended"
check "before its lease ends" test "$DEAD_MS" -le $((END_MS + LEASE_S * 1000 / 3))
stays "neither starts the job" no_flink_anywhere
check "both say why" at a status_is '.cause == "LeaseUnreadable"'
check "b too" at b status_is '.cause == "LeaseUnreadable"'
BACK_MS=$(now_ms)
server_up minio "$RUN/minio"
follows b "$JOB" "$BACK_MS" "$LOST_MS"
await "a holds" at a site_holds LeaseElsewhere
e2e_end
