# shellcheck shell=bash disable=SC2034,SC2154
#
# lib.sh - a real Flink under drey whose processes are killed, stopped and frozen, in an order that a seed determines
# (plan.py). Sourced by tests/e2e/test_chaos.sh after tests/e2e/tap.sh. pods.sh has functions of the same names for Pods on
# a node.
#
#   chaos_own_mounts ARG...  runs the script again where it may mount a disk that can become full
#   chaos_begin            the run: two TaskManagers, a container that is restarted whenever it ends, a storage that can
#                          fail, and a watcher that records what is in it
#   chaos_do LINE          one action of the plan
#   chaos_end              everything that was taken away comes back, the job runs, and everything ends
#   chaos_report           judges, and ends the test
#   chaos_judge            the oracle: it reads the job's event log and what was seen in storage, and nothing that drey reports
#
# $RUN/log/chaos.log has every action with its time; $RUN/signals the number of signals that have reached a process. drey and
# Flink run without root's right to bypass file modes.

CHAOS_DIR=$TOP/tests/chaos
DISK=''  # what the storage and the state of drey are on; of a fixed size where this process may mount
STORE='' # the storage: checkpoints in ck1, ck2, ..., savepoints in sp
chaos_directory=1
chaos_fault='' # what is wrong with the storage: away, gone, deny, readonly or full
chaos_trouble=0 # times that the job did not run again although nothing was in its way

chaos_log() {
	printf '%s %s %s\n' "$(date +%s%3N)" "$(date +%T)" "$*" >>"$RUN/log/chaos.log"
}

# ---- the run --------------------------------------------------------------------------------------

# What a kubelet does: it restarts whatever ends, unless the plan needs it to be absent for a moment.
chaos_kubelet() { # NAME CMD...
	local name=$1
	shift
	# shellcheck disable=SC2016 # expanded by that shell
	spawn "$name" "${CHAOS_AS[@]}" bash -c 'hold=$1; shift
		while :; do
			while [ -e "$hold" ]; do sleep 0.05; done
			"$@"
			echo "--- ended with status $?"
			sleep 0.2
		done' kubelet "$RUN/hold.$name" "$@"
}

chaos_conf() { # [JOB_ARG...]
	drey_conf "$@"
	mkdir -p "$STORE/ck$chaos_directory"
	DREY_CONF[flink.command]=$(yaml_list "${FLINK_JM_ARGV[0]}" "-XX:$CHAOS_CLASSES=$RUN/jm.jsa" "${FLINK_JM_ARGV[@]:1}")
	DREY_CONF[flink.checkpointDirectory]=file://$STORE/ck$chaos_directory
	DREY_CONF[flink.savepointDirectory]=file://$STORE/sp
	DREY_CONF[flink.resultStoreDirectory]=file://$RUN/results
	DREY_CONF[stateDirectory]=$DISK/state
	DREY_CONF[generation]=g$chaos_directory
	DREY_CONF[attempts.max]=32
	DREY_CONF[attempts.backoffFirst]=200ms
	DREY_CONF[attempts.backoffMax]=2s
	write_drey_yaml
}

# Root bypasses file modes unless that right was dropped; CHAOS_MOUNTS says that a disk can be mounted.
chaos_own_mounts() { # ARG...
	local how
	[ -z "${CHAOS_MOUNTS:-}" ] || return 0
	for how in --mount "--map-root-user --mount"; do
		# shellcheck disable=SC2086 # words
		if unshare $how --propagation private mount -t tmpfs chaos /mnt 2>/dev/null; then
			CHAOS_MOUNTS=yes exec unshare $how --propagation private "$0" "$@"
		fi
	done
	export CHAOS_MOUNTS=no
}

# After a failure, copies the disk, which is lost with this process, to where it can be investigated.
chaos_run_end() {
	local status=$?
	if ui_is_main; then
		chaos_back
		[ "$status" -eq 0 ] || cp -a "$DISK" "$RUN/kept"
		umount --lazy "$DISK"
	fi
	(exit "$status")
	run_end
}

chaos_disk() {
	DISK=$RUN/disk
	STORE=$DISK/store
	mkdir -p "$DISK"
	if [ "${CHAOS_MOUNTS:-no}" = yes ]; then
		mount -t tmpfs -o size=256m chaos "$DISK" || die 1 "cannot mount $DISK"
		trap chaos_run_end EXIT
	fi
	mkdir -p "$STORE/sp" "$RUN/results" "$DISK/state"
	: >"$STORE/.here"
}

