package drey.rpc;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.File;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.JarURLConnection;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.jar.JarFile;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import java.util.zip.ZipInputStream;
import java.util.zip.ZipOutputStream;

/**
 * Unpacks the jar in Flink's jar that has its RPC: java -cp DIR/rpc.jar:FLINK/lib/* drey.rpc.Unpack writes DIR/flink-rpc.jar.
 *
 * <p>The entries are not compressed. The comment of the new jar says from which it was made, so that that of another Flink is
 * never used.
 */
public final class Unpack {
	private static final String PACKED = "flink-rpc-akka.jar";

	private Unpack() {}

	public static void main(String[] args) throws Exception {
		Path out = unpackedOf(Unpack.class).toPath();
		Path part = Files.createTempFile(out.toAbsolutePath().getParent(), "flink-rpc", ".new");
		try {
			unpack(part);
			part.toFile().setReadable(true, false);
			Files.move(part, out, StandardCopyOption.ATOMIC_MOVE);
		} finally {
			Files.deleteIfExists(part);
		}
		check(out.toFile());
	}

	private static void unpack(Path to) throws IOException {
		URL packed = packed();
		try (ZipInputStream in = new ZipInputStream(new BufferedInputStream(packed.openStream(), 1 << 16));
				OutputStream file = new BufferedOutputStream(Files.newOutputStream(to), 1 << 16);
				ZipOutputStream out = new ZipOutputStream(file)) {
			out.setMethod(ZipOutputStream.STORED);
			out.setComment(identity(packed));
			for (ZipEntry entry; (entry = in.getNextEntry()) != null; ) {
				if (!entry.isDirectory()) {
					copy(entry, in.readAllBytes(), out);
				}
			}
		}
	}

	private static void copy(ZipEntry from, byte[] content, ZipOutputStream out) throws IOException {
		ZipEntry entry = new ZipEntry(from.getName());
		CRC32 crc = new CRC32();
		crc.update(content);
		entry.setTime(from.getTime());
		entry.setSize(content.length);
		entry.setCompressedSize(content.length);
		entry.setCrc(crc.getValue());
		out.putNextEntry(entry);
		out.write(content);
		out.closeEntry();
	}

	/** Throws if it is not there, or was not made from the Flink that runs. */
	static void check(File unpacked) throws IOException {
		if (!unpacked.canRead()) {
			throw new FileNotFoundException(unpacked + " does not exist or cannot be read");
		}
		try (ZipFile zip = new ZipFile(unpacked)) {
			if (!identity(packed()).equals(zip.getComment())) {
				throw new IOException(unpacked + " was made from another Flink; drey-class-archive makes a new one");
			}
		}
	}

	/** In the directory of this class's own jar, wherever links to it are. */
	static File unpackedOf(Class<?> of) throws IOException, URISyntaxException {
		Path jar = Path.of(of.getProtectionDomain().getCodeSource().getLocation().toURI()).toRealPath();
		return jar.resolveSibling("flink-rpc.jar").toFile();
	}

	private static URL packed() throws IOException {
		URL packed = Unpack.class.getClassLoader().getResource(PACKED);
		if (packed == null) {
			throw new FileNotFoundException(PACKED + " is not on the class path");
		}
		return packed;
	}

	private static String identity(URL packed) throws IOException {
		JarURLConnection connection = (JarURLConnection) packed.openConnection();
		connection.setUseCaches(false);
		try (JarFile jar = connection.getJarFile()) {
			ZipEntry entry = jar.getEntry(connection.getEntryName());
			return PACKED + " " + entry.getSize() + " " + Long.toHexString(entry.getCrc());
		}
	}
}
