# shellcheck shell=bash
#
# lib.sh - a run of real Flink on this machine: processes, waiting, REST, the job's event log. Sourced by every
# end-to-end test (through tap.sh) and by tools/demo.sh. Bash, with curl and jq.
#
#   run_begin NAME VERSION        RUN, FLINK, JOB_JAR, REST_PORT, RPC_PORT, EVENTS, CONTROL; run_end at exit
#   run_conf                      conf/ for these ports; more config.yaml lines on stdin
#   spawn NAME CMD...             starts CMD in the background; its pid is ${PIDS[NAME]}, its log $RUN/log/NAME.log
#   start_tm, start_tm_pod        a TaskManager; one that is restarted when it has failed
#   start_bare_jm                 a JobManager without drey
#   wait_until WHAT LIMIT CMD...  polls CMD until it succeeds; 1 after LIMIT seconds
#
# Never sleep for a fixed time in a test: use wait_until.
#
# Every process of a run, at any depth, has E2E_RUN=$RUN in its environment. run_pids finds them by that, so the
# clean-up ends all of them and nothing else, also if their parent was killed.

E2E_DIR=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
TOP=$(cd "$E2E_DIR/../.." && pwd)
# shellcheck source=tools/ui.sh
. "$TOP/tools/ui.sh"
# shellcheck source=tools/flink-env.sh
. "$TOP/tools/flink-env.sh"
# shellcheck source=tests/ports.sh
. "$TOP/tests/ports.sh"

BUILD=$(cd "$TOP" && cd "${BUILD:-build}" 2>/dev/null && pwd) || BUILD=$TOP/build
WAIT_S=${WAIT_S:-120} # the limit that nearly every wait has; a loaded machine is slow, a broken run is rare
declare -gA PIDS=()
MUST_LIVE=()        # names of spawned processes; a wait is given up as soon as one of them has ended
RUN=''

# ---- the run directory ---------------------------------------------------------------------------

run_begin() { # NAME FLINK_VERSION
	FLINK=$("$TOP/tools/get-flink.sh" "$2") || exit $?
	RUN=$(mktemp -d "${TMPDIR:-/tmp}/drey-$1.XXXXXX") || die 1 "cannot make a run directory in ${TMPDIR:-/tmp}"
	EVENTS=$RUN/events.log
	trap run_end EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP
	JOB_JAR=$RUN/job.jar
	"$TOP/tests/job/build.sh" "$FLINK" "$JOB_JAR" || exit $?
	flink_layout "$RUN" "$FLINK" "$JOB_JAR"
	CONTROL=$RUN/control
	mkdir -p "$CONTROL"
	: >"$EVENTS"
	take_port REST_PORT
	take_port RPC_PORT
	run_conf </dev/null
}

run_conf() {
	flink_conf "$RUN" "$REST_PORT" "$RPC_PORT"
}

# ---- processes -----------------------------------------------------------------------------------

# A shell's & leaves SIGINT and SIGQUIT ignored, and a JVM keeps that; the terminal's Ctrl-C is only for the test. The
# shell in between waits for CMD, so that no zombie looks alive, and keeps its status for exit_status.
spawn() { # NAME CMD...
	local name=$1
	shift
	flink_env "$RUN"
	rm -f "$RUN/$name.status"
	# shellcheck disable=SC2034 # PIDS is for the caller too
	PIDS[$name]=$(
		{
			setsid env --default-signal=INT --default-signal=QUIT "E2E_RUN=$RUN" "${FLINK_ENV[@]}" "$@" \
				>>"$RUN/log/$name.log" 2>&1 </dev/null &
			echo $!
			exec >/dev/null
			wait $!
			echo $? >"$RUN/$name.status.new"
			mv "$RUN/$name.status.new" "$RUN/$name.status"
		} 2>/dev/null &
	)
}

# The status that NAME ended with, 128 + n for a signal; fails while it runs.
exit_status() { # NAME
	cat "$RUN/$1.status" 2>/dev/null
}

