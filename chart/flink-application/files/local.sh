#!/usr/bin/env bash
#
# local.sh - starts a TaskManager on a volume that may have outlived other ones.
#
#   local.sh DIRECTORY ID COMMAND...
#
# Flink keeps the local state of the TaskManager with this id in DIRECTORY/tm_ID, and finds it again there. What other ids have
# left, those of other generations, and the databases of a process that was killed, would be found by nobody, and fill the
# volume.

directory=$1 id=$2
shift 2
for path in "$directory"/rocksdb/* "$directory"/tm_*; do
	[ "$path" = "$directory/tm_$id" ] || rm -rf "$path"
done
exec "$@"
