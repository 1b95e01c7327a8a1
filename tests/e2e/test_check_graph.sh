#!/usr/bin/env bash
#
# `drey check` lets the new version of a job be built, and compares it with the newest state, while the old version runs: what does
# not fit is named, and nothing is stopped, submitted or left behind.
#
# runs in: ci on 2.3.0

# shellcheck disable=SC2119 # lib.sh has functions whose arguments are optional
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"
# shellcheck source=tests/e2e/check_lib.sh
. "$E2E_DIR/check_lib.sh"

no_other_jvm() {
	[ "$(run_pids 'StandaloneApplicationClusterEntryPoint' | wc -l)" -eq 1 ]
}

e2e_begin check-graph
export TMPDIR=$RUN/tmp # another test may build a graph at the same time
mkdir "$TMPDIR"
held_jar
"$TOP/tests/job/build.sh" "$FLINK" "$RUN/flink/usrlib/handover.jar" HandoverJob
DREY_CONF[generation]=g1
drey_conf
start_drey
start_tm
MUST_LIVE=(jm tm)
await "the job runs" phase_is Running
await "the launch is proven" status_is .launch.proven
job=$(job_id)
mapfile -t args < <(job_args)

check_new -- "${args[@]}" --rate 50
is "$STATUS" 0 "the same operators fit"
check "all are counted" says '3 operators: 3 are in the snapshot, 0 are new'
check "the settings of the job are no reason for a warning" eval '! says "the code of the job"'
is "$(event_count MAIN)" 2 "its main() has run, with its side effects"
check "there are enough slots" says 'slots          enough: it needs 1, and there are 1'

flink_jm_argv "$RUN"
more=$(yaml_list "${FLINK_JM_ARGV[@]}" -D parallelism.default=3)
check_new "flink.command=$more" -- "${args[@]}"
is "$STATUS" 0 "more subtasks than slots are no reason to refuse"
check "but they are said, with what to do" says 'too few: it needs 3 slots, and there is 1 (1 TaskManager); the job will not run until there are more: add TaskManagers in the same step'
WARN=(--task-managers 2)
check_new "flink.command=$more" -- "${args[@]}"
check "what the new version will have counts" says 'it needs 3 slots, and there are 2 (2 TaskManagers)'
WARN=(--task-managers 2)
check_new "flink.command=$(yaml_list "${FLINK_JM_ARGV[@]}" -D parallelism.default=3 -D taskmanager.numberOfTaskSlots=2)" -- "${args[@]}"
check "with its slots" says 'enough: it needs 3, and there are 4'
WARN=()
check_new "flink.command=$(yaml_list "${FLINK_JM_ARGV[@]}" -D parallelism.default=3 -D jobmanager.scheduler=adaptive)" -- "${args[@]}"
check "the adaptive scheduler would run it with fewer" says 'the job will run with fewer subtasks until there are more'
check_new "flink.command=$(yaml_list "${FLINK_JM_ARGV[@]}" -D parallelism.default=3 -D scheduler-mode=reactive)" -- "${args[@]}"
check "in reactive mode the slots decide" eval '! says " slots "'

for how in async twice; do
	check_new -- "${args[@]}" --execute "$how"
	is "$STATUS" 0 "so with execute $how"
	check "the first job is compared" says '3 operators: 3 are in the snapshot, 0 are new'
done

check_new -- "${args[@]}" --uid another
is "$STATUS" 4 "an operator under another id is refused"
check "it is named" says "id b71731f1c0df9c3076c4a455334d0ad6"
case $FLINK_VERSION in
1.*) check "and what to do" says "give an operator its uid" ;; # its snapshots have no names
*) check "and what to do" says "give it the uid 'count'" ;;
esac
WARN=(--allow-non-restored-state)
check_new -- "${args[@]}" --uid another
is "$STATUS" 0 "unless it may be left out"
check "which is said" says 'state is left out, as requested'
WARN=()

check_new -- "${args[@]}" --code execution.checkpointing.externalized-checkpoint-retention=DELETE_ON_CANCELLATION
is "$STATUS" 0 "a job whose checkpoints Flink deletes is built"
check "that its code sets it is a warning" says 'let the code set RETAIN_ON_CANCELLATION, or nothing (retention DELETE_ON_CANCELLATION)'

check_new -- "${args[@]}" --also more
is "$STATUS" 0 "one more operator fits"
check "it is counted as new" says ' 1 are new'

check_new flink.jobClass=drey.HandoverJob -- --output "$RUN/out" --t0 1 --throw-in-main
is "$STATUS" 4 "a main() that throws is refused"
check "in its own words" says 'the new job cannot be built: java.lang.IllegalStateException: main() threw on purpose'

mkdir "$RUN/hang"
: >"$RUN/hang/hold-main"
check_new flink.jobClass=drey.HandoverJob check.graphTimeout=6s -- --output "$RUN/out" --t0 1 --control "$RUN/hang"
is "$STATUS" 4 "so is one that hangs"
check "with the key for the time" says 'was not built within check.graphTimeout'
check "its JVM is ended" no_other_jvm

check_new flink.jobClass=drey.NoSuchJob
is "$STATUS" 4 "and a class that is not there"
check "which is named" says 'drey.NoSuchJob'

check_new flink.jobClass=drey.HandoverJob -- --output "$RUN/out" --t0 1
is "$STATUS" 4 "another job is refused"
check "all of its state is left out" says 'operators do not fit'

check_new flink.jobClass=drey.HandoverJob check.graph=false -- --output "$RUN/out" --t0 1
is "$STATUS" 0 "without the comparison it passes"
WARN=(--warn)
check_new flink.jobClass=drey.HandoverJob -- --output "$RUN/out" --t0 1
is "$STATUS" 0 "and so with --warn"
check "which says it all the same" says 'operators do not fit'
WARN=()

rm "$RUN/flink/lib/drey-held.jar"
check_new flink.jobClass=drey.HandoverJob -- --output "$RUN/out" --t0 1
is "$STATUS" 0 "without the jar nothing is compared"
check "which is said" says 'not compared: drey-held.jar is not'

check "nothing is left behind" eval '! ls -d "$TMPDIR"/drey-graph.?????? 2>/dev/null'
is "$(job_id)" "$job" "the job has run on all the time"
check "its state was continuous" continuity 1
e2e_end
