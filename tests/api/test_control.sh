#!/usr/bin/env bash
#
# The control ConfigMap, read through the API server before each launch, and also mounted: do-not-restart counts if either
# has it. The record of what was read survives the Pod. With the Role of the chart, against a real API server.
#
# runs in: ci

# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/api/lib.sh
. "$TOP/tests/api/lib.sh"

api_begin control
# shellcheck source=tests/api/journal_lib.sh
. "$TOP/tests/api/journal_lib.sh"

seen() { # JQ
	[ "$(kubectl get configmap "$JOURNAL" --output json | jq --raw-output '.data["control-seen.json"]' | jq "$1")" = true ]
}

# As the kubelet does it: all at once, by renaming a link.
mounted() { # KEY=VALUE...
	local version one
	version=..$(date +%s%N)
	mkdir -p "$RUN/mounted/$version"
	for one; do
		printf '%s' "${one#*=}" >"$RUN/mounted/$version/${one%%=*}"
		ln -sfn "..data/${one%%=*}" "$RUN/mounted/${one%%=*}"
	done
	ln -sfn "$version" "$RUN/mounted/..data_tmp"
	mv -T "$RUN/mounted/..data_tmp" "$RUN/mounted/..data"
}

quick=('control:' '  poll: 500ms')

# ---- without one -----------------------------------------------------------------------------------

pod_conf a "${quick[@]}"
pod_start a
await "no ConfigMap is no do-not-restart" launched 1
check "the status names it" pod_is a '.control.configMap == "orders-drey-control" and .control.error == null'
await "that there is none is remembered" seen .known

# ---- while it runs ---------------------------------------------------------------------------------

control do-not-restart=true
await "a do-not-restart is noticed without a mounted directory" pod_is a '.desired.doNotRestart'
check "the job runs on" pod_phase a Launching
await "it was seen, and that is kept beside the journal" seen '."do-not-restart" == "true"'
pod_end a
before=$(launches)
pod_conf b "${quick[@]}"
pod_start b
await "another Pod stands still" pod_phase b Holding
check "because of do-not-restart" pod_says b do-not-restart
control do-not-restart=false
await "lifted: it starts" launched $((before + 1))

# ---- before the launch -----------------------------------------------------------------------------

pod_end b
before=$(launches)
pod_conf c 'control:' '  poll: 10min'
control do-not-restart=false state=suspended
pod_start c
await "what is wanted is read before a launch" pod_phase c Suspended
is "$(launches)" "$before" "nothing is started"
control do-not-restart=true state=suspended
await "a change is noticed by the watch, long before the poll" pod_is c '.desired.doNotRestart'
pod_end c
control do-not-restart=false state=suspended savepoint-nonce=1
pod_conf d "${quick[@]}"
pod_start d
await "the next Pod has seen it" pod_phase d Suspended
check "a command counts after it" "$BUILD/drey" resume --timeout 60s --no-wait --config "$RUN/d/drey.yaml"
await "it starts" launched $((before + 1))
pod_kill_agent d
await "a new agent is there" pod_log d 'still runs: taken over'
await "it has read the ConfigMap" pod_is d '.control.readUnixMs != null'
check "and what stands there was seen before: nothing is stopped" pod_is d '.desired.state == "running"'

# ---- nonsense --------------------------------------------------------------------------------------

control state=stopped
await "nonsense is refused" pod_is d '.control.error | . != null and contains("must be running, suspended or cancelled")'
control state=stopped do-not-restart=true other=x .chart=x
await "but for a do-not-restart" pod_is d '.desired.doNotRestart'
check "what is no key is named" pod_is d '.control.ignored == "other"'
control state=running do-not-restart=false
await "set right" pod_is d '(.desired.doNotRestart | not) and .control.error == null'
kubectl delete configmap "$CONTROL_MAP" >/dev/null
await "deleted: nothing changes" pod_is d '.desired.state == "running" and .control.error == null'
pod_end d

# ---- beside a mounted one --------------------------------------------------------------------------

before=$(launches)
control state=running do-not-restart=false
mounted state=running do-not-restart=true
pod_conf e 'control:' "  directory: $RUN/mounted" '  poll: 500ms'
pod_start e
await "a do-not-restart that only the mounted one has" pod_phase e Holding
control state=running do-not-restart=true
mounted state=running do-not-restart=false
await "a do-not-restart that only the API server has" pod_log e 'the desired state has changed'
check "still" pod_phase e Holding
is "$(launches)" "$before" "nothing is started"
control state=running do-not-restart=false
mounted state=running do-not-restart=false other=1
await "neither has one: it starts" launched $((before + 1))
control state=suspended
mounted state=running do-not-restart=false other=2
await "what the API server says is newer" \
	pod_is e '.desired.state == "suspended"'
mounted state=suspended
check "the mounted one comes later, and is no other change" "$BUILD/drey" resume --no-wait --config "$RUN/e/drey.yaml"
mounted state=suspended other=3
await "it is read" pod_is e '.control.ignored == null'
check "what a command has said stays" pod_is e '.desired.state == "running"'
pod_end e

# ---- not to be read --------------------------------------------------------------------------------

before=$(launches)
check "the Role has lost it" \
	api_role_without "del(.rules[] | select(.resourceNames == [\"$CONTROL_MAP\"]))" get "configmaps/$CONTROL_MAP"
pod_conf f "${quick[@]}"
pod_start f
await "never read: it holds" pod_says f "it is unknown whether the job may start"
check "and says why, and the way out" pod_says f "kubernetes.control: none"
check "in the server's words" pod_says f "forbidden"
is "$(launches)" "$before" "nothing is started"
api_role || :
await "the Role is put right: it starts by itself" launched $((before + 1))
pod_end f

# ---- not to be watched -----------------------------------------------------------------------------

before=$(launches)
check "the Role allows no watch" \
	api_role_without "(.rules[] | select(.resourceNames == [\"$CONTROL_MAP\"])).verbs -= [\"list\", \"watch\"]" \
	watch "configmaps/$CONTROL_MAP"
pod_conf g "${quick[@]}"
pod_start g
await "it starts" launched $((before + 1))
control do-not-restart=true
await "the poll notices a change" pod_is g '.desired.doNotRestart'
pod_end g
e2e_end
