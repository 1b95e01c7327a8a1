#!/usr/bin/env bash
#
# A candidate in a transition (blue/green): its job runs by a journal of its own until it is granted the job, and adopts by
# compare-and-swap. With the Role of the chart, against a real API server; a script replaces Flink, and the test writes what the
# owner would.
#
# runs in: ci

# shellcheck disable=SC2317 # called by name
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/api/lib.sh
. "$TOP/tests/api/lib.sh"

api_begin shadow own
# shellcheck source=tests/api/journal_lib.sh
. "$TOP/tests/api/journal_lib.sh"
# shellcheck source=tests/api/ha_pod_lib.sh
. "$TOP/tests/api/ha_pod_lib.sh"
api_role --set upgrade.strategy=blueGreen --set drey.blueGreen.sourcesCanBeReadTwice=true \
	--set jobManager.progressDeadlineSeconds=3600 || api_fail "the chart's Role cannot be made"

OWN=$APPLICATION-drey-candidate-journal
SEED=file:$RUN/sp/savepoint-aaaaaa-bbbbbbbbbbbb
blue=$(job_id_of 0) green=$(job_id_of 1)

shadow_conf() { # POD
	ha_pod_conf "$1" 'generation: g2' 'handover:' '  mode: blueGreen' "  clusterIds: [$APPLICATION, $APPLICATION-green]" \
		'  hold: none' 'blueGreen:' '  sourcesCanBeReadTwice: true'
	sed -i "s|^kubernetes:|&\n  owner: deployment/$APPLICATION-jobmanager|" "$RUN/$1/drey.yaml"
}

deployment() {
	kubectl create deployment "$APPLICATION-jobmanager" --image none --dry-run=client --output json |
		jq '.spec.template.metadata.annotations = {"drey.dev/generation": "g2"}' | kubectl apply --filename - >/dev/null
}

# The next write of the owner: what it has, changed by JQ.
owner_writes() { # JQ
	jq "$1 | .sequence += 1" "$RUN/app.json" >"$RUN/app.new" && mv "$RUN/app.new" "$RUN/app.json" &&
		kubectl create configmap "$JOURNAL" --from-file=journal.json="$RUN/app.json" --dry-run=client --output json |
		kubectl apply --server-side --force-conflicts --filename - >/dev/null
}

candidate_is() { # JQ
	[ "$(kubectl get configmap "$APPLICATION-drey-candidate" --output json 2>/dev/null | jq --raw-output '.data["candidate.json"]' | jq "$1")" = true ]
}

own_is() { # JQ
	[ "$(kubectl get configmap "$OWN" --output json 2>/dev/null | jq --raw-output '.data["journal.json"]' | jq "$1")" = true ]
}

flink_of() { # POD
	pgrep -P "${POD_PID[$1]}" -x sleep
}

