#!/usr/bin/env bash
#
# The gate (java/gate), without drey: the tests in tests/gate, with a MiniCluster for each side in one JVM; then a job with a gate
# in a JobManager and a TaskManager of their own, where the classes of the job are not Flink's.
#
#   SEED=N TURNS=N FLINK_VERSION=2.3.0 tests/e2e/test_gate.sh [PART]    more transitions with failures (2), only one part
#
# runs in: all

# shellcheck disable=SC2119 # lib.sh has functions whose arguments are optional
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"

job=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa01
first=1700000000000 # the time of number 0 (tests/gate/Stream.java)

table_jars() {
	local name
	mkdir -p "$RUN/table"
	for name in flink-table-api-java-uber flink-table-planner-loader flink-table-runtime flink-cep; do
		cp "$("$TOP/tools/get-flink.sh" --plugin "$name" "$FLINK_VERSION")" "$RUN/table/" || return 1
	done
}

gate_classes() {
	FLINK_HOME='' "$TOP/java/build.sh" gate "$RUN/gate.jar" || return 1 # the jar that runs with every line
	javac -nowarn -Xlint:-options -cp "$classpath" -d "$RUN/classes" "$TOP"/tests/gate/*.java || return 1
	cp -r "$TOP/tests/gate/META-INF" "$RUN/classes/"
	cat >"$RUN/classes/log4j2.properties" <<-END
		rootLogger.level = WARN
		rootLogger.appenderRef.file.ref = File
		appender.file.name = File
		appender.file.type = File
		appender.file.fileName = $RUN/log/minicluster.log
		appender.file.layout.type = PatternLayout
		appender.file.layout.pattern = %d{HH:mm:ss.SSS} %-5p %c{1} - %m%n
	END
}

# Its results are ours.
minicluster_tests() { # [PART]
	local line
	mkdir -p "$RUN/minicluster"
	while IFS= read -r line; do
		case $line in
		"not ok "*) tap_result 1 "${line#not ok * - }" ;;
		"ok "*) tap_result 0 "${line#ok * - }" ;;
		1..*) ;;
		*) echo "$line" ;;
		esac
	done < <(
		java -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xmx700m "-Dseed=${SEED:-$$}" "-Dturns=${TURNS:-2}" \
			"-Dfixtures=$TOP/tests/fixtures/gate" "-Ddrey=$BUILD/drey" ${KEEP_REPORTS:+"-Dkeep=$KEEP_REPORTS"} \
			--add-opens=java.base/java.util=ALL-UNNAMED --add-opens=java.base/java.lang=ALL-UNNAMED \
			-cp "$classpath" dev.drey.gate.GateTests "$RUN/minicluster" "$@" 2>&1
		echo "ended with status $?" >"$RUN/minicluster.status"
	)
	is "$(cat "$RUN/minicluster.status")" "ended with status 0" "the tests with MiniClusters have run to their end"
}

order() { # NUMBER WORD TOGGLE
	printf '{"schema": 1, "launch": "%s", "side": "green", "transition": "h1", "number": %d, "word": "%s", "toggle": %s}\n' \
		"$job" "$1" "$2" "$3" >"$RUN/gate/.order.json.test"
	mv "$RUN/gate/.order.json.test" "$RUN/gate/order.json"
}

start_gate_job() { # [OPTION...]
	start_bare_jm --job-id "$job" "$@" -D drey.side=green "-Ddrey.gate.directory=$RUN/gate" \
		--job-classname dev.drey.gate.GateJob -- "$RUN/passed"
}

report_is() { # JQ_CONDITION
	jq --exit-status "$1" "$RUN/gate/report.json" >/dev/null 2>&1
}

passed_more_than() { # LINES
	[ "$(wc -l <"$RUN/passed")" -gt "$1" ]
}

e2e_begin gate
mkdir -p "$RUN/gate"
: >"$RUN/passed"
classpath="$RUN/classes:$RUN/gate.jar:$RUN/table/*:$FLINK/lib/*"
check "the Table API is there" table_jars
check "the gate and its tests compile" gate_classes
minicluster_tests "$@"
[ $# -eq 0 ] || e2e_end

(cd "$RUN/classes" && jar --create --file "$RUN/flink/usrlib/job.jar" dev)
cp "$RUN/gate.jar" "$RUN/flink/usrlib/"
start_tm_pod
MUST_LIVE=(jm tm)
start_gate_job
await "without an order the report says so" report_is '.number == 0 and .launch == "'"$job"'" and .gates[0].running == 1'
order 1 closed null
await "the order reaches the subtask in its TaskManager" report_is '.number == 1 and .gates[0].acked == 1'
await "it holds back" report_is '.gates[0].withheldBelow > 500'
check "nothing has passed" test ! -s "$RUN/passed"
toggle=$(jq '.gates[0].maxSeen + 5000' "$RUN/gate/report.json")
order 2 armGreen "$toggle"
await "it is armed" report_is '.number == 2 and .gates[0].acked == 1 and .gates[0].subtasks[0].state == "armed"'
await "records above the cut pass" passed_more_than 500
await "the report has a completed checkpoint" report_is '[.gates[0].snapshots[] | select(.completed)] | length > 0'
kill -KILL "$(tm_pid)"
await "the TaskManager is killed; the next attempt is armed" report_is '.gates[0].acked == 1 and .gates[0].subtasks[0].attempt > 0'
lines=$(wc -l <"$RUN/passed")
await "its records pass" passed_more_than $((lines + 500))
is "$(awk -v t="$toggle" '$3 < t || $4 != "green"' "$RUN/passed" | wc -l)" 0 "none below the cut has passed"
check "the cut is where it was expected" test "$toggle" -gt "$first"

instance=$(jq -r .instance "$RUN/gate/report.json")
MUST_LIVE=(tm)
kill -KILL "$(jm_pid)"
await "the JobManager is killed" test -e "$RUN/jm.status"
MUST_LIVE=(jm tm)
start_gate_job --fromSavepoint "$(newest_retained "$job")"
await "a new one is given the order that is there" report_is '.instance != "'"$instance"'" and .number == 2 and .gates[0].acked == 1'
check "its counts are those of the checkpoint" report_is '.gates[0].withheldBelow > 500'
lines=$(wc -l <"$RUN/passed")
await "its records pass" passed_more_than $((lines + 500))
is "$(awk -v t="$toggle" '$3 < t' "$RUN/passed" | wc -l)" 0 "and still none below the cut"
order 3 finish "$toggle"
await "at the end all pass" report_is '.number == 3 and .gates[0].acked == 1 and .gates[0].subtasks[0].state == "finished"'
e2e_end
