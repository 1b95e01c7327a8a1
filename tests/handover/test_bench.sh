#!/usr/bin/env bash
#
# The bench for hand-overs without a hand-over: an ordinary upgrade between two Pods, one after the other, with a real Flink each.
# The judge finds nothing lost and nothing doubled, and how long nothing was written; the observer sees both.
#
# runs in: all

# shellcheck disable=SC2317 # functions that are waited for
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/api/lib.sh
. "$TOP/tests/api/lib.sh"
# shellcheck source=tests/handover/lib.sh
. "$TOP/tests/handover/lib.sh"

handover_begin bench none
for t in one two; do
	template $t
	template_keys $t onSigterm=upgrade kubernetes.owner=none
done
: >"$RUN/templates/two/proxied"
start_observer
start_tm tm-1 127.0.1.2 one
start_pod first 127.0.0.2 one
MUST_LIVE=(first tm-1 observer)
await "the job of the first Pod runs" pod_phase first Running
await "it writes" has_written one 200
await "the launch is proven" pod_is first .launch.proven
check "the readiness probe succeeds" pod_ready first
await "the owner of the leader lock is known" pod_log first "leader lock is known"

# with a TaskManager of its own, as another version has
MUST_LIVE=(observer)
check "the first Pod ends" end_pod first TERM
is "$(exit_status first)" 0 "with a savepoint"
check "so does its TaskManager" end_pod tm-1 TERM
start_tm tm-2 127.0.1.3 two
start_pod second 127.0.0.3 two
MUST_LIVE=(second tm-2 observer)
await "the job of the second Pod runs" pod_phase second Running
await "it writes" has_written two 200
check "through its proxy" grep --quiet "PATCH .*$APPLICATION-drey-journal" "$RUN/log/second.proxy.log"
faults second "status PATCH $APPLICATION-drey-journal 2 503"
check "whose faults are this Pod's alone: a savepoint" "$BUILD/drey" savepoint --config "$RUN/pods/second/drey.yaml"
is "$(grep -c "$APPLICATION-drey-journal.* status 503" "$RUN/log/second.proxy.log")" 2 "two writes of the journal were refused"
MUST_LIVE=(observer)
check "the second Pod ends, too" end_pod second TERM
check "the observer ends" end_observer

check "nothing is lost or doubled" judge -v ended=1 -v splits=2
diag "$(verdict 'tojson')"
diag "$(gap_parts)"
is "$(verdict '.turns | tojson')" '["one","two"]' "one version wrote after the other"
check "the interruption is the longest time without a record" test "$(verdict .longestMs)" = "$(verdict '.handovers[0].gapMs')"
check "no TaskManager was at another JobManager" nobody_astray
check "never did two jobs run" one_runs
is "$(observed 'select(.what == "end") | .seen | map_values(. > 3)')" '{"one":true,"two":true}' "the observer has seen both"
is "$(api_denied)" "" "nothing was asked for that the Role does not allow"
e2e_end
