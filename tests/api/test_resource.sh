#!/usr/bin/env bash
#
# The custom resource with a running drey: drey follows its spec and writes its status, whatever happens to the resource.
# With the Role of the chart, against a real API server.
#
# runs in: ci

# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/api/lib.sh
. "$TOP/tests/api/lib.sh"

api_begin resource
# shellcheck source=tests/api/journal_lib.sh
. "$TOP/tests/api/journal_lib.sh"
# shellcheck source=tests/api/resource_lib.sh
. "$TOP/tests/api/resource_lib.sh"

quick=('control:' '  poll: 1min')
# ---- none, then one --------------------------------------------------------------------------------

with_resource a "${quick[@]}"
pod_start a
await "no resource is no obstacle" launched 1
resource '{"state": "running"}'
await "it is noticed when it comes" resource_is '.status.phase == "Launching"'
check "all is about this generation" observed
check "something is under way" condition_is Reconciling True Launching
check "not ready" condition_is Ready False Launching
check "nothing is wrong" condition_is Stalled False
is "$(resource_status '[.status.conditions[].type] | sort | join(" ")')" \
	"CheckpointsElsewhere CheckpointsFailing CheckpointsUnusable ClusterUnreachable HandingOver JobFailing JobUnstable JournalCopyFailing ParallelismAsRequested Ready Reconciling RestoreVerified SettingsOverridden Stalled StateLost Upgraded" "all conditions are there"
is "$(kubectl get flapp "$APPLICATION" --show-managed-fields --output json | jq --compact-output '[.metadata.managedFields[] | select(.subresource == "status") | .manager]')" \
	'["drey"]' "the fields have an owner"
same=$(jq --null-input --argjson theirs "$(resource_status .status)" --argjson ours "$("$BUILD/drey" status --json --config "$RUN/a/drey.yaml")" \
	'def rest: del(.launches, .decision, .retryInMs, .nextSavepointInMs, .control.readUnixMs, .journal.sequence,
		.runbook, .lineage, .sinceUnixMs, .nowUnixMs, .agent); ($theirs | rest) == ($ours | rest)')
is "$same" true "it is what drey status prints"
since=$(resource_status '.status.conditions[] | select(.type == "JobFailing") | .lastTransitionTime')

# ---- the spec is followed ---------------------------------------------------------------------------

begin=$(date +%s%N)
resource '{"state": "running", "doNotRestart": true}'
await "a do-not-restart counts" pod_is a '.desired.doNotRestart'
await "and is to be seen" resource_is '.status.desired.doNotRestart and .status.observedGeneration == .metadata.generation'
diag "from kubectl apply to the status: $((($(date +%s%N) - begin) / 1000000)) ms"
resource '{"state": "running", "doNotRestart": false}'
await "lifted" pod_is a '.desired.doNotRestart | not'
# ---- it goes and comes again --------------------------------------------------------------------------

kubectl delete flapp "$APPLICATION" >/dev/null
await "its end is noticed" pod_log a 'the custom resource was deleted'
check "nothing changes" pod_is a '.desired.state == "running" and .phase == "Launching"'
resource '{"state": "running"}'
await "another one of the same name gets its status" resource_is '.status.phase == "Launching"'
check "about its own generation" observed

# ---- another agent, another Pod --------------------------------------------------------------------

pod_kill_agent a
await "a new agent is there" pod_log a 'still runs: taken over'
await "the status stays" resource_is '.status.phase == "Launching"'
pod_end a
await "the end is the last word" resource_is '.status.phase == "Terminating"'

# ---- what is wanted before a start -------------------------------------------------------------------

before=$(launches)
resource '{"state": "suspended"}'
with_resource c "${quick[@]}"
pod_start c
await "what is wanted is read before a launch" resource_is '.status.phase == "Suspended"'
is "$(launches)" "$before" "nothing is started"
check "that was wanted: kubectl wait is content" kubectl wait --for=condition=Ready "flapp/$APPLICATION" --timeout=30s
check "in so many words" condition_is Ready True Suspended
is "$(resource_status '.status.conditions[] | select(.type == "JobFailing") | .lastTransitionTime')" "$since" \
	"a time changes only with the status, whoever writes it"
