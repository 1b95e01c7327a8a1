package dev.drey.gate;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;

/**
 * What one subtask of a gate does: which order it follows, whether a record passes, and what was counted. It knows nothing of
 * Flink, and does no I/O. Not for use by several threads: it belongs to the task.
 *
 * <p>Life: {@link #restore} for each element of the state, then {@link #apply} for the first order, then records.
 */
final class Valve {
	private final String side;
	private final List<Counts> restored = new ArrayList<>();
	/** Of all subtasks. */
	private final Set<String> restoredKeys = new HashSet<>();
	private long watermark = Long.MIN_VALUE;
	/** The last order that was answered; null: none, no record may come. */
	private Order answered;
	/** Why it was refused; null: it is followed. */
	private String refusal;
	private Word word;
	private Cut cut;
	/** Null at rest. */
	private Counts counts;
	/** Records passed at rest. */
	private long passed;

	Valve(String side) {
		this.side = side;
	}

	boolean waits() {
		return answered == null;
	}

	/** Everything passes, and nothing is counted but the number. */
	boolean isAtRest() {
		return word == Word.OPEN && counts == null;
	}

	void passedAtRest() {
		passed++;
	}

	/** Of the state of an earlier attempt: one for each subtask that there was. */
	void restore(byte[] element) throws IOException {
		restored.add(Counts.decode(element));
	}

	/** What all subtasks had counted for: {@link #keys} of each. */
	void restoreKey(String key) {
		restoredKeys.add(key);
	}

	/** For {@link #restoreKey}. */
	List<String> keys() {
		if (waits()) {
			return new ArrayList<>(restoredKeys);
		}
		return counts == null ? Collections.emptyList() : Collections.singletonList(key(answered));
	}

	private String key(Order order) {
		return order.transition + "/" + side;
	}

	/**
	 * Whether who starts a job from this state must know of the transition: a cut is set, or records were held back, which
	 * another job is to have written.
	 */
	boolean holds() {
		if (waits()) {
			return restored.stream().anyMatch(Valve::holds);
		}
		return counts != null && holds(counts);
	}

	private static boolean holds(Counts counts) {
		return counts.cut() != null || counts.tally().withheld() > 0;
	}

	/** Elements of the state, as of now. */
	List<byte[]> snapshot() throws IOException {
		List<byte[]> elements = new ArrayList<>();
		if (waits()) { // whatever it is of
			for (Counts counts : restored) {
				elements.add(counts.encode(Long.MIN_VALUE));
			}
		} else if (counts != null) {
			elements.add(counts.encode(watermark));
		}
		return elements;
	}

	/** Follows the order, or refuses it and stays as it was. An order that is older than the last one changes nothing. */
	void apply(Order order) {
		if (answered != null && order.number <= answered.number) {
			return;
		}
		count(order);
		answered = order;
		refusal = order.word == Word.ARM_GREEN ? refusal(order.cut) : null;
		if (refusal != null) {
			word = word == null ? Word.CLOSED : word;
			return;
		}
		word = order.word;
		if (word == Word.CLOSED) {
			cut(null); // the next one is another one
		} else if (order.cut != null) {
			cut(order.cut);
		} else {
			cut = counts == null ? null : counts.cut(); // both halves pass: it only tells them apart
		}
	}

	/** Which of the counts belong to the order. */
	private void count(Order order) {
		if (order.isAtRest()) {
			counts = null;
			cut = null;
		} else if (counts == null || !counts.isOf(order.transition, side)) {
			counts = null;
			cut = null;
			for (Counts part : restored) {
				if (!part.isOf(order.transition, side)) {
					continue;
				}
				if (order.word.needsCut() && refuses(part, order) == null) {
					part.split(order.cut); // before they are added up: some may know the cut already
				}
				if (counts == null) {
					counts = part;
				} else {
					counts.add(part);
				}
			}
			if (counts == null) {
				// with more subtasks than before, this one continues where the others have begun
				long base = restoredKeys.contains(key(order)) ? 0 : ThreadLocalRandom.current().nextLong();
				counts = new Counts(order.transition, side, base, watermark);
			}
		}
		restored.clear();
		restoredKeys.clear();
	}

	private String refuses(Counts part, Order order) {
		return order.word == Word.ARM_GREEN ? part.refuses(order.cut, watermark) : null;
	}

	private String refusal(Cut next) {
		return counts == null ? null : counts.refuses(next, watermark);
	}

	private void cut(Cut next) {
		cut = next;
		if (counts != null) {
			if (next == null) {
				counts.join();
			} else {
				counts.split(next);
				counts.watermark(watermark);
			}
		}
	}

	/** Whether the record passes. */
	boolean passes(long time, long hash) {
		boolean above = cut != null && cut.isAbove(time);
		boolean pass = word.passes(above);
		if (word == Word.FINISH && !above && time != GateTime.NONE && watermark < cut.toggle) {
			pass = false; // on time: the old side has written it. This one is behind, or has gone back to an older checkpoint
		}
		if (counts != null) {
			counts.count(time, hash, above, pass, watermark);
		}
		return pass;
	}

	void watermark(long next) {
		watermark = next;
		if (counts != null) {
			counts.watermark(next);
		}
	}

	/** Long.MIN_VALUE: none yet. */
	long watermark() {
		return watermark;
	}

	/** 0: none was answered. */
	long answered() {
		return answered == null ? 0 : answered.number;
	}

	String refusal() {
		return refusal;
	}

	/** As in the report. */
	String state() {
		if (waits()) {
			return "waiting";
		}
		if (refusal != null) {
			return "refused";
		}
		switch (word) {
			case OPEN:
				return "open";
			case CLOSED:
				return "closed";
			case FINISH:
				return "finished";
			default:
				return "armed";
		}
	}

	/** Null at rest. */
	Tally tally() {
		return counts == null ? null : counts.tally().copy();
	}

	long passed() {
		return counts == null ? passed : counts.tally().passed();
	}

	long withheld() {
		return counts == null ? 0 : counts.tally().withheld();
	}
}
