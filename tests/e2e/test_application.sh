#!/usr/bin/env bash
#
# Ends told apart (Flink 2.3 and later): main() fails behind the job that it has submitted, and Flink cancels that job: failed attempts
# with the exception of main(), each from the newest checkpoint. A job that a person cancels in Flink is Cancelled.

# shellcheck disable=SC2119,SC2317 # optional arguments; functions that check calls
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"

case ${FLINK_VERSION:-2.3.0} in
1.* | 2.[0-2]*)
	echo "1..0 # SKIP Flink has applications since 2.3"
	exit 0
	;;
esac

log_has() { # REGEX
	grep -qE -- "$1" "$RUN/log/jm.log"
}

e2e_begin application
drey_conf --execute throw
start_tm_pod
start_drey
MUST_LIVE=(jm tm)
why='the application failed, so Flink cancelled its job: .*IllegalStateException: main\(\) has failed behind its job'
await "main() fails behind its job: a failed attempt" log_has "failed attempt: $why"
check "which is not taken for the wish of a person" not log_has 'cancelled from outside drey'
await "with what main() has thrown" status_is '.lastError | test("main\\(\\) has failed behind its job")'
await "and the job continues from its newest checkpoint" status_is '.launch.number >= 2 and .launch.proven'
continuity
end_drey TERM
await "drey has ended" drey_has_ended
MUST_LIVE=(tm)

# ---- and a person
drey_conf
start_drey
MUST_LIVE=(jm tm)
await "it runs" phase_is Running
await "and is proven" status_is .launch.proven
rest_send PATCH "jobs/$(status .jobId)?mode=cancel" >/dev/null
await "a job that a person cancels in Flink is Cancelled" phase_is Cancelled
check "from outside drey" status_is '.reason | test("cancelled from outside drey")'
e2e_end
