/*
 * FlipGate - a gate as FLIP-504 has it, for the test of `blueGreen.gate: flip`: what its gates do with a record, and what they write,
 * for each content of the ConfigMap. It is no gate to use: it has the weaknesses of both versions on purpose.
 *
 *   first    pull request 1043 as of July 2026: writes without comparison, the last writer wins
 *   later    as of August 2026: compares, the first writer wins; the gauge bluegreenGateHandOverDone
 *
 * Everything is evaluated when a record arrives, and a write is delayed by 500 ms, so that other subtasks see it first. Each subtask
 * reads the ConfigMap every 100 ms, where the original has a watch.
 */
package drey;

import java.io.ByteArrayInputStream;
import java.io.File;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.GlobalConfiguration;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.flink.streaming.api.functions.ProcessFunction;
import org.apache.flink.util.Collector;

final class FlipGate<T> extends ProcessFunction<T, T> {
	private static final long serialVersionUID = 1;
	private static final ObjectMapper JSON = new ObjectMapper();
	private static final int DELAY_MS = 500;
	private static final int READ_MS = 100;

	private final String side;
	private final String map;
	private final String namespace;
	private final boolean later;

	private transient ConfigMap client;
	private transient volatile Map<String, String> keys;
	private transient volatile boolean closed;
	private transient volatile int handedOver;
	private transient Map<String, Long> due; // the delayed writes, by what they are

	private FlipGate(String side, String map, String namespace, boolean later) {
		this.side = side;
		this.map = map;
		this.namespace = namespace;
		this.later = later;
	}

	/** `flink`: of the environment, in main(). */
	static <T> FlipGate<T> create(Map<String, String> flink, boolean later) {
		return new FlipGate<>(need(flink, "bluegreen.active-deployment-type"), need(flink, "bluegreen.configmap.name"),
				need(flink, "kubernetes.namespace"), later);
	}

	private static String need(Map<String, String> flink, String key) {
		if (flink.get(key) == null) {
			throw new IllegalStateException(key + " is not in Flink's configuration");
		}
		return flink.get(key);
	}

	@Override
	public void open(OpenContext context) throws Exception {
		client = new ConfigMap(GlobalConfiguration.loadConfiguration(), namespace, map);
		due = new ConcurrentHashMap<>();
		keys = client.read();
		check(keys);
		if (later) {
			getRuntimeContext().getMetricGroup().gauge("bluegreenGateHandOverDone", (Gauge<Integer>) () -> handedOver);
		}
		Thread thread = new Thread(this::follow, "flip-gate");
		thread.setDaemon(true);
		thread.start();
	}

	@Override
	public void close() {
		closed = true;
	}

	/** The first four must be there and parse. */
	private static void check(Map<String, String> keys) {
		for (String key : new String[] {"active-deployment-type", "is-first-deployment", "deployment-deletion-delay-ms", "stage"}) {
			if (keys.get(key) == null) {
				throw new IllegalStateException("the ConfigMap has no " + key);
			}
		}
		Integer.parseInt(keys.get("deployment-deletion-delay-ms"));
	}

	private static Long toggleOf(Map<String, String> keys) {
		String text = keys.get("watermark-toggle-value");
		return text == null ? null : Long.valueOf(text);
	}

	// ---- a record ----

	@Override
	public void processElement(T record, Context context, Collector<T> out) {
		Map<String, String> now = keys;
		long time = context.timestamp() == null ? Long.MIN_VALUE : context.timestamp();
		long watermark = context.timerService().currentWatermark();
		check(now);
		boolean passes = now.get("active-deployment-type").equals(side) ? passesActive(now, time, watermark)
				: passesStandby(now, time, watermark);
		if (passes) {
			out.collect(record);
		}
	}

	private boolean passesActive(Map<String, String> now, long time, long watermark) {
		Long toggle = toggleOf(now);
		if (Boolean.parseBoolean(now.get("is-first-deployment"))) {
			return later || time >= 0;
		}
		if (toggle == null) {
			if ("TRANSITIONING".equals(now.get("stage")) && !"WAITING_FOR_WATERMARK".equals(now.get("watermark-stage"))) {
				write("watermark-stage=WAITING_FOR_WATERMARK");
			}
			return false;
		}
		return later && watermark > toggle || time >= toggle;
	}

	private boolean passesStandby(Map<String, String> now, long time, long watermark) {
		Long toggle = toggleOf(now);
		if (toggle == null) {
			if ("WAITING_FOR_WATERMARK".equals(now.get("watermark-stage")) && (watermark > 0 || !later)) {
				long from = watermark > 0 ? watermark : System.currentTimeMillis();
				propose(from + Integer.parseInt(now.get("deployment-deletion-delay-ms")));
			}
			return true;
		}
		if (watermark <= toggle) {
			return time < toggle;
		}
		handedOver = 1;
		if (!"CLEAR_TO_TEARDOWN".equals(now.get("stage"))) {
			write("stage=CLEAR_TO_TEARDOWN");
		}
		return false;
	}

