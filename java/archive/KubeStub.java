package drey.archive;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLServerSocket;

import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;

/**
 * As much of the API of Kubernetes as Flink's high availability needs: ConfigMaps of one namespace, on loopback, over TLS. Only for
 * the class archive, in an image build without a network: no test relies on it.
 *
 * <p>KEYSTORE (PKCS12) PASSWORD PORT-FILE: writes the port into PORT-FILE, and serves until it is killed. Exits with 1 if this Flink
 * cannot use it.
 */
public final class KubeStub {
	private static final ObjectMapper JSON = new ObjectMapper();
	private static final String MAPS = "/api/v1/namespaces/default/configmaps";

	private final Map<String, ObjectNode> maps = new TreeMap<>();
	private final List<Watch> watches = new ArrayList<>();
	private int version;

	private KubeStub() {}

	public static void main(String[] args) throws Exception {
		try {
			Class.forName("org.apache.flink.kubernetes.highavailability.KubernetesHaServicesFactory", false, KubeStub.class.getClassLoader());
		} catch (ClassNotFoundException e) {
			System.err.println("flink-kubernetes is not in Flink's lib directory");
			System.exit(1);
		}
		KeyStore keys = KeyStore.getInstance("PKCS12");
		try (InputStream in = Files.newInputStream(Path.of(args[0]))) {
			keys.load(in, args[1].toCharArray());
		}
		KeyManagerFactory managers = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
		managers.init(keys, args[1].toCharArray());
		SSLContext context = SSLContext.getInstance("TLS");
		context.init(managers.getKeyManagers(), null, null);
		KubeStub stub = new KubeStub();
		try (SSLServerSocket server = (SSLServerSocket) context.getServerSocketFactory()
				.createServerSocket(0, 50, InetAddress.getByName("127.0.0.1"))) {
			Files.writeString(Path.of(args[2]), server.getLocalPort() + "\n");
			while (true) {
				Socket socket = server.accept();
				Thread thread = new Thread(() -> stub.serve(socket));
				thread.setDaemon(true);
				thread.start();
			}
		}
	}

	// ---- a connection

	private static final class Request {
		String method;
		String path;
		final Map<String, String> query = new HashMap<>();
		final Map<String, String> headers = new HashMap<>();
		byte[] body = {};
	}

	private static String line(InputStream in) throws IOException {
		ByteArrayOutputStream line = new ByteArrayOutputStream();
		for (int c; (c = in.read()) != '\n'; ) {
			if (c < 0) {
				throw new EOFException();
			}
			line.write(c);
		}
		return line.toString(StandardCharsets.UTF_8).trim();
	}

	private static Request read(InputStream in) throws IOException {
		Request request = new Request();
		String[] first = line(in).split(" ");
		String[] target = first[1].split("\\?", 2);
		request.method = first[0];
		request.path = target[0];
		for (String pair : target.length > 1 ? target[1].split("&") : new String[0]) {
			String[] parts = pair.split("=", 2);
			request.query.put(parts[0], parts.length > 1 ? URLDecoder.decode(parts[1], StandardCharsets.UTF_8) : "");
		}
		for (String header; !(header = line(in)).isEmpty(); ) {
			String[] parts = header.split(":", 2);
			request.headers.put(parts[0].toLowerCase(Locale.ROOT), parts[1].trim());
		}
		if (request.headers.containsKey("content-length")) {
			request.body = in.readNBytes(Integer.parseInt(request.headers.get("content-length")));
		} else if ("chunked".equals(request.headers.get("transfer-encoding"))) {
			ByteArrayOutputStream body = new ByteArrayOutputStream();
			for (int size; (size = Integer.parseInt(line(in), 16)) > 0; line(in)) {
				body.write(in.readNBytes(size));
			}
			line(in);
			request.body = body.toByteArray();
		}
		return request;
	}

	private void serve(Socket socket) {
		try (socket; InputStream in = new BufferedInputStream(socket.getInputStream()); OutputStream out = socket.getOutputStream()) {
			while (true) {
				Request request = read(in);
				if (request.query.containsKey("watch") && !"false".equals(request.query.get("watch"))) {
					watch(request, in, out);
					return;
				}
				answer(request, out);
			}
		} catch (IOException e) {
			// the client has closed the connection
		} catch (Exception e) {
			e.printStackTrace();
		}
	}

	private void answer(Request request, OutputStream out) throws IOException {
		ObjectNode answer = handle(request);
		int status = answer.path("code").asInt(request.method.equals("POST") ? 201 : 200);
		byte[] body = JSON.writeValueAsBytes(answer);
		out.write(("HTTP/1.1 " + status + " Status\r\nContent-Type: application/json\r\nContent-Length: " + body.length + "\r\n\r\n")
				.getBytes(StandardCharsets.UTF_8));
		out.write(body);
		out.flush();
	}

	// ---- the objects

	private static ObjectNode status(int code, String reason) {
		return JSON.createObjectNode().put("kind", "Status").put("apiVersion", "v1").put("status", code < 300 ? "Success" : "Failure")
				.put("code", code).put("reason", reason).put("message", reason);
	}

