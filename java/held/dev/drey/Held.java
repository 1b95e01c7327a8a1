package dev.drey;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.file.Path;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A main() in front of the user's: it waits for a file that says from what the job is to start, and then calls the user's.
 *
 * <p>In application mode Flink calls main() when the JobManager is wholly up: REST, leader lock, slots of the TaskManagers. So
 * with --job-classname dev.drey.Held all of that is done before the old version of the job is stopped. One source, compiled
 * against Flink 1.20, for 1.20 to 2.3; it belongs into Flink's lib directory, where a class archive can contain it. From the
 * environment:
 *
 * <ul>
 *   <li>DREY_HELD_CLASS: the user's class. Empty: that of the manifest, as Flink finds it ({@link UserProgram}). It is loaded
 *       while main() is held, but not initialized: a class that is not there fails now, and nothing of it runs before its time. So does a Flink in which this cannot work.
 *   <li>DREY_HELD_FILE: the absolute path of the go file ({@link GoFile}). It belongs to one launch and stays: a JobManager that
 *       starts again under this launch continues at once. Without Flink's high availability that is a second start from the
 *       same savepoint; with it, Flink prefers its newest checkpoint.
 * </ul>
 *
 * <p>DREY_HELD_FILE.held is written, by rename, when main() is held: {"schema": 1, "class": "...", "heldUnixMs": N, "pid": N}. It
 * is not removed; pid tells whether it is of this JVM. drey removes it before it starts a JVM.
 *
 * <p>An exception of the user's main() passes through as it is. After {"go": false} this main() throws. What Flink does with an
 * exception depends on its configuration: the JVM ends, or reports a job that has FAILED and stays.
 *
 * <p>What is different from a launch without it: Flink 2.3 calls the application dev.drey.Held, and reports it as RUNNING while it
 * is held; no option sets that name. A program in Python cannot be held: Flink sees it by its arguments, and starts its own class.
 */
public final class Held {
	private static final Logger LOG = LoggerFactory.getLogger(Held.class);
	/** inotify does not see every file system. A look is one stat(), and this is at most 1 % of the gap. */
	private static final long LOOK_MS = 20;

	private Held() {}

	public static void main(String[] args) throws Throwable {
		Path file = Path.of(need("DREY_HELD_FILE"));
		Method main = UserProgram.main(System.getenv("DREY_HELD_CLASS"));
		RestoreFrom.rehearse();
		GoFile go = GoFile.read(file);
		if (!go.complete()) {
			System.gc(); // what the start has left, while nobody waits
			writeHeld(Path.of(file + ".held"), main.getDeclaringClass().getName());
			LOG.info("drey: main() of {} is held until {} says what to start from", main.getDeclaringClass().getName(), file);
			go = await(file, go);
		}
		if (!go.go()) {
			throw new IllegalStateException("drey: this job is not to start: " + go.why());
		}
		LOG.info("drey: {} goes on, {}", main.getDeclaringClass().getName(),
				go.path().isEmpty() ? "without state" : "from " + go.path());
		RestoreFrom.install(go);
		try {
			main.invoke(null, (Object) args);
		} catch (InvocationTargetException e) {
			throw e.getCause();
		}
	}

	private static String need(String name) {
		String value = System.getenv(name);
		if (value == null || value.isEmpty()) {
			throw new IllegalStateException("drey: " + name + " is not set");
		}
		return value;
	}

	/** A file that is not complete is none yet; what is wrong with it is logged once. */
	private static GoFile await(Path file, GoFile first) throws InterruptedException {
		String said = null;
		GoFile go = first;
		while (!go.complete()) {
			if (go.why() != null && !go.why().equals(said)) {
				said = go.why();
				LOG.warn("drey: main() stays held: {}: {}", file, said);
			}
			Thread.sleep(LOOK_MS);
			go = GoFile.read(file);
		}
		return go;
	}

	private static void writeHeld(Path to, String className) throws IOException {
		ObjectMapper json = new ObjectMapper();
		String text = json.writeValueAsString(json.createObjectNode()
				.put("schema", 1)
				.put("class", className)
				.put("heldUnixMs", System.currentTimeMillis())
				.put("pid", ProcessHandle.current().pid()));
		WholeFile.write(to, text + "\n");
	}
}
