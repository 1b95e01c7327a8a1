#!/usr/bin/env bash
#
# Apache's autoscaler (its library, outside of its operator) changes the parallelism of a job under drey, by what it measures: drey
# leaves that alone, and the job continues. After a kill of the JobManager the autoscaler finds the new job id, and scales it again.

# shellcheck disable=SC2119,SC2317 # functions with optional arguments, called by name
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"
# shellcheck source=tests/e2e/elastic_lib.sh
. "$E2E_DIR/elastic_lib.sh"

e2e_begin autoscaler
adaptive_conf 4
# what it measures is this old
sed -i '$ a metrics.fetcher.update-interval: 1000' "$RUN/conf/config.yaml"
drey_conf --rate 1000

# With the jars of Flink 1.20 for each line: it speaks REST.
autoscaler_jars() {
	local flink jar
	flink=$("$TOP/tools/get-flink.sh" 1.20.0) && jar=$("$TOP/tools/get-flink.sh" --plugin flink-autoscaler 1.10.0) || return 1
	mkdir -p "$RUN/autoscaler/lib"
	ln -s "$flink"/lib/*.jar "$jar" "$RUN/autoscaler/lib/"
	"$TOP/tests/job/build.sh" "$RUN/autoscaler" "$RUN/autoscaler/autoscaler.jar" Autoscaler
}

# It decides by what it measures, but wants that a task is idle nearly all the time: one subtask is too few, and 2 are the most that
# it may have. The source, which has one split, is left out.
start_autoscaler() {
	flink_java "$RUN" 96m 96m autoscaler
	spawn autoscaler "${FLINK_JAVA[@]}" -cp "$RUN/autoscaler/autoscaler.jar:$RUN/autoscaler/lib/*" drey.Autoscaler \
		rest.address=127.0.0.1 "rest.port=$REST_PORT" job.autoscaler.enabled=true job.autoscaler.scaling.enabled=true \
		"job.autoscaler.stabilization.interval=1 s" "job.autoscaler.metrics.window=10 s" job.autoscaler.target.utilization=0.002 \
		job.autoscaler.target.utilization.boundary=0.001 job.autoscaler.vertex.max-parallelism=2 \
		"job.autoscaler.vertex.exclude.ids=$source_vertex"
}

scaled() { # AT_LEAST
	[ "$(grep -c 'the autoscaler sets' "$RUN/log/autoscaler.log")" -ge "$1" ]
}

check "the autoscaler is there" autoscaler_jars
start_drey
start_tm_pod
MUST_LIVE=(jm tm)
await "the job has a checkpoint" status_is .launch.proven
job=$(status .jobId)
source_vertex=$(rest "jobs/$job" '.vertices[] | select(.name | startswith("Source")) | .id')
is "$(parallelism)" 1 "the job runs with its own parallelism"

start_autoscaler
MUST_LIVE=(jm tm autoscaler)
await "the autoscaler has decided" scaled 1
await "the job runs with it" runs_with 2
seen=$(status .lastCheckpoint.id)
await "some checkpoints later" status_is ".lastCheckpoint.id > $seen + 5"
is "$(parallelism)" 2 "drey has not undone it"
check "it is the same launch" status_is ".jobId == \"$job\" and .launch.number == 1 and .attempts.failed == 0 and .parallelism == null"
check "its state continues" continues

kill -KILL "$(jm_pid)"
await "the JobManager was killed: the next launch runs" runs_after "$job"
await "the autoscaler finds it, and decides again" scaled 2
await "the job runs with that" runs_with 2
check "its state continues" continues
is "$(event_count 'RESTORED -')" 1 "it was started without state only once"
e2e_end
