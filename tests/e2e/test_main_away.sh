#!/usr/bin/env bash
#
# What main() needs is away for two minutes, and the JobManager is lost meanwhile: drey goes on trying, since this version has run
# before, and the job runs soon after it is back, from the newest state and with nobody at the keyboard. A new version that does the
# same is given up.
#
# runs in: ci on 2.3.0

# shellcheck disable=SC2119,SC2317 # optional arguments; functions that check calls
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"

launched_again() { # NUMBER
	status_is ".launch.number > $1 and .phase == \"Running\" and .launch.proven"
}

condition() { # TYPE: its status and reason
	status ".conditions[] | select(.type == \"$1\") | \"\(.status) \(.reason)\""
}

pause_is() { # REGEX of the seconds that drey waits now: a quarter of the outage
	status .reason | grep -qE "so drey tries again, in ($1) s"
}

e2e_begin main-away
DREY_CONF[generation]=g1
drey_conf
start_tm_pod
start_drey
MUST_LIVE=(jm tm)
await "the job is proven" launched_again 0
number=$(status .launch.number)
check "what main() needs is away" control throw-in-main
away_s=$SECONDS
check "the JobManager is lost" kill -KILL "$(jm_pid)"
await "drey goes on trying" status_is '.cause == "AttemptsRepeated" and .phase == "Resolving"'
check "after its attempts" test "$(status .launch.number)" -ge $((number + 4))
check "it says why" grep -q 'attempt [0-9]* failed: .*; this version has run before, so drey tries again, in [0-9]* s' <(status .reason)
is "$(condition Ready)" "False AttemptsRepeated" "it is not ready"
is "$(condition Stalled)" "True AttemptsRepeated" "and a person is told"
check "with the words of main()" grep -q 'main() threw on purpose' <(status .lastError)
await "a minute has passed" pause_is '1[5-9]|[2-9][0-9]'
await "two minutes have passed" pause_is '[3-9][0-9]'
number=$(status .launch.number)
away_s=$((SECONDS - away_s))
check "it has not given up" not phase_is Failed
check "it is back" uncontrol throw-in-main
back_ms=$(date +%s%3N)
await "the job runs again" launched_again "$number"
diag "$(($(date +%s%3N) - back_ms)) ms from its return to a proven launch, after $away_s s"
check "from the newest state" restore_matches "$(status .launch.restorePoint.path)"
is "$(condition Stalled)" "False Running" "nobody is needed any more"

check "drey is asked to end" end_drey TERM
await "drey has ended" drey_has_ended
MUST_LIVE=()
DREY_CONF[generation]=g2
control throw-in-main
start_drey
MUST_LIVE=(jm tm)
await "a new version that does the same is given up" phase_is Failed
check "the state was continuous all the time" continuity
e2e_end
