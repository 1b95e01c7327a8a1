#!/usr/bin/env bash
#
# What people request: savepoints, restart, suspend and resume, cancel, do-not-restart, a launch from a named snapshot or
# empty, and the end of the container.
#
# runs in: test on 1.20.0

# shellcheck disable=SC2119 # lib.sh has functions whose arguments are optional
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"

# A command of drey; `said` is what it has printed on stdout.
drey_says() { # COMMAND [ARG...]
	drey "$@" >"$RUN/said" 2>>"$RUN/log/cli.log"
}

said() {
	cat "$RUN/said"
}

launch_number() {
	status .launch.number
}

newest_in_storage() {
	find "$RUN/sp" -name _metadata -printf '%T@ %h\n' | sort -n | tail -n 1
}

# In which format its _metadata says that it was written.
format_of() { # SAVEPOINT
	"$BUILD/drey" inspect "$(plain_path "$1")" 2>>"$RUN/log/cli.log" | awk 'NR == 1 { print $1 }'
}

journal_lacks() { # PATH
	! grep -qF "$1" "$RUN/state/journal.json"
}

e2e_begin operations
DREY_CONF[savepoints.interval]=3s
DREY_CONF[savepoints.retention]='{count: 2}'
drey_conf
start_tm_pod
start_drey
MUST_LIVE=(jm tm)
await "the job runs" phase_is Running

# ---- savepoints; S66: the old ones go
await "a periodic savepoint comes by itself" status_is '.lastSavepoint.origin == "periodic" and .lastSavepoint.verified'
periodic=$(status .lastSavepoint.path)
check "it is complete" verify "$periodic"
await "and another one" status_is ".lastSavepoint.path != \"$periodic\""
check "drey savepoint" drey_says savepoint
manual=$(said)
is "$(status '.lastSavepoint.origin')" manual "it is on record"
is "$(status .lastSavepoint.path)" "$manual" "at the place that was printed"
is "$(status .lastSavepoint.format) $(format_of "$manual")" "canonical canonical" "in the format that any version can read"
check "it is complete" verify "$manual"
manual_count=$(snapshot_count "$(status .jobId)" "$(status .lastSavepoint.checkpointId)")
await "the oldest periodic savepoint is disposed of" not test -e "$(plain_path "$periodic")"
await "and forgotten" journal_lacks "$periodic"

# ---- S37: the container ends and comes back, onSigterm: keep
job=$(status .jobId) last=$(newest_in_storage)
end_drey TERM
is "$(exit_status jm)" 0 "SIGTERM: the container ends with status 0"
is "$(newest_in_storage)" "$last" "no savepoint was taken"
DREY_CONF[savepoints.interval]=0
DREY_CONF[onSigterm]=savepoint
start_drey
MUST_LIVE=(jm tm)
await "started again, the job runs" runs_after "$job"
check "from the newest snapshot" restore_matches "$(newest_snapshot "$job")"

# ---- restart
await "the launch is proven" status_is .launch.proven
job=$(status .jobId)
check "drey restart" drey_says restart
check "it is another job" test "$(status .jobId)" != "$job"
check "from the savepoint of the stop" restore_matches "$(status .lastSavepoint.path)"
is "$(status .lastSavepoint.origin)" stop "which was taken for that"
is "$(status .lastOperation.format) $(format_of "$(status .lastSavepoint.path)")" "native native" "in the fast format: the same version follows"

# ---- suspend and resume
await "the launch is proven" status_is .launch.proven
check "drey suspend" drey_says suspend
suspended=$(said)
is "$(status .lastSavepoint.format) $(format_of "$suspended")" "canonical canonical" "the savepoint is canonical: anything may follow"
check "the job is suspended" phase_is Suspended
is "$(jm_pid)" "" "Flink has ended"
check "the savepoint is complete" verify "$suspended"
is "$(drey savepoint 2>&1 >/dev/null | grep -c 'no job is running (Suspended')" 1 "drey savepoint says that no job runs"
drey_says suspend
is "$? $(status .launch.number)" "0 3" "to suspend once more changes nothing"
check "drey resume" drey_says resume
check "it prints what it restored" grep -qF "restored savepoint $suspended" "$RUN/said"
check "exactly that savepoint was restored" restore_matches "$suspended"

# ---- cancel and resume
await "the launch is proven" status_is .launch.proven
job=$(status .jobId)
check "drey cancel" drey_says cancel
check "the job is cancelled" phase_is Cancelled
is "$(jm_pid)" "" "Flink has ended"
is "$(status '.lastSavepoint.origin')" stop "no savepoint was taken for it"
check "drey resume" drey_says resume
check "the job continues from the newest retained checkpoint" restore_matches "$(newest_retained "$job")"

# ---- do-not-restart
await "the launch is proven" status_is .launch.proven
job=$(status .jobId)
check "drey do-not-restart on" drey_says do-not-restart on
check "the job runs on" phase_is Running
drey_says restart
is "$?" 3 "and is not restarted, for it could not be started again"
kill -KILL "$(jm_pid)"
await "JobManager killed: drey does not start it" phase_is Holding
check "it says why" status_is '.reason | contains("do-not-restart")'
is "$(jm_pid) $(launch_number)" " 5" "nothing was launched"
check "drey do-not-restart off" drey_says do-not-restart off
await "the job is started again" runs_after "$job"
check "from the newest retained checkpoint" restore_matches "$(newest_retained "$job")"

# ---- the container ends and comes back, onSigterm: savepoint
await "the launch is proven" status_is .launch.proven
job=$(status .jobId) sum=$(find "$RUN/sp" -name _metadata | wc -l)
end_drey TERM
is "$(exit_status jm)" 0 "SIGTERM: the container ends with status 0"
is "$(find "$RUN/sp" -name _metadata | wc -l)" $((sum + 1)) "a savepoint was taken"
newest=$(find "$RUN/sp" -name "savepoint-${job:0:6}-*")
check "it is complete" verify "$newest"
start_drey
MUST_LIVE=(jm tm)
await "started again, the job runs" runs_after "$job"
check "from that savepoint" restore_matches "$newest"
check "it says when that was complete" status_is \
	'.launch | .restorePoint.completedUnixMs as $at | $at < .startedUnixMs and $at > .startedUnixMs - 600000'
check "the state was continuous all the time" continuity

# ---- S2, S8, S21: what a person names; S57: a checkpoint is newer than it
drey resume --from "$manual" >"$RUN/log/cli.log" 2>&1
is "$? $(grep -c 'drey cancel' "$RUN/log/cli.log")" "1 1" "a running job is not replaced; the message says what to do"
check "drey cancel" drey_says cancel
check "drey resume --from an older savepoint" drey_says resume --from "$manual"
check "exactly that one was restored" restore_matches "$manual"
is "$(last_event RESTORED count)" "$manual_count" "with the count that it holds"
await "the launch is proven" status_is .launch.proven
job=$(status .jobId)
kill -KILL "$(jm_pid)"
await "JobManager killed: drey starts another job" runs_after "$job"
check "from the newest checkpoint of that branch, not of the abandoned one" restore_matches "$(newest_retained "$job")"
check "drey cancel" drey_says cancel
check "drey resume --empty" drey_says resume --empty
is "$(status '.launch.restorePoint == null')" true "it started empty"
is "$(last_event RESTORED count)" 0 "and counts from 0"
check "nothing else started without state" continuity 2
e2e_end
