#!/usr/bin/env bash
#
# `drey gc` beside a real Flink whose checkpoints share files: incremental RocksDB, or the changelog (VARIANTS). Launches are
# killed; one claims the checkpoint that it is restored from (with the changelog every one: Flink cannot do without), so that
# its checkpoints refer to files of dead launches, and another application in the same directory has a checkpoint that does.
# What nothing refers to goes while the job runs, also when drey gc is killed in between; every checkpoint that stays is
# complete, and the next launch starts from the newest. Then the same with `cleanup: auto`.
#
# runs in: all

# shellcheck disable=SC2119 # lib.sh has functions whose arguments are optional
# shellcheck disable=SC2317 # functions are called by name
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"

VARIANTS=${VARIANTS:-rocksdb changelog automatically}
OTHER=0123456789abcdef0123456789abcdef

configure() { # VARIANT
	{
		echo 'state.backend.type: rocksdb'
		echo 'execution.checkpointing.incremental: true'
		# else it writes all files anew, by chance before the first checkpoint of a launch
		echo 'state.backend.rocksdb.compaction.style: FIFO'
		echo 'execution.checkpointing.data-inline-threshold: 0 b'
		# the first checkpoint of a launch is there when the test looks
		echo 'execution.checkpointing.num-retained: 20'
		if [ "$1" = changelog ]; then
			echo 'state.changelog.enabled: true'
			echo 'state.changelog.storage: filesystem'
			echo 'state.changelog.periodic-materialize.interval: 3 s'
			echo "dstl.dfs.base-path: \"file://$RUN/ck\""
		fi
	} | run_conf
	sed -i '/^execution.checkpointing.num-retained: 3$/d' "$RUN/conf/config.yaml"
}

is_proven() {
	phase_is Running && status_is .launch.proven
}

# The files of others to which a checkpoint of JOB refers, that are in directories of dead jobs. Often it is only its first one:
# RocksDB compacts the files that it has restored, and the changelog is materialized anew.
borrowed() { # JOB
	local metadata
	for metadata in "$RUN/ck/$1"/chk-*/_metadata; do
		"$BUILD/drey" inspect --json "$metadata" 2>>"$RUN/log/inspect.log" |
			jq -r --arg job "$1" '.files[].path | select(startswith("file:") and (contains($job) | not))'
	done | sort -u
}

refers_to_the_dead() { # JOB
	[ -n "$(borrowed "$1")" ]
}

# The JobManager is killed, and the next launch is proven.
next_launch() {
	local job
	job=$(status .jobId)
	kill -KILL "$(jm_pid)"
	await "the JobManager is killed, and started again" runs_after "$job"
	await "the launch is proven" is_proven
}

collect() { # OPTION...
	drey gc --json --files --keep 0 --keep-for 0s --grace 0s "$@" >"$RUN/gc.json" 2>>"$RUN/log/gc.log"
}

collected() { # JQ_FILTER
	jq --raw-output --exit-status "$1" "$RUN/gc.json"
}

# Each complete checkpoint below ck has all its files. Those that Flink removes meanwhile do not count, nor those of launches of
# which a later one has claimed a checkpoint: Flink deletes what it has of the others.
all_complete() {
	local path
	while read -r path; do
		[[ " $claimed " != *" $(basename "$(dirname "$path")") "* ]] || continue
		verify "$path" >>"$RUN/log/verify.log" || [ ! -e "$path/_metadata" ] || { echo "$path is damaged" && return 1; }
	done < <(find "$RUN/ck" -path '*/chk-*/_metadata' -printf '%h\n')
}

# drey gc dies before file number N is deleted.
kill_at() { # N
	local status=0
	KILL_AT=$1 LD_PRELOAD=$RUN/kill.so "$BUILD/drey" gc --config "$RUN/drey.yaml" --keep 0 --keep-for 0s --grace 0s --delete \
		>/dev/null 2>&1 || status=$?
	[ "$status" -eq 137 ]
}

