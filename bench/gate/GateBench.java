import dev.drey.gate.DreyGate;
import java.io.File;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.ProcessFunction;
import org.apache.flink.util.Collector;

/**
 * GateBench DIRECTORY RECORDS ROUNDS: what a gate costs for each record, beside a map operator. The same job, one task of
 * one thread, once with each subject in each round; the processor time of that thread from a tenth of the records to the
 * last. The first round warms the JVM and does not count. Prints rows of Markdown.
 */
public final class GateBench {
	private static final String JOB = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa09";
	private static final long FIRST_TIME = 1_700_000_000_000L;
	private static final long PER_MS = 1000;
	private static volatile long cpuNs;
	private static volatile long wallNs;
	private static volatile long fromMs;
	private static volatile long toMs;

	private GateBench() {}

	public static void main(String[] args) throws Exception {
		Path directory = Path.of(args[0]);
		long records = Long.parseLong(args[1]);
		int rounds = Integer.parseInt(args[2]);
		long end = FIRST_TIME + records / PER_MS;
		Map<String, String> subjects = new LinkedHashMap<>();
		subjects.put("nothing", null);
		subjects.put("a map operator", null);
		subjects.put("a gate without drey", null);
		subjects.put("at rest", order("null", "open", "null"));
		subjects.put("in a transition, open", order("\"h1\"", "open", "null"));
		subjects.put("armBlue, the cut far away", order("\"h1\"", "armBlue", Long.toString(end + 1000)));
		subjects.put("armGreen, behind the cut", order("\"h1\"", "armGreen", Long.toString(FIRST_TIME)));
		subjects.put("closed", order("\"h1\"", "closed", "null"));
		Map<String, List<Double>> times = new LinkedHashMap<>();
		for (int round = 0; round <= rounds; round++) {
			for (Map.Entry<String, String> subject : subjects.entrySet()) {
				run(directory, subject.getKey(), subject.getValue(), records);
				if (round > 0) {
					times.computeIfAbsent(subject.getKey(), any -> new ArrayList<>()).add((double) cpuNs / (records - records / 10));
				}
			}
			System.err.println("round " + round + " of " + rounds);
		}
		double map = median(times.get("a map operator"));
		times.forEach((name, all) -> System.out.printf("| %s | %.1f (%.1f-%.1f) | %+.1f |%n",
				name, median(all), Collections.min(all), Collections.max(all), median(all) - map));
		for (String name : new String[] {"at rest", "armBlue, the cut far away"}) {
			long written = run(directory, name, subjects.get(name), records * 10);
			System.out.printf("%n%s: %d reports in %.1f s.%n", name, written, wallNs / 1e9);
		}
	}

	private static double median(List<Double> all) {
		List<Double> sorted = new ArrayList<>(all);
		Collections.sort(sorted);
		return (sorted.get((sorted.size() - 1) / 2) + sorted.get(sorted.size() / 2)) / 2;
	}

	private static String order(String transition, String word, String toggle) {
		return "{\"schema\":1,\"launch\":\"" + JOB + "\",\"transition\":" + transition + ",\"number\":1,"
				+ "\"word\":\"" + word + "\",\"toggle\":" + toggle + "}";
	}

	/** Returns how many reports were written between the two clocks. */
	private static long run(Path directory, String subject, String order, long records) throws Exception {
		Configuration c = new Configuration();
		c.setString("rest.bind-port", "0");
		c.setString("$internal.pipeline.job-id", JOB);
		File report = directory.resolve("report.json").toFile();
		Files.deleteIfExists(report.toPath());
		if (order != null) {
			Files.writeString(directory.resolve("order.json"), order);
			c.setString("drey.side", "blue");
			c.setString("drey.gate.directory", directory.toString());
		}
		StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment(c);
		env.setParallelism(1);
		DataStream<Long> numbers = env.fromSequence(0, records - 1).assignTimestampsAndWatermarks(
				WatermarkStrategy.<Long>forMonotonousTimestamps().withTimestampAssigner((value, any) -> FIRST_TIME + value / PER_MS));
		DataStream<Long> before = numbers.process(new Clock(records / 10, false)).returns(Types.LONG);
		DataStream<Long> after = before;
		if (subject.equals("a map operator")) {
			after = before.map(value -> value).returns(Types.LONG);
		} else if (!subject.equals("nothing")) {
			after = DreyGate.of(before).uid("gate").apply();
		}
		after.process(new Clock(records - 1, true)).returns(Types.LONG).print();
		Writes writes = new Writes(report);
		Thread watcher = new Thread(writes);
		watcher.start();
		env.execute();
		writes.stop = true;
		watcher.join();
		return writes.times.tailSet(fromMs).headSet(toMs).size();
	}

	/** Counts the reports. */
	private static final class Writes implements Runnable {
		private final File report;
		private final TreeSet<Long> times = new TreeSet<>();
		private volatile boolean stop;

		Writes(File report) {
			this.report = report;
		}

		@Override
		public void run() {
			try {
				while (!stop) {
					if (report.exists()) {
						times.add(new ObjectMapper().readTree(report).path("writtenUnixMs").asLong());
					}
					Thread.sleep(20);
				}
			} catch (Exception e) {
				throw new IllegalStateException(e);
			}
		}
	}

	/** Begins the measurement when the record with this number comes, or ends it at the end of the input: some are held back. */
	private static final class Clock extends ProcessFunction<Long, Long> {
		private static final long serialVersionUID = 1;
		private final long at;
		private final boolean ends;

		Clock(long at, boolean ends) {
			this.at = at;
			this.ends = ends;
		}

		@Override
		public void processElement(Long value, Context context, Collector<Long> out) {
			if (!ends) {
				if (value == at) {
					cpuNs = -cpuTime();
					wallNs = -System.nanoTime();
					fromMs = System.currentTimeMillis();
				}
				out.collect(value);
			}
		}

		@Override
		public void close() {
			if (ends) {
				cpuNs += cpuTime();
				wallNs += System.nanoTime();
				toMs = System.currentTimeMillis();
			}
		}

		private static long cpuTime() {
			return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
		}
	}
}
