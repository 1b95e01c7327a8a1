#!/usr/bin/env bash
#
# The API server is unavailable: while the job runs, when its JobManager is killed in the meantime, and in the middle of
# an upgrade. Without it Flink gives up its leadership, and nothing can be started; when it is back, everything continues
# from where it was.
#
# alone: it kills the API server

# shellcheck disable=SC2317 # functions that check and await call
# shellcheck disable=SC2119 # lib.sh has functions whose arguments are optional
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/cluster/lib.sh
. "$TOP/tests/cluster/lib.sh"
node_begin api-away

# kubectl works not at all then: the Pod is asked itself, and the processes are seen from the node.
note_pod() {
	POD_IP=$(kubectl get pod "$(pod jobmanager)" --output 'jsonpath={.status.podIP}')
	job=$(status .jobId)
	launch=$(status .launch.number)
	restored=$(event_count RESTORED)
}

at() { # PORT PATH JQ
	local answer
	answer=$(curl --silent --show-error --fail --max-time 10 "http://$POD_IP:$1/$2") &&
		jq --raw-output --exit-status "$3" <<<"$answer"
}

says() { # JQ
	at 8085 status "$1"
}

savepoint_is_made() {
	at 8081 "jobs/$job/checkpoints" 'any(.history[]; .is_savepoint and .status == "IN_PROGRESS")'
}

says_that_it_stands_still() {
	says '.job.state != "RUNNING" or (.job.reachable | not)'
}

processes() { # CLASS: its JVMs in the Pods of this namespace
	local process
	for process in /proc/[0-9]*; do
		grep --quiet --no-messages --text "$1" "$process/cmdline" &&
			tr '\0' '\n' 2>/dev/null <"$process/environ" | grep --quiet "^POD_NAMESPACE=$NAMESPACE\$" && echo "${process#/proc/}"
	done
	true
}

jobmanagers() {
	processes StandaloneApplicationClusterEntryPoint
}

nothing_runs() {
	[ -z "$(jobmanagers)" ]
}

api() { # kill|start
	"$TOP/tests/cluster/cluster.sh" "$1" "$DREY_NODE/control" apiserver
}

new_savepoint() {
	[ -n "$(newest_savepoint)" ]
}

newest_savepoint() {
	(cd "$BUCKETS" && find flink/orders/savepoints -name _metadata -printf '%T@ s3://%h\n' 2>/dev/null) | sort -n | tail -n 1 | cut -d' ' -f2
}

goes_on() { # WHAT
	await "$1: the job has read its state again" has_events RESTORED $((restored + 1))
	await "$1: drey says that it runs" runs
	is "$(status .jobId)" "$job" "$1: the same job"
	check "$1: nothing is lost" continuity
}

other_job() {
	runs && [ "$(status .jobId)" != "$job" ]
}

values
check "helm install" install
await "the job runs" runs

# ---- while the job runs ------------------------------------------------------------------------------------

note_pod
api kill
await "away: Flink's lease runs out, drey says that the job stands still" says_that_it_stands_still
api start
goes_on "back"
is "$(status .launch.number)" "$launch" "back: drey has started nothing"

# ---- and its JobManager is killed ---------------------------------------------------------------------------

note_pod
api kill
kill -KILL "$(jobmanagers)"
await "away, and the JobManager is killed: drey holds, and says why" \
	says '.phase == "Holding" and .cause == "HaUnreadable" and (.reason | contains("cannot be read"))'
check "it says also that the journal cannot be written" says .journal.broken
check "nothing runs" nothing_runs
api start
goes_on "back"

# ---- in the middle of an upgrade ------------------------------------------------------------------------------

note_pod
: >"$CONTROL/hold-snapshot"
check "helm upgrade" upgrade --no-hooks --wait=false --set-json 'job.args=["--log","/events/log","--control","/events","--rate","50"]'
await "the job is being stopped, with a savepoint" savepoint_is_made
api kill
rm "$CONTROL/hold-snapshot"
await "away: the savepoint is made" new_savepoint
saved=$(newest_savepoint)
await "away: the old JobManager ends" nothing_runs
api start
await "back: another job runs" other_job
check "back: from exactly that savepoint" restored_from "$saved"
check "back: where the old one had stopped" continued
check "the whole log is continuous" continuity
e2e_end
