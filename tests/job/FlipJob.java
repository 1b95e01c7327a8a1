/*
 * FlipJob - BlueGreenJob with a gate as FLIP-504 has it (FlipGate.java). Which version of it: `test.flip-gate: first | later` in
 * Flink's configuration. Its time runs five times as fast as the clock, so that a lead of 30 s is 6 s: a record has five times the
 * time at which it is due.
 */
package drey;

import java.nio.file.Files;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import org.apache.flink.api.common.eventtime.Watermark;
import org.apache.flink.api.common.eventtime.WatermarkGenerator;
import org.apache.flink.api.common.eventtime.WatermarkOutput;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

public final class FlipJob {
	private static final int FASTER = 5;

	private FlipJob() {}

	public static void main(String[] args) throws Exception {
		HandoverJob.Options options = HandoverJob.Options.parse(args);
		Files.createDirectories(options.committed());
		StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
		Map<String, String> flink = ((Configuration) env.getConfiguration()).toMap();
		boolean later = "later".equals(flink.get("test.flip-gate"));
		String side = flink.get("bluegreen.active-deployment-type").toLowerCase(Locale.ROOT);
		WatermarkStrategy<Long> time = WatermarkStrategy.<Long>forGenerator(context -> new Slowest(options.splits))
				.withTimestampAssigner((record, before) -> FASTER * options.dueMs(record & HandoverJob.NUMBER_MASK));
		DataStream<String> gated = HandoverJob.lines(env, options, time)
				.process(FlipGate.<String>create(flink, later))
				.returns(Types.STRING)
				.name("the gate")
				.uid("gate");
		HandoverJob.commit(gated, options, "-" + side);
		env.execute("flip-" + options.version);
	}

	/** The watermark of the split that is behind, so that no record is late: these gates lose late ones. */
	private static final class Slowest implements WatermarkGenerator<Long> {
		private final long[] last;

		Slowest(int splits) {
			last = new long[splits];
			Arrays.fill(last, Long.MIN_VALUE);
		}

		@Override
		public void onEvent(Long record, long time, WatermarkOutput output) {
			last[(int) (record >> HandoverJob.NUMBER_BITS)] = time;
		}

		@Override
		public void onPeriodicEmit(WatermarkOutput output) {
			long least = Arrays.stream(last).min().getAsLong();
			if (least > Long.MIN_VALUE) {
				output.emitWatermark(new Watermark(least - 1));
			}
		}
	}
}
