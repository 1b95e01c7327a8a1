#!/usr/bin/env bash
#
# `drey gc` on directories of files: what it says, what it deletes, what stops it; killed between any two deletions.

set -uo pipefail
# shellcheck source=tests/contract/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=tests/gc_world.sh
. "$(dirname "${BASH_SOURCE[0]}")/../gc_world.sh"
contract_begin jq cc
F=tests/fixtures/metadata
SHARED=1837b946-1ecb-4012-b47d-c7c170583d29 # the rocksdb fixture refers to it
STATE=$(gc_file 1)
OTHER=bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb
gc=("$DREY" gc --config "$dir/drey.yaml")
NOW=$(date +%s)
DAY=86400

not() { ! "$@"; }
json() { [ -s "$dir/out" ] && jq -e "$1" "$dir/out" >/dev/null; }
says() { grep -qF -- "$1" "$dir/out"; }
warns() { grep -qF -- "$1" "$dir/err"; }
left() { (cd "$dir" && find ck sp results -type f | sort); }
is_left() { [ -e "$dir/ck/$1" ]; }

put() { # PATH DAYS_AGO [FIXTURE]
	mkdir -p "$(dirname "$dir/$1")"
	if [ $# -eq 2 ]; then
		head -c 1000 /dev/zero >"$dir/$1"
	elif [[ $1 =~ /chk-([0-9]+)/ ]]; then
		gc_metadata "$F/$3" "${BASH_REMATCH[1]}" "$dir/$1"
	else
		cp "$F/$3" "$dir/$1"
	fi
	touch -d "@$((NOW - $2 * DAY))" "$dir/$1"
}

# Launch N begins N * 10 days after the first; the last one, 5, began 20 days ago.
journal() { # [JQ_FILTER]
	gc_journal "$dir" "file:$dir" 5 "\$now - (70 - n * 10) * $DAY * 1000" ".launches[].provenUnixMs += 60000 | ${1:-.}"
}

world() {
	local n
	rm -rf "$dir/ck" "$dir/sp" "$dir/results"
	mkdir -p "$dir/ck" "$dir/sp" "$dir/state" "$dir/results"
	for n in 1 2 3 4 5; do
		put "ck/$(gc_job "$n")/chk-${n}0/_metadata" $((65 - n * 10)) 2.3.0-hashmap-chk
		put "ck/$(gc_job "$n")/chk-${n}0/$STATE" $((65 - n * 10))
		put "ck/$(gc_job "$n")/chk-${n}1/$STATE" $((65 - n * 10))
		put "ck/$(gc_job "$n")/shared/$(gc_file $((n + 16)))" $((65 - n * 10))
		mkdir -p "$dir/ck/$(gc_job "$n")/taskowned"
		put "results/$(gc_job "$n")/$(gc_job "$n").json" $((65 - n * 10))
	done
	put "ck/$(gc_job 2)/shared/$SHARED" 50
	put "ck/$OTHER/chk-7/_metadata" 1 2.3.0-rocksdb-inc-chk
	put "ck/$OTHER/shared/$(gc_file 32)" 50
	put "sp/savepoint-000001-0123456789ab/_metadata" 50 2.3.0-hashmap-chk
	journal
}

gc_configure "$dir" "$dir"

# ---- a dry run
world
left >"$dir/before"
ok 'a dry run' status 0 "${gc[@]}"
ok 'has a table' grep -q '^ACTION  *FILES  *SIZE  *WHAT  *WHERE$' "$dir/out"
ok 'checkpoints of old launches would go' grep -qE "^delete  *2  .* completed checkpoints of old launches  *file:$dir/ck/$(gc_job 1)$" "$dir/out"
ok 'those of the last launches stay' grep -qE "^keep  *2  .* completed checkpoints that stay  *file:$dir/ck/$(gc_job 4)$" "$dir/out"
ok 'and what a snapshot of another application refers to' \
	grep -qE "^keep  *1  .* a snapshot that stays refers to them  *file:$dir/ck/$(gc_job 2)$" "$dir/out"
ok 'the last launch is not listed' not says "$(gc_job 5)"
ok 'nor another application' not says "$OTHER"
ok 'the reasons are summed up over all directories' grep -qE '^replaced  *delete  *[0-9]+ .*  completed checkpoints of old launches$' "$dir/out"
ok 'also those why files stay' grep -qE '^retained  *keep  *[0-9]+ .*  completed checkpoints that stay$' "$dir/out"
ok 'what would be deleted is counted' grep -qE '^would be deleted \(use --delete\): 16 files, ' "$dir/out"
left >"$dir/after"
ok 'nothing was deleted' cmp "$dir/before" "$dir/after"
ok 'the same as a document' status 0 "${gc[@]}" --json --files
ok 'with its members' json 'keys_unsorted == ["stopped", "keep", "doubt", "delete", "reasons", "rows"] and .stopped == null'
ok 'and rows' json '.rows | all(keys_unsorted == ["directory", "jobId", "verdict", "reason", "files", "bytes", "names"])'
ok 'a reason has the figures of its rows' json '([.reasons[] | [.reason, .verdict, .files, .bytes]] | sort) == ([.rows[]] | group_by(.reason) | map([.[0].reason, .[0].verdict, (map(.files) | add), (map(.bytes) | add)]) | sort)'
ok 'its figures are those of the rows' json '[.rows[] | select(.verdict == "delete") | .files] | add == 16'
ok 'a row has the names of its files' json "[.rows[] | select(.reason == \"referred\") | .names[]] == [\"shared/$SHARED\"]"
ok 'more launches can be kept' status 0 "${gc[@]}" --json --keep 3
ok 'then the second one is' json ".rows | map(select(.jobId == \"$(gc_job 2)\" and .reason == \"replaced\")) == []"
ok 'or older checkpoints for a longer time' status 0 "${gc[@]}" --json --keep-for 50d
ok 'then only the first one goes' json '[.rows[] | select(.reason == "replaced") | .jobId] == ["'"$(gc_job 1)"'"]'

# ---- wrong use
ok 'a number that is none' status 2 "${gc[@]}" --keep two
ok 'is named' warns '--keep two: expected a number'
ok 'a duration that is none' status 2 "${gc[@]}" --grace soon
ok 'is named, too' warns '--grace:'

# ---- what stops it
stopped() { # WHAT SAYS
	left >"$dir/before"
	ok "$1: nothing of a checkpoint is deleted" status 4 "${gc[@]}" --delete
	ok 'and it says why' warns "$2"
	left | grep -v '^results' >"$dir/after"
	ok 'all checkpoints are there' cmp <(grep -v '^results' "$dir/before") "$dir/after"
}
world
truncate -s 100 "$dir/ck/$OTHER/chk-7/_metadata"
stopped 'a snapshot of another application that cannot be read' "$OTHER/chk-7 cannot be read"
ok 'records of ends went' test ! -e "$dir/results/$(gc_job 1)"
world
gc_metadata "$F/2.3.0-rocksdb-inc-chk" 8 "$dir/ck/$OTHER/chk-7/_metadata"
stopped 'the _metadata of another checkpoint' 'its _metadata is of checkpoint 8, not 7'
world
mv "$dir/sp" "$dir/sp.away"
mkdir "$dir/sp.none"
stopped_dir() { status 4 "${gc[@]}" --delete; }
ok 'a directory that is not there' stopped_dir
ok 'is named' warns "the directory file:$dir/sp does not exist"
rm -rf "$dir/sp.none"
mv "$dir/sp.away" "$dir/sp"
world
rm "$dir/ck/$(gc_job 5)/chk-50/_metadata"
stopped 'a last launch without a complete snapshot' 'no complete snapshot of the last launch was found'
world
journal '.launches[4].provenUnixMs = null'
stopped 'a last launch that is not proven' 'launch 5 has not completed a checkpoint yet'
world
journal '.intent.restore = {kind: "path", token: "t1", path: "file:/x"}'
stopped 'a restore request' 'a restore request has not been carried out yet'
echo broken >"$dir/state/journal.json"
ok 'a broken journal' status 4 "${gc[@]}" --delete
rm "$dir/state/journal.json"
ok 'no journal' status 4 "${gc[@]}" --delete
ok 'is no reason to delete' warns 'the journal has no launch'

# ---- deletion
world
ok 'it deletes' status 0 "${gc[@]}" --json --delete
ok 'what it has said' json '.deleted.files == 16 and .deleted.files == .delete.files and .deleted.bytes == .delete.bytes and .failed == 0'
ok 'directories of old launches are gone' test ! -e "$dir/ck/$(gc_job 1)"
ok 'but for what is referred to' test "$(find "$dir/ck/$(gc_job 2)" -type f)" = "$dir/ck/$(gc_job 2)/shared/$SHARED"
ok 'checkpoints of the last launches are there' test -e "$dir/ck/$(gc_job 3)/chk-30/_metadata" -a -e "$dir/ck/$(gc_job 4)/chk-40/$STATE"
ok 'without what was never completed' test ! -e "$dir/ck/$(gc_job 4)/chk-41"
ok 'the last launch has all' test "$(find "$dir/ck/$(gc_job 5)" -type f | wc -l)" -eq 4
ok 'and so has the other application' test "$(find "$dir/ck/$OTHER" -type f | wc -l)" -eq 2
ok 'savepoints are there' test -e "$dir/sp/savepoint-000001-0123456789ab/_metadata"
ok 'the record of the last launch, too' test "$(ls "$dir/results")" = "$(gc_job 5)"
left >"$dir/clean"
ok 'a second run' status 0 "${gc[@]}" --json --delete
ok 'finds nothing more' json '.deleted.files == 0 and .delete.files == 0 and .keep.files == 5'
world
ln -s "$dir/sp" "$dir/ck/$(gc_job 1)/shared/link"
touch -h -d "@$((NOW - 50 * DAY))" "$dir/ck/$(gc_job 1)/shared/link"
ok 'a link is not followed' status 0 "${gc[@]}" --json --delete
ok 'but in doubt' json '.doubt.files == 1 and .deleted.files == 16'
ok 'what is behind it is there' test -e "$dir/sp/savepoint-000001-0123456789ab/_metadata" -a -L "$dir/ck/$(gc_job 1)/shared/link"

# ---- what Flink may know from elsewhere, and what is not its own
world
put "ck/$(gc_job 1)/taskowned/$(gc_file 48)" 50
put "ck/$(gc_job 1)/notes.txt" 50
put "ck/$(gc_job 1)/shared/notes.txt" 50
ok 'files that operators own' status 0 "${gc[@]}" --json --delete
ok 'are in doubt' json '[.rows[] | select(.reason == "task-owned") | .files] == [1]'
ok 'and other names' json '[.rows[] | select(.reason == "strange") | .files] == [2]'
ok 'all of them are there' test "$(find "$dir/ck/$(gc_job 1)" -type f | wc -l)" -eq 3

# ---- results have the name of their launch

launch() { # N: a launch id
	printf 'ab%030d\n' "$1"
}
journal ".launches |= map(if .number == 2 or .number == 5 then .launchId = \"ab00000000000000000000000000000\\(.number)\" | .jobResultPath = \"file:$dir/results/\\(.launchId)\" else . end)"
world
put "results/$(launch 2)/$(gc_job 2).json" 45
put "results/$(launch 5)/$(gc_job 5).json" 15
put "results/$(launch 11)/$(gc_job 1)_DIRTY.json" 55
put "results/$(launch 12)/$OTHER.json" 55
put "results/$(launch 13)/$(gc_job 5).json" 55
put "results/$(launch 14)/notes.txt" 55
ok 'it reads whose they are' status 0 "${gc[@]}" --json --delete
ok 'the record of an old launch is gone' test ! -e "$dir/results/$(launch 2)/$(gc_job 2).json"
ok 'so is one of a launch that the journal has no more' test ! -e "$dir/results/$(launch 11)/$(gc_job 1)_DIRTY.json"
ok 'that of the last launch is there' test -e "$dir/results/$(launch 5)/$(gc_job 5).json"
ok "that of another application, too" test -e "$dir/results/$(launch 12)/$OTHER.json"
ok 'and what has the id of the last job' test -e "$dir/results/$(launch 13)/$(gc_job 5).json"
ok 'and what is no record' test -e "$dir/results/$(launch 14)/notes.txt"
journal

# ---- the result store is the checkpoint directory, by a link
world
rm -r "$dir/results"
ln -s "$dir/ck" "$dir/results"
for n in 1 2 3 4 5; do put "ck/$(gc_job "$n")/$(gc_job "$n").json" $((65 - n * 10)); done
left >"$dir/between"
ok 'results among checkpoints: nothing may be deleted' status 4 "${gc[@]}" --json --delete
ok 'says the document, with the way out' json '.stopped | endswith("are one directory: set another one for flink.resultStoreDirectory")'
left >"$dir/after"
ok 'and nothing is' cmp "$dir/between" "$dir/after"
rm "$dir/results"

# ---- killed between any two deletions
# Whatever has a _metadata and had a file beside it has that file still.
halves() {
	local path
	for path in "$dir"/ck/*/chk-*0/_metadata; do
		[ -e "${path%_metadata}$STATE" ] || return 1
	done
}
if [[ $(file -bL "$DREY" 2>/dev/null) == *'statically linked'* ]] || grep -qa libasan "$DREY" ||
	! cc -shared -fPIC -o "$dir/kill.so" "$(dirname "${BASH_SOURCE[0]}")/kill_unlink.c" -ldl 2>/dev/null; then
	skip 'it is killed between any two deletions' 'nothing can be loaded into this drey'
else
	killed=0 wrong=''
	for ((n = 1; n <= 16; n++)); do
		world
		KILL_AT=$n LD_PRELOAD=$dir/kill.so status 137 "${gc[@]}" --delete 2>/dev/null && killed=$((killed + 1))
		[ "$(left | wc -l)" -eq $(($(wc -l <"$dir/before") - n + 1)) ] || wrong+=" count:$n"
		halves || wrong+=" half:$n"
		status 0 "${gc[@]}" --delete || wrong+=" again:$n"
		cmp -s <(left) "$dir/clean" || wrong+=" left:$n"
	done
	ok 'it is killed between any two deletions' test "$killed" -eq 16
	ok 'what is left is complete, and the next run ends it' test -z "$wrong"
	[ -z "$wrong" ] || echo "# $wrong"
fi

contract_end
