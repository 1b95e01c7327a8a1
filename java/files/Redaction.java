package drey.files;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.GlobalConfiguration;

/** Takes secrets out of texts: the values of the keys that Flink calls sensitive, and of variables with such names. */
final class Redaction {
	private static final int MIN_LENGTH = 6; // a shorter value is a word that may be anywhere
	private static final int MESSAGE_LENGTH = 360;
	private static final String HIDDEN = "******";

	private volatile Set<String> secrets = Set.of();

	void learn(Configuration configuration) {
		Set<String> found = new TreeSet<>((a, b) -> a.length() != b.length() ? b.length() - a.length() : a.compareTo(b));
		configuration.toMap().forEach((key, value) -> learn(found, key, value));
		for (Map.Entry<String, String> variable : System.getenv().entrySet()) {
			learn(found, variable.getKey().toLowerCase(java.util.Locale.ROOT).replace('_', '-'), variable.getValue());
		}
		secrets = found;
	}

	private static void learn(Set<String> found, String key, String value) {
		boolean sensitive = GlobalConfiguration.isSensitive(key) || key.contains("account.key") || key.contains("sas");
		if (sensitive && value.length() >= MIN_LENGTH && !value.startsWith("/")) {
			found.add(value);
		}
	}

	String clean(String text) {
		String clean = text;
		for (String secret : secrets) {
			clean = clean.replace(secret, HIDDEN);
		}
		return clean.replaceAll("([?&](?:sig|se|sv|token)=)[^&\\s]+", "$1" + HIDDEN);
	}

	/** What has happened, and its innermost cause, in one line. */
	String words(Throwable e) {
		Throwable inner = e;
		for (int depth = 0; inner.getCause() != null && depth < 50; depth++) {
			inner = inner.getCause();
		}
		String text = line(e);
		if (inner != e && !text.contains(String.valueOf(inner.getMessage()))) {
			text += "; caused by " + line(inner);
		}
		text = clean(text);
		return text.length() > MESSAGE_LENGTH ? text.substring(0, MESSAGE_LENGTH) + "..." : text;
	}

	private static String line(Throwable e) {
		String message = e.getMessage() == null ? "" : ": " + e.getMessage().strip();
		return e.getClass().getSimpleName() + message.replaceAll("\\s*\\R\\s*", " ");
	}

	/** Whole lines only: a secret may come in two parts. */
	OutputStream stream(OutputStream to) {
		return new OutputStream() {
			private final ByteArrayOutputStream line = new ByteArrayOutputStream();

			@Override
			public synchronized void write(int b) throws IOException {
				line.write(b);
				if (b == '\n') {
					to.write(clean(line.toString(StandardCharsets.UTF_8)).getBytes(StandardCharsets.UTF_8));
					line.reset();
				}
			}
		};
	}
}