story() { # VARIANT
	local first second third claimed='' n
	configure "$1"
	rm -rf "$RUN/state" "$RUN/ck" "$RUN/sp" "$CONTROL/claim"
	mkdir -p "$RUN/ck" "$RUN/sp"
	: >"$EVENTS"
	drey_conf --rate 400 --grow 300
	start_tm_pod
	start_drey
	MUST_LIVE=(jm tm)
	await "$1: the job runs" is_proven
	first=$(status .jobId)
	await "and has some checkpoints" has_completed 5 "$first"
	[ "$1" = rocksdb ] || control claim
	next_launch
	second=$(status .jobId)
	await "and has some checkpoints of its own" has_completed $(($(status .launch.restorePoint.checkpointId) + 3)) "$second"
	control claim
	next_launch
	third=$(status .jobId)
	claimed=$second
	[ "$1" = rocksdb ] || claimed+=" $first"
	check "the third launch has claimed its checkpoint: it refers to files of dead ones" refers_to_the_dead "$third"
	diag "$(borrowed "$third" | wc -l) files of dead launches are in use"

	# another application: this checkpoint is not one of ours
	if [ "$1" = rocksdb ]; then
		mkdir -p "$RUN/ck/$OTHER"
		cp -r "$(newest_retained "$first")" "$RUN/ck/$OTHER/"
		check "another application has one that refers to files of the first" verify "$(newest_retained "$OTHER")"
	fi

	await "a dry run" collect
	is "$(collected '.stopped // "nothing"')" nothing "nothing stops it"
	check "it would delete something" collected '.delete.files > 0'
	[ "$1" != rocksdb ] || check "it keeps what the other application needs" \
		collected "[.rows[] | select(.jobId == \"$first\" and .reason == \"referred\")] != []"
	check "and what the third launch needs" collected "[.rows[] | select(.jobId != \"$third\" and .reason == \"referred\")] != []"
	diag "$(collected '[.rows[] | "\(.reason) \(.files)"] | join(", ")')"
	for n in 1 2 4; do
		check "drey gc is killed before deletion $n" kill_at "$n"
		check "and all checkpoints are complete" all_complete
	done
	check "it deletes" collect --delete
	check "something" collected '.deleted.files > 0 and .failed == 0'
	check "all checkpoints are complete" all_complete
	check "a dry run after that" collect
	is "$(collected .delete.files)" 0 "has nothing more to delete"
	check "the job has not noticed" status_is ".jobId == \"$third\" and .phase == \"Running\""
	await "and goes on" has_completed $(($(status '.launch.restorePoint.checkpointId') + 6)) "$third"

	if [ "$1" = rocksdb ]; then
		rm -r "$RUN/ck/$OTHER"
		check "when the other application has gone" collect --delete
		check "its files go" test "$(find "$RUN/ck/$first" -type f 2>/dev/null | wc -l)" -eq 0
		check "all checkpoints are complete" all_complete
	fi
	next_launch
	check "the next launch starts from the newest checkpoint" test "$(status .launch.restorePoint.path | grep -c "$third/chk-")" -eq 1
	check "the state was continuous all the time" continuity
	end_drey TERM
	MUST_LIVE=()
	run_stop
}

# drey itself does it, and ends it when the job needs it.
automatically() {
	local first claimed='' http
	configure rocksdb
	rm -rf "$RUN/state" "$RUN/ck" "$RUN/sp" "$CONTROL/claim"
	mkdir -p "$RUN/ck" "$RUN/sp"
	: >"$EVENTS"
	DREY_CONF[cleanup]=auto
	DREY_CONF[gc.keepLaunches]=0
	DREY_CONF[gc.keepFor]=0s
	DREY_CONF[gc.grace]=1s
	DREY_CONF[gc.interval]=1s
	take_port http
	DREY_CONF[http.port]=$http
	drey_conf --rate 400 --grow 300
	start_tm_pod
	start_drey
	MUST_LIVE=(jm tm)
	await "cleanup: auto: the job runs" is_proven
	first=$(status .jobId)
	await "and has some checkpoints" has_completed 5 "$first"
	next_launch
	await "it was looked for" status_is .cleanup.lastUnixMs
	check "the checkpoints of the launch before are there" test -n "$(newest_retained "$first")"
	next_launch
	await "those of the first launch are deleted" not test -e "$RUN/ck/$first"
	await "that is in the status" status_is '.cleanup | .deleted.files > 0 and .deleted.bytes > 0'
	await "and that nothing is in doubt" status_is '.cleanup | .doubt.files == 0 and .stopped == null'
	check "the metrics say so, too" grep -qE '^drey_cleanup_deleted_bytes_total [1-9]' \
		<(curl --silent "http://127.0.0.1:$http/metrics")
	check "and the log" grep -q '"storage cleaned up: ' "$RUN/log/jm.log"
	check "all checkpoints are complete" all_complete
	next_launch
	check "the state was continuous all the time" continuity
	end_drey TERM
	run_stop
}

home=$("$TOP/tests/image/get-home.sh" "${FLINK_VERSION/1.20.0/1.20.5}") || {
	echo "1..0 # SKIP no distribution of Flink $FLINK_VERSION"
	exit 0
}
e2e_begin gc
ln -sfn "$home/lib" "$RUN/flink/lib"
cc -shared -fPIC -o "$RUN/kill.so" "$TOP/tests/contract/kill_unlink.c" -ldl || die 1 "kill_unlink.c does not compile"
for variant in $VARIANTS; do
	if [ "$variant" = automatically ]; then automatically; else story "$variant"; fi
done
e2e_end