# The pids of all processes of this run whose command line matches REGEX (default: all), one a line.
run_pids() { # [REGEX]
	local file pid
	grep -lzxF -- "E2E_RUN=$RUN" /proc/[0-9]*/environ 2>/dev/null | while read -r file; do
		pid=${file#/proc/}
		pid=${pid%/environ}
		if [ $# -eq 0 ] || tr '\0' ' ' 2>/dev/null <"/proc/$pid/cmdline" | grep -qE -- "$1"; then
			echo "$pid"
		fi
	done
}

jm_pid() {
	run_pids "^[^ ]*java .*$FLINK_ENTRYPOINT"
}

tm_pid() {
	run_pids "^[^ ]*java .*$FLINK_TASKMANAGER"
}

alive() { # PID
	[ -n "$1" ] && kill -0 "$1" 2>/dev/null
}

gone() { # PID
	! alive "$1"
}

all_have_status() {
	local name
	for name in "${!PIDS[@]}"; do
		[ -e "$RUN/$name.status" ] || return 1
	done
}

no_run_pids() {
	[ -z "$(run_pids)" ]
}

# Ends every process of the run: first by SIGTERM, then by SIGKILL.
run_stop() {
	local pid
	MUST_LIVE=()
	for pid in $(run_pids); do
		kill -TERM "$pid" 2>/dev/null
	done
	wait_quietly "${STOP_S:-15}" no_run_pids
	# A supervisor may start something new while its children die, hence more than one round.
	while ! no_run_pids; do
		for pid in $(run_pids); do
			kill -KILL "$pid" 2>/dev/null
		done
		wait_quietly 2 no_run_pids
	done
	wait_quietly 5 all_have_status
}

# Shows the end of each log, for a run that failed.
run_show_logs() {
	local log
	for log in "$EVENTS" "$RUN"/log/*.log; do
		[ -s "$log" ] || continue
		printf -- '---- the end of %s\n' "$log"
		tail -n "${SHOW_LINES:-15}" "$log" | cut -c1-200
	done
}

# The trap at exit. Logs of a run that failed are shown and kept.
run_end() {
	local status=$?
	ui_is_main || return "$status"
	trap - EXIT
	ui_ticker_stop
	if [ -n "$RUN" ]; then
		[ "$status" -eq 0 ] || run_show_logs 2>&1 | sed 's/^/# /' >&2
		run_stop
		give_ports
		if [ "$status" -eq 0 ] && [ -z "${KEEP_RUN:-}" ]; then
			rm -rf "$RUN"
		else
			say "# everything of this run is kept in $RUN"
		fi
	fi
	exit "$status"
}

# ---- waiting -------------------------------------------------------------------------------------

# Polls without output. 1 after the limit, 2 if a process of MUST_LIVE has ended.
wait_quietly() { # LIMIT_S CMD...
	local end=$((SECONDS + $1)) name start took_us
	shift
	while start=${EPOCHREALTIME/[.,]/} && ! "$@" >/dev/null 2>&1; do
		[ "$SECONDS" -lt "$end" ] || return 1
		for name in "${MUST_LIVE[@]}"; do
			[ ! -e "$RUN/$name.status" ] || return 2
		done
		# a question that takes long must not keep the processors from what it asks for
		took_us=$((${EPOCHREALTIME/[.,]/} - start))
		sleep "$(((took_us > 100000 ? took_us : 100000) / 1000))e-3"
	done
}

# Prints what it waits for if that takes long. WAITED_S is the time that it took.
wait_until() { # WHAT LIMIT_S CMD...
	local what=$1 limit=$2 status=0 start=$SECONDS
	shift 2
	ui_ticker_start "$what"
	wait_quietly "$limit" "$@" || status=$?
	ui_ticker_stop
	# shellcheck disable=SC2034 # for the caller
	WAITED_S=$((SECONDS - start))
	case $status in
	1) say "# not within $limit s: $what" ;;
	2) say "# given up, because of ${MUST_LIVE[*]} one has ended: $what" ;;
	esac
	return "$status"
}

# ---- Flink ---------------------------------------------------------------------------------------

init_argv() {
	INIT_ARGV=()
	[ -x "$BUILD/drey-init" ] && INIT_ARGV=("$BUILD/drey-init" --)
	return 0
}

start_tm() { # [NAME]
	flink_tm_argv "$RUN"
	init_argv
	spawn "${1:-tm}" "${INIT_ARGV[@]}" "${FLINK_TM_ARGV[@]}"
}

# The same, but one that fails is restarted, as in a pod. A TaskManager whose JobManager dies exactly during the
# registration calls a dead address until taskmanager.registration.timeout ends it.
start_tm_pod() { # [NAME]
	flink_tm_argv "$RUN"
	init_argv
	# shellcheck disable=SC2016 # expanded by that shell
	spawn "${1:-tm}" bash -c 'until "$@"; do echo "the TaskManager has ended with status $?"; done' tm \
		"${INIT_ARGV[@]}" "${FLINK_TM_ARGV[@]}"
}

# ARGS: options of the entry point, then arguments of the job. For tests without drey.
start_bare_jm() { # ARGS...
	flink_jm_argv "$RUN"
	init_argv
	spawn jm "${INIT_ARGV[@]}" "${FLINK_JM_ARGV[@]}" "$@"
}

# drey-held.jar in Flink's lib directory, as in the image: one of this run, instead of the link to that of all runs. Before
# drey_conf, and before anything is started.
held_jar() {
	rm "$RUN/flink/lib"
	mkdir "$RUN/flink/lib"
	ln -s "$FLINK"/lib/*.jar "$RUN/flink/lib/"
	# the jar that runs with every line: compiled against the oldest one
	FLINK_HOME='' "$TOP/java/build.sh" held "$RUN/flink/lib/drey-held.jar"
}

# Compiled parts of drey for Flink's JVM, as in the image: $RUN/drey. Before drey_conf, and before a TaskManager is started:
# from now on rpc.jar is on the class path, and the RPC is unpacked.
drey_jars() {
	local name
	for name in rpc archive; do
		"$TOP/java/build.sh" "$name" "$RUN/drey/$name.jar" "$FLINK/lib" || return 1
	done
	java -XX:TieredStopAtLevel=1 -cp "$RUN/drey/rpc.jar:$FLINK/lib/*" drey.rpc.Unpack
}

# The class archive of this run's JobManager: $RUN/flink.jsa; from a JobManager with high availability and a TaskManager after
# drey_jars and with Flink's library for it, else from one with neither.
make_class_archive() {
	local job=()
	[ -d "$RUN/drey" ] || job=(--job "$JOB_JAR" drey.ContinuityJob)
	flink_env "$RUN"
	flink_java "$RUN" 160m 192m jm
	env E2E_RUN="$RUN" "${FLINK_ENV[@]}" FLINK_HOME="$RUN/flink" "$TOP/tools/make-class-archive.sh" --drey "$RUN/drey" \
		--output "$RUN/flink.jsa" "${job[@]}" -- "${FLINK_JAVA[@]}" "$FLINK_ENTRYPOINT"
}

# The job's own arguments: its event log and its control files.
job_args() {
	printf '%s\n' --log "$EVENTS" --control "$CONTROL"
}

control() { # FILE: makes a control file
	: >"$CONTROL/$1"
}

uncontrol() { # FILE
	rm -f "$CONTROL/$1"
}

# With TLS: REST_SCHEME=https, and how curl trusts it.
REST_CURL=()

# GET, the JSON on stdout; with a second argument filtered by jq. Fails on any HTTP error.
rest() { # PATH [JQ_FILTER]
	local answer
	answer=$(curl --silent --show-error --fail --globoff --max-time 10 "${REST_CURL[@]}" "${REST_SCHEME:-http}://${REST_HOST:-127.0.0.1}:$REST_PORT/${1#/}") || return
	if [ $# -gt 1 ]; then
		jq --raw-output --exit-status "$2" <<<"$answer"
	else
		printf '%s\n' "$answer"
	fi
}

rest_send() { # METHOD PATH [JSON]
	curl --silent --show-error --fail --globoff --max-time 10 --request "$1" --header 'Content-Type: application/json' \
		${3:+--data "$3"} "${REST_CURL[@]}" "${REST_SCHEME:-http}://${REST_HOST:-127.0.0.1}:$REST_PORT/${2#/}"
}

rest_is_up() {
	rest config >/dev/null 2>&1
}

# The id of the one job that is known to the JobManager.
job_id() {
	rest jobs '.jobs | if length == 1 then .[0].id else empty end'
}

job_state() {
	rest jobs '.jobs | if length == 1 then .[0].status else empty end'
}

job_is() { # STATE
	[ "$(job_state 2>/dev/null)" = "$1" ]
}

# RUNNING, and so are all its tasks.
job_runs() {
	rest jobs/overview '.jobs | length == 1 and (.[0] | .state == "RUNNING" and .tasks.running == .tasks.total)'
}

checkpoints() { # JQ_FILTER, on the statistics of the one job
	local id
	id=$(job_id) && rest "jobs/$id/checkpoints" "$1"
}

# ---- what the job reports --------------------------------------------------------------------------
# Lines: EVENT CHECKPOINT COUNT subtask=I/P job=HEX attempt=A ms=WALL; see tests/job/ContinuityJob.java.

events() { # EVENT
	grep -E "^$1 " "$EVENTS"
}

event_count() { # EVENT
	grep -cE "^$1 " "$EVENTS"
}

has_events() { # EVENT AT_LEAST
	[ "$(event_count "$1")" -ge "$2" ]
}

# Field 2 (checkpoint) or 3 (count) or the value of job=, attempt=, ms= of the last such event.
last_event() { # EVENT FIELD
	events "$1" | tail -n 1 | awk -v want="$2" '
		want == "checkpoint" { print $2 }
		want == "count" { print $3 }
		{ for (i = 4; i <= NF; i++) if (index($i, want "=") == 1) print substr($i, length(want) + 2) }'
}

# The count in checkpoint CHECKPOINT of the job whose id starts with JOB, over all subtasks; nothing if not known.
snapshot_count() { # JOB CHECKPOINT
	awk -v job="job=$1" -v id="$2" '
		$1 == "SNAPSHOT" && $2 == id && index($5, job) == 1 { count[$4] = $3; seen = 1 }
		END { for (s in count) sum += count[s]; if (seen) print sum }' "$EVENTS"
}

# The path of the newest complete retained checkpoint of the job JOB.
newest_retained() { # JOB
	find "$RUN/ck/$1" -path '*/chk-*/_metadata' -printf '%h\n' | sort -V | tail -n 1
}

# The same, or the last savepoint that drey has made if no checkpoint has followed it: they share one count.
newest_snapshot() { # JOB
	local checkpoint savepoint id
	checkpoint=$(newest_retained "$1")
	read -r savepoint id < <(status '.lastSavepoint | "\(.path) \(.checkpointId // 0)"')
	case $savepoint in
	*/savepoint-"${1:0:6}"-*) ;;
	*) savepoint= ;;
	esac
	if [ -n "$savepoint" ] && [ "$id" -gt "${checkpoint##*/chk-}" ]; then
		echo "$savepoint"
	else
		echo "$checkpoint"
	fi
}

