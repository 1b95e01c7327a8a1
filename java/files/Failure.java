package drey.files;

import java.io.IOException;

/** Why a file was not read, as drey distinguishes it (base/err.h). */
final class Failure extends IOException {
	private static final long serialVersionUID = 1;

	static final int ABSENT = 1; // proven
	static final int DENIED = 2;
	static final int RETRY = 3;
	static final int FORMAT = 4; // a directory in place of a file, or the other way round
	static final int CONFIG = 5;
	static final int SYSTEM = 6;

	final int kind;
	final long nanos = System.nanoTime();

	Failure(int kind, String message) {
		super(message);
		this.kind = kind;
	}
}
