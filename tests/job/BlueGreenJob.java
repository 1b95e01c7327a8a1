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
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;

public final class BlueGreenJob {
	private BlueGreenJob() {}

	public static void main(String[] args) throws Exception {
		HandoverJob.Options options = HandoverJob.Options.parse(args);
		Files.createDirectories(options.committed());
		StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
		env.setMaxParallelism(HandoverJob.MAX_PARALLELISM);
		Duration disorder = Duration.ofMillis(options.disorderMs);
		WatermarkStrategy<Long> time = WatermarkStrategy.<Long>forBoundedOutOfOrderness(disorder)
				.withTimestampAssigner((record, before) -> options.dueMs(record & HandoverJob.NUMBER_MASK));
		DataStream<String> lines = env.fromSource(new HandoverJob.Stream(options), time, "stream")
				.uid("stream")
				.keyBy(record -> record >> HandoverJob.NUMBER_BITS)
				.process(new HandoverJob.Continue(options))
				.name("continue")
				.uid("continue");
		if (options.idleMs > 0) {
			lines = byPartition(lines, disorder, Duration.ofMillis(options.idleMs));
		}
		String side = DreySide.of(env);
		DreyGate.of(lines).uid("gate").apply()
				.process(new HandoverJob.Commit(options))
				.name("commit")
				.uid("commit-" + side)
				.returns(Types.STRING)
				.sinkTo(new DiscardingSink<>())
				.name("end")
				.uid("end-" + side);
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
