#!/usr/bin/env bash
#
# When there is any doubt about the warm spare, the start is an ordinary one, with one line in the log: a jar is replaced under
# it, the configuration of Flink is another one, the agent was killed, the spare still warms, it is of another make. A suspended
# application keeps it, and is resumed in it. One with do-not-restart, and one that was cancelled, has none.

# shellcheck disable=SC2119 # lib.sh has functions whose arguments are optional
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"
# shellcheck source=tests/e2e/spare_lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/spare_lib.sh"

continues_ordinarily() { # WHY
	check "$1: an ordinary start" not from_spare
	check "from the newest retained checkpoint, with the count that it holds" restore_matches "$(newest_retained "$LAST_JOB")"
	await "the new launch is proven" status_is .launch.proven
}

reason_is() { # CAUSE
	is "$(status .spare.lastNotUsed.cause)" "$1" "drey says why"
}

# The jars of Flink are shared by all runs; this one replaces one of its own.
own_lib() {
	local from
	from=$(readlink -f "$RUN/flink/lib")
	rm "$RUN/flink/lib"
	cp -rl "$from" "$RUN/flink/lib" 2>/dev/null || cp -r "$from" "$RUN/flink/lib"
}

e2e_begin spare-doubt
spare_conf
own_lib
drey_conf
start_tm_pod
start_drey
MUST_LIVE=(jm tm)
await "the job runs" phase_is Running

# ---- it still warms
await "a spare warms" spare_is warming
kill_jm
continues_ordinarily "the spare was not ready"
reason_is NotReady

# ---- suspended and resumed
await "there is another spare" spare_is ready
pid=$(spare_now) job=$(status .jobId)
drey suspend >"$RUN/log/suspend.log" 2>&1
await "suspended" phase_is Suspended
check "the spare stays" spare_is ready
drey resume >"$RUN/log/resume.log" 2>&1
await "resumed" runs_after "$job"
is "$(from_spare && jm_now)" "$pid" "in the spare"
check "from the savepoint" restore_matches "$(status .lastSavepoint.path)"
await "the new launch is proven" status_is .launch.proven

# ---- a jar is replaced under it
await "there is another spare" spare_is ready
jar=$(find "$RUN/flink/lib" -name 'log4j-api*.jar' | head -n 1)
cp "$jar" "$RUN/new.jar"
mv "$RUN/new.jar" "$jar"
kill_jm
continues_ordinarily "a jar was replaced"
reason_is Changed

# ---- another configuration of Flink
await "there is another spare" spare_is ready
echo "web.refresh-interval: 2718" >>"$RUN/conf/config.yaml"
kill_jm
continues_ordinarily "the configuration has changed"
reason_is Changed

# ---- the agent is killed
await "there is another spare" spare_is ready
pid=$(spare_now) agent=$(agent_pid)
kill -KILL "$agent"
await "the agent is killed: another one starts" agent_is_new "$agent"
await "its spare has gone with it" gone "$pid"
await "the new agent has another one" spare_is ready
kill_jm
check "in which the next job runs" from_spare
check "from the newest retained checkpoint, with the count that it holds" restore_matches "$(newest_retained "$LAST_JOB")"
await "the new launch is proven" status_is .launch.proven

# ---- do-not-restart, and without the jar
await "there is another spare" spare_is ready
pid=$(spare_now)
drey do-not-restart on >/dev/null 2>&1
await "do-not-restart: the spare is ended" gone "$pid"
mv "$SPARE_JAR" "$SPARE_JAR.away"
drey do-not-restart off >/dev/null 2>&1
await "without its jar there is none" status_is '.spare | .state == "none" and (.reason | contains("jar"))'
check "which is one line in the log" said "no spare JVM: a killed JobManager takes an ordinary start" 1
kill_jm
continues_ordinarily "there is no jar"
reason_is NoProgram

check "nothing was lost or repeated" continuity
check "and no job started from an older snapshot" never_older
MUST_LIVE=()
end_drey TERM
is "$(run_pids drey.spare.Spare)" "" "no spare outlives the container"
e2e_end
