# shellcheck shell=bash disable=SC2034,SC2119,SC2154
#
# kafka_world.sh - a Kafka job with a gate (tests/gate/kafka/KafkaJob.java), and what is around it: tests/gate/kafka/KafkaWorld.java,
# which writes the input and reads the output. Sourced after tests/e2e/tap.sh and kafka.sh.
#
#   world_needs_kafka           skips the test if there is no Kafka
#   world_begin                 makes $WORLD/job.jar, and $WORLD/usrlib with the jars that it needs beside it; starts Kafka and the
#                               world, whose files are in $WORLD, as KafkaWorld.java describes them: the input stops while `hold`
#                               is there, and ends with `stop`
#   readable_from MS            each partition of the output has a record with a time at or above that, for a reader with read_committed
#   different FILE              how many different records are in `committed` or `uncommitted`
#   all_is committed|uncommitted   all of the input, which has ended or is held, is in that file
#   input_end                   how many records are in the input; fails while they become more
#   output_verdict              "lost N doubled N wrong N" of the whole output; wrong are those whose count is another one
#   longest_gap WALL_MS         the longest time in which a partition of the output had nothing new for a reader since then; ms

WORLD=''
RATE=${RATE:-400} # records a second

world_needs_kafka() {
	kafka_find && return
	[ -z "${DREY_TEST_REQUIRE:-}" ] || die 1 "Kafka is not to be had, and DREY_TEST_REQUIRE is set"
	echo "1..0 # SKIP Kafka is not to be had"
	exit 0
}

world_begin() {
	WORLD=$RUN/world
	check "the job and the world compile" world_compile
	kafka_up "$RUN/kafka"
	kafka_java
	spawn world "${KAFKA_JAVA[@]/#-Xmx256m/-Xmx128m}" -cp "$WORLD/classes:$KAFKA/lib/*" dev.drey.gate.KafkaWorld \
		"$KAFKA_BOOTSTRAP" "$WORLD" "$RATE"
}

world_compile() {
	local connector=flink-2
	mkdir -p "$WORLD/usrlib"
	[[ $FLINK_VERSION != 1.* ]] || connector=flink-1
	FLINK_HOME='' "$TOP/java/build.sh" gate "$WORLD/usrlib/gate.jar" || return 1 # the jar that runs with every line
	javac -nowarn -Xlint:-options -cp "$WORLD/usrlib/gate.jar:$KAFKA/$connector/*:$FLINK/lib/*" -d "$WORLD/classes" \
		"$TOP/tests/gate/kafka/KafkaJob.java" || return 1
	(cd "$WORLD/classes" && jar --create --file "$WORLD/job.jar" dev) || return 1
	ln -s "$KAFKA/$connector"/*.jar "$WORLD/usrlib/"
	javac -nowarn -cp "$WORLD/classes:$KAFKA/lib/*" -d "$WORLD/classes" "$TOP/tests/gate/kafka/KafkaWorld.java"
}

readable_from() { # TIME_MS
	awk -v from="$1" '$4 >= from { in_partition[$2] = 1 } END { exit length(in_partition) < 4 }' "$WORLD/committed"
}

different() { # committed|uncommitted
	awk '!($3 in seen) { seen[$3] = 1; n++ } END { print n + 0 }' "$WORLD/$1"
}

all_is() { # committed|uncommitted
	[ "$(different "$1")" -eq "$(input_end)" ]
}

input_end() {
	if [ -e "$WORLD/hold" ]; then
		tail -n 2 "$WORLD/group" | awk 'NR == 1 { before = $3 } NR == 2 { print $3; exit $3 != before }'
	else
		cat "$WORLD/produced"
	fi
}

output_verdict() {
	awk -v keys=64 -v n="$(input_end)" '
		{ count[$3]++; if ($5 != int($3 / keys) + 1) wrong++ }
		END {
			for (id = 0; id < n; id++) { if (!(id in count)) lost++; else doubled += count[id] - 1 }
			printf "lost %d doubled %d wrong %d\n", lost, doubled, wrong
		}' "$WORLD/committed"
}

longest_gap() { # WALL_MS
	awk -v from="$1" '
		$1 >= from { before = $2 in last ? last[$2] : from; if ($1 - before > longest) longest = $1 - before; last[$2] = $1 }
		END { print longest + 0 }' "$WORLD/committed"
}
