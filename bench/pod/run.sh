#!/usr/bin/env bash
#
# bench/pod/run.sh - what drey adds to the start of a JobManager's Pod, and how long an upgrade interrupts a job: the chart with
# `helm upgrade`, by recreate and by surge, compared to the same image without drey, with kubectl and curl: one cluster after the
# other, and the second one up before the first one stops, as Lyft's operator does it. Real Pods on a real node (tests/cluster).
#
#   bench/pod/run.sh [quick] [--starts N] [--upgrades N]     20 and 8 of each (quick: 3 and 1)
#
# Needs root. The applications run side by side and take turns, so other load on the machine affects all. Prints
# Markdown. Memory: 8 GB.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=bench/lib.sh
. bench/lib.sh
starts=20 upgrades=8
while [ $# -gt 0 ]; do
	case $1 in
	full) ;;
	quick) starts=3 upgrades=1 ;;
	--starts) starts=${2-} && shift ;;
	--upgrades) upgrades=${2-} && shift ;;
	*) bench_usage 7 ;;
	esac
	shift
done
[[ "$starts $upgrades" =~ ^[0-9]+\ [0-9]+$ ]] || bench_usage 7
[ "$(id -u)" = 0 ] || bench_lacks "needs root, for a node that runs Pods"

column() { # FILE N
	awk -v n="$2" '{ print $n }' "$1"
}

row() { # TITLE FILE UNIT_MS COLUMN...
	local cells='' n
	for n in "${@:4}"; do
		cells+=" $(column "$2" "$n" | bench_spread "$3") |"
	done
	echo "| $1 |$cells"
}

print_starts() {
	printf '\n| a replaced Pod, ms | bound to the node to JVM | of it before process 1 | of it after process 1 |\n| --- | --- | --- | --- |\n'
	row "drey" "$scratch/start.drey" 1 1 2 3
	row "without: \`standalone-job.sh start-foreground\`" "$scratch/start.hand" 1 1 2 3
	awk -v a="$(column "$scratch/start.drey" 1 | bench_median)" -v b="$(column "$scratch/start.hand" 1 | bench_median)" \
		'BEGIN { printf "\nThe medians differ by %d ms; ", a - b }'
	printf 'drey itself, from process 1 to the start of the same script: %s ms\n' "$(column "$scratch/start.drey" 4 | bench_spread 1)"
}

print_upgrades() {
	printf '\n| an upgrade, seconds | last record to first record | of it until the old job has ended | from there to main() | from there |\n'
	printf '| --- | --- | --- | --- | --- |\n'
	row "\`helm upgrade\`, recreate" "$scratch/upgrade.drey" 1000 1 2 3 4
	row "\`helm upgrade\`, surge" "$scratch/upgrade.surge" 1000 1 2 3 4
	row "by hand" "$scratch/upgrade.hand" 1000 1 2 3 4
	row "by hand, in the order of Lyft's operator (Dual)" "$scratch/upgrade.lyft" 1000 1 2 3 4
	echo
	compare drey recreate hand "by hand"
	compare surge surge hand "by hand"
	compare surge surge drey recreate
	compare surge surge lyft "Lyft's order"
	printf '\n| surge, ms | last record to Granted | to Taken | to go | to main() | to first record |\n'
	printf '| --- | --- | --- | --- | --- | --- |\n'
	row "a hand-over" "$scratch/parts.surge" 1 1 2 3 4 5
	printf '\nMemory of its Pods, MiB: %s before, at most %s while two versions run. ' "$(column "$scratch/memory.surge" 1 | bench_spread 1)" \
		"$(column "$scratch/memory.surge" 2 | bench_spread 1)"
	printf 'Requests to the API server, from the new Pod until its job runs (%s s): ' "$(column "$scratch/requests.surge" 4 | bench_spread 1)"
	printf '%s by both dreys, of these %s since the stop began; %s by both Flinks.\n' "$(column "$scratch/requests.surge" 1 | bench_spread 1)" \
		"$(column "$scratch/requests.surge" 2 | bench_spread 1)" "$(column "$scratch/requests.surge" 3 | bench_spread 1)"
	printf 'The agent at rest, kB: %s with recreate, %s with surge.\n' "$(column "$scratch/agent.drey" 1 | bench_spread 1)" \
		"$(column "$scratch/agent.surge" 1 | bench_spread 1)"
}

compare() { # SIDE NAME SIDE NAME
	awk -v a="$(column "$scratch/upgrade.$1" 1 | bench_median)" -v b="$(column "$scratch/upgrade.$3" 1 | bench_median)" -v what="$2 / $4" \
		-v turns="$(paste "$scratch/upgrade.$1" "$scratch/upgrade.$3" | awk '{ printf "%s%.2f", (NR > 1 ? ", " : ""), $1 / $5 }')" \
		'BEGIN { printf "* %s: %.2f of the medians; turn by turn %s\n", what, a / b, turns }'
}

scratch=$(mktemp -d)
own=''
finish() {
	[ -z "$own" ] || tests/cluster/node.sh down "$own" || :
	rm -rf "$scratch"
}
trap finish EXIT
for name in KUBE:kube NODE:node DNS:dns HELM:helm; do
	home=$(tools/get-kube.sh "${name#*:}")
	export "${name%:*}_HOME=$home"
done
VERSITYGW=$(tools/get-servers.sh versitygw)
export VERSITYGW
if [ -z "${DREY_NODE:-}" ]; then
	layout=$(tests/cluster/images.sh "${IMAGES:-${XDG_CACHE_HOME:-$HOME/.cache}/drey/images}")
	own=$scratch/node
	tests/cluster/node.sh up "$own" --owner $$
	tests/cluster/node.sh load "$own" "$layout"
	export DREY_NODE=$own
fi
make -j2 all >&2
bench_head "A Pod starts, an application is upgraded" \
	"drey $(build/drey --version | cut -d' ' -f2); $starts starts and $upgrades upgrades of each: median (least-most)"
tests/cluster/node.sh enter "$DREY_NODE" bench/pod/sides.sh "$scratch" "$starts" "$upgrades" >&2
[ "$starts" -eq 0 ] || print_starts
[ "$upgrades" -eq 0 ] || print_upgrades
cat <<END

$(bench_load) at the end

Limits of these figures:
* API server, kubelet, all applications and the object store share two CPUs, so everything is slower than on a cluster,
  including the responses that drey waits for.
* "Bound" is when the scheduler reported to the API server, some milliseconds after the Pod was created. The start of the JVM is its
  own first line (\`-Xlog\`), less its uptime. Process times are accurate to 10 ms.
* In a surge upgrade "the old job has ended" is when its tasks have closed; "Granted" and "Taken" are when a watch of the journal
  reports them, "go" is when drey lets main() continue. Memory is the working set, looked at every 0.5 s or more.
* The image is already on the node, and containers start one at a time here.
* "By hand" never hesitates: a script starts the next step as soon as the previous one is done, and gives the new job its own path
  for job results. The moment when the operator is ready counts as the first record, the snapshot of the savepoint as the last one.
* The state is small, so the times include no transfer of state.
END
