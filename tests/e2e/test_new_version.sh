#!/usr/bin/env bash
#
# A new version of the job whose state does not fit, and one of a job that has finished: neither silently starts empty, or
# from older state; and a person can always resume. At first, there is no TaskManager.
#
# runs in: test on 1.20.0

# shellcheck disable=SC2119 # lib.sh has functions whose arguments are optional
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"

# A new container of this generation.
start_generation() { # GENERATION [JOB_ARG...]
	DREY_CONF[generation]=$1
	shift
	drey_conf "$@"
	start_drey --grace 120 # time for a savepoint on a loaded machine
	MUST_LIVE=(jm tm)
}

# From what the launches of a generation were started: how often, and where.
restore_points() { # GENERATION
	jq -r --arg generation "$1" '.launches[] | select(.generation == $generation) | .restorePoint.path // "nothing"' \
		"$RUN/state/journal.json" | uniq -c | awk '{ print $1, $2 }'
}

e2e_begin new-version
DREY_CONF[onSigterm]=upgrade
# A Flink 1 often ends before anybody can ask it for the cause; where that is known, two failures alike are enough.
case $FLINK_VERSION in
1.*) DREY_CONF[attempts.max]=2 ;;
*) DREY_CONF[attempts.max]=5 ;;
esac
DREY_CONF[attempts.backoffFirst]=200ms

# ---- S59: Flink says RUNNING, and there is no TaskManager
start_generation g1
MUST_LIVE=(jm)
await "Flink has scheduled the job" status_is '.job.state == "RUNNING" and (.reason | contains("not all its tasks are running yet"))'
check "that is not running" phase_is Launching
start_tm_pod
MUST_LIVE=(jm tm)
await "with a TaskManager the job runs" phase_is Running
await "the launch is proven" status_is .launch.proven

# ---- S44, S45: the state cannot be restored
job=$(status .jobId)
end_drey TERM
is "$(exit_status jm)" 0 "an upgrade: the container ends with status 0"
start_generation g2 --uid another
await "the state has no place in the new version: drey gives up" phase_is Failed
saved=$(status .lastSavepoint.path)
is "$(restore_points g2)" "2 $saved" "after two attempts, both from the savepoint"
case $FLINK_VERSION in
1.*) # it ends by itself, half a second after its job has failed: on a loaded machine nobody can ask it for the cause
	check "that is in the status" status_is '.outcome.reason | contains("the job failed: ") or contains("exit status 2: ")' ;;
*) check "the root cause is in the status" \
	status_is '.outcome.reason | test("^2 failed attempts, all of them alike: .*Cannot map checkpoint/savepoint state")' ;;
esac
is "$(event_count RESTORED) $(jm_pid)" "1 " "the new version has never run"
end_drey TERM
start_generation g1
await "the version before comes back: the job runs" runs_after "$job"
check "from exactly that savepoint" restore_matches "$saved"

# ---- S58: the job finishes, and there is a new version
await "the launch is proven" status_is .launch.proven
launches=$(status .launch.number)
control finish
await "the job comes to its end" phase_is Finished
uncontrol finish
end_drey TERM
start_generation g3
await "the next version: still Finished" phase_is Finished
is "$(status .launch.number) $(jm_pid)" "$launches " "nothing was launched"
drey resume >"$RUN/said" 2>"$RUN/log/cli.log"
is "$? $(status .phase)" "4 Holding" "drey resume: drey holds, because Flink has deleted the last checkpoints"
check "it says what a person can do" grep -qF "drey resume --from $saved" "$RUN/log/cli.log"
is "$(status .launch.number) $(jm_pid)" "$launches " "nothing was launched"
check "drey resume --empty" drey resume --empty
check "the next version runs" status_is '.phase == "Running" and .launch.generation == "g3"'
is "$(status '.launch.restorePoint == null') $(last_event RESTORED count)" "true 0" "from nothing, as it was said"
await "the launch is proven" status_is .launch.proven
check "nothing else was started without state" continuity 2
e2e_end
