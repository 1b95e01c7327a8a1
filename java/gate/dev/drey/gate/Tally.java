package dev.drey.gate;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.io.Serializable;

/** What a gate has counted in a transition: of one subtask, or the sum of several. Not for use by several threads. */
final class Tally implements Serializable {
	private static final long serialVersionUID = 1;

	long passedBelow;
	long passedAbove;
	long withheldBelow;
	long withheldAbove;
	long late;
	long timeless;
	long ahead;
	/** Long.MIN_VALUE: no record with a time. */
	long maxSeen = Long.MIN_VALUE;
	/** Sums of {@link #mix}, modulo 2^64. */
	long sumBelow;
	long sumAbove;
	/** From where it was counted: the sum of a random number for each subtask that has begun. */
	long base;
	/** Subtasks whose records around the cut are not all known. */
	int inexact;

	long passed() {
		return passedBelow + passedAbove;
	}

	long withheld() {
		return withheldBelow + withheldAbove;
	}

	void count(boolean above, boolean pass, long hash) {
		if (above) {
			sumAbove += hash;
			if (pass) {
				passedAbove++;
			} else {
				withheldAbove++;
			}
		} else {
			sumBelow += hash;
			if (pass) {
				passedBelow++;
			} else {
				withheldBelow++;
			}
		}
	}

	void add(Tally other) {
		passedBelow += other.passedBelow;
		passedAbove += other.passedAbove;
		withheldBelow += other.withheldBelow;
		withheldAbove += other.withheldAbove;
		late += other.late;
		timeless += other.timeless;
		ahead += other.ahead;
		maxSeen = Math.max(maxSeen, other.maxSeen);
		sumBelow += other.sumBelow;
		sumAbove += other.sumAbove;
		base += other.base;
		inexact += other.inexact;
	}

	Tally copy() {
		Tally copy = new Tally();
		copy.add(this);
		return copy;
	}

	/** A hash of a record that can be added up: records that differ in one bit have nothing in common. */
	static long mix(long time, long identity) {
		long h = time * 0x9E3779B97F4A7C15L + identity;
		h = (h ^ (h >>> 32)) * 0xD6E8FEB86659FD93L;
		h = (h ^ (h >>> 32)) * 0xD6E8FEB86659FD93L;
		return h ^ (h >>> 32);
	}

	void write(DataOutput out) throws IOException {
		for (long value : new long[] {passedBelow, passedAbove, withheldBelow, withheldAbove, late, timeless, ahead, maxSeen,
				sumBelow, sumAbove, base, inexact}) {
			out.writeLong(value);
		}
	}

	static Tally read(DataInput in) throws IOException {
		Tally tally = new Tally();
		tally.passedBelow = in.readLong();
		tally.passedAbove = in.readLong();
		tally.withheldBelow = in.readLong();
		tally.withheldAbove = in.readLong();
		tally.late = in.readLong();
		tally.timeless = in.readLong();
		tally.ahead = in.readLong();
		tally.maxSeen = in.readLong();
		tally.sumBelow = in.readLong();
		tally.sumAbove = in.readLong();
		tally.base = in.readLong();
		tally.inexact = (int) in.readLong();
		return tally;
	}
}
