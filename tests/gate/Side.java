package dev.drey.gate;

import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.MapFunction;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.jobgraph.JobGraph;
import org.apache.flink.runtime.jobgraph.SavepointRestoreSettings;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/** One side of a transition: a job in a MiniCluster, and what an agent does: it writes orders and reads reports. */
final class Side implements AutoCloseable {
	static final long WAIT_MS = 60_000;
	private static final Map<String, Integer> FAILURES = new ConcurrentHashMap<>();
	private static final ObjectMapper JSON = new ObjectMapper();
	private static final AtomicInteger LAUNCHES = new AtomicInteger();
	/** Where what was awaited is kept, as tests/fixtures/gate; null: nowhere. */
	private static final String KEEP = System.getProperty("keep");
	private static final AtomicInteger KEPT = new AtomicInteger();

	private final MiniCluster cluster;
	private final String name;
	private final Path directory;
	private final String stream;
	private final boolean two;
	boolean withoutWatermarks;
	private long number;
	private JobID job;

	/** stream: also the name of the output. two: the job has a second gate, for half of the splits. */
	Side(MiniCluster cluster, String name, Path directory, String stream, boolean two) throws IOException {
		this.cluster = cluster;
		this.name = name;
		this.directory = directory.resolve(stream + "-" + name);
		this.stream = stream;
		this.two = two;
		Files.createDirectories(this.directory);
	}

	/** A new launch: its first order must be written before, with {@link #order}, which makes its id. */
	void start(int parallelism, String savepoint) throws Exception {
		Configuration c = new Configuration();
		c.setString("drey.side", name);
		c.setString("drey.gate.directory", directory.toString());
		start(c, parallelism, savepoint);
	}

	void start(Configuration c, int parallelism, String savepoint) throws Exception {
		c.setString("execution.checkpointing.interval", "100 ms");
		c.setString("execution.checkpointing.dir", "file://" + directory + "/checkpoints");
		c.setString("execution.checkpointing.savepoint-dir", "file://" + directory + "/savepoints");
		c.setString("state.checkpoints.dir", "file://" + directory + "/checkpoints");
		c.setString("restart-strategy.type", "fixed-delay");
		c.setString("restart-strategy.fixed-delay.attempts", "1000");
		c.setString("restart-strategy.fixed-delay.delay", "50 ms");
		c.setString("pipeline.auto-watermark-interval", "20 ms");
		StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment(c);
		env.setParallelism(parallelism);
		String side = DreySide.of(env);
		DataStream<Long> records = env
				.fromSource(new Stream(stream, name), withoutWatermarks ? WatermarkStrategy.noWatermarks() : watermarks(), "stream")
				.uid("stream")
				.map(failing(stream + name))
				.returns(Types.LONG);
		if (two) {
			sink(DreyGate.of(records.filter(value -> Stream.split(value) % 2 == 0)).uid("gate-even").apply(), "even-" + side);
			sink(DreyGate.of(records.filter(value -> Stream.split(value) % 2 == 1)).uid("gate-odd").apply(), "odd-" + side);
		} else {
			sink(DreyGate.of(records).identity(value -> value).uid("gate").apply(), "sink-" + side);
		}
		JobGraph graph = env.getStreamGraph().getJobGraph(Side.class.getClassLoader(), job());
		if (savepoint != null) {
			graph.setSavepointRestoreSettings(SavepointRestoreSettings.forPath(savepoint, true));
		}
		cluster.submitJob(graph).get(WAIT_MS, TimeUnit.MILLISECONDS);
	}

	private static WatermarkStrategy<Long> watermarks() {
		return WatermarkStrategy.<Long>forBoundedOutOfOrderness(Duration.ofMillis(60)).withIdleness(Duration.ofMillis(400));
	}

	private static MapFunction<Long, Long> failing(String key) {
		return value -> {
			if (FAILURES.getOrDefault(key, -1) == Stream.split(value) && FAILURES.remove(key) != null) {
				throw new IllegalStateException("failed on purpose at " + Stream.split(value) + ":" + Stream.number(value));
			}
			return value;
		};
	}

	private void sink(DataStream<Long> records, String uid) {
		records.process(new Commit(stream, job() + uid)).returns(Types.VOID).uid(uid).name(uid);
	}

	/** The task of this split fails at its next record. */
	void fail(int split) throws Exception {
		FAILURES.put(stream + name, split);
		await("the failure of split " + split, () -> !FAILURES.containsKey(stream + name));
	}

	JobID job() {
		if (job == null) {
			job = new JobID(0x1234, LAUNCHES.incrementAndGet());
		}
		return job;
	}

	/** Writes an order as an agent does; toggle: null for none. */
	long order(String transition, String word, Long toggle) throws IOException {
		String text = JSON.writeValueAsString(JSON.createObjectNode()
				.put("schema", 1).put("launch", job().toHexString()).put("side", name).put("transition", transition)
				.put("number", ++number).put("word", word).put("toggle", toggle));
		write(text);
		return number;
	}

	void write(String text) throws IOException {
		Path temporary = directory.resolve(".order.json.test");
		Files.writeString(temporary, text);
		Files.move(temporary, directory.resolve("order.json"), StandardCopyOption.ATOMIC_MOVE);
	}

	Path directory() {
		return directory;
	}

