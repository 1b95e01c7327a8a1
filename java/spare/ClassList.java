package drey.spare;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The classes that the rehearsal does not reach: what comes after a TaskManager has registered, and after HA data was found.
 * One name a line, in the file "flink.classes" beside this jar; the class archive step writes it. Without it they are loaded
 * when they are needed, as always.
 */
final class ClassList {
	private static final String FILE = "flink.classes";

	private ClassList() {}

	static void load() throws IOException {
		Path list = ClassPath.ourJar().resolveSibling(FILE);
		if (!Files.isReadable(list)) {
			return;
		}
		ClassLoader loader = ClassList.class.getClassLoader();
		for (String name : Files.readAllLines(list)) {
			try {
				Class.forName(name, false, loader); // not initialized: that can have side effects
			} catch (ClassNotFoundException | LinkageError e) {
				continue; // of another loader, or of another version
			}
		}
	}
}
