#!/usr/bin/env bash
#
# bench/chart/run.sh - how long `helm template` takes for the chart, by Helm 3 and Helm 4: without names of job ids, with
# the default of 200, with the maximum, and with all options enabled.
#
#   bench/chart/run.sh           20 runs of each
#   bench/chart/run.sh quick     5 runs of each
#
# Prints Markdown. Nothing is installed, and no cluster is needed. The Helms come from tools/get-kube.sh.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=bench/lib.sh
. bench/lib.sh
case ${1:-full} in
full) runs=20 ;;
quick) runs=5 ;;
*) bench_usage 6,7 ;;
esac
chart=chart/flink-application
helm3=$(tools/get-kube.sh helm)/bin/helm
helm4=$(tools/get-kube.sh helm4)/bin/helm
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export HELM_CACHE_HOME=$scratch HELM_CONFIG_HOME=$scratch HELM_DATA_HOME=$scratch

# "least median most CPU", in seconds; CPU (of all its threads) is that of the median run.
measure() { # CMD...
	local i TIMEFORMAT='%R %U %S'
	for ((i = 0; i < runs; i++)); do
		{ time "$@" >"$scratch/out" 2>"$scratch/err"; } 2>&1
	done | sort -n | awk '{ wall[NR] = $1; cpu[NR] = $2 + $3 }
		END { m = int((NR + 1) / 2); printf "%.2f %.2f %.2f %.2f\n", wall[1], wall[m], wall[NR], cpu[m] }'
}

row() { # TITLE OPTION...
	local title=$1 three four
	shift
	read -ra three < <(measure "$helm3" template orders "$chart" "$@")
	read -ra four < <(measure "$helm4" template orders "$chart" "$@")
	printf '| %s | %s | %s | %s | %s | %s |\n' "$title" "$(wc -c <"$scratch/out" | awk '{ printf "%d KB", $1 / 1000 }')" \
		"${three[1]} s (${three[0]} to ${three[2]})" "${three[3]} s" "${four[1]} s (${four[0]} to ${four[2]})" "${four[3]} s"
}

bench_head "How long the chart takes to render" "Helm $("$helm3" version --template '{{.Version}}') and $("$helm4" version \
	--template '{{.Version}}'); $runs runs of each"
echo
printf '| `helm template` | rendered | Helm 3, median | its CPU | Helm 4, median | its CPU |\n| --- | --- | --- | --- | --- | --- |\n'
row "no named launches" --values "$chart/examples/s3.yaml" --set drey.kubernetes.launches=0
row "200 named launches, the default" --values "$chart/examples/s3.yaml"
row "1,000, the most" --values "$chart/examples/s3.yaml" --set drey.kubernetes.launches=1000
row "200 and everything around it" --values "$chart/examples/full.yaml"
