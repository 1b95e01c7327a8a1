package drey.spare;

import java.lang.reflect.Method;
import org.apache.flink.configuration.Configuration;

/**
 * Flink's client of the API server: TLS, JSON, a watch. It reads the ConfigMap of the cluster's leaders, which every
 * JobManager with HA reads, and writes nothing.
 */
final class ConfigMapRead {
	private static final String PACKAGE = "org.apache.flink.kubernetes.";
	private static final int READS = 3;
	private static final int WATCH_MS = 300;

	private ConfigMapRead() {}

	static void run(Configuration users) throws Exception {
		String type = users.toMap().getOrDefault("high-availability.type", users.toMap().get("high-availability"));
		String cluster = users.toMap().get("kubernetes.cluster-id");
		if (type == null || !type.toLowerCase(java.util.Locale.ROOT).contains("kubernetes") || cluster == null) {
			return;
		}
		String name = cluster + "-cluster-config-map";
		Class<?> factories = Reflect.type(PACKAGE + "kubeclient.FlinkKubeClientFactory");
		Object factory = Reflect.invoke(Reflect.method(factories, "getInstance"), null);
		Class<?> api = Reflect.type(PACKAGE + "kubeclient.FlinkKubeClient");
		Method from = Reflect.method(factories, "fromConfiguration", Configuration.class, String.class);
		try (AutoCloseable client = (AutoCloseable) Reflect.invoke(from, factory, users, "drey-spare")) {
			for (int i = 0; i < READS; i++) {
				Reflect.invoke(Reflect.method(api, "getConfigMap", String.class), client, name);
			}
			Method watch = Reflect.method(api, "createConfigMapSharedWatcher", String.class);
			AutoCloseable watcher = (AutoCloseable) Reflect.invoke(watch, client, name);
			Thread.sleep(WATCH_MS);
			watcher.close();
		}
	}
}
