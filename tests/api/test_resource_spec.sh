#!/usr/bin/env bash
#
# Specs that the schema accepts but that contradict themselves or the actual state: a condition with a reason, for that
# generation; nothing is started that was not requested, and nothing is forgotten. With the Role of the chart, against a
# real API server; a script replaces Flink, so the job never runs.

# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/api/lib.sh
. "$TOP/tests/api/lib.sh"

api_begin resource-spec
# shellcheck source=tests/api/journal_lib.sh
. "$TOP/tests/api/journal_lib.sh"
# shellcheck source=tests/api/resource_lib.sh
. "$TOP/tests/api/resource_lib.sh"
# shellcheck source=tests/api/ha_pod_lib.sh
. "$TOP/tests/api/ha_pod_lib.sh"

# A retained checkpoint of ours, and one of another application: other operators, a job id that no launch of ours has.
foreign=$RUN/other/ffffffffffffffffffffffffffffffff/chk-7
mkdir -p "$foreign"
python3 - "$TOP/tests/fixtures/metadata/2.3.0-hashmap-chk" "$foreign/_metadata" <<-'PY'
	import sys
	data = open(sys.argv[1], "rb").read()
	for operator in "8a9be3d13a56de84474207b0eb72734b", "5912688c82c1db6d2043fc178f75fb45", "625ad02990404768d0fe54d086cab2a6":
	    data = data.replace(bytes.fromhex(operator), bytes.fromhex(operator)[::-1])
	open(sys.argv[2], "wb").write(data)
PY

spec() { # JQ_OPTION... FILTER
	jq --null-input --compact-output "$@"
}
restore() { # TOKEN PATH [MORE]: of a spec that runs
	spec --arg token "$1" --arg path "$2" --argjson more "${3:-{\}}" \
		'{state: "running", restore: ({kind: "path", token: $token, path: $path} + $more)}'
}
says() { # TYPE STATUS REASON TEXT: about this generation
	resource_is '.status.observedGeneration == .metadata.generation and any(.status.conditions[]; .type == "'"$1"'" and
		.status == "'"$2"'" and .reason == "'"$3"'" and (.message | contains("'"$4"'")))'
}
# Nothing was started since, and the journal has all launches.
untouched() { # WHAT
	is "$(launches) $(journal '.launches | length')" "$before $known" "$1: nothing is started, nothing forgotten"
}
looked_at() {
	resource_is '.status.observedGeneration == .metadata.generation'
}

resource '{"state": "running", "restartNonce": "r0", "savepointNonce": "9"}'
with_resource a 'control:' '  poll: 1min' 'attempts:' '  window: 1s' '  backoffFirst: 0ms' '  backoffMax: 100ms'
pod_start a
await "a first launch" launched 1
await "it is on record" journal_is '.launches[0].startedUnixMs != null'
before=1 known=1

# ---- while it runs -----------------------------------------------------------------------------------

resource '{"state": "running", "restartNonce": "r0", "savepointNonce": "8"}'
await "a nonce that goes back is another nonce" journal_is '.intent.savepointNonce == "8"'
await "it is looked at" looked_at
resource '{"state": "running", "doNotRestart": true, "restartNonce": "r1", "savepointNonce": "8"}'
await "a restart under do-not-restart waits" resource_is '.status.desired.doNotRestart and .status.observedGeneration == .metadata.generation'
check "it is on record" journal_is '.intent.restartNonce == "r1" and .restartNonceDone != "r1"'
resource '{"state": "running", "doNotRestart": false, "restartNonce": "r1", "savepointNonce": "8"}'
await "do-not-restart is lifted" resource_is '.status.desired.doNotRestart | not'
resource '{"state": "running", "restore": {"kind": "empty", "token": "e0"}, "restartNonce": "r2", "savepointNonce": "8"}'
await "an empty start of a job that runs is refused" says Stalled True SpecRefused "the job is running"
check "the rest of it is followed" journal_is '.intent.restartNonce == "r2" and .intent.restore == null'
resource '{"state": "running", "restartNonce": "r2"}'
await "the restore and a nonce are taken out of the spec" looked_at
await "that is no contradiction" condition_is Stalled False
check "and changes nothing" pod_is a '.desired.state == "running" and .phase == "Launching"'
untouched "while it runs"

# ---- a stop, a savepoint, a restart and a restore ----------------------------------------------------

both=$(restore t0 "file:$RUN/nowhere/chk-1" | jq --compact-output '.state = "suspended" | .savepointNonce = "7" | .restartNonce = "r2"')
resource "$both"
await "suspended, with a savepoint and a restore" journal_is '.intent.state == "suspended"'
await "which is no contradiction: it is for the start after that" condition_is Stalled False
resource "$(jq --compact-output '.restartNonce = "r3"' <<<"$both")"
await "and a restart, while it is to stand still" journal_is '.intent.restartNonce == "r3"'
flink_dies a
await "it stands still, as is wanted" says Ready True Suspended suspended
check "the savepoint is not forgotten: it has failed" \
	journal_is '.lastOperation | .kind == "savepoint" and .nonce == "7" and .ok == false and (.error | contains("no job is running"))'
