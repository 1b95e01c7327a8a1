#!/usr/bin/env bash
#
# Invalid values in Flink's HA maps, edited by hand or damaged by a disk: the conditions of the custom resource have a
# reason, and without it the journal does; nothing starts from less than the existing state, and drey changes nothing in
# the maps. When they are repaired, drey continues automatically. With the Role of the chart, against a real API server; a
# script replaces Flink, and the test writes what Flink would.

# shellcheck disable=SC2016,SC2317 # $holder is of jq; called by name
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/api/lib.sh
. "$TOP/tests/api/lib.sh"

api_begin ha-values
# shellcheck source=tests/api/journal_lib.sh
. "$TOP/tests/api/journal_lib.sh"
# shellcheck source=tests/api/resource_lib.sh
. "$TOP/tests/api/resource_lib.sh"
# shellcheck source=tests/api/ha_pod_lib.sh
. "$TOP/tests/api/ha_pod_lib.sh"

job=$(job_id_of 0)
chk=$RUN/ck/$job/chk-7

# What Flink has written, with another file, or cut. Bytes of the value, or of the file.
written() { # value URI SIZE | checkpoint ID POINTER
	python3 - "$TOP/tests/fixtures/metadata" "$@" <<-'PY'
		import base64, struct, sys
		fixtures, kind = sys.argv[1:3]
		if kind == "value":
		    uri, size = sys.argv[3].encode(), int(sys.argv[4])
		    old = base64.b64decode(open(fixtures + "/ha-value").read())
		    new = old[:0x1ee] + struct.pack(">q", size) + old[0x1f6:0x276] + struct.pack(">BH", 0x74, len(uri)) + uri + b"x"
		    print(base64.b64encode(new).decode(), end="")
		else:
		    number, pointer = int(sys.argv[3]), sys.argv[4].encode()
		    old = open(fixtures + "/completed-checkpoint", "rb").read()
		    sys.stdout.buffer.write(old[:0x217] + struct.pack(">qqq", number, 1, 1) + struct.pack(">BH", 0x74, len(pointer)) +
		                            pointer + old[0x217 + 27 + 0x4e:])
	PY
}

# A map of the job with this value, and a counter.
key_of() { # CHECKPOINT_ID
	printf 'checkpointID-%019d' "$1"
}
entry() { # VALUE [COUNTER [CHECKPOINT_ID]]
	printf '%s' "$1" | jq --raw-input --slurp --compact-output --arg key "$(key_of "${3:-7}")" --arg counter "${2-8}" \
		'{($key): ., counter: $counter}' >"$RUN/data"
	put_job_map "$job" "$RUN/data"
}

says() { # TEXT [CAUSE]: held for it, to be seen on the resource
	resource_is '.status.phase == "Holding" and .status.observedGeneration == .metadata.generation and
		any(.status.conditions[]; .type == "Ready" and .status == "False" and .reason == "'"${2:-NoUsableState}"'" and
			(.message | contains("'"$1"'")))'
}

before=0
# The value makes drey hold, for this reason; nothing is started, and nobody but this test writes the map.
holds() { # WHAT TEXT VALUE [CHECKPOINT_ID [CAUSE]]
	local version
	entry "$3" 1000 "${4:-7}"
	version=$(job_map_version "$job")
	await "$1: a condition with the reason" says "$2" "${5:-}"
	is "$(launches) $(job_map_version "$job")" "$before $version" "$1: nothing is started, nothing is changed"
}

# ---- values that cannot be used ----------------------------------------------------------------------

mkdir -p "$RUN/ha"
written checkpoint 7 "file:$chk" >"$RUN/ha/good"
written checkpoint 6 "file:$chk" >"$RUN/ha/of-another"
head -c 400 "$RUN/ha/good" >"$RUN/ha/cut"
size=$(stat --format %s "$RUN/ha/good")
good=$(written value "file:$RUN/ha/good" "$size")

