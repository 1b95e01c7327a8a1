package dev.drey.gate;

/** What a gate does with the records below and above the cut. */
enum Word {
	OPEN("open", true, true),
	CLOSED("closed", false, false),
	/** The new side. */
	ARM_GREEN("armGreen", false, true),
	/** The old side. */
	ARM_BLUE("armBlue", true, false),
	/** The new side, when the old one has ended; below the cut only what the old one cannot have written ({@link Valve#passes}). */
	FINISH("finish", true, true);

	private final String text;
	private final boolean passesBelow;
	private final boolean passesAbove;

	Word(String text, boolean passesBelow, boolean passesAbove) {
		this.text = text;
		this.passesBelow = passesBelow;
		this.passesAbove = passesAbove;
	}

	boolean passes(boolean above) {
		return above ? passesAbove : passesBelow;
	}

	boolean needsCut() {
		return this == ARM_GREEN || this == ARM_BLUE || this == FINISH;
	}

	/** As it stands in the files. */
	String text() {
		return text;
	}

	/** Null: there is no such word. */
	static Word of(String text) {
		for (Word word : values()) {
			if (word.text.equals(text)) {
				return word;
			}
		}
		return null;
	}
}
