#!/usr/bin/env bash
#
# The code of the job has the last word about its settings, whatever Flink's configuration says. drey looks at what runs: a job whose
# Flink deletes its checkpoints when it shuts down is ended so that it cannot; one whose checkpoints have no directory of their own
# holds after a crash, instead of going back to the last one that drey has seen; the first checkpoint of a launch is read while the
# job runs. (Flink 1.20 ignores execution.checkpointing.create-subdir in the code of a job.)
#
# runs in: all on 2.3.0

# shellcheck disable=SC2119 # lib.sh has functions whose arguments are optional
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"

e2e_begin job_code

condition_is() { # TYPE STATUS REASON
	[ "$(status '.conditions[] | select(.type == "'"$1"'") | "\(.status) \(.reason)"')" = "$2 $3" ]
}

# The checkpoints of the job that are there, by their numbers.
checkpoints_in() { # DIRECTORY
	find "$1" -path '*/chk-*/_metadata' -printf '%h\n' | sed 's/.*chk-//' | sort -n
}

# ---- the code says: the checkpoints go when the job is cancelled, as Flink does when its JobManager gets SIGTERM
drey_conf --code execution.checkpointing.externalized-checkpoint-retention=DELETE_ON_CANCELLATION
start_tm_pod
start_drey
await "the job runs" status_is .launch.proven
JOB=$(status .jobId)
await "drey has seen that its code deletes checkpoints" condition_is SettingsOverridden True CheckpointsDeleted
check "the job is as ready as any" status_is '.phase == "Running"'
await "the first checkpoint of the launch was read, and is complete" condition_is CheckpointsUnusable False Verified
await "checkpoints are complete" has_completed 5 "$JOB"
end_drey TERM
check "Flink was not told to shut down" grep -q 'Flink is killed and gets no SIGTERM' "$RUN/log/jm.log"
newest=$(checkpoints_in "$RUN/ck/$JOB" | tail -n 1)
check "its checkpoints are there" test "${newest:-0}" -ge 5
start_drey
await "it goes on" status_is '.launch.proven and .launch.number == 2'
is "$(status .launch.restorePoint.path)" "file:$RUN/ck/$JOB/chk-$newest" "from the newest"
check "with its count" restore_matches "$(status .launch.restorePoint.path)"

# ---- the same end by another word: suspended with a savepoint, Flink may delete them
check "a stop with savepoint is as ever" drey suspend --timeout 90s
await "suspended" phase_is Suspended
savepoint=$(status .lastSavepoint.path)
end_drey TERM

# ---- the code says: no directory for each job
drey_conf --code execution.checkpointing.create-subdir=false
start_drey
await "it stays suspended" phase_is Suspended
check "resume" drey resume
await "the job runs, from the savepoint" status_is ".launch.proven and .launch.restorePoint.path == \"$savepoint\""
JOB=$(status .jobId)
await "drey has seen where its checkpoints are" condition_is CheckpointsElsewhere True NoDirectory
await "more of them are complete" has_completed $(($(status .lastCheckpoint.id) + 6)) "$JOB"
end_drey KILL
await "nothing of Flink is left" test -z "$(jm_pid)"
newest=$(checkpoints_in "$RUN/ck" | tail -n 1)
start_drey
await "nothing is started from an older one: it holds" status_is '.phase == "Holding" and .cause == "CheckpointsOutOfSight"'
check "the newest is named" status_is ".reason | contains(\"chk-$newest\")"
newest=$(find "$RUN/ck" -maxdepth 2 -type d -name "chk-$newest")
check "a person chooses it" drey resume --from "file:$newest"
await "it goes on from there" status_is ".launch.proven and (.launch.restorePoint.path | endswith(\"${newest##*/}\"))"
check "no count was lost, and none repeated" continuity 1
e2e_end
