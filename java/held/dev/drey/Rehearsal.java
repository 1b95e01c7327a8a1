package dev.drey;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryUsage;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ConfigurationUtils;
import org.apache.flink.util.FileUtils;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a job does first is slow: the classes are loaded, and nothing is compiled yet. In a surge upgrade that is most of the time in
 * which no version of the job runs. So the JVMs of the version that waits run a small job first ({@link RehearsalJob}), twice, the
 * second time from a savepoint of the first: a Flink within this JVM, without the network but for loopback, without high
 * availability, in a directory that is deleted again. Nothing of the user's configuration is used in it but the name of the state
 * backend, and nothing of it is known to the Flink that starts afterwards. The user's file systems are {@link Storage looked at}.
 *
 * <p>DREY_REHEARSE asks for it. Without room for it nothing is rehearsed. A rehearsal that fails is logged, and changes nothing: the start is slower.
 */
final class Rehearsal {
	private static final Logger LOG = LoggerFactory.getLogger(Rehearsal.class);
	/** Flink's JobManager and TaskManager in one JVM need about 60 MiB of it more than the one that starts. */
	private static final long METASPACE_BYTES = 64L << 20;
	private static final long HEAP_BYTES = 64L << 20;
	private static final int DELETE_TRIES = 50;
	private static final int DELETE_PAUSE_MS = 50;

	private Rehearsal() {}

	static void run(Configuration users) {
		String lacks = lacks();
		if (lacks != null) {
			LOG.info("drey: nothing is rehearsed: {}", lacks);
			return;
		}
		LOG.info("drey: rehearsal: what follows, of the job {}, happens in this JVM only", RehearsalJob.NAME);
		long beginMs = System.currentTimeMillis();
		ClassLoader before = Thread.currentThread().getContextClassLoader();
		Path directory = null;
		try {
			// where Flink puts what a JVM that is killed leaves behind
			Path parent = Path.of(ConfigurationUtils.parseTempDirectories(users)[0]);
			directory = Files.createTempDirectory(Files.createDirectories(parent), "drey-rehearsal");
			Thread.currentThread().setContextClassLoader(Rehearsal.class.getClassLoader());
			RehearsalJob.run(users, directory);
			Storage.touch(users);
			LOG.info("drey: the rehearsal is over after {} ms", System.currentTimeMillis() - beginMs);
		} catch (Exception | LinkageError e) {
			LOG.warn("drey: the rehearsal has failed after {} ms, so the job will start more slowly",
					System.currentTimeMillis() - beginMs, e);
		} finally {
			Thread.currentThread().setContextClassLoader(before);
			delete(directory);
			System.gc(); // now, and not when the job comes
		}
	}

	/** What there is too little of; null: nothing. */
	private static String lacks() {
		for (MemoryPoolMXBean pool : ManagementFactory.getMemoryPoolMXBeans()) {
			MemoryUsage usage = pool.getUsage();
			if (pool.getName().equals("Metaspace") && usage.getMax() >= 0
					&& usage.getMax() - usage.getUsed() < METASPACE_BYTES) {
				return "the metaspace of this JVM has no " + (METASPACE_BYTES >> 20) + " MiB left";
			}
		}
		Runtime runtime = Runtime.getRuntime();
		if (runtime.maxMemory() - runtime.totalMemory() + runtime.freeMemory() < HEAP_BYTES) {
			return "the heap of this JVM has no " + (HEAP_BYTES >> 20) + " MiB left";
		}
		return null;
	}

	/** The job's cluster may still be closing, and deletes its part of it. */
	private static void delete(Path directory) {
		IOException why = null;
		for (int i = 0; directory != null && Files.exists(directory); i++) {
			if (i == DELETE_TRIES) {
				LOG.info("drey: {} could not be deleted", directory, why);
				return;
			}
			try {
				FileUtils.deleteDirectory(directory.toFile());
			} catch (IOException e) {
				why = e;
			}
			LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(DELETE_PAUSE_MS));
		}
	}
}
