#!/usr/bin/env bash
#
# What sides must not share, with a real Kafka and without drey: the new side's sink has the transactional prefix of the old one, its
# uid, or both. Each fences the producers of the old side, whose tasks fail; a uid and a prefix of its own do not. And once nothing
# fails, and records are lost: the fenced transaction was waiting for its checkpoint. A slow side sets the offsets of the group back.
#
# runs in: all

# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"
# shellcheck source=tests/servers/kafka.sh
. "$(dirname "${BASH_SOURCE[0]}")/../servers/kafka.sh"
# shellcheck source=tests/servers/kafka_world.sh
. "$(dirname "${BASH_SOURCE[0]}")/../servers/kafka_world.sh"
# shellcheck source=tests/e2e/sides_lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/sides_lib.sh"

# Green runs from a savepoint of blue, shut: it writes nothing.
green_beside_blue() { # TRANSITION [NAME=VALUE...]
	check "$1: a savepoint of blue" at blue savepoint savepoints
	before=$(at blue restarts)
	lines=$(fenced_lines)
	at green launch closed "$1" --fromSavepoint "$(cat "$BASE/blue/savepoint")" --allowNonRestoredState -- "${@:2}"
	await "green runs from it" at green acked
}

has_failed() { # RESTARTS_BEFORE
	[ "$(restarts)" -gt "$1" ]
}

# Lines of blue's TaskManager that say so.
fenced_lines() {
	grep -cE 'ProducerFencedException|InvalidProducerEpochException' "$BASE/blue/log/tm.log"
}

fails_because_of() { # TRANSITION [NAME=VALUE...]
	green_beside_blue "$@"
	await "blue's tasks fail" at blue has_failed "$before"
	check "because its producers were fenced" test "$(fenced_lines)" -gt "$lines"
	at green side_kill
	await "blue writes again" readable_from "$(now_ms)"
}

completed_checkpoints() { # AT_LEAST
	gates_are "([.snapshots[] | select(.completed)] | length) >= $1"
}

# Prints how often, and by how much at most; 1 if never.
went_back() {
	awk 'NR > 1 && $2 < before { back++; if (before - $2 > most) most = before - $2 } { before = $2 }
		END { printf "%d times, by %d records at most\n", back, most; exit !back }' "$WORLD/group"
}

written_from() { # TIME_MS
	awk -v from="$1" '$4 >= from { found = 1 } END { exit !found }' "$WORLD/uncommitted"
}

# Its result is asked for: a JobManager ends only when the results of all requests were, or after five minutes.
checkpoint_now() {
	local trigger
	trigger=$(rest_send POST "jobs/${SIDE_LAUNCH[$SIDE]}/checkpoints" '{}' | jq -r '."request-id"') || return
	wait_quietly "$WAIT_S" rest "jobs/${SIDE_LAUNCH[$SIDE]}/checkpoints/$trigger" '.operation.checkpointId'
}

e2e_begin gate_kafka_same
sides_begin
at blue launch open ''
await "blue writes" readable_from 1
await "blue is open" at blue acked

green_beside_blue own pause=10
await "green has three checkpoints" at green completed_checkpoints 3
is "$(at blue restarts)" "$before" "with a uid and a prefix of its own green does not disturb blue"
await "green, which is slow, sets the group's offsets back" went_back
diag "they went back $(went_back), at $RATE records a second"
at green side_kill

fails_because_of prefix prefix=orders-blue
fails_because_of uid uid=output-blue
fails_because_of both uid=output-blue prefix=orders-blue
: >"$WORLD/hold"
await "all of the input is in the output" all_is committed
is "$(output_verdict)" "lost 0 doubled 0 wrong 0" "each record is there once: blue has written it again"

# ---- what is lost: green fences a transaction of blue that waits for its checkpoint, and has no record of blue's next one to do so

check "blue is stopped with a savepoint" at blue savepoint stop
await "its JobManager ends" at blue jm_ended
at blue launch open '' --fromSavepoint "$(cat "$BASE/blue/savepoint")" -D execution.checkpointing.interval=1h
await "it runs again, with a checkpoint each hour" at blue acked
rm "$WORLD/hold"
await "it writes" written_from "$(now_ms)"
check "a savepoint, with which nothing is committed" at blue savepoint savepoints
seed=$(cat "$BASE/blue/savepoint")
await "it writes on" written_from "$(now_ms)"
: >"$WORLD/hold"
await "all of the input is written" all_is uncommitted
check "another savepoint" at blue savepoint savepoints
at green launch closed loss --fromSavepoint "$seed" --allowNonRestoredState -- prefix=orders-blue
await "green runs from the first one, with blue's prefix" at green acked
at green side_kill
lines=$(fenced_lines)
check "a checkpoint of blue, which commits" at blue checkpoint_now
check "one transaction was fenced" test "$(fenced_lines)" -gt "$lines"
rm "$WORLD/hold"
: >"$WORLD/stop"
await "the input ends" test -s "$WORLD/produced"
await "all of it is written" all_is uncommitted
check "blue is stopped with a savepoint" at blue savepoint stop
await "its JobManager ends" at blue jm_ended
wait_quietly 2 all_is committed
diag "$(output_verdict), and blue has not failed"
check "records are lost" not all_is committed
e2e_end
