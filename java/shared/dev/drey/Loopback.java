package dev.drey;

import org.apache.flink.configuration.Configuration;

/** The configuration of a cluster that nobody outside this JVM sees, with nothing of the user's, and all of it in one directory. */
public final class Loopback {
	private Loopback() {}

	public static Configuration configuration(String directory) {
		Configuration c = new Configuration();
		c.setString("jobmanager.rpc.address", "127.0.0.1");
		c.setString("jobmanager.bind-host", "127.0.0.1");
		c.setString("rest.address", "127.0.0.1");
		c.setString("rest.bind-address", "127.0.0.1");
		c.setString("rest.bind-port", "0");
		c.setString("blob.server.port", "0");
		c.setString("io.tmp.dirs", directory);
		c.setString("web.tmpdir", directory);
		c.setString("execution.checkpointing.dir", "file://" + directory + "/checkpoints");
		c.setString("security.delegation.tokens.enabled", "false");
		return c;
	}
}
