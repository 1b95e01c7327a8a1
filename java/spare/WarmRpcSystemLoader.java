package drey.spare;

import dev.drey.KeptRpc;
import java.nio.file.Path;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.rpc.RpcSystem;
import org.apache.flink.runtime.rpc.RpcSystemLoader;

/**
 * Gives the rehearsal and the real start the same RPC system ({@link KeptRpc}): nothing of the rehearsal would be left otherwise.
 */
public final class WarmRpcSystemLoader implements RpcSystemLoader {
	private static final int BEFORE_ALL_OTHERS = -1_000_000;

	private static String directory;
	private static RpcSystem kept;

	/** Where its jar is unpacked, which has to stay. */
	static synchronized void keepIn(Path where) {
		directory = where.toString();
	}

	@Override
	public int getLoadPriority() {
		return BEFORE_ALL_OTHERS;
	}

	@Override
	public RpcSystem loadRpcSystem(Configuration configuration) {
		synchronized (WarmRpcSystemLoader.class) {
			if (kept == null) {
				Configuration ours = new Configuration(configuration);
				ours.setString("io.tmp.dirs", directory);
				kept = KeptRpc.load(ours, WarmRpcSystemLoader.class);
			}
			return kept;
		}
	}
}
