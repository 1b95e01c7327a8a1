#!/usr/bin/env bash
#
# Is it reported that the checkpoints of a running job fail, and that they do not any more? Its snapshots wait on purpose
# until they have expired; the job runs on, and is ready. The condition, the status, the metrics, the log, and the
# statistics as Flink tells them. Then the same for longer than health.restartAfter: the job is restarted from the newest one.

# shellcheck disable=SC2119,SC2317 # functions with optional arguments, called by name
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"

condition_is() { # STATUS REASON
	[ "$(status '.conditions[] | select(.type == "CheckpointsFailing") | "\(.status) \(.reason)"')" = "$1 $2" ]
}

metric() { # NAME
	curl --silent --max-time 5 "http://127.0.0.1:$http/metrics" | sed -n "s/^$1 //p"
}

metric_is() { # NAME VALUE
	[ "$(metric "$1")" = "$2" ]
}

log_count() { # REGEX
	grep -cE "$1" "$RUN/log/jm.log"
}

logged() { # REGEX
	[ "$(log_count "$1")" -gt 0 ]
}

e2e_begin checkpoints
take_port http
DREY_CONF[http.port]=$http
DREY_CONF[health.restartAfter]=40s
drey_conf
run_conf <<-END
	execution.checkpointing.timeout: 3 s
	execution.checkpointing.tolerable-failed-checkpoints: 1000
END
start_drey
# shellcheck disable=SC2034 # lib.sh
MUST_LIVE=(jm)
start_tm_pod
await "the job runs" phase_is Running
await "it completes checkpoints" condition_is False Completing
await "the status has their number, as Flink has it" status_is '.checkpoints.completed >= 3'
is "$(status '"\(.checkpoints.failures) \(.checkpoints.failure)"')" "0 null" "and none has failed"
check "and what the newest one took" status_is '.checkpoints.durationMs > 0 and .checkpoints.sizeBytes > 0'
check "so do the metrics" metric_is drey_checkpoints_failing 0
newest=$(status .lastCheckpoint.id)

vertices() { # JQ_CONDITION
	drey status --vertices --json | jq --exit-status "$1" >/dev/null
}

graph=$(rest "jobs/$(status .jobId)" '[.vertices[].id] | join(" ")')
check "--vertices has the graph of the job" vertices "[.vertices[].id] | join(\" \") == \"$graph\""
await "and its back-pressure, as soon as Flink has sampled it" vertices 'all(.vertices[]; .backPressure == "ok" and
	.backPressuredPercent == 0 and .busyPercent >= 0 and .status == "RUNNING")'
await "and the alignment" vertices 'any(.vertices[]; .alignmentMs != null)'
check "its source does not count what is pending" vertices 'all(.vertices[]; .pendingRecords == null)'
check "as text, too" grep -q 'subtask.*, RUNNING, back-pressure ok (0 %), busy [0-9]* %' <(drey status --vertices)
diag "$(drey status --vertices)"

control hold-snapshot
await "snapshots expire: three in a row are reported" condition_is True ManyFailures
check "the failures are counted" status_is '.checkpoints.failures >= 3 and (.checkpoints.failure | length > 0)'
diag "$(status .reason)"
is "$(status '"\(.phase) \(.cause)"')" "Running CheckpointsFailing" "the word that has a page"
check "drey status names the page" grep -q 'see .*drey explain CheckpointsFailing' <(drey status)
is "$(curl --silent --output /dev/null --write-out '%{http_code}' "http://127.0.0.1:$http/readyz")" 200 "the job is ready"
check "the metric says so" metric_is drey_checkpoints_failing 1
is "$(log_count 'the checkpoints of the job fail: ')" 1 "the log says it once"
is "$(rest "jobs/$(status .jobId)/checkpoints" '.latest.completed.id')" "$(status .lastCheckpoint.id)" "the newest one is Flink's"

uncontrol hold-snapshot
await "they complete again" condition_is False Completing
check "there is a newer one" status_is ".lastCheckpoint.id > $newest"
is "$(status .cause)" null "no cause"
check "the metric says so" metric_is drey_checkpoints_failing 0
is "$(log_count 'checkpoints complete in time')" 1 "the log says it once"
is "$(status '"\(.launch.number) \(.attempts.failed) \(.job.restarts)"')" "1 0 0" "nothing was restarted"

await "when the job has run a minute, their interval is known" status_is '.checkpoints.intervalMs == 1000'
check "the metrics have it" metric_is drey_checkpoint_interval_seconds 1.000
check "drey status has a line" grep -qE '^  checkpoints +every 1 s, [0-9]+ completed and [0-9]+ failed' <(drey status)
control hold-snapshot
await "no checkpoint for 40 s: Flink is ended" logged 'Stopping: no checkpoint has completed for 4[0-9] s \(health.restartAfter\); the newest is file:.*/chk-'
newest=$(status .lastCheckpoint.path)
uncontrol hold-snapshot
await "the job is launched again" status_is '.launch.number == 2'
await "and runs" phase_is Running
check "from the newest checkpoint" restore_matches "$newest"
is "$(log_count 'failed attempt: no checkpoint has completed for 4')" 1 "it is a failed attempt"
await "checkpoints complete again" condition_is False Completing
check "the state was continuous all the time" continuity
kill -KILL "$(jm_pid)"
drey status --vertices >"$RUN/out" 2>&1
is "$?" 1 "without Flink --vertices fails"
check "and says so" grep -q 'cannot ask Flink at http://127.0.0.1:' "$RUN/out"
e2e_end