# The first JVMs write a class archive when they end, with which all others start in two thirds of the time.
chaos_begin() {
	local name
	: >"$RUN/signals"
	chaos_disk
	CHAOS_CLASSES=ArchiveClassesAtExit
	chaos_conf --rate 500
	CHAOS_AS=()
	[ "$(id -u)" -ne 0 ] || CHAOS_AS=(setpriv "--bounding-set=-dac_override,-dac_read_search" --)
	spawn watch python3 "$CHAOS_DIR/watch.py" "$STORE" "$RUN/storage.log"
	init_argv
	flink_tm_argv "$RUN"
	chaos_kubelet tm0 "${INIT_ARGV[@]}" "${FLINK_TM_ARGV[0]}" "-XX:$CHAOS_CLASSES=$RUN/tm.jsa" "${FLINK_TM_ARGV[@]:1}"
	chaos_kubelet jm "$BUILD/drey-init" --agent -- "$BUILD/drey" run --config "$RUN/drey.yaml"
	MUST_LIVE=(watch)
	await "the job runs" chaos_is_well 0
	CHAOS_CLASSES=SharedArchiveFile
	chaos_conf --rate 500
	kill -TERM "$(chaos_pid init 0)"
	# its savepoint needs the TaskManager
	wait_quietly 60 test -e "$RUN/jm.jsa" || diag "the JobManager has left no archive of its classes"
	: >"$RUN/hold.tm0"
	kill -TERM "$(chaos_pid tm 0)"
	wait_quietly 60 test -e "$RUN/tm.jsa" || diag "the TaskManager has left no archive of its classes"
	for name in tm1 tm2; do
		chaos_kubelet "$name" "${INIT_ARGV[@]}" "${FLINK_TM_ARGV[0]}" "-XX:$CHAOS_CLASSES=$RUN/tm.jsa" "${FLINK_TM_ARGV[@]:1}"
	done
	await "the job runs again" chaos_is_well "$(wc -l <"$EVENTS")"
}

chaos_pid() { # jm|tm|agent|init WHICH
	local pids
	case $1 in
	jm) mapfile -t pids < <(jm_pid) ;;
	tm) mapfile -t pids < <(tm_pid) ;;
	agent) mapfile -t pids < <(agent_pid) ;;
	init) mapfile -t pids < <(run_pids "^$BUILD/drey-init --agent ") ;;
	esac
	[ ${#pids[@]} -gt 0 ] || return 1
	printf '%s\n' "${pids[$(($2 % ${#pids[@]}))]}"
}

chaos_signal() { # SIGNAL TARGET WHICH MS
	local pid
	if ! pid=$(chaos_pid "$2" "$3") || ! kill "-$1" "$pid" 2>/dev/null; then
		chaos_log "there is no $2"
		return
	fi
	chaos_log "$2 is $pid"
	echo "$1 $2" >>"$RUN/signals"
	if [ "$1" = STOP ]; then
		chaos_sleep_ms "$4" && kill -CONT "$pid" 2>/dev/null &
	fi
}

chaos_sleep_ms() {
	sleep "$(($1 / 1000)).$(printf '%03d' $(($1 % 1000)))"
}

# ---- what people do ---------------------------------------------------------------------------------

# The run does not wait for it: the next action comes while it is in progress.
chaos_drey() { # COMMAND [ARG...]
	(
		chaos_cli "$@" >>"$RUN/log/cli.log" 2>&1
		chaos_log "drey $* ended with $?"
	) &
}

chaos_cli() { # COMMAND [ARG...]
	timeout 60 "$BUILD/drey" "$1" --config "$RUN/drey.yaml" "${@:2}"
}

# The request is in the event log before drey receives it.
chaos_asked() { # empty|path COUNT
	printf 'ASKED %s %s by=person ms=%s\n' "$1" "$2" "$(date +%s%3N)" >>"$EVENTS"
}

# An older snapshot that still exists, requested while the job is suspended.
chaos_older() {
	local path job id count
	phase_is Suspended 2>/dev/null || return 0
	read -r job id path < <(awk '$1 == "STORED" { print $3, $4, $5 }' "$RUN/storage.log" | while read -r job id path; do
		[ ! -e "$path/_metadata" ] || echo "$job $id $path"
	done | tail -n 3 | head -n 1)
	count=$(snapshot_count "$job" "$id")
	[ -n "$count" ] || return 0
	chaos_log "back to $count: $path"
	chaos_asked path "$count"
	chaos_drey resume --from "$(chaos_uri "$path")"
}

chaos_uri() { # PATH: what drey calls it
	echo "$1"
}

chaos_move() { # SIGNAL
	chaos_back
	chaos_directory=$((chaos_directory + 1))
	chaos_conf --rate 500
	chaos_signal "$1" init 0 0
}

# ---- what is wrong with the storage --------------------------------------------------------------------

chaos_break() { # away|gone|deny|readonly|full
	chaos_back
	chaos_fault=$1
	case $1 in
	away) mv "$STORE" "$STORE.away" && : >"$STORE" ;;
	gone) chaos_gone ;;
	deny) chmod 000 "$STORE" ;;
	readonly) find "$STORE" -type d -exec chmod 555 {} + ;;
	full)
		if [ "${CHAOS_MOUNTS:-no}" = yes ]; then
			head -c 1G /dev/zero >"$DISK/fill" 2>/dev/null
		else
			chaos_log "nothing can be mounted here: there is no disk that could be full"
		fi
		;;
	esac
}

