#!/usr/bin/env bash
#
# Savepoints with problems: one is slower than its interval, an upgrade comes in the middle, one fails, one is cut off by
# SIGTERM. And which of the old ones are kept, however old they are.
#
# runs in: test on 2.3.0

# shellcheck disable=SC2119 # lib.sh has functions whose arguments are optional
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"

# How often drey has asked for a periodic savepoint.
asked() {
	grep -c '"savepoint (periodic) requested"' "$RUN/log/jm.log"
}

savepoints() {
	find "$RUN/sp/" -name _metadata | wc -l
}

# shellcheck disable=SC2317 # called through await
# The savepoint in flight has been so for that long.
in_flight_for() { # MS
	status_is ".operation.kind == \"savepoint\" and now * 1000 - .operation.startedUnixMs > $1"
}

# shellcheck disable=SC2317
# Flink is taking one savepoint, and not every task has done its part.
flink_takes_one() {
	checkpoints '[.history[] | select(.is_savepoint and .status == "IN_PROGRESS")] |
		length == 1 and (.[0] | .num_acknowledged_subtasks < .num_subtasks)'
}

retries() {
	grep -c 'savepoint (manual) failed: .*; retrying in 5 s' "$RUN/log/jm.log"
}

# shellcheck disable=SC2317
has_retried() { # COUNT
	[ "$(retries)" -ge "$1" ]
}

# At once, so that Flink finds one or the other.
savepoints_go_to() { # NAME
	ln -s "$1" "$RUN/sp.new"
	mv -T "$RUN/sp.new" "$RUN/sp"
}

# shellcheck disable=SC2317
# The newest savepoint is older than the retention allows.
newest_is_too_old() {
	status_is 'now * 1000 - .lastSavepoint.completedUnixMs > 1500'
}

# Age is looked at now and then, and by each new agent.
look_for_old_ones() {
	local agent
	agent=$(agent_pid)
	kill -KILL "$agent"
	await "agent killed: there is another one" agent_is_new "$agent"
}

# shellcheck disable=SC2317
no_savepoint_but() { # PATH
	[ "$(find "$RUN/sp/" -name _metadata -printf '%h\n')" = "$1" ]
}

e2e_begin savepoints
DREY_CONF[generation]=g1
DREY_CONF[onSigterm]=upgrade
DREY_CONF[savepoints.interval]=1s
drey_conf
mv "$RUN/sp" "$RUN/sp.good"
savepoints_go_to sp.good
start_tm_pod
start_drey --grace 120 # time for two savepoints on a loaded machine
MUST_LIVE=(jm tm)
await "the job runs" phase_is Running
await "the launch is proven" status_is .launch.proven

# ---- S38: slower than its interval
control hold-snapshot
await "a snapshot waits" has_events HOLD 1
await "a periodic savepoint is under way" flink_takes_one
count=$(asked) trigger=$(status .operation.triggerId)
await "five intervals later" in_flight_for 5000
is "$(asked) $(status .operation.triggerId)" "$count $trigger" "drey has not asked for another one"
check "Flink takes one" flink_takes_one

# ---- S39: the upgrade comes while it is still being taken
job=$(status .jobId) count=$(savepoints)
MUST_LIVE=(tm)
kill -TERM "${PIDS[jm]}"
await "SIGTERM for an upgrade: it waits" \
	status_is '.phase == "Stopping" and (.reason | contains("follows the savepoint in flight"))'
is "$(status .operation.triggerId)" "$trigger" "for the savepoint that is in flight"
uncontrol hold-snapshot
await "the container ends" drey_has_ended
is "$(exit_status jm)" 0 "with status 0"
is "$(savepoints)" $((count + 2)) "after that savepoint and the one of the stop"
DREY_CONF[generation]=g2
DREY_CONF[onSigterm]=keep
DREY_CONF[savepoints.interval]=0
DREY_CONF[savepoints.stopRetry]=1s
DREY_CONF[savepoints.retryDelay]=5s
start_drey
MUST_LIVE=(jm tm)
await "the next generation runs" runs_after "$job"
is "$(status '[.lastOperation | .kind, .reason, .ok] | join(" ")')" "stop upgrade true" "the stop is on record"
check "the job continues from its savepoint" restore_matches "$(status .lastOperation.location)"

