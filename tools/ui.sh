# shellcheck shell=bash disable=SC2034
#
# ui.sh - what tools say to a person: plain lines, and signs of life from long steps. Sourced.
#
# Everything goes to stderr, so that a tool's stdout stays its result. On a terminal there are colours and
# a spinner; elsewhere (CI, a pipe) a long step says one line every UI_EVERY_S seconds. NO_COLOR is honoured.

UI_EVERY_S=${UI_EVERY_S:-10}
ui_tty=
[ -t 2 ] && [ "${TERM:-dumb}" != dumb ] && ui_tty=1
ui_red="" ui_green="" ui_dim="" ui_bold="" ui_off=""
if [ -n "$ui_tty" ] && [ -z "${NO_COLOR:-}" ]; then
	ui_red=$'\e[31m' ui_green=$'\e[32m' ui_dim=$'\e[2m' ui_bold=$'\e[1m' ui_off=$'\e[0m'
fi

# One plain line.
say() {
	printf '%s\n' "$*" >&2
}

# Names what is wrong and ends the script with STATUS.
die() { # STATUS MESSAGE...
	local status=$1
	shift
	printf '%s%s: %s%s\n' "$ui_red" "${0##*/}" "$*" "$ui_off" >&2
	exit "$status"
}

# Erases the spinner's line.
ui_clear_line() {
	[ -n "$ui_tty" ] && printf '\r\e[K' >&2
	return 0
}

# Shows that LABEL is still going on, until it is killed or the process OWNER is gone. Runs in the background.
ui_ticker() { # OWNER LABEL
	local owner=$1 label=$2 start=$SECONDS said=$SECONDS frames='|/-=' i=0
	while kill -0 "$owner" 2>/dev/null; do
		if [ -n "$ui_tty" ]; then
			printf '\r\e[K%s%s %s (%d s)%s' "$ui_dim" "${frames:i++%4:1}" "$label" $((SECONDS - start)) "$ui_off" >&2
			sleep 0.2
		else
			sleep 1
			if [ $((SECONDS - said)) -ge "$UI_EVERY_S" ]; then
				said=$SECONDS
				printf '  ... %s (%d s)\n' "$label" $((SECONDS - start)) >&2
			fi
		fi
	done
}

# Starts the ticker for LABEL; ui_ticker_stop ends it. One at a time.
ui_ticker_pid=
ui_ticker_start() { # LABEL
	ui_ticker $$ "$1" &
	ui_ticker_pid=$!
}

ui_ticker_stop() {
	[ -n "$ui_ticker_pid" ] || return 0
	kill "$ui_ticker_pid" 2>/dev/null
	wait "$ui_ticker_pid" 2>/dev/null
	ui_ticker_pid=
	ui_clear_line
}

# Runs CMD with its output in LOG and signs of life on stderr. Returns CMD's status; when it is not 0, the
# last lines of LOG are shown.
run_with_progress() { # LABEL LOG CMD...
	local label=$1 log=$2 status=0
	shift 2
	ui_ticker_start "$label"
	"$@" >>"$log" 2>&1 || status=$?
	ui_ticker_stop
	if [ "$status" -ne 0 ]; then
		say "$label: failed with status $status; the last lines of $log:"
		tail -n 20 "$log" | sed 's/^/    /' >&2
	fi
	return "$status"
}
