package dev.drey.gate;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.apache.flink.runtime.operators.coordination.CoordinatorStore;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * All gates of a job: one order, one report. It lives in the JobManager from the first coordinator of an execution graph to
 * the last, with one thread of its own, which does all that is done with files and gates.
 */
final class GateHub {
	private static final Logger LOG = LoggerFactory.getLogger(GateHub.class);
	private static final String KEY = "dev.drey.gate.GateHub";
	private static final long LOOK_MS = 100;
	private static final long LOOK_AT_REST_MS = 2000;
	/** At most twice a second. */
	private static final long WRITE_MS = 500;
	/** Below Flink's own limit for an answer (pekko.ask.timeout, 10 s). */
	private static final long ANSWER_MS = 3000;
	/** The JobMaster waits meanwhile. */
	private static final long LEAVE_MS = 1000;

	private final ScheduledThreadPoolExecutor thread;
	private final OrderFile orders;
	private final Report report;
	private final List<Gate> gates = new ArrayList<>();
	private final List<CompletableFuture<Order>> waiting = new ArrayList<>();
	private boolean begun;
	private boolean dirty = true;
	private boolean flushing;
	private long writtenNanos = System.nanoTime() - TimeUnit.MILLISECONDS.toNanos(WRITE_MS);
	private volatile boolean closed;

	private GateHub(Path directory, String launch, String side) {
		orders = new OrderFile(directory.resolve("order.json"), launch, side);
		report = new Report(directory.resolve("report.json"), launch, side);
		thread = new ScheduledThreadPoolExecutor(1, work -> {
			Thread made = new Thread(work, "drey-gate");
			made.setDaemon(true);
			return made;
		});
		thread.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
		thread.setRemoveOnCancelPolicy(true);
		LOG.info("drey: the gates of job {}, side {}, take their orders from {}", launch, side, directory);
	}

	/** The hub of this execution graph, with one more gate. */
	static GateHub join(CoordinatorStore store, Path directory, String launch, String side, Gate gate) {
		GateHub hub = (GateHub) store.compute(KEY,
				(key, old) -> old == null || ((GateHub) old).closed ? new GateHub(directory, launch, side) : old);
		hub.execute(() -> {
			hub.gates.add(gate);
			hub.gates.sort(Comparator.comparing(Gate::uid));
		});
		return hub;
	}

	/**
	 * The execution graph ends, and all its coordinators with it. The last report has the last checkpoint; it is there when this
	 * returns, because the JVM may end at once.
	 */
	void leave() {
		if (closed) {
			return;
		}
		execute(() -> {
			if (begun) {
				report.write(orders, gates, true);
			}
		});
		closed = true;
		thread.shutdown();
		try {
			if (!thread.awaitTermination(LEAVE_MS, TimeUnit.MILLISECONDS)) {
				LOG.warn("drey: the last report of the gates is not yet written");
			}
		} catch (InterruptedException e) {
			Thread.currentThread().interrupt();
		}
	}

	/** Something has happened to a gate; what: says whether the report is another one. */
	void run(Gate gate, Predicate<Gate> what) {
		execute(() -> {
			boolean news = what.test(gate);
			begin();
			follow(gate);
			if (news && begun) {
				changed();
			}
		});
	}

	private void follow(Gate gate) {
		if (orders.order() != null && gate.order() != orders.order()) {
			gate.follow(orders.order());
		}
	}

	/** The order, when there is one; null if it takes long. */
	CompletableFuture<Order> ask(Gate gate, OrderRequest request) {
		CompletableFuture<Order> answer = new CompletableFuture<>();
		execute(() -> {
			begin();
			follow(gate);
			if (orders.order() != null) {
				gate.asks(request);
				answer.complete(orders.order());
			} else {
				waiting.add(answer);
				schedule(() -> {
					waiting.remove(answer);
					answer.complete(null);
				}, ANSWER_MS);
			}
		});
		if (closed) {
			answer.complete(null);
		}
		return answer;
	}

	/** When all gates have started: until then they have no subtasks, and a report would say that all of none agree. */
	private void begin() {
		if (!begun && gates.stream().allMatch(gate -> gate.parallelism() > 0)) {
			begun = true;
			changed();
			look();
		}
	}

	private void look() {
		try {
			if (orders.look()) {
				tell();
				changed();
			}
		} finally {
			schedule(this::look, orders.order() != null && orders.order().isAtRest() ? LOOK_AT_REST_MS : LOOK_MS);
		}
	}

	private void tell() {
		if (orders.ignored() != null) {
			LOG.warn("drey: order.json is ignored: {}", orders.ignored());
		}
		if (orders.order() == null) {
			return;
		}
		gates.forEach(this::follow);
		// each of them asks again, and is known by then: what is told here is not told to a subtask twice
		waiting.forEach(answer -> answer.complete(null));
		waiting.clear();
	}

	private void changed() {
		dirty = true;
		if (!flushing) {
			flushing = true;
			long since = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - writtenNanos);
			schedule(this::flush, Math.max(0, WRITE_MS - since));
		}
	}

	private void flush() {
		flushing = false;
		if (dirty && !closed) {
			writtenNanos = System.nanoTime();
			dirty = false;
			if (!report.write(orders, gates, false)) {
				changed();
			}
		}
	}

	private void execute(Runnable what) {
		try {
			thread.execute(guarded(what));
		} catch (RejectedExecutionException e) {
			LOG.debug("the gates of this execution graph are gone", e);
		}
	}

	private void schedule(Runnable what, long afterMs) {
		try {
			thread.schedule(guarded(what), afterMs, TimeUnit.MILLISECONDS);
		} catch (RejectedExecutionException e) {
			LOG.debug("the gates of this execution graph are gone", e);
		}
	}

	private static Runnable guarded(Runnable what) {
		return () -> {
			try {
				what.run();
			} catch (RuntimeException e) {
				LOG.error("drey: the gates have failed", e);
			}
		};
	}
}
