#!/usr/bin/env bash
#
# uninstall.sh - before `helm uninstall` deletes anything: stops the job, or says why it must not be deleted yet.
#
#   uninstall.sh RELEASE NAMESPACE COMMAND...
#
# COMMAND is `drey suspend --remote ...` or `drey cancel --remote ...`; its exit status is that of this script.

release=$1 namespace=$2
shift 2
"$@"
status=$?
[ "$status" -eq 0 ] || cat >&2 <<-TEXT
	Nothing was deleted. Remove the cause and repeat the command, or uninstall without stopping the job first:
	  helm uninstall $release --namespace $namespace --no-hooks
	Then the newest checkpoint, or savepoint, is what remains of the job.
TEXT
exit "$status"
