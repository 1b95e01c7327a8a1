/*
 * HandoverJob - a Flink job whose output shows what a hand-over between two versions of it lost, doubled or delayed. One
 * source for Flink 1.20 to 2.x.
 *
 *   stream (splits 0 ... S-1, each 0, 1, 2, ... at --rate) -> keyBy(split) -> continue -> [also] -> commit
 *
 * Number K of split S is due at --t0 + K / --rate: a pure function of both, so two jobs that run at the same time, or one after
 * the other, read the same stream, and none of them needs a broker. What is overdue is read at once.
 *
 * In --output:
 *   records.log          one line for each record, "VERSION SPLIT NUMBER DUE WALL", times in ms of the wall clock; each is appended
 *                        with one write(), by `continue`. After a recovery from a checkpoint there are lines again.
 *   committed/part-*     the same lines, once: `commit` writes a file for each checkpoint, and gives it this name as soon as
 *                        Flink says that the checkpoint (or the savepoint of a stop) is complete: exactly once, in two phases
 *   events.log           "EVENT VERSION CHECKPOINT job=HEX subtask=I/P attempt=A ms=WALL":
 *     MAIN               main() ran (on the JobManager; no job, subtask and attempt)
 *     RESTORED           the operator's checkpoint, "-": started without state
 *     OPEN, CLOSE        of the operator `continue`
 *     FIRST, GAP         the first record after OPEN; a number that does not continue the state (the job fails): CHECKPOINT
 *                        is SPLIT:NUMBER in both
 *     HOLD, SNAPSHOT     a snapshot waits; it is taken
 *     COMMIT             the files of that checkpoint, and of earlier ones, have their names
 *     THROW              a failure on purpose
 *
 * Options
 *   --version WORD       of this job, in every line (default A)
 *   --output DIR         (required)
 *   --t0 MS              when number 0 is due (required, the same for all versions)
 *   --rate N             numbers a second of each split (default 50)
 *   --splits N           (default 2)
 *   --control DIR        control files, looked at every 50 ms; FILE.VERSION is for that version only
 *   --also UID           one more operator with state of its own: a version without it cannot restore that of one with it
 *   --count N            each split has so many numbers, then the job ends (default: it never does)
 *   --fail-after N       throw at number N, in every attempt that reaches it
 *   --throw-in-main      throw before the job is submitted
 *   --slow-snapshot MS   each snapshot takes this long in the task thread
 *   --disorder MS        of BlueGreenJob: how far the watermark is behind the newest record (default 100)
 *   --idle MS            of BlueGreenJob: the records of a split are all in one subtask of the gate, with watermarks of their
 *                        own, and it is idle after this time without any
 *
 * Control files
 *   hold-SPLIT           this split gives nothing as long as the file is there
 *   throw-in-main        main() throws
 *   hold-main            main() waits as long as the file is there
 *   fail, fail-once      throw in a task: as long as the file is there; once, the file is removed first
 *   hold-snapshot        snapshots wait in the task thread as long as the file is there
 *   fail-snapshot        snapshots fail as long as the file is there
 */
package drey;

import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.MapFunction;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.functions.RuntimeContext;
import org.apache.flink.api.common.state.CheckpointListener;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.connector.source.ReaderOutput;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.api.connector.source.SplitEnumerator;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;
import org.apache.flink.api.connector.source.lib.NumberSequenceSource;
import org.apache.flink.api.connector.source.lib.util.IteratorSourceEnumerator;
import org.apache.flink.core.io.InputStatus;
import org.apache.flink.runtime.state.FunctionInitializationContext;
import org.apache.flink.runtime.state.FunctionSnapshotContext;
import org.apache.flink.streaming.api.checkpoint.CheckpointedFunction;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.streaming.api.functions.ProcessFunction;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.util.Collector;

public final class HandoverJob {
	static final int NUMBER_BITS = 40; // a record is one long: its split, and in these bits its number
	static final long NUMBER_MASK = (1L << NUMBER_BITS) - 1;
	static final int MAX_PARALLELISM = 128;
	private static final long CONTROL_EVERY_MS = 50;

