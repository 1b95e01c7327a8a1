package dev.drey.gate;

import org.apache.flink.runtime.operators.coordination.OperatorEvent;

/** From a subtask to the coordinator: what it had counted at the barrier of a checkpoint. */
final class SnapshotEvent implements OperatorEvent {
	private static final long serialVersionUID = 1;

	final long checkpoint;
	final String transition;
	final long watermark;
	final boolean idle;
	final Tally tally;

	SnapshotEvent(long checkpoint, String transition, long watermark, boolean idle, Tally tally) {
		this.checkpoint = checkpoint;
		this.transition = transition;
		this.watermark = watermark;
		this.idle = idle;
		this.tally = tally;
	}
}
