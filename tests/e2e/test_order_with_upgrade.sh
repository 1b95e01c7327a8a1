#!/usr/bin/env bash
#
# A restore request in the same step as another version of the job. Both change at the same time; the drey of the previous
# version still runs and reads the request first. It is for the version that it came with.
#
# runs in: test on 2.3.0

# shellcheck disable=SC2119 # lib.sh has functions whose arguments are optional
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"

want() { # KEY=VALUE...
	local one
	for one; do
		printf '%s\n' "${one#*=}" >"$RUN/new"
		mv "$RUN/new" "$RUN/wanted/${one%%=*}"
	done
}

# shellcheck disable=SC2317 # called through await
left_to_other() {
	grep -q 'restore request ignored: it is for another generation' "$RUN/log/jm.log"
}

e2e_begin order-with-upgrade
mkdir "$RUN/wanted"
want state=running
DREY_CONF[control.directory]=$RUN/wanted
DREY_CONF[control.poll]=500ms
DREY_CONF[generation]=g1
DREY_CONF[onSigterm]=upgrade
drey_conf
start_tm_pod
start_drey
MUST_LIVE=(jm tm)
await "the version before runs" phase_is Running
await "the launch is proven" status_is .launch.proven
check "a savepoint" drey savepoint
old=$(status .lastSavepoint.path)
job=$(status .jobId)
await "it goes on from there" has_completed $(($(status .lastCheckpoint.id) + 3)) "$job"

want restore="{kind: path, path: '$old', token: with-g2, generation: g2}"
await "the order is left to the other version" left_to_other
check "it is not refused" status_is '.control.error == null'
check "the job runs on" phase_is Running
MUST_LIVE=(tm)
end_drey TERM
DREY_CONF[generation]=g2
start_drey
MUST_LIVE=(jm tm)
await "the next version runs" runs_after "$job"
check "from what was ordered with it, not from the savepoint of the upgrade" restore_matches "$old"
await "the launch is proven" status_is .launch.proven

# ---- once
job=$(status .jobId)
await "it goes on from there" has_completed $(($(status .lastCheckpoint.id) + 2)) "$job"
MUST_LIVE=(tm)
end_drey TERM
want restore="{kind: path, path: '$old', token: with-g2, generation: g3}" # as the chart renders it anew
DREY_CONF[generation]=g3
start_drey
MUST_LIVE=(jm tm)
await "the version after it runs" runs_after "$job"
check "from the savepoint of the upgrade" restore_matches "$(status .lastOperation.location)"
check "the state was continuous all the time" continuity
e2e_end
