#!/usr/bin/env bash
#
# What a container leaves in its termination message, as `kubectl describe pod` shows it. Without Flink: its place is
# taken by a script.

set -uo pipefail
# shellcheck source=tests/contract/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
contract_begin jq
show=(words log)

begin() { # BODY_OF_FLINK [LINE_OF_YAML...]
	local body=$1
	shift
	rm -rf "$dir/state" "$dir/ck/.drey"
	mkdir -p "$dir/state"
	flink_is "$body"
	: >"$dir/words"
	drey_yaml <<-YAML
		terminationMessage: $dir/words
		http: {port: 0}
		attempts: {max: 2, backoffFirst: 0}
	YAML
	printf '%s\n' "$@" >>"$dir/drey.yaml"
	start_drey
}

begin 'exit 1'
wait_for phase_is Failed
result $? 'a Flink that never starts: Failed'
[ ! -s "$dir/words" ]
result $? 'no last words while the container runs'
end_drey
jq -e '.phase == "Failed" and .application == "orders" and .launch == 2 and (.outcome | contains("2 failed attempts"))' \
	"$dir/words" >/dev/null && [ "$(wc -l <"$dir/words")" -eq 1 ]
result $? 'at its end the reason is in the termination message'

begin 'exec sleep 1000'
wait_for phase_is Launching
end_drey
[ "$status" -eq 0 ] && [ ! -s "$dir/words" ]
result $? 'an end in the middle of a normal life needs no words'

begin 'exec sleep 1000' 'control: {directory: /nowhere}'
reap_drey
[ "$status" -eq 2 ] && jq -e '.error | contains("control.directory: /nowhere")' "$dir/words" >/dev/null
result $? 'drey cannot start: so it says'

rm "$dir/words"
begin 'exit 1'
rm "$dir/words"
wait_for phase_is Failed
end_drey
[ ! -e "$dir/words" ]
result $? 'a file that is not there is not made'

contract_end