# A snapshot is complete for the job as soon as Flink has notified its operator.
has_completed() { # AT_LEAST_ID [JOB]
	awk -v least="$1" -v job="job=${2:-}" '
		$1 == "COMPLETED" && $2 + 0 >= least + 0 && index($5, job) == 1 { found = 1 }
		END { exit !found }' "$EVENTS"
}

# Checks the whole log: no GAP; every restore has exactly the count that a snapshot of that id had; no more than
# EMPTY (default 1) starts of a job without state. Prints each violation on one line; 1 if there is any.
continuity() { # [EMPTY_STARTS]
	awk -v allowed="${1:-1}" '
		function close_restore(    id, job, s, sum, ok) {
			if (current == "") return
			if (restored_id == "-") {
				if (!(current_job in started)) empty++
			} else {
				for (job in snapshots) {
					sum = 0
					for (s in subtasks) sum += count[job, restored_id, s]
					if (((job, restored_id) in known) && sum == restored_count) ok = 1
				}
				if (!ok) {
					printf "%s restored count %d from checkpoint %s, which no snapshot has\n", current, restored_count, restored_id
					bad = 1
				}
			}
			started[current_job] = 1
			current = ""
		}
		$1 == "GAP" { print "state does not continue: " $0; bad = 1 }
		$1 == "RESTORED" {
			if (current != $5 " " $6) { close_restore(); current = $5 " " $6; current_job = $5; restored_count = 0 }
			restored_id = $2
			restored_count += $3
		}
		$1 == "SNAPSHOT" {
			close_restore()
			snapshots[$5] = 1; subtasks[$4] = 1; known[$5, $2] = 1; count[$5, $2, $4] = $3
		}
		END {
			close_restore()
			if (empty > allowed) { printf "%d starts without state, %d allowed\n", empty, allowed; bad = 1 }
			exit bad
		}' "$EVENTS"
}

