package dev.drey.gate;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/**
 * How many records there were at each time that a later cut may lie below: those at or above the watermark. A cut is chosen
 * above everything that was seen, and becomes known a moment later, so few of them matter; but only this tells how many.
 *
 * <p>A hash table of times. When it is full it forgets what is below the watermark, and grows if that is not enough. With
 * too many times it gives up: it then knows nothing below its floor. Not for use by several threads.
 */
final class Tail {
	private static final int FIRST_SLOTS = 1 << 10;
	private static final int MOST_SLOTS = 1 << 18;

	private long[] times = new long[FIRST_SLOTS];
	private long[] sums = new long[FIRST_SLOTS];
	private int[] numbers = new int[FIRST_SLOTS]; // 0: the slot is free
	private int used;
	private long floor;

	Tail(long floor) {
		this.floor = floor;
	}

	/** Whether all records at or above the time are in here. */
	boolean isCompleteFrom(long time) {
		return time >= floor;
	}

	void add(long time, long hash, long watermark) {
		if (floor == Long.MAX_VALUE) {
			return; // it has given up
		}
		put(time, 1, hash);
		if (used * 4 > times.length * 3) {
			rebuild(watermark);
		}
	}

	/** Records above the cut. */
	long count(Cut cut) {
		long count = 0;
		for (int i = 0; i < times.length; i++) {
			count += numbers[i] > 0 && cut.isAbove(times[i]) ? numbers[i] : 0;
		}
		return count;
	}

	/** The sum of their hashes. */
	long sum(Cut cut) {
		long sum = 0;
		for (int i = 0; i < times.length; i++) {
			sum += numbers[i] > 0 && cut.isAbove(times[i]) ? sums[i] : 0;
		}
		return sum;
	}

	/** Forgets everything, and knows nothing below the floor. */
	void clear(long newFloor) {
		times = new long[FIRST_SLOTS];
		sums = new long[FIRST_SLOTS];
		numbers = new int[FIRST_SLOTS];
		used = 0;
		floor = Math.max(floor, newFloor);
	}

	void addAll(Tail other) {
		floor = Math.max(floor, other.floor);
		for (int i = 0; i < other.times.length; i++) {
			if (other.numbers[i] > 0) {
				put(other.times[i], other.numbers[i], other.sums[i]);
				if (used * 4 > times.length * 3) {
					rebuild(floor);
				}
			}
		}
	}

	private void put(long time, int number, long sum) {
		int mask = times.length - 1;
		int i = (int) Tally.mix(time, 0) & mask;
		while (numbers[i] > 0 && times[i] != time) {
			i = (i + 1) & mask;
		}
		if (numbers[i] == 0) {
			times[i] = time;
			used++;
		}
		numbers[i] += number;
		sums[i] += sum;
	}

	private void rebuild(long watermark) {
		long[] oldTimes = times;
		long[] oldSums = sums;
		int[] oldNumbers = numbers;
		int kept = 0;
		for (int i = 0; i < oldTimes.length; i++) {
			kept += oldNumbers[i] > 0 && oldTimes[i] >= watermark ? 1 : 0;
		}
		int slots = kept * 2 > oldTimes.length ? oldTimes.length * 2 : oldTimes.length;
		if (slots > MOST_SLOTS) {
			clear(Long.MAX_VALUE);
			return;
		}
		floor = Math.max(floor, watermark);
		times = new long[slots];
		sums = new long[slots];
		numbers = new int[slots];
		used = 0;
		for (int i = 0; i < oldTimes.length; i++) {
			if (oldNumbers[i] > 0 && oldTimes[i] >= watermark) {
				put(oldTimes[i], oldNumbers[i], oldSums[i]);
			}
		}
	}

	/** What a later cut can need: nothing below the watermark. */
	void write(DataOutput out, long watermark) throws IOException {
		int kept = 0;
		for (int i = 0; i < times.length; i++) {
			kept += numbers[i] > 0 && times[i] >= watermark ? 1 : 0;
		}
		out.writeLong(Math.max(floor, watermark));
		out.writeInt(kept);
		for (int i = 0; i < times.length; i++) {
			if (numbers[i] > 0 && times[i] >= watermark) {
				out.writeLong(times[i]);
				out.writeInt(numbers[i]);
				out.writeLong(sums[i]);
			}
		}
	}

	static Tail read(DataInput in) throws IOException {
		Tail tail = new Tail(in.readLong());
		for (int left = in.readInt(); left > 0; left--) {
			long time = in.readLong();
			int number = in.readInt();
			tail.put(time, number, in.readLong());
			if (tail.used * 4 > tail.times.length * 3) {
				tail.rebuild(tail.floor);
			}
		}
		return tail;
	}
}
