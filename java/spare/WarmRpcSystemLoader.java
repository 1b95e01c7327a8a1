package drey.spare;

import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.ServiceLoader;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.rpc.AddressResolution;
import org.apache.flink.runtime.rpc.RpcSystem;
import org.apache.flink.runtime.rpc.RpcSystemLoader;

/**
 * Gives the rehearsal and the real start the same RPC system. Flink otherwise unpacks a jar of 24 MB at each start, and loads
 * Pekko from it by a new class loader: nothing of the rehearsal would be left. An RPC system has no state of its own.
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
		return new Shared(theOne(configuration));
	}

	private static synchronized RpcSystem theOne(Configuration configuration) {
		if (kept == null) {
			Configuration ours = new Configuration(configuration);
			ours.setString("io.tmp.dirs", directory);
			kept = load(ours);
		}
		return kept;
	}

	/** As RpcSystem.load() does it, without this one. */
	private static RpcSystem load(Configuration configuration) {
		List<RpcSystemLoader> loaders = new ArrayList<>();
		RuntimeException failed = new IllegalStateException("no RPC system can be loaded");
		for (RpcSystemLoader loader : ServiceLoader.load(RpcSystemLoader.class)) {
			if (!(loader instanceof WarmRpcSystemLoader)) {
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

	/** Is closed more than once; what it is made of lives as long as the JVM. */
	private static final class Shared implements RpcSystem {
		private final RpcSystem of;

		Shared(RpcSystem of) {
			this.of = of;
		}

		@Override
		public RpcServiceBuilder localServiceBuilder(Configuration configuration) {
			return of.localServiceBuilder(configuration);
		}

		@Override
		public RpcServiceBuilder remoteServiceBuilder(Configuration configuration, String address, String ports) {
			return of.remoteServiceBuilder(configuration, address, ports);
		}

		@Override
		public String getRpcUrl(String host, int port, String name, AddressResolution resolution,
				Configuration configuration) throws UnknownHostException {
			return of.getRpcUrl(host, port, name, resolution, configuration);
		}

		@Override
		public InetSocketAddress getInetSocketAddressFromRpcUrl(String url) throws Exception {
			return of.getInetSocketAddressFromRpcUrl(url);
		}

		@Override
		public long getMaximumMessageSizeInBytes(Configuration configuration) {
			return of.getMaximumMessageSizeInBytes(configuration);
		}
	}
}
