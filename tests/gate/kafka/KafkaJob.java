package dev.drey.gate;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.MapFunction;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.serialization.SimpleStringSchema;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.connector.base.DeliveryGuarantee;
import org.apache.flink.connector.kafka.sink.KafkaRecordSerializationSchema;
import org.apache.flink.connector.kafka.sink.KafkaSink;
import org.apache.flink.connector.kafka.sink.KafkaSinkBuilder;
import org.apache.flink.connector.kafka.source.KafkaSource;
import org.apache.flink.connector.kafka.source.enumerator.initializer.OffsetsInitializer;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;

/**
 * A job as users have it: a topic with event time, keyed state, a gate, another topic exactly once.
 *
 * <pre>KafkaJob bootstrap=HOST:PORT [uid=SINK] [prefix=TRANSACTIONAL_ID] [timeout=MS] [naming=POOLING] [pause=MS]</pre>
 *
 * <p>Without uid and prefix the sink has those of its side. "ID TIME" of the topic "input" becomes "ID TIME NUMBER SIDE" in "output":
 * NUMBER counts the records of the ID's key, so it is right only if the state is that of all records before. With pause the job
 * waits for each record.
 */
public final class KafkaJob {
	static final int KEYS = 64;

	private KafkaJob() {}

	public static void main(String[] args) throws Exception {
		StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
		String side = DreySide.of(env);
		Map<String, String> options = new HashMap<>();
		for (String arg : args) {
			options.put(arg.split("=", 2)[0], arg.split("=", 2)[1]);
		}
		DataStream<String> numbered = env
				.fromSource(source(options), WatermarkStrategy.<String>forBoundedOutOfOrderness(Duration.ofMillis(100))
						.withTimestampAssigner((line, kafkaTime) -> field(line, 1)), "input")
				.uid("input")
				.map(pause(Long.parseLong(options.getOrDefault("pause", "0"))))
				.returns(Types.STRING)
				.uid("pause")
				.keyBy(line -> (int) (field(line, 0) % KEYS), Types.INT)
				.process(new Numbering(side))
				.uid("numbering");
		String uid = options.getOrDefault("uid", "output-" + side);
		DreyGate.of(numbered).identity(line -> field(line, 0)).uid("gate").apply()
				.sinkTo(sink(options, options.getOrDefault("prefix", "orders-" + side))).uid(uid).name("output");
		env.execute("kafka");
	}

	/** In the task of the source: behind a shuffle, barriers would wait for the records that wait. */
	private static MapFunction<String, String> pause(long ms) {
		return line -> {
			if (ms > 0) {
				Thread.sleep(ms);
			}
			return line;
		};
	}

	private static KafkaSource<String> source(Map<String, String> options) {
		return KafkaSource.<String>builder()
				.setBootstrapServers(options.get("bootstrap"))
				.setTopics("input")
				.setGroupId("orders")
				.setStartingOffsets(OffsetsInitializer.earliest())
				.setValueOnlyDeserializer(new SimpleStringSchema())
				.build();
	}

	private static KafkaSink<String> sink(Map<String, String> options, String prefix) throws ReflectiveOperationException {
		KafkaSinkBuilder<String> builder = KafkaSink.<String>builder()
				.setBootstrapServers(options.get("bootstrap"))
				.setDeliveryGuarantee(DeliveryGuarantee.EXACTLY_ONCE)
				.setTransactionalIdPrefix(prefix)
				.setProperty("transaction.timeout.ms", options.getOrDefault("timeout", "60000"))
				.setRecordSerializer(KafkaRecordSerializationSchema.<String>builder()
						.setTopic("output")
						.setKeySerializationSchema((String line) -> Long.toString(field(line, 0) % KEYS).getBytes(StandardCharsets.UTF_8))
						.setValueSerializationSchema(new SimpleStringSchema())
						.build());
		if (options.containsKey("naming")) { // connectors before 4.0 have no such enum
			Class<?> strategies = Class.forName("org.apache.flink.connector.kafka.sink.TransactionNamingStrategy");
			builder.getClass().getMethod("setTransactionNamingStrategy", strategies)
					.invoke(builder, strategies.getField(options.get("naming")).get(null));
		}
		return builder.build();
	}

	static long field(String line, int index) {
		return Long.parseLong(line.split(" ")[index]);
	}

	private static final class Numbering extends KeyedProcessFunction<Integer, String, String> {
		private static final long serialVersionUID = 1;
		private final String side;
		private transient ValueState<Long> count;

		Numbering(String side) {
			this.side = side;
		}

		@Override
		public void open(OpenContext context) {
			count = getRuntimeContext().getState(new ValueStateDescriptor<>("count", Types.LONG));
		}

		@Override
		public void processElement(String line, Context context, Collector<String> out) throws Exception {
			long number = count.value() == null ? 1 : count.value() + 1;
			count.update(number);
			out.collect(line + " " + number + " " + side);
		}
	}
}
