#!/usr/bin/env bash
#
# What a container leaves in its termination message, as `kubectl describe pod` shows it. Without Flink: its place is
# taken by a script.

set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
BUILD=$(cd "${BUILD:-build}" && pwd)
dir=$(mktemp -d)
jm=''
trap '[ -z "$jm" ] || kill -KILL "$jm" 2>/dev/null; rm -rf "$dir"' EXIT
unset DREY_CONFIG DREY_INIT_FD
count=0
failed=0
command -v jq >/dev/null || { echo "1..0 # SKIP jq is missing" && exit 0; }

result() { # STATUS WHAT
	count=$((count + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $count - $2"
	else
		failed=$((failed + 1))
		echo "not ok $count - $2"
		sed 's/^/# words: /' "$dir/words"
		tail -n 5 "$dir/log" | sed 's/^/# log: /'
	fi
}

wait_for() { # CMD...
	local end=$((SECONDS + 60))
	until "$@" >/dev/null 2>&1; do
		[ "$SECONDS" -lt "$end" ] || return 1
		sleep 0.05
	done
}

phase_is() { # PHASE
	[ "$("$BUILD/drey" status --json --config "$dir/drey.yaml" 2>/dev/null | jq -r .phase)" = "$1" ]
}

begin() { # BODY_OF_FLINK [LINE_OF_YAML...]
	local body=$1
	shift
	rm -rf "$dir/state"
	mkdir -p "$dir/state" "$dir/ck" "$dir/sp"
	printf '#!/bin/sh\n%s\n' "$body" >"$dir/flink"
	chmod +x "$dir/flink"
	: >"$dir/words"
	cat >"$dir/drey.yaml" <<-YAML
		application: orders
		stateDirectory: $dir/state
		terminationMessage: $dir/words
		flink:
		  version: 2.3.0
		  command: [$dir/flink]
		  jobClass: example.Job
		  restPort: $port
		  checkpointDirectory: file://$dir/ck
		  savepointDirectory: file://$dir/sp
		http: {port: 0}
		attempts: {max: 2, backoffFirst: 0}
	YAML
	printf '%s\n' "$@" >>"$dir/drey.yaml"
	"$BUILD/drey-init" --agent -- "$BUILD/drey" run --config "$dir/drey.yaml" >"$dir/log" 2>&1 </dev/null &
	jm=$!
}

# The container ends; its status is in $status.
end() {
	kill -TERM "$jm" 2>/dev/null
	wait "$jm"
	status=$?
	jm=''
}

port=$((20000 + RANDOM % 10000))

begin 'exit 1'
wait_for phase_is Failed
result $? 'a Flink that never starts: Failed'
[ ! -s "$dir/words" ]
result $? 'no last words while the container runs'
end
jq -e '.phase == "Failed" and .application == "orders" and .launch == 2 and (.outcome | contains("2 failed attempts"))' \
	"$dir/words" >/dev/null && [ "$(wc -l <"$dir/words")" -eq 1 ]
result $? 'at its end the reason is in the termination message'

begin 'exec sleep 1000'
wait_for phase_is Launching
end
[ "$status" -eq 0 ] && [ ! -s "$dir/words" ]
result $? 'an end in the middle of a normal life needs no words'

begin 'exec sleep 1000' 'control: {directory: /nowhere}'
wait "$jm"
[ $? -eq 2 ] && jq -e '.error | contains("control.directory: /nowhere")' "$dir/words" >/dev/null
result $? 'drey cannot start: so it says'
jm=''

rm "$dir/words"
begin 'exit 1'
rm "$dir/words"
wait_for phase_is Failed
end
[ ! -e "$dir/words" ]
result $? 'a file that is not there is not made'

echo "1..$count"
[ "$failed" -eq 0 ]
