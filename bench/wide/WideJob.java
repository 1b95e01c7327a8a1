package drey;

import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.connector.source.lib.NumberSequenceSource;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;

/** VERTICES PARALLELISM: chains of twenty vertices, of which every fifth has a shuffle in front. It is only submitted, and never runs. */
public final class WideJob {
	private static final int CHAIN = 20;

	private WideJob() {}

	public static void main(String[] args) throws Exception {
		System.out.println("main " + System.currentTimeMillis());
		int vertices = Integer.parseInt(args[0]);
		StreamExecutionEnvironment environment = StreamExecutionEnvironment.getExecutionEnvironment();
		environment.setParallelism(Integer.parseInt(args[1]));
		environment.disableOperatorChaining();
		for (int made = 0; made < vertices; made += CHAIN) {
			DataStream<Long> stream =
					environment.fromSource(new NumberSequenceSource(1, Long.MAX_VALUE), WatermarkStrategy.noWatermarks(), "source " + made);
			for (int i = 1; i < CHAIN - 1; i++) {
				stream = (i % 5 == 0 ? stream.rebalance() : stream).map(number -> number + 1).returns(Long.class).name("map " + (made + i));
			}
			stream.sinkTo(new DiscardingSink<>()).name("sink " + made);
		}
		environment.execute("wide");
	}
}
