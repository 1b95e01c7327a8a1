/*
 * WriteAheadJob - a Flink job with a write-ahead sink (GenericWriteAheadSink): what comes between two checkpoints is kept in a
 * file in <checkpoint directory>/<job id>/taskowned until it can be sent. Which files, only the operator's own state says.
 *
 *   1, 2, 3, ... (a number each --every ms) -> write-ahead sink -> --out
 *
 * Options
 *   --out FILE       one number a line, appended with one write() for each checkpoint
 *   --control DIR    nothing is sent as long as the file `shut` is there: Flink keeps the files, and tries again
 *   --every MS       between two numbers (default 10)
 *
 * Other options are ignored.
 */
package drey;

import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.MapFunction;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.api.connector.source.lib.NumberSequenceSource;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.runtime.operators.CheckpointCommitter;
import org.apache.flink.streaming.runtime.operators.GenericWriteAheadSink;

public final class WriteAheadJob {
	private WriteAheadJob() {}

	public static void main(String[] args) throws Exception {
		String out = "";
		String control = "";
		long every = 10;
		for (int i = 0; i + 1 < args.length; i += 2) {
			switch (args[i]) {
				case "--out": out = args[i + 1]; break;
				case "--control": control = args[i + 1]; break;
				case "--every": every = Long.parseLong(args[i + 1]); break;
				default: break;
			}
		}
		StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
		env.setParallelism(1);
		env.fromSource(new NumberSequenceSource(1, Long.MAX_VALUE), WatermarkStrategy.noWatermarks(), "numbers")
				.uid("numbers")
				.map(new Pace(every))
				.uid("pace")
				.transform("sink", Types.LONG, new Sink(out, control))
				.uid("sink");
		env.execute("write-ahead");
	}

	static final class Pace implements MapFunction<Long, Long> {
		private final long everyMs;

		Pace(long everyMs) {
			this.everyMs = everyMs;
		}

		@Override
		public Long map(Long number) throws Exception {
			Thread.sleep(everyMs);
			return number;
		}
	}

	static final class Sink extends GenericWriteAheadSink<Long> {
		private static final long serialVersionUID = 1L;

		private final String out;
		private final String control;

		Sink(String out, String control) throws Exception {
			super(new Committer(), LongSerializer.INSTANCE, "write-ahead");
			this.out = out;
			this.control = control;
		}

		@Override
		protected boolean sendValues(Iterable<Long> values, long checkpointId, long timestamp) throws IOException {
			if (new File(control, "shut").exists()) {
				return false;
			}
			StringBuilder lines = new StringBuilder();
			for (long value : values) {
				lines.append(value).append('\n');
			}
			try (FileOutputStream file = new FileOutputStream(out, true)) {
				file.write(lines.toString().getBytes(StandardCharsets.UTF_8));
			}
			return true;
		}
	}

	/** Remembers nothing: what was sent before a failure is sent again. */
	static final class Committer extends CheckpointCommitter {
		private static final long serialVersionUID = 1L;

		@Override
		public void open() {}

		@Override
		public void close() {}

		@Override
		public void createResource() {}

		@Override
		public void commitCheckpoint(int subtask, long checkpointId) {}

		@Override
		public boolean isCheckpointCommitted(int subtask, long checkpointId) {
			return false;
		}
	}
}