# ---- S30, S34: Flink says COMPLETED, and names the cause of its failure
await "the launch is proven" status_is .launch.proven
job=$(status .jobId) jm=$(jm_pid) known=$(status .lastSavepoint.path)
: >"$RUN/sp.file" # no directory can be made in it, by any user
savepoints_go_to sp.file
drey savepoint >"$RUN/said" 2>"$RUN/log/cli.log"
is "$? $(cat "$RUN/said")" "1 " "drey savepoint fails and prints no place"
check "it says why" grep -q 'the savepoint failed: .*Exception' "$RUN/log/cli.log"
is "$(status '.lastOperation | [.ok, .location] | join(" ")')" "false " "that is on record"
is "$(status .lastSavepoint.path)" "$known" "and no savepoint"
is "$(retries)" 2 "after it was repeated twice"
drey savepoint >"$RUN/said" 2>"$RUN/log/cli.log" &
cli=$!
await "the next one fails for the first time" has_retried 3
savepoints_go_to sp.good
wait "$cli"
is $? 0 "repaired in time: drey savepoint succeeds"
check "and prints a complete savepoint" verify "$(cat "$RUN/said")"
is "$(status '.lastOperation | [.kind, .ok] | join(" ")')" "savepoint true" "its failed attempt is on record as none"
savepoints_go_to sp.file
check "drey suspend --no-wait" drey suspend --no-wait
await "a stop fails in the same way" status_is '.lastOperation | .kind == "stop" and .ok == false'
await "the job runs on" status_is '.transitions | any(.text | contains("the stop failed and the job continues"))'
is "$(status .jobId) $(jm_pid)" "$job $jm" "the same job in the same JobManager"
savepoints_go_to sp.good
await "repaired: the stop that is still wanted succeeds" phase_is Suspended
check "drey resume" drey resume
check "the job continues from its savepoint" restore_matches "$(status .lastOperation.location)"

# ---- S36: SIGTERM in the middle of a savepoint, and no upgrade
await "the launch is proven" status_is .launch.proven
job=$(status .jobId) count=$(savepoints) holds=$(event_count HOLD)
control hold-snapshot
drey savepoint >"$RUN/said" 2>>"$RUN/log/cli.log" &
cli=$!
await "a savepoint is under way" status_is '.operation.kind == "savepoint"'
await "and a snapshot waits" has_events HOLD $((holds + 1))
end_drey TERM
is "$(exit_status jm)" 0 "SIGTERM: the container ends with status 0"
wait "$cli"
check "drey savepoint has failed" test $? -ne 0
uncontrol hold-snapshot
is "$(savepoints)" "$count" "it was not stopped with a savepoint"
newest=$(newest_retained "$job")
DREY_CONF[savepoints.retention]='{maxAge: 1s, all: true}'
start_drey
MUST_LIVE=(jm tm)
await "the next container runs the job" runs_after "$job"
check "from the newest checkpoint" restore_matches "$newest"
is "$(status '.lastOperation | [.kind, .reason, .ok] | join(" ")')" "savepoint manual false" \
	"the savepoint is on record as failed"

# ---- S65, S67: everything is too old, and what is needed stays
await "the launch is proven" status_is .launch.proven
newest=$(plain_path "$(status .lastSavepoint.path)")
look_for_old_ones
await "all savepoints are too old: they go" no_savepoint_but "$newest"
check "but not the newest" verify "$newest"
check "drey restart" drey restart
origin=$(plain_path "$(status .launch.restorePoint.path)")
await "the launch is proven" status_is .launch.proven
check "drey savepoint" drey savepoint
between=$(plain_path "$(status .lastSavepoint.path)")
check "drey savepoint, once more" drey savepoint
newest=$(plain_path "$(status .lastSavepoint.path)")
await "both are too old already" newest_is_too_old
look_for_old_ones
await "the one before the newest goes" not test -e "$between"
check "what the job was started from stays, although it is older" verify "$origin"
check "so does the newest" verify "$newest"
check "the state was continuous all the time" continuity
e2e_end
