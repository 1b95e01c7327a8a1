package dev.drey;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/** A file for drey, which it sees whole or not at all. */
final class WholeFile {
	private WholeFile() {}

	/** Replaces one that is there. */
	static void write(Path to, String text) throws IOException {
		Path part = Path.of(to + ".new");
		Files.write(part, text.getBytes(StandardCharsets.UTF_8));
		Files.move(part, to, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
	}
}
