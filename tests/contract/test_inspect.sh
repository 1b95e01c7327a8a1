#!/usr/bin/env bash
#
# What `drey inspect` and `drey verify` promise to scripts: documents, statuses, messages.

set -uo pipefail
# shellcheck source=tests/contract/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
contract_begin jq
F=$PWD/tests/fixtures/metadata

# says TEXT: on standard error, in one line that begins with the command's name
says() {
	grep -q "^drey [a-z]*: .*$1" "$dir/err" && [ "$(wc -l <"$dir/err")" = 1 ]
}

# json FILTER: true of the document on standard output
json() {
	jq -e "$1" "$dir/out" >/dev/null
}

keys() {
	json "keys_unsorted == $1"
}

# ---- inspect -----------------------------------------------------------------------------------
ok "inspect reads a _metadata file" status 0 "$DREY" inspect --json "$F/2.3.0-rocksdb-inc-chk"
ok "its document has the documented members" keys \
	'["kind","version","checkpointId","flavour","operators","files","inlineBytes","sizeBytes"]'
ok "operators have theirs" json '.operators | length == 3 and all(keys_unsorted ==
	["id","name","uid","parallelism","maxParallelism","subtasks"])'
ok "files have theirs" json '.files | length == 9 and all(keys_unsorted ==
	["path","sizeBytes","relative","scope"])'
ok "values are right" json '.kind == "metadata" and .version == 6 and .checkpointId == 7 and
	.flavour == "checkpoint" and (.operators | map(.uid) | sort) ==
	["drey-count","drey-sink","drey-src"] and
	.sizeBytes == .inlineBytes + (.files | map(.sizeBytes) | add)'
ok "relative files are exclusive, others shared" json \
	'.files | all((.scope == "exclusive") == .relative)'
ok "each path stands once" json '(.files | map(.path) | unique | length) == (.files | length)'
ok "a snapshot of a job with gates says what they held back" status 0 "$DREY" inspect --json "$F/2.3.0-gate-holding-sp"
ok "as a word" json '.gates == "holding"'
ok "version 4 has no names" status 0 "$DREY" inspect --json "$F/1.20.5-hashmap-sp-native"
ok "they are null" json '.flavour == "savepoint" and (.operators | all(.name == null))'
ok "inspect reads standard input" status 0 \
	"$DREY" inspect --json - <"$F/1.20.5-rocksdb-full-chk"
ok "and finds the kind there too" json '.kind == "metadata"'
ok "a value of the HA maps" status 0 "$DREY" inspect --json "$F/ha-value-deleted"
ok "has its document" keys '["kind","deleted","uri","sizeBytes"]'
ok "with the delete marker" json '.kind == "ha-value" and .deleted and .sizeBytes == 12286'
{
	cat "$F/ha-value"
	echo
} >"$dir/ha"
ok "a line end behind the value does no harm" status 0 "$DREY" inspect --json "$dir/ha"
base64 -d "$F/ha-value" >"$dir/raw"
ok "the value may be decoded from Base64 already" status 0 "$DREY" inspect --json "$dir/raw"
ok "and is the same" json '.kind == "ha-value" and (.deleted | not)'
ok "a completedCheckpoint file" status 0 "$DREY" inspect --json "$F/completed-checkpoint"
ok "has its document" keys \
	'["kind","checkpointId","jobId","timestampUnixMs","completedUnixMs","externalPointer"]'
ok "with its values" json '.kind == "completed-checkpoint" and .checkpointId == 3 and
	.jobId == "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa01" and .timestampUnixMs == 1795222437167 and
	.completedUnixMs == 1795222437354'
ok "without --json there is text" status 0 "$DREY" inspect "$F/2.3.0-changelog-chk"
ok "that names the version" grep -q "checkpoint 9, _metadata version 6" "$dir/out"

