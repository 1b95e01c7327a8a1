# shellcheck shell=bash disable=SC2154
#
# narrate.sh - what a demo says: one line a step, with a tick and the seconds that it took. Sourced after ui.sh.
#
#   heading TEXT          a group of steps
#   tick WHAT             a step is done; its time is that since the tick before
#   expect WHAT CMD...    waits for a condition, DEMO_LIMIT_S at most, or fails with its name
#   fail WHAT             ends with status 1
#   seconds MS            12345 -> 12.3
#   started_ms            when the demo began; now_ms

tick_mark=ok cross_mark=FAILED
case ${LC_ALL:-${LC_CTYPE:-${LANG:-}}} in
*[Uu][Tt][Ff]*) tick_mark=✓ cross_mark=✗ ;;
esac

# Milliseconds since the epoch.
now_ms() {
	local micros=${EPOCHREALTIME/[.,]/}
	echo "${micros%???}"
}

# 12345 -> 12.3
seconds() { # MS
	printf '%d.%d' $(($1 / 1000)) $(($1 % 1000 / 100))
}

started_ms=$(now_ms)
lap_ms=$started_ms

# One step is done. Its time is that since the tick before.
tick() { # WHAT
	local now
	now=$(now_ms)
	printf '%s%s%s %6s s  %s\n' "$ui_green" "$tick_mark" "$ui_off" "$(seconds $((now - lap_ms)))" "$1"
	lap_ms=$now
}

heading() {
	printf '\n%s%s%s\n' "$ui_bold" "$*" "$ui_off"
}

fail() { # WHAT
	ui_ticker_stop
	printf '%s%s%s %s\n' "$ui_red" "$cross_mark" "$ui_off" "$1" >&2
	exit 1
}

# Waits for a condition, or fails with its name.
expect() { # WHAT CMD...
	local what=$1
	shift
	wait_until "$what" "$DEMO_LIMIT_S" "$@" || fail "$what"
}
