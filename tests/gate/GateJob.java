package dev.drey.gate;

import java.io.FileOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.MapFunction;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/** A job with a gate for a real cluster: GateJob FILE appends "SPLIT NUMBER TIME SIDE" for each record that has passed. */
public final class GateJob {
	private GateJob() {}

	public static void main(String[] args) throws Exception {
		StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
		DataStream<Long> records = env.fromSource(
				new Stream("job", DreySide.of(env)), WatermarkStrategy.forBoundedOutOfOrderness(Duration.ofMillis(60)), "stream");
		DreyGate.of(records).identity(value -> value).uid("gate").apply()
				.map(append(args[0], DreySide.of(env))).returns(Types.VOID).uid("append");
		env.execute("gate");
	}

	private static MapFunction<Long, Void> append(String file, String side) {
		return value -> {
			String line = Stream.split(value) + " " + Stream.number(value) + " " + Stream.time(value) + " " + side + "\n";
			try (FileOutputStream out = new FileOutputStream(file, true)) {
				out.write(line.getBytes(StandardCharsets.UTF_8));
			}
			return null;
		};
	}
}
