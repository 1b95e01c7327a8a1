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
 * Flink's RPC for a JVM in which more than one cluster starts. Flink otherwise unpacks a jar of 24 MB at each start, and loads Pekko
 * from it by a new class loader: nothing of the first one would be warm.
 *
 * <p>An RPC system has no state of its own. This one is closed by nobody, and what it is made of lives as long as the JVM.
 */
public final class KeptRpc {
	private KeptRpc() {}

	/** As RpcSystem.load() does it, without the loader that asks. */
	public static RpcSystem load(Configuration configuration, Class<? extends RpcSystemLoader> asks) {
		List<RpcSystemLoader> loaders = new ArrayList<>();
		RuntimeException failed = new IllegalStateException("no RPC system can be loaded");
		for (RpcSystemLoader loader : ServiceLoader.load(RpcSystemLoader.class)) {
			if (!asks.isInstance(loader)) {
				loaders.add(loader);
			}
		}
		loaders.sort(Comparator.comparingInt(RpcSystemLoader::getLoadPriority));
		for (RpcSystemLoader loader : loaders) {
			try {
				return withoutClose(loader.loadRpcSystem(configuration));
			} catch (RuntimeException e) {
				failed.addSuppressed(e);
			}
		}
		throw failed;
	}

	/** Each cluster closes it. */
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
