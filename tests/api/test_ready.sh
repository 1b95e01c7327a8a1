#!/usr/bin/env bash
#
# The condition drey.dev/Ready of the Deployment or Job that the Pod belongs to: it agrees with drey's status, even after
# a Pod was killed, and is written to exactly this object. Without the custom resource, with the Role of the chart,
# against a real API server and the real controllers of Deployments and Jobs.
#
# runs in: ci

# shellcheck disable=SC2119,SC2317 # lib.sh has functions whose arguments are optional; called by name
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/api/lib.sh
. "$TOP/tests/api/lib.sh"

api_begin ready
# shellcheck source=tests/api/journal_lib.sh
. "$TOP/tests/api/journal_lib.sh"
# shellcheck source=tests/api/ready_lib.sh
. "$TOP/tests/api/ready_lib.sh"

# ---- what is to be seen ----------------------------------------------------------------------------

deployment
control state=suspended
pod_conf a "${quick[@]}"
pod_start a
await "to stand still as wanted is ready" shown True Suspended
await "it is the condition of the status document" agrees a
check "kubectl wait" kubectl wait --for=condition=drey.dev/Ready "deployment/$OWNER" --timeout=30s
check "kubectl describe shows it" grep --quiet --extended-regexp '^ +drey\.dev/Ready +True +Suspended' \
	<(kubectl describe deployment "$OWNER")
check "as its own time says" test "$(owner_says .lastTransitionTime)" = "$(pod_status a \
	'.conditions[] | select(.type == "Ready") | .lastTransitionTime')"
control state=running
await "it runs" shown False Launching
check "kubectl wait" kubectl wait --for=condition=drey.dev/Ready=False "deployment/$OWNER" --timeout=30s

# ---- the controller of Deployments -----------------------------------------------------------------

scaled() { # REPLICAS
	kubectl get deployment "$OWNER" --output json | jq --exit-status --argjson replicas "$1" \
		'.status.observedGeneration == .metadata.generation and .status.replicas == $replicas' >/dev/null
}
before=$(owner_says tojson)
kubectl scale deployment "$OWNER" --replicas=2 >/dev/null
await "the controller writes its own" scaled 2
is "$(owner_says tojson)" "$before" "and keeps ours"
is "$(kubectl get deployment "$OWNER" --output json | jq --raw-output '[.status.conditions[].type] | sort | join(" ")')" \
	"Available Progressing drey.dev/Ready" "as we keep its own"

# ---- another Pod -----------------------------------------------------------------------------------

since=$(owner_says .lastTransitionTime)
updated=$(owner_says .lastUpdateTime)
pod_kill a
later() { # RFC3339
	[ "$(date +%s)" -gt $(($(date --date "$1" +%s) + 1)) ]
}
await "some time passes" later "$updated"
control state=running 'restore={"kind": "path", "token": "t1", "path": "file:///none/savepoint-1"}'
pod_conf b "${quick[@]}"
pod_start b
await "why it is held is to be seen" shown False RequestedSnapshotUnusable
await "in the words of the status document" agrees b
check "in so many words" test -n "$(owner_says .message | grep --fixed-strings /none/savepoint-1)"
is "$(owner_says .lastTransitionTime)" "$since" "a time changes only with the status, whoever writes it"
check "but not that of the last write" test "$(owner_says .lastUpdateTime)" != "$updated"
control state=suspended
await "ready" shown True Suspended
check "since another time" test "$(owner_says .lastTransitionTime)" != "$since"
pod_kill b
check "a Pod that was killed leaves it" shown True Suspended
control state=running do-not-restart=true
pod_conf c "${quick[@]}"
pod_start c
await "the next one puts it right" shown False DoNotRestart
control state=suspended do-not-restart=false
await "ready once more" shown True Suspended
pod_kill_agent c
before=$(asked patch)
await "another agent is there" pod_log c 'agentRestarts":1'
await "it is ready too" pod_phase c Suspended
pod_end c
check "SIGTERM: the last word" shown False Terminating
is "$(asked patch)" $((before + 1)) "the other agent has written nothing before: it was all there"
is "$(api_requests '.resource == "flinkapplications"')" "" "the custom resource was not needed"
is "$(api_denied)" "" "nothing was asked for that the Role does not allow"

