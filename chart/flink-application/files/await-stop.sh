#!/usr/bin/env bash
#
# await-stop.sh - delays the end of a TaskManager while the JobManager still needs it.
#
#   await-stop.sh HOST PORT LIMIT_S
#
# An upgrade ends all Pods at the same time. The last savepoint needs the TaskManagers, so each of them asks drey in the
# JobManager's Pod (HOST:PORT), and ends when no stop is in progress. A stop starts within SETTLE_S seconds (5), if at all:
# the JobManager gets its SIGTERM at about the same time. When drey ends Flink (phase Terminating), the savepoint is recorded or
# given up, so from then on nobody needs a TaskManager, and the next one should start soon. Always exits with 0.

host=$1 port=$2 limit_s=$3
settle_s=${SETTLE_S:-5}
# asked for once: hundreds of TaskManagers may be waiting
address=$(getent hosts "$host" 2>/dev/null | awk 'NR == 1 { print $1 }')

# The phase of drey, or nothing if it does not respond. /readyz is "PHASE: REASON".
phase() {
	timeout 2 bash -c '
		exec 3<>"/dev/tcp/$1/$2" || exit 1
		printf "GET /readyz HTTP/1.0\r\nHost: %s\r\n\r\n" "$3" >&3
		cat <&3' -- "${address:-$host}" "$port" "$host" 2>/dev/null | tail -n 1 | grep -o '^[A-Za-z]*'
}

SECONDS=0
stopping=no
unanswered=0
pause_s=0.5
while [ "$SECONDS" -lt "$limit_s" ]; do
	phase=$(phase)
	case $phase in
	# it lasts a moment, so it is looked for often; a savepoint that takes long can take a little longer
	Stopping) stopping=yes unanswered=0 pause_s=0.$((SECONDS < 30 ? 15 : 5)) ;;
	Terminating) exit 0 ;;
	'') unanswered=$((unanswered + 1)) ;; # gone, or drey is just restarting
	*) [ "$stopping" = no ] || exit 0 ;;
	esac
	if [ "$stopping" = no ]; then
		[ "$SECONDS" -lt "$settle_s" ] || exit 0
	else
		[ "$unanswered" -lt 5 ] || exit 0
	fi
	sleep "$pause_s"
done
exit 0
