#!/usr/bin/env bash
#
# The gate between two topics of a real Kafka, without drey: two clusters read one topic with one group id and write one topic exactly
# once. A transition under load in which the TaskManagers of both sides are killed after they were armed, and the next one back. A
# reader with read_committed gets each record once. What a monitor of the group sees.
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

kill_taskmanager() { # SIDE
	kill -KILL "$(at "$1" tm_pid)"
}

is_armed_again() {
	gates_are '.acked == .parallelism and ([.subtasks[].attempt] | min) > 0'
}

# The old side ends behind the cut, the new one is alone.
hand_over() { # TRANSITION OLD NEW
	await "$2 has crossed" at "$2" crossed
	check "$2 is stopped with a savepoint" at "$2" savepoint stop
	await "its JobManager ends" at "$2" jm_ended
	check "it has ended behind the cut" at "$2" gates_are ".snapshots[-1].minWatermark >= $CUT"
	at "$3" order finish "$CUT" "$1"
	await "$3 finishes" at "$3" acked
	await "it has a checkpoint behind the cut" at "$3" gates_are "any(.snapshots[]; .completed and .minWatermark >= $CUT)"
	at "$3" order open null
	await "$3 is open" at "$3" acked
}

wrong_sides() { # OLD FROM_ID NEW
	awk -v old="$1" -v from="$2" -v new="$3" -v cut="$CUT" '$3 >= from && $6 != ($4 < cut ? old : new)' "$WORLD/committed" | wc -l
}

highest_id() {
	awk '$3 > id { id = $3 } END { print id + 0 }' "$WORLD/committed"
}

e2e_begin gate_kafka
sides_begin
at blue launch open ''
await "blue writes" readable_from 1
await "blue is open" at blue acked

# ---- a transition; both sides fail after they were armed

from=$(highest_id)
shadow h1 blue green
choose_cut
at green order armGreen "$CUT" h1
await "green is armed" at green acked
at blue order armBlue "$CUT" h1
await "blue is armed" at blue acked
is "$(at blue report '.gates[0].passedAbove')" 0 "the cut came in time"
kill_taskmanager green
kill_taskmanager blue
await "green is armed again" at green is_armed_again
await "blue is armed again" at blue is_armed_again
hand_over h1 blue green
await "green's records can be read" readable_from "$((CUT + 5000))"
is "$(wrong_sides blue "$from" green)" 0 "each record is written by its side"

# ---- and back: blue has had its prefix before

from=$(highest_id)
shadow h2 green blue
choose_cut
at blue order armGreen "$CUT" h2
await "blue, which is new, is armed" at blue acked
at green order armBlue "$CUT" h2
await "green, which is old, is armed" at green acked
armed=$(now_ms)
hand_over h2 green blue
await "blue's records can be read" readable_from "$((CUT + 5000))"
is "$(wrong_sides green "$from" blue)" 0 "each record is written by its side"
diag "a reader waited for $(longest_gap "$armed") ms at most, with a checkpoint each second"
is "$(at blue restarts)" 0 "blue has not failed"

: >"$WORLD/stop"
await "all of the input is in the output" all_is committed
is "$(output_verdict)" "lost 0 doubled 0 wrong 0" "each record is there once, and counted with the whole state"

# ---- what a monitor of the group has seen

diag "committed offsets: $(awk 'NR > 1 && $2 < before { back++; if (before - $2 > most) most = before - $2 } { before = $2 }
	END { printf "went back %d times, by %d records at most", back, most }' "$WORLD/group"), at $RATE records a second"
diag "lag: $(awk '$2 > 0 && $3 - $2 > most { most = $3 - $2 } END { print most + 0 }' "$WORLD/group") records at most"
is "$(awk '$4 != 0' "$WORLD/group" | wc -l)" 0 "the group never has a member"
e2e_end
