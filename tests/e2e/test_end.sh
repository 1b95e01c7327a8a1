#!/usr/bin/env bash
#
# How a job ends on its own: it fails, its main() throws, it finishes. What drey retries, when it gives up and says why,
# and what it never runs again.
#
# runs in: test on 2.3.0

# shellcheck disable=SC2119 # lib.sh has functions whose arguments are optional
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"

e2e_begin end
DREY_CONF[flink.properties]='{restart-strategy.type: none}'
DREY_CONF[attempts.max]=2
DREY_CONF[attempts.backoffFirst]=200ms
drey_conf
start_tm_pod
start_drey
MUST_LIVE=(jm tm)
await "the job runs" phase_is Running
await "the launch is proven" status_is .launch.proven

# ---- S47, S60, S63: the job fails
job=$(status .jobId)
control fail-once
await "the job fails once: drey starts it again" runs_after "$job"
check "from the newest retained checkpoint" restore_matches "$(newest_retained "$job")"
check "the root cause is in the status" status_is 'any(.transitions[]; .text | contains("on purpose"))'
await "the launch is proven" status_is .launch.proven
is "$(status .attempts.failed)" 0 "and the attempt is forgotten"
job=$(status .jobId)
control fail
await "it fails each time: drey gives up" phase_is Failed
is "$(status .attempts.failed)" 2 "after two attempts"
check "the root cause is in the status" status_is '.outcome.reason | contains("on purpose")'
is "$(jm_pid)" "" "Flink has ended"
drey status >/dev/null 2>&1
is $? 3 "drey status ends with 3: parked"
launches=$(status .launch.number)
end_drey TERM
DREY_CONF[whenFinished]='exit'
start_drey
MUST_LIVE=(jm tm)
await "the container comes back: it is still Failed" phase_is Failed
is "$(status .launch.number)" "$launches" "nothing was launched"
uncontrol fail
check "repaired: drey resume" drey resume
check "the job continues" restore_matches "$(newest_retained "$job")"
await "the launch is proven" status_is .launch.proven

# ---- S46: main() throws
control throw-in-main
drey restart 2>"$RUN/log/cli.log"
is "$? $(status .phase)" "1 Failed" "restarted, main() throws each time: drey gives up"
check "drey restart says why" grep -q "main() threw on purpose" "$RUN/log/cli.log"
is "$(status .attempts.failed)" 2 "after two attempts"
check "the root cause is in the status" status_is '.outcome.reason | contains("main() threw on purpose")'
is "$(jm_pid)" "" "Flink has ended"
uncontrol throw-in-main
check "repaired: drey resume" drey resume
check "the job continues from the savepoint of the restart" restore_matches "$(status .lastSavepoint.path)"

# ---- S29, S63: the job finishes
await "the launch is proven" status_is .launch.proven
launches=$(status .launch.number)
MUST_LIVE=(tm)
control finish
await "the job comes to its end: the container ends (whenFinished: exit)" drey_has_ended
is "$(exit_status jm)" 0 "with status 0"
uncontrol finish
start_drey
await "started again, it ends at once" test -f "$RUN/jm.status"
is "$(exit_status jm)" 0 "with status 0"
DREY_CONF[whenFinished]=stay
start_drey
MUST_LIVE=(jm tm)
await "with whenFinished: stay it stays, Finished" phase_is Finished
is "$(status .outcome.kind)" finished "that is on record"
is "$(status .launch.number) $(jm_pid)" "$launches " "the job did not run again"
is "$(grep -c '"Flink started"' "$RUN/log/jm.log")" "$launches" "and no Flink was started"

check "the state was continuous all the time" continuity
e2e_end