# Checks that no job has started from less than what an earlier job was notified to be complete: for a run in which no
# older state was requested, and nothing was damaged. An automatic restart by Flink may go back behind a savepoint.
never_older() {
	awk '
		$1 == "SNAPSHOT" { count[$5, $2, $4] = $3 }
		$1 == "COMPLETED" && count[$5, $2, $4] > newest[$4] { newest[$4] = count[$5, $2, $4]; what[$4] = $2 " of " $5 }
		$1 == "RESTORED" && !(($5, $4) in started) {
			started[$5, $4] = 1
			if ($3 < newest[$4]) {
				printf "%s started from %d, and %d were in checkpoint %s\n", $5, $3, newest[$4], what[$4]
				bad = 1
			}
		}
		END { exit bad }' "$EVENTS"
}

# ---- drey --------------------------------------------------------------------------------------------
# drey.yaml is made from DREY_CONF, by the dotted name of each key; values are YAML. A test may change keys between
# run_begin and start_drey:  DREY_CONF[savepoints.interval]=5s
declare -gA DREY_CONF=()

# The arguments as a YAML (and JSON) list.
yaml_list() { # WORD...
	jq --compact-output --null-input '$ARGS.positional' --args -- "$@"
}

# The defaults for this run; more arguments are arguments of the job.
drey_conf() { # [JOB_ARG...]
	local args
	mapfile -t args < <(job_args)
	flink_jm_argv "$RUN"
	DREY_CONF[application]=${DREY_CONF[application]:-e2e}
	DREY_CONF[stateDirectory]=$RUN/state
	DREY_CONF[flink.command]=$(yaml_list "${FLINK_JM_ARGV[@]}")
	DREY_CONF[flink.jobClass]=drey.ContinuityJob
	DREY_CONF[flink.arguments]=$(yaml_list "${args[@]}" "$@")
	DREY_CONF[flink.restPort]=$REST_PORT
	DREY_CONF[flink.checkpointDirectory]=file://$RUN/ck
	DREY_CONF[flink.savepointDirectory]=file://$RUN/sp
	DREY_CONF[poll.slow]=1s
	DREY_CONF[http.address]=127.0.0.1
	DREY_CONF[http.port]=${DREY_CONF[http.port]:-0}
}

