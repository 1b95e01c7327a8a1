package dev.drey.gate;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** What one subtask does with each kind of record under each word, and what it counts; without Flink. */
final class ValveTest {
	private static final long T = 10_000;
	private static final Cut CUT = new Cut(T, T + Cut.CEILING_ABOVE_MS);
	private static final String ID = "h1-00000001";

	private ValveTest() {}

	static void run() {
		Tap.part("table", ValveTest::table);
		Tap.part("holds", ValveTest::holds);
		Tap.part("orders", ValveTest::orders);
		Tap.part("refusals", ValveTest::refusals);
		Tap.part("counts", ValveTest::counts);
		Tap.part("rescale", ValveTest::rescale);
		Tap.part("tail", ValveTest::tail);
	}

	private static Order order(long number, Word word) {
		return new Order(number, ID, word, word.needsCut() ? CUT : null);
	}

	private static Valve valve(Word word) {
		Valve valve = new Valve("blue");
		valve.apply(order(1, word));
		valve.watermark(5000);
		return valve;
	}

	/** "p" or "-" for: below, last below, cut, above, last above, ceiling, late, without a time. */
	private static String passes(Valve valve) {
		StringBuilder text = new StringBuilder();
		for (long time : new long[] {6000, T - 1, T, T + 1, CUT.ceiling - 1, CUT.ceiling, 4000, GateTime.NONE}) {
			text.append(valve.passes(time, 0) ? 'p' : '-');
		}
		return text.toString();
	}

	private static void table() {
		Tap.is(passes(valve(Word.OPEN)), "pppppppp", "open passes everything");
		Tap.is(passes(valve(Word.CLOSED)), "--------", "closed passes nothing");
		Tap.is(passes(valve(Word.ARM_BLUE)), "pp---ppp", "armBlue passes what is below the cut");
		Tap.is(passes(valve(Word.ARM_GREEN)), "--ppp---", "armGreen passes what is above the cut");
		Valve finish = valve(Word.FINISH);
		Tap.is(passes(finish), "--ppp--p", "finish, before the watermark has reached the cut, does not pass what is below it: the old side has written that");
		finish.watermark(T);
		Tap.is(passes(finish), "pppppppp", "behind the cut finish passes everything");
		Valve rest = new Valve("blue");
		Tap.ok(rest.waits() && !rest.isAtRest(), "without an order it waits");
		rest.apply(Order.OPEN);
		Tap.ok(!rest.waits() && rest.isAtRest(), "without drey it is open and at rest");
		Tap.ok(!valve(Word.OPEN).isAtRest(), "open in a transition is not at rest: it counts");
	}

	private static void holds() throws IOException {
		Tap.ok(!valve(Word.OPEN).holds() && !valve(Word.CLOSED).holds(), "without a record and a cut nothing is held back");
		Valve closed = valve(Word.CLOSED);
		closed.passes(6000, 0);
		Tap.ok(closed.holds(), "a record is held back");
		Tap.ok(valve(Word.ARM_BLUE).holds() && valve(Word.ARM_GREEN).holds() && valve(Word.FINISH).holds(), "a cut is set");
		Valve later = new Valve("blue");
		for (byte[] element : closed.snapshot()) {
			later.restore(element);
		}
		Tap.ok(later.holds(), "restored, and without an order yet: as the snapshot");
		later.apply(Order.OPEN);
		Tap.ok(!later.holds(), "open and at rest: no more");
	}

	private static void orders() {
		Valve valve = valve(Word.CLOSED);
		valve.apply(order(1, Word.OPEN));
		Tap.is(valve.state(), "closed", "another order with the same number changes nothing");
		valve.apply(order(3, Word.ARM_GREEN));
		valve.apply(order(2, Word.OPEN));
		Tap.is(valve.state() + valve.answered(), "armed3", "nor does an older one");
		valve.apply(new Order(4, null, Word.OPEN, null));
		Tap.ok(valve.isAtRest() && valve.tally() == null, "after the transition the cut and the counts are forgotten");
		valve.apply(new Order(5, "h2-00000002", Word.CLOSED, null));
		Tap.is(valve.tally().passed() + valve.tally().withheld(), 0L, "another transition counts from the beginning");
	}

	private static void refusals() {
		Valve valve = valve(Word.CLOSED);
		valve.passes(T, 1);
		valve.apply(order(2, Word.ARM_GREEN));
		Tap.is(valve.refusal(), "1 records above the cut were held back", "a record that was held back at the cut: refused");
		Tap.is(passes(valve), "--------", "it stays closed");
		valve = valve(Word.CLOSED);
		valve.passes(T - 1, 1);
		valve.passes(CUT.ceiling, 1);
		valve.apply(order(2, Word.ARM_GREEN));
		Tap.is(valve.refusal(), null, "one before the cut, and one far in the future: agreed");
		valve.apply(new Order(3, ID, Word.ARM_GREEN, new Cut(T - 1, CUT.ceiling)));
		Tap.ok(valve.refusal() != null, "an earlier cut, below which it was held back: refused");
		Tap.is(passes(valve), "--ppp---", "it keeps the cut that it had");
		valve = valve(Word.CLOSED);
		valve.watermark(T);
		valve.apply(order(2, Word.ARM_GREEN));
		Tap.is(valve.refusal(), "the cut is not above the watermark", "a cut in the past: refused");
		valve = valve(Word.ARM_GREEN);
		valve.watermark(T + 1);
		valve.apply(order(2, Word.ARM_GREEN));
		Tap.is(valve.refusal(), null, "the same cut again, behind it: agreed");
		Valve first = new Valve("green");
		first.watermark(T);
		first.apply(order(1, Word.ARM_GREEN));
		Tap.ok(first.refusal() != null && passes(first).equals("--------"), "refused as the first order: closed");
		valve = valve(Word.OPEN);
		valve.watermark(T);
		valve.apply(order(2, Word.ARM_BLUE));
		Tap.is(valve.refusal() + valve.tally().inexact, "null0", "the old side follows a cut in the past");
		Tap.is(passes(valve), "pp---ppp", "and holds back what is above it");
	}

