package dev.drey.gate;

import org.apache.flink.runtime.operators.coordination.OperatorEvent;

/**
 * From a subtask to the coordinator: how far it is. Sent as an answer to an order, at the end of the input, and in a
 * transition twice a second if it has changed. A subtask is not asked for it: Flink fails a task that a message of the
 * coordinator does not reach, also one that is just about to end.
 */
final class ProgressEvent implements OperatorEvent {
	private static final long serialVersionUID = 1;

	/** Of the last order that was answered; 0: none. */
	long number;
	/** Null: it is followed. */
	String refusal;
	String state;
	long watermark;
	boolean idle;
	boolean ended;
	long passed;
	long withheld;
	/** Null at rest. */
	Tally tally;

	boolean isSame(ProgressEvent other) {
		return other != null && number == other.number && watermark == other.watermark && idle == other.idle
				&& ended == other.ended && passed == other.passed && withheld == other.withheld;
	}
}
