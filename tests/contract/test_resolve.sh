#!/usr/bin/env bash
#
# What `drey resolve`, `drey snapshots` and `drey verify` promise from a machine that has neither drey.yaml nor Flink
# nor Kubernetes: directories, HA ConfigMaps and a copy of the journal are given by hand.

set -uo pipefail
# shellcheck source=tests/contract/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
contract_begin jq
F=tests/fixtures/metadata
JOB=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa01
OTHER=bbbbbbbbbbbbbbbbbbbbbbbbbbbbbb02

json() { jq -e "$1" "$dir/out" >/dev/null; }
says() { grep -qF -- "$1" "$dir/out"; }
warns() { grep -qF -- "$1" "$dir/err"; }

# put PLACE FIXTURE DATE
put() {
	mkdir -p "$dir/$1"
	cp "$F/$2" "$dir/$1/_metadata"
	touch -d "$3" "$dir/$1/_metadata"
}

# ---- by hand --------------------------------------------------------------------------------------------

mkdir -p "$dir/ck" "$dir/sp"
by_hand=(--checkpoints "$dir/ck" --savepoints "file://$dir/sp")
ok 'nothing there: it would start empty' status 0 "$DREY" resolve --json "${by_hand[@]}"
ok 'and says so' json '.decision == "START_EMPTY" and .launch.args == ["--job-id", "<new>"]'
put "ck/$JOB/chk-4" 1.20.5-hashmap-chk 2026-01-01
put sp/savepoint-aaaaaa-0a4087799079 1.20.5-hashmap-sp-native 2026-01-02
put sp/savepoint-bbbbbb-0a4087799079 2.3.0-hashmap-chk 2026-01-03
mkdir "$dir/sp/savepoint-aaaaaa-ffffffffffff"
ok 'of one job the newest is taken' status 0 "$DREY" resolve --json "${by_hand[@]}" --job-id "$JOB"
ok 'with what Flink has to be given' json ".launch.args == [\"--job-id\", \"<new>\", \"--fromSavepoint\",
	\"file:$dir/sp/savepoint-aaaaaa-0a4087799079\"]"
ok 'the document has its members' json 'keys_unsorted == ["decision", "rule", "cause", "reason", "allowNonRestoredState",
	"snapshot", "launch", "loss", "sources", "candidates"]'
ok 'so have sources' json '.sources | map(.name) == ["journal", "ha", "checkpoints", "savepoints", "lineage", "initial",
	"request", "results", "copy"]'
ok 'and each of them' json '.sources | all(keys_unsorted == ["name", "state", "detail", "leftOut", "directories"])'
ok 'and candidates' json '.candidates | all(keys_unsorted == ["path", "source", "kind", "checkpointId", "jobId",
	"completedUnixMs", "sizeBytes", "fileCount", "metadataVersion", "integrity", "detail", "haJobId", "haFormer",
	"haIntegrity", "verdict", "reason", "evidence"])'
ok 'the chosen one was looked at closely' json '.candidates[0] | .verdict == "chosen" and .integrity == "complete" and
	.sizeBytes > 0 and .fileCount == 0 and .metadataVersion == 4 and .checkpointId == 6'
ok 'each of this job has its verdict, others none' json '.candidates | map(.verdict) == ["chosen", "older", "older"]'
ok 'who was left aside is counted' json '.sources[3].detail == "3 found, 1 of other jobs ignored"'
ok 'for people there is a table' status 0 "$DREY" resolve --explain "${by_hand[@]}" --job-id "$JOB"
ok 'with a head' grep -q '^VERDICT  *SOURCE  *KIND  *ID  *JOB  *AGE  *SIZE  *FILES  *PATH$' "$dir/out"
ok 'and the arguments' grep -q "^  *--job-id '<new>' --fromSavepoint file:" "$dir/out"
ok 'the checkpoint, too' says "file:$dir/ck/$JOB/chk-4"
ok 'what is wrong with one is said, although it is older anyway' says \
	'older than the chosen one; incomplete: no _metadata: it was never completed'
