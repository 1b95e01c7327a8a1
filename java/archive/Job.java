package drey.archive;

import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.MapFunction;
import org.apache.flink.api.connector.source.lib.NumberSequenceSource;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;

/** Three operators and a shuffle, without an end: while it runs, Flink loads what each streaming job needs. */
public final class Job {
	private Job() {}

	public static void main(String[] args) throws Exception {
		StreamExecutionEnvironment environment = StreamExecutionEnvironment.getExecutionEnvironment();
		environment.setParallelism(1);
		environment.fromSource(new NumberSequenceSource(1, Long.MAX_VALUE), WatermarkStrategy.noWatermarks(), "numbers")
				.keyBy(number -> number % 8)
				.map(new Slow())
				.sinkTo(new DiscardingSink<>());
		environment.execute("archive");
	}

	/** One a millisecond. */
	public static final class Slow implements MapFunction<Long, Long> {
		private static final long serialVersionUID = 1;

		@Override
		public Long map(Long number) throws Exception {
			Thread.sleep(1);
			return number;
		}
	}
}
