import java.io.File;
import java.util.Arrays;

import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.rpc.RpcSystem;

/** DIR: loads Flink's RPC as a JobManager does, with DIR as io.tmp.dirs, and says how it was loaded. */
public final class LoadRpc {
	public static void main(String[] args) throws Exception {
		Configuration configuration = new Configuration();
		configuration.setString("io.tmp.dirs", args[0]);
		try (RpcSystem system = RpcSystem.load(configuration)) {
			System.out.println("url " + system.getRpcUrl("localhost", 6123, "x", org.apache.flink.runtime.rpc.AddressResolution.NO_ADDRESS_RESOLUTION, configuration));
			System.out.println("copies " + Arrays.toString(new File(args[0]).list((dir, name) -> name.startsWith("flink-rpc"))));
		}
		try {
			Class.forName("scala.Option", false, LoadRpc.class.getClassLoader());
			System.out.println("scala is visible");
		} catch (ClassNotFoundException e) {
			System.out.println("scala is hidden");
		}
	}
}
