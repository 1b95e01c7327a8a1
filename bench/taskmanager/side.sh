#!/usr/bin/env bash
#
# side.sh - one application of run.sh, without drey and without high availability: a JobManager and TASKMANAGERS of them. SIDE is
#
#   flink      Flink's defaults
#   chart      the lines of CHART_CONFIGURATION, and an id of the TaskManagers that stays
#
# Says "ready"; then for each `kill` on stdin: kills a TaskManager, and says the ms until all tasks run again.

# shellcheck disable=SC2119,SC2317 # optional arguments; functions that are waited for
exec 8<&0 9>&1 >&2 </dev/null
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../tests/e2e/tap.sh"

WAIT_S=${WAIT_S:-300}
STABLE_MS=8000 # longer than the reset of the backoff

now_ms() {
	echo $(($(date +%s%N) / 1000000))
}

configure() {
	sed -i '/^\(heartbeat\|restart-strategy\)/d; /^execution.checkpointing.interval/d' "$RUN/conf/config.yaml"
	{
		echo "parallelism.default: $TASKMANAGERS"
		echo "execution.checkpointing.interval: 2 s"
		echo "restart-strategy.exponential-delay.reset-backoff-threshold: 5 s"
		# with this type, Flink reads the line above; it is Flink's default
		if [ "$SIDE" = chart ]; then cat "$CHART_CONFIGURATION"; else echo "restart-strategy.type: exponential-delay"; fi
	} >>"$RUN/conf/config.yaml"
}

# What has failed is started again, as in a Pod.
start_numbered_tm() { # N
	local id=()
	flink_tm_argv "$RUN"
	init_argv
	[ "$SIDE" != chart ] || id=(-D "taskmanager.resource-id=orders-taskmanager-$1")
	# shellcheck disable=SC2016 # expanded by that shell
	spawn "tm$1" bash -c 'until "$@"; do echo "the TaskManager has ended with status $?"; done' "tm$1" \
		"${INIT_ARGV[@]}" "${FLINK_TM_ARGV[@]}" "${id[@]}"
}

begin() {
	local args i
	run_begin "taskmanager-$SIDE" "$FLINK_VERSION"
	configure
	mapfile -t args < <(job_args)
	start_bare_jm --job-id aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa01 --job-classname drey.ContinuityJob -- "${args[@]}"
	for ((i = 1; i <= TASKMANAGERS; i++)); do
		start_numbered_tm "$i"
	done
	MUST_LIVE=(jm)
}

# When the last of the subtasks began that have not ended since, in ms; fails while one is missing.
began_last() { # LINES: only those after so many count
	awk -v old="$1" -v all="$TASKMANAGERS" '
		NR > old && $1 == "START" { begun[$4] = substr($NF, 4) }
		NR > old && $1 == "CLOSE" { delete begun[$4] }
		END { for (s in begun) { n++; if (begun[s] > last) last = begun[s] } if (n == all) print last; exit n != all }' "$EVENTS"
}

settled() {
	local last
	job_runs && last=$(began_last 0) && [ $(($(now_ms) - last)) -gt "$STABLE_MS" ] &&
		checkpoints ".latest.completed.trigger_timestamp > $last"
}

# It has its own loop: the machine is to start JVMs, not to answer questions.
settle() {
	local until=$((SECONDS + WAIT_S))
	until settled >/dev/null 2>&1; do
		[ "$SECONDS" -lt "$until" ] || return 1
		sleep 1
	done
}

runs_again() {
	began_last "$lines" && job_runs
}

kill_tm() {
	local killed began
	lines=$(wc -l <"$EVENTS")
	killed=$(tm_pid | head -n 1)
	began=$(now_ms)
	kill -KILL "$killed"
	wait_quietly "$WAIT_S" runs_again || exit 1
	# a task may begin, and fail with what it is connected to
	sleep 1
	wait_quietly "$WAIT_S" runs_again || exit 1
	say=$(($(began_last "$lines") - began))
}

cd "$TOP" || exit 1
begin 8<&- 9>&-
settle || exit 1
echo ready >&9
while read -r -u 8 order && [ "$order" != end ]; do
	settle || exit 1
	kill_tm
	echo "$say" >&9
done
exit 0
