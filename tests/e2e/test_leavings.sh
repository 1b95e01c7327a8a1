#!/usr/bin/env bash
#
# A JobManager that is killed leaves 24 MB in io.tmp.dirs, in a directory that drey has made for this launch. The next launch
# removes it: after KILLS kills (3 by default; 100 by environment) there is no more than after the first one. Files of the
# TaskManager, of other processes and of Flink's distribution stay.
#
# runs in: all

# shellcheck disable=SC2119 # lib.sh has functions whose arguments are optional
# shellcheck disable=SC2317 # functions are called by name
# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"

KILLS=${KILLS:-3}

own_dirs() { # of all launches
	find "$RUN/tmp" -maxdepth 1 -name 'drey-*' ! -name '*-999999' -printf '%f\n' | sort
}

own_dir() { # of the launch that runs
	printf 'drey-%s-%s\n' "$(status .jobId)" "$(status .launch.number)"
}

unpacked() { # DIRECTORY: jars that Flink has unpacked there
	find "$1" -name 'flink-rpc-akka*.jar' | wc -l
}

kib() {
	du --summarize --block-size=1024 "$RUN/tmp" | cut -f1
}

distribution() { # each file of it
	(cd "$FLINK" && find . -type f -exec sha256sum {} + | sort)
}

is_settled() {
	phase_is Running && status_is .launch.proven && [ "$(own_dirs)" = "$(own_dir)" ]
}

e2e_begin leavings
distribution >"$RUN/distribution.before"
drey_conf
mkdir -p "$RUN/tmp/jm_other"
echo precious | tee "$RUN/tmp/jm_other/file" >"$RUN/tmp/flink-rpc-akka_other.jar"
start_tm_pod
start_drey
MUST_LIVE=(jm tm)
await "the job runs, and its launch has the only directory" is_settled
check "there Flink has unpacked its RPC" test "$(unpacked "$RUN/tmp/$(own_dir)")" -eq 1
check "and has its working directory" test -n "$(find "$RUN/tmp/$(own_dir)" -maxdepth 1 -name 'jm_*')"
is "$(rest jobmanager/config '.[] | select(.key == "io.tmp.dirs").value')" "$RUN/tmp/$(own_dir)" "as it was told"

# Not drey's, though it has such a name: there is no mark in it.
foreign=$RUN/tmp/drey-$(status .jobId)-999999
mkdir "$foreign"
echo precious >"$foreign/file"

first=$(kib)
for ((i = 1; i <= KILLS; i++)); do
	job=$(status .jobId)
	kill -KILL "$(jm_pid)"
	wait_quietly "$WAIT_S" runs_after "$job" || break
	wait_quietly "$WAIT_S" is_settled || break
done
is "$((i - 1))" "$KILLS" "kills; after each of them the job runs, and only its launch has a directory"
check "in it Flink has unpacked its RPC" test "$(unpacked "$RUN/tmp/$(own_dir)")" -eq 1
diag "io.tmp.dirs had $first KiB before the first kill, and has $(kib)"
check "io.tmp.dirs has not grown by half a jar" test "$(kib)" -lt $((first + 12000))
check "files of others stay" grep -qx precious "$foreign/file" "$RUN/tmp/jm_other/file" "$RUN/tmp/flink-rpc-akka_other.jar"
distribution >"$RUN/distribution.after"
check "Flink's distribution is as it was" cmp "$RUN/distribution.before" "$RUN/distribution.after"
check "drey has warned of nothing there" not grep -qE 'directory of a dead launch|io.tmp.dirs as configured' "$RUN/log/jm.log"
check "the state was continuous all the time" continuity
e2e_end
