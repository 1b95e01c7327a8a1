#!/usr/bin/env bash
#
# The custom resource when the API server is unavailable, when its definition is missing, and when the journal is invalid;
# and what a drey at rest costs the API server. With its own control plane.

# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/api/lib.sh
. "$TOP/tests/api/lib.sh"

REST_S=${REST_S:-60} # seconds
REST_REQUESTS=12

api_begin resource-faults own
# shellcheck source=tests/api/journal_lib.sh
. "$TOP/tests/api/journal_lib.sh"
# shellcheck source=tests/api/resource_lib.sh
. "$TOP/tests/api/resource_lib.sh"
# shellcheck source=tests/api/plugin_lib.sh
. "$TOP/tests/api/plugin_lib.sh"

plugin_begin
plugin_user viewer
plugin_role viewer drey-viewer

requests_since() { # UNIX_MS
	api_requests ".unixMs >= $1"
}

kill_flink() { # of Pod a
	kill -KILL "$(pgrep -P "${POD_PID[a]}" -x sleep)"
}

# ---- at rest -----------------------------------------------------------------------------------------

resource '{"state": "running"}'
with_resource a
pod_start a
await "the status is there" resource_is '.status.phase == "Launching"'
sleep 5 # what belongs to the start
begin=$(date +%s%3N)
sleep "$REST_S"
count=$(requests_since "$begin" | wc -l)
check "$count requests in a minute of rest, at most $REST_REQUESTS" test "$count" -le "$REST_REQUESTS"
diag "$(requests_since "$begin" | jq --raw-output '[.verb, .resource, .subresource // empty] | join(" ")' | sort | uniq -c | tr '\n' ';')"

# ---- the API server is away --------------------------------------------------------------------------

before=$(launches)
api_stop apiserver
kill_flink
await "the death is noticed" pod_log a 'Flink ended'
api_start apiserver
await "it goes on when the API server is back" launched $((before + 1))
await "and says so" resource_is '.status.phase == "Launching" and .status.attempts.failed >= 1'
resource '{"state": "running", "doNotRestart": true}'
await "what is wanted is noticed again" resource_is '.status.desired.doNotRestart'
resource '{"state": "running", "doNotRestart": false}'
await "also that it is not" resource_is '.status.desired.doNotRestart | not'

# ---- the definition goes -----------------------------------------------------------------------------

begin=$(date +%s%3N)
kubectl delete crd flinkapplications.drey.dev >/dev/null
await "the definition has gone: noticed" pod_log a 'the custom resource was deleted'
check "the job is as it was" pod_is a '.phase == "Launching" and .desired.state == "running"'
control do-not-restart=true
await "the control ConfigMap still counts" pod_is a '.desired.doNotRestart'
control do-not-restart=false
await "likewise" pod_is a '.desired.doNotRestart | not'
before=$(launches)
pod_end a
with_resource b
pod_start b
await "without the definition it starts" launched $((before + 1))
check "nothing is wrong" pod_is b '.control.error == null'
plugin viewer list
ended "and is listed" 0 "orders " ''
check "without an error" test ! -s "$RUN/err"
plugin viewer suspend nobody --timeout 5s
ended "what never ran is said" 5 '' "there is no application 'nobody'"

# ---- SIGTERM while the API server hangs ------------------------------------------------------------------

api_hang apiserver
begin=$(date +%s%3N)
kill -TERM "${POD_PID[b]}"
await "who cannot ask the owner goes on without" pod_log b 'compared with the owner of the pod","verdict":"unknown"'
took=$(($(date +%s%3N) - begin))
check "soon ($took ms)" test "$took" -lt 6000
api_resume apiserver
pod_gone b
api_define

# ---- a journal that is nonsense -------------------------------------------------------------------------

resource '{"state": "running"}'
kubectl patch configmap "$JOURNAL" --type merge --patch '{"data": {"journal.json": "{nonsense"}}' >/dev/null
before=$(launches)
with_resource c
pod_start c
await "a journal that cannot be read is a condition" resource_is '.status.phase == "Holding" and
	any(.status.conditions[]; .type == "Stalled" and .status == "True" and (.message | contains("journal")))'
is "$(launches)" "$before" "nothing is started"
pod_end c
e2e_end
