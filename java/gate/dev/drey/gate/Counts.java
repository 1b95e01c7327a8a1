package dev.drey.gate;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.Objects;

/**
 * What one subtask has counted in one transition on one side: the tally, by the cut as far as it is known, and the records
 * around a cut that is not known yet. It is the state of the gate; the cut in it says how the tally was split, and decides
 * nothing. Not for use by several threads.
 */
final class Counts {
	private static final int VERSION = 1;
	/** Times further ahead of the watermark are of a wrong clock. */
	private static final long AHEAD_MS = 3_600_000;

	private final String transition;
	private final String side;
	private final Tally tally;
	private final Tail passed;
	private final Tail withheld;
	private Cut cut;
	/** The watermark has not reached the cut, so that another one may come. */
	private boolean tailed = true;

	/** Begins to count at a position of the input that the base stands for; floor: the watermark. */
	Counts(String transition, String side, long base, long floor) {
		this(transition, side, new Tally(), new Tail(floor), new Tail(floor));
		tally.base = base;
	}

	private Counts(String transition, String side, Tally tally, Tail passed, Tail withheld) {
		this.transition = transition;
		this.side = side;
		this.tally = tally;
		this.passed = passed;
		this.withheld = withheld;
	}

	/** The sum. The other one is used up. */
	void add(Counts other) {
		if (!Objects.equals(cut, other.cut)) {
			join();
			other.join();
		}
		tally.add(other.tally);
		passed.addAll(other.passed);
		withheld.addAll(other.withheld);
	}

	boolean isOf(String thatTransition, String thatSide) {
		return transition.equals(thatTransition) && side.equals(thatSide);
	}

	Tally tally() {
		return tally;
	}

	/** By which the tally is split; null: by none. */
	Cut cut() {
		return cut;
	}

	void count(long time, long hash, boolean above, boolean pass, long watermark) {
		tally.count(above, pass, hash);
		if (time == GateTime.NONE) {
			tally.timeless++;
			return;
		}
		if (time < watermark) {
			tally.late++;
		} else if (tailed) {
			(pass ? passed : withheld).add(time, hash, watermark);
		}
		if (watermark != Long.MIN_VALUE && time - AHEAD_MS > watermark) {
			tally.ahead++;
		} else if (time > tally.maxSeen) {
			tally.maxSeen = time;
		}
	}

	/** Null, or why records above the cut may have been held back. */
	String refuses(Cut next, long watermark) {
		if (next.equals(cut)) {
			return null;
		}
		if (next.toggle <= watermark) {
			return "the cut is not above the watermark";
		}
		if (!withheld.isCompleteFrom(next.toggle)) {
			return "what was held back around the cut is not known";
		}
		long count = withheld.count(next);
		return count == 0 ? null : count + " records above the cut were held back";
	}

	/** Splits what was counted by another cut. */
	void split(Cut next) {
		if (next.equals(cut)) {
			return;
		}
		join();
		cut = next;
		if (!passed.isCompleteFrom(next.toggle) || !withheld.isCompleteFrom(next.toggle)) {
			tally.inexact = 1;
		}
		long passedAbove = passed.count(next);
		long withheldAbove = withheld.count(next);
		long sum = passed.sum(next) + withheld.sum(next);
		tally.passedBelow -= passedAbove;
		tally.passedAbove += passedAbove;
		tally.withheldBelow -= withheldAbove;
		tally.withheldAbove += withheldAbove;
		tally.sumBelow -= sum;
		tally.sumAbove += sum;
	}

	/** Without a cut everything is below it. */
	void join() {
		cut = null;
		tally.passedBelow += tally.passedAbove;
		tally.withheldBelow += tally.withheldAbove;
		tally.sumBelow += tally.sumAbove;
		tally.passedAbove = 0;
		tally.withheldAbove = 0;
		tally.sumAbove = 0;
	}

	/** Behind the cut it is not changed any more, and what is above it is counted as it comes. */
	void watermark(long watermark) {
		if (tailed && cut != null && watermark >= cut.toggle) {
			tailed = false;
			passed.clear(Long.MAX_VALUE);
			withheld.clear(Long.MAX_VALUE);
		}
	}

	byte[] encode(long watermark) throws IOException {
		ByteArrayOutputStream bytes = new ByteArrayOutputStream();
		try (DataOutputStream out = new DataOutputStream(bytes)) {
			out.writeByte(VERSION);
			out.writeUTF(transition);
			out.writeUTF(side);
			tally.write(out);
			passed.write(out, watermark);
			withheld.write(out, watermark);
			out.writeBoolean(cut != null);
			if (cut != null) {
				out.writeLong(cut.toggle);
				out.writeLong(cut.ceiling);
			}
			out.writeBoolean(tailed);
		}
		return bytes.toByteArray();
	}

	static Counts decode(byte[] bytes) throws IOException {
		try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes))) {
			int version = in.readByte();
			if (version != VERSION) {
				throw new IOException("the state of the gate has version " + version + "; this drey-gate.jar reads " + VERSION);
			}
			Counts counts = new Counts(in.readUTF(), in.readUTF(), Tally.read(in), Tail.read(in), Tail.read(in));
			if (in.readBoolean()) {
				counts.cut = new Cut(in.readLong(), in.readLong());
			}
			counts.tailed = in.readBoolean();
			return counts;
		}
	}
}
