#!/usr/bin/env bash
#
# TaskManagers that are started by `drey join`, with a real drey: each finds the JobManager of its generation, has the id of
# its generation and Pod there, and makes room when only another generation is left. Without Flink's HA, so the cluster id is
# an argument that nobody needs. What drey join does in every single case: tests/contract/test_join*.sh.
#
# runs in: all

# shellcheck disable=SC2119,SC2317 # functions with optional arguments, called by name
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"

# A TaskManager as in its Pod: GENERATION-NAME. Its log is $RUN/log/NAME.log.
start_joining() { # GENERATION NAME
	flink_tm_argv "$RUN"
	POD_NAME=$2 spawn "$2" "$BUILD/drey-init" --remap 143 -- "$BUILD/drey" join --service 127.0.0.1 --port "${HTTP_PORT:?}" \
		--generation "$1" --file "$RUN/ready-$2" -- "${FLINK_TM_ARGV[@]}"
}

probe() { # GENERATION NAME
	"$BUILD/drey" join --ready --service 127.0.0.1 --port "$HTTP_PORT" --generation "$1" --file "$RUN/ready-$2"
}

task_managers() {
	rest taskmanagers '[.taskmanagers[].id] | sort | join(" ")'
}

task_managers_are() { # IDS
	[ "$(task_managers)" = "$1" ]
}

no_tm() {
	[ -z "$(tm_pid)" ]
}

has_said() { # NAME TEXT
	grep -qF -- "$2" "$RUN/log/$1.log"
}

e2e_begin join
take_port HTTP_PORT
drey_conf
DREY_CONF[http.port]=$HTTP_PORT
DREY_CONF[generation]=7
start_joining 7 tm-1
await "nobody is there yet: it waits" has_said tm-1 "waiting: no drey of this generation answers"
check "without a JVM" no_tm
check "and is not ready" not probe 7 tm-1
start_drey
MUST_LIVE=(jm tm-1)
await "the drey of its generation is there: the job runs" job_runs
await "and has a checkpoint" status_is .launch.proven
is "$(task_managers)" 7-tm-1 "the TaskManager has the id of its generation and Pod"
check "it has the cluster id that drey has named" has_said tm-1 "cluster id e2e"
await "it is ready" probe 7 tm-1
join=$(pgrep -P "${PIDS[tm-1]}" -x drey)
diag "$(grep -E '^(VmRSS|RssAnon|RssFile)' "/proc/$join/status" | tr -s '\t\n' ' ') of drey join"

start_joining 8 tm-2
await "one of the next generation waits" has_said tm-2 "waiting: only dreys of another generation answer"
is "$(task_managers)" 7-tm-1 "and is not among the others"
check "nor ready" not probe 8 tm-2
job=$(status .jobId)
end_drey TERM
DREY_CONF[generation]=8
start_drey
MUST_LIVE=(jm tm-1 tm-2)
await "the next generation takes the place of the last one: the last one's TaskManager is ended" \
	has_said tm-1 "TaskManager ends: only dreys of another generation answer"
await "only the one of the next generation is there" task_managers_are 8-tm-2
await "its job runs" runs_after "$job"
await "with all its tasks" job_runs
await "it is ready" probe 8 tm-2
check "the last one waits" has_said tm-1 "waiting: only dreys of another generation answer"
check "and once ready, it stays ready" probe 7 tm-1
check "the state was continuous all the time" continuity

MUST_LIVE=()
kill -TERM "${PIDS[tm-2]}"
await "SIGTERM ends the TaskManager" exit_status tm-2
is "$(exit_status tm-2)" 0 "as a success"
kill -TERM "${PIDS[tm-1]}"
await "and the one that waits" exit_status tm-1
is "$(exit_status tm-1)" 0 "as a success, too"
check "no TaskManager is left" no_tm
e2e_end
