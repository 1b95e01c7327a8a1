#!/usr/bin/env bash
#
# side.sh - one application of run.sh. SIDE is
#
#   plain                      Flink's HA and a restart loop; a JVM of 1 GB without the options of the tests
#   cold, spare                drey and Flink's HA, such a JVM, and what the image has: the class archive; a warm spare
#   released, kept             drey and Flink's HA: the leader's lock is released, or kept
#   no-ha                      drey, and no HA of Flink
#   loop                       Flink's HA and a restart loop
#   newest                     newest.sh
#
# Says "ready"; then for each line on stdin
#   kill       kills the JobManager; ms until REST answers, the job is RUNNING, its first new checkpoint, and the ms of
#              it that are drey's own
#   upgrade    stops with a savepoint and starts a new JobManager; ms until the savepoint is there and the job is RUNNING

# shellcheck disable=SC2119,SC2154,SC2317 # optional arguments; keys of DREY_CONF; functions that are waited for
exec 8<&0 9>&1 >&2 </dev/null
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../tests/e2e/tap.sh"
# shellcheck source=tests/api/lib.sh
. "$TOP/tests/api/lib.sh"
# shellcheck source=tests/api/ha_lib.sh
. "$TOP/tests/api/ha_lib.sh"

WAIT_S=${WAIT_S:-600}

now_ms() {
	echo $(($(date +%s%N) / 1000000))
}

has_ha() {
	case $SIDE in no-ha | newest) return 1 ;; esac
}

has_drey() {
	case $SIDE in plain | loop | newest) return 1 ;; esac
}

# As Flink's scripts start a JobManager of 1600 MB: the JVM chooses its collector and its compilers.
eval "$(declare -f flink_java | sed '1s/flink_java/flink_java_of_tests/')"
flink_java() { # RUN HEAP METASPACE NAME
	local word words=()
	flink_java_of_tests "$@"
	case $SIDE.$4 in plain.jm | cold.jm | spare.jm) ;; *) return 0 ;; esac
	for word in "${FLINK_JAVA[@]}"; do
		case $word in
		-XX:+UseSerialGC | -XX:TieredStopAtLevel=1) ;;
		-Xm[sx]*) words+=("${word:0:4}1g") ;;
		-XX:MaxMetaspaceSize=*) words+=(-XX:MaxMetaspaceSize=256m) ;;
		*) words+=("$word") ;;
		esac
	done
	FLINK_JAVA=("${words[@]}")
}

# ---- the JobManager's side -----------------------------------------------------------------------------

start_jm() { # in the side's own way
	local args
	mapfile -t args < <(job_args)
	init_argv
	flink_jm_argv "$RUN"
	case $SIDE in
	plain | loop)
		# shellcheck disable=SC2016 # expanded by that shell
		spawn jm "${INIT_ARGV[@]}" bash -c 'while :; do "$@"; echo "the JobManager has ended with status $?"; done' jm \
			"${FLINK_JM_ARGV[@]}" --job-id "$job" ${savepoint:+--fromSavepoint "$savepoint"} \
			--job-classname drey.ContinuityJob -- "${args[@]}"
		;;
	newest)
		spawn jm "${INIT_ARGV[@]}" bench/recovery/newest.sh "$RUN/ck" "${FLINK_JM_ARGV[@]}" -- "${args[@]}"
		;;
	*) start_drey --grace 120 ;;
	esac
}

begin() {
	run_begin "recovery-$SIDE" "$FLINK_VERSION"
	api_begin "recovery-$SIDE"
	DREY_CONF[attempts.max]=32
	DREY_CONF[log.format]=json
	DREY_CONF[onSigterm]=upgrade
	stopped=0 job=$(job_id_of 0) savepoint=''
	case $SIDE in cold | spare) drey_jars || exit 1 ;; esac
	if has_ha; then
		ha_begin
	else
		drey_conf
	fi
	sed -i 's/^execution.checkpointing.interval:.*/execution.checkpointing.interval: 2 s/' "$RUN/conf/config.yaml"
	case $SIDE in
	kept) DREY_CONF[kubernetes.fastFailover]=false ;;
	cold | spare) make_class_archive && DREY_CONF[flink.classArchive]=$RUN/flink.jsa || exit 1 ;;
	esac
	if [ "$SIDE" = spare ]; then
		"$TOP/java/build.sh" spare "$RUN/spare.jar" || exit 1
		DREY_CONF[flink.spare]=$RUN/spare.jar
	fi
	start_tm_pod
	start_jm
	MUST_LIVE=(jm tm)
}

# ---- measuring ---------------------------------------------------------------------------------------------

