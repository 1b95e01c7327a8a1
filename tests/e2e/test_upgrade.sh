#!/usr/bin/env bash
#
# Another generation, a bad one, the rollback; and what others do to the job without drey.
#
# runs in: test on 2.3.0

# shellcheck disable=SC2119 # lib.sh has functions whose arguments are optional
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"

# A new container of this generation.
start_generation() { # GENERATION
	DREY_CONF[generation]=$1
	start_drey --grace 120 # time for a savepoint on a loaded machine
	MUST_LIVE=(jm tm)
}

savepoints_of() { # JOB
	find "$RUN/sp" -maxdepth 1 -name "savepoint-${1:0:6}-*"
}

e2e_begin upgrade
DREY_CONF[onSigterm]=upgrade
DREY_CONF[attempts.max]=2
DREY_CONF[attempts.backoffFirst]=500ms
drey_conf
start_tm_pod
start_generation g1
await "the job runs" phase_is Running
await "the launch is proven" status_is .launch.proven

# ---- S40: a savepoint of somebody else
job=$(status .jobId)
rest_send POST "/jobs/$job/savepoints" "{\"target-directory\": \"file://$RUN/elsewhere\", \"cancel-job\": false}" >/dev/null
await "a savepoint of somebody else is recorded" status_is '.lastSavepoint.origin == "found"'
check "it is the one" test -e "$(plain_path "$(status .lastSavepoint.path)")/_metadata"

# ---- S50, S52: a bad image, and back
end_drey TERM
is "$(exit_status jm)" 0 "an upgrade: the container ends with status 0"
saved=$(savepoints_of "$job")
check "with a savepoint" verify "$saved"
control throw-in-main
start_generation g2
await "the next generation is bad: drey gives up" phase_is Failed
end_drey TERM
uncontrol throw-in-main
start_generation g1
await "the one before comes back: the job runs" runs_after "$job"
check "from the savepoint of the upgrade" restore_matches "$saved"
await "the launch is proven" status_is .launch.proven

# ---- S54: the bad one is remembered
job=$(status .jobId)
end_drey TERM
saved=$(savepoints_of "$job")
start_generation g2
await "the bad one is not tried again" phase_is Failed
check "it says why" status_is '.reason | contains("generation g2 has used up its attempts")'
is "$(jm_pid)" "" "nothing was launched"
check "a person may: drey resume" drey resume
check "the job continues from the savepoint" restore_matches "$saved"
await "the launch is proven" status_is .launch.proven

# ---- S40: a cancel and a stop of somebody else
job=$(status .jobId)
rest_send PATCH "/jobs/$job?mode=cancel" >/dev/null
await "cancelled by somebody else: Cancelled" phase_is Cancelled
end_drey TERM
start_generation g2
await "and so it stays in the next container" phase_is Cancelled
check "drey resume" drey resume
check "the job continues from the newest snapshot" restore_matches "$(newest_snapshot "$job")"
await "the launch is proven" status_is .launch.proven
job=$(status .jobId)
rest_send POST "/jobs/$job/stop" "{\"targetDirectory\": \"file://$RUN/elsewhere\", \"drain\": false}" >/dev/null
await "stopped by somebody else: Cancelled" phase_is Cancelled
check "the savepoint is named" status_is '.outcome.reason | contains("stopped from outside drey, with")'
saved=$(status .lastSavepoint.path)
check "and is the one of that job" test "${saved#*savepoint-"${job:0:6}"}" != "$saved"
check "drey resume" drey resume
check "the job continues from exactly that" restore_matches "$saved"
check "the state was continuous all the time" continuity
e2e_end
