#!/usr/bin/env bash
#
# drey does not reach Flink's REST API (it listens on another address), while the job runs and completes checkpoints: the launch
# outlives attempts.readyDeadline several times, and the status says what is seen of it. When it can be reached, the job is
# proven, in the same process. A launch that does nothing is still ended at the deadline.

# shellcheck disable=SC2119,SC2317 # optional arguments; functions that check calls
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"

# The address that drey asks, and what forwards it to the one where Flink listens.
FAR=127.0.0.2
forward() {
	spawn "$1" python3 -c '
import socket, sys, threading
def pump(a, b):
    try:
        while data := a.recv(65536):
            b.sendall(data)
    except OSError:
        pass
    for end in (a, b):
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
server = socket.create_server((sys.argv[1], int(sys.argv[2])))
while True:
    near, _ = server.accept()
    try:
        far = socket.create_connection(("127.0.0.1", int(sys.argv[2])))
    except OSError: # Flink has not begun to listen
        near.close()
        continue
    for pair in ((near, far), (far, near)):
        threading.Thread(target=pump, args=pair, daemon=True).start()
' "$FAR" "$REST_PORT"
}

condition() { # JQ on the condition ClusterUnreachable
	status ".conditions[] | select(.type == \"ClusterUnreachable\") | $1"
}

shows_life() {
	status_is '.phase == "Launching" and .cause == "ClusterUnreachable"' &&
		condition 'select(.status == "True" and .reason == "NoAnswer")' | grep -q .
}

newer_than() { # CHECKPOINT
	[ "$(newest_id)" -gt "$1" ]
}

newest_id() {
	condition .message | sed -n 's/.*checkpoint \([0-9]*\) of job .*/\1/p'
}

log_has() { # REGEX
	grep -qE -- "$1" "$RUN/log/jm.log"
}

e2e_begin silent-rest
DREY_CONF[flink.restAddress]=$FAR
DREY_CONF[attempts.readyDeadline]=60s
drey_conf
start_tm_pod
start_drey
MUST_LIVE=(jm tm)
await "the job runs, which drey cannot see" job_runs
await "the deadline has come: it is found alive" shows_life
jm=$(jm_pid)
job=$(status .jobId)
id=$(newest_id)
check "by a checkpoint of its job" grep -q "checkpoint $id of job $job was completed at .* in file:/*$RUN/ck/$job/chk-$id" <(condition .message)
check "and it says where REST is and what is wrong there" grep -q "has not answered since 20.*http://$FAR:$REST_PORT" <(condition .message)
check "it is not ready" status_is '[.conditions[] | select(.type == "Ready")][0] | .status == "False" and .reason == "ClusterUnreachable"'
check "and a person is needed" status_is '[.conditions[] | select(.type == "Stalled")][0].status == "True"'
await "the next deadline shows a newer one" newer_than "$id"
id=$(newest_id)
await "and the next one" newer_than "$id"
check "it is still the first launch" status_is '.launch.number == 1'
check "in the same process" [ "$(jm_pid)" = "$jm" ]
check "without a signal" not log_has 'Stopping: '

forward forward
await "it is reached: the job is reported as running" phase_is Running
await "and is proven" status_is .launch.proven
check "it is the same process" [ "$(jm_pid)" = "$jm" ]
check "ClusterUnreachable is over" grep -qx False <(condition .status)

# ---- one that does nothing: no TaskManager, so no task ever runs
end_drey TERM
await "drey has ended" drey_has_ended
MUST_LIVE=()
mapfile -t tms < <(tm_pid)
kill -TERM "${PIDS[tm]}" "${tms[@]}" 2>/dev/null
kill -TERM "${PIDS[forward]}"
start_drey
MUST_LIVE=(jm)
await "a launch without REST that shows nothing is ended at the deadline" log_has 'not running 60 s after the launch; the job has completed no checkpoint, and Flink.s REST API does not answer: .*http://'
await "and another one follows" status_is '.launch.number >= 3'
forward forward2
start_tm_pod tm2
await "with REST and a TaskManager the job continues" phase_is Running
continuity
e2e_end
