#!/usr/bin/env bash
#
# demo.sh - shows what drey does, with a real Flink job on this machine. `make demo` runs it.
#
# A JobManager under `drey-init --agent -- drey run` and a TaskManager under `drey-init --`, checkpoints in a
# directory. Each step is one line with a tick and the seconds that it took; the first step that fails ends the
# demo with status 1 and prints where the logs are.
#
#   KEEP=1                leave everything running at the end, with drey's HTTP port, and print what to try next
#   FLINK_VERSION=1.20.0  another Flink than 2.3.0     FLINK_HOME=DIR  your own distribution
#   NO_COLOR=1            plain output, also on a terminal

# shellcheck disable=SC2119 # lib.sh has functions whose arguments are optional

set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
# shellcheck source=tools/ui.sh
. tools/ui.sh
FLINK_VERSION=${FLINK_VERSION:-2.3.0}
DEMO_LIMIT_S=${DEMO_LIMIT_S:-120}
# shellcheck source=tools/narrate.sh
. tools/narrate.sh

short() { # JOB_ID
	echo "${1:0:8}"
}

# ---- the steps -----------------------------------------------------------------------------------------

prepare() {
	heading "Getting ready"
	if [ -x tools/deps.sh ]; then
		tools/deps.sh build test || exit $?
		tick "tools and libraries are installed"
	fi
	local log
	mkdir -p build
	log=$PWD/build/demo-build.log
	: >"$log"
	run_with_progress "building drey" "$log" make -j"$(nproc)" all || fail "drey does not build; see $log"
	tick "drey and drey-init are built ($(wc -c <build/drey-init) bytes of drey-init)"
	# shellcheck source=tests/e2e/lib.sh
	. tests/e2e/lib.sh
	run_begin demo "$FLINK_VERSION"
	tick "Flink is in $FLINK, the job is compiled"
}

describe() {
	DREY_CONF[application]=demo
	DREY_CONF[savepoints.interval]=8s
	if [ -n "${KEEP:-}" ]; then # it stays for hours: with its page, and without filling the disk
		take_port http_port
		DREY_CONF[http.port]=${http_port:?}
		DREY_CONF[savepoints.retention]="{count: 5}"
	fi
	drey_conf
	write_drey_yaml
}

# Both sides, as in two pods. MUST_LIVE: waiting ends when one of them has ended.
start() {
	heading "A job starts"
	if [ -n "${KEEP:-}" ]; then
		start_tm_pod # what is killed later comes back, as in a Pod
	else
		start_tm
	fi
	start_drey
	MUST_LIVE=(jm tm)
	expect "the job runs" phase_is Running
	tick "job $(short "$(status .jobId)") is running, started without state (it never ran before)"
	expect "the first checkpoint" status .launch.proven
	tick "first checkpoint: $(status .lastCheckpoint.path)"
}

# The current launch, for the table at the end.
launches=()
remember() { # HOW IT STARTED
	launches+=("$(status '[.launch.number, .jobId[0:8], (.launch.restorePoint.checkpointId // "-")] | join(" ")') $(last_event RESTORED count) $1")
}

# drey's decision, Flink's report and the job's own count must agree on the restore.
check_restore() { # PATH
	local problem
	problem=$(restore_matches "$1") || fail "the job did not continue from $1: $problem"
}

restored_by_now() { # JOB_ID OF THE LAUNCH BEFORE
	status ".phase == \"Running\" and .jobId != \"$1\" and .launch.restoreVerified"
}

kill_jobmanager() {
	local job newest pid count
	heading "The JobManager dies"
	job=$(status .jobId)
	expect "a few more checkpoints" has_completed 3 "$job"
	pid=$(jm_pid)
	kill -KILL "$pid" || fail "no JobManager is running"
	tick "JobManager (pid $pid) killed with -9 at checkpoint $(status .lastCheckpoint.id)"
	expect "drey launches the job again" restored_by_now "$job"
	newest=$(newest_retained "$job")
	tick "drey chose ${newest##*/}, the newest retained checkpoint, and launched job $(short "$(status .jobId)")"
	check_restore "$newest"
	count=$(last_event RESTORED count)
	tick "Flink reports that it restored exactly ${newest##*/}; the job continues from count $count"
	remember "after kill -9, from ${newest##*/}"
}

