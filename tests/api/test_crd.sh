#!/usr/bin/env bash
#
# The custom resource: what the schema accepts and rejects, and that kubectl can work with it.
#
# runs in: ci

# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/api/lib.sh
. "$TOP/tests/api/lib.sh"

api_begin crd

resource() { # SPEC_JSON
	jq --null-input --compact-output --arg name "$APPLICATION" --argjson spec "$1" \
		'{apiVersion: "drey.dev/v1", kind: "FlinkApplication", metadata: {name: $name}, spec: $spec}'
}

# What the server says to it, without the name; nothing when it takes it.
dry_run() { # SPEC_JSON
	resource "$1" | kubectl apply --server-side --dry-run=server --filename - 2>&1 >/dev/null |
		sed "s/^The FlinkApplication \"$APPLICATION\" is invalid: *//"
}

takes() { # SPEC_JSON WHAT
	is "$(dry_run "$1")" "" "taken: $2"
}

# The refusal names the member.
refuses() { # SPEC_JSON PATH WHAT
	local said
	said=$(dry_run "$1")
	case $said in
	*"$2: "*) tap_result 0 "refused: $3" ;;
	*)
		tap_result 1 "refused: $3"
		diag "without $2: ${said:-taken}"
		;;
	esac
}

# ---- the spec ----------------------------------------------------------------------------------------

takes '{}' "nothing is wanted"
takes '{"state": "suspended", "doNotRestart": true, "savepointNonce": "2026-11-21", "restartNonce": "7", "checkpointNonce": "full 2026-11-21"}' "all of it"
takes '{"restore": {"kind": "path", "token": "a", "path": "s3://b/sp/savepoint-1", "foreign": true, "allowNonRestoredState": true}}' \
	"restore a path"
takes '{"restore": {"kind": "empty", "token": "a"}}' "start empty"
takes '{"restore": {"kind": "newest", "token": "a", "allowNonRestoredState": true, "generation": "g2"}}' "leave state out"
refuses '{"state": "stopped"}' spec.state "a state that there is not"
refuses '{"doNotRestart": "true"}' doNotRestart "a do-not-restart that is text"
refuses '{"savepointNonce": ""}' spec.savepointNonce "an empty nonce"
refuses '{"checkpointNonce": "half n"}' spec.checkpointNonce "a checkpoint that is neither full nor as configured"
refuses '{"savepointNonce": "with space"}' spec.savepointNonce "a nonce with a space"
takes '{"promote": "a 2026-11-26T12:00:00Z", "abort": "b"}' "wishes for a transition"
refuses '{"abort": "a b"}' spec.abort "an abort with a space"
takes '{"parallelism": {"all": 4, "vertices": {"count": 2}}}' "another parallelism"
takes '{"parallelism": {"reset": true}}' "the job's own parallelism"
refuses '{"parallelism": {}}' spec.parallelism "a parallelism without a number"
refuses '{"parallelism": {"all": 0}}' spec.parallelism.all "no subtasks"
refuses '{"parallelism": {"vertices": {"count": "many"}}}' spec.parallelism.vertices.count "a word instead of a number"
refuses '{"parallelism": {"all": 4, "reset": true}}' spec.parallelism.reset "reset and a number"
refuses "{\"restartNonce\": \"$(printf '%065d' 0)\"}" spec.restartNonce "a long nonce"
refuses '{"restore": {"kind": "path", "token": "a"}}' spec.restore.path "a path that is not there"
refuses '{"restore": {"kind": "path", "path": "s3://b/sp"}}' spec.restore.token "no token"
refuses '{"restore": {"token": "a", "path": "s3://b/sp"}}' spec.restore.kind "no kind"
refuses '{"restore": {"kind": "empty", "token": "a", "path": "s3://b/sp"}}' spec.restore.path "an empty start with a path"
refuses '{"restore": {"kind": "empty", "token": "a", "foreign": true}}' spec.restore.foreign "an empty start that is foreign"
refuses '{"restore": {"kind": "empty", "token": "a", "allowNonRestoredState": true}}' spec.restore.allowNonRestoredState \
	"an empty start that drops state"
