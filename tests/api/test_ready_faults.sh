#!/usr/bin/env bash
#
# The condition drey.dev/Ready through a proxy that rejects, loses and hangs (fault_proxy.py); and how often a message is
# written. With the Role of the chart, against a real API server.

# shellcheck disable=SC2317 # functions that check and await call
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/api/lib.sh
. "$TOP/tests/api/lib.sh"
# shellcheck source=tests/api/client.sh
. "$TOP/tests/api/client.sh"

api_begin ready-faults
# shellcheck source=tests/api/journal_lib.sh
. "$TOP/tests/api/journal_lib.sh"
# shellcheck source=tests/api/ready_lib.sh
. "$TOP/tests/api/ready_lib.sh"
proxy_begin

proxied() { # POD
	pod_conf "$1" "${quick[@]}"
	sed -i "s|kubeconfig: .*|kubeconfig: $PROXY_KUBECONFIG|" "$RUN/$1/drey.yaml"
}

writes() { # JQ, of all writes of the condition, when the server has seen them
	api_requests '.verb == "patch" and .resource == "deployments"' | jq --slurp "map(.unixMs) | $1"
}

# ---- not read at once ------------------------------------------------------------------------------

deployment
control state=suspended
proxied a
proxy_faults "status GET /deployments/ 8 503"
pod_start a
await "who cannot read the owner tries it again" shown True Suspended

# ---- refused, lost ---------------------------------------------------------------------------------

proxy_faults "status PATCH /deployments/ 1 429 7"
control state=running do-not-restart=true
await "429: it is written later" shown False DoNotRestart
began=$(pod_status a '.conditions[] | select(.type == "Ready") | .lastTransitionTime')
took=$(($(writes 'last') - $(date --date "$began" +%s%3N)))
check "not before Retry-After says so ($took ms)" test "$took" -ge 7000
proxy_faults "lose PATCH /deployments/ 1" "cut PATCH /deployments/ 1 40"
control state=suspended do-not-restart=false
await "answers that are lost are no obstacle" shown True Suspended
proxy_faults

# ---- nothing but the message -----------------------------------------------------------------------

has_message() { # REGEX
	owner_says .message | grep --quiet --extended-regexp -- "$1"
}
control state=running "restore={\"kind\": \"path\", \"token\": \"t1\", \"path\": \"file://$RUN/asked\"}"
await "a reason" shown False RequestedSnapshotUnusable
check "with its message" has_message 'no _metadata'
before=$(api_requests ".name == \"$OWNER\"" | wc -l)
mkdir -p "$RUN/asked"
echo nonsense >"$RUN/asked/_metadata"
await "it is looked at again" pod_is a '.reason | test("no _metadata") | not'
check "the reason is the same" pod_is a '.cause == "RequestedSnapshotUnusable"'
await "another message of the same reason" agrees a
check "it has waited ($(writes '.[-1] - .[-2]') ms)" test "$(writes '.[-1] - .[-2]')" -ge 59000
is "$(api_requests ".name == \"$OWNER\"" | wc -l)" $((before + 1)) "and in that minute nothing else was asked for"

# ---- the end ---------------------------------------------------------------------------------------

control state=suspended
await "ready" shown True Suspended
proxy_faults "hang PATCH /deployments/ 0"
began=$(date +%s%3N)
pod_end a
took=$(($(date +%s%3N) - began))
check "who cannot say the last word ends without ($took ms)" test "$took" -lt 15000
check "it has tried" grep --quiet 'PATCH .*/deployments/.* hang' "$RUN/log/proxy.log"
proxy_faults
proxied b
pod_start b
await "the next Pod says it as it is" pod_phase b Suspended
await "likewise" agrees b
proxy_faults "hold PATCH /deployments/ 0 0.3"
pod_end b
check "the last word is waited for" shown False Terminating
is "$(api_denied)" "" "nothing was asked for that the Role does not allow"
e2e_end
