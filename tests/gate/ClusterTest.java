package dev.drey.gate;

import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;

/** The gate in real jobs: blue and green in a MiniCluster each, with one input and one output. */
final class ClusterTest {
	private static final String EXACT = "lost 0 doubled 0";

	private final MiniCluster[] clusters;
	private final Path directory;

	private ClusterTest(MiniCluster[] clusters, Path directory) {
		this.clusters = clusters;
		this.directory = directory;
	}

	static void run(MiniCluster[] clusters, Path directory) throws Exception {
		ClusterTest test = new ClusterTest(clusters, directory);
		Map<String, Tap.Body> parts = new LinkedHashMap<>();
		parts.put("failures", test::failures);
		parts.put("damaged files", test::damagedFiles);
		parts.put("audit", test::audit);
		parts.put("without drey", test::withoutDrey);
		parts.put("waits", test::waits);
		parts.put("still cut", test::cut);
		parts.put("live cut", test::liveCut);
		parts.put("late arm", test::lateArm);
		parts.put("refuses", test::refuses);
		parts.put("rescale in a transition", test::rescale);
		parts.put("idle", test::idle);
		parts.put("idleStop", test::idleStop);
		parts.put("no watermarks", test::noWatermarks);
		parts.put("two gates", test::twoGates);
		parts.put("restored from older", test::restoredFromOlder);
		parts.put("abort", test::abort);
		parts.put("new side behind", test::newSideBehind);
		parts.put("SQL", () -> TableTest.run(directory));
		// most of their time they wait
		ExecutorService threads = Executors.newFixedThreadPool(GateTests.AT_A_TIME);
		parts.forEach((name, body) -> threads.execute(() -> Tap.part(name, body)));
		threads.shutdown();
		threads.awaitTermination(10, TimeUnit.MINUTES);
	}

	private Transition transition(int splits) throws Exception {
		return new Transition(clusters, directory, splits, false);
	}

	private void withoutDrey() throws Exception {
		try (Transition t = transition(2)) {
			t.blue.start(new Configuration(), 2, null);
			Tap.is(t.result(), EXACT, "without a directory everything passes");
			Tap.ok(!Files.exists(t.blue.directory().resolve("report.json")), "and no file is written");
		}
		try (Transition t = transition(1)) {
			Configuration c = new Configuration();
			c.setString("drey.gate.directory", t.blue.directory().toString());
			Tap.is(failure(() -> t.blue.start(c, 1, null)), "drey: drey.gate.directory is set, and drey.side is not; drey sets both, or neither",
					"a directory and no side: the job is not built");
			c.setString("drey.side", "red");
			Tap.is(failure(() -> t.blue.start(c, 1, null)), "drey.side: 'red' is no side; drey sets it to blue or green",
					"nor with a side that does not exist");
		}
	}

	private static String failure(Tap.Body body) {
		try {
			body.run();
			return "none";
		} catch (Exception e) {
			return e.getMessage();
		}
	}

	private void waits() throws Exception {
		try (Transition t = transition(2)) {
			t.blue.start(2, null);
			Side.await("a report", () -> t.blue.report() != null && t.blue.gate().path("running").asInt() == 2);
			t.blue.write("{\"schema\":1,\"launch\":\"" + t.blue.job() + "\",\"side\":\"green\",\"transition\":null,\"number\":9,\"word\":\"open\"}");
			Side.await("the order of the other side is noticed",
					() -> t.blue.report().path("ignored").asText().contains("for the side green"));
			Thread.sleep(3500); // longer than an answer waits
			Tap.is(t.output.size(), 0, "without an order that counts no record passes");
			Tap.is(t.blue.gate().path("acked").asInt() + t.blue.report().path("number").asInt(), 0,
					"and the report says that the gates wait");
			t.blue.keep("waits");
			t.blue.order(null, "open", null);
			t.blue.awaitAcked();
			Tap.is(t.result(), EXACT, "then all of them pass");
			Thread.sleep(600);
			long written = t.blue.report().path("writtenUnixMs").asLong();
			Thread.sleep(2500);
			Tap.is(t.blue.report().path("writtenUnixMs").asLong(), written, "at rest no report is written");
		}
	}