ok 'without --explain one line' status 0 "$DREY" resolve "${by_hand[@]}" --job-id "$JOB"
ok 'which names the decision' grep -qx 'START_FROM (rule 6): .*' "$dir/out"
ok 'a policy' status 4 "$DREY" resolve --json --checkpoints "$dir/ck" --job-id "$JOB" --policy savepoint
ok 'that leaves checkpoints out' json '.candidates[0].reason == "restore.policy allows savepoints only"'
ok 'a Flink that is too old' status 4 "$DREY" resolve --json --savepoints "$dir/sp" --job-id "$OTHER" --flink-version 1.20
ok 'for what a newer one wrote' json '.decision == "HOLD" and (.reason | contains("newer Flink"))'
ok 'and one that is not' status 0 "$DREY" resolve --json --savepoints "$dir/sp" --job-id "$OTHER" --flink-version 2.3.0
chmod 0 "$dir/ck"
if [ "$(id -u)" -eq 0 ]; then
	chmod 755 "$dir/ck"
	ln -s loop "$dir/ck/loop"
	mv "$dir/ck" "$dir/ck.away"
fi
ok 'what is not there is not empty' status 4 "$DREY" resolve --json "${by_hand[@]}" --job-id "$JOB"
ok 'but unreadable' json '.decision == "HOLD" and .rule == 5 and .sources[2].state == "unreadable"'
[ ! -e "$dir/ck.away" ] || mv "$dir/ck.away" "$dir/ck"
chmod 755 "$dir/ck"
rm -f "$dir/ck/loop"
ok 'nothing was written' test -z "$(find "$dir" -name '*.json' -o -name '*.lock')"

# ---- wrong use ------------------------------------------------------------------------------------------

ok 'a job id that is none' status 2 "$DREY" resolve "${by_hand[@]}" --job-id abc
ok 'is named' warns "--job-id abc: expected 32 digits"
ok 'a policy that is none' status 2 "$DREY" resolve "${by_hand[@]}" --policy newest
ok 'a version that is none' status 2 "$DREY" resolve "${by_hand[@]}" --flink-version new
ok 'a scheme that nothing speaks' status 4 "$DREY" resolve --savepoints hdfs://nn/sp
ok 'a directory and a configuration' status 2 "$DREY" resolve "${by_hand[@]}" --config "$dir/drey.yaml"
ok 'exclude each other' warns 'exclude each other'
ok '--job-id without directories' status 2 "$DREY" resolve --job-id "$JOB"
ok 'says what is missing' warns '--job-id needs --checkpoints or --savepoints'
ok 'an HA map that is not there' status 2 "$DREY" resolve "${by_hand[@]}" --ha-map "$dir/none"
ok 'is named' warns "--ha-map: open $dir/none"
echo '{"kind": "ConfigMap"' >"$dir/cut"
ok 'an HA map that is cut' status 2 "$DREY" resolve "${by_hand[@]}" --ha-map "$dir/cut"
ok 'is named, too' warns "--ha-map: $dir/cut: byte"
ok 'a journal that is none' status 2 "$DREY" resolve "${by_hand[@]}" --journal "$dir/cut"
ok 'is named with the option' warns "--journal $dir/cut: "

# ---- HA maps --------------------------------------------------------------------------------------------

