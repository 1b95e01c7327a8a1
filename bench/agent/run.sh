#!/usr/bin/env bash
#
# bench/agent/run.sh - what drey costs at rest, and how fast it reacts to a failure: with a real Flink (one JobManager,
# one TaskManager), compared to a bash loop with curl.
#
#   bench/agent/run.sh [quick] [--minutes N]     at rest for N minutes (5; quick: a half), also with 1, 100 and 10,000
#                                                savepoints (quick: not); 10 deaths (quick: 3)
#   bench/agent/run.sh soak --minutes N          only at rest, with a line for each tenth of the time
#   bench/agent/run.sh history [--minutes N]     only with savepoints, and with several poll.tasks
#   bench/agent/run.sh facts [--minutes N]       only the cost of knowing more: requests before a launch, at rest, readiness
#
# Prints Markdown. With savepoints bench/fleet/flink.c takes the place of Flink. SAMPLES=FILE keeps the samples of the first part.

# shellcheck disable=SC2119,SC2317 # functions with optional arguments; functions that are called by name

set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1

# shellcheck source=bench/lib.sh
. bench/lib.sh

mode=full seconds=300 deaths=10 rest_s=35
while [ $# -gt 0 ]; do
	case $1 in
	full) ;;
	soak) mode=soak ;;
	history) mode=history ;;
	facts) mode=facts ;;
	quick) mode=quick seconds=30 deaths=3 rest_s=5 ;;
	--minutes)
		[[ ${2-} =~ ^[1-9][0-9]*$ ]] || bench_usage 6,10
		seconds=$(($2 * 60))
		shift
		;;
	*) bench_usage 6,10 ;;
	esac
	shift
done
make -j2 all build/bench/resolve/fixtures >&2 || exit 1
bench_program build/bench/agent/flink bench/fleet/flink.c
bench_program build/bench/agent/measure bench/agent/measure.c
# shellcheck source=bench/agent/lib.sh
. bench/agent/lib.sh
# shellcheck source=bench/agent/facts.sh
. bench/agent/facts.sh

# ---- at rest -----------------------------------------------------------------------------------------

# One column of the table: what is in the samples of NAME.
rest_column() { # SAMPLES NAME
	awk -v name="$2" '
		$2 != name { next }
		!n++ { first = $0 }
		$4 < low || n == 1 { low = $4 }
		$4 > high { high = $4 }
		{ last = $0 }
		END {
			split(first, a); split(last, b)
			minutes = (b[1] - a[1]) / 60
			printf "%.2f MB, %.2f to %.2f\n%.2f MB\n%.2f MB\n%+.0f KB\n", b[4] / 1024, low / 1024, high / 1024,
				b[5] / 1024, b[6] / 1024, b[6] - a[6]
			printf "%.1f\n%.1f\n%d, %d\n", (b[8] - a[8]) / minutes, (b[10] - a[10]) / 1e6 / minutes * 60, b[7], b[11]
		}' "$1"
}

# CPU seconds of the children that PID has waited for.
children_cpu_s() { # PID
	awk -v hz="$(getconf CLK_TCK)" '{ sub(/.*\) /, ""); print ($14 + $15) / hz }' "/proc/$1/stat"
}

at_rest() {
	local init loop loop_requests samples=${SAMPLES:-} before after start names cells i column
	agent_prepare agent '10 s'
	agent_start
	[ -n "$samples" ] || samples=$RUN/samples
	spawn loop bench/agent/watch.sh "http://127.0.0.1:$REST_PORT"
	sleep "$rest_s" # until the first poll at leisure is over
	init=$(run_pids "^$BUILD/drey-init --agent" | head -n 1)
	loop=$(run_pids "^[^ ]*bash bench/agent/watch.sh" | head -n 1)
	before=$(rest_requests) start=$(children_cpu_s "$loop")
	patiently "$MEASURE" sample 30 "$seconds" "agent=$(agent_pid)" "init=$init" "loop=$loop" >"$samples" || return 1
	after=$(rest_requests)
	loop_requests=$((seconds / 5))
	row "at rest for $seconds s" "drey run" "drey-init" "bash and curl, every 5 s"
	row --- --- --- ---
	names=("RSS at the end; least and most" "PSS" "private and dirty" "growth of that" "wakeups a minute"
		"CPU seconds an hour" "threads, descriptors")
	for i in agent init loop; do
		rest_column "$samples" $i >"$RUN/column.$i"
	done
	for i in "${!names[@]}"; do
		cells=()
		for column in agent init loop; do
			cells+=("$(sed -n "$((i + 1))p" "$RUN/column.$column")")
		done
		row "${names[i]}" "${cells[@]}"
	done
	row "CPU seconds an hour of its children" 0 - \
		"$(awk -v a="$start" -v b="$(children_cpu_s "$loop")" -v s="$seconds" 'BEGIN { printf "%.1f", (b - a) / s * 3600 }')"
	row "requests to Flink a minute" "$(awk -v n=$((after - before - loop_requests)) -v s="$seconds" \
		'BEGIN { printf "%.1f", n / s * 60 }')" 0 12
	if [ "$mode" = soak ]; then
		echo
		row "minute" "RSS" "PSS" "private and dirty" "wakeups so far"
		row --- --- --- --- ---
		awk '$2 == "agent" { line[n++] = $0 } END { step = n > 11 ? (n - 1) / 10 : 1
			split(line[0], zero)
			for (i = 0; int(i + 0.5) < n; i += step) { split(line[int(i + 0.5)], a)
				printf "| %.0f | %d KB | %d KB | %d KB | %d |\n", a[1] / 60, a[4], a[5], a[6], a[8] - zero[8] } }' "$samples"
	fi
	agent_end
}

