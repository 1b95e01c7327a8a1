# shellcheck shell=bash disable=SC2034,SC2119,SC2153,SC2154
#
# sides_lib.sh - a job with a gate (tests/gate/kafka/KafkaJob.java) on two sides, blue and green, each in a JobManager and a
# TaskManager of its own, without drey; and a Kafka between them and tests/gate/kafka/KafkaWorld.java, which writes the input and
# reads the output. Sourced after tap.sh, tests/servers/kafka.sh and kafka_world.sh. A test is what drey would be: it writes orders and
# reads reports.
#
#   sides_begin                 after e2e_begin: Kafka and the world are started, whose files are in $BASE, and no side is
#   at SIDE CMD...              CMD with RUN, REST_PORT, RPC_PORT of this side: every function of lib.sh works
#   order WORD CUT [TRANSITION] at a side: the next order; CUT may be null
#   launch WORD TRANSITION [OPTION...] [-- NAME=VALUE...]   at a side: a new launch with this first order; options are those of
#                               Flink's entry point, what follows are arguments of the job
#   gates_are JQ_CONDITION      at a side: the report answers the last order, and each gate is like that
#   acked                       each subtask acts by the last order
#   side_kill                   SIGKILL for all processes of a side, at the same moment
#   savepoint savepoints|stop   at a side: its path is in the file savepoint; stop ends the job with it
#   shadow, choose_cut, crossed see there

declare -gA SIDE_REST=() SIDE_RPC=() SIDE_LAUNCH=() SIDE_ORDER=()
BASE=''
NAMING=${NAMING:-}    # of transactions: POOLING with connectors from 4.0 on
LEAD_MS=${LEAD_MS:-5000} # from the newest record to the cut: longer than the orders take
launches=0

sides_begin() {
	local side
	BASE=$RUN
	world_needs_kafka
	trap sides_end EXIT
	world_begin
	for side in blue green; do
		side_make "$side"
	done
}

# However the test ends, and wherever: in the middle of at(), RUN is that side's.
sides_end() {
	local status=$? side
	ui_is_main || return "$status"
	trap - EXIT
	for side in blue green; do
		[ -d "$BASE/$side" ] || continue
		[ "$status" -eq 0 ] || at "$side" run_show_logs 2>&1 | sed "s/^/# $side: /" >&2
		at "$side" side_kill
	done
	RUN=$BASE
	(exit "$status")
	run_end
}

at() { # SIDE CMD...
	local SIDE=$1 RUN=$BASE/$1 REST_PORT=${SIDE_REST[$1]} RPC_PORT=${SIDE_RPC[$1]} MUST_LIVE=()
	local -A PIDS=()
	shift
	"$@"
}

