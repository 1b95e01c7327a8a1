package dev.drey.gate;

import java.io.Serializable;

/**
 * Which side a record belongs to: above the cut (toggle &lt;= time &lt; ceiling) to the new side, all others to the old one.
 * It is a function of the record's time alone, so both sides decide alike, whenever they see the record.
 *
 * <p>The ceiling is for times far in the future, by a wrong clock: the new side has held some of them back before it knew
 * the cut, and must not be asked to take them over.
 */
final class Cut implements Serializable {
	private static final long serialVersionUID = 1;
	static final long CEILING_ABOVE_MS = 3_600_000;

	final long toggle;
	final long ceiling;

	Cut(long toggle, long ceiling) {
		this.toggle = toggle;
		this.ceiling = ceiling;
	}

	boolean isAbove(long time) {
		return time >= toggle && time < ceiling;
	}

	@Override
	public boolean equals(Object other) {
		return other instanceof Cut && ((Cut) other).toggle == toggle && ((Cut) other).ceiling == ceiling;
	}

	@Override
	public int hashCode() {
		return Long.hashCode(toggle * 31 + ceiling);
	}

	@Override
	public String toString() {
		return toggle + ".." + ceiling;
	}
}
