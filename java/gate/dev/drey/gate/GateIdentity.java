package dev.drey.gate;

import java.io.Serializable;
import java.util.function.ToLongFunction;

/**
 * What distinguishes a record from others of the same time, for the audit of an upgrade: a number, or a hash of a key. It
 * decides nothing. Both sides must compute the same value for the same record.
 *
 * @param <T> the type of the records
 */
@FunctionalInterface
public interface GateIdentity<T> extends ToLongFunction<T>, Serializable {}