write_drey_yaml() {
	local key section=''
	mkdir -p "$RUN/state"
	for key in $(printf '%s\n' "${!DREY_CONF[@]}" | grep -v '[.]' | sort); do
		printf '%s: %s\n' "$key" "${DREY_CONF[$key]}"
	done >"$RUN/drey.yaml"
	for key in $(printf '%s\n' "${!DREY_CONF[@]}" | grep '[.]' | sort); do
		[ "${key%%.*}" = "$section" ] || printf '%s:\n' "${key%%.*}"
		section=${key%%.*}
		printf '  %s: %s\n' "${key#*.}" "${DREY_CONF[$key]}"
	done >>"$RUN/drey.yaml"
}

# The JobManager's side, as in a pod: drey-init, the agent, Flink. Options of drey-init go in front.
start_drey() { # [DREY_INIT_OPTION...]
	write_drey_yaml
	sleep 0.02 # the kernel counts the start of drey-init in 10 ms, and a file that is not older may have changed
	spawn jm "$BUILD/drey-init" --agent "$@" -- "$BUILD/drey" run --config "$RUN/drey.yaml"
}

drey() { # COMMAND [ARG...]
	local command=$1
	shift
	"$BUILD/drey" "$command" --config "$RUN/drey.yaml" "$@"
}

