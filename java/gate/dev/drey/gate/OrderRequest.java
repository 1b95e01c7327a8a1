package dev.drey.gate;

import java.io.IOException;
import java.util.Collections;
import java.util.List;
import org.apache.flink.api.common.typeutils.base.array.BytePrimitiveArraySerializer;
import org.apache.flink.runtime.operators.coordination.CoordinationRequest;
import org.apache.flink.runtime.operators.coordination.CoordinationResponse;
import org.apache.flink.streaming.api.operators.collect.CollectCoordinationResponse;
import org.apache.flink.util.InstantiationUtil;

/**
 * From a subtask to the coordinator, at its start: what is the order? The answer is an order, or none if there is none yet.
 *
 * <p>An answer is read by Flink's own class loader, which does not see the classes of the job. So it is one of Flink's, with
 * the order inside.
 */
final class OrderRequest implements CoordinationRequest {
	private static final long serialVersionUID = 1;
	private static final String VERSION = "drey-gate-1";

	final int subtask;
	final int attempt;

	OrderRequest(int subtask, int attempt) {
		this.subtask = subtask;
		this.attempt = attempt;
	}

	/** order: null for none. */
	static CoordinationResponse answer(Order order) {
		try {
			List<byte[]> results = order == null ? Collections.emptyList() : Collections.singletonList(
					InstantiationUtil.serializeToByteArray(
							BytePrimitiveArraySerializer.INSTANCE, InstantiationUtil.serializeObject(order)));
			return new CollectCoordinationResponse(VERSION, 0, results);
		} catch (IOException e) {
			throw new IllegalStateException("an order cannot be written", e);
		}
	}

	/** Null: none yet. */
	static Order order(CoordinationResponse response) throws IOException, ClassNotFoundException {
		List<byte[]> results = ((CollectCoordinationResponse) response).getResults(BytePrimitiveArraySerializer.INSTANCE);
		return results.isEmpty()
				? null
				: InstantiationUtil.deserializeObject(results.get(0), OrderRequest.class.getClassLoader());
	}
}
