#!/usr/bin/env bash
#
# Where a job continues after a stop with savepoint. Plain Flink deletes its HA data with the stop, and then starts from
# its arguments: from the old savepoint. The same story with drey: from the savepoint of the stop. And how drey ends a Flink
# whose job it has stopped.

# shellcheck disable=SC2119,SC2154,SC2317 # functions with optional arguments; keys of DREY_CONF; functions that are waited for
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/api/lib.sh
. "$TOP/tests/api/lib.sh"
# shellcheck source=tests/api/ha_lib.sh
. "$TOP/tests/api/ha_lib.sh"

e2e_begin ha-stop
api_begin ha-stop
ha_begin
mapfile -t args < <(job_args)
start_tm_pod
MUST_LIVE=(jm tm)

plain_flink() { # JOB OPTION...
	local job=$1
	shift
	start_bare_jm --job-id "$job" "$@" --job-classname drey.ContinuityJob -- "${args[@]}"
}

# Sets `third`. A Flink that was stopped ends by itself, and then answers no more where its savepoint is.
another_savepoint() { # FIRST
	third=$(find "${1%/*}" -mindepth 2 -name _metadata ! -path "$1/*" -printf '%h\n') && [ -d "$third" ]
}

a_savepoint() { # JOB TRIGGER: sets `first`
	first=$(plain_path "$(rest "jobs/$1/savepoints/$2" .operation.location)") && [ -d "$first" ]
}

# Prints the trigger.
ask_flink() { # stop|savepoints JOB
	rest_send POST "jobs/$2/$1" '{}' | jq --raw-output '."request-id"'
}

restored() {
	plain_path "$(checkpoints .latest.restored.external_path)"
}

# ---- plain Flink -----------------------------------------------------------------------------------

old=$(job_id_of 0) job=$(job_id_of 1)
plain_flink "$old"
await "a first job runs" job_runs
await "and has checkpoints" has_completed 1 "$old"
await "it leaves the savepoint T1" a_savepoint "$old" "$(ask_flink savepoints "$old")"
MUST_LIVE=(tm)
kill -KILL "$(jm_pid)"
await "it is gone" test -e "$RUN/jm.status"
kubectl delete configmap "$(cluster_map)" "$(job_map "$old")" >/dev/null

MUST_LIVE=(jm tm)
plain_flink "$job" --fromSavepoint "$first"
await "plain Flink: the job starts from T1" job_runs
is "$(restored)" "$first" "as its arguments say"
await "and goes on" has_completed 2 "$job"
check "Flink keeps what it would recover from" has_map "$(job_map "$job")"
MUST_LIVE=(tm)
ask_flink stop "$job" >/dev/null
await "it is stopped with the savepoint T3" another_savepoint "$first"
await "and what it would recover from is deleted" not has_map "$(job_map "$job")"
# Flink's own race: now and then it loses its lock before it has cleaned up all, and then its JVM does not end
if ! wait_quietly 30 test -e "$RUN/jm.status"; then
	diag "the JobManager does not end by itself"
	kill -KILL "$(jm_pid)"
	await "it is gone" test -e "$RUN/jm.status"
	kubectl delete configmap "$(cluster_map)" >/dev/null
	rm -rf "$RUN/ha/job-result-store"
fi

MUST_LIVE=(jm tm)
plain_flink "$job" --fromSavepoint "$first"
await "started again with the same arguments, the job runs" job_runs
is "$(restored)" "$first" "from T1: all since then is lost"
MUST_LIVE=(tm)
kill -KILL "$(jm_pid)"
await "it is gone" test -e "$RUN/jm.status"
kubectl delete configmap "$(cluster_map)" "$(job_map "$job")" >/dev/null
: >"$EVENTS"

# ---- with drey -------------------------------------------------------------------------------------

DREY_CONF[kubernetes.salt]=drey # other ids than those above
api_role --set drey.kubernetes.salt=drey || diag "no Role"
DREY_CONF[flink.checkpointDirectory]=file://$RUN/drey/ck
DREY_CONF[flink.savepointDirectory]=file://$RUN/drey/sp
DREY_CONF[restore]="{initialSavepoint: 'file://$first'}"
mkdir -p "$RUN/drey/ck" "$RUN/drey/sp"
MUST_LIVE=(jm tm)
start_drey
await "drey: the job starts from T1" phase_is Running
is "$(restored)" "$first" "as is configured"
await "and goes on" status_is .launch.proven
job=$(status .jobId)
third=$(plain_path "$(drey suspend 2>>"$RUN/log/cli.log")")
check "it is stopped with the savepoint T3" test -e "$third/_metadata"
check "and what Flink would recover from is gone" not has_map "$(job_map "$job")"
end_drey TERM
MUST_LIVE=(jm tm)
start_drey
await "the container is started again, with the same configuration" phase_is Suspended
check "drey resume" drey resume
is "$(restored)" "$third" "from T3"

# ---- a restart: the next start waits for the end of Flink, which is killed once it has cleaned up, and not before

await "it goes on" status_is .launch.proven
job=$(status .jobId)
resumed=$(grep -n "launch [0-9]*, job id $job" "$RUN/log/jm.log" | head -n 1 | cut -d: -f1)
since_resumed() { # TEXT
	tail -n "+$resumed" "$RUN/log/jm.log" | grep --quiet -F "$1"
}
await "drey knows the owner of the leader lock" since_resumed "Flink's leader lock is known"
check "drey restart" drey restart
check "Flink had cleaned up" since_resumed "Flink has cleaned up after its job: ending it at once"
check "and was killed" since_resumed "SIGKILL"
await "its lock is released, as that of any dead Flink" since_resumed "released the leader lock of the dead Flink"
results=$(find "$RUN" -name "${job}*.json" ! -path "$RUN/state/*" -printf '%f ')
is "$results" "$job.json " "its result is recorded, and nothing of it is left to do"
check "what Flink would recover from is gone" not has_map "$(job_map "$job")"
is "$(find "$RUN/drey/ck/$job" -type f)" "" "and so are its checkpoints"
check "the job runs from the savepoint of the stop" test "$(restored)" = "$(plain_path "$(status .launch.restorePoint.path)")"
is "$(status .attempts.failed)" 0 "that was no failure"
is "$(api_denied)" "" "nothing was asked for that the Role does not allow"
e2e_end
