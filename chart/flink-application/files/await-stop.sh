#!/usr/bin/env bash
#
# await-stop.sh - delays the end of a TaskManager while the JobManager still needs it.
#
#   await-stop.sh HOST PORT LIMIT_S [GENERATION [late]]
#
# An upgrade ends all Pods at the same time. The last savepoint needs the TaskManagers, so each of them asks drey in the
# JobManager's Pod (HOST:PORT), and ends when no stop is in progress. A stop starts within SETTLE_S seconds (5), if at all:
# the JobManager gets its SIGTERM at about the same time. When drey ends Flink (phase Terminating), the savepoint is recorded or
# given up, so from then on nobody needs a TaskManager, and the next one should start soon. Always exits with 0.
#
# During a surge upgrade HOST has the addresses of two versions. Only drey of GENERATION counts; when it has handed over, or
# only other generations answer, the TaskManager ends immediately. `late`: it was told to end when the upgrade began. So it also
# stays while there is a JobManager that is not of GENERATION, or does not answer yet; such a one appears within APPEAR_S
# seconds (60), if at all.

host=$1 port=$2 limit_s=$3 generation=$4 late=$5
settle_s=${SETTLE_S:-5} appear_s=${APPEAR_S:-60}
declare -A kind

# Asked for rarely: hundreds of TaskManagers may be waiting.
resolve() {
	mapfile -t addresses < <(getent ahosts "$host" 2>/dev/null | awk '$2 == "STREAM" { print $1 }')
	[ "${#addresses[@]}" -gt 0 ] || addresses=("$host")
	resolved_s=$SECONDS
}

request() { # ADDRESS PATH
	timeout 2 bash -c '
		exec 3<>"/dev/tcp/$1/$2" || exit 1
		printf "GET %s HTTP/1.0\r\nHost: %s\r\n\r\n" "$4" "$3" >&3
		cat <&3' -- "$1" "$port" "$host" "$2" 2>/dev/null
}

# Sets kind[ADDRESS] to ours or other, once drey has answered there; an address does not change its generation.
identify() { # ADDRESS
	[ -n "$generation" ] || kind[$1]=ours
	[ -z "${kind[$1]}" ] || return
	case $(request "$1" "/join?generation=$generation") in
	'') ;;
	HTTP/*' 404 '*'"generation"'*) kind[$1]=other ;;
	*) kind[$1]=ours ;;
	esac
}

# Sets phase, of drey of our generation, or nothing if it does not respond: /readyz is "PHASE: REASON". Two of one generation
# are a Pod and its replacement. Sets others, if there is a Pod of another generation, and silent, if there may be one.
look() {
	local address one
	phase='' others=no silent=no
	for address in "${addresses[@]}"; do
		identify "$address"
		one=''
		case ${kind[$address]} in
		other) others=yes && continue ;;
		ours) one=$(request "$address" /readyz | tail -n 1 | grep -o '^[A-Za-z]*') ;;
		esac
		case $one in
		'') silent=yes ;;
		Stopping) phase=$one ;;
		HandedOver) [ "$phase" = Stopping ] || phase=$one ;;
		*) [[ $phase == @(Stopping|HandedOver) ]] || phase=$one ;;
		esac
	done
}

SECONDS=0
stopping=no
unanswered=0
pause_s=0.5
resolve
while [ "$SECONDS" -lt "$limit_s" ]; do
	look
	case $phase in
	# it lasts a moment, so it is looked for often; a savepoint that takes long can take a little longer
	Stopping) stopping=yes unanswered=0 pause_s=0.$((SECONDS < 30 ? 15 : 5)) ;;
	Terminating | HandedOver) exit 0 ;;
	'') # gone, or drey is just restarting
		[ "$others$silent" != yesno ] || exit 0
		unanswered=$((unanswered + 1))
		;;
	*)
		[ "$stopping$late" != yes ] || exit 0
		stopping=no
		;;
	esac
	if [ "$stopping" = yes ]; then
		[ "$unanswered" -lt 5 ] || exit 0
	elif [ -n "$late" ]; then
		[ "$others$silent" != nono ] || [ "$SECONDS" -lt "$appear_s" ] || exit 0
	else
		[ "$SECONDS" -lt "$settle_s" ] || exit 0
	fi
	# a Pod may have been replaced, or that of the next version is there now
	[ -z "$generation" ] || [ $((SECONDS - resolved_s)) -lt 5 ] || resolve
	sleep "$pause_s"
done
exit 0
