#!/usr/bin/env bash
#
# The warm spare: a killed JobManager continues in it, from the newest checkpoint; there is another one then; a planned restart
# uses it, too. One that is killed is not missed.
#
# runs in: ci on 2.3.0

# shellcheck disable=SC2119 # lib.sh has functions whose arguments are optional
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"
# shellcheck source=tests/e2e/spare_lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/spare_lib.sh"

e2e_begin spare
spare_conf
drey_conf
start_tm_pod
start_drey
MUST_LIVE=(jm tm)
await "the job runs" phase_is Running
await "the launch is proven" status_is .launch.proven
await "a spare is ready" spare_is ready
pid=$(spare_now)
is "$(process_state "$pid") $(cat "/proc/$pid/oom_score_adj")" "T 1000" "it is stopped, and the first that the kernel would end"
diag "it has $(awk '/^Rss|^Private_Dirty/ { printf "%s %d MiB ", $1, $2 / 1024 }' "/proc/$pid/smaps_rollup")after $(logged "the spare JVM is ready" ms) ms"

kill_jm
diag "killed with a spare: the job has its state after $RAN_MS ms"
check "in the spare" from_spare
is "$(jm_now)" "$pid" "which is the JobManager now"
check "from the newest retained checkpoint, with the count that it holds" restore_matches "$(newest_retained "$LAST_JOB")"
await "the new launch is proven" status_is .launch.proven
await "and there is another spare" spare_is ready
check "which is another process" test "$(spare_now)" != "$pid"

# ---- a planned restart
pid=$(spare_now) job=$(status .jobId)
drey restart >"$RUN/log/restart.log" 2>&1
await "a restart starts another job" runs_after "$job"
is "$(from_spare && jm_now)" "$pid" "in the spare"
check "from the savepoint" restore_matches "$(status .lastSavepoint.path)"
await "the new launch is proven" status_is .launch.proven

# ---- a spare that is killed
await "and there is a third spare" spare_is ready
kill -KILL "$(spare_now)"
await "the third is killed: there is none" spare_is none
kill_jm
diag "killed without a spare: the job has its state after $RAN_MS ms"
check "an ordinary start" not from_spare
check "from the newest retained checkpoint, with the count that it holds" restore_matches "$(newest_retained "$LAST_JOB")"
is "$(status .spare.lastNotUsed.cause)" Gone "and drey says why"
check "in one line" said "the spare JVM has ended" 1

check "nothing was lost or repeated" continuity
check "and no job started from an older snapshot" never_older
MUST_LIVE=()
end_drey TERM
is "$(run_pids drey.spare.Spare)" "" "no spare outlives the container"
e2e_end