# The storage does not exist when the next container starts, and nothing runs that could create it.
chaos_gone() {
	: >"$RUN/hold.jm"
	chaos_signal KILL init 0 0
	wait_quietly 30 chaos_nothing_runs || chaos_log "the container has not ended"
	mv "$STORE" "$STORE.away"
	rm -f "$RUN/hold.jm"
}

chaos_back() {
	case $chaos_fault in
	away) rm "$STORE" && mv "$STORE.away" "$STORE" ;;
	gone)
		if [ -e "$STORE" ]; then
			chaos_log "somebody has made the storage anew"
			mv "$STORE" "$RUN/made-anew.$(date +%s%3N)"
		fi
		mv "$STORE.away" "$STORE"
		;;
	deny) chmod 755 "$STORE" ;;
	readonly) find "$STORE" -type d -exec chmod 755 {} + ;;
	full) rm -f "$DISK/fill" ;;
	esac
	[ -z "$chaos_fault" ] || chaos_log "not $chaos_fault any more"
	chaos_fault=''
}

chaos_nothing_runs() {
	[ -z "$(jm_pid)$(agent_pid)" ]
}

# ---- until it runs again ------------------------------------------------------------------------------

# What a person does when the application is parked.
chaos_person() { # PHASE REASON
	chaos_log "a person finds it $1: $2"
	if [ "$1" = Finished ]; then
		uncontrol finish
		chaos_asked empty 0
		set -- --empty
	else
		set --
	fi
	chaos_cli resume --no-wait "$@" >>"$RUN/log/cli.log" 2>&1
}

# Running, and the job that started last has completed a snapshot since LINES of the event log.
chaos_is_well() { # LINES
	local phase job reason
	read -r phase job reason < <(status '"\(.phase) \(.jobId) \(.reason)"' 2>/dev/null) || return
	case $phase in
	Suspended | Cancelled | Failed | Finished)
		chaos_person "$phase" "$reason"
		return 1
		;;
	Running) ;;
	*) return 1 ;;
	esac
	awk -v lines="$1" -v job="job=$job" '
		$1 == "RESTORED" { last = $5 }
		NR > lines && $1 == "COMPLETED" { done = $5 }
		END { exit !(last == job && done == job) }' "$EVENTS"
}

chaos_settle() {
	local lines
	chaos_back
	uncontrol hold-snapshot
	lines=$(wc -l <"$EVENTS")
	wait_quietly "$WAIT_S" chaos_is_well "$lines" && return 0
	chaos_trouble=$((chaos_trouble + 1))
	chaos_log "it does not run: $(status '"\(.phase) \(.reason)"' 2>&1)"
	diag "after $WAIT_S s it does not run: $(status '"\(.phase) \(.reason)"' 2>&1)"
	# by force: a hold that has no reason shall not hide what comes after it
	chaos_drey resume
	wait_quietly "$WAIT_S" chaos_is_well "$lines" || chaos_log "nor by drey resume: $(status '"\(.phase) \(.reason)"' 2>&1)"
}

# ---- the plan ------------------------------------------------------------------------------------------

chaos_do() { # LINE
	local words
	read -ra words <<<"$1"
	chaos_log "$1"
	case ${words[0]} in
	signal) chaos_signal "${words[@]:1}" ;;
	savepoint | suspend | resume | restart) chaos_drey "${words[0]}" ;;
	patch) chaos_patch "${words[@]:1}" ;;
	upgrade) chaos_upgrade ;;
	fail) control fail-once ;;
	hold) control hold-snapshot ;;
	unhold) uncontrol hold-snapshot ;;
	finish) control finish ;;
	older) chaos_older ;;
	move) chaos_move "${words[1]}" ;;
	away | gone | deny | readonly | full) chaos_break "${words[0]}" ;;
	back) chaos_back ;;
	wait) chaos_sleep_ms "${words[1]}" ;;
	settle) chaos_settle ;;
	*) die 1 "chaos: what is \"$1\"?" ;;
	esac
}

chaos_end() {
	local pid
	wait_quietly 10 chaos_all_answer
	for pid in $(run_pids); do
		kill -CONT "$pid" 2>/dev/null
	done
	uncontrol fail-once
	chaos_settle
	chaos_stop
	wait_quietly "$WAIT_S" chaos_nothing_runs
	: >"${STORE%/*}/watch-no-more"
	MUST_LIVE=()
	wait_quietly 30 test -e "$RUN/watch.status"
}

chaos_stop() {
	: >"$RUN/hold.jm"
	kill -TERM "$(chaos_pid init 0)" 2>/dev/null
}

chaos_all_answer() {
	[ -z "$(jobs -r)" ]
}

chaos_judge() {
	python3 "$CHAOS_DIR/oracle.py" "$EVENTS" "$RUN/storage.log"
}

# The last lines of a test.
chaos_report() {
	diag "reached a process: $(sort "$RUN/signals" | uniq -c | awk '{ printf "%s%s %s %s", sep, $1, $2, $3; sep = ", " }')"
	check "nothing started empty, older, twice, or again after its end" chaos_judge
	diag "$(chaos_judge | tail -n 1)"
	is "$chaos_trouble" 0 "each time it ran again"
	e2e_end
}
