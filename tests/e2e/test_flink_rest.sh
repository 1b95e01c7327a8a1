#!/usr/bin/env bash
#
# What drey assumes about Flink, verified on a real one of $FLINK_VERSION: the command line that drey builds, the
# responses of the REST API, the exit statuses. Without drey, only with its Flink room (flink_driver.c). If a new Flink
# makes this fail, change docs and agent/flink/ before drey can be trusted with it.
#
# runs in: test on 1.20.0

# shellcheck disable=SC2317 # functions are called by name

# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"

job_1=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa01
job_2=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa02
nobody=ffffffffffffffffffffffffffffffff
e2e_begin flink-rest
mapfile -t args < <(job_args)

case $FLINK_VERSION in
1.*) main_threw=2 bad_restore=2 ;; # fatal error
*) main_threw=163 bad_restore=163 ;; # application FAILED
esac

# ---- the driver ------------------------------------------------------------------------------------

driver=$BUILD/tests/e2e/flink_driver

ask() { # CALL ARG...
	"$driver" rest "http://127.0.0.1:$REST_PORT" "$@"
}

says() { # WANT CALL ARG...: the answer begins with WANT
	local want=$1
	shift
	[[ $(ask "$@") == "$want"* ]]
}

result_of() { # JOB TRIGGER: sets RESULT to the result, once there is one
	RESULT=$(ask operation "$1" "$2") && [[ $RESULT != "ok in-progress"* && $RESULT != not-yet* ]]
}

ended() {
	exit_status jm >/dev/null
}

# As drey starts it. JM_ARGV is the whole command line.
launch() { # JOB RESTORE|- [PROGRAM_ARG...]
	local job=$1 restore=$2
	shift 2
	flink_jm_argv "$RUN"
	init_argv
	mapfile -d '' -t JM_ARGV < <("$driver" launch "$FLINK_VERSION" "$job" "file://$RUN/results" "$restore" -- \
		"${FLINK_JM_ARGV[@]}" -- "$@")
	spawn jm "${INIT_ARGV[@]}" "${JM_ARGV[@]}"
}

# As a user starts it who knows nothing of drey.
bare() { # ENTRY_POINT_OPTION... -- PROGRAM_ARG...
	start_bare_jm "$@"
}

end_jm() { # WHAT: ends a JVM that stays up
	kill -TERM "$(jm_pid)"
	await "$1: it ends on SIGTERM" ended
	is "$(exit_status jm)" 143 "$1: with status 143"
}

# ---- before anything runs ----------------------------------------------------------------------------

flink_jm_argv "$RUN"
flink_env "$RUN"
check "the version is found in the class path" \
	test "$("$driver" version "${FLINK_JM_ARGV[@]}")" = "${FLINK##*flink-}"
is "$("$driver" settings "$RUN/conf" "$FLINK_VERSION")" "file://$RUN/ck $REST_PORT 5000" \
	"Flink's configuration is read as Flink reads it"
check "nobody listens: not yet" says not-yet slots

# ---- a life ------------------------------------------------------------------------------------------

start_tm
launch "$job_1" - "${args[@]}"
MUST_LIVE=(jm tm)
# Every answer on the way up. On a busy machine a JVM that is starting may take longer than the driver waits: that is an
# error, of which drey concludes nothing. A job that is not there yet is never absent.
: >"$RUN/early"
first_ok() {
	local answer
	answer=$(ask state "$job_1")
	echo "$answer" >>"$RUN/early"
	[[ $answer == "ok RUNNING" ]]
}
answers() { # every first word, each once
	cut -d' ' -f1 "$RUN/early" | sort -u | tr '\n' ' '
}
wait_until "the job runs" "$WAIT_S" first_ok
grep '^error' "$RUN/early" | sed 's/^/# /' || :
is "$(answers | sed 's/error //')" "not-yet ok " "on the way up a job is not yet there, never absent"
check "/overview tells the slots" says ok slots
await "a checkpoint is complete" has_completed 1 "$job_1"
is "$(ask exception "$job_1")" "ok none" "a healthy job has no exception"
check "another job is absent" says "absent" state "$nobody"
check "its checkpoints too" says "absent" checkpoints "$nobody"

is "$(ask savepoint "$nobody" 01010101010101010101010101010101)" "ok accepted" \
	"a savepoint of an unknown job is accepted"
