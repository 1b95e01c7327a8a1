package dev.drey.gate;

import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.streaming.api.functions.ProcessFunction;
import org.apache.flink.table.connector.ChangelogMode;
import org.apache.flink.table.connector.sink.DataStreamSinkProvider;
import org.apache.flink.table.connector.sink.DynamicTableSink;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.factories.DynamicTableSinkFactory;
import org.apache.flink.table.factories.FactoryUtil;
import org.apache.flink.types.RowKind;
import org.apache.flink.util.Collector;

/** The connector 'drey-test' writes the first column of each row, a BIGINT, to {@link #ROWS}, under its option 'prefix'. */
public final class TestTableFactory implements DynamicTableSinkFactory {
	static final Map<String, Queue<Long>> ROWS = new ConcurrentHashMap<>();
	private static final ConfigOption<String> PREFIX = ConfigOptions.key("prefix").stringType().noDefaultValue();
	private static final ConfigOption<Boolean> UPSERT = ConfigOptions.key("upsert").booleanType().defaultValue(false);

	@Override
	public String factoryIdentifier() {
		return "drey-test";
	}

	@Override
	public Set<ConfigOption<?>> requiredOptions() {
		return Set.of(PREFIX);
	}

	@Override
	public Set<ConfigOption<?>> optionalOptions() {
		return Set.of(UPSERT);
	}

	@Override
	public DynamicTableSink createDynamicTableSink(Context context) {
		FactoryUtil.TableFactoryHelper helper = FactoryUtil.createTableFactoryHelper(this, context);
		helper.validate();
		return new Sink(helper.getOptions().get(PREFIX), helper.getOptions().get(UPSERT));
	}

	private static final class Sink implements DynamicTableSink {
		private final String prefix;
		private final boolean upsert;

		Sink(String prefix, boolean upsert) {
			this.prefix = prefix;
			this.upsert = upsert;
		}

		@Override
		public ChangelogMode getChangelogMode(ChangelogMode requested) {
			return upsert
					? ChangelogMode.newBuilder().addContainedKind(RowKind.INSERT).addContainedKind(RowKind.UPDATE_AFTER).build()
					: requested;
		}

		@Override
		public SinkRuntimeProvider getSinkRuntimeProvider(Context context) {
			String key = prefix;
			return new DataStreamSinkProvider() {
				@Override
				public org.apache.flink.streaming.api.datastream.DataStreamSink<?> consumeDataStream(
						org.apache.flink.table.connector.ProviderContext provider,
						org.apache.flink.streaming.api.datastream.DataStream<RowData> rows) {
					return rows.process(new Write(key)).print();
				}
			};
		}

		@Override
		public DynamicTableSink copy() {
			return new Sink(prefix, upsert);
		}

		@Override
		public String asSummaryString() {
			return "drey-test";
		}
	}

	private static final class Write extends ProcessFunction<RowData, Long> {
		private static final long serialVersionUID = 1;
		private final String key;

		Write(String key) {
			this.key = key;
		}

		@Override
		public void processElement(RowData row, Context context, Collector<Long> out) {
			ROWS.computeIfAbsent(key, any -> new ConcurrentLinkedQueue<>()).add(row.getLong(0));
		}
	}
}
