#!/usr/bin/env bash
#
# newest.sh - the entry point that teams write by hand: start from the newest directory of a checkpoint, and start again.
#
#   newest.sh CHECKPOINTS COMMAND... -- JOB_ARG...

checkpoints=$1
shift
while [ "$1" != -- ]; do
	command+=("$1")
	shift
done
shift
while :; do
	newest=$(find "$checkpoints" -maxdepth 2 -name 'chk-*' -printf '%T@ %p\n' 2>/dev/null | sort -n | tail -n 1 | cut -d' ' -f2-)
	"${command[@]}" --job-id "$(tr -d - </proc/sys/kernel/random/uuid)" ${newest:+--fromSavepoint "$newest"} \
		--job-classname drey.ContinuityJob -- "$@"
	echo "the JobManager has ended with status $?"
done
