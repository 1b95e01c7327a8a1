/*
 * BlueGreenJob - HandoverJob with a gate in front of its committing sink, and event time: for upgrades in which the jobs of two
 * versions run at the same time. Options, output and control files are those of HandoverJob; the time of a record is when it is
 * due. The sink's state stays with its side.
 *
 * Both versions write every record that they read into records.log: only committed/part-* shows what was let through.
 */
package drey;

import dev.drey.gate.DreyGate;
import dev.drey.gate.DreySide;
import java.nio.file.Files;
import java.time.Duration;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

public final class BlueGreenJob {
	private BlueGreenJob() {}

	public static void main(String[] args) throws Exception {
		HandoverJob.Options options = HandoverJob.Options.parse(args);
		Files.createDirectories(options.committed());
		StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
		Duration disorder = Duration.ofMillis(options.disorderMs);
		WatermarkStrategy<Long> time = WatermarkStrategy.<Long>forBoundedOutOfOrderness(disorder)
				.withTimestampAssigner((record, before) -> options.dueMs(record & HandoverJob.NUMBER_MASK));
		DataStream<String> lines = HandoverJob.lines(env, options, time);
		if (options.idleMs > 0) {
			lines = byPartition(lines, disorder, Duration.ofMillis(options.idleMs));
		}
		HandoverJob.commit(DreyGate.of(lines).uid("gate").apply(), options, "-" + DreySide.of(env));
		env.execute("bluegreen-" + options.version);
	}

	private static DataStream<String> byPartition(DataStream<String> lines, Duration disorder, Duration idle) {
		WatermarkStrategy<String> time = WatermarkStrategy.<String>forBoundedOutOfOrderness(disorder)
				.withTimestampAssigner((line, before) -> before)
				.withIdleness(idle);
		return lines.partitionCustom((split, subtasks) -> split % subtasks, line -> Integer.parseInt(line.split(" ")[1]))
				.assignTimestampsAndWatermarks(time)
				.uid("time");
	}
}
