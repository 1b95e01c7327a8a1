package dev.drey;

import java.net.URI;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.core.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The first question to an object store takes a second and more: its client is loaded, and TLS and credentials are set up. So it is
 * asked once for each file system of the user's configuration whether a directory exists. Nothing is written.
 */
final class Storage {
	private static final Logger LOG = LoggerFactory.getLogger(Storage.class);
	private static final long LIMIT_MS = TimeUnit.SECONDS.toMillis(10);
	private static final String[] DIRECTORIES = {
		"execution.checkpointing.savepoint-dir", "state.savepoints.dir", "execution.checkpointing.dir", "state.checkpoints.dir"
	};

	private Storage() {}

	/** A store that does not answer holds nobody up for long. */
	static void touch(Configuration users) throws InterruptedException {
		for (URI directory : directories(users).values()) {
			Thread thread = new Thread(() -> look(directory), "drey-rehearsal-storage");
			thread.setDaemon(true);
			thread.start();
			thread.join(LIMIT_MS);
			if (thread.isAlive()) {
				LOG.info("drey: {} does not answer within {} ms", directory, LIMIT_MS);
			}
		}
	}

	/** One of each file system. */
	private static Map<String, URI> directories(Configuration users) {
		Map<String, URI> found = new LinkedHashMap<>();
		for (String key : DIRECTORIES) {
			String text = users.getString(key, null);
			if (text != null) {
				URI uri = new Path(text).toUri();
				found.putIfAbsent(uri.getScheme() + "://" + uri.getAuthority(), uri);
			}
		}
		return found;
	}

	private static void look(URI directory) {
		long beginMs = System.currentTimeMillis();
		try {
			FileSystem.get(directory).exists(new Path(directory));
			LOG.info("drey: the file system of {} is ready after {} ms", directory, System.currentTimeMillis() - beginMs);
		} catch (Exception | LinkageError e) {
			LOG.info("drey: {} cannot be read now", directory, e);
		}
	}
}
