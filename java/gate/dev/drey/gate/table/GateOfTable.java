package dev.drey.gate.table;

import dev.drey.gate.DreyGate;
import java.util.Optional;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.DataStreamSink;
import org.apache.flink.table.api.ValidationException;
import org.apache.flink.table.connector.ParallelismProvider;
import org.apache.flink.table.connector.ProviderContext;
import org.apache.flink.table.connector.sink.DataStreamSinkProvider;
import org.apache.flink.table.connector.sink.DynamicTableSink;
import org.apache.flink.table.connector.sink.SinkV2Provider;
import org.apache.flink.table.data.RowData;

/** Puts the gate before what writes a table, and the side into the uid of that. */
final class GateOfTable {
	private final String table;
	private final String side;
	private final String uid;
	private final ColumnTime time;

	GateOfTable(String table, String side, String uid, ColumnTime time) {
		this.table = table;
		this.side = side;
		this.uid = uid;
		this.time = time;
	}

	DynamicTableSink.SinkRuntimeProvider before(DynamicTableSink.SinkRuntimeProvider inner) {
		if (!(inner instanceof DataStreamSinkProvider) && !(inner instanceof SinkV2Provider)) {
			throw new ValidationException("drey-gate: the connector of the table '" + table + "' makes a " + inner.getClass().getName()
					+ "; a gate can be put before a DataStreamSinkProvider or a SinkV2Provider");
		}
		return new DataStreamSinkProvider() {
			@Override
			public DataStreamSink<?> consumeDataStream(ProviderContext context, DataStream<RowData> rows) {
				return write(inner, context, DreyGate.of(rows).uid(uid).time(time).apply());
			}

			@Override
			public Optional<Integer> getParallelism() {
				return ((ParallelismProvider) inner).getParallelism();
			}
		};
	}

	private DataStreamSink<?> write(
			DynamicTableSink.SinkRuntimeProvider inner, ProviderContext context, DataStream<RowData> rows) {
		if (inner instanceof DataStreamSinkProvider) {
			ProviderContext perSide = name -> Optional.of(context.generateUid(name).orElse(table + "-" + name) + "-" + side);
			return ((DataStreamSinkProvider) inner).consumeDataStream(perSide, rows);
		}
		SinkV2Provider provider = (SinkV2Provider) inner;
		DataStreamSink<RowData> sink = rows.sinkTo(provider.createSink()).name(table).uid("sink-" + table + "-" + side);
		provider.getParallelism().ifPresent(sink::setParallelism);
		return sink;
	}
}