	private void cut() throws Exception {
		try (Transition t = transition(2)) {
			t.startBlue(2);
			t.shadow(2);
			int writes = 0;
			long last = 0;
			for (long end = System.nanoTime() + 3_000_000_000L; System.nanoTime() < end; Thread.sleep(5)) {
				long written = t.blue.report().path("writtenUnixMs").asLong();
				writes += written != last ? 1 : 0;
				last = written;
			}
			Tap.ok(writes >= 4 && writes <= 7, "in a transition a report is written twice a second: " + writes + " in 3 s");
			t.stillCut();
			Tap.is(t.blue.sum("passedAbove"), 0L, "blue has passed nothing above the cut");
			Tap.ok(t.blue.sum("late") > 0, "late records are counted: " + t.blue.sum("late"));
			t.end();
			Tap.is(t.result(), EXACT, "green then blue: each record once");
			Tap.is(t.green.report().path("word").asText() + t.green.gate().path("passedAbove").asLong(), "open0",
					"green is open, and has forgotten the cut");
		}
	}

	private void liveCut() throws Exception {
		try (Transition t = transition(3)) {
			t.startBlue(2);
			t.shadow(3);
			t.cut();
			long above = t.blue.sum("passedAbove");
			JsonNode end = t.blue.snapshotOfStop();
			t.blue.keep("the last report");
			Tap.ok(end != null && end.path("minWatermark").asLong() >= t.toggle, "the last report has the savepoint of the end, behind the cut");
			t.green.order(t.id, "finish", t.toggle);
			t.green.awaitAcked();
			Tap.is(t.result().replaceAll(" \\(.*", ""), "lost 0 doubled " + above,
					"with a running input and another parallelism: each record once, but for those that blue had passed");
		}
	}

	private void lateArm() throws Exception {
		try (Transition t = transition(2)) {
			t.startBlue(2);
			t.shadow(2);
			t.input.limit = t.input.due();
			t.caughtUp();
			t.toggle = Stream.FIRST_TIME + t.input.limit + 100;
			t.green.order(t.id, "armGreen", t.toggle);
			t.green.awaitAcked();
			t.input.limit += 400; // blue is not armed yet
			t.caughtUp();
			Thread.sleep(800);
			t.blue.order(t.id, "armBlue", t.toggle);
			t.blue.awaitAcked();
			long above = t.blue.sum("passedAbove");
			Tap.ok(above > 500 && above < 700, "blue is armed too late: it counts what it has passed above the cut: " + above);
			t.input.limit = Long.MAX_VALUE;
			t.blue.awaitCrossed();
			Thread.sleep(400);
			t.end();
			Tap.is(t.result().replaceAll(" \\(.*", ""), "lost 0 doubled " + above, "exactly so many are there twice");
		}
	}

	private void refuses() throws Exception {
		try (Transition t = transition(2)) {
			t.startBlue(2);
			t.shadow(2);
			t.input.limit = t.input.due();
			t.caughtUp();
			long early = t.green.gate().path("maxSeen").asLong() - 2;
			t.green.order(t.id, "armGreen", early);
			t.green.awaitGates("refused", gate ->
					gate.path("refused").asInt() > 0 && gate.path("refused").asInt() + gate.path("acked").asInt() == 2);
			Tap.ok(t.green.gate().path("whyRefused").asText().matches("[0-9]+ records above the cut were held back|the cut is not above the watermark"),
					"a cut below what green has held back is refused: " + t.green.gate().path("whyRefused").asText());
			t.green.order(t.id, "closed", null);
			t.green.awaitAcked();
			t.stillCut();
			t.end();
			Tap.is(t.result(), EXACT, "with a later cut each record is there once");
		}
	}

