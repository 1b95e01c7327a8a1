package dev.drey.gate;

import java.io.Serializable;
import java.util.Objects;

/** What the agent wants of all gates of the job. Immutable. */
final class Order implements Serializable {
	private static final long serialVersionUID = 1;
	/** Where there is no drey. */
	static final Order OPEN = new Order(0, null, Word.OPEN, null);

	final long number;
	/** Null at rest: nothing is counted. */
	final String transition;
	final Word word;
	/** Null: none is named. */
	final Cut cut;

	Order(long number, String transition, Word word, Cut cut) {
		this.number = number;
		this.transition = transition;
		this.word = word;
		this.cut = cut;
	}

	boolean isAtRest() {
		return transition == null;
	}

	/** The same content under the same number. */
	boolean isSame(Order other) {
		return number == other.number && word == other.word && Objects.equals(transition, other.transition)
				&& Objects.equals(cut, other.cut);
	}
}
