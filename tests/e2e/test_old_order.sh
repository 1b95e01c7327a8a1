#!/usr/bin/env bash
#
# The journal is lost, and a restore request of long ago is still in the control directory. The record of what was read is
# lost with the journal: the request looks like a new one.
#
# runs in: test on 1.20.0

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

# All that drey keeps itself, as when the volume of the state directory is a new one.
lose_journal() {
	end_drey TERM
	rm "$RUN/state/journal.json" "$RUN/state/control-seen.json"
}

e2e_begin old-order
mkdir "$RUN/wanted"
want state=running
DREY_CONF[control.directory]=$RUN/wanted
DREY_CONF[control.poll]=500ms
drey_conf
start_tm_pod
start_drey
MUST_LIVE=(jm tm)
await "the job runs" phase_is Running
await "the launch is proven" status_is .launch.proven
check "a savepoint" drey savepoint
old=$(status .lastSavepoint.path)
want state=suspended
await "suspended" phase_is Suspended
job=$(status .jobId)
want restore="{kind: path, path: '$old', token: long-ago}" state=running
await "an order that comes in while drey looks is carried out" runs_after "$job"
check "from what was named" restore_matches "$old"
await "the launch is proven" status_is .launch.proven
job=$(status .jobId)
await "it goes on from there" has_completed $(($(status .lastCheckpoint.id) + 3)) "$job"

# ---- a path
MUST_LIVE=(tm)
lose_journal
start_drey
await "the order stands there, and the journal knows of no launch: drey holds" phase_is Holding
is "$(status .cause)" RequestMayBeOld "because nobody knows how old it is"
is "$(status '.launch == null')" true "nothing was launched"
newest=$(newest_snapshot "$job")
check "it names what the order would leave behind" status_is ".reason | contains(\"$(basename "$newest")\")"
check "a person says what is meant" drey resume --from "$newest"
check "from there" restore_matches "$newest"
await "the launch is proven" status_is .launch.proven
job=$(status .jobId)

# ---- without state
lose_journal
want restore='{kind: empty, token: even-longer-ago}'
start_drey
await "an order to start empty: drey holds" phase_is Holding
is "$(status .cause)" RequestMayBeOld "likewise"
newest=$(newest_snapshot "$job")
want restore="{kind: path, path: '$newest', token: meant-now}"
await "an order under another token while it looks: it is carried out" phase_is Running
check "from there" restore_matches "$newest"
check "the state was continuous all the time" continuity
e2e_end
