# shellcheck shell=bash
#
# formats_lib.sh - an application on one state backend, through what a savepoint's format decides: a savepoint while the job runs,
# a kill, a stop, a start from it, the old savepoint's end, and a collection. To be sourced by a test; Flink's whole distribution
# is needed, because the backends come with it.
#
#   format_story BACKEND FORMAT    all of it; FORMAT is what drey asks for where it chooses

# shellcheck disable=SC2119 # lib.sh has functions whose arguments are optional
# shellcheck disable=SC2317 # functions are called by name
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"

# Flink's distribution of the line that is tested: the images' patch of 1.20 is the only one that is kept.
format_begin() { # BACKEND
	local home
	home=$("$TOP/tests/image/get-home.sh" "${FLINK_VERSION/1.20.0/1.20.5}") || {
		echo "1..0 # SKIP no distribution of Flink $FLINK_VERSION"
		exit 0
	}
	e2e_begin "format-$1"
	ln -sfn "$home/lib" "$RUN/flink/lib"
	run_conf <<-YAML
		state.backend.type: $1
		execution.checkpointing.incremental: true
		execution.checkpointing.data-inline-threshold: 0 b
	YAML
	DREY_CONF[savepoints.retention]="{count: 1, all: true}"
	drey_conf --rate 400 --grow 300
	start_tm_pod
	start_drey
	MUST_LIVE=(jm tm)
}

is_proven() {
	phase_is Running && status_is .launch.proven
}

is_proven_after() { # JOB
	is_proven && status_is ".jobId != \"$1\""
}

# What drey has asked Flink for, as the journal has it.
format_of() { # PATH
	jq -r --arg path "$1" '.snapshots[] | select(.path | endswith($path)) | .format' "$RUN/state/journal.json"
}

savepoint_path() {
	plain_path "$(status .lastSavepoint.path)"
}

newest_is_complete() { # JOB
	local path
	path=$(newest_retained "$1")
	[ -n "$path" ] && verify "$path" >>"$RUN/log/verify.log"
}

# Tasks that a savepoint has restarted are a restart of the job inside Flink.
not_restarted() {
	status_is '.job.restarts == 0' && ! grep -q 'the job is RESTARTING' "$RUN/log/jm.log"
}

# What launches have left goes, and nothing that is needed: the job is killed, and starts from its newest checkpoint.
collected() {
	local job
	job=$(status .jobId)
	drey gc --delete --keep 0 --keep-for 0s --grace 0s >>"$RUN/log/gc.log" 2>&1 || return
	newest_is_complete "$job" || return
	kill -KILL "$(jm_pid)"
	wait_quietly "$WAIT_S" is_proven_after "$job"
}

format_story() { # BACKEND FORMAT
	local first second savepoint
	format_begin "$1"
	await "the job runs on $1" is_proven
	first=$(status .jobId)
	await "and has some checkpoints" has_completed 3 "$first"
	check "a savepoint of a format that drey chooses" drey savepoint
	savepoint=$(savepoint_path)
	is "$(format_of "$savepoint")" "$2" "it is $2"
	check "it is complete" verify "$savepoint"
	await "no task was restarted for it" not_restarted
	kill -KILL "$(jm_pid)"
	await "killed, it runs again" is_proven_after "$first"
	check "it is stopped with a savepoint" drey suspend
	is "$(status .phase)" Suspended "it is suspended"
	second=$(savepoint_path)
	is "$(format_of "$second")" "$2" "with one that is $2"
	check "that is complete" verify "$second"
	first=$(status .jobId)
	check "it is resumed" drey resume
	await "from there" is_proven_after "$first"
	check "exactly that was restored" restore_matches "$(status .launch.restorePoint.path)"
	is "$(plain_path "$(status .launch.restorePoint.path)")" "$second" "and it is the savepoint of the stop"
	check "another savepoint" drey savepoint
	await "the oldest savepoint is disposed of" not test -e "$savepoint"
	check "what launches have left is deleted, and the job starts from its newest checkpoint" collected
	check "its checkpoints are complete" newest_is_complete "$(status .jobId)"
	check "the state was continuous all the time" continuity
	end_drey TERM
	e2e_end
}
