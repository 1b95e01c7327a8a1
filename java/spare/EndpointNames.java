package drey.spare;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Flink numbers its endpoints (jobmanager_2) from a counter of the JVM. Without HA a TaskManager that outlives its JobManager
 * calls the names that it knows: another number costs it the slot timeout.
 */
final class EndpointNames {
	private EndpointNames() {}

	static void startOver() throws ReflectiveOperationException {
		Class<?> utils = Reflect.type("org.apache.flink.runtime.rpc.RpcServiceUtils");
		((AtomicLong) Reflect.field(utils, "nextNameOffset").get(null)).set(0);
	}
}
