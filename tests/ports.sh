# shellcheck shell=bash
#
# ports.sh - ports for tests that run side by side. Sourced.
#
#   take_port RET   a free port of 127.0.0.1 in $RET, which no other test of this user takes as long as this shell lives
#   give_ports      gives them back; for the end of a test

PORT_FILES=()

take_port() { # RET
	local -n port_ref=$1
	local keep=${TMPDIR:-/tmp}/drey-ports-$UID candidate owner try
	mkdir -p "$keep"
	for try in {1..200}; do
		candidate=$((20000 + (RANDOM * 32768 + RANDOM) % 12000))
		if owner=$(cat "$keep/$candidate" 2>/dev/null) && ! kill -0 "$owner" 2>/dev/null; then
			rm -f "$keep/$candidate"
		fi
		(set -o noclobber && echo $$ >"$keep/$candidate") 2>/dev/null || continue
		if (exec 3<>"/dev/tcp/127.0.0.1/$candidate") 2>/dev/null; then
			rm -f "$keep/$candidate" # somebody else listens there
			continue
		fi
		PORT_FILES+=("$keep/$candidate")
		# shellcheck disable=SC2034 # a reference
		port_ref=$candidate
		return 0
	done
	echo "${0##*/}: no free port on 127.0.0.1 after $try tries" >&2
	exit 1
}

give_ports() {
	rm -f "${PORT_FILES[@]}"
	PORT_FILES=()
}