offers() { # ID: to the pod whose record is there
	kubectl get configmap "$APPLICATION-drey-candidate" --output json | jq '.data["candidate.json"] | fromjson | {pod, uid, template, side: "green"}' >"$RUN/to.json"
	owner_writes ".handover = {id: \"$1\", mode: \"surge\", state: \"offered\", from: .owner, to: $(cat "$RUN/to.json"), jobId: \"$green\", ends: {done: 0, returned: 0, refused: 0, none: 0},
		transition: {id: \"$1\", state: \"offered\", firstNumber: 1, numbers: 4, ownerNumber: 40, candidateNumber: 40}} | .jobIds.next = 5"
}

moves_to() { # STATE [JQ]
	owner_writes ".handover.transition.state = \"$1\" | ${2:-.}"
}

# The owner's job runs, and nothing else is there.
application_is_new() {
	kubectl delete configmap "$JOURNAL" "$OWN" "$APPLICATION-drey-candidate" --ignore-not-found >/dev/null
	cp "$RUN/first.json" "$RUN/app.json"
	owner_writes .
}

is_seeded() {
	moves_to seeded ".handover.transition.seed = {path: \"$SEED\", checkpointId: 7} |
		.snapshots = [{path: \"$SEED\", kind: \"savepoint\", origin: \"manual\", jobId: \"$blue\", checkpointId: 7, verified: true}]"
}

is_granted() {
	owner_writes '.handover.transition.state = "granted" | .handover.transition.toggleUnixMs = 1000 | .handover.state = "granted" |
		.owner = .handover.to'
}

mkdir -p "$RUN/sp/savepoint-aaaaaa-bbbbbbbbbbbb" "$RUN/ck/$blue/chk-7"
cp "$TOP/tests/fixtures/metadata/2.3.0-hashmap-chk" "$RUN/sp/savepoint-aaaaaa-bbbbbbbbbbbb/_metadata"
cp "$TOP/tests/fixtures/metadata/2.3.0-hashmap-chk" "$RUN/ck/$blue/chk-7/_metadata"
jq --arg app "$APPLICATION" --arg blue "$blue" --arg seed "$SEED" --arg ns "$NAMESPACE" --arg ck "file:$RUN/ck" --arg sp "file:$RUN/sp" '
	.application = $app | .sequence = 10 | .writer = "old/uid-old/1" | .everProven = true |
	.owner = {pod: "old", uid: "uid-old", template: "g1//", side: "blue"} | .jobIds = {space: "\($ns)/\($app)/", next: 1} |
	.launches = [{number: 1, jobId: $blue, generation: "g1", flinkVersion: "2.3.0", allowNonRestored: false, haClusterId: $app,
		writer: "old/uid-old/1", checkpointDirectory: $ck, savepointDirectory: $sp, intendedUnixMs: 1, startedUnixMs: 2, verifiedUnixMs: 3,
		provenUnixMs: 4, jobEnded: false, mismatched: false, leftState: false, neverStarted: false}]' \
	"$TOP/tests/fixtures/journal/0.1.0-fresh.json" >"$RUN/first.json"
lead of-old
check "there is an owner" application_is_new
check "the Deployment wants the next version" deployment
shadow_conf a
pod_start a
await "its Pod is the candidate" candidate_is '.state == "Preparing" and .side == "green"'

# ---- the seed ----------------------------------------------------------------------------------------

check "it is offered the job" offers h1-00000001
await "it is prepared" candidate_is '.state == "Prepared" and .shadow.state == "prepared" and .shadow.transition == "h1-00000001"'
check "there is no journal of its own yet" not has_configmap "$OWN"
check "the seed is there" is_seeded
await "its job is launched" launched 1
check "its own journal has that" own_is ".launches | length == 2 and .[1].jobId == \"$green\" and .[1].restorePoint.path == \"$SEED\""
check "under the request of this hand-over" own_is '.launches[1].requestToken == "h1-00000001"'
is "$(journal .sequence)" "$(jq .sequence "$RUN/app.json")" "the application's was not written"
await "its record says so" candidate_is '.shadow.state == "starting"'
check "it is not ready" eval '! pod_is a ".conditions[] | select(.type == \"Ready\") | .status == \"True\""'
check "it takes no requests" eval '! "$BUILD/drey" suspend --timeout 5s --config "$RUN/a/drey.yaml" 2>>"$RUN/log/cli.log"'

# ---- its agent dies ----------------------------------------------------------------------------------

pod_kill_agent a
await "the next agent continues by the same journal" pod_log a 'the job in the shadow continues'
await "with its Flink" pod_is a '.launch.number == 2'
is "$(launches)" 1 "which was not started again"
flink_dies a
await "one that dies is started again" launched 2
check "as its own journal has" own_is '.launches | length == 3'

# ---- granted -----------------------------------------------------------------------------------------

check "it is granted the job" is_granted
await "it adopts" journal_is '.handover.transition.state == "taken" and .handover.state == "taken"'
check "it is the owner" journal_is '.writer | startswith("orders-a/uid-of-a-")'
is "$(journal '.launches | map(.number) | join(" ")')" "1 2 3" "its launches are behind the owner's"
check "the owner's has ended" journal_is '.launches[0] | .jobEnded and .endedUnixMs != null'
await "the next agent is the owner of the job that runs" pod_is a '.role == "owner" and .launch.number == 3'
is "$(launches)" 2 "which was not touched"
check "no agent has crashed" not pod_log a 'killed by signal 11'
check "its own journal stays until the transition is done" has_configmap "$OWN"
pod_end a

# ---- the Pod that was granted the job is gone -----------------------------------------------------------

rm -f "$RUN/launches"
check "the application as it was" application_is_new
shadow_conf b
pod_start b
await "another Pod is the candidate" candidate_is '.state == "Preparing" and .pod == "orders-b"'
check "it is offered the job" offers h1-00000002
await "it is prepared" candidate_is '.state == "Prepared" and .shadow.transition == "h1-00000002"'
check "the seed is there" is_seeded
await "its job is launched" launched 1
await "as its own journal has" own_is '.launches[1].startedUnixMs != null'
pod_kill b
check "it is granted the job, and gone" is_granted
shadow_conf c
pod_start c
await "the next Pod of its template adopts what it has left" journal_is '.handover.transition.state == "taken"'
check "and is the owner" journal_is '.owner.pod == "orders-c" and .handover.to.pod == "orders-c" and .owner.side == "green"'
check "of its job" journal_is ".launches | length >= 2 and .[1].jobId == \"$green\" and (.[1].writer | startswith(\"orders-b/\"))"
pod_kill c
e2e_end
