package dev.drey.gate.table;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.LinkedHashSet;
import java.util.Set;
import org.apache.flink.table.api.ValidationException;
import org.apache.flink.table.connector.ChangelogMode;
import org.apache.flink.table.connector.sink.DynamicTableSink;
import org.apache.flink.types.RowKind;

/** The inner sink with a gate before it. It has the abilities that the inner one has: partitions, metadata, overwriting. */
final class GatedSink implements InvocationHandler {
	private static final String ABILITIES = "org.apache.flink.table.connector.sink.abilities.";

	private final DynamicTableSink inner;
	private final GateOfTable gate;

	private GatedSink(DynamicTableSink inner, GateOfTable gate) {
		this.inner = inner;
		this.gate = gate;
	}

	static DynamicTableSink of(DynamicTableSink inner, GateOfTable gate) {
		Set<Class<?>> interfaces = new LinkedHashSet<>();
		interfaces.add(DynamicTableSink.class);
		for (Class<?> type = inner.getClass(); type != null; type = type.getSuperclass()) {
			for (Class<?> one : type.getInterfaces()) {
				if (one.getName().startsWith(ABILITIES)) {
					interfaces.add(one);
				}
			}
		}
		return (DynamicTableSink) Proxy.newProxyInstance(
				GatedSink.class.getClassLoader(), interfaces.toArray(new Class<?>[0]), new GatedSink(inner, gate));
	}

	@Override
	public Object invoke(Object self, Method method, Object[] arguments) throws Throwable {
		Object result;
		try {
			result = method.invoke(inner, arguments);
		} catch (InvocationTargetException e) {
			throw e.getCause();
		}
		switch (method.getName()) {
			case "getChangelogMode":
				return checked((ChangelogMode) result);
			case "getSinkRuntimeProvider":
				return gate.before((DynamicTableSink.SinkRuntimeProvider) result);
			case "copy":
				return of((DynamicTableSink) result, gate);
			case "asSummaryString":
				return "drey-gate: " + result;
			default:
				return result;
		}
	}

	/** The two halves of an update have two times, and could be written by two sides. */
	private static ChangelogMode checked(ChangelogMode mode) {
		if (mode.contains(RowKind.UPDATE_BEFORE)) {
			throw new ValidationException("drey-gate: the query retracts rows (UPDATE_BEFORE), and a retraction cannot be cut;"
					+ " use a connector that takes upserts, or an upgrade with a savepoint");
		}
		return mode;
	}
}
