#!/usr/bin/env bash
#
# bench/resolve/run.sh - how long it takes to find the snapshot to start from, and to check it: drey compared to a boto3
# script and `aws s3 ls | sort`, on a directory, on S3 (versitygw) and on Swift, all on this machine; and on an S3 that is
# 30 ms away (far.py).
#
#   bench/resolve/run.sh [full]    100, 10,000 and 100,000 savepoints; 10 to 100,000 files; a _metadata of 1 kB to 1 GB
#   bench/resolve/run.sh quick     100 and 1,000 savepoints, 10,000 far away, 10 and 1,000 files, 1 kB to 100 MB
#   bench/resolve/run.sh far       only the S3 that is 30 ms away
#
# Each figure is the best of three runs (of one at 100,000), far away the median of ten that are made in turn. Prints
# Markdown. The servers come from tools/get-servers.sh.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=bench/lib.sh
. bench/lib.sh

case ${1:-full} in
full | far)
	counts=(100 10000 100000) swift_counts=(100 10000 100000) file_counts=(10 1000 10000 100000) kilobytes=(1 1000 1000000)
	far_count=100000 far_runs=10
	;;
quick)
	counts=(100 1000) swift_counts=(100) file_counts=(10 1000) kilobytes=(1 1000 100000)
	far_count=10000 far_runs=3
	;;
