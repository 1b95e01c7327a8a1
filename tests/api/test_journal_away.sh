#!/usr/bin/env bash
#
# The API server is unavailable: before a launch, between the intent and its acknowledgement, while the job runs, when
# drey starts; it hangs, etcd is lost, the token expires. Flink keeps running, nothing is started from outdated facts,
# nothing is lost. With the Role of the chart, against a real API server; a script replaces Flink.
#
# runs in: ci

# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/api/lib.sh
. "$TOP/tests/api/lib.sh"

api_begin away own
# shellcheck source=tests/api/journal_lib.sh
. "$TOP/tests/api/journal_lib.sh"

ask() { # POD COMMAND...: durable within 40 s
	local pod=$1
	shift
	"$BUILD/drey" "$@" --config "$RUN/$pod/drey.yaml"
}

# ---- drey starts without an API server -------------------------------------------------------------

api_kill apiserver
pod_start a
await "no API server when drey starts: it holds" pod_phase a Holding
check "and says what it waits for" pod_says a "the journal cannot be read, nothing is started until it can"
is "$(launches)" "" "nothing is started"
began=$(date +%s)
pod_end a
check "a container that is to end then, ends at once" test $(($(date +%s) - began)) -le 10
pod_start a
await "again" pod_phase a Holding
api_start apiserver
await "the API server is back: it starts by itself" launched 1
await "the start is on record" journal_is '.launches[0].startedUnixMs != null'

# ---- it goes while the job runs --------------------------------------------------------------------

sequence=$(journal .sequence)
for how in kill hang etcd; do
	case $how in
	kill) api_kill apiserver ;;
	hang) api_hang apiserver ;;
	etcd) api_kill etcd ;;
	esac
	ask a do-not-restart on >"$RUN/answer-$how" 2>&1 &
	asked=$!
	await "$how: a write is not acknowledged" pod_is a '.desired.doNotRestart'
	check "$how: Flink runs on" pod_phase a Launching
	case $how in
	kill) api_start apiserver ;;
	hang) api_resume apiserver ;;
	etcd) api_start etcd ;;
	esac
	await "$how: it is back: the write is made" journal_is '.intent.doNotRestart'
	wait "$asked" || : # it may have given up before
	check "$how: lifted" ask a do-not-restart off
	await "$how: on record" journal_is '.intent.doNotRestart == false'
done
check "the journal goes on" journal_is ".sequence > $sequence"
is "$(launches)" 1 "Flink was never started again"

# ---- it goes before a launch -----------------------------------------------------------------------

api_kill apiserver
kill -KILL "$(pgrep -P "${POD_PID[a]}" -x sleep)"
await "Flink ends while the API server is away" pod_log a 'Flink ended'
await "no launch without the journal" pod_is a '.journal.broken'
is "$(launches)" 1 "none"
api_start apiserver
await "back: it is launched again" launched 2
check "as the journal has it" journal_is '(.launches | length) == 2'

# ---- the agent dies while the API server is away ---------------------------------------------------

api_kill apiserver
pod_kill_agent a
await "a new agent does not know the journal" pod_phase a Holding
is "$(launches)" 2 "its Flink runs on"
api_start apiserver
await "back: it knows its Flink again" pod_is a '.phase == "Launching" and .launch.number == 2'
is "$(launches)" 2 "which was not started again"

# ---- between the write and its answer --------------------------------------------------------------

for i in 1 2 3 4 5 6; do
	ask a do-not-restart on >/dev/null 2>&1 &
	asked=$!
	api_kill apiserver
	api_start apiserver
	await "killed around a write, $i: it is on record in the end" journal_is '.intent.doNotRestart'
	wait "$asked" || :
	check "and back: $i" ask a do-not-restart off
	check "nobody has taken it for another drey: $i" pod_phase a Launching
done

# ---- the token -------------------------------------------------------------------------------------

api_give_token "$(api_token 1)"
await "the token has run out" not kubectl_pod get configmap "$JOURNAL"
ask a do-not-restart on >/dev/null 2>&1 &
asked=$!
await "a write is not acknowledged" pod_is a '.desired.doNotRestart and .journal.broken'
check "Flink runs on" pod_phase a Launching
api_give_token "$(api_token 3600)"
await "a new one is taken up" journal_is '.intent.doNotRestart'
wait "$asked" || :

# ---- from outside ----------------------------------------------------------------------------------

number=$(journal '.launches[-1].number')
pod_end a
status=0
"$BUILD/drey" status --json --config "$RUN/a/drey.yaml" >"$RUN/offline" 2>/dev/null || status=$?
is "$status" 5 "drey status, where no drey is"
is "$(jq --compact-output '[.launch.number, .desired.doNotRestart]' "$RUN/offline")" "[$number,true]" "shows the journal"
check "and whose it is" grep -q 'written by orders-a/uid-of-a-' "$RUN/offline"
"$BUILD/drey" resolve --json --config "$RUN/a/drey.yaml" >"$RUN/offline" 2>/dev/null || :
check "drey resolve reads it as well" grep -q do-not-restart "$RUN/offline"
e2e_end
