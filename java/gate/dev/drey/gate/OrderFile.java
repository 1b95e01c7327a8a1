package dev.drey.gate;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Objects;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.core.JsonParser;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.core.JsonProcessingException;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.DeserializationFeature;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;

/**
 * order.json (docs/reference/formats.md), and the last order in it that counts. What is damaged, of another launch or side, or older
 * never replaces one that counts. Not for use by several threads.
 */
final class OrderFile {
	private static final int LIMIT_BYTES = 1 << 20;
	private static final long LIMIT_NUMBER = (1L << 53) - 1;
	private static final ObjectMapper JSON = new ObjectMapper()
			.enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
			.enable(JsonParser.Feature.STRICT_DUPLICATE_DETECTION);

	private final Path file;
	private final String launch;
	private final String side;
	private Order order;
	private String ignored;

	OrderFile(Path file, String launch, String side) {
		this.file = file;
		this.launch = launch;
		this.side = side;
	}

	/** Null: none has come yet. */
	Order order() {
		return order;
	}

	/** Why the present file does not count; null if it does, or is not there. */
	String ignored() {
		return ignored;
	}

	/** Reads the file. Returns whether the order, or why the file is ignored, has changed. */
	boolean look() {
		Order before = order;
		String ignoredBefore = ignored;
		ignored = null;
		try {
			byte[] bytes = bytes();
			if (bytes != null) {
				take(parse(JSON.readTree(bytes)));
			}
		} catch (NotAnOrder e) {
			ignored = e.getMessage();
		} catch (JsonProcessingException e) {
			ignored = "it is not JSON: " + e.getOriginalMessage();
		} catch (IOException e) {
			ignored = "it cannot be read: " + e;
		}
		return order != before || !Objects.equals(ignored, ignoredBefore);
	}

	private void take(Order next) throws NotAnOrder {
		if (order == null || next.number > order.number) {
			order = next;
		} else if (next.number < order.number) {
			throw new NotAnOrder("its number is " + next.number + ", and " + order.number + " was there before");
		} else if (!next.isSame(order)) {
			throw new NotAnOrder("its number is " + next.number + ", and there was another order with that number");
		}
	}

	/** Null: it is not there. */
	private byte[] bytes() throws IOException, NotAnOrder {
		try (InputStream in = Files.newInputStream(file)) {
			byte[] bytes = in.readNBytes(LIMIT_BYTES + 1);
			if (bytes.length > LIMIT_BYTES) {
				throw new NotAnOrder("it has more than " + LIMIT_BYTES + " bytes");
			}
			return bytes;
		} catch (NoSuchFileException e) {
			return null;
		}
	}

	private Order parse(JsonNode root) throws NotAnOrder {
		JsonNode schema = root.path("schema");
		if (!schema.isInt() || schema.asInt() != 1) {
			throw new NotAnOrder("its schema is not 1");
		}
		String of = text(root, "launch", false);
		if (!launch.equals(of)) {
			throw new NotAnOrder("it is of launch " + of + ", and this is " + launch);
		}
		String itsSide = text(root, "side", true);
		if (itsSide != null && !itsSide.equals(side)) {
			throw new NotAnOrder("it is for the side " + itsSide + ", and this is " + side);
		}
		Long number = number(root, "number");
		if (number == null || number < 1) {
			throw new NotAnOrder("\"number\" is not above 0");
		}
		if (!root.has("transition")) {
			throw new NotAnOrder("\"transition\" is missing");
		}
		String transition = text(root, "transition", true);
		Word word = Word.of(text(root, "word", false));
		if (word == null) {
			throw new NotAnOrder("\"word\" is unknown: " + root.path("word").asText());
		}
		Cut cut = cut(root);
		if (word.needsCut() && (cut == null || transition == null)) {
			throw new NotAnOrder("\"" + word.text() + "\" needs \"toggle\" and \"transition\"");
		}
		return new Order(number, transition, word, cut);
	}

	private static Cut cut(JsonNode root) throws NotAnOrder {
		Long toggle = number(root, "toggle");
		Long ceiling = number(root, "ceiling");
		if (toggle == null) {
			return null;
		}
		if (ceiling == null) {
			ceiling = toggle + Cut.CEILING_ABOVE_MS;
		}
		if (ceiling <= toggle) {
			throw new NotAnOrder("\"ceiling\" is not above \"toggle\"");
		}
		return new Cut(toggle, ceiling);
	}

	private static String text(JsonNode root, String name, boolean nullable) throws NotAnOrder {
		JsonNode node = root.path(name);
		if (nullable && (node.isMissingNode() || node.isNull())) {
			return null;
		}
		if (!node.isTextual() || node.asText().isEmpty()) {
			throw new NotAnOrder("\"" + name + "\" is no string");
		}
		return node.asText();
	}

	private static Long number(JsonNode root, String name) throws NotAnOrder {
		JsonNode node = root.path(name);
		if (node.isMissingNode() || node.isNull()) {
			return null;
		}
		if (!node.isIntegralNumber() || !node.canConvertToLong() || Math.abs(node.asLong()) > LIMIT_NUMBER) {
			throw new NotAnOrder("\"" + name + "\" is no integer below 2^53");
		}
		return node.asLong();
	}

	private static final class NotAnOrder extends Exception {
		private static final long serialVersionUID = 1;

		NotAnOrder(String why) {
			super(why, null, false, false);
		}
	}
}
