#!/usr/bin/env bash
#
# A main() that is held, the other ways: the class from a manifest, the job in usrlib, by --jars and in both, a configuration that a
# program may not change, state that may be left out, a main() that throws, SIGTERM, and the end as drey configures it. A program
# in Python, which Flink does not let wait.
#
# runs in: all

# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"
# shellcheck source=tests/e2e/held_lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/held_lib.sh"

number=0

# The next JobManager, with an id of its own.
hold() { # WHAT CLASS [OPTION...]
	number=$((number + 1))
	id=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa$(printf %02d "$number")
	start_held "$id" "${@:2}"
	MUST_LIVE=(jm tm)
	await "held: $1" is_held
	MUST_LIVE=(tm)
}

end_jm() {
	kill -KILL "$(jm_pid)"
	wait_quietly "$WAIT_S" jm_ended
}

held_class() {
	jq -r .class "$GO.held"
}

# Says go, from $SAVEPOINT, and checks that Flink has restored exactly that.
go_and_check() {
	MUST_LIVE=(jm tm)
	go_from "$SAVEPOINT"
	await "the job runs" job_runs
	is "$(plain_path "$(checkpoints .latest.restored.external_path)")" "$(plain_path "$SAVEPOINT")" "from the savepoint"
	MUST_LIVE=(tm)
}

held_begin held-ways
start_tm_pod
mv "$RUN/flink/usrlib" "$RUN/usrlib"
jar --create --no-manifest --file "$RUN/more.jar" -C "$TOP/tests/job" build.sh
printf 'Main-Class: drey.NoSuchJob\n' >"$RUN/manifest"
jar --create --manifest "$RUN/manifest" --file "$RUN/other.jar" -C "$TOP/tests/job" build.sh

# ---- where the class comes from
mkdir "$RUN/flink/usrlib"
cp "$RUN/usrlib/job.jar" "$RUN/more.jar" "$RUN/flink/usrlib/"
hold "usrlib, the class of the manifest" ""
is "$(held_class)" drey.ContinuityJob "that of the job"
go_from ""
await "the job runs" job_runs
await "a checkpoint is complete" has_completed 1
stop_held_job

cp "$RUN/other.jar" "$RUN/flink/usrlib/"
start_held bbbbbbbbbbbbbbbbbbbbbbbbbbbbbb01 ""
await "two manifests with a class end it" jm_ended
check "which says so" said 'several jars of the job name a class in the manifest'

hold "two manifests, the class is named" drey.ContinuityJob
end_jm
hold "--jars, and a class in the manifest of another jar in usrlib" "" --jars "$JOB_JAR"
is "$(held_class)" drey.ContinuityJob "that of --jars"
rm -r "$RUN/flink/usrlib"
end_jm
hold "two of --jars, without usrlib" "" --jars "$RUN/more.jar,$JOB_JAR"
is "$(held_class)" drey.ContinuityJob "that of the manifest"
end_jm
hold "--jars, without usrlib" "" --jars "$JOB_JAR"
is "$(held_class)" drey.ContinuityJob "that of the manifest"
go_and_check
stop_held_job
mv "$RUN/usrlib" "$RUN/flink/usrlib"

# ---- a program that may not change the configuration
# the job itself sets its highest parallelism: to the same value
hold "execution.program-config.enabled: false" drey.ContinuityJob -D execution.program-config.enabled=false \
	-D pipeline.max-parallelism=128
go_and_check
await "a checkpoint is complete" has_completed 1 "$id"
stop_held_job
check "the state was continuous all the time" continuity 1

# ---- state that has no place
JOB_ARGS+=(--uid another)
hold "a job without a place for its state" drey.ContinuityJob
go_from "$SAVEPOINT"
await "ends if that is not allowed" jm_ended
hold "the same job" drey.ContinuityJob
go_from "$SAVEPOINT" true
MUST_LIVE=(jm tm)
await "runs if that is allowed" job_runs
is "$(plain_path "$(checkpoints .latest.restored.external_path)")" "$(plain_path "$SAVEPOINT")" "from the savepoint"
MUST_LIVE=(tm)
end_jm
mapfile -t JOB_ARGS < <(job_args)

# ---- what Flink takes for Python: why drey refuses to hold that
mains=$(event_count MAIN)
JOB_ARGS+=(-py job.py)
start_held bbbbbbbbbbbbbbbbbbbbbbbbbbbbbb02 drey.ContinuityJob
await "with arguments of a Python program the JobManager ends" jm_ended
check "because Flink starts its own class instead of ours" said 'PackagedProgramUtils.getPythonJar'
check "which is not held" test ! -e "$GO.held"
is "$(event_count MAIN)" "$mains" "and main() was not called"
mapfile -t JOB_ARGS < <(job_args)

# ---- ends
control throw-in-main
hold "a main() that will throw" drey.ContinuityJob
go_from "$SAVEPOINT"
await "it throws, and the JobManager ends" jm_ended
check "with the exception of the user" said 'Caused by: java.lang.IllegalStateException: main\(\) threw on purpose'
check "which is not wrapped" not said 'InvocationTargetException'
uncontrol throw-in-main

as_drey=(-D execution.shutdown-on-application-finish=false -D execution.submit-failed-job-on-application-error=true)
hold "as drey configures the end" drey.ContinuityJob "${as_drey[@]}"
MUST_LIVE=(jm tm)
go '{"schema": 1, "go": false, "why": "test"}'
await "a job that is not to start has FAILED" job_is FAILED
MUST_LIVE=(tm)
end_jm

hold "SIGTERM while held" drey.ContinuityJob
kill -TERM "$(jm_pid)"
await "the JobManager ends" jm_ended
diag "with status $(exit_status jm)"
e2e_end
