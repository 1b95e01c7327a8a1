package drey;

import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;

/**
 * A job of Flink's Table API: counts orders by customer. Its operators have no uids; Flink makes their ids from the plan.
 *
 * <p>Arguments: --query TEXT replaces the query; --last insert|datastream says whether the Table API executes the job, or
 * StreamExecutionEnvironment.execute() does.
 */
public final class TableJob {
	private static final String QUERY = "SELECT customer, COUNT(*) FROM orders GROUP BY customer";

	private TableJob() {}

	public static void main(String[] args) throws Exception {
		String query = QUERY;
		boolean insert = true;
		for (int i = 0; i + 1 < args.length; i += 2) {
			switch (args[i]) {
				case "--query":
					query = args[i + 1];
					break;
				case "--last":
					insert = args[i + 1].equals("insert");
					break;
				default:
					throw new IllegalArgumentException("unknown argument " + args[i]);
			}
		}
		StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
		env.setMaxParallelism(128);
		StreamTableEnvironment tables = StreamTableEnvironment.create(env);
		tables.executeSql(
				"CREATE TABLE orders (customer INT, amount INT) WITH ('connector' = 'datagen',"
						+ " 'rows-per-second' = '100', 'fields.customer.min' = '1', 'fields.customer.max' = '9')");
		if (insert) {
			tables.executeSql("CREATE TABLE counts (customer INT, total BIGINT) WITH ('connector' = 'blackhole')");
			tables.executeSql("INSERT INTO counts " + query);
			return;
		}
		tables.toChangelogStream(tables.sqlQuery(query)).map(row -> 1).print();
		env.execute("counts");
	}
}