# One value of `drey status --json`; fails if there is none. The exit status of drey, which depends on the phase, does
# not matter here.
# Of a drey that responds: without one, it prints what the journal has, and ends with status 5.
status() { # JQ_FILTER
	local document status=0
	document=$(drey status --json 2>>"$RUN/status.log") || status=$?
	[ -n "$document" ] && [ "$status" -ne 5 ] || return 1
	jq --raw-output --exit-status "$1" <<<"$document"
}

phase_is() { # PHASE
	[ "$(status .phase)" = "$1" ]
}

agent_pid() {
	run_pids "^$BUILD/drey run "
}

# As `status`, but without output: true or false.
status_is() { # JQ_CONDITION
	status "$1" >/dev/null 2>&1
}

# Running, as a job other than JOB.
runs_after() { # JOB
	status_is ".phase == \"Running\" and .jobId != \"$1\""
}

# A new agent answers, and it is not the process PID.
agent_is_new() { # PID
	local pid
	pid=$(agent_pid)
	[ -n "$pid" ] && [ "$pid" != "$1" ] && status_is .phase
}

# Any spelling of a local path: file:/a, file:///a and /a are the same.
plain_path() { # URI
	local path=${1#file:}
	printf '/%s\n' "${path#"${path%%[!/]*}"}"
}

has_restored() { # JOB
	events RESTORED | grep -q " job=$1 "
}

# The count that the job JOB has restored from CHECKPOINT, which must be what it restored first, over all subtasks. A later
# attempt may restore it, too: a TaskManager that is about to end has taken the tasks of the first.
restored_count() { # JOB CHECKPOINT
	events RESTORED | awk -v job="job=$1" -v id="$2" '
		$5 == job && !first { first = $2 }
		$5 == job && $2 == id { count[$4] = $3 }
		END { for (s in count) sum += count[s]; if (first == id) print sum }'
}

# drey's decision, Flink's report and the job's count agree on one restore, and it is that of PATH. Prints what
# differs.
restore_matches() { # PATH
	local path job id maker flink count expected bad=0
	path=$(plain_path "$1")
	job=$(status .jobId)
	id=$(status .launch.restorePoint.checkpointId)
	wait_quietly "$WAIT_S" has_restored "$job" || echo "job $job has not read its state"
	status_is .launch.restoreVerified || { echo "drey has not verified what Flink restored" && bad=1; }
	expected=$(plain_path "$(status .launch.restorePoint.path)")
	[ "$expected" = "$path" ] || { echo "drey decided for $expected" && bad=1; }
	flink=$(plain_path "$(checkpoints .latest.restored.external_path)")
	[ "$flink" = "$path" ] || { echo "Flink restored $flink" && bad=1; }
	case $path in
	*/savepoint-*) maker=${path##*/savepoint-} maker=${maker%%-*} ;;
	*) maker=${path%/chk-*} maker=${maker##*/} ;;
	esac
	count=$(restored_count "$job" "$id")
	expected=$(snapshot_count "$maker" "$id")
	if [ -z "$count" ] || [ "$count" != "$expected" ]; then
		echo "restored count '$count', snapshotted '$expected'"
		bad=1
	fi
	return "$bad"
}

# The container ends: sends SIGNAL to drey-init, then waits until nothing of the JobManager's side is left.
end_drey() { # SIGNAL
	MUST_LIVE=()
	kill "-$1" "${PIDS[jm]}"
	wait_quietly "$WAIT_S" drey_has_ended
}

drey_has_ended() {
	[ -e "$RUN/jm.status" ] && [ -z "$(jm_pid)$(agent_pid)" ]
}

verify() { # PATH: every file of that snapshot is there
	"$BUILD/drey" verify "$1"
}
