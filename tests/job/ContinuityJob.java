/*
 * ContinuityJob - a Flink job that can prove where its state came from. One source for Flink 1.20 to 2.x.
 *
 *   numbers (1, 2, 3, ... at --rate) -> keyBy(n % 8) -> count -> sink
 *
 * Every event of interest is one line in the file --log, written with one write() and flushed:
 *
 *   EVENT CHECKPOINT COUNT subtask=I/P job=HEX attempt=A ms=WALL
 *
 *   MAIN        main() ran (on the JobManager); no checkpoint, no count
 *   RESTORED    before the first element: the checkpoint that was restored ("-": none, an empty start), its count
 *   START       the operator is ready
 *   HOLD        a snapshot waits for the control file hold-snapshot to go away
 *   SNAPSHOT    COUNT is what checkpoint CHECKPOINT holds
 *   COMPLETED   Flink told the operator that this checkpoint is complete
 *   END         the input has ended, after number COUNT; no checkpoint
 *   GAP         the state does not continue: COUNT is the number that came, CHECKPOINT is "-"
 *   THROW       a failure on purpose is about to be thrown
 *   CLOSE       the task ends, for whatever reason (not after a kill)
 *
 * Numbers are consecutive, so every key expects its last number plus 8; anything else is lost or repeated state
 * (GAP, and the job fails). The count is operator state; the last number of each key is keyed state; --pad puts
 * real files beside _metadata, because a state handle over 20 KiB is not kept inline.
 *
 * Options
 *   --log FILE           the event log (default: none)
 *   --control DIR        control files, looked at all the time; see below
 *   --rate N             numbers a second (default 100)
 *   --pad BYTES          incompressible operator state, constant (default 32768)
 *   --grow BYTES         keyed state that is added with every number (default 0)
 *   --finish-after N     the input ends after number N
 *   --fail-after N       throw at number N, in every attempt that reaches it
 *   --throw-in-main      throw before the job is submitted
 *   --slow-snapshot MS   each snapshot takes this long in the task thread
 *   --ignore-cancel MS   the task takes this long to end and ignores interrupts meanwhile
 *   --checkpoints DIR    the job's own checkpoint storage, which goes before Flink's configuration
 *   --code KEY=VALUE     a key of Flink that the job's code sets (several times)
 *   --name NAME          the job's name (default: continuity)
 *   --also UID           one more operator with state of its own; without it that state has no place any more
 *   --execute HOW        once (the default); async: executeAsync(); twice: another job after this one; throw: executeAsync(), and
 *                        5 s later main() throws
 *   --uid UID            of the operator that counts (default: count); under another one its state has no place
 *
 * Control files in DIR
 *   finish               the input ends now
 *   fail                 throw, as long as the file is there
 *   fail-once            throw once; the file is removed first
 *   fail-in-close-once   close() throws once, at the end of a task; the file is removed first
 *   throw-in-main        main() throws
 *   claim                the job takes over the checkpoint that it is restored from (seen by main())
 *   hold-snapshot        snapshots wait in the task thread as long as the file is there
 *
 * No restart strategy is set: Flink's configuration decides.
 */
package drey;

import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.MapFunction;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.CheckpointListener;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.connector.source.ReaderOutput;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.api.connector.source.lib.NumberSequenceSource;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.io.InputStatus;
import org.apache.flink.runtime.state.FunctionInitializationContext;
import org.apache.flink.runtime.state.FunctionSnapshotContext;
import org.apache.flink.streaming.api.checkpoint.CheckpointedFunction;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.util.Collector;

public final class ContinuityJob {
	private static final int KEYS = 8;
	private static final int MAX_PARALLELISM = 128;

	private ContinuityJob() {}