	/** A task of both sides fails before each step, in several transitions at random splits. */
	private void failures() throws Exception {
		long seed = Long.getLong("seed", System.nanoTime() & 0xffff);
		Random random = new Random(seed);
		int turns = Integer.getInteger("turns", 2);
		for (int turn = 0; turn < turns; turn++) {
			int from = turn == 0 ? 1 : random.nextInt(9) + 1;
			Transition made = new Transition(clusters, directory, 3, false) {
				@Override
				void before(int step) throws Exception {
					if (step < from || random.nextInt(4) == 0 && from > 1) {
						return;
					}
					if (step <= 7) {
						blue.fail(random.nextInt(3));
						blue.awaitStates(step < 6 ? "open" : "armed");
					}
					if (step >= 3) {
						green.fail(random.nextInt(3));
						green.awaitStates(step < 5 ? "closed" : step < 9 ? "armed" : "finished");
					}
				}
			};
			try (Transition t = made) {
				t.startBlue(2);
				t.shadow(3);
				t.cut();
				long above = t.blue.sum("passedAbove");
				t.end();
				String result = t.result();
				Tap.is(result.replaceAll(" \\(.*", ""), "lost 0 doubled " + above,
						"failures from step " + from + ", seed " + seed + ", " + above + " above the cut: " + result);
			}
		}
	}

	private void rescale() throws Exception {
		try (Transition t = transition(4)) {
			t.startBlue(2);
			t.shadow(2);
			t.stillCut();
			t.input.limit = t.input.due();
			Side.await("blue stands still", () -> {
				long sum = t.blue.sum("passedBelow") + t.blue.sum("withheldAbove");
				Thread.sleep(1200);
				return sum == t.blue.sum("passedBelow") + t.blue.sum("withheldAbove");
			});
			String counts = counts(t.blue);
			String savepoint = t.blue.stop();
			t.blue.order(t.id, "armBlue", t.toggle);
			t.blue.start(3, savepoint);
			t.blue.awaitAcked();
			Tap.is(counts(t.blue), counts, "with another parallelism the counts are the same");
			t.input.limit = Long.MAX_VALUE;
			t.blue.awaitCrossed();
			Thread.sleep(400);
			t.end();
			Tap.is(t.result(), EXACT, "and each record is there once");
		}
	}

	private static String counts(Side side) throws Exception {
		return side.sum("passedBelow") + " " + side.sum("passedAbove") + " " + side.sum("withheldAbove") + " "
				+ side.gate().path("sumBelow").asText() + " " + side.gate().path("base").asText();
	}

	/** Whether the agent may grant the job depends on this. */
	private void idleStop() throws Exception {
		try (Transition t = transition(2)) {
			t.startBlue(2);
			t.shadow(2);
			t.stillCutButIdle();
			JsonNode end = t.blue.snapshotOfStop();
			Tap.ok(end != null && end.path("minWatermark").asLong() < t.toggle, "the savepoint of the end is not wholly behind the cut");
			Tap.ok(end != null && end.path("activeWatermark").asLong() >= t.toggle, "it is where there were records");
		}
	}

	private void idle() throws Exception {
		try (Transition t = transition(2)) {
			t.startBlue(2);
			t.shadow(2);
			t.stillCutButIdle();
			Tap.is(t.blue.gate().path("crossed").asInt() + "/" + t.blue.gate().path("idle").asInt(), "1/1",
					"an idle subtask has not crossed");
			t.input.silentSplit = -1;
			t.blue.awaitCrossed();
			Tap.is(t.blue.gate().path("idle").asInt(), 0, "it has when its records have come");
			Thread.sleep(400);
			t.end();
			Tap.is(t.result(), EXACT, "each record is there once");
		}
	}