untouched "suspended"

own=$RUN/ck/$(journal '.launches[0].jobId')/chk-7
mkdir -p "$own"
cp "$TOP/tests/fixtures/metadata/2.3.0-hashmap-chk" "$own/_metadata"

# ---- a restore that cannot be ------------------------------------------------------------------------

resource "$(restore t0 "file:$RUN/nowhere/chk-1")"
await "what was asked for before is for the next start: it is not there" says Ready False RequestedSnapshotUnusable "$RUN/nowhere/chk-1"
untouched "not there"
resource "$(spec '{state: "running"}')"
await "taken out of the spec" looked_at
resource "$(restore t0 "file:$foreign")"
await "another one under the same token is refused" says Stalled True SpecRefused "token belongs to another request"
check "with an Event" test "$(kubectl get events.events.k8s.io --output json |
	jq '[.items[] | select(.reason == "SpecRefused" and (.note | contains("token")))] | length')" -ge 1
check "what was wanted before still counts" journal_is ".intent.restore.path == \"file:$RUN/nowhere/chk-1\""
untouched "the same token"
n=0
for path in 'file:///etc/passwd' "file:$RUN/ck/../../../../../../../etc" '../../etc/passwd' 'chk-1' ' ' 'file:' 's3://' 'hdfs://name/x' \
	'xyz:abc' 'https://example.org/chk-1' "file:$RUN/ck" "file:$(printf 'x%.0s' {1..4000})" \
	$'file:/a\nb' 'file:/%00/chk-1' 'file:/ä/ö' '{"kind":"empty"}' '${HOME}/x' 'savepoint-1a2b3c-0123456789ab'; do
	n=$((n + 1))
	resource "$(restore "p$n" "$path")"
	await "a path: $(cut -c1-60 <<<"${path@Q}")" resource_is '.status.observedGeneration == .metadata.generation and
		any(.status.conditions[]; (.type == "Ready" and .status == "False" and .reason == "RequestedSnapshotUnusable") or
			(.type == "Stalled" and .status == "True" and .reason == "SpecRefused"))'
done
diag "$n paths"
resource "$(restore long "$(printf 'ä%.0s' {1..4000})")"
await "4000 characters that are 8000 bytes" says Stalled True SpecRefused "1 to 4096 bytes"
untouched "all of them"
resource "$(restore f1 "file:$foreign")"
await "of another application" says Ready False RequestedSnapshotForeign foreign
untouched "of another application"

# ---- under do-not-restart ---------------------------------------------------------------------------------

resource "$(restore f2 "file:$foreign" '{"foreign": true}' | jq --compact-output '.doNotRestart = true')"
await "a restore under do-not-restart waits for it" says Ready False DoNotRestart do-not-restart
check "it is on record" journal_is '.intent.restore.token == "f2"'
resource "$(restore f3 "file:$foreign" '{"foreign": true}' | jq --compact-output '.doNotRestart = true | .restartNonce = "r4"')"
await "another one takes its place" journal_is '.intent.restore.token == "f3" and .intent.restartNonce == "r4"'
await "it is looked at" looked_at
untouched "under do-not-restart"
resource "$(restore f3 "file:$foreign" '{"foreign": true}' | jq --compact-output '.doNotRestart = false | .restartNonce = "r4"')"
await "lifted: that one is carried out" launched 2
await "it is on record" journal_is ".launches[-1] | .requestToken == \"f3\" and .restorePoint.path == \"file:$foreign\" and .startedUnixMs != null"
check "and the restart with it" journal_is '.restartNonceDone == "r4"'
await "nothing is wrong" condition_is Stalled False Launching
before=2 known=2

# ---- a token that was carried out ----------------------------------------------------------------------

resource '{"state": "running", "restartNonce": "r4"}'
await "the restore is taken out of the spec" looked_at
resource "$(restore f3 "file:$RUN/nowhere/chk-2" '{"foreign": true}')"
await "its token with another path is refused" says Stalled True SpecRefused "token belongs to another request"
resource "$(spec '{state: "running"}')"
await "taken out" condition_is Stalled False
resource "$(restore f3 "file:$foreign" '{"foreign": true}')"
await "what was carried out, once more, is no contradiction" looked_at
check "and is not carried out again" condition_is Stalled False
untouched "a token that was carried out"
pod_end a
is "$(api_denied)" "" "nothing was asked for that the Role does not allow"
e2e_end
