package dev.drey.gate;

import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
import org.apache.flink.runtime.minicluster.RpcServiceSharing;

/**
 * GateTests DIRECTORY [PART]: all tests of the gate, with two MiniClusters in this JVM. Properties: seed and turns of the transitions
 * with failures; scheduler and failover (full, region), of Flink.
 */
public final class GateTests {
	static final int AT_A_TIME = 7;
	private static final int SLOTS_OF_EACH = 3;

	private GateTests() {}

	public static void main(String[] args) throws Exception {
		Path directory = Path.of(args[0]);
		Tap.only(args.length > 1 ? args[1] : "");
		ValveTest.run();
		OrderFileTest.run(directory);
		OrderFileTest.ofTheAgent(directory);
		MiniCluster[] clusters = {cluster(directory, "blue"), cluster(directory, "green")};
		ClusterTest.run(clusters, directory);
		int status = Tap.end();
		for (MiniCluster cluster : clusters) {
			cluster.closeAsync();
		}
		Runtime.getRuntime().halt(status);
	}

	private static MiniCluster cluster(Path directory, String name) throws Exception {
		Configuration c = new Configuration();
		c.setString("io.tmp.dirs", Files.createDirectories(directory.resolve("tmp-" + name)).toString());
		c.setString("rest.address", "127.0.0.1");
		c.setString("rest.bind-port", "0");
		c.setString("taskmanager.memory.network.min", "32 mb");
		c.setString("taskmanager.memory.network.max", "32 mb");
		c.setString("taskmanager.memory.managed.size", "16 mb");
		// if one task is restarted while a checkpoint closes the gateways of a coordinator, that of a source, too, Flink's JobManager
		// ends ("Some subtask gateway can be closed while others cannot"); on a slow machine that happens. With all of them it does not
		c.setString("jobmanager.execution.failover-strategy", System.getProperty("failover", "full"));
		if (System.getProperty("scheduler") != null) {
			c.setString("jobmanager.scheduler", System.getProperty("scheduler"));
		}
		MiniCluster cluster = new MiniCluster(new MiniClusterConfiguration.Builder()
				.setConfiguration(c)
				.setNumTaskManagers(1)
				.setNumSlotsPerTaskManager(AT_A_TIME * SLOTS_OF_EACH)
				.setRpcServiceSharing(RpcServiceSharing.SHARED)
				.build());
		cluster.start();
		return cluster;
	}
}
