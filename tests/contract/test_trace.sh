#!/usr/bin/env bash
#
# The trace of a real agent is repeated by the life cycle of this build, and not by one that does something else. Without
# Flink: a script replaces it.

set -uo pipefail
# shellcheck source=tests/contract/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
contract_begin jq
CC=${CC:-cc}
REPLAY=$BUILD/tests/sim/replay
show=(out err log)

mkdir -p "$dir/ck" "$dir/sp"
take_port rest_port
checkpoints=file://$dir/ck
flink_is 'exit 1'
drey_yaml <<-'YAML'
	http: {port: 0}
	attempts: {max: 2, backoffFirst: 0}
	log: {level: debug}
YAML
# shellcheck disable=SC2119 # its arguments are optional
start_drey
wait_for phase_is Failed
result $? 'a Flink that never starts: Failed'
status 0 "$DREY" status --trace --config "$dir/drey.yaml"
ok 'an event with the phases' grep -q ' Launching -> Resolving  exited launchId=' "$dir/out"
ok 'and its effects' grep -q '^    tell attempt-failed$' "$dir/out"
ok 'at log.level: debug an event is a line' grep -q '"level":"debug","msg":"event".*"event":"exited launchId=' "$dir/log"
ok 'and an effect as well' grep -q '"level":"debug","msg":"effect".*"effect":"write-journal ' "$dir/log"

status 0 "$DREY" do-not-restart on --config "$dir/drey.yaml"
status 0 "$DREY" status --trace --json --config "$dir/drey.yaml"
ok 'a trace is saved' mv "$dir/out" "$dir/trace.json"
status 0 jq -e '.dropped == 0 and .begin.config and (.steps | length > 10)' "$dir/trace.json"
status 0 "$REPLAY" "$dir/trace.json"
ok 'it is repeated in all its steps' grep -qx "$(jq '.steps | length' "$dir/trace.json") steps are the same" "$dir/out"

# a life cycle that allows one attempt more
sed 's/failures >= config->max_attempts/failures > config->max_attempts/' agent/core/lifecycle/lifecycle_started.c >"$dir/changed.c"
read -r -a compiler <<<"$CC"
read -ra libs < <(pkg-config --libs libcurl yaml-0.1 libevent_core libcrypto expat)
ok 'another life cycle is built' "${compiler[@]}" -std=gnu11 -O1 -D_GNU_SOURCE -DDREY_VERSION='"test"' -Iagent -I. -w \
	-pthread -Wl,--gc-sections -o "$dir/replay" "$dir/changed.c" "$BUILD/obj/tests/trace/replay.o" "$BUILD/libdrey.a" "${libs[@]}"
status 1 "$dir/replay" "$dir/trace.json"
ok 'the step in which it differs is named' grep -q 'exited: the trace has Failed and .*, this code does Resolving and' "$dir/out"

jq '.dropped = 3 | .begin = null' "$dir/trace.json" >"$dir/late.json"
status 1 "$REPLAY" "$dir/late.json"
ok 'what is missing is said' grep -q 'the first 3 steps are not in the trace any more' "$dir/out"
end_drey
contract_end
