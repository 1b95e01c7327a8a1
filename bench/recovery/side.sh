#!/usr/bin/env bash
#
# side.sh - one application of run.sh: SIDE is fast or plain. Says "ready"; then for every line on stdin kills the
# JobManager and says how many ms passed until REST answered and until the job was RUNNING.

# shellcheck disable=SC2119,SC2154,SC2317 # optional arguments; keys of DREY_CONF; functions that are waited for
exec 8<&0 9>&1 >&2 </dev/null
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../tests/e2e/tap.sh"
# shellcheck source=tests/api/lib.sh
. "$TOP/tests/api/lib.sh"
# shellcheck source=tests/api/ha_lib.sh
. "$TOP/tests/api/ha_lib.sh"

WAIT_S=${WAIT_S:-600}
run_begin "recovery-$SIDE" "$FLINK_VERSION" 8<&- 9>&-
api_begin "recovery-$SIDE"
[ "$SIDE" = fast ] || DREY_CONF[kubernetes.fastFailover]=false
DREY_CONF[attempts.max]=32
ha_begin
start_tm_pod 8<&- 9>&-
start_drey 8<&- 9>&-
MUST_LIVE=(jm tm)

now_ms() {
	echo $(($(date +%s%N) / 1000000))
}

# A leader renews its lock every 5 s; whoever was seen only once is not known.
lock_is_renewed() {
	local now
	now=$(kubectl get configmap "$(cluster_map)" --output json |
		jq --raw-output '.metadata.annotations["control-plane.alpha.kubernetes.io/leader"] | fromjson | .holderIdentity + " " + .renewTime')
	[ "${now% *}" = "${seen% *}" ] && [ "$now" != "$seen" ] && renewals=$((renewals + 1))
	[ "${now% *}" = "${seen% *}" ] || renewals=0
	seen=$now
	[ "$renewals" -ge 2 ]
}

settled() {
	status_is '.phase == "Running" and .launch.proven' && lock_is_renewed
}

new_rest() {
	jm_is_new "$pid" && rest_is_up
}

wait_ms() { # CMD...: the ms since $began
	until "$@" >/dev/null 2>&1; do
		[ $(($(now_ms) - began)) -lt $((WAIT_S * 1000)) ] || exit 1
		sleep 0.05
	done
	echo $(($(now_ms) - began))
}

say=ready
while :; do
	seen='' renewals=0
	wait_until "the job runs and the lock is renewed" "$WAIT_S" settled || exit 1
	echo "$say" >&9
	read -r -u 8 _ || break
	pid=$(jm_pid)
	began=$(now_ms)
	kill -KILL "$pid"
	rest_ms=$(wait_ms new_rest)
	running_ms=$(wait_ms job_runs)
	say="$rest_ms $running_ms"
done
exit 0
