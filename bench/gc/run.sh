#!/usr/bin/env bash
#
# bench/gc/run.sh - what it costs to judge and to delete what a dead launch has left (`drey gc`): on a directory, and on S3
# (versitygw), on this machine.
#
#   bench/gc/run.sh [full]    1,000, 10,000 and 100,000 files
#   bench/gc/run.sh quick     1,000 and 10,000 files
#   bench/gc/run.sh beside BEFORE [RUNS]    100,000 files in a directory, beside the folder of an older drey that is built: both in
#                             turn, 8 runs of each
#
# Half of the files are referred to by a checkpoint of the next launch, which is kept; the others go. One run each. Prints
# Markdown.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=bench/lib.sh
. bench/lib.sh

case ${1:-full}:$# in
full:[01]) counts=(1000 10000 100000) ;;
quick:1) counts=(1000 10000) ;;
beside:[23]) [ -x "$2/build/drey" ] || bench_lacks "$2/build/drey is not there" ;;
*) bench_usage 6,9 ;;
esac
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
# shellcheck source=tests/servers/lib.sh
. tests/servers/lib.sh
# shellcheck source=tests/gc_world.sh
. tests/gc_world.sh
make -j2 all build/bench/resolve/fixtures >&2
FIXTURES=$BUILD/bench/resolve/fixtures
METADATA=$TOP/tests/fixtures/metadata/2.3.0-hashmap-chk
JOBS=("$(gc_job 1)" "$(gc_job 2)" "$(gc_job 3)")

row() { # CELL...
	printf '|'
	printf ' %s |' "$@"
	printf '\n'
}

# Three launches: of the first N files, of the second the checkpoint that refers to half of them, the last one runs.
fill() { # DIR N URI
	local ck=$1/ck
	rm -rf "$1"
	mkdir -p "$ck/${JOBS[0]}/shared" "$ck/${JOBS[1]}" "$ck/${JOBS[2]}/chk-9" "$1/sp"
	"$FIXTURES" shared "$ck/${JOBS[1]}/chk-1" "$ck/${JOBS[0]}/shared" $(($2 / 2))
	gc_metadata "$METADATA" 9 "$ck/${JOBS[2]}/chk-9/_metadata"
	gc_configure "$RUN" "$3"
	gc_journal "$RUN" "$3" 3
}

# "seconds s, MB": of one run.
cost() { # CMD...
	local s cpu kb status
	read -r s cpu kb status < <("$FIXTURES" measure "$@")
	[ "$status" = 0 ] || say "status $status: $*"
	awk -v s="$s" -v cpu="$cpu" -v kb="$kb" 'BEGIN { printf "%.2f s, %.2f s of CPU, %.1f MB", s, cpu, kb / 1024 }'
}

measure() { # DIR N URI
	local gc=("$BUILD/drey" gc --config "$RUN/drey.yaml" --keep-for 0s --grace 0s) judged deleted left
	fill "$@"
	judged=$(cost "${gc[@]}")
	deleted=$(cost "${gc[@]}" --delete)
	left=$(find "$1/ck/${JOBS[0]}" -type f | wc -l)
	[ "$left" -eq $(($2 / 2)) ] || say "$left files are left"
	row "$2, ${3%%:*}" "$judged" "$deleted"
}

# Of one run of the drey in DIR: a line "CPU wall" in a file.
time_gc() { # FILE DIR OPTION...
	local file=$1 drey=$2/build/drey s cpu kb status
	shift 2
	read -r s cpu kb status < <("$FIXTURES" measure "$drey" gc --config "$RUN/drey.yaml" --keep-for 0s --grace 0s "$@")
	[ "$status" = 0 ] || say "status $status: $drey"
	: "$kb"
	echo "$cpu $s" >>"$RUN/$file"
}

least() { # FILE COLUMN
	cut -d' ' -f"$2" "$RUN/$1" | sort -n | head -n 1
}

beside() { # BEFORE RUNS
	local i what column dir
	for ((i = 0; i < $2; i++)); do
		for what in before now; do
			fill "$RUN/dir" 100000 "file://$RUN/dir"
			[ "$what" = now ] && dir=$TOP || dir=$1
			time_gc "$what.judged" "$dir"
			time_gc "$what.deleted" "$dir" --delete
		done
	done
	row "100,000 files, the least of $2" before now factor
	row --- --- --- ---
	for what in judged deleted; do
		for column in 1 2; do
			row "$what, $([ "$column" = 1 ] && echo "s of CPU" || echo s)" "$(least "before.$what" "$column")" \
				"$(least "now.$what" "$column")" \
				"$(awk -v a="$(least "before.$what" "$column")" -v b="$(least "now.$what" "$column")" 'BEGIN { printf "%.2f", b / a }')"
		done
	done
}

if [ "${1:-}" = beside ]; then
	servers_begin bench-gc >&2
	bench_head "What dead launches have left" "$("$BUILD/drey" version | head -n 1), before: $("$2/build/drey" version | head -n 1)"
	printf '\n'
	beside "$2" "${3:-8}"
	exit 0
fi
servers_begin bench-gc versitygw >&2
server_up versitygw "$RUN/gw" >&2
export HOME=$RUN AWS_ENDPOINT_URL=$S3_ENDPOINT AWS_REGION=$S3_REGION AWS_EC2_METADATA_DISABLED=true
export AWS_ACCESS_KEY_ID=$S3_ACCESS_KEY AWS_SECRET_ACCESS_KEY=$S3_SECRET_KEY
mkdir -p "$RUN/gw/buckets/flink"

bench_head "What dead launches have left" "$("$BUILD/drey" version | head -n 1)"
printf '\n'
row "files" "drey gc" "drey gc --delete, half of them"
row --- --- ---
for count in "${counts[@]}"; do
	measure "$RUN/dir" "$count" "file://$RUN/dir"
	rm -rf "$RUN/dir"
done
for count in "${counts[@]}"; do
	measure "$RUN/gw/buckets/flink/g" "$count" s3://flink/g
	rm -rf "$RUN/gw/buckets/flink/g"
done
cat <<'END'

Limits of these figures: store and client share this machine. A deletion is one request; 32 are under way at a time.
END
