# shellcheck shell=bash
#
# gc.sh - what `drey gc` must do in any object store. Sourced by the tests of the stores, after snapshots.sh.
#
#   gc_make DIR           makes the files of five launches, which a test uploads to its store
#   gc_check URI          drey gc, without and with --delete, on what was put under URI
#
# The dates are those of the upload, so the journal has all launches begin after it.

# shellcheck source=tests/gc_world.sh
. "$(dirname "${BASH_SOURCE[0]}")/../gc_world.sh"

GC_OTHER=bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb
GC_SHARED=1837b946-1ecb-4012-b47d-c7c170583d29 # tests/fixtures/metadata/2.3.0-rocksdb-inc-chk refers to it

gc_make() { # DIR
	local n job
	for n in 1 2 3 4 5; do
		job=$(gc_job "$n")
		mkdir -p "$1/ck/$job/chk-${n}0" "$1/ck/$job/chk-${n}1" "$1/ck/$job/shared" "$1/results/$job"
		gc_metadata "$FIXTURES/2.3.0-hashmap-chk" "${n}0" "$1/ck/$job/chk-${n}0/_metadata"
		echo state >"$1/ck/$job/chk-${n}0/$(gc_file 1)"
		echo state >"$1/ck/$job/chk-${n}1/$(gc_file 1)"
		echo unused >"$1/ck/$job/shared/$(gc_file $((n + 16)))"
		echo '{}' >"$1/results/$job/$job.json"
	done
	job=$(gc_job 2)
	echo used >"$1/ck/$job/shared/$GC_SHARED"
	mkdir -p "$1/ck/$GC_OTHER/chk-7" "$1/sp/savepoint-000001-0123456789ab"
	cp "$FIXTURES/2.3.0-rocksdb-inc-chk" "$1/ck/$GC_OTHER/chk-7/_metadata"
	cp "$FIXTURES/2.3.0-hashmap-chk" "$1/sp/savepoint-000001-0123456789ab/_metadata"
}

gc_check() { # URI
	local gc=(gc --config "$RUN/drey.yaml" --keep-for 0s --grace 0s)
	gc_configure "$RUN" "$1"
	gc_journal "$RUN" "$1" 5
	says 0 "would be deleted (use --delete): 16 files" "gc: 16 files are not needed" "${gc[@]}"
	says 0 "a snapshot that stays refers to them     $1/ck/00000000000000000000000000000002" \
		"gc: one is needed by another application" "${gc[@]}"
	says 0 "deleted: 16 files" "gc: they are deleted" "${gc[@]}" --delete
	says 0 "deleted: 0 files" "gc: and no others" "${gc[@]}" --delete
	says 0 "needed: 5 files" "gc: what is needed is there" "${gc[@]}"
	says 0 "complete" "gc: the checkpoint of the last launch, too" verify "$1/ck/00000000000000000000000000000005/chk-50"
	says 0 "complete" "gc: and the savepoint" verify "$1/sp/savepoint-000001-0123456789ab"
}
