package drey.files;

import java.io.DataInputStream;
import java.io.File;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.URL;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.CoreOptions;
import org.apache.flink.configuration.GlobalConfiguration;
import org.apache.flink.configuration.SecurityOptions;
import org.apache.flink.core.fs.FileStatus;
import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.core.fs.Path;
import org.apache.flink.core.fs.UnsupportedFileSystemSchemeException;
import org.apache.flink.core.plugin.DefaultPluginManager;
import org.apache.flink.core.plugin.DirectoryBasedPluginFinder;
import org.apache.flink.core.plugin.PluginConfig;
import org.apache.flink.core.plugin.PluginDescriptor;
import org.apache.flink.runtime.security.SecurityConfiguration;
import org.apache.flink.runtime.security.SecurityUtils;

/** Flink's file systems, and what their exceptions prove. */
final class FlinkFiles {
	/**
	 * What plugins do by default while their store is down would keep drey from saying so for many minutes: one key of each, the
	 * prefixes that Flink reads it with, and what drey sets where the user sets nothing.
	 */
	private static final String[][] PATIENCE = {
		{"http.max.retry", "4", "gs.", "fs.gs."}, // 10 times, 57 s
		{"io.retry.max.retries", "4", "fs.azure.", "azure."}, // 30 times, 14 minutes
		{"io.retry.min.backoff.interval", "500", "fs.azure.", "azure."},
		{"io.retry.backoff.interval", "500", "fs.azure.", "azure."},
	};

	private static final long TRIED_NANOS = 2_000_000_000L;
	private static final long REFUSAL_NANOS = 3_000_000_000L;

	private final Redaction redaction;
	private final Set<String> roots = ConcurrentHashMap.newKeySet(); // that were seen to exist
	private final Map<String, Failure> unreachable = new ConcurrentHashMap<>();

	private FlinkFiles(Redaction redaction) {
		this.redaction = redaction;
	}

	/** From the hello of drey: the directory of Flink's configuration, what is set over it, and the plugins that Flink's image will link. */
	static FlinkFiles open(DataInputStream hello, Redaction redaction) throws Exception {
		String directory = Wire.text(hello);
		Map<String, String> overlay = new HashMap<>();
		for (int left = hello.readInt(); left > 0; left--) {
			String key = Wire.text(hello);
			overlay.put(key, Wire.text(hello));
		}
		List<PluginDescriptor> plugins = new ArrayList<>();
		for (int left = hello.readInt(); left > 0; left--) {
			String name = Wire.text(hello);
			plugins.add(new PluginDescriptor(name, new URL[] {new File(Wire.text(hello)).toURI().toURL()}, new String[0]));
		}
		Configuration configuration = configuration(directory, Configuration.fromMap(overlay));
		redaction.learn(configuration);
		for (String[] one : PATIENCE) {
			if (!configuration.containsKey(one[2] + one[0]) && !configuration.containsKey(one[3] + one[0])) {
				configuration.setString(one[2] + one[0], one[1]);
			}
		}
		PluginConfig found = PluginConfig.fromConfiguration(configuration);
		if (found.getPluginsPath().isPresent()) {
			Collection<PluginDescriptor> there = new DirectoryBasedPluginFinder(found.getPluginsPath().get()).findPlugins();
			there.forEach(one -> plugins.removeIf(linked -> linked.getPluginId().equals(one.getPluginId())));
			plugins.addAll(there);
		}
		FileSystem.initialize(configuration, new DefaultPluginManager(plugins, CoreOptions.getPluginParentFirstLoaderPatterns(configuration)));
		if (configuration.get(SecurityOptions.KERBEROS_LOGIN_KEYTAB) != null) {
			// Hadoop's login only: the other modules write files
			configuration.set(SecurityOptions.SECURITY_MODULE_FACTORY_CLASSES,
					List.of("org.apache.flink.runtime.security.modules.HadoopModuleFactory"));
			SecurityUtils.install(new SecurityConfiguration(configuration));
		}
		return new FlinkFiles(redaction);
	}

	private static Configuration configuration(String directory, Configuration overlay) {
		for (String name : new String[] {"config.yaml", "flink-conf.yaml"}) {
			if (!directory.isEmpty() && new File(directory, name).isFile()) {
				return GlobalConfiguration.loadConfiguration(directory, overlay);
			}
		}
		return overlay;
	}

	/** No failure here is about a file. */
	FileSystem of(Path path) throws Failure {
		try {
			return FileSystem.get(path.toUri());
		} catch (UnsupportedFileSystemSchemeException e) {
			throw new Failure(Failure.CONFIG, unsupported(path.toUri().getScheme(), redaction.clean(String.valueOf(e.getMessage()))));
		} catch (Exception e) {
			throw failure(e);
		}
	}

