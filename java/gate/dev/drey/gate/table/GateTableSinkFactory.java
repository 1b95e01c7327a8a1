package dev.drey.gate.table;

import dev.drey.gate.DreySide;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.table.api.ValidationException;
import org.apache.flink.table.connector.sink.DynamicTableSink;
import org.apache.flink.table.factories.DynamicTableFactory;
import org.apache.flink.table.factories.DynamicTableSinkFactory;
import org.apache.flink.table.factories.FactoryUtil;

/**
 * The gate for SQL: a connector around the one that writes.
 *
 * <pre>{@code
 * CREATE TABLE orders_out (..., order_time TIMESTAMP_LTZ(3)) WITH (
 *   'connector' = 'drey-gate',
 *   'drey-gate.connector' = 'kafka',
 *   'drey-gate.time-column' = 'order_time',
 *   'drey-gate.per-side' = 'sink.transactional-id-prefix',
 *   'sink.transactional-id-prefix' = 'orders', ...)
 * }</pre>
 *
 * <p>All options without the prefix {@code drey-gate.} are the inner connector's. Insert-only changelogs and upserts can be
 * cut; a query that retracts is refused when it is planned. Flink makes this class; nothing is kept between two tables.
 */
public final class GateTableSinkFactory implements DynamicTableSinkFactory {
	/** Of all options of the gate. */
	private static final String PREFIX = "drey-gate.";

	private static final ConfigOption<String> CONNECTOR = ConfigOptions.key(PREFIX + "connector")
			.stringType().noDefaultValue().withDescription("The connector that writes.");
	private static final ConfigOption<String> TIME_COLUMN = ConfigOptions.key(PREFIX + "time-column")
			.stringType().noDefaultValue()
			.withDescription("The event time of a row: a TIMESTAMP, a TIMESTAMP_LTZ, or a BIGINT of milliseconds.");
	private static final ConfigOption<List<String>> PER_SIDE = ConfigOptions.key(PREFIX + "per-side")
			.stringType().asList().defaultValues()
			.withDescription("Options of the inner connector whose values get the side as a suffix, separated by semicolons.");
	private static final ConfigOption<String> UID = ConfigOptions.key(PREFIX + "uid")
			.stringType().noDefaultValue().withDescription("Of the gate. Without it: gate-TABLE.");

	/** For Flink. */
	public GateTableSinkFactory() {}

	@Override
	public String factoryIdentifier() {
		return "drey-gate";
	}

	@Override
	public Set<ConfigOption<?>> requiredOptions() {
		return Set.of(CONNECTOR, TIME_COLUMN);
	}

	@Override
	public Set<ConfigOption<?>> optionalOptions() {
		return new HashSet<>(Set.of(PER_SIDE, UID));
	}

	@Override
	public DynamicTableSink createDynamicTableSink(DynamicTableFactory.Context context) {
		FactoryUtil.TableFactoryHelper helper = FactoryUtil.createTableFactoryHelper(this, context);
		ReadableConfig options = helper.getOptions();
		FactoryUtil.validateFactoryOptions(this, options);
		String table = context.getObjectIdentifier().getObjectName();
		String side = DreySide.of(context.getConfiguration());
		ColumnTime time = ColumnTime.of(context.getPhysicalRowDataType(), options.get(TIME_COLUMN), TIME_COLUMN.key());
		InnerContext inner = new InnerContext(context, innerOptions(context, options, side));
		DynamicTableSink sink = FactoryUtil.discoverFactory(
						context.getClassLoader(), DynamicTableSinkFactory.class, options.get(CONNECTOR))
				.createDynamicTableSink(inner);
		return GatedSink.of(sink, new GateOfTable(table, side, options.getOptional(UID).orElse("gate-" + table), time));
	}

	private static Map<String, String> innerOptions(DynamicTableFactory.Context context, ReadableConfig options, String side) {
		Map<String, String> inner = new HashMap<>();
		context.getCatalogTable().getOptions().forEach((key, value) -> {
			if (!key.startsWith(PREFIX)) {
				inner.put(key, value);
			}
		});
		inner.put(FactoryUtil.CONNECTOR.key(), options.get(CONNECTOR));
		for (String key : options.get(PER_SIDE)) {
			String value = inner.get(key);
			if (value == null) {
				throw new ValidationException("'" + PER_SIDE.key() + "' names the option '" + key + "', and the table has no such option");
			}
			inner.put(key, value + "-" + side);
		}
		return inner;
	}
}
