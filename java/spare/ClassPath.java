package drey.spare;

import java.io.File;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;

/** Where this jar is. Flink looks into java.class.path for the job, and logs it: there it is not. */
final class ClassPath {
	private ClassPath() {}

	static Path ourJar() {
		try {
			return Paths.get(Spare.class.getProtectionDomain().getCodeSource().getLocation().toURI());
		} catch (URISyntaxException e) {
			throw new IllegalStateException(e);
		}
	}

	static void withoutUs() {
		List<String> kept = new ArrayList<>();
		Path ours = ourJar().toAbsolutePath();
		for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
			if (!Paths.get(entry).toAbsolutePath().equals(ours)) {
				kept.add(entry);
			}
		}
		System.setProperty("java.class.path", String.join(File.pathSeparator, kept));
	}
}