value() { # FIXTURE: with another path of the same length in it
	local from=/tmp/flink/ha-1.20.5/drey-demo-1-20-5/ to
	to=$(printf '%s/ha/' "$dir")
	while [ ${#to} -lt ${#from} ]; do to+=/; done
	[ ${#to} -eq ${#from} ] || return 1
	base64 -d "$F/$1" | LC_ALL=C sed "s|$from|$to|" | base64 -w 0
}
map() { # NAME KEY VALUE
	jq -n --arg name "$1" --arg key "$2" --arg value "$3" '{apiVersion: "v1", kind: "ConfigMap",
		metadata: {name: $name, namespace: "prod"}, data: {counter: "4", ($key): $value}}'
}
key=checkpointID-0000000000000000003
if value ha-value >"$dir/value"; then
	# the file is not there: Flink could not recover from it
	map "orders-$JOB-config-map" $key "$(cat "$dir/value")" >"$dir/map.json"
	ok 'an HA map' status 0 "$DREY" resolve --json "${by_hand[@]}" --job-id "$JOB" --ha-map "$dir/map.json"
	ok 'whose file is lost: said so' json '.candidates[] | select(.source == "ha") | .verdict == "older" and
		.integrity == "damaged" and .haIntegrity == "damaged" and .checkpointId == 3'
	mkdir "$dir/ha"
	cp "$F/completed-checkpoint" "$dir/ha/completedCheckpoint8d0625247076"
	truncate -s 12286 "$dir/ha/completedCheckpoint8d0625247076"
	ok 'the same map with its file' status 0 "$DREY" resolve --json "${by_hand[@]}" --job-id "$JOB" --ha-map "$dir/map.json"
	ok 'names the checkpoint' json ".candidates[] | select(.source == \"ha\") |
		.path == \"file:/srv/flink-sample/run/ha-1.20.5/ck/$JOB/chk-3\" and .haJobId == \"$JOB\""
	ok 'and when it was completed' json '.candidates[] | select(.source == "ha") | .completedUnixMs == 1795222437354'
	jq '{apiVersion: "v1", kind: "List", items: [.]}' "$dir/map.json" >"$dir/list.json"
	ok 'a list of maps' status 0 "$DREY" resolve --json "${by_hand[@]}" --job-id "$JOB" --ha-map "$dir/list.json"
	ok 'is the same' json '.sources[1].detail == "1 checkpoint in the map of 1 job"'
	printf 'apiVersion: v1\ndata:\n  %s: %s\nkind: ConfigMap\nmetadata:\n  name: orders-%s-config-map\n' \
		$key "$(cat "$dir/value")" "$JOB" >"$dir/map.yaml"
	ok 'YAML' status 0 "$DREY" resolve --json "${by_hand[@]}" --job-id "$JOB" --ha-map "$dir/map.yaml"
	ok 'is the same, too' json '.sources[1].detail == "1 checkpoint in the map of 1 job"'
	mkdir "$dir/mounted"
	cp "$dir/value" "$dir/mounted/$key"
	ln -s . "$dir/mounted/..data"
	ok 'so is a directory' status 0 "$DREY" resolve --json "${by_hand[@]}" --job-id "$JOB" --ha-map "$dir/mounted"
	ok 'with the keys as files' json '.sources[1].detail == "1 checkpoint in the map of 1 job"'
	map "orders-$OTHER-config-map" $key "$(cat "$dir/value")" >"$dir/map2.json"
	ok 'several maps' status 0 "$DREY" resolve --json "${by_hand[@]}" --ha-map "$dir/map.json" --ha-map "$dir/map2.json"
	ok 'count together' json '.sources[1].detail == "2 checkpoints in the maps of 2 jobs"'
	map orders-autoscaler $key "$(cat "$dir/value")" >"$dir/alike.json"
	ok 'a look-alike' status 0 "$DREY" resolve --json "${by_hand[@]}" --ha-map "$dir/alike.json"
	ok 'holds nothing' json '.sources[1].state == "absent"'
	ok 'inspect reads a map' status 0 "$DREY" inspect --json "$dir/map.json"
	ok 'as a document' json '.kind == "ha-map" and (.maps[0] | keys_unsorted == ["name", "namespace", "type", "jobId",
		"deleting", "counter", "entries"])'
	ok 'with its entries' json '.maps[0].entries[0] | keys_unsorted == ["key", "type", "checkpointId", "counts",
		"deleted", "uri", "sizeBytes", "error"] and .checkpointId == 3 and .counts'
	ok 'YAML from standard input, for people' bash -c "'$DREY' inspect - <'$dir/map.yaml' >'$dir/out'"
	ok 'says whose it is' says "orders-$JOB-config-map: job $JOB"
	ok 'a cut one is undecodable' status 1 "$DREY" inspect "$dir/cut"
else
	echo "# the temporary directory has too long a name for these fixtures: $dir"
fi

# ---- a copy of the journal ------------------------------------------------------------------------------