# A leader renews its lock every 5 s; one that has just taken it is not in the middle of its life.
lock_is_renewed() {
	kubectl get configmap "$(cluster_map)" --output json |
		jq --exit-status '.metadata.annotations["control-plane.alpha.kubernetes.io/leader"] | fromjson |
			def seconds: sub("\\..*"; "Z") | fromdate;
			.holderIdentity != "" and (.renewTime | seconds) >= (.acquireTime | seconds) + 5'
}

new_checkpoint() {
	checkpoints ".latest.completed.trigger_timestamp > $began"
}

settled() {
	job_runs && new_checkpoint || return 1
	! has_drey || status_is '.phase == "Running" and .launch.proven' || return 1
	[ "$SIDE" != spare ] || status_is '.spare.state == "ready"' || return 1
	! has_ha || lock_is_renewed
}

# It has its own loop: the machine is to start JVMs, not to answer questions.
settle() {
	local until=$((SECONDS + WAIT_S))
	until settled >/dev/null 2>&1; do
		[ "$SECONDS" -lt "$until" ] || return 1
		sleep 1
	done
}

# A waiting spare has the entry point of Flink in its command line, too.
the_jm() {
	if [ "$SIDE" = spare ]; then
		grep -F '"msg":"Flink started"' "$RUN/log/jm.log" | tail -n 1 | jq .pid
	else
		jm_pid
	fi
}

new_rest() {
	gone "$pid" && rest_is_up
}

wait_ms() { # CMD...: the ms since $began
	until "$@" >/dev/null 2>&1; do
		[ $(($(now_ms) - began)) -lt $((WAIT_S * 1000)) ] || exit 1
		sleep 0.02
	done
	echo $(($(now_ms) - began))
}

# From the line of the end of one Flink to that of the start of the next, in drey's log.
own_ms() {
	has_drey || {
		echo -
		return
	}
	sed -n "$lines,\$p" "$RUN/log/jm.log" | sed -n 's/.*"time":"\([^"]*\)".*"msg":"Flink \(ended\|started\).*/\1/p' |
		head -n 2 | xargs -I{} date -d {} +%s%3N | awk 'NR == 1 { a = $1 } NR == 2 { print $1 - a }'
}

kill_jm() {
	local rest_ms running_ms checkpoint_ms
	kill -KILL "$pid"
	rest_ms=$(wait_ms new_rest) && running_ms=$(wait_ms job_runs) && checkpoint_ms=$(wait_ms new_checkpoint) || exit 1
	say="$rest_ms $running_ms $checkpoint_ms $(own_ms)"
}

# By hand: stop with savepoint, end the JobManager, start one from there; Flink deletes its HA data with the stop. The
# JobManager of an application ends with its job, often before it was asked for the place.
stop_by_hand() {
	local trigger
	trigger=$(rest_send POST "jobs/$job/stop" '{}' | jq --raw-output '."request-id"')
	is_stopped() {
		has_saved && { rest "jobs/$job/savepoints/$trigger" .operation.location || gone "$pid"; }
	}
	wait_quietly "$WAIT_S" is_stopped || exit 1
	savepoint=$(find "$RUN/sp" -name _metadata -printf '%T@ %h\n' | sort -n | tail -n 1 | cut -d' ' -f2)
	stopped=$((stopped + 1))
}

has_saved() {
	[ "$(find "$RUN/sp" -name _metadata | wc -l)" -gt "$saved" ]
}

upgrade() {
	local saved_ms
	saved=$(find "$RUN/sp" -name _metadata | wc -l)
	MUST_LIVE=(tm)
	if has_drey; then
		kill -TERM "${PIDS[jm]}"
		saved_ms=$(wait_ms has_saved) || exit 1
	else
		stop_by_hand
		saved_ms=$(wait_ms has_saved) || exit 1
		kill -TERM "${PIDS[jm]}"
		job=$(job_id_of "$stopped")
	fi
	wait_ms test -e "$RUN/jm.status" >/dev/null || exit 1
	start_jm
	say="$saved_ms $(wait_ms new_job_runs)" || exit 1
	MUST_LIVE=(jm tm)
}

new_job_runs() {
	job_runs && [ "$(job_id)" != "$was" ]
}

cd "$TOP" || exit 1
begin 8<&- 9>&-
began=$(now_ms)
settle || exit 1
echo ready >&9
while read -r -u 8 order && [ "$order" != end ]; do
	settle || exit 1
	pid=$(the_jm) was=$(job_id) lines=$(($(wc -l <"$RUN/log/jm.log") + 1))
	began=$(now_ms)
	case $order in
	kill) kill_jm ;;
	upgrade) upgrade 8<&- 9>&- ;;
	*) exit 2 ;;
	esac
	echo "$say" >&9
done
exit 0
