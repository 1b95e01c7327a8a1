# shellcheck shell=bash disable=SC2034,SC2154
#
# store_lib.sh - a store that drey reads with Flink's own file system: Flink writes there, is killed, suspended, and restored
# from it; the store goes away and comes back; files are missing. Sourced after tap.sh and tests/servers/lib.sh, by the tests
# of one kind of store each, which define
#
#   store_start, store_stop          the server
#   store_names DIR                  the names of all files below DIR of the store, relative to it, one a line, by a client that
#                                    is not drey
#   store_read NAME                  the bytes of such a file; store_remove NAME removes it
#   STORE_URI                        what they are relative to: hdfs://127.0.0.1:9000
#   STORE_SECRET                     what must be in no log, or empty
#
# test_object_store.sh, whose store drey reads with a client of its own, has the functions that name and read files, and STORE_URI.

# drey's own JVM, as in the image: beside the program. A copy of drey, so that other tests see none.
store_files_jar() {
	mkdir -p "$RUN/drey"
	cp "$BUILD/drey" "$BUILD/drey-init" "$RUN/drey/"
	FLINK_HOME='' "$TOP/java/build.sh" files "$RUN/drey/drey-files.jar" || return
	BUILD=$RUN/drey
}

# drey's commands without drey.yaml find Flink in the environment.
store_drey() { # COMMAND ARG...
	flink_env "$RUN"
	env "${FLINK_ENV[@]}" "$BUILD/drey" "$@"
}

# What drey says about a Flink that has no file system for the store.
store_refused() { # WORD: in the remedy
	drey_conf
	DREY_CONF[flink.checkpointDirectory]=$STORE_URI/ck
	DREY_CONF[flink.savepointDirectory]=$STORE_URI/sp
	write_drey_yaml
	drey check >"$RUN/said" 2>&1
	is $? 2 "without $1 drey check refuses the configuration"
	check "and says what is missing" grep -qF "$1" "$RUN/said"
	diag "$(cat "$RUN/said")"
	"$BUILD/drey" run --config "$RUN/drey.yaml" >"$RUN/said" 2>&1
	is $? 2 "and so does drey run"
}

all_retained() { # JOB: newest first
	store_names "ck/$1" | sed -n "s|^\(chk-[0-9]*\)/_metadata\$|$STORE_URI/ck/$1/\1|p" | sort -rV
}

# The checkpoint id in the header of FILE, a _metadata.
metadata_id() { # FILE
	[ "$(od -An --endian=big --format=x4 --read-bytes=4 "$1")" = " 4960672d" ] || return
	od -An --endian=big --format=d8 --skip-bytes=8 --read-bytes=8 "$1"
}