	/** Flink names its own plugin for the scheme, if it has one. */
	private static String unsupported(String scheme, String words) {
		Matcher plugin = Pattern.compile("through the following plugins?(?:\\(s\\))?: ([\\w, -]+)").matcher(words);
		boolean own = plugin.find();
		// the jar has another name than Flink says
		String jar = own ? plugin.group(1).replace("flink-fs-azure-hadoop", "flink-azure-fs-hadoop") : "one, which is a plugin,";
		String plugins = PluginConfig.getPluginsDir().map(File::getPath).orElse("Flink's plugins directory");
		return "Flink has no file system for " + scheme + ": put the jar of " + jar
				+ " into a directory of its own in " + plugins + (own ? "" : ", or Hadoop on Flink's class path (HADOOP_CLASSPATH)");
	}

	FileStatus status(Path path) throws Failure {
		FileSystem files = of(path);
		refuse(store(path));
		long began = System.nanoTime();
		try {
			return files.getFileStatus(path);
		} catch (Exception e) {
			throw note(store(path), began, e, of(files, path, e));
		}
	}

	FileStatus file(Path path) throws Failure {
		FileStatus status = status(path);
		if (status.isDir()) {
			throw new Failure(Failure.FORMAT, path + " is a directory, not a file");
		}
		return status;
	}

	/** Some file systems list a file as itself, and what does not exist as nothing: so its status comes first. */
	FileStatus[] list(Path path) throws Failure {
		FileSystem files = of(path);
		if (!status(path).isDir()) {
			throw new Failure(Failure.FORMAT, path + " is a file, not a directory");
		}
		try {
			FileStatus[] entries = files.listStatus(path);
			if (entries == null) {
				throw new IOException("no answer to a listing");
			}
			return entries;
		} catch (Exception e) {
			throw of(files, path, e);
		}
	}

	/** A file system that has tried for seconds to reach its store is not made to try again for each of the other files. */
	private void refuse(String store) throws Failure {
		Failure why = unreachable.get(store);
		if (why != null && System.nanoTime() - why.nanos < REFUSAL_NANOS) {
			throw why;
		}
	}

	private Failure note(String store, long began, Exception e, Failure why) {
		boolean tried = why.nanos - began > TRIED_NANOS;
		for (Throwable cause = e; tried && cause != null; cause = cause.getCause()) {
			if (cause instanceof SocketException || cause instanceof SocketTimeoutException || cause instanceof UnknownHostException) {
				unreachable.put(store, why);
			}
		}
		return why;
	}

	private static String store(Path path) {
		return path.toUri().getScheme() + "://" + path.toUri().getAuthority();
	}

	/** What an exception about a path means; absent only where the file system itself says so, and its bucket exists. */
	Failure of(FileSystem files, Path path, Exception e) {
		if (!saysAbsent(e)) {
			return failure(e);
		}
		Failure root = roots.contains(store(path)) ? null : root(files, store(path));
		if (root == null) {
			roots.add(store(path));
			return new Failure(Failure.ABSENT, path + " does not exist");
		}
		return root;
	}

	/** The JVM itself says "(No such file or directory)", of a local file: a key, a token, a certificate. */
	private static boolean saysAbsent(Exception e) {
		return (e instanceof FileNotFoundException || e instanceof java.nio.file.NoSuchFileException)
				&& !String.valueOf(e.getMessage()).contains("(No such file or directory)");
	}

	/** Null: it exists. */
	private Failure root(FileSystem files, String store) {
		String name = store.endsWith("://null") ? store.substring(0, store.length() - "//null".length()) : store;
		try {
			files.getFileStatus(new Path(name + "/"));
			return null;
		} catch (Exception e) {
			if (saysAbsent(e)) {
				return new Failure(Failure.CONFIG, name + " does not exist: " + redaction.words(e));
			}
			Failure why = failure(e);
			return why.kind == Failure.DENIED ? null : why; // what is denied exists
		}
	}

	Failure failure(Exception e) {
		if (e instanceof Failure) {
			return (Failure) e;
		}
		for (Throwable cause = e; cause != null; cause = cause.getCause()) {
			String text = cause.getClass().getSimpleName() + " " + cause.getMessage();
			if (text.matches("(?s)(AccessDenied|AccessControl|Authorization|Authentication)\\w*Exception .*")
					|| text.matches("(?is).*\\b(401|403)\\b.*(unauthori[sz]ed|forbidden|denied|authoriz|authenticat|permission|does not have).*")) {
				return new Failure(Failure.DENIED, redaction.words(e));
			}
		}
		return new Failure(e instanceof IOException ? Failure.RETRY : Failure.SYSTEM, redaction.words(e));
	}
}
