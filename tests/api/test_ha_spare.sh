#!/usr/bin/env bash
#
# The warm spare with Flink's own high availability on Kubernetes: the next launch runs in it, under the same ids and from what
# Flink has recorded, with the lock of the dead leader released; beside it the same kill without a spare.
#
# runs in: all

# shellcheck disable=SC2119 # lib.sh has functions whose arguments are optional
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/api/lib.sh
. "$TOP/tests/api/lib.sh"
# shellcheck source=tests/api/ha_lib.sh
. "$TOP/tests/api/ha_lib.sh"
# shellcheck source=tests/e2e/spare_lib.sh
. "$TOP/tests/e2e/spare_lib.sh"

e2e_begin ha-spare
api_begin ha-spare
DREY_CONF[attempts.backoffFirst]=200ms
spare_conf
ha_begin
start_tm_pod
start_drey
MUST_LIVE=(jm tm)
await "the job runs" phase_is Running
first=$(status .jobId)
await "the launch is proven" status_is .launch.proven
await "a spare is ready" spare_is ready

# Kill the JobManager: RAN_MS until Flink says that the job runs again.
kill_leader() { # LAUNCH
	local killed_ms
	killed_ms=$(date +%s%3N)
	kill -KILL "$(jm_now)"
	await "JobManager killed: Flink runs the job again" job_runs
	RAN_MS=$(($(date +%s%3N) - killed_ms))
	await "and drey has verified it" status_is ".phase == \"Running\" and .launch.number == $1"
	is "$(status .jobId)" "$first" "under the same id"
	await "the launch is proven" status_is .launch.proven
}

pid=$(spare_now)
await "the holder of the lock is known" jm_says "leader lock is known"
kill_leader 2
with_ms=$RAN_MS
is "$(from_spare && jm_now)" "$pid" "in the spare"

await "there is another spare" spare_is ready
kill -KILL "$(spare_now)"
await "which is killed" spare_is none
await "the holder of the lock is known again" jm_says "leader lock is known" 2
kill_leader 3
check "an ordinary start" not from_spare
diag "with a spare $with_ms ms, without $RAN_MS ms"
check "with a spare it takes less than two thirds of the time" test $((3 * with_ms)) -lt $((2 * RAN_MS))
check "no state is lost" continuity
check "and no job started from an older snapshot" never_older
MUST_LIVE=()
e2e_end
