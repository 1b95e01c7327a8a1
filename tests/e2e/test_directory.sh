#!/usr/bin/env bash
#
# Every directory in which the lineage has written counts, wherever the configuration points now: the next generation has
# another checkpoint and savepoint directory; the job's code sets its own checkpoint storage; storage is restored from a
# backup.
#
# runs in: test on 2.3.0

# shellcheck disable=SC2119 # lib.sh has functions whose arguments are optional
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"

start_generation() { # GENERATION
	DREY_CONF[generation]=$1
	start_drey
	MUST_LIVE=(jm tm)
}

# The newest complete checkpoint of JOB, in whatever directory.
newest_anywhere() { # JOB
	find "$RUN" -path "*/$1/chk-*/_metadata" -printf '%h\n' | sort -V | tail -n 1
}

# A savepoint, then newer checkpoints, and the container dies. Sets JOB and NEWEST.
save_and_die() {
	await "the launch is proven" status_is .launch.proven
	JOB=$(status .jobId)
	check "a savepoint is taken" drey savepoint --timeout 60s
	await "three checkpoints follow" has_completed $(($(status .lastSavepoint.checkpointId) + 3)) "$JOB"
	end_drey KILL
	await "nothing of Flink is left" test -z "$(jm_pid)"
	NEWEST=$(newest_anywhere "$JOB")
	diag "the newest checkpoint is $NEWEST"
}

e2e_begin directory
drey_conf
start_tm_pod
start_generation g1
await "the job runs" phase_is Running

# ---- the next generation has other directories
save_and_die
mkdir -p "$RUN/ck2" "$RUN/sp2"
DREY_CONF[flink.checkpointDirectory]=file://$RUN/ck2
DREY_CONF[flink.savepointDirectory]=file://$RUN/sp2
DREY_CONF[generation]=g2
write_drey_yaml
drey resolve --explain >"$RUN/explain" 2>&1
check "resolve --explain shows the directory of before" grep -q "^lineage .*checkpoints in file:.*/ck: " "$RUN/explain"
start_generation g2
await "another directory: the job runs" runs_after "$JOB"
check "from the newest checkpoint of the old one" restore_matches "$NEWEST"
await "it is proven" status_is .launch.proven
check "nothing is elsewhere" status_is '.conditions[] | select(.type == "CheckpointsElsewhere") | .status == "False"'
drey resolve --explain >"$RUN/explain" 2>&1
check "the directory of before is not looked at any more" grep -q "^lineage .*no other directories" "$RUN/explain"

# ---- the job's code has a checkpoint storage of its own
JOB=$(status .jobId)
end_drey KILL
mkdir -p "$RUN/own"
drey_conf --checkpoints "file://$RUN/own"
DREY_CONF[flink.checkpointDirectory]=file://$RUN/ck2
DREY_CONF[flink.savepointDirectory]=file://$RUN/sp2
start_generation g3
await "a storage of the job's own: the job runs" runs_after "$JOB"
await "it is proven" status_is .launch.proven
await "its checkpoints are elsewhere" status_is \
	'.conditions[] | select(.type == "CheckpointsElsewhere") | .status == "True" and .reason == "AnotherDirectory"'
check "the log says so" grep -q "writes its checkpoints to file:.*/own, not to file:.*/ck2" "$RUN/log/jm.log"
save_and_die
check "they are there" test "${NEWEST#"$RUN/own/"}" != "$NEWEST"
start_generation g3
await "the container is new: the job runs" runs_after "$JOB"
check "from the newest checkpoint of the job's own storage" restore_matches "$NEWEST"

# ---- storage is set back to before the newest checkpoint that is on record
noted() { # AT_LEAST
	jq --exit-status ".launches[-1].lastCheckpoint.id >= $1" "$RUN/state/journal.json"
}
await "it is proven" status_is .launch.proven
JOB=$(status .jobId)
cp -r "$RUN/own" "$RUN/own.then" 2>/dev/null
least=$(($(status .lastCheckpoint.id) + 4))
await "the journal has a newer checkpoint, within a minute" noted "$least"
end_drey KILL
await "nothing of Flink is left" test -z "$(jm_pid)"
rm -rf "$RUN/own"
mv "$RUN/own.then" "$RUN/own"
start_generation g3
await "storage was set back: drey holds" status_is '.phase == "Holding" and .cause == "NewestStateMissing"'
diag "$(status .reason)"
is "$(jm_pid)" "" "nothing is started"
check "the state was continuous all the time" continuity
e2e_end
