#!/usr/bin/env bash
#
# A job in Python, as examples/pyflink.yaml has it, with the real PyFlink: main() is a Python program that the JVM of the JobManager
# runs, and a Python worker beside the TaskManager's JVM counts in keyed state. The count is right after the death of both JVMs, a
# savepoint, an upgrade, a surge upgrade, whose main() cannot be held, a suspension: the worker itself compares it with what it reads.
#
# runs in: all

# shellcheck disable=SC2317 # functions that check and await call
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/cluster/lib.sh
. "$TOP/tests/cluster/lib.sh"
if ! ctr --namespace k8s.io images list --quiet | grep --quiet '^localhost/orders-py:1$'; then
	[ -z "${DREY_TEST_REQUIRE:-}" ] || die 1 "the image of the Python job could not be made, see above"
	echo "1..0 # SKIP the image of the Python job is not on the node: tests/cluster/images.sh DIR python makes it"
	exit 0
fi
# shellcheck disable=SC2034 # of lib.sh
JOB_LINE='class: org.apache.flink.client.python.PythonDriver, args: [-py, /opt/flink/usrlib/counter.py, --log, /events/python],
  jars: ["file:///opt/flink/opt/flink-python-2.3.0.jar"]'
node_begin python
LOG=$VOLUME/python
: >"$LOG"
chmod 666 "$LOG"

cat >"$RUN/python.yaml" <<-YAML
	image: {repository: localhost/orders-py}
	flink:
	  # not in this image, and Flink takes the complaint of ld.so for the path of the worker
	  jemalloc: false
	  configuration:
	    python.executable: /usr/bin/python3
	    python.client.executable: /usr/bin/python3
	    # small bundles: a checkpoint waits for the one that has begun
	    python.fn-execution.bundle.size: 10
	    taskmanager.memory.managed.consumer-weights: OPERATOR:70,STATE_BACKEND:70,PYTHON:30
	    taskmanager.memory.managed.size: 512m
	jobManager: {env: [{name: FLINK_OPT_DIR, value: /opt/flink/opt}]}
	taskManager: {memoryMiB: 1800}
	drey: {check: {graph: false}}
YAML
WITH_PYTHON=(--values "$RUN/python.yaml")

counted() {
	awk '$1 == "AT" { at = $2 } END { print at + 0 }' "$LOG"
}

counts_beyond() { # NUMBER
	[ "$(counted)" -gt "$1" ]
}

restores() {
	grep --count '^RESTORED ' "$LOG"
}

restored_after() { # COUNT of restores
	[ "$(restores)" -gt "$1" ]
}

# From the last tenth number before the newest worker until its first number.
pause_ms() {
	awk '$1 == "AT" { at = $3 } $1 == "RESTORED" { pause = $3 - at } END { print pause }' "$LOG"
}

# A worker has begun with the state of before, and goes on counting.
goes_on() { # WHAT
	await "$1: a worker has its state again" restored_after "$RESTORES"
	await "$1: it goes on counting" counts_beyond "$(counted)"
	await "$1: drey says that it runs" runs
	is "$(grep --count '^BAD ' "$LOG")" 0 "$1: each count is right"
	diag "$1: $(pause_ms) ms without a number"
}

note() {
	RESTORES=$(restores)
	JOB=$(status .jobId)
}

python_runs() { # COMPONENT
	# shellcheck disable=SC2016 # expanded in the Pod
	in_pod "$1" bash -c 'for process in /proc/[0-9]*; do readlink "$process/exe"; done' | grep --quiet /python3
}

says_why_it_is_not_held() {
	kubectl logs "$(pod jobmanager)" --container jobmanager | grep "its main() cannot be held"
}

values
check "helm install waits until the job runs" install "${WITH_PYTHON[@]}"
await "the launch is proven" runs
await "Python counts" counts_beyond 20
check "in a process beside the TaskManager's JVM" python_runs taskmanager
is "$(rest jobs/overview '[.jobs[].name] | join(" ")')" counter "the job has the name that Python gives it"
for component in taskmanager jobmanager; do
	note
	kill_jvm $component
	goes_on "the JVM of the $component was killed"
done
check "a savepoint" drey savepoint

note
check "helm upgrade to another version" upgrade "${WITH_PYTHON[@]}" --set-string image.tag=2
goes_on "an upgrade"
check "an upgrade: another job" test "$(status .jobId)" != "$JOB"
is "$(status .launch.restorePoint.kind)" savepoint "an upgrade: from a savepoint"

SURGE=(--set upgrade.strategy=surge)
check "helm upgrade to surge, which is an ordinary upgrade" upgrade "${WITH_PYTHON[@]}" "${SURGE[@]}" --set-string image.tag=2
await "the next version has taken the job" runs
note
owner=$(pod jobmanager)
check "helm upgrade to another version beside it" upgrade "${WITH_PYTHON[@]}" "${SURGE[@]}" --set-string image.tag=1
goes_on "a surge upgrade"
check "a surge upgrade: another Pod" test "$(pod jobmanager)" != "$owner"
check "a surge upgrade: another job" test "$(status .jobId)" != "$JOB"
is "$(status .launch.restorePoint.kind)" savepoint "a surge upgrade: from a savepoint"
is "$(status '"\(.owner.pod) \(.handover.state)"')" "$(pod jobmanager) done" "a surge upgrade: the new Pod is the owner"
check "a surge upgrade: drey handover says that it is done" drey handover
check "a surge upgrade: drey has said why main() is not held" says_why_it_is_not_held

note
check "drey suspend" drey suspend
await "the application is suspended" phase_is Suspended
stopped=$(counted)
check "drey resume" drey resume
goes_on "a suspension"
check "a suspension: not from the beginning" counts_beyond "$stopped"
check "helm test" helm test "$APPLICATION"
is "$(denied)" "" "nothing was asked for that the Roles do not allow"
diag "counted to $(counted), $(restores) times with the state of before"
e2e_end
