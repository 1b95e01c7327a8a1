#!/usr/bin/env bash
#
# The custom resource under a Role without it: a drey that never had it works without it; a drey that has followed one
# does not take an error for its absence. With the Role of the chart, against a real API server.

# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/api/lib.sh
. "$TOP/tests/api/lib.sh"

api_begin resource-denied
# shellcheck source=tests/api/journal_lib.sh
. "$TOP/tests/api/journal_lib.sh"
# shellcheck source=tests/api/resource_lib.sh
. "$TOP/tests/api/resource_lib.sh"

ours=flinkapplications.drey.dev/$APPLICATION
take_right() {
	check "the Role does not have it" api_role_without 'del(.rules[] | select(.apiGroups == ["drey.dev"]))' get "$ours"
}

give_right() {
	api_role || diag "no Role"
	await "the Role has it" api_may get "$ours"
}

seen() { # JQ
	[ "$(kubectl get configmap "$JOURNAL" --output json | jq --raw-output '.data["control-seen.json"]' | jq --raw-output "$1")" = true ]
}

quick=('control:' '  poll: 1s')

# ---- never had it ----------------------------------------------------------------------------------

take_right
resource '{"state": "suspended"}'
with_resource a "${quick[@]}"
pod_start a
await "no right to it is no obstacle" launched 1
check "the log says so" pod_log a 'access denied, continuing without it.*403 Forbidden'
is "$(grep -c 'access denied, continuing without it' "$RUN/log/a.log")" 1 "once"
check "the status says so, and that nothing is wrong" pod_is a '.control.resource == "denied" and .control.error == null'
await "the journal's ConfigMap says so" seen '.resource.followed == false and (.resource.error | contains("403"))'
control do-not-restart=true
await "the control ConfigMap counts" pod_is a '.desired.doNotRestart'
control do-not-restart=false
await "likewise" pod_is a '.desired.doNotRestart | not'
pod_end a

# ---- has it ----------------------------------------------------------------------------------------

give_right
before=$(launches)
with_resource b "${quick[@]}"
pod_start b
await "who may read it follows it" resource_is '.status.phase == "Suspended"'
await "and that is remembered" seen '.resource.followed == true and (.resource | has("error") | not)'
resource '{"state": "running"}'
await "wanted: it starts" launched $((before + 1))
await "it is there" resource_is '.status.phase == "Launching"'

# ---- loses it --------------------------------------------------------------------------------------

resource '{"state": "running", "doNotRestart": true}'
await "a do-not-restart" pod_is b '.desired.doNotRestart'
take_right
before=$(launches)
kill -KILL "$(pgrep -P "${POD_PID[b]}" -x sleep)"
await "what it said last still counts: do-not-restart" pod_is b '.phase == "Holding" and .desired.doNotRestart'
control state=running do-not-restart=false
resource '{"state": "running", "doNotRestart": true, "savepointNonce": "1"}' # its watch goes on, and wakes it
await "an error is no absence: do-not-restart is not lifted by somebody else" pod_log b 'cannot read the custom resource.*403'
check "and was not" pod_is b '.desired.doNotRestart'
pod_end b
with_resource c "${quick[@]}"
pod_start c
await "another Pod knows that there was one: it holds" pod_is c '.phase == "Holding" and .desired.doNotRestart'
await "and says why" pod_is c '.control.error // "" | contains("403")'
is "$(launches)" "$before" "nothing is started"
pod_end c
give_right
with_resource c "${quick[@]}"
pod_start c
await "it can be read" pod_is c '.control.error == null and .control.resource == "found"'
check "do-not-restart still counts" pod_is c '.phase == "Holding" and .desired.doNotRestart'
resource '{"state": "running", "doNotRestart": false}'
await "lifted: it starts" launched $((before + 1))
take_right
pod_end c
with_resource d "${quick[@]}"
pod_start d
await "without a do-not-restart it holds likewise" pod_says d "it is unknown whether the job may start"
check "and says the way out" pod_says d "kubernetes.resource: none"
pod_end d
sed -i '/^  namespace:/a\  resource: none' "$RUN/d/drey.yaml"
pod_start d
await "that is a way out" launched $((before + 2))
pod_end d
e2e_end
