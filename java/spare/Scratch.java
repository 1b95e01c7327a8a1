package drey.spare;

import java.io.Closeable;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ConfigurationUtils;

/**
 * A directory of our own below the first of io.tmp.dirs. What the rehearsal writes is removed with {@link #close}; what is
 * {@link #kept} (the jar of Pekko, which stays open) lives as long as this JVM. A spare that is killed leaves its directory
 * behind, and the next one removes it: the lock in it says whether its owner lives.
 */
final class Scratch implements Closeable {
	private static final String PREFIX = "drey-spare-";
	private static final String LOCK = "lock";

	private final Path root;
	private final Path passing;
	// held until the JVM ends
	@SuppressWarnings("unused")
	private static FileLock lock;

	Scratch(Configuration users) throws IOException {
		Path parent = Paths.get(ConfigurationUtils.parseTempDirectories(users)[0]);
		Files.createDirectories(parent);
		removeDead(parent);
		root = Files.createTempDirectory(parent, PREFIX);
		Path file = root.resolve(LOCK);
		hold(FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE).lock());
		passing = Files.createDirectory(root.resolve("passing"));
		// in the reverse order of these lines, when the JVM ends in an orderly way
		root.toFile().deleteOnExit();
		file.toFile().deleteOnExit();
	}

	private static void hold(FileLock held) {
		lock = held;
	}

	/** For what is removed before this JVM waits. */
	Path directory(String name) throws IOException {
		return Files.createDirectory(passing.resolve(name));
	}

	/** For what this JVM needs as long as it lives. */
	Path kept() {
		return root;
	}

	@Override
	public void close() throws IOException {
		remove(passing);
	}

	private static void removeDead(Path parent) throws IOException {
		try (DirectoryStream<Path> found = Files.newDirectoryStream(parent, PREFIX + "*")) {
			for (Path directory : found) {
				if (isDead(directory)) {
					remove(directory);
				}
			}
		}
	}

	private static boolean isDead(Path directory) {
		try (FileChannel channel = FileChannel.open(directory.resolve(LOCK), StandardOpenOption.WRITE);
				FileLock free = channel.tryLock()) {
			return free != null;
		} catch (IOException | OverlappingFileLockException e) {
			return false; // not known: it stays
		}
	}

	private static void remove(Path directory) throws IOException {
		Files.walkFileTree(directory, new SimpleFileVisitor<Path>() {
			@Override
			public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
				Files.deleteIfExists(file);
				return FileVisitResult.CONTINUE;
			}

			@Override
			public FileVisitResult postVisitDirectory(Path dir, IOException e) throws IOException {
				Files.deleteIfExists(dir);
				return FileVisitResult.CONTINUE;
			}
		});
	}
}