	private HandoverJob() {}

	public static void main(String[] args) throws Exception {
		Options options = Options.parse(args);
		Files.createDirectories(options.committed());
		try (Log events = new Log(options.file("events.log"))) {
			events.write("MAIN " + options.version + " - ms=" + System.currentTimeMillis());
		}
		while (options.hasControl("hold-main")) {
			Thread.sleep(CONTROL_EVERY_MS);
		}
		if (options.throwInMain || options.hasControl("throw-in-main")) {
			throw new IllegalStateException("main() threw on purpose");
		}
		StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
		SingleOutputStreamOperator<String> lines = lines(env, options, WatermarkStrategy.noWatermarks());
		if (!options.also.isEmpty()) {
			lines = lines.map(new Also()).name("also").uid(options.also);
		}
		commit(lines, options, "");
		env.execute("handover-" + options.version);
	}

	/** All up to the sink; also for jobs with a gate in between. */
	static SingleOutputStreamOperator<String> lines(StreamExecutionEnvironment env, Options options, WatermarkStrategy<Long> time) {
		env.setMaxParallelism(MAX_PARALLELISM);
		return env.fromSource(new Stream(options), time, "stream")
				.uid("stream")
				.keyBy(record -> record >> NUMBER_BITS)
				.process(new Continue(options))
				.name("continue")
				.uid("continue");
	}

	/** The sink. of: what its uids end with. */
	static void commit(DataStream<String> lines, Options options, String of) {
		lines.process(new Commit(options))
				.name("commit")
				.uid("commit" + of)
				.returns(Types.STRING)
				.sinkTo(new DiscardingSink<>())
				.name("end")
				.uid("end" + of);
	}

	/** The command line; the same values reach every operator. */
	static final class Options implements java.io.Serializable {
		String version = "A";
		String output = "";
		String control = "";
		String also = "";
		long t0 = -1;
		long rate = 50;
		int splits = 2;
		long count = Long.MAX_VALUE;
		long failAfter = Long.MAX_VALUE;
		long slowSnapshotMs = 0;
		long disorderMs = 100;
		long idleMs = 0;
		boolean throwInMain = false;

		static Options parse(String[] args) {
			Options options = new Options();
			for (int i = 0; i < args.length; i++) {
				if (args[i].equals("--throw-in-main")) {
					options.throwInMain = true;
				} else if (i + 1 < args.length) {
					options.set(args[i], args[++i]);
				} else {
					throw new IllegalArgumentException("option without a value: " + args[i]);
				}
			}
			if (options.output.isEmpty() || options.t0 < 0) {
				throw new IllegalArgumentException("--output and --t0 are required");
			}
			return options;
		}

		private void set(String option, String value) {
			switch (option) {
				case "--version": version = value; break;
				case "--output": output = value; break;
				case "--control": control = value; break;
				case "--also": also = value; break;
				case "--t0": t0 = Long.parseLong(value); break;
				case "--rate": rate = Math.max(1, Long.parseLong(value)); break;
				case "--splits": splits = Integer.parseInt(value); break;
				case "--count": count = Long.parseLong(value); break;
				case "--fail-after": failAfter = Long.parseLong(value); break;
				case "--disorder": disorderMs = Long.parseLong(value); break;
				case "--idle": idleMs = Long.parseLong(value); break;
				case "--slow-snapshot": slowSnapshotMs = Long.parseLong(value); break;
				default: throw new IllegalArgumentException("unknown option: " + option);
			}
		}

		long dueMs(long number) {
			return t0 + number * 1000 / rate;
		}

		File file(String name) {
			return new File(output, name);
		}

		Path committed() {
			return Paths.get(output, "committed");
		}

