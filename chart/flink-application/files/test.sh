#!/usr/bin/env bash
#
# test.sh - for `helm test`: do drey and Flink report that the job is running?
#
#   test.sh HOST PORT REST_HOST [tls]
#
# HOST:PORT is drey in the JobManager's Pod, REST_HOST the Service of Flink's REST API at REST_PORT (8081). Behind TLS only drey is
# asked for the job, since it has the certificates, and the Service must have a Pod that listens.

get() { # HOST PORT PATH
	timeout 10 bash -c '
		exec 3<>"/dev/tcp/$1/$2" || exit 1
		printf "GET %s HTTP/1.0\r\nHost: %s\r\n\r\n" "$3" "$1" >&3
		cat <&3' -- "$1" "$2" "$3" 2>/dev/null
}

fail() {
	echo "$1" >&2
	exit 1
}

# HOST has several addresses while an old Pod has not ended yet
mapfile -t addresses < <(getent ahosts "$1" 2>/dev/null | awk '$2 == "STREAM" { print $1 }')
for address in "${addresses[@]:-$1}"; do
	one=$(get "$address" "$2" /readyz)
	[ -z "$one" ] || answer=$one
	[[ $answer != HTTP/*' 200 '* ]] || break
done
[ -n "$answer" ] || fail "no response from $1:$2: check that the Pod of the JobManager is running"
echo "drey: ${answer##*$'\n'}"
[[ $answer == HTTP/*' 200 '* ]] || fail "the job is not running"
port=${REST_PORT:-8081}
if [ "${4:-}" = tls ]; then
	timeout 10 bash -c ': <>"/dev/tcp/$1/$2"' -- "$3" "$port" 2>/dev/null || fail "no response from $3:$port: the Service has no ready Pod"
	echo "Flink: the REST API listens, with TLS"
	exit 0
fi
answer=$(get "$3" "$port" /jobs/overview)
[ -n "$answer" ] || fail "no response from $3:$port: the Service has no ready Pod"
[[ $answer == *'"state":"RUNNING"'* ]] || fail "Flink has no job in state RUNNING: ${answer##*$'\n'}"
echo "Flink: the job is RUNNING"
