package drey.spare;

import java.nio.file.Path;
import org.slf4j.ILoggerFactory;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;

/**
 * Keeps the rehearsal out of the logs of the user. Their configuration is not read before the real start: its appenders
 * open, and roll, files that the running JobManager writes.
 *
 * <p>Log4j 2 and Logback. Loggers that exist keep their identity when their configuration changes.
 */
final class Logs {
	private static final String RESOURCES = "drey-spare/";

	private Logs() {}

	/** Nothing is logged, nowhere. Comes before the first logger. */
	static void silence() throws Exception {
		use("silent");
		MDC.clear();
	}

	/** To a file in this directory, until silence() closes it. */
	static void rehearse(Path directory) throws Exception {
		System.setProperty("drey.spare.log", directory.resolve("rehearsal.log").toString());
		use("rehearsal");
	}

	/** As the user has configured it; the properties of the JVM are those of the user again. */
	static void restore() throws Exception {
		configure();
	}

	private static void use(String name) throws Exception {
		System.clearProperty("log4j2.configurationFile");
		System.clearProperty("log4j.configuration");
		System.setProperty("log4j.configurationFile", "classpath:" + RESOURCES + name + "-log4j2.properties");
		System.setProperty("logback.configurationFile", RESOURCES + name + "-logback.xml");
		configure();
	}

	/** What the properties say now. */
	private static void configure() throws Exception {
		ILoggerFactory factory = LoggerFactory.getILoggerFactory();
		String name = factory.getClass().getName();
		if (name.startsWith("org.apache.logging.slf4j.")) {
			log4j();
		} else if (name.startsWith("ch.qos.logback.")) {
			logback(factory);
		} else if (!name.startsWith("org.slf4j.helpers.")) {
			throw new IllegalStateException("the logging of " + name + " is not known; use Log4j 2 or Logback");
		}
	}

	private static void log4j() throws Exception {
		Object context = Reflect.call("org.apache.logging.log4j.LogManager", "getContext", null,
				new Class<?>[] {boolean.class}, false);
		// it keeps the properties of the JVM, and the context where its configuration came from
		Class<?> properties = Reflect.type("org.apache.logging.log4j.util.PropertiesUtil");
		Object kept = Reflect.invoke(Reflect.method(properties, "getProperties"), null);
		Reflect.invoke(Reflect.method(properties, "reload"), kept);
		Reflect.invoke(Reflect.method(context.getClass(), "setConfigLocation", java.net.URI.class), context,
				new Object[] {null});
	}

	private static void logback(ILoggerFactory factory) throws Exception {
		Reflect.invoke(Reflect.method(factory.getClass(), "reset"), factory);
		Class<?> initializer = Reflect.type("ch.qos.logback.classic.util.ContextInitializer");
		Object of = Reflect.constructor(initializer, factory.getClass()).newInstance(factory);
		Reflect.invoke(Reflect.method(initializer, "autoConfig"), of);
	}
}
