#!/usr/bin/env bash
#
# run.sh - all benchmarks, one after another: drey and its alternatives, in one run and one Markdown document.
#
#   bench/run.sh [bench|bench-quick] [NAME...]
#
# A benchmark is bench/NAME/run.sh (bench/lib.sh describes its interface); bench-quick takes under five minutes for all of
# them except `pod`, whose node and images alone take as long. Progress is reported on stderr. The figures have no limits to
# pass: exit status 0 means that all was measured, 3 that something cannot be measured here (the last table has the reason),
# 1 that something failed, 2 usage.

set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
# shellcheck source=bench/lib.sh
. bench/lib.sh

words=()
case ${1:-bench} in
bench) ;;
bench-quick) words=(quick) ;;
*) bench_usage 5 ;;
esac
[ $# -eq 0 ] || shift
names=("$@")
if [ $# -eq 0 ]; then
	for script in bench/*/run.sh; do
		name=$(basename "$(dirname "$script")")
		[ "${words[*]} $name" = "quick pod" ] || names+=("$name")
	done
fi
for name in "${names[@]}"; do
	[ -x "bench/$name/run.sh" ] || bench_usage 5
done

say() {
	echo "bench: $*" >&2
}

version_of() { # CMD...: the first line of the output, or the error
	"$@" 2>&1 </dev/null | head -n 1 || :
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
say "building"
make -j2 all >&2 || exit 1

cat <<END
# Benchmarks of drey $(cat VERSION), $(date --utc +%Y-%m-%d)

* $(bench_machine), $(awk '/^MemTotal/ { printf "%.0f", $2 / 1048576 }' /proc/meminfo) GiB of memory, $(sed -n 's/^PRETTY_NAME="\(.*\)"/\1/p' /etc/os-release), $(bench_load)
* $(version_of "${CC:-cc}" --version); $(version_of ldd --version | sed 's/.* /glibc /'); $(version_of curl --version | sed 's/ (.*//'); $(version_of java -version); $(version_of python3 --version)
* $(date --utc '+%Y-%m-%d %H:%M') UTC; \`make ${words[0]:+bench-}${words[0]:-bench}\`
END

status=0 began=$SECONDS n=0
for name in "${names[@]}"; do
	n=$((n + 1)) since=$SECONDS
	say "$n of ${#names[@]}: $name"
	echo
	"bench/$name/run.sh" "${words[@]}" 2>"$scratch/$name.err"
	ended=$?
	took=$((SECONDS - since))
	case $ended in
	0) result="measured" ;;
	3 | 4)
		result="not available: $(tail -n 1 "$scratch/$name.err")"
		[ "$status" -eq 1 ] || status=3
		;;
	*)
		result="has failed with status $ended"
		status=1
		;;
	esac
	if [ "$ended" -ne 0 ]; then
		tail -n 40 "$scratch/$name.err" >&2
		printf '\n`bench/%s/run.sh`: %s.\n' "$name" "$result"
	fi
	say "$name: $took s, $result"
	printf '| `bench/%s` | %s | %s |\n' "$name" "$took" "$result" >>"$scratch/summary"
done
printf '\n## What was measured\n\n| | seconds | |\n| --- | --- | --- |\n%s\n| together | %s | %s |\n' "$(cat "$scratch/summary")" \
	"$((SECONDS - began))" "$(bench_load)"
exit "$status"
