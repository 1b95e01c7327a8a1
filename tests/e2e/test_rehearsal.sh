#!/usr/bin/env bash
#
# The rehearsal of JVMs that wait for a job (java/held), without drey: a small job within the JobManager and within the TaskManager,
# before either of them starts. Nothing of it can be seen afterwards, and one that fails changes nothing.
#
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"
# shellcheck source=tests/e2e/held_lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/held_lib.sh"

first=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa01
second=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa02

said_by() { # PROCESS REGEX
	grep -qE -- "$2" "$RUN/log/$1.log"
}

# of the last start: one JobManager after the other has the same log
rehearsed() { # PROCESS COUNT
	[ "$(grep -c 'drey: the rehearsal is over' "$RUN/log/$1.log")" -eq "$2" ]
}

nothing_is_left() {
	local left
	left=$(find "$RUN/tmp" -maxdepth 1 -name 'drey-rehearsal*')
	[ -z "$left" ] || printf 'left: %s\n' "$left"
	[ -z "$left" ]
}

held_begin rehearsal
export DREY_REHEARSE=1
start_tm_pod
start_held "$first" drey.ContinuityJob
MUST_LIVE=(jm tm)
await "main() is held" is_held
await "the TaskManager is registered, and there is no job" held_with_slots
check "the JobManager has rehearsed" rehearsed jm 1
check "so has the TaskManager" rehearsed tm 1
check "neither has failed" eval '! said_by jm "the rehearsal has failed" && ! said_by tm "the rehearsal has failed"'
check "the second job was restored from the savepoint of the first" said_by jm 'Starting job [0-9a-f]+ from savepoint .*/drey-rehearsal'
check "both have looked at the directory of the savepoints" eval 'said_by jm "the file system of file:.*/sp is ready" &&
	said_by tm "the file system of file:.*/sp is ready"'
check "what they wrote is gone" nothing_is_left
is "$(event_count MAIN)" 0 "the user's main() was not called"
go_from ""
await "the job starts" job_runs
is "$(job_id)" "$first" "under the id that it was given"
is "$(rest jobs '.jobs | length')" 1 "as the only job"
await "a checkpoint is complete" has_completed 1 "$first"
stop_held_job

MUST_LIVE=(tm)
start_held "$second" drey.ContinuityJob
MUST_LIVE=(jm tm)
await "the next JobManager is held" is_held
check "it has rehearsed, too" rehearsed jm 2
await "its TaskManager is there" held_with_slots
go_from "$SAVEPOINT"
await "with a path the job starts" job_runs
is "$(plain_path "$(checkpoints .latest.restored.external_path)")" "$(plain_path "$SAVEPOINT")" "from exactly that savepoint"
check "the state was continuous all the time" continuity 1
MUST_LIVE=(tm)
kill -KILL "$(jm_pid)"
await "this JobManager is killed" jm_ended
start_held "$second" drey.ContinuityJob
MUST_LIVE=(jm tm)
await "a new one runs the job" job_runs
check "without another rehearsal: the job was waiting" rehearsed jm 2
MUST_LIVE=(tm)
kill -KILL "$(jm_pid)"
await "it is killed" jm_ended

# what the rehearsal needs is broken, and the job does not need it
printf 'state.backend.type: no.such.Backend\n' >>"$RUN/conf/config.yaml"
start_held aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa03 drey.ContinuityJob
MUST_LIVE=(jm tm)
await "main() is held after a rehearsal that has failed" is_held
check "which was said" said_by jm 'drey: the rehearsal has failed after [0-9]+ ms, so the job will start more slowly'
check "it is not over" rehearsed jm 2
check "what it wrote is gone" nothing_is_left

e2e_end