	private void write(String what) {
		due.putIfAbsent(what, System.currentTimeMillis() + DELAY_MS);
	}

	private void propose(long toggle) {
		if (due.keySet().stream().noneMatch(what -> what.startsWith("watermark-toggle-value="))) {
			write("watermark-toggle-value=" + toggle);
		}
	}

	// ---- the thread ----

	private void follow() {
		while (!closed) {
			try {
				keys = client.read();
				for (Map.Entry<String, Long> entry : due.entrySet()) {
					if (System.currentTimeMillis() >= entry.getValue() && carryOut(entry.getKey())) {
						due.remove(entry.getKey());
					}
				}
				Thread.sleep(READ_MS);
			} catch (Exception failed) {
				pause();
			}
		}
	}

	private static void pause() {
		try {
			Thread.sleep(READ_MS);
		} catch (InterruptedException interrupted) {
			Thread.currentThread().interrupt();
		}
	}

	/** False: another one was faster, so look again. */
	private boolean carryOut(String what) throws Exception {
		String key = what.substring(0, what.indexOf('='));
		String value = what.substring(what.indexOf('=') + 1);
		ObjectNode object = client.get();
		ObjectNode data = (ObjectNode) object.get("data");
		boolean asked = "WAITING_FOR_WATERMARK".equals(data.path("watermark-stage").asText());
		if (value.equals(data.path(key).asText())) {
			return true;
		}
		if (key.equals("watermark-toggle-value")) {
			// those that have seen it first adopt it
			if (data.has(key) || later && !asked) {
				return true;
			}
			data.put("watermark-stage", "WATERMARK_SET");
		}
		if (key.equals("watermark-stage") && (data.has("watermark-toggle-value") || !"TRANSITIONING".equals(data.path("stage").asText()))) {
			return true;
		}
		if (key.equals("stage") && !data.has("watermark-toggle-value")) {
			return true;
		}
		data.put(key, value);
		if (!later) {
			((ObjectNode) object.get("metadata")).remove("resourceVersion");
		}
		return client.put(object);
	}

	/** The one object, by plain HTTP. */
	private static final class ConfigMap {
		private static final String ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount";

		private final HttpClient http;
		private final URI uri;
		private final String token;

		/** With the account of the Pod, unless Flink has a kubeconfig. */
		ConfigMap(Configuration flink, String namespace, String map) throws Exception {
			String file = flink.toMap().get("kubernetes.config.file");
			String server;
			String authority;
			if (file == null) {
				server = "https://" + System.getenv("KUBERNETES_SERVICE_HOST") + ":" + System.getenv("KUBERNETES_SERVICE_PORT");
				authority = ACCOUNT + "/ca.crt";
				token = new String(Files.readAllBytes(Paths.get(ACCOUNT, "token")), StandardCharsets.UTF_8);
			} else {
				JsonNode config = JSON.readTree(new File(file));
				server = config.get("clusters").get(0).get("cluster").get("server").asText();
				authority = config.get("clusters").get(0).get("cluster").get("certificate-authority").asText();
				token = config.get("users").get(0).get("user").get("token").asText();
			}
			uri = URI.create(server + "/api/v1/namespaces/" + namespace + "/configmaps/" + map);
			http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(Duration.ofSeconds(5))
					.sslContext(trusts(authority)).build();
		}

		private static SSLContext trusts(String file) throws Exception {
			KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
			store.load(null, null);
			store.setCertificateEntry("ca", CertificateFactory.getInstance("X.509")
					.generateCertificate(new ByteArrayInputStream(Files.readAllBytes(Paths.get(file)))));
			TrustManagerFactory factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
			factory.init(store);
			SSLContext context = SSLContext.getInstance("TLS");
			context.init(null, factory.getTrustManagers(), null);
			return context;
		}

		private HttpRequest.Builder request() {
			return HttpRequest.newBuilder(uri).timeout(Duration.ofSeconds(10)).header("Authorization", "Bearer " + token)
					.header("Content-Type", "application/json");
		}

		ObjectNode get() throws Exception {
			HttpResponse<String> answer = http.send(request().GET().build(), HttpResponse.BodyHandlers.ofString());
			if (answer.statusCode() != 200) {
				throw new IllegalStateException("GET " + uri + ": " + answer.statusCode());
			}
			return (ObjectNode) JSON.readTree(answer.body());
		}

		Map<String, String> read() throws Exception {
			Map<String, String> keys = new HashMap<>();
			JsonNode data = get().path("data");
			data.fieldNames().forEachRemaining(key -> keys.put(key, data.get(key).asText()));
			return keys;
		}

		/** False: 409. */
		boolean put(ObjectNode object) throws Exception {
			HttpResponse<String> answer = http.send(request().PUT(HttpRequest.BodyPublishers.ofString(object.toString())).build(),
					HttpResponse.BodyHandlers.ofString());
			if (answer.statusCode() != 200 && answer.statusCode() != 409) {
				throw new IllegalStateException("PUT " + uri + ": " + answer.statusCode());
			}
			return answer.statusCode() == 200;
		}
	}
}