periodic_savepoint() {
	heading "Savepoints, periodic and on request"
	expect "the next periodic savepoint" status '.lastSavepoint.origin == "periodic"'
	tick "periodic savepoint: $(status .lastSavepoint.path)"
}

suspend() {
	local job
	job=$(status .jobId)
	ui_ticker_start "drey suspend"
	location=$(drey suspend 2>>"$RUN/log/cli.log") || fail "drey suspend failed"
	ui_ticker_stop
	phase_is Suspended || fail "the phase is $(status .phase), not Suspended"
	[ -z "$(jm_pid)" ] || fail "Flink is still running"
	count=$(snapshot_count "$job" "$(status .lastSavepoint.checkpointId)")
	tick "drey suspend: stopped with savepoint ${location##*/} at count $count; Flink has exited, drey waits"
}

resume() {
	ui_ticker_start "drey resume"
	drey resume >>"$RUN/log/cli.log" 2>&1 || fail "drey resume failed; see $RUN/log/cli.log"
	ui_ticker_stop
	check_restore "$location"
	tick "drey resume: job $(short "$(status .jobId)") continues from that savepoint, from count $count"
	remember "resumed, from ${location##*/}"
}

kill_agent() {
	local job pid agent last
	heading "drey itself dies"
	job=$(status .jobId)
	pid=$(jm_pid)
	agent=$(agent_pid)
	last=$(last_event COMPLETED checkpoint)
	kill -KILL "$agent" || fail "no agent is running"
	tick "agent (pid $agent) killed with -9"
	expect "a new agent" agent_is_new "$agent"
	[ "$(jm_pid)" = "$pid" ] || fail "Flink was affected: pid $pid became $(jm_pid)"
	[ "$(status .jobId)" = "$job" ] || fail "the job has another id"
	expect "checkpoints continue" has_completed $((last + 2)) "$job"
	tick "a new agent (pid $(agent_pid)) found the job unchanged: same JobManager pid $pid, checkpoints continue"
}

summary() {
	local launch problems
	problems=$(continuity) || fail "the job's state was not continuous: $problems"
	heading "Summary"
	printf '%-8s %-10s %-12s %-12s %s\n' launch "job id" checkpoint "from count" how
	for launch in "${launches[@]}"; do
		# shellcheck disable=SC2086 # words on purpose
		set -- $launch
		printf '%-8s %-10s %-12s %-12s %s\n' "$1" "$2" "$3" "$4" "${*:5}"
	done
	printf 'Counted without a gap from 1 to %s, through %s launches. %s s in all.\n' \
		"$(last_event COMPLETED count)" "${#launches[@]}" "$(seconds $(($(now_ms) - started_ms)))"
}

keep() {
	trap - EXIT
	local conf="--config $RUN/drey.yaml"
	heading "Left running"
	cat <<-EOF
		drey's page        http://127.0.0.1:$http_port/
		Flink's web UI     http://127.0.0.1:$REST_PORT/
		logs               $RUN/log

		What to try next:
		  build/drey status $conf
		  build/drey resolve --explain $conf
		  build/drey savepoint $conf
		  build/drey suspend $conf; build/drey resume $conf
		  kill -9 $(jm_pid)                # the JobManager: the job continues from its newest checkpoint
		  mv $RUN/ck $RUN/ck.away           # then kill the JobManager: drey holds, and says why; move it back

		to stop            kill ${PIDS[jm]}; kill -- -${PIDS[tm]}
		to clean up        rm -rf $RUN
	EOF
}

prepare
describe
start
remember "first start, empty"
kill_jobmanager
periodic_savepoint
suspend
resume
kill_agent
summary
if [ -n "${KEEP:-}" ]; then
	keep
else
	ui_ticker_start "stopping"
	run_stop
	ui_ticker_stop
fi
