#!/usr/bin/env bash
#
# alive.sh - the liveness of a TaskManager's container: if Flink runs, it accepts connections.
#
#   alive.sh PORT
#
# `drey join` waits without a JVM for the JobManager of its generation: that is alive, too. PROC is /proc.

for comm in "${PROC:-/proc}"/[0-9]*/comm; do
	# a process may end at any time
	read -r name <"$comm" || continue
	[ "$name" != java ] || exec 3<>"/dev/tcp/${POD_IP:-127.0.0.1}/$1" || exit 1
done 2>/dev/null
exit 0