		/** The control file of this name, for all versions or for this one; null if there is none. */
		private File controlFile(String name) {
			File all = new File(control, name);
			File own = new File(control, name + "." + version);
			if (control.isEmpty()) {
				return null;
			}
			return own.exists() ? own : all.exists() ? all : null;
		}

		boolean hasControl(String name) {
			return controlFile(name) != null;
		}

		boolean takeControl(String name) {
			File file = controlFile(name);
			return file != null && file.delete();
		}
	}

	/** Appends whole lines, each with one write(); several processes may write to the same file. */
	static final class Log implements AutoCloseable {
		private final FileOutputStream out;

		Log(File file) throws IOException {
			out = new FileOutputStream(file, true);
		}

		void write(String line) throws IOException {
			out.write((line + "\n").getBytes(StandardCharsets.UTF_8));
		}

		@Override
		public void close() throws IOException {
			out.close();
		}
	}

	static final class Stream extends NumberSequenceSource {
		private final Options options;

		Stream(Options options) {
			super(0, 0);
			this.options = options;
		}

		@Override
		public SplitEnumerator<NumberSequenceSplit, Collection<NumberSequenceSplit>> createEnumerator(
				SplitEnumeratorContext<NumberSequenceSplit> context) {
			List<NumberSequenceSplit> all = new ArrayList<>();
			for (int i = 0; i < options.splits; i++) {
				all.add(new NumberSequenceSplit(Integer.toString(i), 0, NUMBER_MASK));
			}
			return new IteratorSourceEnumerator<>(context, all);
		}

		@Override
		public SourceReader<Long, NumberSequenceSplit> createReader(SourceReaderContext context) {
			return new Reader(context, options);
		}
	}

	/** Its share of the splits; of each it gives what is due. */
	static final class Reader implements SourceReader<Long, NumberSequenceSource.NumberSequenceSplit> {
		private static final class Position {
			final int split;
			long next;
			boolean isHeld;

			Position(int split, long next) {
				this.split = split;
				this.next = next;
			}
		}

		private final SourceReaderContext context;
		private final Options options;
		private final List<Position> positions = new ArrayList<>();
		private CompletableFuture<Void> available = new CompletableFuture<>();
		private long controlMs;
		private boolean hasAll;

		Reader(SourceReaderContext context, Options options) {
			this.context = context;
			this.options = options;
		}

		@Override
		public void start() {
			requestMore();
		}

		private void requestMore() {
			int readers = context.currentParallelism();
			hasAll = positions.size() >= (options.splits + readers - 1) / readers;
			if (!hasAll) {
				context.sendSplitRequest();
			}
		}

		/** The one that has been due for longest is first, so the splits advance side by side. */
		@Override
		public InputStatus pollNext(ReaderOutput<Long> output) {
			long nowMs = System.currentTimeMillis();
			Position first = null;
			boolean isOver = hasAll;
			lookAtControl(nowMs);
			for (Position position : positions) {
				if (position.next >= options.count) {
					continue;
				}
				isOver = false;
				if (!position.isHeld && (first == null || position.next < first.next)) {
					first = position;
				}
			}
			if (isOver) {
				return InputStatus.END_OF_INPUT;
			}
			long waitMs = first == null ? CONTROL_EVERY_MS : options.dueMs(first.next) - nowMs;
			if (waitMs > 0) {
				Executor later = CompletableFuture.delayedExecutor(
						Math.min(waitMs, CONTROL_EVERY_MS), TimeUnit.MILLISECONDS);
				available = CompletableFuture.runAsync(() -> {}, later);
				return InputStatus.NOTHING_AVAILABLE;
			}
			output.collect(((long) first.split << NUMBER_BITS) | first.next++);
			return InputStatus.MORE_AVAILABLE;
		}

		private void lookAtControl(long nowMs) {
			if (nowMs - controlMs < CONTROL_EVERY_MS) {
				return;
			}
			controlMs = nowMs;
			for (Position position : positions) {
				position.isHeld = options.hasControl("hold-" + position.split);
			}
		}

