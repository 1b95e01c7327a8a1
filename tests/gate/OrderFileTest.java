package dev.drey.gate;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/** Which order.json counts. */
final class OrderFileTest {
	private static final String LAUNCH = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa01";
	private static final String REST = "{\"schema\":1,\"launch\":\"" + LAUNCH + "\",\"transition\":null,\"number\":1,\"word\":\"open\"}";
	private static final String ARM = "{\"schema\":1,\"launch\":\"" + LAUNCH + "\",\"side\":\"blue\",\"transition\":\"h1\",\"number\":5,"
			+ "\"word\":\"armBlue\",\"toggle\":1000,\"ceiling\":2000,\"more\":[1]}";

	private OrderFileTest() {}

	static void run(Path directory) {
		Tap.part("order file", () -> {
			Path file = directory.resolve("order.json");
			OrderFile orders = new OrderFile(file, LAUNCH, "blue");
			Tap.ok(!orders.look() && orders.order() == null && orders.ignored() == null, "no file: no order");
			for (int length = 0; length < ARM.length(); length++) {
				Files.writeString(file, ARM.substring(0, length));
				orders.look();
				if (orders.order() != null || orders.ignored() == null) {
					Tap.ok(false, "truncated to " + length + " bytes");
				}
			}
			Tap.ok(orders.order() == null, "truncated anywhere: no order");
			bad(orders, file, ARM.replace("\"schema\":1", "\"schema\":2"), "another schema");
			bad(orders, file, ARM.replace("aa01", "aa02"), "another launch");
			bad(orders, file, ARM.replace("blue\"", "green\""), "another side");
			bad(orders, file, ARM.replace("armBlue", "armRed"), "an unknown word");
			bad(orders, file, ARM.replace("\"toggle\":1000", "\"toggle\":null"), "a word without its cut");
			bad(orders, file, ARM.replace("\"toggle\":1000", "\"toggle\":\"1000\""), "a cut that is no number");
			bad(orders, file, ARM.replace("\"toggle\":1000", "\"toggle\":1000.5"), "half a millisecond");
			bad(orders, file, ARM.replace("\"toggle\":1000", "\"toggle\":1e300"), "a number that is too large");
			bad(orders, file, ARM.replace("\"ceiling\":2000", "\"ceiling\":1000"), "a ceiling that is not above");
			bad(orders, file, ARM.replace("\"number\":5", "\"number\":0"), "number 0");
			bad(orders, file, ARM.replace("\"number\":5", "\"number\":5,\"number\":6"), "a member that occurs twice");
			bad(orders, file, ARM.replace("\"transition\":\"h1\",", ""), "no transition");
			bad(orders, file, ARM + "{}", "more than one value");
			bad(orders, file, " ".repeat(1 << 20) + ARM, "more than a mebibyte");
			good(orders, file, ARM, 5, "then the whole file counts");
			Tap.is(orders.order().cut, new Cut(1000, 2000), "with its cut");
			bad(orders, file, REST, "a lower number does not");
			bad(orders, file, ARM.replace("1000", "1001"), "nor the same number with another cut");
			Tap.is(orders.order().cut, new Cut(1000, 2000), "the last that counts stays");
			Files.delete(file);
			orders.look();
			Tap.is(orders.order().number + "/" + orders.ignored(), "5/null", "also when the file is gone");
			good(orders, file, REST.replace("\"number\":1", "\"number\":6"), 6, "a higher number counts");
			Tap.ok(orders.order().isAtRest(), "null is at rest");
			good(orders, file, ARM.replace("\"number\":5", "\"number\":7").replace(",\"ceiling\":2000", ""), 7,
					"so does one without a ceiling");
			Tap.is(orders.order().cut.ceiling, 3_601_000L, "which is an hour above the cut then");
		});
	}

	/** tests/unit/test_gate_file.c has them written by the agent's own code. */
	static void ofTheAgent(Path directory) {
		Tap.part("orders of the agent", () -> {
			Path fixtures = Path.of(System.getProperty("fixtures"));
			Path file = directory.resolve("order-of-the-agent.json");
			OrderFile orders = new OrderFile(file, LAUNCH, "green");
			String[] expected = {"order-closed 7 h17-3f2ac1d0 CLOSED null", "order-armGreen 8 h17-3f2ac1d0 ARM_GREEN 1767225600000..1767229200000",
					"order-finish 9 h17-3f2ac1d0 FINISH 1767225600000..1767229200000",
					"order-rest 9007199254740991 null OPEN null"};
			for (String row : expected) {
				String name = row.substring(0, row.indexOf(' '));
				Files.copy(fixtures.resolve(name + ".json"), file, StandardCopyOption.REPLACE_EXISTING);
				orders.look();
				Order order = orders.order();
				Tap.is(orders.ignored() + ", " + name + " " + (order == null ? null
						: order.number + " " + order.transition + " " + order.word + " " + order.cut), "null, " + row, name + " of the agent counts");
			}
			OrderFile blue = new OrderFile(fixtures.resolve("order-armBlue.json"), LAUNCH, "blue");
			Tap.ok(blue.look() && blue.ignored() == null && blue.order().word == Word.ARM_BLUE, "so does that of the other side");
			orders = new OrderFile(fixtures.resolve("order-armBlue.json"), LAUNCH, "green");
			orders.look();
			Tap.is(orders.ignored(), "it is for the side blue, and this is green", "but not for this side");
		});
	}

	private static void bad(OrderFile orders, Path file, String text, String what) throws Exception {
		Order before = orders.order();
		Files.writeString(file, text);
		orders.look();
		Tap.ok(orders.order() == before && orders.ignored() != null, what + ": " + orders.ignored());
	}

	private static void good(OrderFile orders, Path file, String text, long number, String what) throws Exception {
		Files.writeString(file, text);
		Tap.ok(orders.look() && orders.ignored() == null && orders.order().number == number, what);
	}
}
