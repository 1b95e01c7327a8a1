# shellcheck shell=bash disable=SC2034,SC2119,SC2153,SC2154
#
# recovery_lib.sh - an application loses its journal and everything else but its storage, and comes back by the copy of the
# journal that lies there: suspended, running, finished. Sourced after tap.sh and tests/servers/lib.sh.
#
#   recovery_begin NAME     a run, and versitygw with the bucket flink
#   recovery STORE...       all of it, once for each: directory, s3
#
# The test has these:
#
#   recovery_configure      the keys of DREY_CONF that it needs besides
#   recovery_lose           what is lost besides the state directory
#   recovery_forget         the same for the end of a round, without a word

recovery_begin() { # NAME
	S3_PLUGIN=$("$TOP/tools/get-flink.sh" --plugin flink-s3-fs-hadoop "$FLINK_VERSION") || servers_skip "flink-s3-fs-hadoop is not to be had"
	server_find versitygw || servers_skip "versitygw is not to be had"
	e2e_begin "$1"
	mkdir -p "$RUN/versitygw/buckets/flink" "$RUN/flink/plugins/s3"
	server_up versitygw "$RUN/versitygw"
	ln -s "$S3_PLUGIN" "$RUN/flink/plugins/s3/"
	export HOME=$RUN AWS_EC2_METADATA_DISABLED=true
	run_conf <<-END
		s3.endpoint: $S3_ENDPOINT
		s3.endpoint.region: $S3_REGION
		s3.access-key: $S3_ACCESS_KEY
		s3.secret-key: $S3_SECRET_KEY
		s3.path.style.access: true
		s3.path-style-access: true
		s3.directory.marker.retention: keep
	END
}

configure() {
	drey_conf
	DREY_CONF[application]=$APPLICATION
	DREY_CONF[flink.checkpointDirectory]=$STORE_URI/ck
	DREY_CONF[flink.savepointDirectory]=$STORE_URI/sp
	DREY_CONF[holding.retryFirst]=300ms
	DREY_CONF[holding.retryMax]=500ms
	DREY_CONF[restore.adopt]=hold
	recovery_configure
}

# Nothing is left but the storage.
disaster() {
	LAST=$(status .launch.number)
	end_drey KILL
	await "$STORE: nothing of Flink is left" test -z "$(jm_pid)"
	rm -rf "${RUN:?}/state"
	recovery_lose
}

# What `helm install --set drey.restore.adopt=newest` changes.
install_again() { # ADOPT
	DREY_CONF[restore.adopt]=$1
	start_drey
}

copy_says() { # JQ
	"$BUILD/drey" inspect --json "$STORE_URI/ck/.drey/$APPLICATION/journal.json" 2>>"$RUN/inspect.log" | jq --exit-status "$1" >/dev/null
}

job_goes_on() {
	MUST_LIVE=(jm tm)
	await "$STORE: the job runs" runs_after "$1"
	await "$STORE: the launch is proven" status_is .launch.proven
	JOB=$(status .jobId)
}

# At most one write of the copy in a minute, and none while the job only runs. The server's own log.
copy_writes() {
	grep -c "PUT[^ ]* .*/.drey/$APPLICATION/journal.json" "$RUN/versitygw/access.log"
}

rounds() {
	local savepoint began=$SECONDS starts=8
	job_goes_on none
	await "$STORE: its copy is there" copy_says '.journal.launches | length == 1'
	check "$STORE: the status says so" status_is '.journalCopy.writtenUnixMs != null and .journalCopy.error == null'

	# ---- suspended
	check "$STORE: suspend" drey suspend --timeout 90s
	savepoint=$(status .lastSavepoint.path)
	JOB=$(status .jobId)
	MUST_LIVE=(tm)
	end_drey TERM
	check "$STORE: drey has left its last word" copy_says '.journal.intent.state == "suspended"'
	start_drey
	await "$STORE: it is suspended" phase_is Suspended
	disaster
	install_again hold
	await "$STORE: without adopt it holds" status_is '.phase == "Holding" and .cause == "JournalLost"'
	check "$STORE: and says what the copy knows" status_is ".reason | contains(\"says: suspended, newest state $savepoint\")"
	check "$STORE: nothing was launched" test -z "$(jm_pid)"
	check "$STORE: the copy is as it was" copy_says '.journal.intent.state == "suspended"'
	end_drey TERM
	install_again newest
	await "$STORE: suspended stays suspended" phase_is Suspended
	is "$(status .launch.number)" "$LAST" "$STORE: its launches are known"
	check "$STORE: resume" drey resume
	job_goes_on "$JOB"
	check "$STORE: from that savepoint, with its count" restore_matches "$savepoint"
	is "$(status .launch.number)" $((LAST + 1)) "$STORE: the number goes on"

	# ---- running
	await "$STORE: checkpoints are complete" has_completed $(($(status '.launch.restorePoint.checkpointId // 0') + 6)) "$JOB"
	disaster
	install_again newest
	job_goes_on "$JOB"
	check "$STORE: from its newest checkpoint" status_is '.launch.restorePoint.kind == "checkpoint"'
	is "$(status .launch.number)" $((LAST + 1)) "$STORE: the number goes on"
	check "$STORE: the journal says that it was made from the copy" grep -q "the copy takes its place" "$RUN/log/jm.log"
	check "$STORE: no count was lost, and none repeated" continuity "$EMPTY"

	# ---- finished
	MUST_LIVE=(tm)
	control finish
	await "$STORE: it comes to its end" phase_is Finished
	STARTS=$(event_count MAIN)
	await "$STORE: the copy knows" copy_says '.journal.outcome.kind == "finished"'
	disaster
	install_again newest
	await "$STORE: finished stays finished" phase_is Finished
	is "$(event_count MAIN)" "$STARTS" "$STORE: and does not run again"
	end_drey TERM
	uncontrol finish
	# with each of these starts one write at once, and one at its end
	[ "$STORE" != s3 ] || check "s3: $(copy_writes) writes of the copy: at most one a minute" \
		test "$(copy_writes)" -le $(((SECONDS - began) / 60 + 2 * starts))
	rm -rf "${RUN:?}/state"
	recovery_forget
}


recovery() { # STORE...
	EMPTY=0
	for STORE in "$@"; do
		EMPTY=$((EMPTY + 1))
		case $STORE in
		s3) STORE_URI=s3://flink ;;
		*) STORE_URI=file://$RUN/jobs && mkdir -p "$RUN/jobs/ck" "$RUN/jobs/sp" ;;
		esac
		configure
		[ "$EMPTY" -gt 1 ] || start_tm_pod
		start_drey
		rounds
	done
}
