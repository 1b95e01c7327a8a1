# shellcheck shell=bash
#
# held_lib.sh - a JobManager whose main() is held (java/held), without drey. Sourced after tap.sh.
#
#   held_begin NAME            e2e_begin, with drey-held.jar in Flink's lib directory
#   start_held JOB CLASS ...   its JobManager; more words are options of Flink's entry point. GO is its go file
#   go JSON                    what drey would write into it

held_begin() { # NAME
	e2e_begin "$1"
	held_jar || e2e_end
	mkdir "$RUN/held"
	mapfile -t JOB_ARGS < <(job_args)
}

start_held() { # JOB CLASS [OPTION...]
	GO=$RUN/held/$1.json
	rm -f "$GO.held"
	flink_jm_argv "$RUN"
	init_argv
	spawn jm env "DREY_HELD_CLASS=$2" "DREY_HELD_FILE=$GO" "${INIT_ARGV[@]}" "${FLINK_JM_ARGV[@]}" \
		--job-id "$1" "${@:3}" --job-classname dev.drey.Held -- "${JOB_ARGS[@]}"
}

go() { # JSON
	printf '%s\n' "$1" >"$GO.new"
	mv "$GO.new" "$GO"
}

go_from() { # PATH [ALLOW_NON_RESTORED]
	go "{\"schema\": 1, \"go\": true, \"path\": \"$1\", \"allowNonRestored\": ${2:-false}}"
}

is_held() {
	[ -s "$GO.held" ] && [ "$(jq .pid "$GO.held")" = "$(jm_pid)" ]
}

held_with_slots() {
	rest overview '."jobs-running" == 0 and ."slots-available" == 1' && [ "$(rest jobs '.jobs | length')" = 0 ]
}

said() { # REGEX: in the log of the JobManagers, of which there is one file
	grep -qE -- "$1" "$RUN/log/jm.log"
}

jm_ended() {
	[ -e "$RUN/jm.status" ]
}

# The JobManager ends as soon as the answer was read: it can be asked once.
savepoint_is_there() { # JOB TRIGGER
	rest "jobs/$1/savepoints/$2" '.operation.location' >"$RUN/savepoint"
}

# Stops the job with a savepoint, whose path is SAVEPOINT; its JobManager ends.
stop_held_job() {
	local id trigger
	id=$(job_id)
	trigger=$(rest_send POST "jobs/$id/stop" "{\"targetDirectory\": \"file://$RUN/sp\"}" | jq -r '."request-id"')
	await "the job is stopped with a savepoint" savepoint_is_there "$id" "$trigger"
	# shellcheck disable=SC2034 # for the caller
	SAVEPOINT=$(cat "$RUN/savepoint")
	# shellcheck disable=SC2034 # for lib.sh
	MUST_LIVE=(tm)
	await "its JobManager ends" jm_ended
}
