package drey.spare;

import java.io.Closeable;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.SecureDirectoryStream;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributeView;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipal;
import java.util.EnumSet;
import java.util.Set;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ConfigurationUtils;

/**
 * A directory of our own below the first of io.tmp.dirs. What the rehearsal writes is removed with {@link #close}; what is
 * {@link #kept} (the jar of Pekko, which stays open) lives as long as this JVM. A spare that is killed leaves its directory
 * behind, and the next one removes it: the lock in it says whether its owner lives.
 *
 * <p>io.tmp.dirs is mostly /tmp, where every local user makes directories, and replaces his own by symbolic links at any moment. So
 * all of ours are in one that is named by our uid and that only we can enter; nothing outside of it is ever removed, and inside it
 * everything is reached through open directories, never through a path. If another user has taken its name, this spare makes a
 * directory with a random name, and removes no others.
 */
final class Scratch implements Closeable {
	private static final String PREFIX = "drey-spare-";
	private static final String LOCK = "lock";
	private static final String PASSING = "passing";
	private static final Set<PosixFilePermission> OURS = PosixFilePermissions.fromString("rwx------");

	private final Path root;
	// held until the JVM ends
	@SuppressWarnings("unused")
	private static FileLock lock;

	Scratch(Configuration users) throws IOException {
		this(Paths.get(ConfigurationUtils.parseTempDirectories(users)[0]));
	}

	Scratch(Path temporary) throws IOException {
		Files.createDirectories(temporary);
		Path fresh = Files.createTempDirectory(temporary, PREFIX);
		UserPrincipal us = Files.getOwner(fresh, LinkOption.NOFOLLOW_LINKS);
		Path parent = temporary.resolve(PREFIX + Files.getAttribute(fresh, "unix:uid", LinkOption.NOFOLLOW_LINKS));
		if (isOurs(parent, us)) {
			Files.delete(fresh);
			removeDead(parent, us);
			root = Files.createTempDirectory(parent, "");
		} else {
			root = fresh;
		}
		Path file = root.resolve(LOCK);
		hold(FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE).lock());
		Files.createDirectory(root.resolve(PASSING));
		// in the reverse order of these lines, when the JVM ends in an orderly way
		root.toFile().deleteOnExit();
		file.toFile().deleteOnExit();
	}

	private static void hold(FileLock held) {
		lock = held;
	}

	/** For what is removed before this JVM waits. */
	Path directory(String name) throws IOException {
		return Files.createDirectory(root.resolve(PASSING).resolve(name));
	}

	/** For what this JVM needs as long as it lives. */
	Path kept() {
		return root;
	}

	@Override
	public void close() throws IOException {
		try (SecureDirectoryStream<Path> own = open(root)) {
			remove(own, Paths.get(PASSING));
		}
	}

	/** Made by us, now or before, and nobody else can enter it; not a link to such a one. */
	private static boolean isOurs(Path parent, UserPrincipal us) throws IOException {
		try {
			Files.createDirectory(parent, PosixFilePermissions.asFileAttribute(OURS));
		} catch (FileAlreadyExistsException e) {
			// by whom?
		}
		PosixFileAttributes attributes =
				Files.readAttributes(parent, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
		return areOurs(attributes, us);
	}

	private static boolean areOurs(PosixFileAttributes attributes, UserPrincipal us) {
		return attributes.isDirectory() && attributes.owner().equals(us) && attributes.permissions().equals(OURS);
	}

	private static SecureDirectoryStream<Path> open(Path directory) throws IOException {
		DirectoryStream<Path> stream = Files.newDirectoryStream(directory);
		if (stream instanceof SecureDirectoryStream) {
			return (SecureDirectoryStream<Path>) stream;
		}
		stream.close();
		throw new IOException(directory + ": no access through an open directory here");
	}

	private static void removeDead(Path parent, UserPrincipal us) throws IOException {
		try (SecureDirectoryStream<Path> all = open(parent)) {
			// what was opened, which need not be what was looked at
			if (!areOurs(all.getFileAttributeView(PosixFileAttributeView.class).readAttributes(), us)) {
				return;
			}
			for (Path each : all) {
				if (isDead(all, each.getFileName())) {
					remove(all, each.getFileName());
				}
			}
		}
	}

	private static boolean isDead(SecureDirectoryStream<Path> all, Path name) {
		Set<StandardOpenOption> write = EnumSet.of(StandardOpenOption.WRITE);
		try (SecureDirectoryStream<Path> directory = all.newDirectoryStream(name, LinkOption.NOFOLLOW_LINKS);
				SeekableByteChannel channel = directory.newByteChannel(Paths.get(LOCK), write);
				FileLock free = channel instanceof FileChannel ? ((FileChannel) channel).tryLock() : null) {
			return free != null;
		} catch (IOException | OverlappingFileLockException e) {
			return false; // not known: it stays
		}
	}

	private static boolean isDirectory(SecureDirectoryStream<Path> in, Path name) throws IOException {
		return in.getFileAttributeView(name, BasicFileAttributeView.class, LinkOption.NOFOLLOW_LINKS)
				.readAttributes().isDirectory();
	}

	/** The entry of an open directory, with all that is in it. A link is removed, and never followed. */
	private static void remove(SecureDirectoryStream<Path> in, Path name) throws IOException {
		if (!isDirectory(in, name)) {
			in.deleteFile(name);
			return;
		}
		try (SecureDirectoryStream<Path> inside = in.newDirectoryStream(name, LinkOption.NOFOLLOW_LINKS)) {
			for (Path each : inside) {
				remove(inside, each.getFileName());
			}
		}
		in.deleteDirectory(name);
	}
}
