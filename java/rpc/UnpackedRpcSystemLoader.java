package drey.rpc;

import java.io.File;
import java.net.URL;
import java.util.ServiceLoader;

import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.classloading.SubmoduleClassLoader;
import org.apache.flink.runtime.rpc.CleanupOnCloseRpcSystem;
import org.apache.flink.runtime.rpc.RpcSystem;
import org.apache.flink.runtime.rpc.RpcSystemLoader;
import org.apache.flink.runtime.rpc.exceptions.RpcLoaderException;

/**
 * Loads Pekko, Flink's RPC, from a jar that the image build has unpacked ({@link Unpack}).
 *
 * <p>Flink's own loader copies this jar, 24 MB, into io.tmp.dirs at each start, and leaves it there when the JVM is killed. Here
 * the copy, and the decompression of each class, are done once. Everything else is as Flink does it: the same class loader, so
 * that a job never sees Pekko's Scala, and the same classes, which Java therefore finds in a class archive as before.
 *
 * <p>Flink tries the loaders in the order of their priorities, and the next one if one fails. So without the unpacked jar, or with
 * that of another Flink, Flink's own loader does its work. -Ddrey.rpc=off switches this one off.
 */
public final class UnpackedRpcSystemLoader implements RpcSystemLoader {
	/** Flink's own has 0; the lowest is asked first. */
	@Override
	public int getLoadPriority() {
		return "off".equals(System.getProperty("drey.rpc")) ? Integer.MAX_VALUE : -100;
	}

	@Override
	public RpcSystem loadRpcSystem(Configuration configuration) {
		try {
			File unpacked = Unpack.unpackedOf(Unpack.class);
			Unpack.check(unpacked);
			SubmoduleClassLoader loader =
					new SubmoduleClassLoader(new URL[] {unpacked.toURI().toURL()}, RpcSystem.class.getClassLoader());
			return new CleanupOnCloseRpcSystem(ServiceLoader.load(RpcSystem.class, loader).iterator().next(), loader, null);
		} catch (Exception | LinkageError e) {
			System.err.println("drey: Flink unpacks its RPC itself: " + e);
			throw new RpcLoaderException("drey cannot load the RPC that the image build has unpacked", e);
		}
	}
}
