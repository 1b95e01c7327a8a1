package dev.drey;

import java.io.File;
import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.jar.Attributes;
import java.util.jar.JarFile;
import java.util.jar.Manifest;

/** The user's main(), found and checked as Flink does it for a class that it starts itself, and not called. */
final class UserProgram {
	private UserProgram() {}

	/** name: null or empty for that of a manifest. Loads the class, and does not initialize it. */
	static Method main(String name) throws IOException {
		ClassLoader loader = Thread.currentThread().getContextClassLoader();
		String found = name == null || name.isEmpty() ? fromManifest(loader) : name;
		if (found.equals(Held.class.getName())) {
			throw new IllegalStateException("drey: " + found + " cannot be the class of the job");
		}
		try {
			Class<?> user = Class.forName(found, false, loader);
			Method main = user.getMethod("main", String[].class);
			if (!Modifier.isPublic(user.getModifiers()) || !Modifier.isStatic(main.getModifiers())) {
				throw new IllegalStateException("drey: the class of the job, " + found
						+ ", is not public, or its main(String[]) is not static");
			}
			return main;
		} catch (ClassNotFoundException e) {
			throw new IllegalStateException("drey: the class of the job, " + found + ", was not found", e);
		} catch (NoSuchMethodException e) {
			throw new IllegalStateException("drey: the class of the job, " + found + ", has no public main(String[])", e);
		}
	}

	private static String fromManifest(ClassLoader loader) throws IOException {
		Map<File, String> found = new LinkedHashMap<>();
		for (File jar : jars(loader)) {
			String name = entryClass(jar);
			if (name != null) {
				found.put(jar, name);
			}
		}
		if (found.size() != 1) {
			throw new IllegalStateException(found.isEmpty()
					? "drey: no jar of the job names its class in the manifest; set flink.jobClass"
					: "drey: several jars of the job name a class in the manifest; set flink.jobClass: " + found);
		}
		return found.values().iterator().next();
	}

	/** Those among which Flink searches. */
	private static List<File> jars(ClassLoader loader) {
		URL[] urls = loader instanceof URLClassLoader ? ((URLClassLoader) loader).getURLs() : new URL[0];
		List<File> jars = new ArrayList<>();
		for (URL url : urls) {
			// "file:../usrlib/job.jar" is relative, and no URI
			jars.add(new File(url.getPath()));
			if (jars.get(0).isAbsolute()) {
				// a single jar of --jars comes first and by its whole path; then only this one counts
				return jars;
			}
		}
		if (urls.length == 0) {
			for (String entry : System.getProperty("java.class.path", "").split(File.pathSeparator)) {
				jars.add(new File(entry));
			}
		}
		return jars;
	}

	private static String entryClass(File file) throws IOException {
		if (!file.getName().endsWith(".jar")) {
			return null;
		}
		try (JarFile jar = new JarFile(file)) {
			Manifest manifest = jar.getManifest();
			Attributes attributes = manifest == null ? new Attributes() : manifest.getMainAttributes();
			String name = attributes.getValue("program-class");
			return name != null ? name : attributes.getValue(Attributes.Name.MAIN_CLASS);
		}
	}
}
