#!/usr/bin/env bash
#
# Transitions that are given up before the cut, with a real Kafka and without drey: the new side has written records into a transaction
# when its JobManager is killed, or all of it. The old side goes on; nothing is lost or doubled. How long a reader with read_committed
# waits for the end of that transaction.
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

timeout_ms=15000 # of the transactions of the side that is given up
look_ms=10000    # how often Kafka looks for those that have timed out (transaction.abort.timed.out.transaction.cleanup.interval.ms)

# Green has written at and above the cut, and there is no checkpoint that would commit it. Blue is open all the time.
green_writes() { # TRANSITION
	shadow "$1" blue green -D execution.checkpointing.interval=1h -- "timeout=$timeout_ms"
	choose_cut
	at green order armGreen "$CUT" "$1"
	await "green is armed" at green acked
	await "green writes at and above the cut" at green gates_are '.passedAbove > 100'
	await "it has crossed" at green crossed
}

# GAP: how long a reader waited, from the end of green on.
blue_goes_on() {
	at blue order open null
	await "blue is open, without a transition" at blue acked
	await "a reader gets on" readable_from "$((ended + 1000))"
	GAP=$(longest_gap "$ended")
}

# The longest time from the first record of one of green's transactions since WALL_MS to its abort.
open_ms() { # WALL_MS
	awk -v from="$1" '
		$1 < from || $2 !~ /^orders-green/ { next }
		$3 == "Ongoing" { began[$2] = $1 }
		$3 == "CompleteAbort" && $2 in began && $1 - began[$2] > longest { longest = $1 - began[$2] }
		END { print longest + 0 }' "$WORLD/transactions"
}

e2e_begin gate_kafka_abort
sides_begin
at blue launch open ''
await "blue writes" readable_from 1
await "blue is open" at blue acked

green_writes h1
ended=$(now_ms)
kill -KILL "$(at green jm_pid)"
blue_goes_on
diag "green's JobManager is killed, and its TaskManager ends the tasks: a reader waited for $GAP ms"
check "that is less than the timeout of the transactions" test "$GAP" -lt $((timeout_ms - 2000))
at green side_kill

armed=$(now_ms)
green_writes h2
ended=$(now_ms)
at green side_kill
blue_goes_on
open=$(open_ms "$armed")
diag "all of green is killed: a reader waited for $GAP ms; its transactions were open for $open ms, and their timeout is $timeout_ms ms"
check "nobody ended them before their timeout" test "$open" -gt $((timeout_ms - 1000))
check "Kafka did when it looked next" test "$open" -lt $((timeout_ms + look_ms + 4000))
is "$(grep -c ' green$' "$WORLD/committed")" 0 "nothing of green can be read"
check "although it was written" grep -q ' green$' "$WORLD/uncommitted"
is "$(at blue restarts)" 0 "blue has not noticed"

: >"$WORLD/stop"
await "all of the input is in the output" all_is committed
is "$(output_verdict)" "lost 0 doubled 0 wrong 0" "each record is there once, and counted with the whole state"
e2e_end
