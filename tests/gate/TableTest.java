package dev.drey.gate;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.TableEnvironment;

/** The connector of the gate, with Flink's planner. */
final class TableTest {
	private static final String JOB = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa07";
	private static final String COLUMNS = "(id BIGINT, name STRING, happened TIMESTAMP_LTZ(3), PRIMARY KEY (id) NOT ENFORCED)";
	private static final String ROWS = "INSERT INTO t SELECT id, name, TO_TIMESTAMP_LTZ(id * 1000, 3) FROM"
			+ " (VALUES (CAST(1 AS BIGINT), 'a'), (2, 'b'), (3, 'c'), (4, 'd')) AS v (id, name)";

	private TableTest() {}

	static void run(Path directory) throws Exception {
		Tap.is(written(new Configuration(), "plain", ROWS), "[1, 2, 3, 4] as plain-blue",
				"SQL: without drey all rows pass, to an option of the side");
		Path gate = Files.createDirectories(directory.resolve("sql"));
		Files.writeString(gate.resolve("order.json"), "{\"schema\":1,\"launch\":\"" + JOB
				+ "\",\"side\":\"green\",\"transition\":\"h7\",\"number\":1,\"word\":\"armGreen\",\"toggle\":3000}");
		Configuration c = new Configuration();
		c.setString("drey.side", "green");
		c.setString("drey.gate.directory", gate.toString());
		c.setString("$internal.pipeline.job-id", JOB);
		Tap.is(written(c, "cut", ROWS), "[3, 4] as cut-green", "SQL: rows are cut by their column");
		String retract = "INSERT INTO t SELECT id, MAX(name), MAX(happened) FROM"
				+ " (SELECT 1 + MOD(id, 2) AS id, name, TO_TIMESTAMP_LTZ(id * 1000, 3) AS happened FROM"
				+ " (VALUES (CAST(1 AS BIGINT), 'a'), (2, 'b'), (3, 'c')) AS v (id, name)) GROUP BY id";
		refused(retract, ", 'prefix' = 'x'", "retracts rows (UPDATE_BEFORE)", "a query that retracts");
		Tap.is(written(new Configuration(), "up", retract, ", 'upsert' = 'true'"), "[1, 2, 2] as up-blue", "SQL: upserts pass");
		refused(ROWS, ", 'prefix' = 'x', 'drey-gate.time-column' = 'when'", "names the column 'when'; the table has [id, name, happened]",
				"a time column that does not exist");
		refused(ROWS, ", 'prefix' = 'x', 'drey-gate.time-column' = 'name'", "the column 'name' is of type STRING",
				"one of another type");
		refused(ROWS, ", 'prefix' = 'x', 'drey-gate.per-side' = 'topic'", "names the option 'topic', and the table has no such option",
				"an option per side that is not there");
		refused(ROWS, ", 'prefix' = 'x', 'colour' = 'red'", "colour", "an option that the inner connector does not know");
		refused(ROWS, "", "prefix", "one that it needs and is not there");
	}

	private static TableEnvironment environment(Configuration c) {
		c.setString("rest.bind-port", "0");
		c.setString("rest.address", "127.0.0.1");
		c.setString("parallelism.default", "1");
		return TableEnvironment.create(EnvironmentSettings.newInstance().inStreamingMode().withConfiguration(c).build());
	}

	private static String table(String more) {
		return "CREATE TABLE t " + COLUMNS + " WITH ('connector' = 'drey-gate', 'drey-gate.connector' = 'drey-test'"
				+ (more.contains("time-column") ? "" : ", 'drey-gate.time-column' = 'happened'") + more + ")";
	}

	private static String written(Configuration c, String prefix, String query, String... more) throws Exception {
		TableEnvironment env = environment(c);
		env.executeSql(table(", 'prefix' = '" + prefix + "', 'drey-gate.per-side' = 'prefix'" + String.join("", more)));
		env.executeSql(query).await(60, TimeUnit.SECONDS);
		StringBuilder text = new StringBuilder();
		TestTableFactory.ROWS.forEach((key, rows) -> {
			if (key.startsWith(prefix + "-")) {
				List<Long> sorted = new ArrayList<>(rows);
				Collections.sort(sorted);
				text.append(sorted).append(" as ").append(key);
			}
		});
		return text.toString();
	}

	private static void refused(String query, String more, String why, String what) {
		TableEnvironment env = environment(new Configuration());
		String said = "nothing";
		try {
			env.executeSql(table(more));
			env.explainSql(query);
		} catch (Exception e) {
			StringBuilder all = new StringBuilder();
			for (Throwable t = e; t != null; t = t.getCause()) {
				all.append(t.getMessage()).append('\n');
			}
			said = all.toString();
		}
		Tap.ok(said.contains(why), "SQL: " + what + " is refused when it is planned");
		if (!said.contains(why)) {
			Tap.diag(said);
		}
	}
}
