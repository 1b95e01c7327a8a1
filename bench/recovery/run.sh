#!/usr/bin/env bash
#
# bench/recovery/run.sh - kill -9 of the JobManager to the job RUNNING, with drey's fast failover and without it.
#
#   bench/recovery/run.sh [RUNS]     3 of each; VERSIONS="1.20.0 2.3.0"
#
# Two applications of the same Flink stand side by side, each with a JobManager under drey, a TaskManager that stays
# alive, and Kubernetes HA in a namespace of its own of one real control plane (tests/cluster). They differ in
# kubernetes.fastFailover alone, and are killed in turn. The times are in ms after the kill: the REST API answers, the
# job is RUNNING with all of its tasks. Memory: 3 GB.
set -euo pipefail
cd "$(dirname "$0")/../.."
runs=${1:-3}
case $runs in
*[!0-9]* | '')
	sed -n '5s/^# *//p' "$0" >&2
	exit 2
	;;
esac

median() { # NUMBER...
	printf '%s\n' "$@" | sort -n | awk '{ v[NR] = $1 } END { print (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2 }'
}

spread() { # NUMBER...: "median (least-most)"
	echo "$(median "$@") ($(printf '%s\n' "$@" | sort -n | sed -n '1p')-$(printf '%s\n' "$@" | sort -n | sed -n '$p'))"
}

scratch=$(mktemp -d)
export DREY_CLUSTER=$scratch/cluster
finish() {
	exec 3>&- 4<&- 5>&- 6<&- || :
	wait || :
	tests/cluster/cluster.sh down "$DREY_CLUSTER" || :
	rm -rf "$scratch"
}
trap finish EXIT
KUBE_HOME=$(tools/get-kube.sh kube)
HELM_HOME=$(tools/get-kube.sh helm)
export KUBE_HOME HELM_HOME
tests/cluster/cluster.sh up "$DREY_CLUSTER" --owner $$ >/dev/null

# One line from a side, which is also how it says that it has failed.
hear() { # FD SIDE
	read -r -u "$1" line || {
		echo "bench/recovery/run.sh: the side '$2' has ended; see $scratch/$2.log" >&2
		cat "$scratch/$2.log" >&2
		exit 1
	}
}

echo "$(nproc) CPUs, $(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1), Linux $(uname -r), load" \
	"$(cut -d' ' -f1-3 /proc/loadavg) at the start; $runs runs of each, ms after kill -9: median (least-most)"
for version in ${VERSIONS:-1.20.0 2.3.0}; do
	declare -A rest=() running=()
	for side in fast plain; do
		mkfifo "$scratch/$side.in" "$scratch/$side.out"
		FLINK_VERSION=$version SIDE=$side bench/recovery/side.sh <"$scratch/$side.in" >"$scratch/$side.out" \
			2>"$scratch/$side.log" &
		if [ $side = fast ]; then
			exec 3>"$scratch/fast.in" 4<"$scratch/fast.out"
		else
			exec 5>"$scratch/plain.in" 6<"$scratch/plain.out"
		fi
	done
	hear 4 fast
	hear 6 plain
	for ((i = 0; i < runs; i++)); do
		echo kill >&3
		hear 4 fast
		rest[fast]+="${line% *} " running[fast]+="${line#* } "
		echo kill >&5
		hear 6 plain
		rest[plain]+="${line% *} " running[plain]+="${line#* } "
		echo "# Flink $version run $((i + 1)): fast ${running[fast]}, plain ${running[plain]}" >&2
	done
	exec 3>&- 4<&- 5>&- 6<&-
	wait
	rm -f "$scratch"/*.in "$scratch"/*.out
	for side in fast plain; do
		# shellcheck disable=SC2086 # lists
		echo "Flink $version $side: REST $(spread ${rest[$side]}), RUNNING $(spread ${running[$side]})"
	done
	# shellcheck disable=SC2086 # lists
	awk -v fast="$(median ${running[fast]})" -v plain="$(median ${running[plain]})" -v version="$version" \
		'BEGIN { printf "Flink %s: fast is %.2f of plain\n", version, fast / plain }'
done
