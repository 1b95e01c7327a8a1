#!/usr/bin/env bash
#
# `drey check` for jobs of the Table API, whose operators have no uids: Flink makes their ids from the shape of the plan. The same
# query fits, one of another shape does not, whoever executes the job.
#
# runs in: all

# shellcheck disable=SC2119 # lib.sh has functions whose arguments are optional
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"
# shellcheck source=tests/e2e/check_lib.sh
. "$E2E_DIR/check_lib.sh"

# A job that executes like this runs; the next version of it is checked.
runs() { # LAST
	DREY_CONF[flink.jobClass]=drey.TableJob
	DREY_CONF[flink.arguments]=$(yaml_list --last "$1")
	DREY_CONF[generation]=g1
	write_drey_yaml
	start_drey
	MUST_LIVE=(jm tm)
	await "the job runs" phase_is Running
	await "the launch is proven" status_is .launch.proven
}

e2e_begin check-table
case $FLINK_VERSION in
1.*) named='operator \(id [0-9a-f]{32}' ;; # its snapshots have no names
*) named="operator '[^']*GroupAggregate.*" ;;
esac
held_jar
check "the Table API is there" table_jars
"$TOP/tests/job/build.sh" "$RUN/flink" "$RUN/flink/usrlib/table.jar" TableJob || exit 1
drey_conf
start_tm
for last in insert datastream; do
	diag "executed by $last"
	runs "$last"
	job=$(job_id)
	check_new -- --last "$last"
	is "$STATUS" 0 "the same query fits"
	check "all that has state is counted" grep --quiet --extended-regexp '[1-9][0-9]* are in the snapshot, 0 are new' "$RUN/check"
	check_new -- --last "$last" --query "SELECT customer, CAST(amount AS BIGINT) FROM orders"
	is "$STATUS" 4 "a query that counts no more is refused"
	check "what has no place is named" grep --quiet --extended-regexp "$named, .* of state\) is not in the new job" "$RUN/check"
	check_new -- --last "$last" --query "SELECT nothing FROM orders"
	is "$STATUS" 4 "so is one that Flink cannot read"
	check "in Flink's words" says "Column 'nothing' not found in any table"
	is "$(job_id)" "$job" "the job has run on all the time"
	check "drey cancel" drey cancel
	end_drey TERM
	rm -rf "$RUN/state" "$RUN/ck"/* "$RUN/ck/.drey"
done
e2e_end
