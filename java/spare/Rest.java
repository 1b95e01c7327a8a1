package drey.spare;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/** Requests to the REST API of the rehearsal. A plain socket: clients of the JDK keep threads and connections. */
final class Rest {
	private static final int TIMEOUT_MS = 30000;
	private static final int POLL_MS = 20;

	private final int port;

	Rest(int port) {
		this.port = port;
	}

	String get(String path) throws IOException {
		return request("GET", path);
	}

	/** The answer with its head, whatever its status. */
	String request(String method, String path) throws IOException {
		try (Socket socket = new Socket()) {
			// where the rehearsal listens (Loopback); with java.net.preferIPv6Addresses the loopback address is another one
			socket.connect(new InetSocketAddress(InetAddress.getByName("127.0.0.1"), port), TIMEOUT_MS);
			socket.setSoTimeout(TIMEOUT_MS);
			socket.getOutputStream()
					.write((method + " " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
							.getBytes(StandardCharsets.US_ASCII));
			try (InputStream in = socket.getInputStream()) {
				return new String(in.readAllBytes(), StandardCharsets.UTF_8);
			}
		}
	}

	/** Asks until the answer has this text. */
	String await(String path, String text, long limitMs) throws IOException, InterruptedException {
		long end = System.nanoTime() + limitMs * 1_000_000;
		for (;;) {
			String answer = get(path);
			if (answer.contains(text)) {
				return answer;
			}
			if (System.nanoTime() > end) {
				throw new IOException(path + " of the rehearsal has no " + text + " after " + limitMs + " ms");
			}
			Thread.sleep(POLL_MS);
		}
	}
}