refuses '{"restore": {"kind": "latest", "token": "a"}}' spec.restore.kind "a restore that there is not"
refuses '{"restore": {"kind": "newest", "token": "a"}}' spec.restore.allowNonRestoredState "the newest state, and nothing else"
refuses '{"restore": {"kind": "newest", "token": "a", "allowNonRestoredState": true, "path": "s3://b/sp"}}' spec.restore.path \
	"the newest state with a path"
refuses '{"restore": {"kind": "newest", "token": "a", "allowNonRestoredState": true, "foreign": true}}' spec.restore.foreign \
	"the newest state that is foreign"
refuses '{"stat": "running"}' spec.stat "a member that there is not"
is "$(resource '{"stat": "running"}' | kubectl create --dry-run=server --filename - 2>&1 | grep -c 'unknown field "spec.stat"')" 1 \
	"also by kubectl create"

resource '{"state": "running", "restore": {"kind": "path", "token": "a", "path": "s3://b/sp/1"}}' |
	kubectl apply --server-side --filename - >/dev/null
refuses '{"restore": {"kind": "path", "token": "a", "path": "s3://b/sp/2"}}' spec.restore.token "another restore under the same token"
takes '{"restore": {"kind": "path", "token": "b", "path": "s3://b/sp/2"}}' "with another one"
takes '{"restore": {"kind": "path", "token": "a", "path": "s3://b/sp/1"}, "state": "suspended"}' "the same restore again"

refuses '{"state": "suspended", "restartNonce": "r2"}' spec.restartNonce "a restart, and the stop, in one change"
refuses '{"state": "cancelled", "restartNonce": "r2"}' spec.restartNonce "likewise with a cancel"
refuses '{"state": "cancelled", "savepointNonce": "s2"}' spec.savepointNonce "a savepoint, and the end without one, in one change"
takes '{"state": "suspended", "savepointNonce": "s2"}' "a savepoint, and the stop with one"
takes '{"state": "running", "restartNonce": "r2", "savepointNonce": "s2"}' "a restart and a savepoint"
resource '{"state": "running", "restartNonce": "r1", "savepointNonce": "s1"}' | kubectl apply --server-side --filename - >/dev/null
takes '{"state": "suspended", "restartNonce": "r1", "savepointNonce": "s1"}' "a stop, when the nonces are those that were there"
takes '{"state": "cancelled", "restartNonce": "r1", "savepointNonce": "s1"}' "a cancel likewise"
resource '{"state": "suspended", "restartNonce": "r1"}' | kubectl apply --server-side --filename - >/dev/null
takes '{"state": "suspended", "restartNonce": "r3", "savepointNonce": "s3"}' "nonces while it stands still"
resource '{"state": "running", "restore": {"kind": "path", "token": "a", "path": "s3://b/sp/1"}}' |
	kubectl apply --server-side --filename - >/dev/null

# ---- the status --------------------------------------------------------------------------------------

ours=/apis/drey.dev/v1/namespaces/$NAMESPACE/flinkapplications/$APPLICATION

give_status() { # STATUS_JSON: as drey does
	curl_pod PATCH "$ours/status?fieldManager=drey&force=true" --header 'Content-Type: application/apply-patch+yaml' \
		--data "$(jq --null-input --compact-output --arg name "$APPLICATION" --argjson status "$1" \
			'{apiVersion: "drey.dev/v1", kind: "FlinkApplication", metadata: {name: $name}, status: $status}')"
	[ "$HTTP_STATUS" = 200 ] || { cat "$RUN/answer" && return 1; }
}

column() { # NAME [KUBECTL_OPTION...]: by the heading; for columns without spaces in front of it
	local name=$1
	shift
	kubectl get flapp "$APPLICATION" "$@" | awk -v name="$name" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i }
		NR == 2 { print $at }'
}

