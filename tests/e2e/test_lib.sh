#!/usr/bin/env bash
#
# The tool box without Flink: waiting, processes, and the judgement of event logs, each also made to say no.
#
# runs in: test

# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"
# shellcheck source=tests/e2e/lease_lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lease_lib.sh"

# shellcheck disable=SC2317 # called through wait_quietly
has_pids() {
	[ -n "$(run_pids "$1")" ]
}

# One event line: EVENT CHECKPOINT COUNT JOB ATTEMPT [SUBTASK]
line() {
	printf '%s %s %s subtask=%s job=%s attempt=%s ms=1\n' "$1" "$2" "$3" "${6:-0/1}" "$4" "$5"
}

log_of() { # writes stdin to the event log
	cat >"$EVENTS"
}

RUN=$(mktemp -d)
EVENTS=$RUN/events.log
mkdir -p "$RUN/log"
trap run_end EXIT

# ---- waiting and processes
check "a wait ends when its condition comes true" wait_quietly 5 true
check "a wait gives up at its limit" not wait_quietly 1 false
spawn short bash -c 'exit 7'
check "the status of a process is kept" wait_quietly 10 test -f "$RUN/short.status"
is "$(exit_status short)" 7 "and is its own"
MUST_LIVE=(short)
wait_quietly 60 false
is "$?" 2 "a wait is given up when a process that must live has ended"
MUST_LIVE=()
spawn long bash -c 'trap "" TERM; sleep 1000 & sleep 1000 & echo ready; wait; wait; wait; sleep 1000'
wait_quietly 10 grep -q ready "$RUN/log/long.log"
is "$(run_pids | wc -l)" 3 "all processes of a run are found"
is "$(run_pids '^sleep 1000' | wc -l)" 2 "and are told apart by their command line"
kill -KILL "${PIDS[long]}"
check "a killed process is gone" wait_quietly 10 gone "${PIDS[long]}"
is "$(run_pids | wc -l)" 2 "its children are still found"
spawn defiant bash -c 'trap "" TERM; echo ready; while :; do sleep 0.1; done'
wait_quietly 10 grep -q ready "$RUN/log/defiant.log"
STOP_S=1 run_stop
is "$(run_pids | wc -l)" 0 "run_stop ends all of them, also who ignores SIGTERM"
is "$(exit_status defiant)" 137 "with SIGKILL in the end"
spawn interruptible sleep 1000
wait_quietly 10 has_pids "^sleep 1000" # env, which undoes the shell's "ignore", has done its work
kill -INT "${PIDS[interruptible]}"
check "SIGINT is not ignored by what spawn starts" wait_quietly 10 test -f "$RUN/interruptible.status"

take_port one
take_port two
check "two ports differ" test "${one:?}" != "${two:?}"
check "a port is kept for this process" grep -qx $$ "${PORT_FILES[0]}"

(
	trap 'echo ran >>"$RUN/traps"' EXIT
	for _ in {1..50}; do
		ui_ticker_start quick
		ui_ticker_stop
	done
	trap - EXIT
) 2>"$RUN/ticker"
check "a ticker that ends at once does not run the clean-up of the script" test ! -e "$RUN/traps"
is "$(cat "$RUN/ticker")" "" "and says nothing"

# ---- event logs
log_of <<-EOF
	$(line RESTORED - 0 aa 0)
	$(line SNAPSHOT 1 10 aa 0)
	$(line COMPLETED 1 11 aa 0)
	$(line SNAPSHOT 2 20 aa 0)
	$(line RESTORED 1 10 aa 1)
	$(line SNAPSHOT 3 30 aa 1)
	$(line COMPLETED 3 31 aa 1)
	$(line RESTORED 3 30 bb 0)
EOF
check "a continuous log is good" continuity
is "$(snapshot_count aa 3)" 30 "the count of a snapshot is found"
is "$(snapshot_count bb 3)" "" "not that of another job"
is "$(last_event RESTORED checkpoint)" 3 "the last event's checkpoint"
is "$(last_event RESTORED job)" bb "the last event's job"
check "a completed checkpoint is seen" has_completed 2 aa
check "one that is not complete is not" not has_completed 4 aa
check "one of another job is not" not has_completed 1 bb

log_of <<-EOF
	$(line RESTORED - 0 aa 0)
	$(line SNAPSHOT 1 10 aa 0)
	$(line RESTORED 1 11 bb 0)
EOF
check "a wrong restored count is seen" not continuity
log_of <<-EOF
	$(line RESTORED - 0 aa 0)
	$(line SNAPSHOT 1 10 aa 0)
	$(line RESTORED 2 10 bb 0)
EOF
check "a restore from an unknown checkpoint is seen" not continuity
log_of <<-EOF
	$(line RESTORED - 0 aa 0)
	$(line SNAPSHOT 1 10 aa 0)
	$(line RESTORED - 0 bb 0)
EOF
check "a second start without state is seen" not continuity
check "and can be allowed" continuity 2
log_of <<-EOF
	$(line RESTORED - 0 aa 0)
	$(line GAP - 12 aa 0)
EOF
check "a gap is seen" not continuity
log_of <<-EOF
	$(line RESTORED - 0 aa 0 0/2)
	$(line RESTORED - 0 aa 0 1/2)
	$(line SNAPSHOT 1 10 aa 0 0/2)
	$(line SNAPSHOT 1 5 aa 0 1/2)
	$(line RESTORED 1 10 bb 0 1/2)
	$(line RESTORED 1 5 bb 0 0/2)
EOF
check "subtasks are added up" continuity
is "$(snapshot_count aa 1)" 15 "also for one snapshot"

log_of <<-EOF
	$(line RESTORED - 0 aa 0)
	$(line SNAPSHOT 1 10 aa 0)
	$(line COMPLETED 1 10 aa 0)
	$(line SNAPSHOT 2 20 aa 0)
	$(line RESTORED 1 10 bb 0)
EOF
check "nothing is behind a snapshot that was never complete" never_older
log_of <<-EOF
	$(line RESTORED - 0 aa 0)
	$(line SNAPSHOT 1 10 aa 0)
	$(line COMPLETED 1 10 aa 0)
	$(line SNAPSHOT 2 20 aa 0)
	$(line COMPLETED 2 20 aa 0)
	$(line RESTORED 1 10 aa 1)
	$(line RESTORED 1 10 bb 0)
EOF
check "a start from an older snapshot is continuous" continuity
check "but it is seen" not never_older
is "$(never_older)" "job=bb started from 10, and 20 were in checkpoint 2 of job=aa" "and said"

# ---- never two at once
{
	line RESTORED - 0 aa 0
	line START - 0 aa 0
	line SNAPSHOT 1 50 aa 0
	line START - 50 bb 0
	line CLOSE - 60 aa 0
	line SNAPSHOT 2 90 bb 0
} | log_of
check "the tasks of a dead JobManager may be closed" never_two
line SNAPSHOT 2 80 aa 0 >>"$EVENTS"
check "a job that goes on after the next one has begun is seen" not never_two

# ---- drey.yaml
DREY_CONF=([application]=x [flink.restPort]=1 [poll.slow]=1s [flink.command]='["a b"]')
write_drey_yaml
is "$(cat "$RUN/drey.yaml")" 'application: x
flink:
  command: ["a b"]
  restPort: 1
poll:
  slow: 1s' "drey.yaml is made from dotted names"
is "$(yaml_list -x 'a "b' --)" '["-x","a \"b","--"]' "a list of words is quoted"
e2e_end