*) bench_usage 7,9 ;;
esac
[ $# -le 1 ] || bench_usage 7,9
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
# shellcheck source=tests/servers/lib.sh
. tests/servers/lib.sh
make -j2 all build/bench/resolve/fixtures build/bench/resolve/parse >&2
FIXTURES=$BUILD/bench/resolve/fixtures

RUNS=3

# Sets SECONDS_S, CPU_S, PEAK_MB: of the fastest run. What fails is said.
best() { # CMD...
	local line s cpu kb status i
	SECONDS_S=''
	for ((i = 0; i < RUNS; i++)); do
		line=$("$FIXTURES" measure "$@")
		read -r s cpu kb status <<<"$line"
		[ "$status" = 0 ] || say "status $status: $*"
		if [ -z "$SECONDS_S" ] || awk "BEGIN { exit !($s < $SECONDS_S) }"; then
			SECONDS_S=$s CPU_S=$cpu PEAK_MB=$(awk "BEGIN { printf \"%.1f\", $kb / 1024 }")
		fi
	done
}

lists_of() { # LOG PATTERN CMD...: how many requests of that kind CMD makes
	local before
	before=$(grep -cE "$2" "$1" || :)
	"${@:3}" >/dev/null 2>&1 || :
	echo $(($(grep -cE "$2" "$1" || :) - before))
}

row() { # CELL...
	printf '|'
	printf ' %s |' "$@"
	printf '\n'
}

each() { # SECONDS N: how the cost grows
	awk -v s="$1" -v n="$2" 'BEGIN { printf "%.3g us", s / n * 1e6 }'
}

# The container's own list is given the rows; only the newest thousand are objects, for only they are looked at.
swift_fill() { # CONTAINER N
	local real=$2
	[ "$real" -le 1000 ] || real=1000
	mkdir -p "$RUN/swift-sp"
	"$FIXTURES" savepoints "$RUN/swift-sp/sp" "$2" $(($2 - real))
	swift_unpack "$RUN/swift-sp" "$1"
	rm -r "$RUN/swift-sp"
	[ "$real" -eq "$2" ] || "$OPENSTACK/bin/python" -W ignore bench/resolve/swift_rows.py "$RUN/swift" "$1" $(($2 - real))
}

# Sets DREY: the cells of drey's decision.
decide() { # N URI [LOG PATTERN]: of a listing, in the server's log
	local lists=-
	best "$BUILD/drey" resolve --savepoints "$2"
	[ $# -eq 2 ] || lists=$(lists_of "$3" "$4" "$BUILD/drey" resolve --savepoints "$2")
	DREY=("$SECONDS_S s" "$CPU_S s" "$(each "$SECONDS_S" "$1")" "$lists" "$PEAK_MB MB")
}

# drey, a boto3 script and aws beside each other; the environment says which server they ask.
s3_row() { # WHERE N URI LOG PATTERN
	local boto3 place=${3#s3://} aws
	decide "${@:2}"
	best "$OPENSTACK/bin/python" tests/servers/client.py newest-savepoint "${place%%/*}" "${place#*/}/"
	boto3="$SECONDS_S s, $PEAK_MB MB"
	aws="'$OPENSTACK/bin/aws' --endpoint-url $AWS_ENDPOINT_URL s3 ls --recursive $3/ | grep _metadata | sort | tail -n 1"
	best bash -o pipefail -c "$aws"
	row "$2 on $1" "${DREY[@]}" "$boto3" "$SECONDS_S s, $PEAK_MB MB"
}

decision_file_and_s3() {
	local n
	for n in "${counts[@]}"; do
		RUNS=$((n < 100000 ? 3 : 1))
		"$FIXTURES" savepoints "$BUCKETS/flink/sp-$n" "$n"
		decide "$n" "file://$BUCKETS/flink/sp-$n"
		row "$n in a directory" "${DREY[@]}" - -
		s3_row "S3, versitygw" "$n" "s3://flink/sp-$n" "$RUN/gw/access.log" s3_ListObjects
	done
}

# The same container twice: as Swift, and as the S3 that Swift speaks too.
decision_swift() {
	local n log=$RUN/log/swift-container.log pattern
	for n in "${swift_counts[@]}"; do
		RUNS=$((n < 100000 ? 3 : 1))
		if ! swift_fill "sp-$n" "$n"; then
			say "Swift could not be filled with $n savepoints"
			continue
		fi
		pattern="\"GET /d1/[0-9]+/AUTH_test/sp-$n\""
		decide "$n" "swift://sp-$n/sp" "$log" "$pattern"
		best bash -o pipefail -c "'$OPENSTACK/bin/python' -W ignore '$OPENSTACK/bin/swift' list --long sp-$n |
			grep _metadata | sort -k 2,3 | tail -n 1"
		row "$n on Swift" "${DREY[@]}" - "$SECONDS_S s, $PEAK_MB MB"
		AWS_ENDPOINT_URL=$SWIFT_S3_ENDPOINT AWS_ACCESS_KEY_ID=$SWIFT_USER AWS_SECRET_ACCESS_KEY=$SWIFT_KEY \
			s3_row "S3, Swift" "$n" "s3://sp-$n/sp" "$log" "$pattern"
	done
}

verification() {
	local n local_s
	for n in "${file_counts[@]}"; do
		RUNS=$((n < 100000 ? 3 : 1))
		"$FIXTURES" files "$BUCKETS/flink/files-$n" "$n"
		best "$BUILD/drey" verify "file://$BUCKETS/flink/files-$n"
		local_s=$SECONDS_S
		best "$BUILD/drey" verify "s3://flink/files-$n"
		row "$n" "$local_s s" "$(each "$local_s" "$n")" "$SECONDS_S s" "$(each "$SECONDS_S" "$n")" \
			"$(lists_of "$RUN/gw/access.log" 's3_(ListObjects|HeadObject)' "$BUILD/drey" verify "s3://flink/files-$n")" \
			"$PEAK_MB MB"
	done
}

# ---- far away

# One command as a measurement of the side NAME: its seconds and its peak memory, and how many requests it made.
far_measure() { # NAME CMD...
	local s cpu kb status before
	before=$(wc -l <"$RUN/far.log")
	read -r s cpu kb status <<<"$("$FIXTURES" measure "${@:2}")"
	[ "$status" = 0 ] || say "status $status: ${*:2}"
	awk -v s="$s" 'BEGIN { print s * 1000 }' >>"$RUN/far/$1.ms"
	echo "$kb" >>"$RUN/far/$1.kb"
	echo $(($(wc -l <"$RUN/far.log") - before)) >>"$RUN/far/$1.requests"
}

far_cells() { # NAME: "seconds, requests, peak memory"
	[ -s "$RUN/far/$1.ms" ] || {
		CELL=-
		return
	}
	CELL="$(bench_spread 1000 <"$RUN/far/$1.ms") s, $(sort -n "$RUN/far/$1.requests" | tail -n 1) requests, $(
		bench_median <"$RUN/far/$1.kb" | awk '{ printf "%.1f", $1 / 1024 }') MB"
}

# The sides in turn, after one turn that is not counted: the proxy then has the store's answers.
far_row() { # WHAT SIDE=COMMAND...
	local side i cells=()
	rm -rf "$RUN/far"
	mkdir -p "$RUN/far"
	for ((i = 0; i <= far_runs; i++)); do
		[ "$i" != 1 ] || rm "$RUN"/far/*
		for side in "${@:2}"; do
			far_measure "${side%%=*}" bash -o pipefail -c "exec ${side#*=}"
		done
	done
	for side in drey boto3 aws; do
		far_cells "$side"
		cells+=("$CELL")
	done
	row "$1" "${cells[@]}"
}

far_away() {
	local port n=$far_count aws
	take_port port
	: >"$RUN/far.log"
	find_server_python
	spawn far "$SERVER_PYTHON" bench/resolve/far.py "$port" "${S3_ENDPOINT##*:}" 30 "$RUN/far.log" remember
	server_wait far "http://127.0.0.1:$port/" far
	local -x AWS_ENDPOINT_URL=http://127.0.0.1:$port
	"$FIXTURES" job "$BUCKETS/flink/far-job" "$n"
	"$FIXTURES" savepoints "$BUCKETS/flink/far-jobs" "$n"
	"$FIXTURES" files "$BUCKETS/flink/far-files" "$n"
	aws="bash -o pipefail -c \"'$OPENSTACK/bin/aws' --endpoint-url $AWS_ENDPOINT_URL s3 ls --recursive s3://flink/far-jobs/ |
		grep _metadata | sort | tail -n 1\""
	far_row "$n savepoints of as many jobs" "drey='$BUILD/drey' resolve --savepoints s3://flink/far-jobs" \
		"boto3='$OPENSTACK/bin/python' tests/servers/client.py newest-savepoint flink far-jobs/" "aws=$aws"
	far_row "$n savepoints of one job" "drey='$BUILD/drey' resolve --savepoints s3://flink/far-job"
	far_row "a savepoint that refers to $n files" "drey='$BUILD/drey' verify s3://flink/far-files"
}

parse() { # read|load
	"$BUILD/bench/resolve/parse" "$1" "$RUN/metadata" 2>&1 | sed 's/^[a-z]*: //' # a refusal is a result, too
}

parsing() {
	local kb kind
	for kind in inline files; do
		for kb in "${kilobytes[@]}"; do
			"$BUILD/bench/resolve/parse" make "$kind" "$kb" >"$RUN/metadata"
			row "$kb kB, $kind" "$(parse read)" "$(parse load)"
			rm "$RUN/metadata"
		done
	done
}

server_find versitygw || die 3 "versitygw is not available"
server_find openstack || die 3 "the S3 and Swift clients are not available"
servers_begin bench-resolve >/dev/null
BUCKETS=$RUN/gw/buckets
S3_REGION=us-east-1
server_up versitygw "$RUN/gw"
mkdir -p "$BUCKETS/flink" "$RUN/swift-sp"
server_up swift "$RUN/swift"
export HOME=$RUN AWS_ENDPOINT_URL=$S3_ENDPOINT AWS_REGION=$S3_REGION AWS_EC2_METADATA_DISABLED=true
export AWS_ACCESS_KEY_ID=$S3_ACCESS_KEY AWS_SECRET_ACCESS_KEY=$S3_SECRET_KEY # versitygw's; s3_row() of Swift has its own
export ST_AUTH=$SWIFT_AUTH_URL ST_USER=$SWIFT_USER ST_KEY=$SWIFT_KEY

bench_head "Which state to start from" "drey $("$BUILD/drey" --version | cut -d' ' -f2), versitygw 1.7.0, $(
	sed -n 's/^\(boto3\|awscli\|swift\)==/\1 /p' tools/servers/requirements.txt | paste -sd, | sed 's/,/, /g')"
echo
row "30 ms away" "drey" "boto3 script" "\`aws s3 ls\`, sorted"
row --- --- --- ---
far_away
[ "${1:-full}" != far ] || exit 0
echo
row "savepoints" "drey resolve" "of it CPU" "a savepoint" "list requests" "peak memory" "boto3 script" "\`aws s3 ls\` or \`swift list\`, sorted"
row --- --- --- --- --- --- --- ---
decision_file_and_s3
decision_swift
echo
row "referenced files" "drey verify, directory" "a file" "S3" "a file" "its list and HEAD requests" "its peak memory"
row --- --- --- --- --- --- ---
verification
echo
row "_metadata" "read through" "loaded"
row --- --- ---
parsing
cat <<'END'

Limits of these figures:
* Store and client share this machine: there is no network, and the server's own time is in every figure. On S3 across
  a network a listing of 1,000 names takes 50-200 ms, so the number of requests tells more than the seconds.
* The S3 that is 30 ms away is the same versitygw behind a proxy that sends each answer 30 ms after its request, and repeats
  the server's own answers where a request is made again: in a measurement the server takes no time, as one that has its own
  machines. The first run of each side, which fetches them, is not counted.
* boto3, aws and swift only find the name of the newest savepoint. drey also reads the `_metadata` of the winner and checks
  every file of it; and where one job has many savepoints, the heads of its newest thousand, because only they tell which is
  the newest.
* The rows of Swift beyond a thousand are put into the container's database directly; to store that many objects would
  take an hour. Listings are served from that database in any case.
END