# ---- a history ---------------------------------------------------------------------------------------

history() {
	local n newest before after samples
	row "savepoints in the directory, $seconds s" RSS "private and dirty" "wakeups a minute" "requests to Flink a minute"
	row --- --- --- --- ---
	for n in 1 100 10000; do
		agent_prepare history '10 s'
		samples=$RUN/samples
		build/bench/resolve/fixtures savepoints "$RUN/sp" "$n" || return 1
		for newest in "$RUN/sp"/*; do :; done
		DREY_CONF[restore.initialSavepoint]=file://$newest
		export REQUESTS=$RUN/requests
		DREY_CONF[flink.command]=$(yaml_list "$PWD/build/bench/agent/flink" "$REST_PORT" -)
		DREY_CONF[flink.version]=${FLINK_VERSION:-2.3.0}
		start_drey
		unset REQUESTS
		MUST_LIVE=(jm)
		agent_is_proven || return 1
		sleep "$rest_s"
		before=$(wc -c <"$RUN/requests")
		patiently "$MEASURE" sample 30 "$seconds" "agent=$(agent_pid)" >"$samples" || return 1
		after=$(wc -c <"$RUN/requests")
		awk -v n="$n" -v requests=$((after - before)) '{ last = $0 } NR == 1 { first = $0 }
			END { split(first, a); split(last, b); minutes = (b[1] - a[1]) / 60
				printf "| %d | %.2f MB | %.2f MB | %.1f | %.1f |\n", n, b[4] / 1024, b[6] / 1024, (b[8] - a[8]) / minutes,
					requests / minutes }' "$samples"
		agent_end
	done
}

# ---- what readiness costs ----------------------------------------------------------------------------

paces() {
	local pace before after samples
	row "poll.tasks, $seconds s" "wakeups a minute" "requests to Flink a minute"
	row --- --- ---
	for pace in 0 10s 5s; do
		agent_prepare pace '10 s'
		samples=$RUN/samples
		mkdir -p "$RUN/sp"
		DREY_CONF[poll.tasks]=$pace
		export REQUESTS=$RUN/requests
		DREY_CONF[flink.command]=$(yaml_list "$PWD/build/bench/agent/flink" "$REST_PORT" -)
		DREY_CONF[flink.version]=${FLINK_VERSION:-2.3.0}
		start_drey
		unset REQUESTS
		MUST_LIVE=(jm)
		agent_is_proven || return 1
		sleep "$rest_s"
		before=$(wc -c <"$RUN/requests")
		patiently "$MEASURE" sample 30 "$seconds" "agent=$(agent_pid)" >"$samples" || return 1
		after=$(wc -c <"$RUN/requests")
		awk -v pace="$pace" -v requests=$((after - before)) '{ last = $0 } NR == 1 { first = $0 }
			END { split(first, a); split(last, b); minutes = (b[1] - a[1]) / 60
				printf "| %s | %.1f | %.1f |\n", pace, (b[8] - a[8]) / minutes, requests / minutes }' "$samples"
		agent_end
	done
}

# ---- a death -----------------------------------------------------------------------------------------

log_ms() { # FROM_LINE TEXT: the time of the first such line of the log after that
	tail -n "+$1" "$RUN/log/jm.log" | grep -m 1 -F "\"msg\":\"$2" | sed 's/.*"time":"\([^"]*\)".*/\1/' |
		{ read -r at && date -d "$at" +%s%3N; }
}

deaths() {
	local i job line ended decided started born died
	agent_prepare death '1 s'
	DREY_CONF[flink.command]=$(yaml_list "$MEASURE" stamp "$RUN/born" "${FLINK_JM_ARGV[@]}")
	DREY_CONF[flink.version]=${FLINK_VERSION:-2.3.0}
	DREY_CONF[log.format]=json
	agent_start
	for ((i = 0; i < deaths; i++)); do
		agent_is_proven || return 1
		job=$(status .jobId)
		line=$(($(wc -l <"$RUN/log/jm.log") + 1))
		: >"$RUN/born"
		read -r died _ < <("$MEASURE" kill "$(jm_pid)")
		wait_until "the next JobManager" "$WAIT_S" test -s "$RUN/born" || return 1
		wait_until "the next job" "$WAIT_S" runs_after "$job" || return 1
		read -r born <"$RUN/born"
		ended=$(log_ms "$line" "Flink ended") decided=$(log_ms "$line" "Launching: launch")
		started=$(log_ms "$line" "Flink started")
		echo "$((born - died)) $((decided - ended)) $((started - decided))"
	done >"$RUN/deaths"
	row "from the death of the JobManager, $deaths times" least median most
	row --- --- --- ---
	spread < <(awk '{ printf "%.1f\n", $1 / 1000 }' "$RUN/deaths")
	row "to exec of the next one" "$MIN ms" "$MEDIAN ms" "$MAX ms"
	spread < <(awk '{ print $2 }' "$RUN/deaths")
	row "of it: looking at \`file://\`, checking the newest snapshot, deciding" "$MIN ms" "$MEDIAN ms" "$MAX ms"
	spread < <(awk '{ print $3 }' "$RUN/deaths")
	row "of it: the journal on disk, fork, exec" "$MIN ms" "$MEDIAN ms" "$MAX ms"
	agent_end
}

