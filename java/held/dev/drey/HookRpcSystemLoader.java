package dev.drey;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.ServiceLoader;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.rpc.RpcSystem;
import org.apache.flink.runtime.rpc.RpcSystemLoader;

/**
 * Where Flink asks for its RPC, after it has read its configuration and before it starts anything, in a JobManager and in a
 * TaskManager alike. A JVM that is to say what the job is made of ({@link GraphReport}) does so here, and ends. In a JVM that
 * drey wants warm (DREY_REHEARSE is set) the {@link Rehearsal} comes first, and is given the same RPC as the JVM itself: Flink
 * otherwise unpacks a jar of 24 MB for each of the two, and loads Pekko from it by a new class loader: nothing of it would be warm.
 *
 * <p>An RPC system has no state of its own; this one is closed by nobody, and lives as long as the JVM. In any other JVM this class
 * does nothing, and Flink asks the next loader.
 */
public final class HookRpcSystemLoader implements RpcSystemLoader {
	private static final int BEFORE_ALL_OTHERS = -1_000_000;

	private static RpcSystem kept;

	/** Flink asks the lowest first, and the next one if one throws. */
	@Override
	public int getLoadPriority() {
		return Rehearsal.isWanted() || GraphReport.isWanted() ? BEFORE_ALL_OTHERS : Integer.MAX_VALUE;
	}

	@Override
	public RpcSystem loadRpcSystem(Configuration configuration) {
		if (GraphReport.isWanted()) {
			GraphReport.writeAndExit(configuration);
		}
		boolean first;
		synchronized (HookRpcSystemLoader.class) {
			first = kept == null;
			if (first) {
				kept = withoutClose(load(configuration));
			}
		}
		if (first) { // the rehearsal asks for it, too, in threads of its own
			Rehearsal.run(configuration);
		}
		return kept;
	}

	/** As RpcSystem.load() does it, without this one. */
	private static RpcSystem load(Configuration configuration) {
		List<RpcSystemLoader> loaders = new ArrayList<>();
		RuntimeException failed = new IllegalStateException("no RPC system can be loaded");
		for (RpcSystemLoader loader : ServiceLoader.load(RpcSystemLoader.class)) {
			if (!(loader instanceof HookRpcSystemLoader)) {
				loaders.add(loader);
			}
		}
		loaders.sort(Comparator.comparingInt(RpcSystemLoader::getLoadPriority));
		for (RpcSystemLoader loader : loaders) {
			try {
				return loader.loadRpcSystem(configuration);
			} catch (RuntimeException e) {
				failed.addSuppressed(e);
			}
		}
		throw failed;
	}

	private static RpcSystem withoutClose(RpcSystem of) {
		return (RpcSystem) Proxy.newProxyInstance(RpcSystem.class.getClassLoader(), new Class<?>[] {RpcSystem.class},
				(self, method, args) -> {
					if (method.getName().equals("close")) {
						return null;
					}
					try {
						return method.invoke(of, args);
					} catch (InvocationTargetException e) {
						throw e.getCause();
					}
				});
	}
}
