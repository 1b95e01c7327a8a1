package dev.drey.gate;

import java.nio.file.Files;
import java.nio.file.Path;

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
