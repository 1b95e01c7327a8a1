#!/usr/bin/env bash
#
# A stop with savepoint fails each time: the request is given up and the job runs on, or the job is suspended, and restarted,
# without a savepoint, from its newest checkpoint. The last error is there until the next launch is proven.
#
# runs in: ci on 2.3.0

# shellcheck disable=SC2119 # lib.sh has functions whose arguments are optional
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"

stops() { # how many have failed
	grep -c 'msg":"stop (.*) failed: ' "$RUN/log/jm.log"
}

# At once, so that Flink finds one or the other. Without a directory that can be listed nothing is launched.
savepoints_go_to() { # NAME
	ln -s "$1" "$RUN/sp.new"
	mv -T "$RUN/sp.new" "$RUN/sp"
}

e2e_begin stop-failure
DREY_CONF[savepoints.stopRetry]=1s
DREY_CONF[savepoints.stopRetries]=1
DREY_CONF[savepoints.onStopFailure]="keep-running"
drey_conf
mv "$RUN/sp" "$RUN/sp.good"
: >"$RUN/sp.file" # no directory can be made in it, by any user
savepoints_go_to sp.good
start_tm_pod
start_drey
MUST_LIVE=(jm tm)
await "the job runs" phase_is Running
await "the launch is proven" status_is .launch.proven
job=$(status .jobId)

# ---- given up
savepoints_go_to sp.file
status=0
drey suspend --timeout 60s >"$RUN/said" 2>"$RUN/log/cli.log" || status=$?
is "$status" 1 "drey suspend fails"
check "it says what follows" grep -q 'drey retries up to 1 times, every 1 s, and then gives the request up' "$RUN/log/cli.log"
await "the second stop fails: given up" status_is '.reason | startswith("gave up the suspend after 2 failed stops, and the job runs on: ")'
is "$(status '[.phase, .cause, .desired.state] | join(" ")')" "Running StopFailed running" "the job runs, and nothing else is wanted"
is "$(status '.conditions[] | select(.type == "Ready") | .status')" True "it is ready"
check "the last error says so" status_is '.lastError | startswith("gave up the suspend")'
has_moved_on() { has_completed "$1" "$job"; }
await "it makes checkpoints" has_moved_on $(($(status .lastCheckpoint.id) + 2))
is "$(stops) $(status .jobId)" "2 $job" "and is not stopped again"

# ---- suspended without a savepoint
end_drey TERM
await "drey ends" drey_has_ended
savepoints_go_to sp.good
DREY_CONF[savepoints.onStopFailure]="last-state"
start_drey
MUST_LIVE=(jm tm)
await "the job runs" runs_after "$job"
await "the launch is proven" status_is .launch.proven
is "$(status .lastError)" null "the next launch is proven: the last error is cleared"
job=$(status .jobId)
MUST_LIVE=(tm)
savepoints_go_to sp.file
check "drey suspend --no-wait" drey suspend --no-wait
await "suspended" phase_is Suspended
savepoints_go_to sp.good
newest=$(newest_retained "$job")
check "the last error says from what the job continues" status_is ".lastError | contains(\"$(basename "$newest")\") and
	startswith(\"suspend without a savepoint after 2 failed stops: \")"
is "$(status .launch.jobId)" "$job" "nothing else was launched"
check "resumed" drey resume --timeout 60s
check "from the newest checkpoint" restore_matches "$newest"
check "the state was continuous" continuity
await "the launch is proven" status_is .launch.proven
is "$(status '[.lastError, .lastErrorUnixMs, .lastErrorLaunch] | map(. == null) | all')" true "the last error is cleared, with its date"

# ---- restarted without a savepoint
job=$(status .jobId)
savepoints_go_to sp.file
status=0
drey restart --timeout 60s 2>"$RUN/log/cli.log" || status=$?
is "$status" 1 "drey restart fails"
check "it says what follows" grep -q 'and then ends Flink without a savepoint' "$RUN/log/cli.log"
await "it is ended without one" status_is '.lastError // "" | startswith("restart without a savepoint after 2 failed stops: ")'
savepoints_go_to sp.good
await "and started again" runs_after "$job"
check "from the newest checkpoint" restore_matches "$(newest_retained "$job")"
check "the state was continuous" continuity
is "$(stops)" 6 "two stops each"
e2e_end