# What docs/reference/status.md describes, and what the definition has; children of what is free-form are not looked for. Nor is what the page
# says is not in the custom resource.
documented() {
	grep -E '^\| `' "$TOP/docs/reference/status.md" | grep -v 'Missing in the custom resource |$' | cut -d'|' -f2 | grep -oE '`[a-zA-Z.]+`' | tr -d '\`' | grep -vE '^[A-Z]'
}
defined=$(kubectl get crd flinkapplications.drey.dev --output json | jq --raw-output '
	.spec.versions[0].schema.openAPIV3Schema.properties.status |
	paths | map(select(type == "string")) | select(.[-2] == "properties") | map(select(. != "properties" and . != "items")) | join(".")')
is "$(documented | while read -r member; do grep -qxF "$member" <<<"$defined" || echo "$member"; done)" "" \
	"every member of the status document is defined"
check "all $(documented | wc -l) of them" test "$(documented | wc -l)" -ge 25

# A document as drey writes it is taken as it is.
cat >"$RUN/status.json" <<'EOF2'
{"application":"orders","phase":"Running","reason":"the job runs","jobId":"4f0c0000000000000000000000000001","launch":{"number":2,
"jobId":"4f0c0000000000000000000000000001","restorePoint":{"path":"s3://b/sp/1","kind":"savepoint","checkpointId":null},
"startedUnixMs":1795262791903,"restoreVerified":true,"proven":false,"flinkVersion":"2.3.0","generation":null},
"job":{"reachable":true,"state":"RUNNING"},"tasks":{"running":12,"total":12},"lastCheckpoint":{"id":41,"path":"s3://b/ck/41","completedUnixMs":1795262791903},
"lastSavepoint":null,"snapshots":[{"path":"s3://b/ck/41","kind":"checkpoint","checkpointId":41,"completedAt":"2026-11-21T11:59:51.903Z","sizeBytes":1000,"origin":null,"launch":4},
{"path":"s3://b/sp/1","kind":"savepoint","checkpointId":null,"completedAt":null,"sizeBytes":null,"origin":"manual","launch":null}],"operation":null,"lastOperation":null,"desired":{"state":"running","doNotRestart":false},
"attempts":{"failed":0,"max":3,"windowMs":600000},"outcome":null,"lastError":null,"nextSavepointInMs":null,
"journal":{"sequence":12,"broken":false},"control":null,"role":"owner",
"owner":{"pod":"old","uid":"u1","template":"g1/c1/h1","side":"blue"},
"handover":{"id":"h2-3f2ac1d0","mode":"surge","state":"offered","from":{"pod":"old","uid":"u1","template":"g1/c1/h1","side":"blue"},
"to":{"pod":"new","uid":"u2","template":"g2/c1/h2","side":"green"},"savepoint":null,"slots":4,"tries":1,"forced":false,
"startedUnixMs":1795262791903,"stateUnixMs":1795262791903,"deadlineUnixMs":1795263091903,"why":"new prepares",
"preparedUnixMs":1795262792903,"stoppingUnixMs":null,"grantedUnixMs":null,"takenUnixMs":null,"doneUnixMs":null,
"returned":"main() threw","returnedUnixMs":1795262691903,
"transition":{"state":"crossing","waitsFor":"all gates of this version are behind the cut, for blueGreen.settle","seed":"s3://b/sp/2",
"cutUnixMs":1795262791903,"armings":1,"promoted":true,"replay":null,"above":3,"below":0,"inexact":true,"candidateState":"shadowing","watermarkUnixMs":1795262790903,
"candidateWatermarkUnixMs":1795262789903,"behindMs":1000,"idle":0,"withheld":17}},
"lease":{"uri":"s3://b/lease","held":true,"holder":"west","writtenUnixMs":1795262791903,"parked":false,"error":null},
"candidate":{"pod":"new","state":"Prepared","side":"green","mainHeld":true,"taskManagers":2,"slotsFree":4,"checked":"fits","why":null},
"transitions":[{"unixMs":1795262791903,"text":"Launching"}]}
EOF2
status_of() { # READY GENERATION
	jq --compact-output --arg ready "$1" --argjson generation "$2" '. + {observedGeneration: $generation, conditions: [
		{type: "Ready", status: $ready, reason: "Running", message: "the job runs",
		 observedGeneration: $generation, lastTransitionTime: "2026-11-21T12:00:00Z"}]}' "$RUN/status.json"
}

generation=$(kubectl get flapp "$APPLICATION" --output 'jsonpath={.metadata.generation}')
check "the status document is taken" give_status "$(status_of False "$generation")"
is "$(kubectl get flapp "$APPLICATION" --output json | jq --compact-output '.status | del(.conditions, .observedGeneration)')" \
	"$(jq --compact-output --sort-keys . "$RUN/status.json")" "nothing of it is lost"
is "$(kubectl get flapp "$APPLICATION" --output 'jsonpath={.metadata.generation}')" "$generation" "it is no change of what is wanted"
check "a member that only a newer drey knows is taken" \
	give_status "$(status_of False "$generation" | jq --compact-output '.newer = {a: 1} | .launch.newer = [2]')"
