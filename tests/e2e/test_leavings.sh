#!/usr/bin/env bash
#
# A JobManager that is killed leaves 24 MB in io.tmp.dirs, which Flink has unpacked there: drey removes them. After KILLS=100
# kills there are no more than after the first; what the TaskManager has in the same directory stays.
#
# runs in: all

# shellcheck disable=SC2119 # lib.sh has functions whose arguments are optional
# shellcheck disable=SC2317 # functions are called by name
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"

KILLS=${KILLS:-100}

unpacked() {
	find "$RUN/tmp" -name 'flink-rpc-akka*.jar' | wc -l
}

has_open() { # PID
	find "/proc/$1/fd" -lname "$RUN/tmp/flink-rpc-akka*.jar" -printf '%l\n' | sort -u
}

kib() {
	du --summarize --block-size=1024 "$RUN/tmp" | cut -f1
}

is_settled() {
	phase_is Running && status_is .launch.proven && [ "$(unpacked)" -eq 2 ]
}

e2e_begin leavings
drey_conf
start_tm_pod
start_drey
MUST_LIVE=(jm tm)
await "the job runs, with a JobManager and a TaskManager that have unpacked a jar" is_settled
of_tm=$(has_open "$(tm_pid)")
first=$(kib)
for ((i = 1; i <= KILLS; i++)); do
	job=$(status .jobId)
	kill -KILL "$(jm_pid)"
	wait_quietly "$WAIT_S" runs_after "$job" || break
	wait_quietly "$WAIT_S" is_settled || break
done
is "$((i - 1))" "$KILLS" "kills, and after each of them the job runs and two jars are left"
check "the one of the TaskManager is one of them" test -n "$of_tm" -a -e "$of_tm"
diag "io.tmp.dirs had $first KiB before the first kill, and has $(kib)"
check "io.tmp.dirs has not grown by a jar" test "$(kib)" -lt $((first + 20000))
check "the state was continuous all the time" continuity
e2e_end
