#!/usr/bin/env bash
#
# bench/decision/run.sh - what one decision costs on S3 (`drey resolve` with the journal of an application): requests, and time on
# an S3 that is 30 ms away (bench/resolve/far.py); with BEFORE, the folder of an older drey that is built, of both in turn.
#
#   bench/decision/run.sh [full] [BEFORE]    41 runs of each
#   bench/decision/run.sh quick [BEFORE]     7 runs of each
#
# The store (versitygw) is on this machine; the proxy repeats its answers, so that its own time is in no figure. Prints Markdown.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=bench/lib.sh
. bench/lib.sh

case ${1:-full} in
full) runs=41 ;;
quick) runs=7 ;;
*) bench_usage 6,7 ;;
esac
[ $# -le 2 ] || bench_usage 6,7
before=${2:-}
[ -z "$before" ] || [ -x "$before/build/drey" ] || bench_lacks "$before/build/drey is not there"
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
# shellcheck source=tests/servers/lib.sh
. tests/servers/lib.sh
# shellcheck source=tests/gc_world.sh
. tests/gc_world.sh
make -j2 all build/bench/resolve/fixtures >&2
FIXTURES=$BUILD/bench/resolve/fixtures
METADATA=$TOP/tests/fixtures/metadata/2.3.0-hashmap-chk # of checkpoint 7, without files of its own

row() { # CELL...
	printf '|'
	printf ' %s |' "$@"
	printf '\n'
}

# Five launches with a checkpoint each, and savepoints of another time: the newest checkpoint is what the job starts from. Each
# world has a prefix of its own, because the proxy remembers; and none has an empty directory, which is no prefix in S3.
fill() { # SAVEPOINTS
	local dir=$RUN/gw/buckets/flink/d$1 where=s3://flink/d$1 n
	rm -rf "$RUN/state"
	for n in 1 2 3 4 5; do
		mkdir -p "$dir/ck/$(gc_job $n)/chk-7"
		cp "$METADATA" "$dir/ck/$(gc_job $n)/chk-7/_metadata"
	done
	[ "$1" = 0 ] || { mkdir "$dir/sp" && "$FIXTURES" job "$dir/sp" "$1"; }
	gc_configure "$RUN" "$where"
	gc_journal "$RUN" "$where" 5 "(\$now - 3600000 * (6 - n))"
}

# One decision of the drey in DIR: its time, its requests, and what it decides.
decide() { # NAME DIR
	local s cpu kb status before
	before=$(wc -l <"$RUN/far.log")
	read -r s cpu kb status <<<"$("$FIXTURES" measure "$2/drey" resolve --config "$RUN/drey.yaml")"
	awk -v s="$s" 'BEGIN { print s * 1000 }' >>"$RUN/said/$1.ms"
	echo $(($(wc -l <"$RUN/far.log") - before)) >>"$RUN/said/$1.requests"
	: "$cpu" "$kb" "$status"
}

decision() { # DIR
	"$1/drey" resolve --config "$RUN/drey.yaml" --json 2>/dev/null |
		jq --raw-output '"\(.decision) \(.snapshot.path // "" | split("/") | last)"'
}

cells() { # NAME
	CELL="$(bench_spread 1 <"$RUN/said/$1.ms") ms, $(sort -n "$RUN/said/$1.requests" | tail -n 1) requests"
}

measure() { # WHAT SAVEPOINTS
	local i now old=-
	fill "$2"
	rm -rf "$RUN/said"
	mkdir -p "$RUN/said"
	for ((i = 0; i <= runs; i++)); do
		[ "$i" != 1 ] || rm "$RUN"/said/* # the proxy has the store's answers
		if [ -n "$before" ]; then decide before "$before/build"; fi
		decide now "$BUILD"
	done
	cells now
	now=$CELL
	if [ -n "$before" ]; then
		cells before
		old=$CELL
		[ "$(decision "$before/build")" = "$(decision "$BUILD")" ] || say "$1: before $(decision "$before/build")"
	fi
	row "$1" "$old" "$now" "$(decision "$BUILD")"
}

servers_begin bench-decision versitygw >&2
server_up versitygw "$RUN/gw" >&2
mkdir -p "$RUN/gw/buckets/flink"
take_port port
: >"$RUN/far.log"
find_server_python
spawn far "$SERVER_PYTHON" bench/resolve/far.py "$port" "${S3_ENDPOINT##*:}" 30 "$RUN/far.log" remember
server_wait far "http://127.0.0.1:$port/" far >&2
export HOME=$RUN AWS_ENDPOINT_URL=http://127.0.0.1:$port AWS_REGION=$S3_REGION AWS_EC2_METADATA_DISABLED=true
export AWS_ACCESS_KEY_ID=$S3_ACCESS_KEY AWS_SECRET_ACCESS_KEY=$S3_SECRET_KEY

bench_head "A decision on S3" "$("$BUILD/drey" version | head -n 1)${before:+, before: $("$before/build/drey" version | head -n 1)}"
printf '\n'
row "five launches, 30 ms away" "before" "now" "decision"
row --- --- --- ---
measure "a checkpoint each" 0
measure "and 10 savepoints" 10
measure "and 1,000 savepoints" 1000
cat <<'END'

Median (least-most) of the times, the most of the requests. The requests of one decision are made in rounds, several at a time: a
round costs 30 ms.
END