	public static void main(String[] args) throws Exception {
		Options options = Options.parse(args);
		EventLog log = new EventLog(options.log);
		log.write("MAIN - 0");
		if (options.throwInMain || options.hasControl("throw-in-main")) {
			throw new IllegalStateException("main() threw on purpose");
		}
		StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
		Configuration own = new Configuration();
		if (!options.checkpoints.isEmpty()) {
			own.setString("execution.checkpointing.dir", options.checkpoints);
		}
		options.code.forEach(own::setString);
		if (options.hasControl("claim")) {
			own.setString("execution.state-recovery.claim-mode", "CLAIM");
		}
		if (!own.keySet().isEmpty()) {
			env.configure(own, ContinuityJob.class.getClassLoader());
		}
		env.setMaxParallelism(MAX_PARALLELISM);
		SingleOutputStreamOperator<Long> counted = env.fromSource(
						new Numbers(options), WatermarkStrategy.noWatermarks(), "numbers")
				.uid("numbers")
				.setParallelism(1)
				.keyBy(number -> number % KEYS)
				.process(new Counter(options))
				.name("count")
				.uid(options.uid);
		if (!options.also.isEmpty()) {
			counted = counted.map(new Also()).name("also").uid(options.also);
		}
		counted.sinkTo(new DiscardingSink<>())
				.name("sink")
				.uid("sink");
		if (options.execute.equals("async")) {
			env.executeAsync(options.name);
			return;
		}
		if (options.execute.equals("throw")) {
			env.executeAsync(options.name);
			Thread.sleep(5000);
			throw new IllegalStateException("main() has failed behind its job");
		}
		env.execute(options.name);
		if (options.execute.equals("twice")) {
			env.fromSequence(1, 1).sinkTo(new DiscardingSink<>()).uid("second");
			env.execute("second");
		}
	}

	/** The command line; the same values reach every operator. */
	static final class Options implements java.io.Serializable {
		String log = "";
		String control = "";
		String checkpoints = "";
		String name = "continuity";
		String also = "";
		String execute = "once";
		String uid = "count";
		HashMap<String, String> code = new HashMap<>();
		long rate = 100;
		int pad = 32768;
		int grow = 0;
		long finishAfter = Long.MAX_VALUE;
		long failAfter = Long.MAX_VALUE;
		long slowSnapshotMs = 0;
		long ignoreCancelMs = 0;
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
			return options;
		}

		private void set(String option, String value) {
			switch (option) {
				case "--log": log = value; break;
				case "--control": control = value; break;
				case "--checkpoints": checkpoints = value; break;
				case "--code": code.put(value.split("=", 2)[0], value.split("=", 2)[1]); break;
				case "--name": name = value; break;
				case "--also": also = value; break;
				case "--execute": execute = value; break;
				case "--uid": uid = value; break;
				case "--rate": rate = Math.max(1, Long.parseLong(value)); break;
				case "--pad": pad = Integer.parseInt(value); break;
				case "--grow": grow = Integer.parseInt(value); break;
				case "--finish-after": finishAfter = Long.parseLong(value); break;
				case "--fail-after": failAfter = Long.parseLong(value); break;
				case "--slow-snapshot": slowSnapshotMs = Long.parseLong(value); break;
				case "--ignore-cancel": ignoreCancelMs = Long.parseLong(value); break;
				default: throw new IllegalArgumentException("unknown option: " + option);
			}
		}

		File controlFile(String file) {
			return new File(control, file);
		}