resource '{"state": "running"}'
check "the journal has the first job id" begin_at 0
ha_pod_conf a 'generation: one'
sed -i '/resource: none/d' "$RUN/a/drey.yaml"
pod_start a
await "a first launch" launched 1
await "it is on record" journal_is '.launches[0].startedUnixMs != null'
before=1
entry 'not base64 %%%'
flink_dies a
undecodable() { # CHECKPOINT_ID WHAT VALUE: another id each time, so that it is the new value that is told
	holds "$2" "$(key_of "$1") cannot be decoded" "$3" "$1"
}
undecodable 11 "no Base64" 'not base64 %%%'
undecodable 12 "nothing" ''
undecodable 13 "Base64 of nonsense" bm9uc2Vuc2U=
undecodable 14 "Base64 that is cut" "${good:0:301}"
undecodable 15 "a Java stream that is cut" "${good:0:300}"
undecodable 16 "200 kB of nonsense" "$(head -c 150000 /dev/zero | base64 -w0)"
KEY=$(key_of 7)
holds "a file that is not there" "$RUN/ha/nowhere of $KEY" "$(written value "file:$RUN/ha/nowhere" "$size")"
holds "a directory" "$RUN/ha of $KEY" "$(written value "file:$RUN/ha" "$size")"
holds "a place that drey knows no way to" "nfs://disk/x" "$(written value "nfs://disk/x" "$size")" 7 SnapshotUnreadable
holds "a file that is cut" "$RUN/ha/cut of $KEY" "$(written value "file:$RUN/ha/cut" "$size")"
holds "the file of another checkpoint" "it is of checkpoint 6" "$(written value "file:$RUN/ha/of-another" "$size")"
holds "a file of another size" "expected $((size + 1))" "$(written value "file:$RUN/ha/good" $((size + 1)))"
check "what to do is said" says "drey resume"
await "after a minute a person is needed" condition_is Stalled True NoUsableState
check "the journal knows that there was state" journal_is '.launches[0].leftState'
check "and says what the resource says" journal_is '.phase == "Holding" and (.log[-1].text | contains("expected '$((size + 1))'"))'

# ---- set right ---------------------------------------------------------------------------------------

entry "$good"
await "set right: it is started by itself" launched 2
check "and goes on under the same id" journal_is ".launches[-1].jobId == \"$job\""
await "to be seen" condition_is Stalled False Launching

# ---- a counter that is none --------------------------------------------------------------------------

mkdir -p "$chk"
cp "$TOP/tests/fixtures/metadata/2.3.0-hashmap-chk" "$chk/_metadata"
n=2
for counter in many '' -1 7; do
	await "launch $n is on record" journal_is ".launches[-1].number == $n and .launches[-1].startedUnixMs != null"
	job=$(journal '.launches[-1].jobId') next=$(next_job_id)
	entry "$good" "$counter"
	version=$(job_map_version "$job")
	flink_dies a
	n=$((n + 1))
	await "counter '$counter', with which Flink would take no checkpoint, or older ones: it starts" launched "$n"
	check "counter '$counter': under a new id, from the newest checkpoint" \
		journal_is ".launches[-1] | .jobId == \"$next\" and .restorePoint.path == \"file:$chk\""
	check "counter '$counter': the reason names one" pod_is a \
		'[.transitions[].text | select(contains("the counter of '"$APPLICATION"'-"))] | length >= '$((n - 2))
	is "$(job_map_version "$job")" "$version" "counter '$counter': the map is as it was"
done

# ---- who leads -----------------------------------------------------------------------------------------

OLD=00000000000000000000000000000001 # a job that an earlier launch has left
lead somebody "{\"executionPlan-$OLD\": \"x\"}"
before=$(launches)
flink_dies a
await "a leader that may live is a condition" says "somebody owns it" StoredJobLeft
for record in nonsense '[]' '"x"' '{"holderIdentity":"x"}' '{"holderIdentity":7,"leaseDuration":"PT15S"}' \
	'{"holderIdentity":"x","leaseDuration":"soon","renewTime":"never","acquireTime":"x","leaderTransitions":0}'; do
	kubectl annotate configmap "$MAP" --overwrite "control-plane.alpha.kubernetes.io/leader=$record" >/dev/null
	await "a leader record '$record': it holds" says "Flink would start as well" StoredJobLeft
	is "$(launches)" "$before" "nothing is started beside it"
	check "the old job is still stored" test "$(kubectl get configmap "$MAP" --output json | jq ".data | has(\"executionPlan-$OLD\")")" = true
done
lead ''
await "nobody leads: it is started" launched $((before + 1))
pod_end a

# ---- without the custom resource -----------------------------------------------------------------------

kubectl delete flapp "$APPLICATION" >/dev/null
job=$(journal '.launches[-1].jobId')
entry 'not base64 %%%' 1000 99
before=$(launches)
ha_pod_conf b 'generation: one'
pod_start b
await "what cannot be decoded may be much newer than what can be used: it holds" \
	pod_is b '.phase == "Holding" and .cause == "NewestStateDamaged"'
check "and says what it is" pod_says b "$(key_of 99) is damaged"
is "$(launches)" "$before" "nothing is started"
check "the loss is accepted" "$BUILD/drey" resume --no-wait --from "file:$chk" --config "$RUN/b/drey.yaml"
await "and it is started" launched $((before + 1))
pod_end b
rm -rf "${RUN:?}/ck/"*
job=$(journal '.launches[-1].jobId')
entry 'not base64 %%%' 1000 98
before=$(launches)
pod_start b
await "with nothing left, and without the resource the journal has the phase and the reason" \
	journal_is ".phase == \"Holding\" and (.log[-1].text | contains(\"$(key_of 98) cannot be decoded\"))"
check "so has drey status" pod_says b "$(key_of 98) cannot be decoded"
is "$(launches)" "$before" "nothing is started"
pod_end b
is "$(api_denied)" "" "nothing was asked for that the Role does not allow"
e2e_end
