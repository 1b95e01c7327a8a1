#!/usr/bin/env bash
#
# Bounds of the vertices that others set through Flink's REST API, with Flink's own high availability on Kubernetes: Flink keeps them
# with the job. A JobManager that was killed continues with them, and drey leaves them alone; a launch with a new job id begins
# with the job's own.

# shellcheck disable=SC2119 # lib.sh has functions whose arguments are optional
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/e2e/elastic_lib.sh
. "$E2E_DIR/elastic_lib.sh"
# shellcheck source=tests/api/lib.sh
. "$TOP/tests/api/lib.sh"
# shellcheck source=tests/api/ha_lib.sh
. "$TOP/tests/api/ha_lib.sh"

e2e_begin ha-bounds
api_begin ha-bounds
KUBE_LINES=$(adaptive_lines)
DREY_CONF[attempts.backoffFirst]=200ms
ha_begin
sed -i 's/numberOfTaskSlots: 1/numberOfTaskSlots: 4/' "$RUN/conf/config.yaml"
start_tm_pod
start_drey
MUST_LIVE=(jm tm)
await "the job is proven" status_is .launch.proven
job=$(status .jobId)
check "an autoscaler asks for more" put_bounds 3
await "the job runs with it" runs_with 3

kill -KILL "$(jm_pid)"
await "the JobManager was killed: the job runs again" status_is '.phase == "Running" and .launch.number == 2'
is "$(status .jobId)" "$job" "under the same id"
await "with the same bounds" runs_with 3
check "which Flink has kept" has_bound 3
check "of which drey knows nothing" status_is '.parallelism == null'
check "no state is lost" continues

await "it is proven" status_is .launch.proven
check "drey restart" drey restart --timeout 120s
check "has another job id" test "$(status .jobId)" != "$job"
is "$(parallelism)" 1 "and begins with the job's own parallelism"
check "no state is lost" continues
e2e_end