jq -n --arg job "$JOB" --arg path "file:$dir/sp/savepoint-aaaaaa-0a4087799079" '{schema: 1, application: "orders",
	sequence: 7, everProven: true, intent: {state: "running", doNotRestart: false}, launches: [{number: 1, jobId: $job, intendedUnixMs: 1760000000000,
	startedUnixMs: 1760000001000, provenUnixMs: 1760000002000}],
	snapshots: [{path: $path, kind: "savepoint", origin: "periodic", checkpointId: 6, jobId: $job,
	completedUnixMs: 1767312000000, sizeBytes: 5600, fileCount: 3, verified: true, verifiedUnixMs: 1767312060000},
	{path: "file:/gone/savepoint-aaaaaa-000000000001", kind: "savepoint", origin: "manual", checkpointId: 2, jobId: $job,
	completedUnixMs: 1760000003000}]}' >"$dir/journal.copy"
ok 'a copy of the journal' status 4 "$DREY" resolve --json "${by_hand[@]}" --journal "$dir/journal.copy"
ok 'tells which is foreign and newer' json '.decision == "HOLD" and (.reason | contains("savepoint-bbbbbb"))'
rm -r "$dir/sp/savepoint-bbbbbb-0a4087799079"
ok 'without that one' status 0 "$DREY" resolve --json "${by_hand[@]}" --journal "$dir/journal.copy"
ok 'the lineage decides' json '.snapshot.path | endswith("savepoint-aaaaaa-0a4087799079")'

# ---- snapshots ------------------------------------------------------------------------------------------

ok 'snapshots lists journal and storage' status 0 "$DREY" snapshots --json "${by_hand[@]}" --journal "$dir/journal.copy"
ok 'the document has its members' json 'keys_unsorted == ["snapshots", "leftOut", "unreadable"]'
ok 'each snapshot has its own' json '.snapshots | length == 4 and all(keys_unsorted == ["path", "kind", "origin",
	"checkpointId", "jobId", "completedUnixMs", "sizeBytes", "fileCount", "verifiedUnixMs", "state", "detail"])'
ok 'newest first' json '.snapshots | map(.completedUnixMs // 0) == (map(.completedUnixMs // 0) | sort | reverse)'
ok 'with what the journal knows' json '.snapshots[0] | .origin == "periodic" and .state == "verified" and
	.fileCount == 3 and .verifiedUnixMs == 1767312060000'
ok 'and what is lost' json '.snapshots[] | select(.path | startswith("file:/gone")) | .state == "missing"'
ok 'or was never completed' json '.snapshots[] | select(.path | endswith("ffffffffffff")) | .state == "incomplete"'
ok 'and what is just there' json '.snapshots[] | select(.kind == "checkpoint") | .state == "present" and .origin == "found"'
ok 'a table of the newest two' status 0 "$DREY" snapshots "${by_hand[@]}" --journal "$dir/journal.copy" --limit 2
ok 'counts the rest' grep -qx 'and 2 older' "$dir/out"
ok 'has a line each' test "$(grep -c 'file:' "$dir/out")" -eq 2
ok 'a limit that is none' status 2 "$DREY" snapshots "${by_hand[@]}" --limit few
ok 'a directory that is away' status 4 "$DREY" snapshots --json --savepoints "$dir/none"
ok 'makes the list doubtful' json '.unreadable[0].source == "savepoints"'
ok 'said on the other stream, too' warns 'drey snapshots: the savepoints cannot be read'

# ---- verify ---------------------------------------------------------------------------------------------

good=$dir/sp/savepoint-aaaaaa-0a4087799079
ok 'verify several' status 0 "$DREY" verify --json "$good" "$dir/ck/$JOB/chk-4"
ok 'gives a list' json 'length == 2 and all(.verdict == "complete")'
ok 'one of them damaged' status 1 "$DREY" verify "$good" "$dir/sp/savepoint-aaaaaa-ffffffffffff"
ok 'is the status, and both are told' test "$(wc -l <"$dir/out")" -eq 3
ok 'an unknown scheme among them is wrong use' status 2 "$DREY" verify "$good" hdfs://nn/x
ok 'but the others are told' grep -q '^complete: ' "$dir/out"

contract_end