head -c 1000 "$F/2.3.0-rocksdb-inc-chk" >"$dir/cut"
ok "a cut file is undecodable" status 1 "$DREY" inspect "$dir/cut"
ok "and the message has the place" says "cut: .*byte [0-9]*: expected"
printf '\x49\x60\x67\x2d\0\0\0\x08\0\0\0\0\0\0\0\x01' >"$dir/v8"
ok "a newer version is refused, but not called damaged" status 4 "$DREY" inspect "$dir/v8"
ok "by name" says "version 8, written by a Flink newer than 2.4"
echo "something else" >"$dir/else"
ok "other bytes are undecodable" status 1 "$DREY" inspect "$dir/else"
ok "and so are they with a kind" status 1 "$DREY" inspect --kind metadata "$dir/else"
: >"$dir/empty"
ok "an empty file is undecodable" status 1 "$DREY" inspect "$dir/empty"
ok "nothing is printed then" test ! -s "$dir/out"
ok "a file that is not there is unreadable" status 4 "$DREY" inspect "$dir/none"
ok "and named" says "none: No such file"
ok "an unknown kind is wrong use" status 2 "$DREY" inspect --kind x "$dir/cut"
ok "an unknown scheme is wrong use" status 2 "$DREY" inspect hdfs://nn/x
ok "the message names it" says "scheme 'hdfs' is not supported"
ok "no FILE is wrong use" status 2 "$DREY" inspect
ok "so is --ha with one" status 2 "$DREY" inspect --ha "$dir/cut"
ok "and --ha without a drey.yaml" status 2 "$DREY" inspect --ha --config "$dir/not-there"
ok "there is help" status 0 "$DREY" inspect --help

# ---- verify ------------------------------------------------------------------------------------
S=$dir/savepoint-a21205-0a4087799079
mkdir "$S"
cp "$F/1.20.5-hashmap-files-sp-canonical" "$S/_metadata"
awk -F'\t' '$1 == "ref" && $2 == "1.20.5-hashmap-files-sp-canonical" { print $4, $5 }' \
	"$F/MANIFEST.tsv" >"$dir/refs"
while read -r name size; do truncate -s "$size" "$S/$name"; done <"$dir/refs"
read -r first size <"$dir/refs"

ok "verify finds a whole savepoint complete" status 0 "$DREY" verify "$S"
ok "and says so" grep -q "^complete: file:$S (savepoint 5, _metadata version 4, 2 of 2" "$dir/out"
ok "a URI is the same" status 0 "$DREY" verify "file://$S"
ok "and the _metadata itself" status 0 "$DREY" verify "$S/_metadata"
ok "there is a document" status 0 "$DREY" verify --json "$S"
ok "with the verdict" json '.verdict == "complete" and .fileCount == 2 and .filesOk == 2 and
	.checkpointId == 5 and .version == 4 and .flavour == "savepoint" and .problems == []'
ok "a relative path is taken from the working directory" status 0 \
	env -C "$dir" "$DREY" verify "${S##*/}"
truncate -s 1 "$S/$first"
ok "a wrong size is damage" status 1 "$DREY" verify --json "$S"
ok "named with both sizes" json ".problems == [{path: \"file:$S/$first\", fault: \"wrong-size\",
	detail: \"has 1 bytes, expected $size\"}]"
rm "$S/$first"
ok "a missing file is damage" status 1 "$DREY" verify "$S"
ok "named" grep -q "missing  *file:$S/$first" "$dir/out"
ln -s "$first" "$S/$first"
ok "a file that cannot be looked at leaves it open" status 4 "$DREY" verify --json "$S"
ok "and is named" json '.verdict == "unreadable" and .problems[0].fault == "not-read"'
rm "$S/_metadata"
ok "without _metadata it is incomplete" status 1 "$DREY" verify "$S"
ok "which is named" grep -q "missing  *file:$S/_metadata" "$dir/out"
cp "$dir/cut" "$S/_metadata"
ok "a cut _metadata is damage" status 1 "$DREY" verify "$S"
ok "and the place is named" grep -q "undecodable .*byte [0-9]*: expected" "$dir/out"
ok "an unknown scheme is wrong use" status 2 "$DREY" verify hdfs://nn/x
ok "no PATH is wrong use" status 2 "$DREY" verify
ok "there is help" status 0 "$DREY" verify --help

contract_end
