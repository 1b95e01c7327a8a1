package dev.drey;

import java.io.File;
import java.nio.file.Path;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.rpc.RpcSystem;
import org.apache.flink.runtime.rpc.RpcSystemLoader;

/**
 * Where Flink asks for its RPC, after it has read its configuration and before it starts anything, in a JobManager and in a
 * TaskManager alike. A JVM that is to say what the job is made of ({@link GraphReport}) does so here, and ends. In a JVM that
 * drey wants warm (DREY_REHEARSE is set) the {@link Rehearsal} comes first, and is given the same RPC as the JVM itself: Flink
 * otherwise unpacks a jar of 24 MB for each of the two, and loads Pekko from it by a new class loader: nothing of it would be warm.
 *
 * <p>In any other JVM this class does nothing, and Flink asks the next loader.
 */
public final class HookRpcSystemLoader implements RpcSystemLoader {
	private static final int BEFORE_ALL_OTHERS = -1_000_000;
	// read here: Flink creates this class in every JVM that has the jar, and the others are loaded only where they are needed
	private static final String GRAPH_FILE = System.getenv("DREY_GRAPH_FILE");

	private static RpcSystem kept;

	/** Flink asks the lowest first, and the next one if one throws. */
	@Override
	public int getLoadPriority() {
		return GRAPH_FILE != null || wantsRehearsal() ? BEFORE_ALL_OTHERS : Integer.MAX_VALUE;
	}

	/** Not where the go file is there: the job runs, or is about to. */
	private static boolean wantsRehearsal() {
		String held = System.getenv("DREY_HELD_FILE");
		return System.getenv("DREY_REHEARSE") != null && (held == null || !new File(held).exists());
	}

	@Override
	public RpcSystem loadRpcSystem(Configuration configuration) {
		if (GRAPH_FILE != null) {
			GraphReport.writeAndExit(Path.of(GRAPH_FILE), configuration);
		}
		boolean first;
		synchronized (HookRpcSystemLoader.class) {
			first = kept == null;
			if (first) {
				kept = KeptRpc.load(configuration, HookRpcSystemLoader.class);
			}
		}
		if (first) { // the rehearsal asks for it, too, in threads of its own
			Rehearsal.run(configuration);
		}
		return kept;
	}
}
