#!/usr/bin/env bash
#
# A TaskManager dies, and the next one has the same id, as in a container that is restarted: Flink drops the dead one as soon as
# the other registers. Heartbeats would take minutes here, so nothing else can show the death.
#
# runs in: all

# shellcheck disable=SC2119,SC2317 # functions with optional arguments, called by name
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"

# As start_tm_pod, with the argument that the chart gives it.
start_tm_of_pod() { # NAME
	flink_tm_argv "$RUN"
	init_argv
	# shellcheck disable=SC2016 # expanded by that shell
	spawn tm bash -c 'until "$@"; do echo "the TaskManager has ended with status $?"; done' tm \
		"${INIT_ARGV[@]}" "${FLINK_TM_ARGV[@]}" -D "taskmanager.resource-id=$1"
}

other_tm() { # PID
	local pid
	pid=$(tm_pid) && [ -n "$pid" ] && [ "$pid" != "$1" ]
}

task_managers() {
	rest taskmanagers '[.taskmanagers[].id] | join(" ")'
}

e2e_begin taskmanager
drey_conf
DREY_CONF[flink.heartbeatInterval]=0ms
DREY_CONF[flink.heartbeatTimeout]=0ms
sed -i 's/^heartbeat.interval:.*/heartbeat.interval: 5 min/; s/^heartbeat.timeout:.*/heartbeat.timeout: 10 min/' "$RUN/conf/config.yaml"
start_drey
start_tm_of_pod orders-taskmanager-1
MUST_LIVE=(jm)
await "the job runs" phase_is Running
await "and has a checkpoint" status_is .launch.proven
is "$(task_managers)" orders-taskmanager-1 "its TaskManager has the name of its Pod"
job=$(status .jobId)
begun=$(event_count START)
killed=$(tm_pid)
kill -KILL "$killed"
await "it is killed, and started again" other_tm "$killed"
await "the job runs again, long before a heartbeat could have been missed" has_events START $((begun + 1))
await "all of it" job_runs
check "Flink has dropped the dead one because of the new one" grep --quiet --extended-regexp \
	'orders-taskmanager-1.*(re-?registered|re-?connected|restart of the TaskManager)|(re-?registered|re-?connected).*orders-taskmanager-1' "$RUN/log/jm.log"
is "$(task_managers)" orders-taskmanager-1 "there is one, not a dead one beside it"
is "$(status '"\(.jobId) \(.launch.number) \(.attempts.failed)"')" "$job 1 0" "the same launch: for drey nothing has failed"
await "drey is ready" status_is 'any(.conditions[]; .type == "Ready" and .status == "True")'
check "the state was continuous all the time" continuity
e2e_end
