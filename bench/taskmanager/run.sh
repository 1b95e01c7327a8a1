#!/usr/bin/env bash
#
# bench/taskmanager/run.sh - how long a job is interrupted by kill -9 of a TaskManager: with Flink's defaults, and with what
# the chart says to Flink. Real Flinks, with one and with two TaskManagers and a shuffle between them.
#
#   bench/taskmanager/run.sh [quick] [--runs N]      10 deaths of each (quick: 1, with 2.3.0 and two of them)
#
# VERSIONS="1.20.0 2.3.0". Both sides run side by side and are killed in turn, so other load on the machine affects both.
# What has died is started again at once, as a kubelet does with the first death of a container. Prints Markdown.
# Memory: 2 GB.

set -euo pipefail
cd "$(dirname "$0")/../.."
runs=10 counts='1 2'
# shellcheck source=bench/lib.sh
. bench/lib.sh
while [ $# -gt 0 ]; do
	case $1 in
	full) ;;
	quick) runs=1 counts=2 VERSIONS=${VERSIONS:-2.3.0} ;;
	--runs) runs=${2-} && shift ;;
	*) bench_usage 7 ;;
	esac
	shift
done
[[ $runs =~ ^[1-9][0-9]*$ ]] || bench_usage 7

scratch=$(mktemp -d)
declare -A to=() from=()
sides='flink chart'

end_sides() {
	local side fd
	for side in "${!to[@]}"; do
		fd=${to[$side]}
		(echo end >&"$fd") 2>/dev/null || : # it may have ended already
		exec {fd}>&-
	done
	wait || :
	to=() from=()
	rm -f "$scratch"/*.in "$scratch"/*.out
}

finish() {
	end_sides
	rm -rf "$scratch"
}

begin_side() { # SIDE VERSION TASKMANAGERS
	local fd
	mkfifo "$scratch/$1.in" "$scratch/$1.out"
	FLINK_VERSION=$2 SIDE=$1 TASKMANAGERS=$3 CHART_CONFIGURATION=$scratch/chart.yaml bench/taskmanager/side.sh \
		<"$scratch/$1.in" >"$scratch/$1.out" 2>"$scratch/$1.log" &
	exec {fd}>"$scratch/$1.in"
	to[$1]=$fd
	exec {fd}<"$scratch/$1.out"
	from[$1]=$fd
}

# One line from a side, which is also how it says that it has failed.
hear() { # SIDE
	read -r -u "${from[$1]}" line || {
		echo "bench/taskmanager/run.sh: the side '$1' has exited:" >&2
		cat "$scratch/$1.log" >&2
		exit 1
	}
}

measure() { # VERSION TASKMANAGERS
	local side i
	for side in $sides; do
		begin_side "$side" "$1" "$2"
		hear "$side"
	done
	for ((i = 0; i < runs; i++)); do
		for side in $sides; do
			echo kill >&"${to[$side]}"
			hear "$side"
			echo "$line" >>"$scratch/$1.$2.$side"
			echo "# Flink $1, $2 TaskManager(s), $side: $line ms" >&2
		done
	done
	end_sides
}

median() { # VERSION TASKMANAGERS SIDE
	bench_median <"$scratch/$1.$2.$3"
}

print_row() { # VERSION TASKMANAGERS
	printf '| %s, %s | %s | %s | %s |\n' "$1" "$([ "$2" = 1 ] && echo "one TaskManager" || echo "two TaskManagers, one killed")" \
		"$(bench_spread 1000 <"$scratch/$1.$2.flink")" "$(bench_spread 1000 <"$scratch/$1.$2.chart")" \
		"$(awk -v a="$(median "$1" "$2" chart)" -v b="$(median "$1" "$2" flink)" 'BEGIN { printf "%.2f", a / b }')"
}

trap finish EXIT
HELM_HOME=$(tools/get-kube.sh helm)
make -j2 all >&2
"$HELM_HOME/bin/helm" template bench chart/flink-application --set image.repository=bench,state.uri=s3://bench/bench \
	--set-string image.tag=1 --show-only templates/configmaps.yaml |
	sed -n 's/^ *\(\(heartbeat\|restart-strategy\|taskmanager\.slot\.timeout\)[^:]*: .*\)/\1/p' | sort -u >"$scratch/chart.yaml"
[ -s "$scratch/chart.yaml" ] || exit 1
bench_head "A TaskManager dies" "drey $(build/drey --version | cut -d' ' -f2); $runs deaths of each: median (least-most)"
printf 'The chart: `taskmanager.resource-id` is the name of the Pod; `%s`\n' "$(paste -sd ';' "$scratch/chart.yaml" | sed 's/;/`; `/g')"
printf '\n| Flink, seconds from kill -9 until all tasks run | Flink'"'"'s defaults | the chart | ratio |\n| --- | --- | --- | --- |\n'
for version in ${VERSIONS:-1.20.0 2.3.0}; do
	for count in $counts; do
		measure "$version" "$count"
		print_row "$version" "$count"
	done
done
echo
bench_load | sed 's/$/ at the end/'
cat <<'END'

Limits of these figures:
* The job and its state are small, so the times include no download of state. JVMs are small and use the first compiler
  only, as in the tests; on two CPUs the start of the TaskManager's JVM takes most of the right column.
* On both sides the pause before a restart is that of a first failure: `restart-strategy.exponential-delay.reset-backoff-threshold`
  is 5 s instead of 1 h, else each death would wait half as long again as the one before.
* The TaskManager is started again immediately. A kubelet does that after the first death, and waits 10 s after the second one
  within 10 minutes.
END