		boolean hasControl(String file) {
			return !control.isEmpty() && controlFile(file).exists();
		}
	}

	/** Appends whole lines; several processes may write to the same file. */
	static final class EventLog {
		private final String file;

		EventLog(String file) {
			this.file = file;
		}

		void write(String line) throws IOException {
			if (file.isEmpty()) {
				return;
			}
			byte[] bytes = (line + " ms=" + System.currentTimeMillis() + "\n").getBytes(StandardCharsets.UTF_8);
			try (FileOutputStream out = new FileOutputStream(file, true)) {
				out.write(bytes);
			}
		}
	}

	/** 1, 2, 3, ... in one split, paced, with an end that can be chosen while it runs. */
	static final class Numbers extends NumberSequenceSource {
		private final Options options;

		Numbers(Options options) {
			super(1, Long.MAX_VALUE);
			this.options = options;
		}

		@Override
		public SourceReader<Long, NumberSequenceSplit> createReader(SourceReaderContext context) {
			return new PacedReader(context, options);
		}
	}

	static final class PacedReader implements SourceReader<Long, NumberSequenceSource.NumberSequenceSplit> {
		private static final long NANOS = 1_000_000_000L;
		private static final long CONTROL_EVERY_NANOS = NANOS / 20;

		private final SourceReaderContext context;
		private final Options options;
		private final EventLog log;
		private final Queue<NumberSequenceSource.NumberSequenceSplit> splits = new ArrayDeque<>();
		private CompletableFuture<Void> available = new CompletableFuture<>();
		private String splitId;
		private long next;
		private long end;
		private long dueNanos;
		private long controlNanos;

		PacedReader(SourceReaderContext context, Options options) {
			this.context = context;
			this.options = options;
			this.log = new EventLog(options.log);
		}

		@Override
		public void start() {
			if (splitId == null && splits.isEmpty()) {
				context.sendSplitRequest();
			}
		}

		@Override
		public InputStatus pollNext(ReaderOutput<Long> output) throws IOException {
			if (splitId == null && !openSplit()) {
				available = new CompletableFuture<>(); // until it gets one
				return InputStatus.NOTHING_AVAILABLE;
			}
			long now = System.nanoTime();
			if (next > options.finishAfter || next >= end || mustFinish(now)) {
				log.write("END - " + (next - 1));
				return InputStatus.END_OF_INPUT;
			}
			if (dueNanos > now) {
				waitNanos(dueNanos - now);
				return InputStatus.NOTHING_AVAILABLE;
			}
			output.collect(next++);
			dueNanos = Math.max(dueNanos + NANOS / options.rate, now - NANOS);
			return InputStatus.MORE_AVAILABLE;
		}

		private boolean openSplit() {
			NumberSequenceSource.NumberSequenceSplit split = splits.poll();
			if (split == null) {
				return false;
			}
			splitId = split.splitId();
			next = split.from();
			end = split.to();
			dueNanos = System.nanoTime();
			return true;
		}

		private boolean mustFinish(long now) {
			if (now - controlNanos < CONTROL_EVERY_NANOS) {
				return false;
			}
			controlNanos = now;
			return options.hasControl("finish");
		}

		private void waitNanos(long nanos) {
			Executor later = CompletableFuture.delayedExecutor(Math.min(nanos, CONTROL_EVERY_NANOS), TimeUnit.NANOSECONDS);
			available = CompletableFuture.runAsync(() -> {}, later);
		}

		@Override
		public List<NumberSequenceSource.NumberSequenceSplit> snapshotState(long checkpointId) {
			if (splitId == null) {
				return List.copyOf(splits);
			}
			return Collections.singletonList(new NumberSequenceSource.NumberSequenceSplit(splitId, next, end));
		}

		@Override
		public CompletableFuture<Void> isAvailable() {
			return available;
		}

		@Override
		public void addSplits(List<NumberSequenceSource.NumberSequenceSplit> added) {
			splits.addAll(added);
			available.complete(null);
		}

		@Override
		public void notifyNoMoreSplits() {
			available.complete(null);
		}

		@Override
		public void close() {}
	}

	static final class Counter extends KeyedProcessFunction<Long, Long, Long>
			implements CheckpointedFunction, CheckpointListener {
		private static final long CONTROL_EVERY_MS = 50;

		private final Options options;
		private transient EventLog log;
		private transient ListState<Long> countState;
		private transient ListState<byte[]> padState;
		private transient ValueState<Long> lastNumber;
		private transient ListState<byte[]> grown;
		private transient Map<Long, Random> noise;
		private transient long count;
		private transient long controlMs;
		private transient String where;

		Counter(Options options) {
			this.options = options;
		}

		/** Flink calls this before open(). */
		@Override
		public void initializeState(FunctionInitializationContext context) throws Exception {
			log = new EventLog(options.log);
			where = String.format(
					"subtask=%d/%d job=%s attempt=%d",
					getRuntimeContext().getTaskInfo().getIndexOfThisSubtask(),
					getRuntimeContext().getTaskInfo().getNumberOfParallelSubtasks(),
					getRuntimeContext().getJobInfo().getJobId(),
					getRuntimeContext().getTaskInfo().getAttemptNumber());
			countState = context.getOperatorStateStore().getListState(new ListStateDescriptor<>("count", Types.LONG));
			padState = context.getOperatorStateStore()
					.getListState(
							new ListStateDescriptor<>("pad", PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO));
			count = 0;
			for (long part : countState.get()) {
				count += part;
			}
			String id = "-";
			if (context.getRestoredCheckpointId().isPresent()) {
				id = Long.toString(context.getRestoredCheckpointId().getAsLong());
			}
			event("RESTORED", id);
			byte[] pad = new byte[options.pad];
			new Random(options.pad).nextBytes(pad);
			padState.update(Collections.singletonList(pad));
		}

		@Override
		public void open(OpenContext context) throws Exception {
			lastNumber = getRuntimeContext().getState(new ValueStateDescriptor<>("last", Types.LONG));
			grown = getRuntimeContext()
					.getListState(
							new ListStateDescriptor<>("grown", PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO));
			noise = new HashMap<>();
			event("START", "-");
		}

		@Override
		public void processElement(Long number, Context context, Collector<Long> out) throws Exception {
			Long last = lastNumber.value();
			if (number != (last == null ? (number % KEYS == 0 ? KEYS : number % KEYS) : last + KEYS)) {
				log.write("GAP - " + number + " " + where);
				throw new IllegalStateException("number " + number + " came after " + last);
			}
			lastNumber.update(number);
			count++;
			if (options.grow > 0) {
				byte[] more = new byte[options.grow];
				noise.computeIfAbsent(number % KEYS, Random::new).nextBytes(more);
				grown.add(more);
			}
			failOnPurpose(number);
			out.collect(number);
		}

		private void failOnPurpose(long number) throws Exception {
			boolean fail = number >= options.failAfter;
			long now = System.currentTimeMillis();
			if (now - controlMs >= CONTROL_EVERY_MS) {
				controlMs = now;
				fail = fail || options.hasControl("fail");
				fail = fail || (options.hasControl("fail-once") && options.controlFile("fail-once").delete());
			}
			if (fail) {
				event("THROW", "-");
				throw new IllegalStateException("failed on purpose at number " + number);
			}
		}

		@Override
		public void snapshotState(FunctionSnapshotContext context) throws Exception {
			String id = Long.toString(context.getCheckpointId());
			if (options.slowSnapshotMs > 0) {
				Thread.sleep(options.slowSnapshotMs);
			}
			if (options.hasControl("hold-snapshot")) {
				event("HOLD", id);
				while (options.hasControl("hold-snapshot")) {
					Thread.sleep(CONTROL_EVERY_MS);
				}
			}
			countState.update(Collections.singletonList(count));
			event("SNAPSHOT", id);
		}

		@Override
		public void notifyCheckpointComplete(long id) throws Exception {
			event("COMPLETED", Long.toString(id));
		}

		@Override
		public void close() throws Exception {
			if (log == null) { // Flink closes what it never began, and an error in here would end the TaskManager
				return;
			}
			event("CLOSE", "-");
			if (options.hasControl("fail-in-close-once") && options.controlFile("fail-in-close-once").delete()) {
				event("THROW", "-");
				throw new IllegalStateException("failed on purpose in close()");
			}
			long endMs = System.currentTimeMillis() + options.ignoreCancelMs;
			while (System.currentTimeMillis() < endMs) {
				try {
					Thread.sleep(CONTROL_EVERY_MS);
				} catch (InterruptedException ignored) {
					// That is what --ignore-cancel is for.
				}
			}
		}

		private void event(String name, String checkpoint) throws IOException {
			log.write(name + " " + checkpoint + " " + count + " " + where);
		}
	}

	/** Has state, and lets everything pass. */
	static final class Also implements MapFunction<Long, Long>, CheckpointedFunction {
		private transient ListState<Long> state;
		private long last;

		@Override
		public Long map(Long number) {
			last = number;
			return number;
		}

		@Override
		public void initializeState(FunctionInitializationContext context) throws Exception {
			state = context.getOperatorStateStore().getListState(new ListStateDescriptor<>("also", Types.LONG));
		}

		@Override
		public void snapshotState(FunctionSnapshotContext context) throws Exception {
			state.update(Collections.singletonList(last));
		}
	}
}