		@Override
		public List<NumberSequenceSource.NumberSequenceSplit> snapshotState(long checkpointId) {
			List<NumberSequenceSource.NumberSequenceSplit> all = new ArrayList<>();
			for (Position position : positions) {
				all.add(new NumberSequenceSource.NumberSequenceSplit(
						Integer.toString(position.split), position.next, NUMBER_MASK));
			}
			return all;
		}

		@Override
		public CompletableFuture<Void> isAvailable() {
			return available;
		}

		@Override
		public void addSplits(List<NumberSequenceSource.NumberSequenceSplit> added) {
			for (NumberSequenceSource.NumberSequenceSplit split : added) {
				positions.add(new Position(Integer.parseInt(split.splitId()), split.from()));
			}
			requestMore();
			available.complete(null);
		}

		@Override
		public void notifyNoMoreSplits() {
			hasAll = true;
			available.complete(null);
		}

		@Override
		public void close() {}
	}

	/** Events of one operator. */
	static final class Events {
		private final Log log;
		private final String version;
		private final String where;

		Events(Options options, RuntimeContext context) throws IOException {
			log = new Log(options.file("events.log"));
			version = options.version;
			where = String.format(
					"job=%s subtask=%d/%d attempt=%d",
					context.getJobInfo().getJobId(),
					context.getTaskInfo().getIndexOfThisSubtask(),
					context.getTaskInfo().getNumberOfParallelSubtasks(),
					context.getTaskInfo().getAttemptNumber());
		}

		void write(String event, Object checkpoint) throws IOException {
			log.write(event + " " + version + " " + checkpoint + " " + where + " ms=" + System.currentTimeMillis());
		}

		void close() throws IOException {
			log.close();
		}
	}

	/** Each number of a split follows the one before, which is keyed state. */
	static final class Continue extends KeyedProcessFunction<Long, Long, String> implements CheckpointedFunction {
		private final Options options;
		private transient Events events;
		private transient Log records;
		private transient ValueState<Long> nextNumber;
		private transient long controlMs;
		private transient boolean hasFirst;

		Continue(Options options) {
			this.options = options;
		}

		/** Flink calls this before open(). */
		@Override
		public void initializeState(FunctionInitializationContext context) throws Exception {
			events = new Events(options, getRuntimeContext());
			events.write("RESTORED", context.getRestoredCheckpointId().isPresent()
					? Long.toString(context.getRestoredCheckpointId().getAsLong())
					: "-");
		}

		@Override
		public void open(OpenContext context) throws Exception {
			records = new Log(options.file("records.log"));
			nextNumber = getRuntimeContext().getState(new ValueStateDescriptor<>("next", Types.LONG));
			events.write("OPEN", "-");
		}

		@Override
		public void processElement(Long record, Context context, Collector<String> out) throws Exception {
			long split = record >> NUMBER_BITS;
			long number = record & NUMBER_MASK;
			Long next = nextNumber.value();
			if (number != (next == null ? 0 : next)) {
				events.write("GAP", split + ":" + number);
				throw new IllegalStateException("split " + split + ": number " + number + " came instead of " + next);
			}
			nextNumber.update(number + 1);
			failOnPurpose(number);
			String line = options.version + " " + split + " " + number + " " + options.dueMs(number) + " "
					+ System.currentTimeMillis();
			records.write(line);
			if (!hasFirst) {
				hasFirst = true;
				events.write("FIRST", split + ":" + number);
			}
			out.collect(line);
		}

		private void failOnPurpose(long number) throws Exception {
			boolean fail = number >= options.failAfter;
			long nowMs = System.currentTimeMillis();
			if (nowMs - controlMs >= CONTROL_EVERY_MS) {
				controlMs = nowMs;
				fail = fail || options.hasControl("fail") || options.takeControl("fail-once");
			}
			if (fail) {
				events.write("THROW", "-");
				throw new IllegalStateException("failed on purpose at number " + number);
			}
		}

