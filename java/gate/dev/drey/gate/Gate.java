package dev.drey.gate;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.flink.runtime.operators.coordination.OperatorCoordinator.SubtaskGateway;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * All subtasks of one gate, as the JobManager sees them. An attempt counts from its first answer; what is said about an
 * attempt that is not the present one is ignored. Belongs to the thread of the {@link GateHub}; what it is told returns
 * whether the report is another one now: between transitions no report is written.
 */
final class Gate {
	private static final Logger LOG = LoggerFactory.getLogger(Gate.class);

	/** The present attempt of one subtask. */
	static final class Subtask {
		final int attempt;
		/** Null: not ready. */
		private SubtaskGateway gateway;
		/** The number of the order that it was given last. */
		private long told;
		/** Null: it has not answered yet. */
		ProgressEvent progress;

		Subtask(int attempt) {
			this.attempt = attempt;
		}
	}

	private final String uid;
	private final TreeMap<Integer, Subtask> subtasks = new TreeMap<>();
	private final Snapshots snapshots = new Snapshots();
	private int parallelism;
	private Order order;

	Gate(String uid) {
		this.uid = uid;
	}

	String uid() {
		return uid;
	}

	int parallelism() {
		return parallelism;
	}

	Map<Integer, Subtask> subtasks() {
		return subtasks;
	}

	List<Snapshots.Entry> snapshots() {
		return snapshots.shown(parallelism);
	}

	boolean start(int width) {
		parallelism = width;
		return true;
	}

	/** A new order, for all that can be told. */
	void follow(Order next) {
		if (order == null || next.isAtRest() || !next.transition.equals(order.transition)) {
			snapshots.clear();
		}
		order = next;
		subtasks.values().forEach(this::tell);
	}

	private void tell(Subtask subtask) {
		boolean ended = subtask.progress != null && subtask.progress.ended;
		if (order == null || subtask.gateway == null || subtask.told == order.number || ended) {
			return;
		}
		subtask.told = order.number;
		try {
			subtask.gateway.sendEvent(new OrderEvent(order));
		} catch (RuntimeException e) { // not running yet, or no more: the next attempt asks
			LOG.debug("gate {}: a subtask cannot be told", uid, e);
		}
	}

	/** It asks, and is given the present order. */
	void asks(OrderRequest request) {
		if (order != null) {
			attempt(request.subtask, request.attempt).told = order.number;
		}
	}

	boolean ready(int index, int attempt, SubtaskGateway gateway) {
		Subtask subtask = attempt(index, attempt);
		subtask.gateway = gateway;
		tell(subtask);
		return true;
	}

	boolean progress(int index, int attempt, ProgressEvent progress) {
		attempt(index, attempt).progress = progress;
		return true;
	}

	boolean snapshot(int index, int attempt, SnapshotEvent event) {
		Subtask from = subtasks.get(index);
		if (order == null || !event.transition.equals(order.transition) || from == null || from.attempt != attempt) {
			return false;
		}
		Map<Integer, Tally> ended = new HashMap<>();
		subtasks.forEach((i, subtask) -> {
			if (subtask.progress != null && subtask.progress.ended && subtask.progress.tally != null) {
				ended.put(i, subtask.progress.tally);
			}
		});
		snapshots.add(index, event, ended);
		return true;
	}

	boolean failed(int index, int attempt) {
		Subtask subtask = subtasks.get(index);
		if (subtask != null && subtask.attempt <= attempt) {
			subtasks.remove(index);
		}
		snapshots.interrupted(parallelism);
		return true;
	}

	boolean reset(int index) {
		subtasks.remove(index);
		snapshots.interrupted(parallelism);
		return true;
	}

	boolean resetAll() {
		subtasks.clear();
		snapshots.interrupted(parallelism);
		return true;
	}

	boolean completed(long checkpoint) {
		return snapshots.completed(checkpoint);
	}

	boolean aborted(long checkpoint) {
		return snapshots.aborted(checkpoint);
	}

	/** The newest attempt that is known, which may be a later one. */
	private Subtask attempt(int index, int attempt) {
		Subtask known = subtasks.get(index);
		if (known == null || known.attempt < attempt) {
			known = new Subtask(attempt);
			subtasks.put(index, known);
		}
		return known.attempt == attempt ? known : new Subtask(attempt); // of an earlier one: into the void
	}

	/** Null: it follows the order; else why it does not, "" for not yet. */
	String objection(Subtask subtask) {
		ProgressEvent progress = subtask.progress;
		if (progress == null || order == null) {
			return "";
		}
		if (progress.ended && progress.number < order.number) {
			return endedObjection(progress);
		}
		if (progress.number < order.number) {
			return "";
		}
		return progress.refusal;
	}

	/** It can be told nothing any more. */
	private String endedObjection(ProgressEvent progress) {
		boolean above = progress.tally != null && progress.withheld > 0 && order.word == Word.ARM_GREEN
				&& progress.tally.maxSeen >= order.cut.toggle;
		return above ? "the input has ended, and records above the cut may have been held back" : null;
	}

	/** Of the objections: how many refuse. */
	List<String> refusals() {
		List<String> refusals = new ArrayList<>();
		for (Subtask subtask : subtasks.values()) {
			String objection = objection(subtask);
			if (objection != null && !objection.isEmpty()) {
				refusals.add(objection);
			}
		}
		return refusals;
	}

	Order order() {
		return order;
	}
}