is "$(kubectl get flapp "$APPLICATION" --output 'jsonpath={.status.newer.a} {.status.launch.newer[0]}')" "1 2" "and kept"
check "a phase of the wrong type is not" not give_status '{"phase": 1}'
check "nor one that no drey has, with an escape sequence in it" not give_status '{"phase": "\u001b]52;c;cHduZWQ=\u0007Running"}'

is "$(column PHASE) $(column READY) $(column DESIRED) $(column DO-NOT-RESTART) $(column TASKS) $(column CHECKPOINT)" \
	"Running False running false 12 41" \
	"kubectl get shows the essence"
# how old the newest snapshot is, as kubectl writes ages
age_of() { # SECONDS
	give_status "$(status_of False "$generation" | jq --compact-output --argjson ago "$1" '.snapshots[0].completedAt = (now - $ago | todate)')"
	column SNAPSHOT
}
is "$(age_of 7260)" 121m "and how old the newest snapshot is"
is "$(age_of 864000)" 10d "for each snapshot"
check "a date that is none is not taken" not give_status "$(jq --compact-output '.snapshots[0].completedAt = "yesterday"' "$RUN/status.json")"
give_status "$(status_of False "$generation" | jq --compact-output '.snapshots = []')"
is "$(kubectl get flapp "$APPLICATION" --no-headers | awk '{ print NF }')" "$(kubectl get flapp "$APPLICATION" | awk 'NR == 1 { print NF - 2 }')" \
	"without one there is no age, and no error"
give_status "$(status_of False "$generation")"
is "$(column JOB --output wide)" 4f0c0000000000000000000000000001 "and more of it when asked"
is "$(column HAND-OVER --output wide)" offered "among it a hand-over"
# kept could also be what the definition does not know
is "$(jq --raw-output 'paths(scalars or . == null) | map(select(type == "string")) | join(".")' "$RUN/status.json" |
	grep -E '^(role|owner|handover|candidate)' | while read -r member; do grep -qxF "$member" <<<"$defined" || echo "$member"; done)" "" \
	"every member of a hand-over is defined"
check "none of the wrong type is taken" not give_status '{"handover": {"tries": "one"}}'

check "kubectl wait does not take False for True" not kubectl wait --for=condition=Ready "flapp/$APPLICATION" --timeout=1s
give_status "$(status_of True $((generation - 1)))"
check "nor what was said about an older generation" not kubectl wait --for=condition=Ready "flapp/$APPLICATION" --timeout=1s
give_status "$(status_of True "$generation")"
check "kubectl wait sees Ready" kubectl wait --for=condition=Ready "flapp/$APPLICATION" --timeout=20s
check "and the phase" kubectl wait --for='jsonpath={.status.phase}=Running' "flinkapplication/$APPLICATION" --timeout=20s

kubectl patch flapp "$APPLICATION" --type merge --patch '{"spec": {"doNotRestart": true}, "status": {"phase": "Failed"}}' >/dev/null
is "$(kubectl get flapp "$APPLICATION" --output 'jsonpath={.metadata.generation} {.status.phase}')" "$((generation + 1)) Running" \
	"a change of the spec is a new generation, and cannot change the status"
is "$(kubectl get crd flinkapplications.drey.dev --output 'jsonpath={.spec.versions[*].subresources}')" '{"status":{}}' \
	"there is no subresource but the status"
is "$(kubectl get crd flinkapplications.drey.dev --output json |
	jq --raw-output '.status.conditions[] | select(.type == "NonStructuralSchema") | .message')" "" "the schema is structural"

# ---- Helm ------------------------------------------------------------------------------------------

"$HELM_HOME/bin/helm" template x "$TOP/chart/drey-crds" >"$RUN/crds.yaml"
is "$(kubectl apply --server-side --force-conflicts --dry-run=server --filename "$RUN/crds.yaml" --output 'jsonpath={.metadata.generation}')" \
	"$(kubectl get crd flinkapplications.drey.dev --output 'jsonpath={.metadata.generation}')" "the chart is the same definition"
check "helm lint finds nothing in it" "$HELM_HOME/bin/helm" lint --strict "$TOP/chart/drey-crds"
e2e_end
