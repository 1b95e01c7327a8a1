package dev.drey.gate;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * What the subtasks of a gate had counted at the barriers of checkpoints. Only those in which every subtask counted are
 * shown. Not for use by several threads.
 */
final class Snapshots {
	private static final int KEPT = 16;

	/** One checkpoint. */
	static final class Entry {
		final long checkpoint;
		final Tally tally = new Tally();
		long minWatermark = Long.MAX_VALUE;
		/** Of the subtasks that were not idle. */
		long activeWatermark = Long.MAX_VALUE;
		private final Set<Integer> subtasks = new HashSet<>();
		/** Flink has said so, as it does of checkpoints, and not of a savepoint of a job that runs on. */
		boolean completed;

		Entry(long checkpoint) {
			this.checkpoint = checkpoint;
		}

		private void add(int subtask, long watermark, boolean idle, Tally part) {
			if (subtasks.add(subtask)) {
				tally.add(part);
				minWatermark = Math.min(minWatermark, watermark);
				activeWatermark = idle ? activeWatermark : Math.min(activeWatermark, watermark);
			}
		}
	}

	private final TreeMap<Long, Entry> entries = new TreeMap<>();

	/** ended: of the subtasks that take part in no checkpoint any more, the last tallies. */
	void add(int subtask, SnapshotEvent event, Map<Integer, Tally> ended) {
		Entry entry = entries.computeIfAbsent(event.checkpoint, Entry::new);
		entry.add(subtask, event.watermark, event.idle, event.tally);
		ended.forEach((index, tally) -> entry.add(index, Long.MAX_VALUE, false, tally));
		while (entries.size() > KEPT * 2) {
			entries.pollFirstEntry();
		}
	}

	/** Returns whether it is known. */
	boolean completed(long checkpoint) {
		Entry entry = entries.get(checkpoint);
		if (entry != null) {
			entry.completed = true;
		}
		return entry != null;
	}

	/** Returns whether it was known. */
	boolean aborted(long checkpoint) {
		return entries.remove(checkpoint) != null;
	}

	void clear() {
		entries.clear();
	}

	/** A subtask has failed: what it has not reached it will never reach. */
	void interrupted(int parallelism) {
		entries.values().removeIf(entry -> entry.subtasks.size() < parallelism);
	}

	/** The newest ones, in their order. */
	List<Entry> shown(int parallelism) {
		List<Entry> shown = new ArrayList<>();
		for (Entry entry : entries.values()) {
			if (entry.subtasks.size() >= parallelism) {
				shown.add(entry);
			}
		}
		return shown.size() > KEPT ? shown.subList(shown.size() - KEPT, shown.size()) : shown;
	}
}
