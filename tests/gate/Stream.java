package dev.drey.gate;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.connector.source.ReaderOutput;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.api.connector.source.SplitEnumerator;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;
import org.apache.flink.api.connector.source.lib.NumberSequenceSource;
import org.apache.flink.core.io.InputStatus;

/**
 * The input that both sides read: number K of each split is due at start + K / rate, and has the time K plus up to 40 ms of
 * disorder: a pure function, so two jobs read the same records, each at its own position. A test stops it, and makes splits
 * silent, by the input's fields.
 */
final class Stream extends NumberSequenceSource {
	private static final long serialVersionUID = 1;
	static final int NUMBER_BITS = 40;
	static final long NUMBER_MASK = (1L << NUMBER_BITS) - 1;
	static final long FIRST_TIME = 1_700_000_000_000L;
	static final Map<String, Input> INPUTS = new ConcurrentHashMap<>();

	/** One stream of numbered records. */
	static final class Input {
		final int splits;
		final long ratePerSecond;
		final long startNanos = System.nanoTime();
		/** Each split ends before this number. */
		volatile long limit = Long.MAX_VALUE;
		/** This split gives nothing from this number on; -1: all do. */
		volatile int silentSplit = -1;
		volatile long silentFrom;
		/** What a reader of this side leaves out, once; null: nothing. */
		volatile String lossySide;
		volatile long lossyValue = -1;
		/** Another record of the same time comes instead. */
		volatile boolean instead;

		/** This side ends each split before this number; null: none does. */
		volatile String slowSide;
		volatile long slowLimit;

		Input(int splits, long ratePerSecond) {
			this.splits = splits;
			this.ratePerSecond = ratePerSecond;
		}

		private boolean isDue(String side, int split, long number) {
			return number < limit && !(side.equals(slowSide) && number >= slowLimit) && !(split == silentSplit && number >= silentFrom)
					&& number * 1_000_000_000L / ratePerSecond <= System.nanoTime() - startNanos;
		}

		long due() {
			return Math.min(limit, (System.nanoTime() - startNanos) * ratePerSecond / 1_000_000_000L);
		}
	}

	private final String input;
	private final String side;

	Stream(String input, String side) {
		super(0, 0);
		this.input = input;
		this.side = side;
	}

	/** Where no test has made it, in a real cluster, an input of two splits. */
	private static Input input(String name) {
		return INPUTS.computeIfAbsent(name, any -> new Input(2, 1000));
	}

	static long split(long value) {
		return value >> NUMBER_BITS;
	}

	static long number(long value) {
		return value & NUMBER_MASK;
	}

	/** Each 500th is 300 ms late. */
	static long time(long value) {
		long number = number(value);
		return FIRST_TIME + number + (value * 0x9E3779B97F4A7C15L >>> 58) % 40 - (number % 500 == 499 ? 300 : 0);
	}

	@Override
	public SplitEnumerator<NumberSequenceSplit, Collection<NumberSequenceSplit>> createEnumerator(
			SplitEnumeratorContext<NumberSequenceSplit> context) {
		List<NumberSequenceSplit> all = new ArrayList<>();
		for (int i = 0; i < input(input).splits; i++) {
			all.add(new NumberSequenceSplit(Integer.toString(i), 0, NUMBER_MASK));
		}
		return new Enumerator(context, all);
	}

	@Override
	public SplitEnumerator<NumberSequenceSplit, Collection<NumberSequenceSplit>> restoreEnumerator(
			SplitEnumeratorContext<NumberSequenceSplit> context, Collection<NumberSequenceSplit> left) {
		return new Enumerator(context, new ArrayList<>(left));
	}

	/** Gives each reader its share when it comes; a reader asks for nothing. */
	private static final class Enumerator implements SplitEnumerator<NumberSequenceSplit, Collection<NumberSequenceSplit>> {
		private final SplitEnumeratorContext<NumberSequenceSplit> context;
		private final List<NumberSequenceSplit> left;

		Enumerator(SplitEnumeratorContext<NumberSequenceSplit> context, List<NumberSequenceSplit> left) {
			this.context = context;
			this.left = left;
		}

		@Override
		public void start() {}

		@Override
		public void addReader(int subtask) {
			left.removeIf(split -> {
				boolean his = Integer.parseInt(split.splitId()) % context.currentParallelism() == subtask;
				if (his) {
					context.assignSplit(split, subtask);
				}
				return his;
			});
		}

		@Override
		public void handleSplitRequest(int subtask, String host) {}

		@Override
		public void addSplitsBack(List<NumberSequenceSplit> splits, int subtask) {
			left.addAll(splits);
		}

		@Override
		public Collection<NumberSequenceSplit> snapshotState(long checkpointId) {
			return new ArrayList<>(left);
		}

		@Override
		public void close() {}
	}

	@Override
	public SourceReader<Long, NumberSequenceSplit> createReader(SourceReaderContext context) {
		return new Reader(input(input), side);
	}

	private static final class Reader implements SourceReader<Long, NumberSequenceSplit> {
		private final Input input;
		private final String side;
		private final Map<Integer, Long> next = new java.util.TreeMap<>();
		private CompletableFuture<Void> available = new CompletableFuture<>();

		Reader(Input input, String side) {
			this.input = input;
			this.side = side;
		}

		@Override
		public void start() {}

		@Override
		public InputStatus pollNext(ReaderOutput<Long> output) {
			Map.Entry<Integer, Long> first = null;
			for (Map.Entry<Integer, Long> entry : next.entrySet()) {
				if (input.isDue(side, entry.getKey(), entry.getValue()) && (first == null || entry.getValue() < first.getValue())) {
					first = entry;
				}
			}
			if (first == null) {
				Executor later = CompletableFuture.delayedExecutor(5, TimeUnit.MILLISECONDS);
				available = CompletableFuture.runAsync(() -> {}, later);
				return InputStatus.NOTHING_AVAILABLE;
			}
			long value = (long) first.getKey() << NUMBER_BITS | first.getValue();
			first.setValue(first.getValue() + 1);
			boolean lossy = side.equals(input.lossySide) && value == input.lossyValue;
			if (!lossy || input.instead) {
				output.collect(lossy ? -value : value, time(value));
			}
			return InputStatus.MORE_AVAILABLE;
		}

		@Override
		public List<NumberSequenceSplit> snapshotState(long checkpointId) {
			List<NumberSequenceSplit> all = new ArrayList<>();
			next.forEach((split, number) -> all.add(new NumberSequenceSplit(Integer.toString(split), number, NUMBER_MASK)));
			return all;
		}

		@Override
		public CompletableFuture<Void> isAvailable() {
			return available;
		}

		@Override
		public void addSplits(List<NumberSequenceSplit> added) {
			for (NumberSequenceSplit split : added) {
				next.put(Integer.parseInt(split.splitId()), split.from());
			}
			available.complete(null);
		}

		@Override
		public void notifyNoMoreSplits() {
			available.complete(null);
		}

		@Override
		public void close() {}
	}
}