side_make() { # SIDE
	take_port "SIDE_REST[$1]"
	take_port "SIDE_RPC[$1]"
	SIDE_ORDER[$1]=0
	flink_layout "$BASE/$1" "$FLINK" "$BASE/world/job.jar"
	ln -s "$BASE"/world/usrlib/*.jar "$BASE/$1/flink/usrlib/"
	mkdir -p "$BASE/$1/gate"
	at "$1" run_conf </dev/null
}

# ---- orders and reports --------------------------------------------------------------------------

order() { # WORD CUT [TRANSITION]
	SIDE_ORDER[$SIDE]=$((SIDE_ORDER[$SIDE] + 1))
	jq --null-input --arg launch "${SIDE_LAUNCH[$SIDE]}" --arg side "$SIDE" --arg transition "${3:-}" --arg word "$1" \
		--argjson toggle "$2" --argjson number "${SIDE_ORDER[$SIDE]}" \
		'{schema: 1, $launch, $side, transition: ($transition | if . == "" then null else . end), $number, $word, $toggle}' \
		>"$RUN/gate/.order.json.test"
	mv "$RUN/gate/.order.json.test" "$RUN/gate/order.json"
}

gates_are() { # JQ_CONDITION
	jq --exit-status --arg launch "${SIDE_LAUNCH[$SIDE]}" --argjson number "${SIDE_ORDER[$SIDE]}" \
		".launch == \$launch and .number == \$number and (.gates | length == 1 and (.[0] | $1))" "$RUN/gate/report.json" >/dev/null 2>&1
}

acked() {
	gates_are '.parallelism > 0 and .acked == .parallelism'
}

report() { # JQ_FILTER
	jq --raw-output "$1" "$RUN/gate/report.json"
}

# ---- launches ------------------------------------------------------------------------------------

launch() { # WORD TRANSITION [OPTION...] [-- NAME=VALUE...]
	local options=() word=$1 transition=$2
	shift 2
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	launches=$((launches + 1))
	SIDE_LAUNCH[$SIDE]=$(printf 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa%02x' "$launches")
	order "$word" null "$transition"
	flink_tm_argv "$RUN"
	init_argv
	# shellcheck disable=SC2016 # expanded by that shell
	[ -n "$(tm_pid)" ] || spawn tm bash -c 'until "$@"; do echo "the TaskManager has ended with status $?"; done' tm \
		"${INIT_ARGV[@]}" "${FLINK_TM_ARGV[@]}" -D taskmanager.numberOfTaskSlots=2
	start_bare_jm --job-id "${SIDE_LAUNCH[$SIDE]}" -D "drey.side=$SIDE" "-Ddrey.gate.directory=$RUN/gate" -D parallelism.default=2 \
		"${options[@]}" --job-classname dev.drey.gate.KafkaJob -- "bootstrap=$KAFKA_BOOTSTRAP" ${NAMING:+"naming=$NAMING"} "${@:2}"
}

side_kill() {
	local pids
	mapfile -t pids < <(run_pids)
	[ "${#pids[@]}" -eq 0 ] || kill -STOP "${pids[@]}" 2>/dev/null
	until no_run_pids; do
		mapfile -t pids < <(run_pids)
		kill -KILL "${pids[@]}" 2>/dev/null
		sleep 0.05
	done
}

savepoint() { # savepoints|stop
	local id=${SIDE_LAUNCH[$SIDE]} key=target-directory trigger
	[ "$1" = savepoints ] || key=targetDirectory
	trigger=$(rest_send POST "jobs/$id/$1" "{\"$key\": \"file://$RUN/sp\"}" |
		jq -r '."request-id"') || return
	wait_quietly "$WAIT_S" savepoint_is_there "$id" "$trigger"
}

savepoint_is_there() { # JOB TRIGGER
	rest "jobs/$1/savepoints/$2" '.operation.location' >"$RUN/savepoint"
}

# How often the tasks of this launch have failed. (The metric numRestarts is up to ten seconds old.)
restarts() {
	rest "jobs/${SIDE_LAUNCH[$SIDE]}/exceptions" '.exceptionHistory.entries | length'
}

jm_ended() {
	[ -e "$RUN/jm.status" ]
}

# ---- the steps of a transition --------------------------------------------------------------------

# The old side counts; the new one runs from its savepoint, shut, and has caught up.
shadow() { # TRANSITION OLD NEW [OPTION...] [-- NAME=VALUE...]
	at "$2" order open null "$1"
	await "$1: $2 counts" at "$2" acked
	check "a savepoint" at "$2" savepoint savepoints
	at "$3" launch closed "$1" --fromSavepoint "$(cat "$BASE/$2/savepoint")" --allowNonRestoredState "${@:4}"
	await "$3 runs from it, shut" at "$3" acked
	await "$3 has caught up" has_caught_up "$3"
}

has_caught_up() { # SIDE
	at "$1" gates_are "([.subtasks[].watermark] | min) > $(now_ms) - 1500"
}

# The highest time that either side has seen, and the lead: CUT.
choose_cut() {
	CUT=$(($(jq --slurp '[.[].gates[].maxSeen] | max' "$BASE"/{blue,green}/gate/report.json) + LEAD_MS))
}

crossed() {
	gates_are '.crossed == .parallelism'
}

now_ms() {
	date +%s%3N
}
