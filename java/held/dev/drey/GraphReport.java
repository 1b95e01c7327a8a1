package dev.drey;

import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.dag.Pipeline;
import org.apache.flink.client.program.PackagedProgram;
import org.apache.flink.client.program.PackagedProgramUtils;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.CoreOptions;
import org.apache.flink.container.entrypoint.StandaloneApplicationClusterConfigurationParserFactory;
import org.apache.flink.container.entrypoint.StandaloneApplicationClusterEntryPoint;
import org.apache.flink.runtime.entrypoint.parser.CommandLineParser;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.ArrayNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.flink.streaming.api.environment.CheckpointConfig;
import org.apache.flink.streaming.api.graph.StreamGraph;
import org.apache.flink.streaming.api.graph.StreamGraphGenerator;
import org.apache.flink.streaming.api.graph.StreamGraphHasherV2;
import org.apache.flink.streaming.api.graph.StreamGraphUserHashHasher;
import org.apache.flink.streaming.api.graph.StreamNode;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the job of this command line is made of, written to DREY_GRAPH_FILE: its main() runs until it has built the job, and nothing
 * is submitted. The JVM is started exactly as for a launch, so class path, configuration and environment are those of the job; it
 * ends before the JobManager has opened a port, or knows of high availability.
 *
 * <pre>
 * {"schema": 1, "name": "...", "checkpoints": {"intervalMs": N, "retention": "RETAIN_ON_CANCELLATION"}, "operators": [{"id": HEX, "userId": HEX, "name": "...", "uid": "...",
 *  "parallelism": N, "maxParallelism": N, "slotGroup": "...", "gate": "blue"}]}
 * {"schema": 1, "error": "..."}
 * </pre>
 *
 * checkpoints: as the job has them, by its code or the configuration; intervalMs: 0 if it makes none. userId: of setUidHash(). uid, userId: null without one. maxParallelism: -1 if the job does not set it. slotGroup: the slot sharing
 * group, null for the default one. gate: of a gate in front of a sink the side that it takes itself for, null for all others. The ids are those under which a
 * snapshot keeps the state of an operator, by Flink's own hashes. main() ends at its first execute(): what it would do afterwards
 * is not seen.
 */
final class GraphReport {
	private static final Logger LOG = LoggerFactory.getLogger(GraphReport.class);
	private static final int MESSAGE_LENGTH = 2000;

	private GraphReport() {}

	/** file: DREY_GRAPH_FILE. */
	static void writeAndExit(Path file, Configuration configuration) {
		ObjectMapper json = new ObjectMapper();
		ObjectNode report = json.createObjectNode().put("schema", 1);
		int status = 0;
		try (PackagedProgram program = program(configuration)) { // its classes can be loaded as long as it is open
			describe((StreamGraph) pipeline(program, configuration), report);
		} catch (Throwable e) { // also an Error of the user's classes
			LOG.error("drey: the job cannot be built", e);
			report.put("error", words(e));
		}
		try {
			WholeFile.write(file, json.writeValueAsString(report));
		} catch (Throwable e) {
			LOG.error("drey: the graph of the job cannot be written", e);
			status = 1;
		}
		// threads of the user's main() are no reason to stay, and hooks of the JVM belong to a JobManager that never was
		System.out.flush();
		System.err.flush();
		Runtime.getRuntime().halt(status);
	}

	private static Pipeline pipeline(PackagedProgram program, Configuration configuration) throws Exception {
		return PackagedProgramUtils.getPipelineFromProgram(
				program, configuration, configuration.get(CoreOptions.DEFAULT_PARALLELISM), false);
	}

	/** As the entry point has done it a moment ago, from the same arguments. */
	private static PackagedProgram program(Configuration configuration) throws Exception {
		Object parsed = new CommandLineParser<>(new StandaloneApplicationClusterConfigurationParserFactory()).parse(arguments());
		for (Method method : StandaloneApplicationClusterEntryPoint.class.getDeclaredMethods()) {
			if (method.getName().equals("getPackagedProgram") && method.getParameterCount() == 2) {
				method.setAccessible(true);
				try {
					return (PackagedProgram) method.invoke(null, parsed, configuration);
				} catch (InvocationTargetException e) {
					throw e.getCause() instanceof Exception ? (Exception) e.getCause() : e;
				}
			}
		}
		throw new IllegalStateException("this version of Flink finds its program in another way");
	}

	/** What follows the class in the command line of this JVM. */
	private static String[] arguments() throws Exception {
		List<String> all = Arrays.asList(
				new String(Files.readAllBytes(Path.of("/proc/self/cmdline")), StandardCharsets.UTF_8).split("\0", -1));
		int entry = all.indexOf(StandaloneApplicationClusterEntryPoint.class.getName());
		if (entry < 0) {
			throw new IllegalStateException("this is not the JVM of a JobManager in application mode");
		}
		return all.subList(entry + 1, all.size() - 1).toArray(new String[0]);
	}

	private static void describe(StreamGraph graph, ObjectNode report) throws Exception {
		Map<Integer, byte[]> ids = new StreamGraphHasherV2().traverseStreamGraphAndGenerateHashes(graph);
		Map<Integer, byte[]> userIds = new StreamGraphUserHashHasher().traverseStreamGraphAndGenerateHashes(graph);
		report.put("name", graph.getJobName());
		CheckpointConfig checkpoints = graph.getCheckpointConfig();
		report.putObject("checkpoints")
				.put("intervalMs", checkpoints.isCheckpointingEnabled() ? checkpoints.getCheckpointInterval() : 0)
				.put("retention", checkpoints.getExternalizedCheckpointRetention().name());
		ArrayNode operators = report.putArray("operators");
		for (StreamNode node : graph.getStreamNodes()) {
			operators.addObject()
					.put("id", hex(ids.get(node.getId())))
					.put("userId", hex(userIds.get(node.getId())))
					.put("name", node.getOperatorName())
					.put("uid", node.getTransformationUID())
					.put("parallelism", node.getParallelism())
					.put("maxParallelism", maxParallelism(node))
					.put("slotGroup", slotGroup(node))
					.put("gate", gate(node.getOperatorFactory()));
		}
	}

	/** Public since 2.0. */
	private static int maxParallelism(StreamNode node) throws ReflectiveOperationException {
		Method method = StreamNode.class.getDeclaredMethod("getMaxParallelism");
		method.setAccessible(true);
		return (int) method.invoke(node);
	}

	private static String slotGroup(StreamNode node) {
		String name = node.getSlotSharingGroup();
		return StreamGraphGenerator.DEFAULT_SLOT_SHARING_GROUP.equals(name) ? null : name;
	}

	/** The class is the job's own, in the jar of the gate. */
	private static String gate(Object factory) throws ReflectiveOperationException {
		if (factory == null || !factory.getClass().getName().equals("dev.drey.gate.GateOperatorFactory")) {
			return null;
		}
		Field side = factory.getClass().getDeclaredField("side");
		side.setAccessible(true);
		return (String) side.get(factory);
	}

	private static String hex(byte[] id) {
		if (id == null) {
			return null;
		}
		StringBuilder text = new StringBuilder();
		for (byte b : id) {
			text.append(String.format("%02x", b));
		}
		return text.toString();
	}

	/** The innermost cause is the user's. */
	private static String words(Throwable e) {
		Throwable inner = e;
		while (inner.getCause() != null && inner.getCause() != inner) {
			inner = inner.getCause();
		}
		String text = inner.toString();
		return text.length() > MESSAGE_LENGTH ? text.substring(0, MESSAGE_LENGTH) : text;
	}
}