# The newest snapshot of the job JOB, which has ended, by the id in the header of each savepoint. drey is not asked: when the
# JobManager is killed just as a savepoint is complete, only the store has it, and it is what must be restored.
newest_stored() { # JOB
	local newest number savepoint id
	newest=$(all_retained "$1" | head -n 1)
	number=${newest##*/chk-}
	for savepoint in $(store_names sp | sed -n "s|^\(savepoint-${1:0:6}-[^/]*\)/_metadata\$|\1|p"); do
		store_read "sp/$savepoint/_metadata" >"$RUN/metadata" && id=$(metadata_id "$RUN/metadata") || return
		if [ "$id" -gt "${number:-0}" ]; then
			newest=$STORE_URI/sp/$savepoint
			number=$id
		fi
	done
	echo "$newest"
}

files_jvm() {
	run_pids 'drey\.files\.Main'
}

no_files_jvm() {
	[ -z "$(files_jvm)" ]
}

# shellcheck disable=SC2317 # called through check
no_files_jvm_for() { # SECONDS
	local end=$((SECONDS + $1))
	while [ "$SECONDS" -lt "$end" ]; do
		no_files_jvm || return 1
		sleep 0.2
	done
}

# The JobManager is killed and drey is kept from starting it. Sets JOB and KEPT: the checkpoints that are kept.
die_and_wait() {
	JOB=$(status .jobId)
	await "the launch is proven" status_is .launch.proven
	await "three checkpoints are kept" has_completed $(($(status '.launch.restorePoint.checkpointId // 0') + 3)) "$JOB"
	check "drey do-not-restart on" drey do-not-restart on
	kill -KILL "$(jm_pid)"
	await "JobManager killed: drey waits" phase_is Holding
	mapfile -t KEPT < <(all_retained "$JOB")
}

# After e2e_begin, store_files_jar, store_start and run_conf.
store_story() {
	local first second third savepoint began
	DREY_CONF[savepoints.interval]=6s
	DREY_CONF[holding.retryFirst]=300ms
	DREY_CONF[holding.retryMax]=500ms
	DREY_CONF[attempts.backoffFirst]=200ms
	drey_conf
	DREY_CONF[flink.checkpointDirectory]=$STORE_URI/ck
	DREY_CONF[flink.savepointDirectory]=$STORE_URI/sp
	start_tm_pod
	start_drey
	MUST_LIVE=(jm tm)
	await "the first start is empty: nothing is there yet" phase_is Running
	await "a periodic savepoint is taken" status_is ".lastSavepoint.path | startswith(\"$STORE_URI/sp/savepoint-\")"
	await "its first checkpoint proves the launch" status_is .launch.proven

	# ---- the JobManager is killed
	first=$(status .jobId)
	await "three checkpoints are complete" has_completed 3 "$first"
	kill -KILL "$(jm_pid)"
	await "JobManager killed: drey starts another job" runs_after "$first"
	check "from the newest snapshot in the store, with the count that it holds" restore_matches "$(newest_stored "$first")"

	# ---- suspend and resume
	second=$(status .jobId)
	await "the launch is proven" status_is .launch.proven
	check "drey suspend" drey suspend
	savepoint=$(status .lastSavepoint.path)
	began=${EPOCHREALTIME/./}
	check "its savepoint is complete, says drey verify" store_drey verify "$savepoint"
	diag "drey verify, with the start of the JVM, took $(((${EPOCHREALTIME/./} - began) / 1000)) ms"
	await "at rest there is no JVM but Flink's" no_files_jvm
	check "drey resume" drey resume
	await "resumed: the job runs" runs_after "$second"
	check "from exactly that savepoint" restore_matches "$savepoint"

	# ---- the next container, from here on without periodic savepoints: the newest snapshot is a checkpoint
	third=$(status .jobId)
	await "the launch is proven" status_is .launch.proven
	end_drey TERM
	DREY_CONF[savepoints.interval]=0
	start_drey
	MUST_LIVE=(jm tm)
	await "the next container runs the job" runs_after "$third"
	check "from the newest snapshot" restore_matches "$(newest_stored "$third")"
	await "the launch is proven" status_is .launch.proven
	await "while the job runs there is no JVM but Flink's either" no_files_jvm
	check "and none is started for its checkpoints" no_files_jvm_for 8

	store_away
	store_damage
	check "the state was continuous all the time" continuity
	drey resolve --explain >>"$RUN/log/explain.log" 2>&1
	[ -z "$STORE_SECRET" ] || check "the secret is in no log" not grep -rqF -- "$STORE_SECRET" "$RUN/log"
	check "nor in a command line" no_command_line_has "${STORE_SECRET:-drey-nothing}"
}

# shellcheck disable=SC2317 # called through check
no_command_line_has() { # TEXT
	local pid
	for pid in $(run_pids); do
		! grep -zqF -- "$1" "/proc/$pid/cmdline" 2>/dev/null || return 1
	done
}

# The store is down when the job has to start.
store_away() {
	die_and_wait
	store_stop
	drey do-not-restart off >/dev/null
	await "the store is down: drey holds" status_is '.phase == "Holding" and (.reason | contains("cannot be read"))'
	diag "$(status .reason)"
	check "nothing was launched" test -z "$(jm_pid)"
	store_start
	await "the store is back: drey starts the job by itself" runs_after "$JOB"
	# not by the job's own count: the first attempt of a task may come before the last part of the store is back
	check "from the newest checkpoint" status_is ".launch.restoreVerified and .launch.restorePoint.path == \"${KEPT[0]}\""
}

# The newest checkpoint has lost a file, the one before its _metadata.
store_damage() {
	local lost
	die_and_wait
	check "at least three are kept" test "${#KEPT[@]}" -ge 3
	lost=${KEPT[0]#"$STORE_URI/"}
	store_remove "$lost/$(store_names "$lost" | grep -v '^_metadata$' | head -n 1)"
	store_remove "${KEPT[1]#"$STORE_URI/"}/_metadata"
	store_drey verify "${KEPT[0]}" >"$RUN/said"
	is $? 1 "drey verify says that ${KEPT[0]##*/} is damaged"
	check "and names the missing file" grep -q '^ *missing ' "$RUN/said"
	drey do-not-restart off >/dev/null
	await "the job is started again" runs_after "$JOB"
	check "from the newest checkpoint that is whole" restore_matches "${KEPT[2]}"
	check "the log says loudly that ${KEPT[0]##*/} was passed over" \
		grep -qE "\"(warn|error)\".*${KEPT[0]##*/}" "$RUN/log/jm.log"
}
