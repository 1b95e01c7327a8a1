package dev.drey;

import java.lang.reflect.Field;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.DeploymentOptions;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironmentFactory;

/**
 * Gives each environment that the user's main() makes from now on a snapshot to restore from, as if Flink had been started with
 * --fromSavepoint, and the side of its output. Flink has installed a factory for these environments before it called main(); this one is put around it.
 *
 * <p>Two private fields of Flink are used. {@link #rehearse} throws if a version does not have them. Whether it has worked is for
 * drey to see: the restored snapshot that Flink reports must be the one that was decided.
 *
 * <p>A subclass only because Flink's method for it is protected.
 */
@SuppressWarnings("try")
final class RestoreFrom extends StreamExecutionEnvironment {
	// names since 1.20
	private static final String PATH = "execution.state-recovery.path";
	private static final String ALLOW = "execution.state-recovery.ignore-unclaimed-state";
	private static final String SIDE = "drey.side";
	private static final String FLIP_SIDE = "bluegreen.active-deployment-type";

	private RestoreFrom() {}

	/** Throws what would fail later; changes nothing. */
	static void rehearse() {
		StreamExecutionEnvironment made = installed().createExecutionEnvironment(new Configuration());
		if (!programMayConfigure(made)) {
			ofCluster(made);
		}
	}

	static void install(GoFile go) {
		if (go.path().isEmpty() && go.side() == null && go.flipSide() == null) {
			return;
		}
		StreamExecutionEnvironmentFactory before = installed();
		initializeContextEnvironment(configuration -> {
			Configuration with = new Configuration(configuration);
			set(with, go);
			StreamExecutionEnvironment made = before.createExecutionEnvironment(with);
			if (!programMayConfigure(made)) {
				// else Flink would refuse what is not in the configuration of its cluster
				set(ofCluster(made), go);
			}
			return made;
		});
	}

	private static boolean programMayConfigure(StreamExecutionEnvironment made) {
		return made.getConfiguration().get(DeploymentOptions.PROGRAM_CONFIG_ENABLED);
	}

	private static Configuration ofCluster(StreamExecutionEnvironment made) {
		return (Configuration) value(made.getClass(), "clusterConfiguration", made);
	}

	private static void set(Configuration configuration, GoFile go) {
		if (!go.path().isEmpty()) {
			configuration.setString(PATH, go.path());
			configuration.setString(ALLOW, Boolean.toString(go.allowNonRestored()));
		}
		if (go.side() != null) {
			configuration.setString(SIDE, go.side());
		}
		if (go.flipSide() != null) {
			configuration.setString(FLIP_SIDE, go.flipSide());
		}
	}

	/** The one for this thread; there is another for all threads, which is the same. */
	private static StreamExecutionEnvironmentFactory installed() {
		ThreadLocal<?> all =
				(ThreadLocal<?>) value(StreamExecutionEnvironment.class, "threadLocalContextEnvironmentFactory", null);
		StreamExecutionEnvironmentFactory factory = (StreamExecutionEnvironmentFactory) all.get();
		if (factory == null) {
			throw new IllegalStateException("drey: Flink has installed no factory for the environment of a program");
		}
		return factory;
	}

	private static Object value(Class<?> of, String name, Object on) {
		try {
			Field field = of.getDeclaredField(name);
			field.setAccessible(true);
			return field.get(on);
		} catch (ReflectiveOperationException | RuntimeException e) {
			throw new IllegalStateException(
					"drey: this version of Flink has no " + of.getName() + "." + name + " as a held main() needs it", e);
		}
	}
}