# ---- black holes -------------------------------------------------------------------------------------

probe() { # WHAT
	local times
	times=$(curl --silent --fail --max-time 10 --output /dev/null --write-out '%{time_total}\n' \
		"http://127.0.0.1:$HTTP_PORT/livez?[1-200]")
	spread < <(awk '{ printf "%.2f\n", $1 * 1000 }' <<<"$times")
	row "$1" "$(wc -l <<<"$times")" "$MEDIAN ms" "$MAX ms"
}

alive_here() {
	curl --silent --fail --max-time 10 "http://127.0.0.1:$HTTP_PORT/livez"
}

black_holes() {
	local hole
	agent_prepare holes '1 s'
	take_port hole
	dig_hole hole "$hole"
	cat >"$RUN/kubeconfig" <<-END
		apiVersion: v1
		kind: Config
		current-context: hole
		contexts: [{name: hole, context: {cluster: hole, user: hole, namespace: hole}}]
		clusters: [{name: hole, cluster: {server: "https://127.0.0.1:$hole"}}]
		users: [{name: hole, user: {token: none}}]
	END
	chmod 600 "$RUN/kubeconfig"
	DREY_CONF[kubernetes.kubeconfig]=$RUN/kubeconfig
	DREY_CONF[kubernetes.journal]=none
	DREY_CONF[flink.checkpointDirectory]=s3://bucket/ck
	export AWS_ACCESS_KEY_ID=AKIDEXAMPLE AWS_SECRET_ACCESS_KEY=none AWS_REGION=none AWS_ENDPOINT_URL=http://127.0.0.1:$hole
	start_drey
	MUST_LIVE=(jm)
	wait_until "drey" "$WAIT_S" alive_here
	row "\`/livez\`, 200 times" answers median most
	row --- --- --- ---
	probe "at the start: S3 and the API server take connections and never answer"
	agent_end
	unset 'DREY_CONF[kubernetes.kubeconfig]' 'DREY_CONF[kubernetes.journal]'

	agent_prepare holes '1 s'
	cat >"$RUN/flink-hole" <<-END
		#!/bin/sh
		exec perl -e 'use IO::Socket::INET;
		my \$s = IO::Socket::INET->new(LocalAddr => "127.0.0.1", LocalPort => $REST_PORT, Listen => 64, ReuseAddr => 1) or die;
		my @all; while (my \$c = \$s->accept) { push @all, \$c }'
	END
	chmod +x "$RUN/flink-hole"
	DREY_CONF[flink.command]=$(yaml_list "$RUN/flink-hole")
	DREY_CONF[flink.version]=${FLINK_VERSION:-2.3.0}
	start_drey
	wait_until "a launch" "$WAIT_S" phase_is Launching
	probe "a Flink whose REST API does the same"
	agent_end
}

bench_head "What it costs, and how fast it is" "drey $("$BUILD/drey" --version | cut -d' ' -f2), Flink ${FLINK_VERSION:-2.3.0}, $(
	curl --version | sed -n '1s/ (.*//p'), $(ldd --version | sed -n '1s/.* /glibc /p')"
echo
failed=0
case $mode in
facts)
	start_requests || failed=1
	echo
	at_rest_writes "$seconds" "$rest_s" || failed=1
	echo
	readiness "$deaths" || failed=1
	;;
history) ;;
*) at_rest || failed=1 ;;
esac
case $mode in full | history)
	echo
	history || failed=1
	echo
	paces || failed=1
	;;
esac
case $mode in full | quick)
	echo
	deaths || failed=1
	echo
	black_holes || failed=1
	;;
esac
echo
bench_load | sed 's/$/ at the end/'
cat <<'END'

Limits of these figures:
* RSS counts pages of shared libraries that other processes have mapped as well, and the kernel maps up to 16 pages
  around each one that is touched, so it differs by 0.1 MB from start to start. PSS depends on the other processes;
  private and dirty does not.
* Wakeups are voluntary context switches of all threads, including those for Flink's responses. Each probe, scrape or
  command adds one or two. The children of the bash loop (curl, grep, head, sleep) are not in its wakeups and memory.
* The time starts when the kernel notifies the parent of the death, and ends just before the next exec of java: it
  includes neither the death of a large JVM nor the start of one. The parts come from drey's log, in whole milliseconds.
* The probes are curl's total time with a new connection each, on a machine that does other work too.
END
exit $failed
