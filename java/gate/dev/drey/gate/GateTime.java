package dev.drey.gate;

import java.io.Serializable;

/**
 * The event time of a record, by which a gate decides which side writes it.
 *
 * <p>It is called once for each record while an upgrade is under way, in the task that processes the record. It must depend on
 * nothing but the record and its stream time: both sides must see the same time for the same record.
 *
 * @param <T> the type of the records
 */
@FunctionalInterface
public interface GateTime<T> extends Serializable {
	/** The time of a record that has none. Such a record is written by the old side until its end. */
	long NONE = Long.MIN_VALUE;

	/**
	 * The event time of a record.
	 *
	 * @param record the record; it still belongs to the stream and must not be changed
	 * @param streamTime the timestamp that Flink has for it, or {@link #NONE}
	 * @return milliseconds since 1970, or {@link #NONE}
	 */
	long timeOf(T record, long streamTime);
}
