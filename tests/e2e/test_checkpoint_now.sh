#!/usr/bin/env bash
#
# A checkpoint now: on request, full, by the control file, shared by those who wait, periodically; one that is given up for a
# stop, which does not wait for it; one that outlives the agent; one that ends with its JobManager.
#
# runs in: ci on 2.3.0

# shellcheck disable=SC2119 # lib.sh has functions whose arguments are optional
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"

# shellcheck disable=SC2317 # called through await
last_request_is() { # STATE
	status_is ".checkpointRequests[-1].state == \"$1\""
}

# shellcheck disable=SC2317
is_in_flight() {
	status_is '.operation.kind == "checkpoint"'
}

# What a path begins with.
ours() {
	echo "file:$RUN/ck/$(status .jobId)/chk"
}

# A task waits in the middle of a snapshot, so that the one that is asked for stays in flight.
hold_one() {
	local before
	before=$(event_count HOLD)
	control hold-snapshot
	await "a snapshot waits" has_events HOLD $((before + 1))
}

e2e_begin checkpoint-now
DREY_CONF[control.directory]=$RUN/wanted
mkdir "$RUN/wanted"
echo n1 >"$RUN/wanted/checkpoint-nonce"
DREY_CONF[control.poll]=1s
drey_conf
start_tm_pod
start_drey
MUST_LIVE=(jm tm)
await "the job runs" phase_is Running
await "the launch is proven" status_is .launch.proven

# ---- on request
path=$(drey checkpoint --timeout 60s) || path=failed
is "${path%-*}" "$(ours)" "a checkpoint is taken, and its path printed"
check "its files are there, or Flink has deleted it since" bash -c '[ ! -e "$1/_metadata" ] || "$2" verify "$1"' _ \
	"$(plain_path "$path")" "$BUILD/drey"
is "$(status '.checkpointRequests[-1] | "\(.state) \(.full) \(.location)"')" "done false $path" "the status shows it"
is "$(status '.checkpointRequests[-1].checkpointId')" "${path##*/chk-}" "and its id"
is "$(status '.lastOperation')" null "it is no operation that a later drey, or an earlier one, depends on"
path=$(drey checkpoint --full --timeout 60s) || path=failed
is "${path%-*}" "$(ours)" "a full one"
check "Flink has taken it" grep -q '"full checkpoint (manual) done: ' "$RUN/log/jm.log"
is "$(jq '.fullCheckpointUnixMs > 0' "$RUN/state/journal.json")" true "the journal has when"
drey checkpoint --no-wait --json >"$RUN/said"
is "$(jq -r '.checkpointRequests | length' "$RUN/said")" 3 "one that nobody waits for"
await "it is answered as well" last_request_is "done"

# ---- by the control file: the first nonce has requested nothing
echo "full n2" >"$RUN/new" && mv "$RUN/new" "$RUN/wanted/checkpoint-nonce"
await "the control file asks for a full one" status_is '.checkpointRequests[-1] | .nonce == "n2" and .full and .state == "done"'

# ---- the agent dies in the middle
hold_one
drey checkpoint --timeout 60s >"$RUN/said" 2>"$RUN/log/cli.log" &
asked=$!
await "one is in flight" is_in_flight
agent=$(agent_pid)
kill -KILL "$agent"
await "there is another agent" agent_is_new "$agent"
uncontrol hold-snapshot
status=0
wait $asked || status=$?
is "$status" 0 "the agent was killed, and the request is answered"
is "$(sed 's/-[0-9]*$//' "$RUN/said")" "$(ours)" "with the path"

# ---- a stop does not wait for it
hold_one
drey checkpoint --timeout 60s >"$RUN/said" 2>"$RUN/log/cli.log" &
asked=$!
await "one is in flight" is_in_flight
uncontrol hold-snapshot
check "the job is suspended meanwhile" drey suspend --timeout 60s
status=0
wait $asked || status=$?
if [ "$status" = 0 ]; then # it was complete before the stop began
	is "$(sed 's/-[0-9]*$//' "$RUN/said")" "$(ours)" "the request is answered"
else
	check "the request is answered" grep -q 'superseded by a stop of the job' "$RUN/log/cli.log"
fi
check "Flink has ended at once: its result was read" not grep -q 'exit status 239' "$RUN/log/jm.log"
status=0
drey checkpoint --timeout 10s 2>"$RUN/log/cli.log" || status=$?
is "$status" 3 "no job is running"
check "resumed" drey resume --timeout 60s
await "the launch is proven" status_is .launch.proven

# ---- its JobManager dies
hold_one
drey checkpoint --timeout 60s >"$RUN/said" 2>"$RUN/log/cli.log" &
asked=$!
await "one is in flight" is_in_flight
job=$(status .jobId)
kill -KILL "$(jm_pid)"
uncontrol hold-snapshot
status=0
wait $asked || status=$?
is "$status" 1 "the JobManager was killed, and the request has failed"
check "it says why" grep -q 'Flink exited before it was complete' "$RUN/log/cli.log"
await "drey starts it again" runs_after "$job"
check "from the newest state" continuity
end_drey TERM
await "drey ends" drey_has_ended

# ---- periodically
DREY_CONF[checkpoints.fullInterval]=2s
write_drey_yaml
start_drey
await "full ones are taken" bash -c '[ "$(grep -c "\"full checkpoint (periodic) done: " "$1")" -ge 2 ]' _ "$RUN/log/jm.log"
check "the state was continuous" continuity
e2e_end
