package dev.drey.gate;

import org.apache.flink.runtime.operators.coordination.OperatorEvent;

/** From the coordinator to a subtask: follow this order, and answer. */
final class OrderEvent implements OperatorEvent {
	private static final long serialVersionUID = 1;

	final Order order;

	OrderEvent(Order order) {
		this.order = order;
	}
}
