#!/usr/bin/env bash
#
# Two dreys of one application, and Flinks that are timed: does a job ever run twice? `fencing: strict` with an owner that
# is cut off, an agent that is stopped, and a Flink that is stopped as well; the default with a reachable API server. With
# the Role of the chart, against a real API server; a script replaces Flink.
#
# runs in: all

# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/api/lib.sh
. "$TOP/tests/api/lib.sh"

api_begin fencing
# shellcheck source=tests/api/client.sh
. "$TOP/tests/api/client.sh"
# shellcheck source=tests/api/journal_lib.sh
. "$TOP/tests/api/journal_lib.sh"

flink_of() { # POD
	pgrep -P "${POD_PID[$1]}" -x sleep
}

# When a process has gone, in 10 ms since the machine was started; its start is in the same unit.
watch_end() { # POD
	local pid
	pid=$(flink_of "$1")
	spawn "watch-$1" python3 -c '
import os, select, sys, time
fd = os.pidfd_open(int(sys.argv[1]))
select.select([fd], [], [])
open(sys.argv[2], "w").write(str(int(time.clock_gettime(time.CLOCK_BOOTTIME) * 100)))' "$pid" "$RUN/$1.end"
}

# Not below 0: so long both were there.
overlap_ms() { # POD POD
	local end begin
	end=$(cat "$RUN/$1.end")
	begin=$(sed 's/.*) //' "/proc/$(flink_of "$2")/stat" | cut -d ' ' -f 20)
	echo "# the Flink of $1 had ended $(((begin - end) * 10)) ms before that of $2 was started" >&3
	if [ "$end" -gt "$begin" ]; then echo $(((end - begin) * 10)); else echo 0; fi
}

proxied() { # POD LINE...
	POD_KUBECONFIG=$PROXY_KUBECONFIG pod_conf "$@"
}

agent_of() { # POD
	pgrep -P "${POD_PID[$1]}" -x drey
}

pod_gone_by_force() { # POD: whatever is stopped goes as well
	kill -KILL "${POD_PID[$1]}"
	pod_gone "$1"
}

exec 3>&1 # what is said in a substitution
proxy_begin
proxy_faults

# ---- strict: the owner is cut off ----------------------------------------------------------------------

proxied a 'fencing: strict'
pod_start a
await "the first one starts Flink" launched 1
await "on record, with its writer" journal_is '.launches[0].startedUnixMs != null and (.launches[0].writer | startswith("orders-a/"))'
watch_end a
proxy_faults 'hang . . 0'
pod_conf b 'fencing: strict'
pod_start b
await "the second one waits for it" pod_says b "may still be running, since its end was not observed"
is "$(launches)" 1 "and starts nothing"
await "the one that is cut off ends its Flink" test -s "$RUN/a.end"
check "and says why" pod_log a 'fencing is strict'
await "the second one starts its own" launched 2
is "$(overlap_ms a b)" 0 "the job has never run twice: milliseconds"
proxy_faults
await "the API server is reached again: the first one is fenced" pod_is a '.cause == "JournalTaken"'
pod_kill_agent a
await "and so is the agent after it" pod_is a '.cause == "JournalTaken"'
check "by the note" test -s "$RUN/a/state/fenced"
pod_gone_by_force a

# ---- strict: the agent is stopped ----------------------------------------------------------------------

watch_end b
kill -STOP "$(agent_of b)"
proxied c 'fencing: strict'
pod_start c
await "agent stopped: drey-init ends Flink" test -s "$RUN/b.end"
check "and says why" pod_log b 'the lease has expired'
await "the third one starts its own" launched 3
is "$(overlap_ms b c)" 0 "the job has never run twice: milliseconds"
pod_gone_by_force b

# ---- strict: cut off, and agent and Flink are stopped --------------------------------------------------

watch_end c
proxy_faults 'hang . . 0'
kill -STOP "$(flink_of c)" "$(agent_of c)"
pod_conf d
pod_start d
await "Flink stopped: it is ended all the same" test -s "$RUN/c.end"
await "the fourth one starts its own" launched 4
is "$(overlap_ms c d)" 0 "the job has never run twice: milliseconds"
pod_gone_by_force c
proxy_faults

# ---- the default ----------------------------------------------------------------------------------------

watch_end d
pod_conf e
pod_start e
await "default: the one that is overtaken ends its Flink" test -s "$RUN/d.end"
await "the fifth one starts its own" launched 5
is "$(overlap_ms d e)" 0 "the API server is reached: the job has never run twice: milliseconds"
e2e_end
