# shellcheck shell=bash disable=SC2034
#
# cache.sh - locks for the user's cache. Sourced, after ui.sh, by the scripts that fetch and build once.
#
#   cache_lock DIR WHAT       makes DIR and waits until no other script is at work there on WHAT; the lock is descriptor 9
#                             and goes with the script. Children must not inherit it: 9>&-
#   cache_scratch DIR WHAT    with the lock: sets `tmp` to an empty directory in DIR, which goes with the script
#
# Both end the script (die 1) when DIR cannot be written to.

cache_lock() { # DIR WHAT
	mkdir -p "$1" || die 1 "cannot create $1; set XDG_CACHE_HOME to another directory"
	exec 9>"$1/.$2.lock" || die 1 "cannot write to $1; set XDG_CACHE_HOME to another directory"
	if ! flock --nonblock 9; then
		say "waiting for another ${0##*/} that is using $1"
		ui_ticker_start "waiting"
		flock 9
		ui_ticker_stop
	fi
}

# The lock is ours, so temporary directories of others are left over from runs that were killed.
cache_scratch() { # DIR WHAT
	rm -rf "$1/.$2-tmp".*
	tmp=$(mktemp -d "$1/.$2-tmp.XXXXXX") || die 1 "cannot write to $1"
	trap 'ui_is_main && ui_ticker_stop && rm -rf "$tmp"' EXIT
	trap 'exit 130' INT TERM
}
