package dev.drey.gate;

import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;

/**
 * A gate in a stream, for blue/green upgrades: for the time in which the old and the new version of a job run side by side, it
 * passes each record on one side only. Without drey, and between upgrades, it passes everything.
 *
 * <pre>{@code
 * DataStream<Order> gated = DreyGate.of(orders).uid("gate-orders").apply();
 * DataStream<Order> other = DreyGate.of(orders).time((o, t) -> o.created).identity(o -> o.id).uid("gate-other").apply();
 * }</pre>
 *
 * <p><b>Where.</b> In front of each sink, behind everything that has state: both sides must build up the whole state, and a
 * window behind a gate would see half of its records. A job may have several gates, each with a uid of its own; all of them
 * have the same cut.
 *
 * <p><b>Life cycle.</b> drey chooses a cut in event time. The new side is told first: from then on it passes what is at or
 * after the cut. When all of its subtasks have agreed, the old side is told, and passes what is before the cut. A subtask
 * that starts again asks before its first record. The gate waits, and never drops, while drey has not yet said anything. The
 * cut is not part of the state of the job, the counts of what was passed and held back are.
 *
 * <p><b>Conditions.</b> Records need event time, and the stream in front of the gate watermarks: records without a time, and
 * those that are late, are written by the old side until it ends. Nothing that depends on processing time may decide about
 * the output. Retractions must not be split: an update whose two halves have different times cannot be cut.
 *
 * <p>An instance belongs to the thread that builds the job, and is used for one gate.
 *
 * @param <T> the type of the records
 */
public final class DreyGate<T> {
	private final DataStream<T> stream;
	private String uid;
	private GateTime<? super T> time;
	private GateIdentity<? super T> identity;

	private DreyGate(DataStream<T> stream) {
		this.stream = stream;
	}

	/**
	 * Begins a gate behind a stream.
	 *
	 * @param stream the records that are to be written; the gate does not change them
	 * @param <T> the type of the records
	 * @return the gate, not yet in the job: {@link #apply()} puts it there
	 */
	public static <T> DreyGate<T> of(DataStream<T> stream) {
		return new DreyGate<>(stream);
	}

	/**
	 * Names the gate. Required: its counts are state, and must be found again by the next version of the job.
	 *
	 * @param uid unique in the job, the same on both sides
	 * @return this
	 */
	public DreyGate<T> uid(String uid) {
		this.uid = uid;
		return this;
	}

	/**
	 * Sets where the time of a record comes from. Without it, the gate uses the timestamp that Flink has for the record; the
	 * one of a window's result is the last instant of the window.
	 *
	 * @param time the same on both sides
	 * @return this
	 */
	public DreyGate<T> time(GateTime<? super T> time) {
		this.time = time;
		return this;
	}

	/**
	 * Sets what distinguishes records of the same time, for the audit. Without it the audit compares numbers and times.
	 *
	 * @param identity the same on both sides
	 * @return this
	 */
	public DreyGate<T> identity(GateIdentity<? super T> identity) {
		this.identity = identity;
		return this;
	}

	/**
	 * Puts the gate into the job, with the parallelism of the stream in front of it.
	 *
	 * @return the stream behind the gate; its uid and name are set
	 * @throws IllegalStateException without a uid, or if the configuration has a directory and no side
	 */
	public SingleOutputStreamOperator<T> apply() {
		if (uid == null || uid.isEmpty()) {
			throw new IllegalStateException("drey: a gate needs a uid; call uid(\"gate-NAME\")");
		}
		ReadableConfig configuration = stream.getExecutionEnvironment().getConfiguration();
		String directory = configuration.getOptional(GateOptions.DIRECTORY).orElse(null);
		if (directory != null && configuration.getOptional(GateOptions.SIDE).isEmpty()) {
			throw new IllegalStateException("drey: " + GateOptions.DIRECTORY.key() + " is set, and " + GateOptions.SIDE.key()
					+ " is not; drey sets both, or neither");
		}
		GateOperatorFactory<T> factory =
				new GateOperatorFactory<>(uid, DreySide.of(configuration), directory, time, identity);
		SingleOutputStreamOperator<T> gated = stream.transform("gate " + uid, stream.getType(), factory).uid(uid);
		// the stream's own parallelism keeps the gate in the chain; where the stream has the default one, the gate follows it
		if (stream.getParallelism() != stream.getExecutionEnvironment().getParallelism()) {
			gated.setParallelism(stream.getParallelism());
		}
		return gated;
	}
}
