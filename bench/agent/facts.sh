# shellcheck shell=bash disable=SC2034,SC2119 # variables for the caller; functions with optional arguments
#
# facts.sh - the cost of knowing more before a launch, and of knowing at any time whether all tasks run. Sourced by
# bench/agent/run.sh.
#
#   start_requests        with checkpoints on S3 (versitygw): the requests of drey before a launch, from the server's log
#   at_rest_writes S T    while a job runs, for S seconds from T seconds after its start on: writes of the journal, requests to
#                         Flink, wakeups of each thread
#   readiness N           N times the last TaskManager is killed and another one started: when is drey not ready, and ready again?

# shellcheck source=tests/servers/lib.sh
. tests/servers/lib.sh

facts_begin() { # NAME
	agent_prepare "$1" '1 s'
	DREY_CONF['kubernetes.taskManagers']=app=orders
}

# ---- a start -----------------------------------------------------------------------------------------

facts_on_s3() {
	local plugin
	server_find versitygw >&2 || return 1
	plugin=$(tools/get-flink.sh --plugin flink-s3-fs-hadoop 2.3.0) || return 1
	facts_begin facts
	S3_REGION=us-east-1
	server_up versitygw "$RUN/gw"
	mkdir -p "$RUN/gw/buckets/flink" "$RUN/flink/plugins/s3"
	ln -s "$plugin" "$RUN/flink/plugins/s3/"
	cat >>"$RUN/conf/config.yaml" <<-END
		s3.endpoint: $S3_ENDPOINT
		s3.access-key: $S3_ACCESS_KEY
		s3.secret-key: $S3_SECRET_KEY
		s3.path.style.access: true
		s3.directory.marker.retention: keep
	END
	export HOME=$RUN AWS_EC2_METADATA_DISABLED=true
	DREY_CONF[flink.checkpointDirectory]=s3://flink/ck
	DREY_CONF[flink.savepointDirectory]=s3://flink/sp
}

# A launch is decided from the same facts as in `drey resolve`, which does nothing else.
start_row() { # WHAT
	local log=$RUN/gw/access.log before all
	before=$(wc -l <"$log")
	all=$(drey resolve --json 2>/dev/null | jq --raw-output .decision)
	tail -n "+$((before + 1))" "$log" >"$RUN/asked"
	row "$1" "$all" "$(wc -l <"$RUN/asked")" "$(grep -c s3_ListObjects "$RUN/asked")" \
		"$(grep -cE 'job-results' "$RUN/asked")" "$(grep -cE 'prefix=ck(/|%2F)' "$RUN/asked")"
}

start_requests() {
	local home=$HOME
	facts_on_s3 || return 1
	agent_start
	drey savepoint >/dev/null || return 1
	wait_until "a checkpoint behind it" "$WAIT_S" has_completed $(($(status .lastCheckpoint.id) + 2)) "$(status .jobId)"
	wait_until "it is on record" "$WAIT_S" jq --exit-status '.launches[-1].lastCheckpoint.id > 2' "$RUN/state/journal.json"
	kill_container
	row "before a start, checkpoints on S3" decision requests "of them lists" "for the end of the last job" "in the directory of before"
	row --- --- --- --- --- ---
	start_row "the container was killed"
	DREY_CONF[flink.checkpointDirectory]=s3://flink/ck2
	write_drey_yaml
	start_row "the same, and another checkpointDirectory"
	agent_end
	export HOME=$home
}

# As when the node is lost: nothing has ended in order.
kill_container() {
	local pids
	MUST_LIVE=()
	mapfile -t pids < <(run_pids "^$BUILD/drey"; jm_pid; tm_pid)
	kill -KILL "${pids[@]}" 2>/dev/null
	wait_until "Flink is gone" "$WAIT_S" not_locked
}

not_locked() {
	flock --nonblock "$RUN/state/flink.lock" true
}

# ---- readiness -----------------------------------------------------------------------------------------

now_ms() {
	date +%s%3N
}

no_task_runs() {
	rest jobs/overview '.jobs | length == 1 and .[0].tasks.running == 0'
}

readyz_is() { # CODE
	[ "$(curl --silent --output /dev/null --write-out '%{http_code}' --max-time 5 "http://127.0.0.1:$HTTP_PORT/readyz")" = "$1" ]
}

process_tree() { # PID: it and all below it
	local children child
	echo "$1"
	children=$(cat "/proc/$1/task"/*/children 2>/dev/null)
	for child in $children; do
		process_tree "$child"
	done
}

# All at once: what would start it again, its init, its JVM.
kill_taskmanager() {
	local pids
	mapfile -t pids < <(process_tree "${PIDS[tm]}")
	kill -KILL "${pids[@]}" 2>/dev/null
}

# One line: Flink knows of the death, drey is not ready after that; all tasks run, drey is ready after that. In ms.
readiness_turn() {
	local began flink gone back
	began=$(now_ms)
	kill_taskmanager
	wait_quietly "$WAIT_S" no_task_runs || return 1
	flink=$(now_ms)
	wait_quietly "$WAIT_S" readyz_is 503 || return 1
	gone=$(now_ms)
	start_tm_pod
	wait_quietly "$WAIT_S" job_runs || return 1
	back=$(now_ms)
	wait_quietly "$WAIT_S" readyz_is 200 || return 1
	echo "$((flink - began)) $((gone - flink)) $(($(now_ms) - back))"
}

readiness() { # TIMES
	local i names=("Flink knows of it, after SIGKILL" "drey is not ready, after that (\`poll.tasks: 5s\`)"
		"drey is ready, after all tasks run again")
	facts_begin readiness
	agent_start
	MUST_LIVE=(jm)
	for ((i = 0; i < $1; i++)); do
		readiness_turn || return 1
		sleep "$((RANDOM % 5)).$((RANDOM % 10))" # not in step with what is measured
	done >"$RUN/turns"
	row "the last TaskManager is killed, $1 times" least median most
	row --- --- --- ---
	for i in 1 2 3; do
		spread < <(awk -v i="$i" '{ printf "%.1f\n", $i / 1000 }' "$RUN/turns")
		row "${names[i - 1]}" "$MIN s" "$MEDIAN s" "$MAX s"
	done
	agent_end
}

# ---- at rest -------------------------------------------------------------------------------------------

# Of the samples: how often each thread wakes up, a minute.
thread_wakeups() {
	local task
	for task in "/proc/$1/task"/*; do
		echo "$(cat "$task/comm") $(awk '/^voluntary/ { print $2 }' "$task/status")"
	done
}

at_rest_writes() { # SECONDS SECONDS_BEFORE
	local agent before requests
	facts_begin rest
	agent_start
	sleep "$2"
	agent=$(agent_pid) before=$(status .journal.sequence) requests=$(rest_requests)
	thread_wakeups "$agent" >"$RUN/before"
	patiently sleep "$1"
	thread_wakeups "$agent" >"$RUN/after"
	row "at rest for $1 s, a minute" ""
	row --- ---
	row "requests to Flink" "$(awk -v n=$(($(rest_requests) - requests)) -v s="$1" 'BEGIN { printf "%.1f", n / s * 60 }')"
	row "writes of the journal" "$(awk -v n=$(($(status .journal.sequence) - before)) -v s="$1" 'BEGIN { printf "%.1f", n / s * 60 }')"
	paste -d' ' "$RUN/before" "$RUN/after" | awk -v s="$1" '
		{ n = ($4 - $2) / s * 60; sum += n; if (n) printf "| wakeups of the thread %s | %.1f |\n", $1, n }
		END { printf "| wakeups, together | %.1f |\n", sum }'
	agent_end
}
