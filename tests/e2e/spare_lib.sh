# shellcheck shell=bash
# shellcheck disable=SC2034 # variables are for the tests that source it
#
# spare_lib.sh - what the tests of the warm spare share; sourced after tap.sh.
#
#   spare_conf                flink.spare with the jar of this build
#   jm_now, spare_now         the pid of the JobManager and of the newest spare, as drey has logged them: the command
#                             lines of both name Flink's entry point
#   spare_is STATE            as the status document has it
#   said TEXT COUNT           drey has logged this so often
#   from_spare                the last launch runs in a spare

spare_conf() {
	SPARE_JAR=$RUN/spare.jar
	make -s -C "$TOP" B="$BUILD" TOP="$BUILD" jars >"$RUN/log/jars.log" 2>&1 || die 1 "cannot make the jar of the spare, see $RUN/log/jars.log"
	cp "$BUILD/drey-spare.jar" "$SPARE_JAR"
	DREY_CONF["flink.spare"]=$SPARE_JAR
}

logged() { # MESSAGE FIELD: of the last such line
	grep -F "\"msg\":\"$1\"" "$RUN/log/jm.log" | tail -n 1 | jq --raw-output ".$2"
}

jm_now() {
	logged "Flink started" pid
}

spare_now() {
	logged "the spare JVM is ready" pid
}

spare_is() { # STATE
	status_is ".spare.state == \"$1\""
}

said() { # TEXT COUNT
	[ "$(grep -cF -- "$1" "$RUN/log/jm.log")" -eq "$2" ]
}

from_spare() {
	[ "$(logged "Flink started" spare)" = true ]
}

process_state() { # PID: one letter; T = stopped
	sed 's/.*) //' "/proc/$1/stat" | cut -c1
}

# Kill the JobManager, and wait for the next job: RAN_MS is how long that took, by the clock of the job's log.
kill_jm() {
	local before killed_ms
	before=$(status .jobId)
	killed_ms=$(date +%s%3N)
	kill -KILL "$(jm_now)"
	await "JobManager killed: the job runs again" runs_after "$before"
	LAST_JOB=$before
	RAN_MS=$(($(last_event RESTORED ms) - killed_ms))
}
