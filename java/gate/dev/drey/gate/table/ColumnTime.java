package dev.drey.gate.table;

import dev.drey.gate.GateTime;
import java.util.List;
import org.apache.flink.table.api.ValidationException;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.types.DataType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.utils.LogicalTypeChecks;

/** The time of a row is one of its columns. NULL is no time. */
final class ColumnTime implements GateTime<RowData> {
	private static final long serialVersionUID = 1;

	private final int index;
	/** -1: milliseconds in a BIGINT. */
	private final int precision;

	private ColumnTime(int index, int precision) {
		this.index = index;
		this.precision = precision;
	}

	/** row: the physical columns, in their order. option: for messages. */
	static ColumnTime of(DataType row, String column, String option) {
		List<String> names = DataType.getFieldNames(row);
		int index = names.indexOf(column);
		if (index < 0) {
			throw new ValidationException("'" + option + "' names the column '" + column + "'; the table has " + names);
		}
		LogicalType type = row.getLogicalType().getChildren().get(index);
		switch (type.getTypeRoot()) {
			case TIMESTAMP_WITHOUT_TIME_ZONE:
			case TIMESTAMP_WITH_LOCAL_TIME_ZONE:
				return new ColumnTime(index, LogicalTypeChecks.getPrecision(type));
			case BIGINT:
				return new ColumnTime(index, -1);
			default:
				throw new ValidationException("'" + option + "': the column '" + column + "' is of type " + type.asSummaryString()
						+ "; it must be TIMESTAMP, TIMESTAMP_LTZ or BIGINT");
		}
	}

	@Override
	public long timeOf(RowData row, long streamTime) {
		if (row.isNullAt(index)) {
			return NONE;
		}
		return precision < 0 ? row.getLong(index) : row.getTimestamp(index, precision).getMillisecond();
	}
}
