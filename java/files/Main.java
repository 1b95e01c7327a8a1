package drey.files;

import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;

/**
 * Lists, reads and deletes files by Flink's own file systems, for drey: those of the plugins directory and of the class path, with
 * Flink's configuration. One request after another comes on standard input, the answers go to standard output; agent/store/flinkfs/
 * is the other side, and flinkfs_wire.h describes the protocol.
 *
 * <p>It ends when standard input does. What anything prints goes to standard error, without the secrets of the configuration. One
 * source, compiled against Flink 1.20, for 1.20 to 2.3; it is started with Flink's class path.
 */
public final class Main {
	private static final int MAGIC = 0x44524653;
	private static final int VERSION = 1;
	private static final int MAX_REQUEST = 16 << 20;

	private Main() {}

	public static void main(String[] args) {
		Wire wire = new Wire(new FileOutputStream(FileDescriptor.out));
		Redaction redaction = new Redaction();
		PrintStream log = new PrintStream(redaction.stream(new FileOutputStream(FileDescriptor.err)), true, StandardCharsets.UTF_8);
		System.setOut(log);
		System.setErr(log);
		System.setIn(new ByteArrayInputStream(new byte[0]));
		int status = 0;
		try {
			serve(wire, redaction);
		} catch (Throwable e) { // also an Error: half an answer must not look like a whole one
			e.printStackTrace();
			status = 1;
		}
		// threads and hooks of file systems are no reason to stay
		Runtime.getRuntime().halt(status);
	}

	private static void serve(Wire wire, Redaction redaction) throws Exception {
		BlockingQueue<byte[]> requests = new ArrayBlockingQueue<>(4);
		Thread reader = new Thread(() -> read(requests), "drey-requests");
		reader.setDaemon(true);
		reader.start();
		FlinkFiles files = hello(new DataInputStream(new ByteArrayInputStream(requests.take())), wire, redaction);
		Requests server = new Requests(files, wire);
		while (true) {
			server.serve(new DataInputStream(new ByteArrayInputStream(requests.take())));
		}
	}

	/** On a thread of its own, so that the end of drey is seen while a file system hangs. */
	private static void read(BlockingQueue<byte[]> requests) {
		try (DataInputStream in = new DataInputStream(new FileInputStream(FileDescriptor.in))) {
			while (true) {
				int length = in.readInt();
				if (length < 1 || length > MAX_REQUEST) {
					throw new IOException("drey: a request of " + length + " bytes");
				}
				byte[] request = new byte[length];
				in.readFully(request);
				requests.put(request);
			}
		} catch (EOFException e) {
			Runtime.getRuntime().halt(0);
		} catch (Throwable e) {
			e.printStackTrace();
			Runtime.getRuntime().halt(1);
		}
	}

	private static FlinkFiles hello(DataInputStream in, Wire wire, Redaction redaction) throws Exception {
		if (in.readByte() != 'H' || in.readInt() != MAGIC || in.readUnsignedShort() != VERSION) {
			throw new IOException("drey: this files.jar is of another version of drey");
		}
		FlinkFiles files;
		try {
			files = FlinkFiles.open(in, redaction);
		} catch (Exception e) {
			wire.error(0, new Failure(Failure.SYSTEM, "Flink's file systems cannot be loaded: " + redaction.words(e)));
			throw e;
		}
		wire.hello(MAGIC, VERSION);
		return files;
	}
}
