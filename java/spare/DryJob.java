package drey.spare;

import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.MapFunction;
import org.apache.flink.api.connector.source.lib.NumberSequenceSource;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;

/** The job of the rehearsal. It is submitted and scheduled, and never runs: there is no TaskManager. */
public final class DryJob {
	private DryJob() {}

	public static void main(String[] args) throws Exception {
		StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
		env.setParallelism(1);
		env.enableCheckpointing(1000);
		env.fromSource(new NumberSequenceSource(1, Long.MAX_VALUE), WatermarkStrategy.noWatermarks(), "numbers")
				.keyBy(number -> number % 8)
				.map(new Same())
				.sinkTo(new DiscardingSink<>());
		env.executeAsync("drey-spare");
	}

	/** An operator of its own. */
	public static final class Same implements MapFunction<Long, Long> {
		private static final long serialVersionUID = 1;

		@Override
		public Long map(Long number) {
			return number;
		}
	}
}