		@Override
		public void snapshotState(FunctionSnapshotContext context) throws Exception {
			if (options.slowSnapshotMs > 0) {
				Thread.sleep(options.slowSnapshotMs);
			}
			if (options.hasControl("hold-snapshot")) {
				events.write("HOLD", context.getCheckpointId());
				while (options.hasControl("hold-snapshot")) {
					Thread.sleep(CONTROL_EVERY_MS);
				}
			}
			if (options.hasControl("fail-snapshot")) {
				events.write("THROW", context.getCheckpointId());
				throw new IOException("the snapshot failed on purpose");
			}
			events.write("SNAPSHOT", context.getCheckpointId());
		}

		@Override
		public void close() throws Exception {
			if (events == null) { // Flink closes what it never began
				return;
			}
			events.write("CLOSE", "-");
			events.close();
			if (records != null) {
				records.close();
			}
		}
	}

	/** Has state, and lets everything pass. */
	static final class Also implements MapFunction<String, String>, CheckpointedFunction {
		private transient ListState<String> state;
		private String last = "";

		@Override
		public String map(String line) {
			last = line;
			return line;
		}

		@Override
		public void initializeState(FunctionInitializationContext context) throws Exception {
			state = context.getOperatorStateStore().getListState(new ListStateDescriptor<>("also", Types.STRING));
		}

		@Override
		public void snapshotState(FunctionSnapshotContext context) throws Exception {
			state.update(List.of(last));
		}
	}

	/**
	 * A committing sink. Its state are the files that are written and may have no name yet, "CHECKPOINT NAME": a complete
	 * checkpoint gives them their name, and so does whoever restores it. Both may do so, in any order, as often as they like.
	 */
	static final class Commit extends ProcessFunction<String, String> implements CheckpointedFunction, CheckpointListener {
		private final Options options;
		private transient Events events;
		private transient ListState<String> state;
		private transient List<String> pending;
		private transient StringBuilder lines;

		Commit(Options options) {
			this.options = options;
		}

		@Override
		public void initializeState(FunctionInitializationContext context) throws Exception {
			events = new Events(options, getRuntimeContext());
			lines = new StringBuilder();
			pending = new ArrayList<>();
			state = context.getOperatorStateStore().getListState(new ListStateDescriptor<>("pending", Types.STRING));
			for (String entry : state.get()) {
				commit(nameOf(entry));
			}
		}

		@Override
		public void processElement(String line, Context context, Collector<String> out) {
			lines.append(line).append('\n');
		}

		@Override
		public void snapshotState(FunctionSnapshotContext context) throws Exception {
			if (lines.length() > 0) {
				String name = UUID.randomUUID().toString();
				Files.write(hidden(name), lines.toString().getBytes(StandardCharsets.UTF_8));
				pending.add(context.getCheckpointId() + " " + name);
				lines.setLength(0);
			}
			state.update(pending);
		}

		@Override
		public void notifyCheckpointComplete(long checkpoint) throws Exception {
			List<String> later = new ArrayList<>();
			for (String entry : pending) {
				if (Long.parseLong(entry.substring(0, entry.indexOf(' '))) <= checkpoint) {
					commit(nameOf(entry));
				} else {
					later.add(entry);
				}
			}
			pending = later;
			events.write("COMMIT", checkpoint);
		}

		private static String nameOf(String entry) {
			return entry.substring(entry.indexOf(' ') + 1);
		}

		private Path hidden(String name) {
			return options.committed().resolve(".part-" + name);
		}

		private void commit(String name) throws IOException {
			Path part = options.committed().resolve("part-" + name);
			try {
				Files.move(hidden(name), part, StandardCopyOption.ATOMIC_MOVE);
			} catch (java.nio.file.NoSuchFileException e) {
				if (!Files.exists(part)) {
					throw new IllegalStateException("output that was to be committed is gone: " + part, e);
				}
			}
		}

		@Override
		public void close() throws Exception {
			if (events != null) {
				events.close();
			}
		}
	}
}
