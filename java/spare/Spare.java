package drey.spare;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.Properties;
import java.util.TimeZone;
import org.apache.flink.configuration.Configuration;

/**
 * A JVM with Flink loaded and warm, which waits until drey-init passes it the arguments of the entry point.
 *
 * <p>java ... -classpath CP:/usr/lib/drey/spare.jar drey.spare.Spare ENTRY_CLASS CONFIG_DIR [-D KEY=VALUE]...
 *
 * <p>It starts the real entry point once with a configuration and a job of its own, on loopback, and closes it again. What
 * remains are loaded classes and compiled code: everything that this rehearsal has set in the JVM is taken back before the
 * real start, and nothing of it is done to anything outside, except that one ConfigMap is read where Flink keeps its HA
 * data in ConfigMaps. If any of it fails, this JVM ends with {@link #FAILED}: a spare that is half warm is none.
 *
 * <p>The protocol with drey-init is in {@link Link}, and in entrypoint/link.h.
 */
public final class Spare {
	/** The exit status after a rehearsal that failed, or a call that is not complete. */
	static final int FAILED = 70;

	private Spare() {}

	public static void main(String[] args) throws Throwable {
		String[] arguments;
		MethodHandle main;
		Link link = new Link();
		try {
			if (args.length < 2) {
				throw new IllegalArgumentException("usage: Spare ENTRY_CLASS CONFIG_DIR [-D KEY=VALUE]...");
			}
			main = mainOf(args[0]);
			warm(args);
			link.ready();
			arguments = link.arguments();
			link.go();
		} catch (Throwable e) {
			fail(e);
			return;
		}
		becomeOrdinary(args[0], arguments);
		main.invokeExact(arguments);
	}

	/** After the answer, which has 40 ms: files are opened here. Bad logging is no reason against a job, as in any start. */
	private static void becomeOrdinary(String entryClass, String[] arguments) {
		System.setProperty("sun.java.command", entryClass + " " + String.join(" ", arguments));
		try {
			Logs.restore();
		} catch (Exception e) {
			System.err.println("drey spare: the logs stay silent: " + oneLine(e));
		}
	}

	/** Does not initialize the class: that would open the logs of the user. */
	private static MethodHandle mainOf(String entryClass) throws ReflectiveOperationException {
		Class<?> entry = Class.forName(entryClass, false, Spare.class.getClassLoader());
		return MethodHandles.publicLookup()
				.findStatic(entry, "main", MethodType.methodType(void.class, String[].class));
	}

	/** Everything that happens before this JVM waits. */
	private static void warm(String[] args) throws Exception {
		TimeZone.getDefault(); // sets user.timezone, once
		Properties before = (Properties) System.getProperties().clone();
		ClassLoader loader = Thread.currentThread().getContextClassLoader();
		Logs.silence();
		Configuration users = UserConfiguration.load(args[1], args);
		try (Scratch scratch = new Scratch(users)) {
			Logs.rehearse(scratch.directory("log"));
			ClassList.load();
			WarmRpcSystemLoader.keepIn(scratch.kept());
			Rehearsal.run(args[0], scratch.directory("rehearsal"));
			ConfigMapRead.run(users);
			EndpointNames.startOver();
			Logs.silence();
		}
		System.setProperties(before);
		Thread.currentThread().setContextClassLoader(loader);
		ClassPath.withoutUs();
		Memory.giveBack();
	}

	/**
	 * One line, and the end. Not System.exit(): hooks of a cluster that is half closed could wait for ever, and there is
	 * nothing that they could save.
	 */
	private static void fail(Throwable e) {
		System.err.println("drey spare: " + oneLine(e));
		if (Boolean.getBoolean("drey.spare.debug")) {
			e.printStackTrace();
		}
		System.err.flush();
		Runtime.getRuntime().halt(FAILED);
	}

	private static String oneLine(Throwable e) {
		StringBuilder text = new StringBuilder();
		for (Throwable at = e; at != null && text.length() < 600; at = at.getCause()) {
			text.append(text.length() > 0 ? ", caused by " : "").append(at);
		}
		return text.toString().replace('\n', ' ');
	}
}