	/** Of this launch; null: there is none. */
	JsonNode report() throws IOException {
		try {
			JsonNode report = JSON.readTree(directory.resolve("report.json").toFile());
			return report.path("launch").asText().equals(job().toHexString()) ? report : null;
		} catch (NoSuchFileException | java.io.FileNotFoundException e) {
			return null;
		}
	}

	/** Of whatever launch. */
	JsonNode lastReport() throws IOException {
		return JSON.readTree(directory.resolve("report.json").toFile());
	}

	JsonNode gate() throws IOException {
		return report().path("gates").path(0);
	}

	/** Until each gate of the report is like that. */
	void awaitGates(String what, Predicate<JsonNode> like) throws Exception {
		await(name + ": " + what, () -> {
			JsonNode report = report();
			boolean all = report != null && report.path("number").asLong() == number && report.path("gates").size() == (two ? 2 : 1);
			for (JsonNode gate : all ? report.path("gates") : JSON.createArrayNode()) {
				all &= like.test(gate);
			}
			return all;
		});
		keep(what);
	}

	/** Keeps the report as it was written, under a name that says what was awaited. */
	void keep(String what) throws IOException {
		if (KEEP != null && Files.exists(directory.resolve("report.json"))) {
			String kept = String.format("%03d-%s-%s-%s.json", KEPT.incrementAndGet(), stream, name, what.replace(' ', '-'));
			Files.copy(directory.resolve("report.json"), Files.createDirectories(Path.of(KEEP)).resolve(kept));
		}
	}

	void awaitAcked() throws Exception {
		awaitGates("all subtasks follow order " + number, gate -> gate.path("acked").asInt() == gate.path("parallelism").asInt());
	}

	/** All subtasks are in this state, by the last order. */
	void awaitStates(String state) throws Exception {
		awaitGates("all subtasks are " + state, gate -> {
			int like = 0;
			for (JsonNode subtask : gate.path("subtasks")) {
				like += subtask.path("state").asText().equals(state) ? 1 : 0;
			}
			return like > 0 && like == gate.path("parallelism").asInt();
		});
	}

	void awaitCrossed() throws Exception {
		awaitGates("all subtasks have crossed", gate -> gate.path("crossed").asInt() == gate.path("parallelism").asInt());
	}

	interface Condition {
		boolean holds() throws Exception;
	}

	static void await(String what, Condition condition) throws Exception {
		long from = System.nanoTime();
		while (!condition.holds()) {
			if (System.nanoTime() - from > WAIT_MS * 1_000_000) {
				throw new IllegalStateException("waited in vain: " + what);
			}
			Thread.sleep(20);
		}
	}

	/** The sum of a member over all gates. */
	long sum(String member) throws IOException {
		long sum = 0;
		for (JsonNode gate : report().path("gates")) {
			sum += gate.path(member).asLong();
		}
		return sum;
	}

	String savepoint() throws Exception {
		return retried(() -> cluster
				.triggerSavepoint(job(), "file://" + directory + "/savepoints", false, SavepointFormatType.CANONICAL)
				.get(WAIT_MS, TimeUnit.MILLISECONDS));
	}

	/** What the first gate had counted at its barrier. */
	JsonNode awaitSnapshot(long checkpoint) throws Exception {
		JsonNode[] found = {null};
		await("the report has snapshot " + checkpoint, () -> {
			found[0] = snapshot(gate(), checkpoint);
			return found[0] != null;
		});
		return found[0];
	}

	/** Stops the job: what the first gate had counted at the barrier of the savepoint, by the last report; null if that lacks it. */
	JsonNode snapshotOfStop() throws Exception {
		long checkpoint = checkpoint(stop());
		await("the last report", () -> lastReport().path("ended").asBoolean());
		return snapshot(lastReport().path("gates").path(0), checkpoint);
	}

	private static JsonNode snapshot(JsonNode gate, long checkpoint) {
		for (JsonNode entry : gate.path("snapshots")) {
			if (entry.path("checkpoint").asLong() == checkpoint) {
				return entry;
			}
		}
		return null;
	}

	/** Of a snapshot, as its _metadata begins: a magic number, a version, the id. */
	static long checkpoint(String path) throws IOException {
		return ByteBuffer.wrap(Files.readAllBytes(Path.of(URI.create(path)).resolve("_metadata"))).getLong(8);
	}

	String stop() throws Exception {
		String path = retried(() -> cluster
				.stopWithSavepoint(job(), "file://" + directory + "/savepoints", false, SavepointFormatType.CANONICAL)
				.get(WAIT_MS, TimeUnit.MILLISECONDS));
		ended();
		return path;
	}

	void cancel() throws Exception {
		cluster.cancelJob(job()).get(WAIT_MS, TimeUnit.MILLISECONDS);
		ended();
	}

	@Override
	public void close() throws Exception {
		if (job != null && cluster.listJobs().get().stream().anyMatch(
				status -> status.getJobId().equals(job) && !status.getJobState().isGloballyTerminalState())) {
			cancel();
		}
	}

	private void ended() throws Exception {
		await("the end of " + name, () -> cluster.getJobStatus(job()).get().isGloballyTerminalState());
		job = null;
	}

	private interface Snapshot {
		String take() throws Exception;
	}

	/** A task that has just failed refuses. */
	private static String retried(Snapshot snapshot) throws Exception {
		for (int attempt = 0; ; attempt++) {
			try {
				return snapshot.take();
			} catch (java.util.concurrent.ExecutionException e) {
				if (attempt == 20) {
					throw e;
				}
				Thread.sleep(100);
			}
		}
	}
}
