package dev.drey.gate;

import java.util.concurrent.atomic.AtomicInteger;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;

/** The steps of a whole transition, as an agent makes them, and what is true in the end. A test hooks in between. */
class Transition implements AutoCloseable {
	/** Orders and reports take up to half a second each, and time passes as on the clock. */
	static final long LEAD_MS = 3000;
	private static final AtomicInteger COUNT = new AtomicInteger();

	final int splits;
	final Stream.Input input;
	final Commit.Output output = new Commit.Output();
	final Side blue;
	final Side green;
	final String id;
	final String stream;
	String s0;
	JsonNode s0Counts;
	long toggle;

	Transition(MiniCluster[] clusters, java.nio.file.Path directory, int splits, boolean two) throws Exception {
		int n = COUNT.incrementAndGet();
		this.splits = splits;
		stream = "stream" + n;
		id = String.format("h%d-%08x", n, n);
		input = new Stream.Input(splits, 1000);
		Stream.INPUTS.put(stream, input);
		Commit.OUTPUTS.put(stream, output);
		blue = new Side(clusters[0], "blue", directory, stream, two);
		green = new Side(clusters[1], "green", directory, stream, two);
	}

	/** Step N is about to be made. */
	void before(int step) throws Exception {}

	/** Blue runs, open and at rest. */
	void startBlue(int parallelism) throws Exception {
		blue.order(null, "open", null);
		blue.start(parallelism, null);
		blue.awaitAcked();
	}

	/** Blue counts; S0; green runs, closed, and has caught up. */
	void shadow(int parallelism) throws Exception {
		before(1);
		blue.order(id, "open", null);
		blue.awaitAcked();
		before(2);
		s0 = blue.savepoint();
		s0Counts = blue.awaitSnapshot(Side.checkpoint(s0)); // the report shows only the newest ones
		green.order(id, "closed", null);
		green.start(parallelism, s0);
		before(3);
		caughtUp();
	}

	/** A report is up to a second old: it says when green has seen what is due now, never what is due then. */
	void caughtUp() throws Exception {
		long due = input.due();
		green.awaitGates("caught up", gate -> gate.path("acked").asInt() == gate.path("parallelism").asInt()
				&& gate.path("maxSeen").asLong() > Stream.FIRST_TIME + due - 400);
	}

	/** The cut, in two steps: green, then blue. */
	void cut() throws Exception {
		long seen = 0;
		for (Side side : new Side[] {blue, green}) {
			for (JsonNode gate : side.report().path("gates")) {
				seen = Math.max(seen, gate.path("maxSeen").asLong());
			}
		}
		cut(seen + LEAD_MS);
	}

	void cut(long at) throws Exception {
		toggle = at;
		before(4);
		green.order(id, "armGreen", toggle);
		green.awaitAcked();
		before(5);
		blue.order(id, "armBlue", toggle);
		blue.awaitAcked();
		before(6);
		blue.awaitCrossed();
		Thread.sleep(400); // settle: the late ones
		before(7);
		blue.awaitCrossed(); // also if it has failed meanwhile
	}

	/** The input stands still while the cut is made: it is exact however slow this machine is. */
	void stillCut() throws Exception {
		input.limit = input.due();
		caughtUp();
		toggle = Stream.FIRST_TIME + input.limit + 300;
		green.order(id, "armGreen", toggle);
		green.awaitAcked();
		before(5);
		blue.order(id, "armBlue", toggle);
		blue.awaitAcked();
		input.limit = Long.MAX_VALUE;
		blue.awaitCrossed();
		Thread.sleep(400);
	}

	/** As stillCut(), but the last split is silent: without the crossing. */
	void stillCutButIdle() throws Exception {
		input.silentFrom = input.due();
		input.silentSplit = 1;
		input.limit = input.due();
		toggle = Stream.FIRST_TIME + input.limit + 300;
		green.order(id, "armGreen", toggle);
		green.awaitAcked();
		blue.order(id, "armBlue", toggle);
		blue.awaitAcked();
		input.limit = Long.MAX_VALUE;
		blue.awaitGates("one has crossed, one is idle", gate -> gate.path("crossed").asInt() == 1 && gate.path("idle").asInt() == 1);
		Thread.sleep(600);
	}

	/** Blue ends; green goes on alone. */
	void end() throws Exception {
		blue.stop();
		before(8);
		green.order(id, "finish", toggle);
		green.awaitAcked();
		before(9);
		green.order(null, "open", null);
		green.awaitAcked();
	}

	/** All of the input is committed; what was lost and doubled. */
	String result() throws Exception {
		input.limit = input.due() + 300;
		Side.await("all is committed", () -> output.has(splits, input.limit) || hasEnded());
		Thread.sleep(300); // and what comes twice
		return output.check(splits, input.limit);
	}

	/** For a test in which some are lost. */
	private long lastSize = -1;
	private long sameSince;

	private boolean hasEnded() {
		if (output.size() != lastSize) {
			lastSize = output.size();
			sameSince = System.nanoTime();
		}
		return lastSize > 0 && System.nanoTime() - sameSince > 5_000_000_000L;
	}

	String whole(int parallelism) throws Exception {
		startBlue(parallelism);
		shadow(parallelism);
		stillCut();
		end();
		return result();
	}

	@Override
	public void close() throws Exception {
		blue.close();
		green.close();
	}
}
