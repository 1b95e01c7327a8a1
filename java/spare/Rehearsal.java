package drey.spare;

import dev.drey.Loopback;
import java.io.File;
import java.nio.file.Path;
import java.util.Collections;
import java.util.concurrent.TimeUnit;
import org.apache.flink.client.program.PackagedProgram;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.SecurityOptions;
import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.runtime.entrypoint.ClusterEntrypoint;

/**
 * The real entry point with {@link DryJob}, on loopback, without HA, closed again. Its configuration has nothing of the
 * user's: no reporters, no listeners, no archive, no checkpoint directory, no keytab, no history. The user's plugins are
 * found by FLINK_PLUGINS_DIR as always, and unused ones are not loaded.
 */
final class Rehearsal {
	private static final String APPLICATION = "org.apache.flink.client.deployment.application.ApplicationClusterEntryPoint";
	private static final long LIMIT_MS = 240_000; // drey-init gives a quarter of the time, and ends what takes too long

	private Rehearsal() {}

	static void run(String entryClass, Path directory) throws Exception {
		Configuration configuration = configuration(directory.toString());
		// a copy in a loader of its own, as the user's jars are
		try (PackagedProgram program = PackagedProgram.newBuilder()
				.setJarFile(new File(ClassPath.ourJar().toString()))
				.setEntryPointClassName(DryJob.class.getName())
				.setConfiguration(configuration)
				.build()) {
			ClusterEntrypoint cluster = start(entryClass, configuration, program);
			play(new Rest(cluster.getRestPort()));
			cluster.closeAsync().get(LIMIT_MS, TimeUnit.MILLISECONDS);
		}
		takeBack();
	}

	private static Configuration configuration(String directory) {
		Configuration c = Loopback.configuration(directory);
		c.setString("jobmanager.rpc.port", "0");
		c.setString("blob.storage.directory", directory);
		c.setString("process.working-dir", directory);
		c.setString("execution.shutdown-on-application-finish", "false");
		c.setString("jobmanager.memory.process.size", "1600m");
		// no Kerberos, no Hadoop, no ZooKeeper: their modules set properties of the JVM
		c.set(SecurityOptions.SECURITY_MODULE_FACTORY_CLASSES, Collections.emptyList());
		c.set(SecurityOptions.SECURITY_CONTEXT_FACTORY_CLASSES,
				Collections.singletonList("org.apache.flink.runtime.security.contexts.NoOpSecurityContextFactory"));
		return c;
	}

	private static ClusterEntrypoint start(String entryClass, Configuration configuration, PackagedProgram program)
			throws Exception {
		Class<?> entry = Reflect.type(entryClass);
		Reflect.call(APPLICATION, "configureExecution", null,
				new Class<?>[] {Configuration.class, PackagedProgram.class}, configuration, program);
		ClusterEntrypoint cluster = (ClusterEntrypoint) Reflect
				.constructor(entry, Configuration.class, PackagedProgram.class)
				.newInstance(configuration, program);
		cluster.startCluster();
		return cluster;
	}

	private static void play(Rest rest) throws Exception {
		String jobs = rest.await("/jobs/overview", "\"state\":\"RUNNING\"", LIMIT_MS);
		String job = jobs.replaceAll("(?s).*\"jid\":\"([0-9a-f]{32})\".*", "$1");
		for (String path : new String[] {
			"/overview", "/config", "/jobs", "/jobs/" + job, "/jobs/" + job + "/checkpoints", "/jobs/" + job + "/exceptions",
			"/taskmanagers", "/jobmanager/config", "/jobmanager/metrics", "/cluster"
		}) {
			rest.get(path);
		}
		// a cluster that is closed with a job on it takes that for a fatal error, and ends the JVM
		rest.request("PATCH", "/jobs/" + job + "?mode=cancel");
		rest.await("/jobs/" + job, "\"state\":\"CANCELED\"", LIMIT_MS);
	}

	/** What the entry point has set in the JVM, as far as the real start does not set it anyway. */
	private static void takeBack() throws Exception {
		Reflect.call("org.apache.flink.runtime.security.SecurityUtils", "uninstall", null, new Class<?>[0]);
		Thread.setDefaultUncaughtExceptionHandler(null);
		FileSystem.initialize(new Configuration(), null);
	}
}
