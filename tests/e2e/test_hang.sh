#!/usr/bin/env bash
#
# A JobManager that hangs (SIGSTOP) while the job runs: after health.unreachableAfter it is killed, and the next launch continues from
# the newest checkpoint, with nobody at the keyboard. One of which only the REST API is out of reach is left alone as long as it
# completes checkpoints; when it does not, its threads are in the log before it is ended.
#
# runs in: ci on 2.3.0

# shellcheck disable=SC2119,SC2317 # optional arguments; functions that check calls
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"

FAR=127.0.0.2 # nobody listens there
AFTER_S=20

launched_again() { # NUMBER
	status_is ".launch.number > $1 and .phase == \"Running\" and .launch.proven"
}

log_has() { # REGEX
	grep -qE -- "$1" "$RUN/log/jm.log"
}

checkpoints_of() { # JOB
	find "$RUN/ck/$1" -maxdepth 1 -name 'chk-*' | sed 's/.*chk-//' | sort -n | tail -n 1
}

newer_than() { # JOB ID
	[ "$(checkpoints_of "$1")" -gt "$2" ]
}

e2e_begin hang
DREY_CONF[health.unreachableAfter]=${AFTER_S}s
drey_conf
start_tm_pod
start_drey
MUST_LIVE=(jm tm)
await "the job is proven" launched_again 0
job=$(status .jobId)
jm=$(jm_pid)
hung_ms=$(date +%s%3N)
check "the JobManager hangs" kill -STOP "$jm"
await "it is launched again" launched_again 1
diag "$(($(date +%s%3N) - hung_ms)) ms from the hang to a proven launch"
check "not before its time" log_has "asking the JVM for its threads"
check "it says why" log_has "the JobManager hangs: Flink's REST API has not answered for [0-9]+ s, and no checkpoint has completed"
check "the process is another one" not kill -0 "$jm"
check "it continues from the newest checkpoint" restore_matches "$(status .launch.restorePoint.path)"
check "of the job that hung" grep -q "$job" <(status .launch.restorePoint.path)
check "the attempt has counted, and the proof has settled it" status_is '.attempts.failed == 0'

# ---- out of reach
check "drey is asked to end" end_drey TERM
await "drey has ended" drey_has_ended
MUST_LIVE=()
DREY_CONF[flink.restAddress]=$FAR
start_drey
MUST_LIVE=(jm tm)
await "the job runs, which drey cannot see" job_runs
job=$(status .jobId)
number=$(status .launch.number)
jm=$(jm_pid)
await "it completes checkpoints" newer_than "$job" "$(checkpoints_of "$job")"
sleep $((2 * AFTER_S))
check "it is left alone as long as it does" test "$(jm_pid)" = "$jm"
dumps=$(grep -c 'Full thread dump' "$RUN/log/jm.log")
MUST_LIVE=(jm)
mapfile -t tms < <(tm_pid)
kill -TERM "${PIDS[tm]}" "${tms[@]}" 2>/dev/null
await "without a TaskManager it shows nothing any more: another launch" status_is ".launch.number > $number"
check "its threads are in the log" test "$(grep -c 'Full thread dump' "$RUN/log/jm.log")" -gt "$dumps"
check "the state was continuous all the time" continuity
e2e_end