	private synchronized ObjectNode handle(Request request) throws IOException {
		if (request.path.equals("/version")) {
			return JSON.createObjectNode().put("major", "1").put("minor", "34").put("gitVersion", "v1.34.0");
		}
		if (!request.path.startsWith(MAPS)) {
			return status(404, "NotFound");
		}
		String name = request.path.length() > MAPS.length() ? request.path.substring(MAPS.length() + 1) : null;
		if (request.method.equals("POST")) {
			ObjectNode created = (ObjectNode) JSON.readTree(request.body);
			name = created.at("/metadata/name").asText();
			return maps.containsKey(name) ? status(409, "AlreadyExists") : put(name, created, "ADDED");
		}
		if (name == null) {
			return request.method.equals("DELETE") ? removeAll() : list(request);
		}
		ObjectNode old = maps.get(name);
		if (old == null) {
			return status(404, "NotFound");
		}
		switch (request.method) {
			case "GET":
				return old;
			case "PUT":
				return put(name, (ObjectNode) JSON.readTree(request.body), "MODIFIED");
			case "PATCH":
				return put(name, patched(old.deepCopy(), JSON.readTree(request.body)), "MODIFIED");
			default:
				maps.remove(name);
				tell("DELETED", old);
				return status(200, "Deleted");
		}
	}

	private ObjectNode put(String name, ObjectNode map, String event) throws IOException {
		ObjectNode metadata = map.withObject("/metadata");
		metadata.put("resourceVersion", String.valueOf(++version)).put("namespace", "default");
		if (!metadata.has("uid")) {
			metadata.put("uid", "00000000-0000-0000-0000-" + String.format("%012d", version)).put("creationTimestamp", "2000-01-01T00:00:00Z");
		}
		map.put("kind", "ConfigMap").put("apiVersion", "v1");
		maps.put(name, map);
		tell(event, map);
		return map;
	}

	private ObjectNode removeAll() throws IOException {
		for (ObjectNode map : maps.values()) {
			tell("DELETED", map);
		}
		maps.clear();
		return status(200, "Deleted");
	}

	private boolean selects(Request request, ObjectNode map) {
		String fields = request.query.get("fieldSelector");
		return fields == null || fields.equals("metadata.name=" + map.at("/metadata/name").asText());
	}

	private ObjectNode list(Request request) {
		ObjectNode list = JSON.createObjectNode().put("kind", "ConfigMapList").put("apiVersion", "v1");
		list.putObject("metadata").put("resourceVersion", String.valueOf(version));
		list.putArray("items");
		for (ObjectNode map : maps.values()) {
			if (selects(request, map)) {
				list.withArray("/items").add(map);
			}
		}
		return list;
	}

	/** A JSON patch if it is an array, else a merge patch. */
	private static ObjectNode patched(ObjectNode map, JsonNode patch) {
		if (!patch.isArray()) {
			merge(map, (ObjectNode) patch);
			return map;
		}
		for (JsonNode step : patch) {
			String path = step.path("path").asText();
			int cut = path.lastIndexOf('/');
			JsonNode parent = cut <= 0 ? map : map.at(path.substring(0, cut));
			String key = path.substring(cut + 1).replace("~1", "/").replace("~0", "~");
			if (parent instanceof ObjectNode && step.path("op").asText().equals("remove")) {
				((ObjectNode) parent).remove(key);
			} else if (parent instanceof ObjectNode && !step.path("op").asText().equals("test")) {
				((ObjectNode) parent).set(key, step.path("value"));
			}
		}
		return map;
	}

	private static void merge(ObjectNode to, ObjectNode from) {
		from.fieldNames().forEachRemaining(key -> {
			JsonNode value = from.get(key);
			if (value.isNull()) {
				to.remove(key);
			} else if (value.isObject() && to.path(key).isObject()) {
				merge((ObjectNode) to.get(key), (ObjectNode) value);
			} else {
				to.set(key, value);
			}
		});
	}

	// ---- watches, over a WebSocket

	private static final class Watch {
		final Request request;
		final OutputStream out;

		Watch(Request request, OutputStream out) {
			this.request = request;
			this.out = out;
		}
	}

	private void watch(Request request, InputStream in, OutputStream out) throws Exception {
		String key = request.headers.get("sec-websocket-key");
		if (key == null) {
			out.write("HTTP/1.1 503 Status\r\nContent-Length: 0\r\n\r\n".getBytes(StandardCharsets.UTF_8));
			return;
		}
		byte[] hash = MessageDigest.getInstance("SHA-1")
				.digest((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").getBytes(StandardCharsets.UTF_8));
		synchronized (this) {
			out.write(("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: "
					+ Base64.getEncoder().encodeToString(hash) + "\r\n\r\n").getBytes(StandardCharsets.UTF_8));
			out.flush();
			watches.add(new Watch(request, out));
		}
		in.transferTo(OutputStream.nullOutputStream()); // pings, and the end
	}

	private void tell(String event, ObjectNode map) throws IOException {
		ObjectNode message = JSON.createObjectNode().put("type", event);
		message.set("object", map);
		byte[] text = JSON.writeValueAsBytes(message);
		ByteArrayOutputStream frame = new ByteArrayOutputStream();
		frame.write(0x81);
		if (text.length < 126) {
			frame.write(text.length);
		} else {
			frame.write(126);
			frame.write(text.length >> 8);
			frame.write(text.length);
		}
		frame.write(text);
		watches.removeIf(watch -> selects(watch.request, map) && !sent(watch, frame.toByteArray()));
	}

	private static boolean sent(Watch watch, byte[] frame) {
		try {
			watch.out.write(frame);
			watch.out.flush();
			return true;
		} catch (IOException e) {
			return false;
		}
	}
}
