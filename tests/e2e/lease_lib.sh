# shellcheck shell=bash disable=SC2034,SC2119,SC2153,SC2154
#
# lease_lib.sh - two installations of one application that share nothing but a bucket on a real S3 server (MinIO) and a
# lease object in it. Each is a run of its own in $TWO/SITE: drey-init, the agent, Flink and a TaskManager, with its own
# ports, journal and clean-up. Sourced after tap.sh and tests/servers/lib.sh.
#
#   two_begin NAME              the run with the server; SITES is empty. Both write to one log of events
#   site_make SITE              directories, configuration, drey.yaml. LEASE_S is lease.duration
#   at SITE CMD...              CMD with RUN, REST_PORT and RPC_PORT of this installation: every function of lib.sh works,
#                               and so do those of tests/api/lib.sh, if it has a control plane of its own
#   site_start, site_lose       all its processes; SIGKILL for all of them at once. Use: at a site_start. SITE_DREY: the
#                               agent's program, instead of drey
#   SITE_ENDPOINT[SITE]         the S3 server's address for it, before site_make
#   site_freeze, site_thaw      SIGSTOP and SIGCONT for all of them
#   site_runs                   Running, and this launch is proven
#   site_holds CAUSE            Holding because of CAUSE, and there is no Flink
#   lease_get [JQ], lease_put FILE, lease_delete      the object, by another client (curl)
#   lease_end_ms                when what SITE wrote last ends; before another one writes it
#   never_two                   no job has done anything after the next one has begun
#   began_ms JOB                when its first task was ready
#   now_ms
#   follows, oracle, some_checkpoints, stays, no_flink_anywhere, both_hold     see there

declare -gA SITE_REST=() SITE_RPC=() SITE_ENDPOINT=()
SITES=()
TWO=''
LEASE_S=${LEASE_S:-10}
BUCKET_KEY=flink/orders/lease.json

two_begin() { # NAME
	case $FLINK_VERSION in
	1.20.0) S3_PLUGIN="flink-s3-fs-presto" ;;
	2.3.0) S3_PLUGIN="flink-s3-fs-hadoop" ;;
	*) servers_skip "no file system for S3 is pinned for Flink $FLINK_VERSION" ;;
	esac
	S3_PLUGIN=$("$TOP/tools/get-flink.sh" --plugin "$S3_PLUGIN" "$FLINK_VERSION") || servers_skip "$S3_PLUGIN is not to be had"
	server_find minio || servers_skip "MinIO is not to be had"
	e2e_begin "$1"
	TWO=$RUN
	trap two_end EXIT
	export HOME=$RUN AWS_EC2_METADATA_DISABLED=true
	S3_REGION=us-east-1
	mkdir -p "$RUN/minio/buckets/flink"
	server_up minio "$RUN/minio"
}

# However the test ends, and wherever: in the middle of at(), RUN is that installation's.
two_end() {
	local status=$? site
	ui_is_main || return "$status"
	trap - EXIT
	RUN=$TWO
	for site in "${SITES[@]}"; do
		[ "$status" -eq 0 ] || at "$site" run_show_logs 2>&1 | sed "s/^/# $site: /" >&2
		at "$site" site_lose
		[ ! -d "$TWO/$site/cluster" ] || "$CLUSTER_SH" down "$TWO/$site/cluster"
	done
	(exit "$status")
	run_end
}

at() { # SITE CMD...
	local RUN=$TWO/$1 REST_PORT=${SITE_REST[$1]} RPC_PORT=${SITE_RPC[$1]} CLUSTER=$TWO/$1/cluster
	local ADMIN=$CLUSTER/pki/admin.conf POD_SECRETS=$RUN/serviceaccount POD_KUBECONFIG=$RUN/pod.conf
	shift
	"$@"
}

site_make() { # SITE
	local port
	take_port port
	SITE_REST[$1]=$port
	take_port port
	SITE_RPC[$1]=$port
	SITES+=("$1")
	flink_layout "$TWO/$1" "$FLINK" "$JOB_JAR"
	at "$1" held_jar
	mkdir -p "$TWO/$1/flink/plugins/s3"
	ln -s "$S3_PLUGIN" "$TWO/$1/flink/plugins/s3/"
	at "$1" site_conf "$1" "$S3_SECRET_KEY"
}

site_conf() { # SITE SECRET_KEY
	run_conf <<-END
		s3.endpoint: ${SITE_ENDPOINT[$1]:-$S3_ENDPOINT}
		s3.access-key: $S3_ACCESS_KEY
		s3.secret-key: $2
		s3.path.style.access: true
		s3.path-style-access: true
	END
	drey_conf
	DREY_CONF[flink.checkpointDirectory]=s3://flink/ck
	DREY_CONF[flink.savepointDirectory]=s3://flink/sp
	DREY_CONF[holding.retryFirst]=300ms
	DREY_CONF[holding.retryMax]=500ms
	DREY_CONF[lease.uri]=s3://$BUCKET_KEY
	DREY_CONF[lease.name]=$1
	DREY_CONF[lease.duration]=${LEASE_S}s
	DREY_CONF[restore.adopt]=newest
	write_drey_yaml
}

