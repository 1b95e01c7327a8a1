package dev.drey.gate;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/** Assertions that print TAP. Parts may run at the same time: each is printed as a whole, at its end. */
final class Tap {
	interface Body {
		void run() throws Exception;
	}

	private static final ThreadLocal<List<String>> LINES = ThreadLocal.withInitial(ArrayList::new);
	private static int count;
	private static int failed;
	private static String only = "";

	private Tap() {}

	/** Runs a part of the tests; an exception is one failure. */
	static void part(String name, Body body) {
		if (!only.isEmpty() && !name.contains(only)) {
			return;
		}
		long from = System.nanoTime();
		try {
			body.run();
		} catch (Throwable e) {
			StringBuilder text = new StringBuilder(e.toString());
			for (StackTraceElement frame : e.getStackTrace()) {
				text.append("\n  ").append(frame);
			}
			ok(false, name + " runs to its end");
			diag(text.toString());
		}
		print(name + ", " + (System.nanoTime() - from) / 1_000_000 + " ms");
	}

	private static synchronized void print(String title) {
		System.out.println("# " + title);
		for (String line : LINES.get()) {
			if (!line.startsWith("#")) {
				count++;
				failed += line.startsWith("ok ") ? 0 : 1;
			}
			System.out.println(line.replaceFirst("^((not )?ok) - ", "$1 " + count + " - "));
		}
		System.out.flush();
		LINES.get().clear();
	}

	static void only(String name) {
		only = name;
	}

	static void ok(boolean good, String what) {
		LINES.get().add((good ? "ok - " : "not ok - ") + what);
	}

	static void is(Object got, Object want, String what) {
		boolean good = Objects.equals(got, want);
		ok(good, what);
		if (!good) {
			diag("     got: " + got + "\nexpected: " + want);
		}
	}

	static void diag(String text) {
		for (String line : text.split("\n")) {
			LINES.get().add("#   " + line);
		}
	}

	/** The exit status. */
	static int end() {
		System.out.println("1.." + count);
		System.out.flush();
		return failed == 0 ? 0 : 1;
	}
}
