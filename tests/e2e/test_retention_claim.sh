#!/usr/bin/env bash
#
# A native savepoint that the job has claimed (RocksDB, incremental): the checkpoints of that launch refer to its files, by names
# that are relative to the wrong directory (FLINK-39964). The next launch is started from another savepoint, so nothing but these
# checkpoints needs it: `savepoints.retention` lets it stay as long as they are there, and says why.
#
# runs in: all

# shellcheck disable=SC2119 # lib.sh has functions whose arguments are optional
# shellcheck disable=SC2317 # functions are called by name
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"

is_proven() {
	phase_is Running && status_is .launch.proven
}

# Does a checkpoint of this job name a file of this directory?
refers_to() { # JOB DIR
	local metadata file
	for metadata in "$RUN/ck/$1"/chk-*/_metadata; do
		for file in $("$BUILD/drey" inspect --json "$metadata" 2>>"$RUN/log/inspect.log" | jq -r '.files[].path'); do
			[ ! -e "$2/$(basename "$file")" ] || return 0
		done
	done
	return 1
}

settings_say() { # REASON
	[ "$(status '.conditions[] | select(.type == "SettingsOverridden") | .reason')" = "$1" ]
}

logs() { # TEXT
	grep -qF -- "$1" "$RUN/log/jm.log"
}

newest_is_complete() { # JOB
	local path
	path=$(newest_retained "$1")
	[ -n "$path" ] && verify "$path" >>"$RUN/log/verify.log"
}

home=$("$TOP/tests/image/get-home.sh" "${FLINK_VERSION/1.20.0/1.20.5}") || {
	echo "1..0 # SKIP no distribution of Flink $FLINK_VERSION"
	exit 0
}
e2e_begin retention-claim
ln -sfn "$home/lib" "$RUN/flink/lib"
run_conf <<-YAML
	state.backend.type: rocksdb
	execution.checkpointing.incremental: true
	state.backend.rocksdb.compaction.style: FIFO
	execution.checkpointing.data-inline-threshold: 0 b
	execution.checkpointing.num-retained: 20
YAML
sed -i '/^execution.checkpointing.num-retained: 3$/d' "$RUN/conf/config.yaml"
DREY_CONF[savepoints.format]=native # auto takes none that the job may claim
DREY_CONF[savepoints.retention]="{count: 1, all: true}"
drey_conf --rate 400 --grow 300
start_tm_pod
start_drey
MUST_LIVE=(jm tm)
await "the job runs" is_proven
await "and has some checkpoints" has_completed 3 "$(status .jobId)"
control claim
check "it is restarted: with a native savepoint, which it claims" drey restart
await "the second launch is proven" is_proven
second=$(status .jobId)
check "drey has seen that" status_is '.launch.effective.claimMode == "CLAIM"'
await "and says what it leads to" settings_say NativeClaimed
claimed=$(status .launch.restorePoint.path)
claimed=$(plain_path "$claimed")
check "its checkpoints refer to files of the savepoint" refers_to "$second" "$claimed"
uncontrol claim
check "another savepoint is taken" drey savepoint
kill -KILL "$(jm_pid)"
await "Flink is killed, and started again" runs_after "$second"
await "the third launch is proven" is_proven
third=$(status .jobId)
check "it was not started from the claimed one" status_is ".launch.restorePoint.path | endswith(\"$(basename "$claimed")\") | not"
await "the claimed one stays, and the reason is said" logs "the old savepoint file:$claimed stays: file:$RUN/ck/$second/chk-"
check "it names the file" grep -qE 'stays: [^"]*/chk-[0-9]+ refers to its file [0-9a-f-]{36}' "$RUN/log/jm.log"
check "it has all its files" verify "$claimed"
await "the job goes on" has_completed $(($(status .launch.restorePoint.checkpointId) + 5)) "$third"
check "its newest checkpoint is complete" newest_is_complete "$third"
rm -r "$RUN/ck/$second"
agent=$(agent_pid)
kill -KILL "$agent"
await "those checkpoints are gone, and a new agent asks again" agent_is_new "$agent"
await "the savepoint is disposed of" not test -e "$claimed"
check "the state was continuous all the time" continuity
end_drey TERM
e2e_end
