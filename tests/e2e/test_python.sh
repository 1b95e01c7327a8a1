#!/usr/bin/env bash
#
# A job in Python, run by Flink's own PythonDriver as in examples/pyflink.yaml, with a function that Python workers run: it starts,
# survives the death of the JobManager, and an upgrade restores its state.
#
# runs in: all on 2.3.0

# shellcheck disable=SC2119 # lib.sh has functions whose arguments are optional
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"
# shellcheck source=tests/e2e/check_lib.sh
. "$E2E_DIR/check_lib.sh"

python=$("$TOP/tools/get-pyflink.sh" "$FLINK_VERSION") || die 1 "there is no Python with apache-flink: see above"

# What Flink's own image has.
python_jars() {
	local home
	home=$("$python" -c 'import os, pyflink; print(os.path.dirname(pyflink.__file__))') &&
		table_jars && mkdir -p "$RUN/flink/opt" && cp "$home/opt/flink-python-$FLINK_VERSION.jar" "$RUN/flink/opt/"
}

script() { # COMMENT
	cat >"$RUN/flink/usrlib/job.py" <<-PYTHON
		# $1
		from pyflink.table import DataTypes, EnvironmentSettings, TableEnvironment
		from pyflink.table.udf import udf

		@udf(result_type=DataTypes.STRING())
		def name(customer: int) -> str:
		    return f'customer {customer}'

		t = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
		t.get_config().set('pipeline.name', 'orders')
		t.create_temporary_function('name', name)
		t.execute_sql("""CREATE TABLE orders (customer INT) WITH ('connector' = 'datagen',
		    'rows-per-second' = '20', 'fields.customer.min' = '1', 'fields.customer.max' = '9')""")
		t.execute_sql("CREATE TABLE counts (customer STRING, total BIGINT) WITH ('connector' = 'blackhole')")
		t.execute_sql('INSERT INTO counts SELECT name(customer), COUNT(*) FROM orders GROUP BY name(customer)')
	PYTHON
}

# Processes of this run that run functions of the job.
python_workers() {
	run_pids 'pyflink[.]fn_execution' | grep --quiet .
}

e2e_begin python
held_jar
check "Flink's Python is there" python_jars
script 'the first version'
run_conf <<-CONF
	python.executable: $python
	python.client.executable: $python
	taskmanager.memory.managed.consumer-weights: "OPERATOR:70,STATE_BACKEND:70,PYTHON:30"
CONF
export FLINK_OPT_DIR=$RUN/flink/opt # as bin/config.sh does
drey_conf
DREY_CONF[flink.jobClass]=org.apache.flink.client.python.PythonDriver
DREY_CONF[flink.jars]=$(yaml_list "file://$RUN/flink/opt/flink-python-$FLINK_VERSION.jar")
DREY_CONF[flink.arguments]=$(yaml_list -py "$RUN/flink/usrlib/job.py")
DREY_CONF[generation]=g1
DREY_CONF[onSigterm]=upgrade
DREY_CONF[check.graph]=false
write_drey_yaml
start_tm_pod
start_drey --grace 120
MUST_LIVE=(jm tm)
await "the job runs" phase_is Running
await "the launch is proven" status_is .launch.proven
is "$(rest jobs/overview '[.jobs[] | "\(.name) \(.state)"] | join(",")')" "orders RUNNING" "Flink has one job, with the name that the script gives it"
await "Python workers run its function" python_workers

job=$(status .jobId)
kill -KILL "$(jm_pid)"
await "after kill -9 the job runs again" runs_after "$job"
check "drey has verified the restore" status_is .launch.restoreVerified

job=$(status .jobId)
end_drey TERM
saved=$(find "$RUN/sp" -maxdepth 1 -name "savepoint-${job:0:6}-*")
check "an upgrade takes a savepoint" verify "$saved"
DREY_CONF[generation]=g2
script 'the second version'
start_drey --grace 120
await "the next version runs" runs_after "$job"
is "$(checkpoints .latest.restored.external_path | xargs basename)" "${saved##*/}" "from this savepoint"
check "and drey has verified it" status_is .launch.restoreVerified
e2e_end
