# shellcheck shell=bash disable=SC2034
#
# kafka.sh - a real Kafka on this machine: one process that is broker and controller (KRaft). Sourced after tests/e2e/lib.sh, whose
# run it belongs to; it listens on 127.0.0.1, on reserved ports, and its data are in a directory of the run.
#
#   kafka_find      sets KAFKA (tools/get-servers.sh): jars of broker and clients in lib/, of Flink's connector in flink-1/ and
#                   flink-2/; fails if it is not to be had
#   kafka_up DIR    KAFKA_BOOTSTRAP (HOST:PORT). With the same DIR again: the same data on the same ports

kafka_find() {
	KAFKA=${KAFKA:-$("$TOP/tools/get-servers.sh" kafka)} && [ -n "$KAFKA" ]
}

kafka_java() { # sets KAFKA_JAVA: a JVM with Kafka's jars, without a class
	KAFKA_JAVA=("${JAVA_HOME:+$JAVA_HOME/bin/}java" -Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1
		-Dorg.slf4j.simpleLogger.{defaultLogLevel=warn,showDateTime=true,dateTimeFormat=HH:mm:ss.SSS}
		-Dorg.slf4j.simpleLogger.log.{org.apache.,}kafka.coordinator.transaction=info -cp "$KAFKA/lib/*")
}

# One copy of everything, and few partitions of the topics that Kafka makes for itself. The rest is as by default.
kafka_configure() { # DIR
	local broker controller
	take_port broker
	take_port controller
	cat >"$1/server.properties" <<-END
		process.roles=broker,controller
		node.id=1
		controller.quorum.voters=1@127.0.0.1:$controller
		controller.listener.names=CONTROLLER
		listeners=PLAINTEXT://127.0.0.1:$broker,CONTROLLER://127.0.0.1:$controller
		advertised.listeners=PLAINTEXT://127.0.0.1:$broker
		log.dirs=$1/data
		auto.create.topics.enable=false
		offsets.topic.replication.factor=1
		offsets.topic.num.partitions=2
		transaction.state.log.replication.factor=1
		transaction.state.log.min.isr=1
		transaction.state.log.num.partitions=2
		group.initial.rebalance.delay.ms=0
	END
	kafka_java
	"${KAFKA_JAVA[@]}" kafka.tools.StorageTool format --config "$1/server.properties" --cluster-id DreyDreyDreyDreyDreyQQ \
		>"$RUN/log/kafka-format.log" 2>&1
}

kafka_up() { # DIR
	local dir=$1
	mkdir -p "$dir"
	dir=$(cd "$dir" && pwd)
	[ -f "$dir/server.properties" ] || kafka_configure "$dir" || die 1 "Kafka cannot be formatted: $RUN/log/kafka-format.log"
	KAFKA_BOOTSTRAP=$(sed -n 's/^advertised.listeners=PLAINTEXT:\/\///p' "$dir/server.properties")
	kafka_java
	spawn kafka "${KAFKA_JAVA[@]}" kafka.Kafka "$dir/server.properties"
	wait_until "Kafka listens" 60 kafka_listens || die 1 "Kafka has not started: $RUN/log/kafka.log"
}

kafka_listens() {
	(exec 3<>"/dev/tcp/127.0.0.1/${KAFKA_BOOTSTRAP##*:}") 2>/dev/null
}