# ---- it may not be written ---------------------------------------------------------------------------

may_write() {
	kubectl auth can-i patch "deployments.apps/$OWNER" --subresource status \
		--as "system:serviceaccount:$NAMESPACE:$APPLICATION" >/dev/null
}
denied() {
	api_requests '.code == 403' | wc -l
}
kubectl get role "$APPLICATION" --output json | jq 'del(.rules[] | select(.resources == ["deployments/status"]))' |
	kubectl replace --filename - >/dev/null
await "the Role does not have it" not may_write
pod_conf d "${quick[@]}"
control state=suspended
pod_start d
await "the log says so" pod_log d 'access denied to the condition.*deployments/status.*'"$OWNER"'.*patch'
check "everything else goes on" pod_phase d Suspended
count=$(denied)
check "it was not asked for too often ($count times)" test "$count" -le 8
control state=running do-not-restart=true
await "and goes on" pod_phase d Holding
control state=suspended do-not-restart=false
await "as is wanted" pod_phase d Suspended
check "it is left alone for a while" test "$(denied)" -le $((count + 3)) # 30 s between two
is "$(grep -c 'access denied to the condition' "$RUN/log/d.log")" 1 "the log says so once"
check "the old one is still there" shown False Terminating
api_role || :
await "the Role has it" may_write
pod_kill_agent d
await "written" shown True Suspended

# ---- another object of the same name -----------------------------------------------------------------

kubectl delete deployment "$OWNER" --cascade=orphan --wait >/dev/null
deployment
control state=running do-not-restart=true
await "another one of the same name is noticed" pod_log d 'stopped writing the condition.*another object has the same name'
is "$(owner_says .status)" "" "nothing was written to it"
pod_end d
is "$(owner_says .status)" "" "nor when it ended"
kubectl patch deployment "$OWNER" --type merge --patch '{"metadata": {"finalizers": ["drey.dev/test"]}}' >/dev/null
kubectl delete deployment "$OWNER" --wait=false >/dev/null
control state=suspended do-not-restart=false
pod_conf e "${quick[@]}"
pod_start e
await "one that is being deleted is noticed" pod_log e 'stopped writing the condition.*being deleted'
await "everything else goes on" pod_phase e Suspended
pod_end e
is "$(owner_says .status)" "" "nothing was written to it"
kubectl patch deployment "$OWNER" --type merge --patch '{"metadata": {"finalizers": []}}' >/dev/null
check "nothing was wrong" not pod_log e 'cannot be written'

# ---- a Job -------------------------------------------------------------------------------------------

KIND=job
api_role --set jobManager.kind=Job
await "another Role counts" api_may get "jobs.batch/$OWNER"
before=$(api_denied)
job
pod_conf f "  owner: job/$OWNER" "${quick[@]}"
pod_start f
await "a Job has it too" shown True Suspended
await "as the status document" agrees f
check "kubectl wait" kubectl wait --for=condition=drey.dev/Ready "job/$OWNER" --timeout=30s
before_ours=$(owner_says tojson)
kubectl patch job "$OWNER" --type merge --patch '{"spec": {"suspend": true}}' >/dev/null
await "its controller writes its own" kubectl wait --for=condition=Suspended "job/$OWNER" --timeout=1s
is "$(owner_says tojson)" "$before_ours" "and keeps ours"
pod_end f
check "SIGTERM: the last word" shown False Terminating
check "the controller's own is as it was" kubectl wait --for=condition=Suspended "job/$OWNER" --timeout=1s
is "$(api_denied)" "$before" "nothing was asked for that this Role does not allow"
e2e_end
