#!/usr/bin/env bash
#
# S20: a version of the job that has dropped an operator with state: Flink rejects the newest state, and no other is
# taken. A request `kind: newest` with `allowNonRestoredState`, in the same step as that version, lets it start from the
# newest state: once, and not the versions after it.
#
# runs in: ci on 2.3.0

# shellcheck disable=SC2119,SC2317 # lib.sh has functions whose arguments are optional; called by name
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"

want() { # KEY=VALUE...
	local one
	for one; do
		printf '%s\n' "${one#*=}" >"$RUN/new"
		mv "$RUN/new" "$RUN/wanted/${one%%=*}"
	done
}

# The container of the version before ends, that of GENERATION begins.
next_version() { # GENERATION [JOB_ARG...]
	MUST_LIVE=(tm)
	end_drey TERM
	DREY_CONF[generation]=$1
	shift
	drey_conf "$@"
	start_drey
	MUST_LIVE=(jm tm)
}

# Of the launches of a generation: how often, from where, and was state left out?
launches_of() { # GENERATION
	jq --raw-output --arg generation "$1" '.launches[] | select(.generation == $generation) |
		"\(.restorePoint.path) \(.allowNonRestored)"' "$RUN/state/journal.json" | uniq -c | awk '{ print $1, $2, $3 }'
}

order_was_left() {
	grep -q '"token":"t1".*\|token=t1' <(grep 'restore request ignored: it is for another generation' "$RUN/log/jm.log")
}

allowed() { # by what Flink was started with
	tr '\0' '\n' <"/proc/$(jm_pid)/cmdline" | grep --quiet --line-regexp --extended-regexp -- '-n|--allowNonRestoredState'
}

e2e_begin leave-out
mkdir "$RUN/wanted"
want state=running
DREY_CONF[control.directory]=$RUN/wanted
DREY_CONF[control.poll]=500ms
DREY_CONF[generation]=g1
DREY_CONF[onSigterm]=upgrade
DREY_CONF[attempts.max]=2
DREY_CONF[attempts.backoffFirst]=200ms
drey_conf --also first
start_tm_pod
start_drey
MUST_LIVE=(jm tm)
await "a job with two operators that have state runs" phase_is Running
await "the launch is proven" status_is .launch.proven

# ---- without an order
next_version g2
await "a version without the second one: drey gives up" phase_is Failed
saved=$(status .lastSavepoint.path)
is "$(launches_of g2)" "2 $saved false" "after two attempts from the newest savepoint"
next_version g1 --also first
await "the version before comes back" phase_is Running
await "the launch is proven" status_is .launch.proven

# ---- with one, in the same step
want restore="{kind: newest, allowNonRestoredState: true, token: t1, generation: g3}"
await "the order is left to the version that it is for" order_was_left
check "it is not refused" status_is '.control.error == null'
next_version g3
await "a version without the second one runs" phase_is Running
saved=$(status .lastOperation.location)
is "$(launches_of g3)" "1 $saved true" "from the newest savepoint, and state may be left out"
check "as Flink was told" allowed
check "and Flink has restored it" restore_matches "$saved"
check "the reason says so" grep -q 'may be dropped, as requested' "$RUN/log/jm.log"
await "the launch is proven" status_is .launch.proven

# ---- once
job=$(status .jobId)
kill -KILL "$(jm_pid)"
await "the JobManager is killed: the job runs again" runs_after "$job"
is "$(launches_of g3 | tail -n 1 | awk '{ print $1, $3 }')" "1 false" "without the permission"
check "as Flink was told" not allowed
await "the launch is proven" status_is .launch.proven
want restore="{kind: newest, allowNonRestoredState: true, token: t1, generation: g4}" # as the chart renders it anew
next_version g4 --uid another
await "another operator is dropped, without a new order: drey gives up" phase_is Failed
is "$(launches_of g4)" "2 $(status .lastSavepoint.path) false" "the order was for one start"
check "the state was continuous all the time" continuity
e2e_end