	private void noWatermarks() throws Exception {
		try (Transition t = transition(2)) {
			t.blue.withoutWatermarks = true;
			t.startBlue(2);
			t.blue.order(t.id, "armBlue", Stream.FIRST_TIME + t.input.due() + 3000);
			t.blue.awaitAcked();
			t.blue.awaitGates("some is held back", gate -> gate.path("withheldAbove").asLong() > 0);
			JsonNode gate = t.blue.gate();
			Tap.is(gate.path("withoutWatermark").asInt() + "/" + gate.path("crossed").asInt() + "/" + gate.path("minWatermark"), "2/0/null",
					"without watermarks the cut holds, and nothing ever crosses it: the report says why");
			t.blue.order(t.id, "open", null);
			t.blue.awaitAcked();
			long held = t.blue.sum("withheldBelow") + t.blue.sum("withheldAbove");
			Tap.ok(held >= gate.path("withheldAbove").asLong(), "opened again in the same transition, it still says what it has held back: " + held);
		}
	}

	private void twoGates() throws Exception {
		try (Transition t = new Transition(clusters, directory, 4, true)) {
			Tap.is(t.whole(2), EXACT, "two gates with one cut: each record once");
			Tap.is(t.green.report().path("gates").findValuesAsText("uid").toString(), "[gate-even, gate-odd]", "the report has both");
		}
	}

	private void audit() throws Exception {
		audit(null, false, "0/true/true", "both sides have seen the same records below the cut");
		audit("green", false, "1/false/true", "a record that green has not seen is a difference of one");
		audit("green", true, "0/false/true", "another record of the same time is another sum");
	}

	private void audit(String lossySide, boolean instead, String expected, String what) throws Exception {
		try (Transition t = transition(2)) {
			t.startBlue(2);
			t.shadow(2);
			Tap.ok(!t.s0Counts.path("completed").asBoolean(), "the report has the savepoint that green was restored from");
			t.input.lossyValue = 1L << Stream.NUMBER_BITS | (t.input.due() + 200);
			t.input.lossySide = lossySide;
			t.input.instead = instead;
			t.input.limit = t.input.due() + 201;
			t.stillCut();
			t.input.limit = t.input.due();
			Thread.sleep(1500);
			JsonNode blue = t.blue.gate();
			JsonNode green = t.green.gate();
			long missing = blue.path("passedBelow").asLong() - t.s0Counts.path("passed").asLong() - green.path("withheldBelow").asLong();
			boolean same = sum(blue, "sumBelow") - sum(t.s0Counts, "sum") == sum(green, "sumBelow");
			Tap.is(missing + "/" + same + "/" + t.s0Counts.path("base").equals(blue.path("base")), expected, what);
		}
	}

	private static long sum(JsonNode node, String member) {
		return Long.parseUnsignedLong(node.path(member).asText(), 16);
	}

	private void restoredFromOlder() throws Exception {
		String[] armed = {null};
		Transition made = new Transition(clusters, directory, 2, false) {
			@Override
			void before(int step) throws Exception {
				armed[0] = step == 5 ? green.savepoint() : armed[0];
			}
		};
		try (Transition t = made) {
			t.startBlue(2);
			t.shadow(2);
			String closed = t.green.savepoint();
			Tap.is(gates(closed), "holding", "drey inspect: the gates of the new side hold records back");
			Tap.is(gates(t.blue.savepoint()), "open", "those of the old side count, and pass everything");
			t.stillCut();
			Tap.is(gates(t.blue.savepoint()), "holding", "with a cut they hold back what is above it");
			t.end();
			for (String older : new String[] {closed, armed[0]}) {
				t.green.cancel();
				t.green.order(null, "open", null);
				t.green.start(2, older);
				t.green.awaitAcked();
				String result = t.result();
				long below = t.toggle - Stream.FIRST_TIME - 100; // the time of its record is below the cut, and it came after both snapshots
				Tap.is(gates(t.green.savepoint()), "open", "and drey inspect says so");
				Tap.ok(result.startsWith("lost 0 doubled ") && t.output.isOf(t.green.job(), 0, below),
						"from a snapshot in the transition nothing is held back: " + result);
				t.input.limit = Long.MAX_VALUE;
			}
		}
	}