resource '{"state": "running"}'
await "wanted again: it starts" launched $((before + 1))
await "and is to be seen" resource_is '.status.phase == "Launching"'

# ---- a spec that the schema lets pass ---------------------------------------------------------------

resource '{"state": "running", "restore": {"kind": "path", "token": "t1", "path": "s3://b/sp/1"}}'
await "a restore under a job that runs is refused" condition_is Stalled True SpecRefused
check "about this generation" observed
check "the job is as it was" pod_is c '.desired.state == "running" and .phase == "Launching"'
resource '{"state": "running"}'
await "set right" condition_is Stalled False

# ---- events --------------------------------------------------------------------------------------------

events() { # REASON
	kubectl get events.events.k8s.io --output json | jq --raw-output --arg reason "$1" \
		'[.items[] | select(.reason == $reason and .reportingController == "drey.dev/drey")] | length'
}
has_event() { # REASON
	[ "$(events "$1")" -ge 1 ]
}
await "events are told" has_event Launching
check "of the resource" test "$(kubectl get events.events.k8s.io --output json | jq '[.items[] |
	select(.regarding.kind == "FlinkApplication" and .regarding.name == "'"$APPLICATION"'")] | length')" -ge 1
check "a refused spec is one" has_event SpecRefused
before=$(launches)
for _ in 1 2; do
	kill -KILL "$(pgrep -P "${POD_PID[c]}" -x sleep)"
	before=$((before + 1))
	await "Flink dies and is started again" launched "$before"
	await "once more" pod_phase c Launching
done
series() {
	[ "$(kubectl get events.events.k8s.io --output json | jq '[.items[] | select(.reason == "Launching") |
		.series.count // 1] | max')" -ge 2 ]
}
await "what happens again is a series of one event" series
check "kubectl describe shows them" grep -q Launching <(kubectl describe flapp "$APPLICATION")

# ---- what SIGTERM means -------------------------------------------------------------------------------

pod_end c
check "an owner that never was says nothing" pod_log c 'compared with the owner of the pod.*unknown.*no owner of this name'

deployment() { # GENERATION REPLICAS
	jq --null-input --arg name "$APPLICATION-jobmanager" --arg generation "$1" --argjson replicas "$2" '{
		apiVersion: "apps/v1", kind: "Deployment", metadata: {name: $name}, spec: {
			replicas: $replicas, selector: {matchLabels: {app: $name}}, template: {
				metadata: {labels: {app: $name}, annotations: {"drey.dev/generation": $generation}},
				spec: {containers: [{name: "c", image: "example.org/none"}]}}}}' |
		kubectl apply --server-side --filename - >/dev/null
}

compare() { # POD VERDICT WHAT COMMAND...
	local pod=$1 verdict=$2 what=$3
	shift 3
	with_resource "$pod" 'generation: g1' "${quick[@]}"
	pod_start "$pod"
	await "pod $pod runs" pod_phase "$pod" Launching
	"$@"
	pod_end "$pod"
	check "$what" pod_log "$pod" "compared with the owner of the pod\",\"verdict\":\"$verdict\""
}

deployment g1 1
compare d 'no upgrade' "the same generation: no upgrade" true
compare e upgrade "another generation: an upgrade" deployment g2 1
deployment g1 1
compare f upgrade "no replicas: as good as one" deployment g1 0
deployment g1 1
compare g upgrade "deleted: likewise" kubectl delete --wait deployment "$APPLICATION-jobmanager"
check "that is an event too" has_event OwnerCompared

# ---- not to be read ---------------------------------------------------------------------------------

before=$(launches)
check "the Role has lost it" api_role_without 'del(.rules[] | select(.apiGroups == ["drey.dev"]))' \
	get "flinkapplications.drey.dev/$APPLICATION"
with_resource b "${quick[@]}"
pod_start b
await "never read: it holds, because a do-not-restart may be set" pod_says b "it is unknown whether the job may start"
check "and says the way out" pod_says b "kubernetes.resource: none"
is "$(launches)" "$before" "nothing is started"
api_role || :
await "the Role is put right: it starts by itself" launched $((before + 1))
await "and writes" resource_is '.status.phase == "Launching"'
pod_end b
e2e_end