	private static void counts() {
		Valve blue = valve(Word.OPEN);
		Valve green = valve(Word.CLOSED);
		for (int i = 0; i < 1000; i++) {
			long time = 6000 + i * 3;
			blue.passes(time, Tally.mix(time, i));
			green.passes(time, Tally.mix(time, i));
		}
		blue.passes(T + 5, 7); // before it knows the cut
		blue.passes(T + 5, 7);
		blue.passes(4000, 9);
		blue.passes(GateTime.NONE, 11);
		green.passes(4000, 9);
		green.passes(GateTime.NONE, 11);
		green.apply(order(2, Word.ARM_GREEN));
		blue.apply(order(2, Word.ARM_BLUE));
		green.passes(T + 5, 7);
		green.passes(T + 5, 7);
		Tap.is(blue.tally().passedBelow + "/" + blue.tally().passedAbove, "1002/2",
				"records that the old side passed above the cut are known");
		Tap.is(green.tally().withheldBelow + "/" + green.tally().passedAbove, "1002/2",
				"and those that the new side held back and passed");
		Tap.is(green.tally().sumBelow, blue.tally().sumBelow, "both have the same sum below the cut");
		Tap.is(blue.tally().late + "/" + blue.tally().timeless, "1/1", "late ones and those without a time are counted");
		blue.passes(T + 9, 1);
		Tap.is(blue.tally().withheldAbove, 1L, "what is held back from then on is counted");
		green.passes(6001, 1);
		Tap.ok(green.tally().sumBelow != blue.tally().sumBelow, "one record more makes another sum");
		Valve ahead = valve(Word.OPEN);
		ahead.passes(5000 + 3_600_001, 0);
		ahead.passes(7000, 0);
		Tap.is(ahead.tally().maxSeen + "/" + ahead.tally().ahead, "7000/1", "a time far in the future is not the highest");
	}

	private static void rescale() throws Exception {
		List<byte[]> elements = new ArrayList<>();
		long bases = 0;
		for (int subtask = 0; subtask < 3; subtask++) {
			Valve valve = valve(Word.OPEN);
			valve.passes(8000 + subtask, subtask);
			valve.passes(T + subtask, subtask);
			bases += valve.tally().base;
			elements.addAll(valve.snapshot());
		}
		Valve one = new Valve("blue");
		for (byte[] element : elements) {
			one.restore(element);
		}
		Tap.is(one.snapshot().size(), 3, "until the order comes the state stays as it was");
		one.apply(order(2, Word.ARM_BLUE));
		Tap.is(one.tally().passedBelow + "/" + one.tally().passedAbove, "3/3",
				"after a change of the parallelism the counts add up, split by a cut that came later");
		Tap.is(one.tally().base, bases, "and so does where they begin");
		Valve more = new Valve("blue");
		more.restoreKey(ID + "/blue");
		more.apply(order(2, Word.ARM_BLUE));
		Tap.is(more.tally().base, 0L, "one more subtask than before adds nothing to that");
		Valve other = new Valve("green");
		other.restoreKey(ID + "/blue");
		other.restore(elements.get(0));
		other.apply(order(2, Word.CLOSED));
		Tap.is(other.tally().passed(), 0L, "the other side begins with 0");
		Tap.ok(other.tally().base != bases, "and from a position of its own");
		Valve later = new Valve("blue");
		Valve armed = valve(Word.ARM_BLUE);
		armed.passes(T + 1, 0);
		later.restore(armed.snapshot().get(0));
		later.apply(new Order(9, null, Word.OPEN, null));
		Tap.is(passes(later), "pppppppp", "a job that is restored after the transition, from state in it, passes everything");
	}

	private static void tail() throws Exception {
		Valve valve = new Valve("green");
		valve.apply(order(1, Word.CLOSED));
		long time = 0;
		for (int i = 0; i < 3_000_000; i++) {
			valve.watermark(time - 500);
			valve.passes(++time, 0);
		}
		valve.apply(new Order(2, ID, Word.ARM_GREEN, new Cut(time + 1, time + 10_000)));
		Tap.is(valve.refusal(), null, "of hours of records it keeps those that matter");
		Valve old = new Valve("green");
		old.apply(order(1, Word.CLOSED));
		for (time = 0; time < 1_000_000; time++) {
			old.passes(time, 0);
		}
		old.apply(new Order(2, ID, Word.ARM_GREEN, new Cut(time + 1, time + 10_000)));
		Tap.is(old.refusal(), "what was held back around the cut is not known", "without watermarks there are too many: refused");
		Tap.ok(old.snapshot().get(0).length < 1000, "its state is small");
	}
}