site_start() { # [COMMAND...]: in front of drey-init
	mkdir -p "$RUN/state"
	start_tm_pod
	spawn jm "$@" "$BUILD/drey-init" --agent -- "${SITE_DREY:-$BUILD/drey}" run --config "$RUN/drey.yaml"
}

# Nothing of it has the time to say anything: who could start something new is stopped first.
site_lose() {
	local pids
	site_freeze
	until no_run_pids; do
		mapfile -t pids < <(run_pids)
		kill -KILL "${pids[@]}" 2>/dev/null
		sleep 0.05
	done
}

site_freeze() {
	local pids
	mapfile -t pids < <(run_pids)
	[ "${#pids[@]}" -eq 0 ] || kill -STOP "${pids[@]}" 2>/dev/null
	:
}

site_thaw() {
	local pids
	mapfile -t pids < <(run_pids)
	kill -CONT "${pids[@]}"
}

site_runs() {
	status_is '.phase == "Running" and .launch.proven'
}

site_holds() { # CAUSE
	[ -z "$(jm_pid)" ] && status_is ".phase == \"Holding\" and .cause == \"$1\""
}

# ---- the object ------------------------------------------------------------------------------------

lease_curl() { # CURL_ARG...
	curl --silent --show-error --fail --max-time 10 --aws-sigv4 "aws:amz:$S3_REGION:s3" \
		--user "$S3_ACCESS_KEY:$S3_SECRET_KEY" "$@" "$S3_ENDPOINT/$BUCKET_KEY"
}

lease_get() { # [JQ]
	if [ $# -gt 0 ]; then lease_curl | jq --raw-output "$1"; else lease_curl; fi
}

lease_is() { # JQ
	[ "$(lease_get "$1")" = true ]
}

lease_put() { # FILE
	lease_curl --upload-file "$1" >/dev/null
}

lease_delete() {
	lease_curl --request DELETE >/dev/null
}

lease_end_ms() {
	lease_get '.writtenUnixMs + .durationMs'
}

# ---- what the jobs say -----------------------------------------------------------------------------

now_ms() {
	date +%s%3N
}

began_ms() { # JOB
	awk -v job="job=$1" '$1 == "START" && $5 == job { print substr($7, 4); exit }' "$EVENTS"
}

# The order of the lines is the order in time: each is one write to the end of one file. The tasks of a JobManager that was
# killed are closed by their TaskManager.
never_two() {
	awk '
		$1 == "MAIN" || $1 == "CLOSE" || $5 !~ /^job=[0-9a-f]+$/ { next }
		$5 == current { next }
		$5 in seen { print "after " current " has begun: " $0; bad = 1; next }
		{ seen[$5] = 1; current = $5 }
		END { exit bad }' "$EVENTS"
}

# ---- what tests of two installations check

FAILOVER_MS=60000

# Nobody has to act: SITE runs the job, another one than JOB, soon after the lease ended at END_MS. Sets JOB.
follows() { # SITE JOB END_MS LOST_MS
	local begun
	await "$1 runs the job" at "$1" site_runs
	JOB=$(at "$1" status .jobId)
	begun=$(began_ms "$JOB")
	diag "$((begun - $3)) ms after the lease ran out, $((begun - $4)) ms after the loss"
	check "another job" test "$JOB" != "$2"
	check "within $((FAILOVER_MS / 1000)) s after the lease ran out" test $((begun - $3)) -lt "$FAILOVER_MS"
	check "Flink has restored what was decided" at "$1" status_is .launch.restoreVerified
	oracle
}

oracle() {
	check "never two at once" never_two
	check "never older than what was complete" never_older
	check "no count was lost, and none repeated" continuity
}

some_checkpoints() { # JOB
	await "checkpoints are complete" has_completed $(($(last_event COMPLETED checkpoint) + 3)) "$1"
}

# For as long as somebody would need who takes the lease.
stays() { # WHAT CMD...
	local what=$1 end=$((SECONDS + LEASE_S + LEASE_S / 10 + 4)) status=0
	shift
	while [ "$SECONDS" -lt "$end" ] && [ "$status" -eq 0 ]; do
		"$@" >/dev/null 2>&1 || status=$?
		sleep 0.3
	done
	tap_result "$status" "$what"
}

no_flink_anywhere() {
	[ -z "$(at a jm_pid)$(at b jm_pid)" ]
}

both_hold() { # CAUSE
	at a site_holds "$1" && at b site_holds "$1"
}
