package dev.drey.gate;

import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/**
 * The side of a blue/green upgrade that a job runs on, for what two jobs at the same time must not share: the uid of a sink
 * whose state is a transaction or a file, and the prefix of its transactional ids.
 *
 * <pre>{@code
 * String side = DreySide.of(env);
 * gated.sinkTo(KafkaSink.<Order>builder()...setTransactionalIdPrefix("orders-" + side).build()).uid("orders-sink-" + side);
 * }</pre>
 */
public final class DreySide {
	/** The first side of an application, and the only one where there is no drey. */
	public static final String BLUE = "blue";

	/** The other side. */
	public static final String GREEN = "green";

	private DreySide() {}

	/**
	 * The side of the job that is built in this environment.
	 *
	 * @param env the environment of the job, as {@code getExecutionEnvironment()} returns it under drey
	 * @return {@link #BLUE} or {@link #GREEN}; {@link #BLUE} where drey does not say otherwise
	 * @throws IllegalArgumentException if the configuration names no side that there is
	 */
	public static String of(StreamExecutionEnvironment env) {
		return of(env.getConfiguration());
	}

	/**
	 * The side that a configuration names.
	 *
	 * @param configuration that of the job, or of a TableEnvironment
	 * @return as {@link #of(StreamExecutionEnvironment)}
	 */
	public static String of(ReadableConfig configuration) {
		String side = configuration.getOptional(GateOptions.SIDE).orElse(BLUE);
		if (!side.equals(BLUE) && !side.equals(GREEN)) {
			throw new IllegalArgumentException(
					GateOptions.SIDE.key() + ": '" + side + "' is no side; drey sets it to " + BLUE + " or " + GREEN);
		}
		return side;
	}
}
