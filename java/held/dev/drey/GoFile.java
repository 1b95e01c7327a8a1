package dev.drey;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.core.JsonParser;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.core.JsonProcessingException;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.DeserializationFeature;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;

/**
 * What the go file says: {"schema": 1, "go": true, "path": "URI", "allowNonRestored": false, "side": "blue",
 * "flipSide": "BLUE"}, with an empty path for a start without state, and without a side where the job is on the one that Flink was
 * started with, or {"schema": 1, "go": false, "why": "..."}.
 *
 * <p>drey replaces the file by rename. Whatever is not exactly that (truncated, a member of the wrong type or missing, another
 * schema, larger than a mebibyte, not readable) is not complete: to start from nothing because a path was not understood would
 * be worse than to wait. Members that are not known here are allowed.
 */
final class GoFile {
	private static final int LIMIT_BYTES = 1 << 20;
	private static final ObjectMapper JSON = new ObjectMapper()
			.enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
			.enable(JsonParser.Feature.STRICT_DUPLICATE_DETECTION);

	private final boolean complete;
	private final boolean go;
	private final String path;
	private final boolean allowNonRestored;
	private final String side;
	private final String flipSide;
	private final String why;

	private GoFile(boolean complete, boolean go, String path, boolean allowNonRestored, String side, String flipSide, String why) {
		this.complete = complete;
		this.go = go;
		this.path = path;
		this.allowNonRestored = allowNonRestored;
		this.side = side;
		this.flipSide = flipSide;
		this.why = why;
	}

	boolean complete() {
		return complete;
	}

	boolean go() {
		return go;
	}

	/** Empty: start without state. */
	String path() {
		return path;
	}

	boolean allowNonRestored() {
		return allowNonRestored;
	}

	/** The side of the job's output; null if it is not said. */
	String side() {
		return side;
	}

	/** The same for gates of FLIP-504; null if it is not said. */
	String flipSide() {
		return flipSide;
	}

	/** Why there is no go: what the file says, or what is wrong with it; null if it is not there. */
	String why() {
		return why;
	}

	static GoFile read(Path file) {
		if (!file.toFile().exists()) {
			return notComplete(null);
		}
		try (InputStream in = Files.newInputStream(file)) {
			byte[] bytes = in.readNBytes(LIMIT_BYTES + 1);
			if (bytes.length > LIMIT_BYTES) {
				return notComplete("it has more than " + LIMIT_BYTES + " bytes");
			}
			return parse(JSON.readTree(bytes));
		} catch (NoSuchFileException e) {
			return notComplete(null);
		} catch (JsonProcessingException e) {
			return notComplete("it is not JSON: " + e.getOriginalMessage());
		} catch (IOException e) {
			return notComplete("it cannot be read: " + e);
		}
	}

	private static GoFile parse(JsonNode root) {
		JsonNode schema = root.path("schema");
		JsonNode go = root.path("go");
		JsonNode path = root.path("path");
		JsonNode allow = root.path("allowNonRestored");
		JsonNode side = root.path("side");
		JsonNode flipSide = root.path("flipSide");
		JsonNode why = root.path("why");
		if (!schema.isInt() || schema.asInt() != 1) {
			return notComplete("its schema is not 1");
		}
		if (!go.isBoolean()) {
			return notComplete("\"go\" is neither true nor false");
		}
		if (!go.asBoolean()) {
			return new GoFile(true, false, "", false, null, null, why.isTextual() ? why.asText() : "no reason is given");
		}
		if (!path.isTextual() || !allow.isBoolean()) {
			return notComplete("\"path\" is no string, or \"allowNonRestored\" is neither true nor false");
		}
		if (!isText(side) || !isText(flipSide)) {
			return notComplete("\"side\" or \"flipSide\" is no string");
		}
		return new GoFile(true, true, path.asText(), allow.asBoolean(), side.textValue(), flipSide.textValue(), null);
	}

	private static boolean isText(JsonNode optional) {
		return optional.isMissingNode() || optional.isTextual();
	}

	private static GoFile notComplete(String why) {
		return new GoFile(false, false, "", false, null, null, why);
	}
}
