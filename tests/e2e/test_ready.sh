#!/usr/bin/env bash
#
# Is the job reported as running only while it runs? All TaskManagers are killed, and come back; the agent is killed while
# no task runs; a task fails and Flink restarts it; a launch never gets a TaskManager. Status, exit status, /readyz,
# metrics.
#
# runs in: ci on 2.3.0

# shellcheck disable=SC2119,SC2317,SC2046 # functions with optional arguments, called by name; pids are words
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"

status_exit() {
	drey status >/dev/null 2>&1
	echo $?
}

readyz() {
	curl --silent --output /dev/null --write-out '%{http_code}' --max-time 5 "http://127.0.0.1:$http/readyz"
}

readyz_is() { # CODE
	[ "$(readyz)" = "$1" ]
}

metric_is() { # LINE
	curl --silent --max-time 5 "http://127.0.0.1:$http/metrics" | grep -qxF "$1"
}

condition() { # TYPE: status and reason
	status ".conditions[] | select(.type == \"$1\") | \"\(.status) \(.reason)\""
}

condition_is() { # TYPE STATUS REASON
	[ "$(condition "$1")" = "$2 $3" ]
}

no_tasks_for_flink() {
	rest jobs/overview '.jobs | length == 1 and .[0].tasks.running == 0'
}

now_ms() {
	date +%s%3N
}

# From the moment at which Flink itself says so: what drey adds.
since_flink() { # WHAT LIMIT_MS FLINK_SAYS DREY_CODE
	local what=$1 limit=$2 says=$3 code=$4 began
	wait_quietly "$WAIT_S" "$says" || diag "Flink does not say so: $says"
	began=$(now_ms)
	wait_quietly "$WAIT_S" readyz_is "$code"
	took=$(($(now_ms) - began))
	check "$what" test "$took" -le "$limit"
	diag "$took ms after Flink knew"
}

e2e_begin ready
take_port http
DREY_CONF[http.port]=$http
drey_conf
unset 'DREY_CONF[poll.slow]' # as it is installed
DREY_CONF[attempts.readyDeadline]=30s
DREY_CONF[kubernetes.taskManagers]=app=orders

# ---- never any TaskManager
start_drey
MUST_LIVE=(jm)
await "the job is there, and Flink calls it RUNNING" job_is RUNNING
await "Flink has reported what it restored" status_is .launch.restoreVerified
is "$(status .phase) $(status_exit) $(readyz)" "Launching 1 503" "nothing says that it runs"
await "the sentence has the numbers and the command" status_is \
	'.reason | test("0 of [0-9]+ tasks run: no TaskManager is registered \\(0 slots\\); kubectl get pods -l app=orders")'
await "after the time for a start a person is asked for" condition_is Stalled True JobNotRunning
is "$(status '"\(.phase) \(.cause) \(.attempts.failed) \(.launch.number)"')" "Launching JobNotRunning 0 1" \
	"the launch goes on waiting, and costs no attempt"
jm=$(jm_pid)
start_tm_pod
await "with a TaskManager it runs" phase_is Running
await "and is ready" readyz_is 200
is "$(jm_pid) $(status_exit)" "$jm 0" "the same JobManager, exit status 0"
is "$(condition Stalled)" "False Running" "nobody is asked for any more"
await "the launch is proven" status_is .launch.proven
check "tasks, slots and TaskManagers are in the status" status_is \
	'.tasks.running == .tasks.total and .tasks.total > 0 and .taskManagers == 1 and .slots.total > 0'
check "and in the metrics" metric_is "drey_ready 1"

# ---- the journal is deleted; the next write of this job would come with a checkpoint, once a minute. What drey writes after a
# ---- launch is proven, it has written.
journal_rests() {
	[ $(($(date +%s) - $(date -r "$RUN/state/journal.json" +%s))) -ge 10 ]
}
await "the journal is at rest" journal_rests
rm "$RUN/state/journal.json"
await "the journal was deleted: drey notices" grep -q 'the journal was deleted or replaced' "$RUN/log/jm.log"
await "and writes it again" jq --exit-status '.launches | length == 1' "$RUN/state/journal.json"
check "the job runs on" readyz_is 200

# ---- a task fails: Flink's own business
before=$(event_count THROW)
flaps=0
control fail-once
end=$((SECONDS + 12))
while [ "$SECONDS" -lt "$end" ]; do
	readyz_is 200 || flaps=$((flaps + 1))
	sleep 0.1
done
check "a task has failed" has_events THROW $((before + 1))
is "$flaps" 0 "nobody was told"
check "the job runs again" job_runs

# ---- all TaskManagers are gone
kill -KILL "${PIDS[tm]}" # what would start it again
kill -KILL $(run_pids "drey-init .*$FLINK_TASKMANAGER") $(tm_pid) 2>/dev/null
since_flink "not ready within 10 s" 10000 no_tasks_for_flink 503
is "$(status .phase) $(status_exit)" "Running 1" "exit status 1"
is "$(condition Ready)" "False JobNotRunning" "Ready is false"
is "$(status .cause)" JobNotRunning "the word that has a page"
check "the sentence has the numbers and the command" status_is \
	'.reason | test("^0 of [0-9]+ tasks run: no TaskManager is registered \\(0 of [0-9]+ slots\\).*; kubectl get pods -l app=orders$")'
diag "$(status .reason)"
check "drey status says it first" grep -qE '^e2e: Running since .* \(.*\): 0 of [0-9]+ tasks run' <(drey status)
check "the metrics say so" metric_is "drey_ready 0"
check "the log says so" grep -q 'not ready: 0 of' "$RUN/log/jm.log"

# ---- the agent is killed meanwhile
agent=$(agent_pid)
kill -KILL "$agent"
await "agent killed: there is another one" agent_is_new "$agent"
await "it has looked" status_is .job.reachable
is "$(status .phase) $(status_exit) $(readyz)" "Launching 1 503" "it believes nothing of what was"
await "after the time for a start a person is asked for" condition_is Stalled True JobNotRunning
is "$(jm_pid)" "$jm" "the JobManager is left alone"

# ---- they are back
start_tm_pod
since_flink "ready within 2 s" 2000 job_runs 200
is "$(status .phase) $(status_exit)" "Running 0" "exit status 0"
is "$(status .cause)" null "no cause"
is "$(status '"\(.launch.number) \(.attempts.failed)"')" "1 0" "the same launch, no attempt"
check "the first line is about the job" grep -qE '^e2e: Running since .* \(.*\): job [0-9a-f]{32} is running' <(drey status)
await "the restarts that Flink has made are counted as it counts them" status_is '.job.restarts >= 2'
check "the state was continuous all the time" continuity
e2e_end