await "its status has a result" result_of "$nobody" 01010101010101010101010101010101
is "${RESULT%% FlinkJob*}" "ok failed job-unknown" "only the status tells that there is no such job"
check "an unknown trigger is absent" says "absent" operation "$job_1" 02020202020202020202020202020202

savepoint=03030303030303030303030303030303
is "$(ask savepoint "$job_1" $savepoint "file://$RUN/sp")" "ok accepted" "a savepoint is accepted"
await "it has a result" result_of "$job_1" $savepoint
location=${RESULT#ok completed }
check "it lies where it says" test -f "${location#file:}/_metadata"
is "$(ask savepoint "$job_1" $savepoint "file://$RUN/sp")" "ok accepted" "the same trigger id is accepted again"
await "it has a result again" result_of "$job_1" $savepoint
is "$RESULT" "ok completed $location" "and it is the same savepoint"
is "$(find "$RUN/sp" -mindepth 1 -maxdepth 1 | wc -l)" 1 "no second one was made"

is "$(ask stop "$job_1" $savepoint "file://$RUN/sp")" "ok accepted" "a stop with the trigger id of a savepoint is accepted"
await "it has a result" result_of "$job_1" $savepoint
is "$RESULT" "ok completed $location" "but it is that of the savepoint"
before=$(ask checkpoints "$job_1")
newer_checkpoint() {
	local now
	now=$(ask checkpoints "$job_1")
	[[ $now == ok* && $now != "$before" ]]
}
await "and the job goes on" newer_checkpoint

is "$(ask savepoint "$job_1" 04040404040404040404040404040404 file:/proc/nope)" "ok accepted" \
	"a savepoint that cannot be written is accepted"
await "it has a result" result_of "$job_1" 04040404040404040404040404040404
check "that names the directory" test "$(grep -c '^ok failed .*file:/proc/nope' <<<"$RESULT")" = 1

answer=$(ask dispose "$location")
trigger=${answer#ok }
disposed() {
	RESULT=$(ask disposal "$trigger") && [[ $RESULT != "ok in-progress"* ]]
}
await "a disposal has a result" disposed
is "$RESULT" "ok completed" "it is done"
check "the savepoint is gone" test ! -e "${location#file:}"
answer=$(ask dispose "$location")
trigger=${answer#ok }
await "a second disposal has a result" disposed
is "${RESULT:0:9}" "ok failed" "it fails"

# ---- without Flink's HA, killed and started again with a new id ---------------------------------------

before=$(ask checkpoints "$job_1")
await "a checkpoint after that" newer_checkpoint
tm=$(tm_pid)
MUST_LIVE=(tm)
kill -STOP "$(jm_pid)"
check "a Flink that hangs gives an error, not an absent job" says "error" state "$job_1"
kill -KILL "$(jm_pid)"
await "the JobManager is killed" ended
is "$(exit_status jm)" 137 "its status is 137"
restore=$(newest_retained "$job_1")
launch "$job_2" "file:$restore" "${args[@]}"
killed_ms=$(date +%s%3N)
MUST_LIVE=(jm tm)
await "REST is up again" says ok slots
up_ms=$(date +%s%3N)
has_tm() {
	rest overview '.taskmanagers == 1'
}
await "the TaskManager is back" has_tm
back_ms=$(date +%s%3N)
diag "REST up after $((up_ms - killed_ms)) ms, TaskManager back after $((back_ms - killed_ms)) ms"
check "within 10 s of the new JobManager's REST API" test $((back_ms - up_ms)) -lt 10000
is "$(tm_pid)" "$tm" "it is the same TaskManager"
await "the next job runs" job_runs
answer=$(ask checkpoints "$job_2")
is "${answer#ok completed=* }" "restored=${restore##*-} savepoint=1 path=file:$restore" \
	"Flink tells exactly what it restored, and calls a chk-N a savepoint"
check "the job of before is absent" says absent state "$job_1"
check "its operations are absent" says absent operation "$job_1" $savepoint

await "a checkpoint of the new job" has_completed 1 "$job_2"
is "$(ask stop "$job_2" 07070707070707070707070707070707 "file://$RUN/sp")" "ok accepted" "a stop is accepted"
await "it has a result" result_of "$job_2" 07070707070707070707070707070707
location=${RESULT#ok completed }
check "its savepoint is complete" test -f "${location#file:}/_metadata"
await "the job is FINISHED" says "ok FINISHED" state "$job_2"
check "the JobManager stays up" says ok slots
# until the job is archived Flink takes the request, and does nothing
await "cancelling a finished job changes nothing, and says so" says "ok ended" cancel "$job_2"
is "$(ask stop "$job_2" 08080808080808080808080808080808)" "ok accepted" "a stop of a finished job is accepted"
await "it has a result" result_of "$job_2" 08080808080808080808080808080808
is "${RESULT%% FlinkJob*}" "ok failed job-unknown" "that there is no such job"
MUST_LIVE=(tm)
end_jm "finished, all results read"

# ---- exit statuses -------------------------------------------------------------------------------------

# A TaskManager that is registering in the moment in which its JobManager dies goes on asking the dead one until
# taskmanager.registration.timeout (5 min) ends it. So none is here while JobManagers come and go in seconds.
MUST_LIVE=()
kill -TERM "$tm"
await "the TaskManager ends" exit_status tm

launch aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa03 - -n 5
await "main() that throws is a FAILED job" says "ok FAILED" state aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa03
check "the reason is there, and the program's -n was not taken for Flink's" \
	grep -q 'unknown option: -n' <<<"$(ask exception aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa03)"
end_jm "main() threw"

launch aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa04 "file://$RUN/nothing" "${args[@]}"
failed_or_ended() {
	says "ok FAILED" state aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa04 || ended
}
await "a restore path that is not there is a failure" failed_or_ended
case $FLINK_VERSION in
1.*)
	await "and the end of the JVM" ended
	is "$(exit_status jm)" 2 "with status 2"
	;;
*)
	check "the reason names it" grep -q "$RUN/nothing" <<<"$(ask exception aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa04)"
	end_jm "bad restore path"
	;;
esac

job_10=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa10
run_conf <<<"execution.state-recovery.path: $location"
bare --job-id $job_10 -D execution.shutdown-on-application-finish=false --jars "$RUN/flink/usrlib/job.jar" \
	--job-classname drey.ContinuityJob -- "${args[@]}"
await "without --fromSavepoint, Flink's file decides what is restored: drey refuses that key" \
	says "ok completed=0 restored=" checkpoints $job_10
end_jm "restored by Flink's file"
run_conf </dev/null

bare --job-id aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa05 --job-classname drey.ContinuityJob -- --throw-in-main "${args[@]}"
await "without drey's options: main() throws" ended
is "$(exit_status jm)" "$main_threw" "ends the JVM with $main_threw"

bare --job-id aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa06 --fromSavepoint "file://$RUN/nothing" --job-classname drey.ContinuityJob \
	-- "${args[@]}"
await "a bad restore path" ended
is "$(exit_status jm)" "$bad_restore" "ends it with $bad_restore"

bare --job-id zzz --job-classname drey.ContinuityJob
await "a job id that is none" ended
is "$(exit_status jm)" 1 "ends it with 1"

start_tm
MUST_LIVE=(tm)
bare --job-id aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa07 -D restart-strategy.type=none --job-classname drey.ContinuityJob \
	-- --fail-after 200 "${args[@]}"
await "a job that fails for good" ended
is "$(exit_status jm)" 163 "ends it with 163"

# longer than the statistics are cached (3 s): the result has to be there still when the job finishes
job_8=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa08
bare --job-id $job_8 -D "rest.async.store-duration=15 s" --job-classname drey.ContinuityJob -- "${args[@]}"
await "a job runs" job_runs
is "$(ask savepoint $job_8 09090909090909090909090909090909 "file://$RUN/sp")" "ok accepted" "a savepoint is accepted"
saved() {
	checkpoints '.latest.savepoint.status == "COMPLETED"'
}
await "it is complete, its result is not read" saved
control finish
await "the job finishes and the JVM ends after rest.async.store-duration" ended
is "$(exit_status jm)" 2 "with 2, although all went well"
uncontrol finish

bare --job-id aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa09 --job-classname drey.ContinuityJob -- "${args[@]}"
await "a job runs" job_runs
is "$(ask cancel aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa09)" "ok accepted" "a cancel is accepted"
await "the JVM ends" ended
is "$(exit_status jm)" 0 "with 0, as if it had finished"

e2e_end
