#!/usr/bin/env bash
#
# A job that is a script of SQL, run by Flink's own SqlDriver as in examples/sql.yaml: it starts, an upgrade to the same script
# restores its state, and `drey check` compares another script with that state.
#
# runs in: all on 2.3.0

# shellcheck disable=SC2119 # lib.sh has functions whose arguments are optional
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"
# shellcheck source=tests/e2e/check_lib.sh
. "$E2E_DIR/check_lib.sh"

case ${FLINK_VERSION:-2.3.0} in
1.*)
	echo "1..0 # SKIP Flink runs scripts of SQL as applications since 2.0"
	exit 0
	;;
esac

sql_jars() {
	table_jars && mkdir -p "$RUN/flink/opt" && cp "$("$TOP/tools/get-flink.sh" --plugin flink-sql-gateway "$FLINK_VERSION")" "$RUN/flink/opt/"
}

script() { # QUERY
	cat <<-SQL
		SET 'pipeline.name' = 'orders';
		CREATE TABLE orders (customer INT, amount INT) WITH ('connector' = 'datagen',
		  'rows-per-second' = '100', 'fields.customer.min' = '1', 'fields.customer.max' = '9');
		CREATE TABLE counts (customer INT, total BIGINT) WITH ('connector' = 'blackhole');
		INSERT INTO counts $1;
	SQL
}

QUERY='SELECT customer, COUNT(*) FROM orders GROUP BY customer'
e2e_begin sql
held_jar
check "Flink's SQL is there" sql_jars
export FLINK_OPT_DIR=$RUN/flink/opt
drey_conf
DREY_CONF[flink.jobClass]=org.apache.flink.table.runtime.application.SqlDriver
DREY_CONF[flink.arguments]=$(yaml_list --script "$(script "$QUERY")")
DREY_CONF[generation]=g1
DREY_CONF[onSigterm]=upgrade
write_drey_yaml
start_tm_pod
start_drey --grace 120
MUST_LIVE=(jm tm)
await "the script runs" phase_is Running
await "the launch is proven" status_is .launch.proven
is "$(rest jobs/overview '[.jobs[] | "\(.name) \(.state)"] | join(",")')" "orders RUNNING" "Flink has one job, with the name that the script gives it"

check_new -- --script "$(script "$QUERY")"
is "$STATUS" 0 "the same script fits"
check "what has state is counted" grep --quiet --extended-regexp '[1-9][0-9]* are in the snapshot, 0 are new' "$RUN/check"
check_new -- --script "$(script 'SELECT customer, CAST(amount AS BIGINT) FROM orders')"
is "$STATUS" 4 "a script that counts no more is refused"

# another generation of the same query
job=$(status .jobId)
end_drey TERM
saved=$(find "$RUN/sp" -maxdepth 1 -name "savepoint-${job:0:6}-*")
check "an upgrade takes a savepoint" verify "$saved"
DREY_CONF[generation]=g2
DREY_CONF[flink.arguments]=$(yaml_list --script "$(script "$QUERY")-- a comment")
start_drey --grace 120
await "the next version of the script runs" runs_after "$job"
is "$(checkpoints .latest.restored.external_path | xargs basename)" "${saved##*/}" "from this savepoint"
check "and drey has verified it" status_is .launch.restoreVerified
e2e_end