	/** As drey reads it in the _metadata. */
	private static String gates(String savepoint) throws Exception {
		Process drey = new ProcessBuilder(System.getProperty("drey"), "inspect", "--json", savepoint.replaceFirst("^file:", "") + "/_metadata")
				.redirectErrorStream(true).start();
		try (InputStream said = drey.getInputStream()) {
			return new ObjectMapper().readTree(said).path("gates").asText("none");
		}
	}

	private void damagedFiles() throws Exception {
		try (Transition t = transition(2)) {
			t.startBlue(2);
			t.shadow(2);
			t.stillCut();
			for (String bad : new String[] {"", "{\"schema\":1,\"launch\":\"" + t.blue.job(),
					"{\"schema\":1,\"launch\":\"00\",\"transition\":null,\"number\":99,\"word\":\"open\"}",
					"{\"schema\":1,\"launch\":\"" + t.blue.job() + "\",\"transition\":null,\"number\":1,\"word\":\"open\"}"}) {
				t.blue.write(bad);
				Side.await("ignored: " + bad, () -> !t.blue.report().path("ignored").isNull());
				Tap.is(t.blue.report().path("word").asText(), "armBlue", "ignored: " + t.blue.report().path("ignored").asText());
				t.blue.fail(0); // a new attempt asks, too
				t.blue.awaitAcked();
				Files.delete(t.blue.directory().resolve("order.json"));
				Side.await("the file is gone", () -> t.blue.report().path("ignored").isNull());
			}
			Files.delete(t.blue.directory().resolve("report.json"));
			Side.await("the report is written again", () -> t.blue.report() != null);
			t.blue.awaitCrossed();
			t.end();
			Tap.is(t.result(), EXACT, "each record is there once");
		}
	}

	/** Green has not yet come to the cut when blue ends, and goes back to a checkpoint before it when it has. */
	private void newSideBehind() throws Exception {
		String[] armed = {null};
		Transition made = new Transition(clusters, directory, 2, false) {
			@Override
			void before(int step) throws Exception {
				if (step == 5) {
					armed[0] = green.savepoint();
					input.slowLimit = input.limit;
					input.slowSide = "green";
				}
			}
		};
		try (Transition t = made) {
			t.startBlue(2);
			t.shadow(2);
			t.stillCut();
			t.blue.stop();
			t.green.order(t.id, "finish", t.toggle);
			t.green.awaitAcked();
			t.input.slowSide = null;
			Tap.is(t.result(), EXACT, "green is behind the cut when it is told that blue has ended: each record once");
			t.green.cancel();
			t.input.limit = t.input.due();
			t.green.order(t.id, "finish", t.toggle);
			t.green.start(2, armed[0]);
			t.green.awaitAcked();
			t.result();
			long below = t.toggle - Stream.FIRST_TIME - 100;
			Tap.ok(!t.output.isOf(t.green.job(), 0, below), "restored from a snapshot before the cut it does not repeat what blue has written");
		}
	}

	private void abort() throws Exception {
		try (Transition t = transition(2)) {
			t.startBlue(2);
			t.shadow(2);
			t.input.limit = t.input.due();
			t.caughtUp();
			t.toggle = Stream.FIRST_TIME + t.input.limit + 300;
			t.green.order(t.id, "armGreen", t.toggle);
			t.green.awaitAcked();
			t.blue.order(t.id, "armBlue", t.toggle);
			t.blue.awaitAcked();
			Tap.is(t.blue.sum("withheldBelow") + t.blue.sum("withheldAbove"), 0L, "before the cut blue has held back nothing");
			t.blue.order(null, "open", null);
			t.blue.awaitAcked();
			t.green.cancel();
			t.input.limit = Long.MAX_VALUE;
			Tap.is(t.result(), EXACT, "blue is opened, green ends: each record once");
		}
	}
}
