#!/usr/bin/env bash
#
# bench/wide/run.sh - how long the submission of a very wide job takes, with C1 alone (flink.jvm: fast) and with Java's default, C2.
#
#   bench/wide/run.sh [quick] [--runs N] [--heap SIZE]     10 of each, heap 3g (quick: 1 of each, a tenth as wide)
#
# VERSIONS="2.3.0". 2,000 vertices with parallelism 100, as an application cluster without TaskManagers: from the beginning of
# main() until all 200,000 tasks wait for their slots. One JVM at a time, the sides in turn. Prints Markdown.

set -euo pipefail
cd "$(dirname "$0")/../.."
runs=10 vertices=2000 parallelism=100 heap=3g
while [ $# -gt 0 ]; do
	case $1 in
	full) ;;
	quick) runs=1 vertices=400 parallelism=50 heap=1g ;;
	--runs | --heap)
		[ $# -ge 2 ] || exit 2
		printf -v "${1#--}" %s "$2"
		shift
		;;
	*)
		sed -n 5p "$0" >&2
		exit 2
		;;
	esac
	shift
done
# shellcheck source=bench/lib.sh
. bench/lib.sh
# shellcheck source=tools/flink-env.sh
. tools/flink-env.sh
for tool in javac jar curl jq; do
	command -v "$tool" >/dev/null || bench_lacks "$tool is missing; tools/deps.sh test"
done

scratch=$(mktemp -d)
pid=''
trap '[ -z "$pid" ] || kill -KILL "$pid" 2>/dev/null; rm -rf "$scratch"' EXIT

# The job's jar, and a run directory.
prepare() { # VERSION
	flink=$(tools/get-flink.sh "$1") || exit 4
	run=$scratch/$1
	mkdir -p "$run"
	javac --release 11 -nowarn -cp "$flink/lib/*" -d "$run/classes" bench/wide/WideJob.java
	jar --create --file "$run/wide.jar" -C "$run/classes" .
	flink_layout "$run" "$flink" "$run/wide.jar"
	flink_conf "$run" 0 0 </dev/null
	sed -i '/^rest\.port/d' "$run/conf/config.yaml"
	cat >>"$run/conf/config.yaml" <<-YAML
		rest.bind-port: 0
		web.refresh-interval: 1000
		slot.request.timeout: 3600000
	YAML
	# a line for each of 200,000 tasks would be measured as well
	cat >>"$run/conf/log4j.properties" <<-'LOG'
		logger.graph.name = org.apache.flink.runtime.executiongraph
		logger.graph.level = WARN
	LOG
}

# Flink's own defaults: G1, and both compilers unless the side says otherwise.
jvm() { # SIDE
	local word
	flink_jm_argv "$run"
	argv=()
	for word in "${FLINK_JM_ARGV[@]}"; do
		case $word in
		-XX:+UseSerialGC | -XX:TieredStopAtLevel=1) ;;
		-Xm[sx]*) argv+=("${word:0:4}$heap") ;;
		*) argv+=("$word") ;;
		esac
	done
	[ "$1" = C2 ] || argv=("${argv[0]}" -XX:TieredStopAtLevel=1 "${argv[@]:1}")
}

# All tasks wait for slots: they were created, scheduled, and none can be deployed.
waits() {
	[ -n "$port" ] || port=$(sed -n 's/.*[Rr]est endpoint listening at 127\.0\.0\.1:\([0-9]*\).*/\1/p' "$run/log/out" | head -n 1)
	[ -n "$port" ] && curl --silent --fail --max-time 20 "http://127.0.0.1:$port/jobs/overview" |
		jq --exit-status ".jobs[0].tasks | .total == $((vertices * parallelism)) and .scheduled == .total" >/dev/null
}

measure() { # SIDE: adds "ms, CPU seconds" to $scratch/SIDE
	local began until=$((SECONDS + 1800))
	jvm "$1"
	port=''
	flink_env "$run"
	env "${FLINK_ENV[@]}" "${argv[@]}" --job-classname drey.WideJob -- "$vertices" "$parallelism" >"$run/log/out" 2>&1 &
	pid=$!
	until waits; do
		if ! kill -0 "$pid" 2>/dev/null || [ "$SECONDS" -ge "$until" ]; then
			tail -n 5 "$run/log/out" >&2
			exit 1
		fi
		sleep 0.1
	done
	began=$(sed -n 's/^main //p' "$run/log/out")
	echo "$(($(date +%s%3N) - began)) $(awk '{ print ($14 + $15) * 10 }' "/proc/$pid/stat")" >>"$scratch/$version.$1"
	echo "# Flink $version, $1: $(tail -n 1 "$scratch/$version.$1") (ms, ms of CPU)" >&2
	kill -KILL "$pid"
	wait "$pid" 2>/dev/null || :
	pid=''
}

bench_head "Submission of a wide job" "$vertices vertices, parallelism $parallelism, heap $heap, $runs of each in turn"
for version in ${VERSIONS:-2.3.0}; do
	prepare "$version"
	for ((i = 0; i < runs; i++)); do
		measure C1
		measure C2
	done
	printf '\n| Flink %s | main() to all tasks scheduled, s | processor time, s |\n|---|---|---|\n' "$version"
	for side in C1 C2; do
		printf '| %s | %s | %s |\n' "$side" "$(cut -d' ' -f1 "$scratch/$version.$side" | bench_spread 1000)" \
			"$(cut -d' ' -f2 "$scratch/$version.$side" | bench_spread 1000)"
	done
	paste -d' ' "$scratch/$version.C1" "$scratch/$version.C2" |
		awk '{ print $1 / $3 }' | bench_median | xargs printf '\nC1 to C2, paired: %s\n'
done
printf '\n%s at the end\n' "$(bench_load)"
