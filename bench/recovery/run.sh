#!/usr/bin/env bash
#
# bench/recovery/run.sh - how long a job is interrupted: after kill -9 of its JobManager, and by an upgrade. Real Flinks
# under drey, compared to the alternatives.
#
#   bench/recovery/run.sh [quick] [--runs N] [--sides "SIDE..."]     10 of each (quick: 1 death of two sides, 2.3.0 only)
#
# VERSIONS="1.20.0 2.3.0". The sides of one version run side by side, each with a JobManager, a TaskManager that stays
# alive, and Kubernetes HA, if it has that, in its own namespace of one real control plane (tests/cluster). They are
# killed in turn, so other load on the machine affects all. Prints Markdown. Memory: 700 MB for each side.

set -euo pipefail
cd "$(dirname "$0")/../.."
runs=10 upgrades=''
all_sides='plain cold spare released kept no-ha loop newest'
sides=$all_sides
# shellcheck source=bench/lib.sh
. bench/lib.sh
while [ $# -gt 0 ]; do
	case $1 in
	full) ;;
	quick) runs=1 upgrades=0 sides='released loop' VERSIONS=${VERSIONS:-2.3.0} ;;
	--runs) runs=${2-} && shift ;;
	--sides) sides=${2-} && shift ;;
	*) bench_usage 6 ;;
	esac
	shift
done
[[ $runs =~ ^[1-9][0-9]*$ ]] || bench_usage 6
for side in $sides; do
	[[ " $all_sides " == *" $side "* ]] || bench_usage 6
done

declare -A what=(
	[plain]="Flink's HA in a restart loop, JVM of 1 GB as Flink's scripts start it"
	[cold]="drey as in its image, the same JVM otherwise"
	[spare]="the same with \`flink.spare: warm\`"
	[released]="drey, Flink's HA"
	[kept]="the same, \`fastFailover: false\`"
	[no-ha]="drey, without Flink's HA"
	[loop]="Flink's HA in a restart loop"
	[newest]="bash: newest directory, restart loop, no HA"
)

scratch=$(mktemp -d)
export DREY_CLUSTER=$scratch/cluster
declare -A to=() from=()

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
	tests/cluster/cluster.sh down "$DREY_CLUSTER" || :
	rm -rf "$scratch"
}

begin_side() { # SIDE VERSION
	local fd
	mkfifo "$scratch/$1.in" "$scratch/$1.out"
	FLINK_VERSION=$2 SIDE=$1 bench/recovery/side.sh <"$scratch/$1.in" >"$scratch/$1.out" 2>"$scratch/$1.log" &
	exec {fd}>"$scratch/$1.in"
	to[$1]=$fd
	exec {fd}<"$scratch/$1.out"
	from[$1]=$fd
}

# One line from a side, which is also how it says that it has failed.
hear() { # SIDE
	read -r -u "${from[$1]}" line || {
		echo "bench/recovery/run.sh: the side '$1' has exited:" >&2
		cat "$scratch/$1.log" >&2
		exit 1
	}
}

# A line of numbers in ms for each run of a side; "-" is none.
column() { # FILE N
	awk -v n="$2" '$n != "-" { print $n }' "$1"
}

ask() { # kill|upgrade SIDE
	echo "$1" >&"${to[$2]}"
	hear "$2"
	echo "$line" >>"$scratch/$version.$1.$2"
	echo "# Flink $version, $1, $2: $line ms" >&2
}

measure() { # VERSION
	local side i
	for side in $sides; do
		begin_side "$side" "$1"
		hear "$side" # one after another: all at once would be a storm of JVMs
	done
	for ((i = 0; i < runs; i++)); do
		for side in $sides; do
			ask kill "$side"
		done
	done
	# an upgrade is only measured where there is something beside it
	for ((i = 0; i < ${upgrades:-$runs} && ${to[released]:-0} && ${to[loop]:-0}; i++)); do
		ask upgrade released
		ask upgrade loop
	done
	end_sides
}

print_kills() { # VERSION
	local side cells i values unit
	printf '\n| Flink %s, seconds after kill -9 | REST answers | RUNNING | first new checkpoint | of it drey, ms |\n' "$1"
	echo '| --- | --- | --- | --- | --- |'
	for side in $sides; do
		cells=''
		for i in 1 2 3 4; do
			values=$(column "$scratch/$1.kill.$side" $i) unit=$((i < 4 ? 1000 : 1))
			cells+=" ${values:+$(bench_spread $unit <<<"$values")} |"
		done
		echo "| ${what[$side]} |$cells"
	done
}

# What the goals speak of: RUNNING, beside the same without the release, and beside Flink without drey.
print_ratio() { # VERSION SIDE OTHER
	[ -e "$scratch/$1.kill.$2" ] && [ -e "$scratch/$1.kill.$3" ] || return 0
	awk -v a="$(column "$scratch/$1.kill.$2" 2 | bench_median)" -v b="$(column "$scratch/$1.kill.$3" 2 | bench_median)" \
		-v name="${what[$2]} / ${what[$3]}" -v version="$1" \
		'BEGIN { printf "* Flink %s: %s: %.2f\n", version, name, a / b }'
}

print_upgrades() { # VERSION
	[ -e "$scratch/$1.upgrade.released" ] && [ -e "$scratch/$1.upgrade.loop" ] || return 0
	printf '\n| Flink %s, an upgrade: seconds | the savepoint is there | RUNNING |\n| --- | --- | --- |\n' "$1"
	for side in released loop; do
		printf '| %s | %s | %s |\n' "$([ $side = released ] && echo drey || echo "the same steps with curl")" \
			"$(column "$scratch/$1.upgrade.$side" 1 | bench_spread 1000)" "$(column "$scratch/$1.upgrade.$side" 2 | bench_spread 1000)"
	done
}

trap finish EXIT
make -j2 all >&2
KUBE_HOME=$(tools/get-kube.sh kube)
HELM_HOME=$(tools/get-kube.sh helm)
export KUBE_HOME HELM_HOME
tests/cluster/cluster.sh up "$DREY_CLUSTER" --owner $$ >/dev/null
bench_head "After a death" "drey $(build/drey --version | cut -d' ' -f2); $runs runs of each: median (least-most)"
for version in ${VERSIONS:-1.20.0 2.3.0}; do
	measure "$version"
	print_kills "$version"
	echo
	print_ratio "$version" cold plain
	print_ratio "$version" spare plain
	print_ratio "$version" spare cold
	print_ratio "$version" released kept
	print_ratio "$version" released loop
	print_ratio "$version" no-ha newest
	print_upgrades "$version"
done
echo
bench_load | sed 's/$/ at the end/'
cat <<'END'

Limits of these figures:
* The job and its state are small, so the times include no download of state. Where nothing else is said, JVMs have
  160 MB and the first compiler only, as in the tests; on two CPUs the start of a JVM takes most of a recovery.
* Flink alone waits until the lock of the dead leader has expired, 15 s and up to 5 s more; drey releases it.
* There is a checkpoint every 2 s, so up to 2 s of "first new checkpoint" are spent waiting for it.
* The restart loop starts the next JobManager immediately. A kubelet waits 10 s from the second death on, then twice as
  long each time, up to 5 minutes; drey has its own backoff, which does not apply to the first death after a proven launch.
* "bash" takes the newest directory by its time, even if that is incomplete or belongs to another job; here it was always right.
END
