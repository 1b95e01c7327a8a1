package dev.drey.gate;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.ArrayNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** report.json (docs/reference/formats.md): what the gates of a job have done. Belongs to the thread of the {@link GateHub}. */
final class Report {
	private static final Logger LOG = LoggerFactory.getLogger(Report.class);
	private static final ObjectMapper JSON = new ObjectMapper();
	private static final long LIMIT_NUMBER = (1L << 53) - 1;
	private static final int MOST_SUBTASKS = 256;

	private final Path file;
	private final String launch;
	private final String side;
	private final String instance = hex(ThreadLocalRandom.current().nextLong());
	private boolean failed;

	Report(Path file, String launch, String side) {
		this.file = file;
		this.launch = launch;
		this.side = side;
	}

	/** Replaces the file. ended: it is the last one. False: it could not be written; that is logged once. */
	boolean write(OrderFile orders, List<Gate> gates, boolean ended) {
		Path temporary = file.resolveSibling(".report.json." + instance);
		try {
			Files.writeString(temporary, JSON.writeValueAsString(describe(orders, gates).put("ended", ended)) + "\n");
			Files.move(temporary, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
			failed = false;
			return true;
		} catch (IOException e) {
			if (!failed) {
				LOG.warn("drey: {} cannot be written", file, e);
			}
			failed = true;
			return false;
		}
	}

	private ObjectNode describe(OrderFile orders, List<Gate> gates) {
		Order order = orders.order();
		ObjectNode root = JSON.createObjectNode()
				.put("schema", 1)
				.put("launch", launch)
				.put("side", side)
				.put("pid", ProcessHandle.current().pid())
				.put("instance", instance)
				.put("writtenUnixMs", System.currentTimeMillis())
				.put("transition", order == null ? null : order.transition)
				.put("number", order == null ? 0 : order.number)
				.put("word", order == null ? null : order.word.text())
				.put("toggle", order == null || order.cut == null ? null : order.cut.toggle)
				.put("ignored", orders.ignored());
		ArrayNode list = root.putArray("gates");
		for (Gate gate : gates) {
			describe(gate, order, list.addObject());
		}
		return root;
	}

	private static void describe(Gate gate, Order order, ObjectNode node) {
		Tally sum = new Tally();
		int acked = 0;
		int crossed = 0;
		int idle = 0;
		int without = 0;
		long minWatermark = Long.MAX_VALUE;
		boolean watermarks = false;
		for (Gate.Subtask subtask : gate.subtasks().values()) {
			acked += gate.objection(subtask) == null ? 1 : 0;
			ProgressEvent progress = subtask.progress;
			if (progress == null) {
				continue;
			}
			if (progress.tally != null) {
				sum.add(progress.tally);
			}
			boolean none = progress.watermark == Long.MIN_VALUE;
			boolean across = order != null && order.cut != null && !none && progress.watermark >= order.cut.toggle;
			crossed += across ? 1 : 0;
			idle += progress.idle && !across ? 1 : 0;
			without += none ? 1 : 0;
			watermarks |= !none;
			minWatermark = none ? minWatermark : Math.min(minWatermark, progress.watermark);
		}
		List<String> refusals = gate.refusals();
		node.put("uid", gate.uid())
				.put("parallelism", gate.parallelism())
				.put("running", gate.subtasks().size())
				.put("acked", acked)
				.put("refused", refusals.size())
				.put("whyRefused", refusals.isEmpty() ? null : refusals.get(0))
				.put("minWatermark", watermarks ? bounded(minWatermark) : null)
				.put("withoutWatermark", without)
				.put("crossed", crossed)
				.put("idle", idle);
		describe(sum, node);
		describe(gate.subtasks(), node.putArray("subtasks"));
		ArrayNode snapshots = node.putArray("snapshots");
		for (Snapshots.Entry entry : gate.snapshots()) {
			snapshots.addObject()
					.put("checkpoint", entry.checkpoint)
					.put("completed", entry.completed)
					.put("passed", entry.tally.passed())
					.put("withheld", entry.tally.withheld())
					.put("withheldAbove", entry.tally.withheldAbove)
					.put("minWatermark", watermark(entry.minWatermark))
					.put("activeWatermark", watermark(entry.activeWatermark))
					.put("sum", hex(entry.tally.sumBelow + entry.tally.sumAbove))
					.put("base", hex(entry.tally.base));
		}
	}

	private static void describe(Tally sum, ObjectNode node) {
		node.put("maxSeen", sum.maxSeen == Long.MIN_VALUE ? null : bounded(sum.maxSeen))
				.put("ahead", sum.ahead)
				.put("passedBelow", sum.passedBelow)
				.put("passedAbove", sum.passedAbove)
				.put("withheldBelow", sum.withheldBelow)
				.put("withheldAbove", sum.withheldAbove)
				.put("late", sum.late)
				.put("timeless", sum.timeless)
				.put("sumBelow", hex(sum.sumBelow))
				.put("base", hex(sum.base))
				.put("inexact", sum.inexact);
	}

	private static void describe(Map<Integer, Gate.Subtask> subtasks, ArrayNode list) {
		subtasks.forEach((index, subtask) -> {
			ProgressEvent progress = subtask.progress;
			if (list.size() < MOST_SUBTASKS) {
				ObjectNode node = list.addObject()
						.put("index", index)
						.put("attempt", subtask.attempt)
						.put("number", progress == null ? 0 : progress.number)
						.put("state", progress == null ? "waiting" : progress.state);
				node.put("watermark", progress == null ? null : watermark(progress.watermark))
						.put("passed", progress == null ? 0 : progress.passed)
						.put("withheld", progress == null ? 0 : progress.withheld);
			}
		});
	}

	/** Null if there is none yet. */
	private static Long watermark(long time) {
		return time == Long.MIN_VALUE ? null : bounded(time);
	}

	private static Long bounded(long number) {
		return Math.max(-LIMIT_NUMBER, Math.min(LIMIT_NUMBER, number));
	}

	private static String hex(long number) {
		return String.format("%016x", number);
	}
}
