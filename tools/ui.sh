# shellcheck shell=bash disable=SC2034
#
# ui.sh - output of tools for people: plain lines, and progress of long steps. Sourced.
#
# Everything goes to stderr, so that a tool's stdout stays its result. On a terminal there are colours and
# a spinner; elsewhere (CI, a pipe) a long step prints one line every UI_EVERY_S seconds. NO_COLOR is honoured.

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

# Prints the error and ends the script with STATUS.
die() { # STATUS MESSAGE...
	local status=$1
	shift
	printf '%s%s: %s%s\n' "$ui_red" "${0##*/}" "$*" "$ui_off" >&2
	exit "$status"
}

# Is this the script itself? A subshell that is killed in its first moment still runs its parent's EXIT trap (bash
# resets traps only some time after the fork), so every such trap has to ask: trap 'ui_is_main && ...' EXIT.
ui_is_main() {
	[ "$BASHPID" = $$ ]
}

# Erases the spinner's line.
ui_clear_line() {
	[ -n "$ui_tty" ] && printf '\r\e[K' >&2
	return 0
}

# Shows that LABEL is still running, until its standard input ends: then it was stopped, or its owner is gone.
ui_ticker() { # LABEL
	local label=$1 start=$SECONDS said=$SECONDS frames='|/-=' every=1 i=0 line
	[ -z "$ui_tty" ] || every=0.2
	while :; do
		read -r -t "$every" line
		[ $? -gt 128 ] || return 0
		if [ -n "$ui_tty" ]; then
			printf '\r\e[K%s%s %s (%d s)%s' "$ui_dim" "${frames:i++%4:1}" "$label" $((SECONDS - start)) "$ui_off" >&2
		elif [ $((SECONDS - said)) -ge "$UI_EVERY_S" ]; then
			said=$SECONDS
			printf '  ... %s (%d s)\n' "$label" $((SECONDS - start)) >&2
		fi
	done
}

# Starts the ticker for LABEL; ui_ticker_stop ends it. One at a time. It is stopped through a pipe, not by a signal: a
# process that outlives the script must not keep ui_ticker_fd open.
ui_ticker_fd='' ui_ticker_pid=''
ui_ticker_start() { # LABEL
	exec {ui_ticker_fd}> >(ui_ticker "$1")
	ui_ticker_pid=$!
}

ui_ticker_stop() {
	[ -n "$ui_ticker_fd" ] || return 0
	exec {ui_ticker_fd}>&-
	ui_ticker_fd=''
	wait "$ui_ticker_pid" 2>/dev/null || :
	ui_clear_line
}

# Runs CMD with its output in LOG and progress on stderr. Returns CMD's status; when it is not 0, the
# last lines of LOG are shown.
run_with_progress() { # LABEL LOG CMD...
	local label=$1 log=$2 status=0
	shift 2
	ui_ticker_start "$label"
	"$@" >>"$log" 2>&1 {ui_ticker_fd}>&- || status=$?
	ui_ticker_stop
	if [ "$status" -ne 0 ]; then
		say "$label: failed with status $status; the last lines of $log:"
		tail -n 20 "$log" | sed 's/^/    /' >&2
	fi
	return "$status"
}
