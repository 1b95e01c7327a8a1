package dev.drey.gate;

import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.TransactionListing;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * What is around the job: KafkaWorld BOOTSTRAP DIRECTORY RATE makes the topics, writes the input until DIRECTORY/stop is there, but not
 * while DIRECTORY/hold is, and looks at everything until it is killed.
 *
 * <table>
 * <tr><td>produced</td><td>at the end of the input: how many</td></tr>
 * <tr><td>committed</td><td>"WALL_MS PARTITION ID TIME NUMBER SIDE", as a reader with read_committed sees the output</td></tr>
 * <tr><td>uncommitted</td><td>the same for one without</td></tr>
 * <tr><td>group</td><td>"WALL_MS COMMITTED END MEMBERS": offsets of the group of the job over all partitions, ends of the input,
 * and how many members the group has</td></tr>
 * <tr><td>transactions</td><td>"WALL_MS TRANSACTIONAL_ID STATE", when it changes</td></tr>
 * </table>
 */
public final class KafkaWorld {
	private static final int PARTITIONS = 4;
	private static final String GROUP = "orders";
	private final String bootstrap;
	private final Path directory;
	private final Admin admin;

	private KafkaWorld(String bootstrap, Path directory) {
		this.bootstrap = bootstrap;
		this.directory = directory;
		this.admin = Admin.create(Map.of("bootstrap.servers", bootstrap));
	}

	public static void main(String[] args) throws Exception {
		KafkaWorld world = new KafkaWorld(args[0], Path.of(args[1]));
		world.admin.createTopics(List.of(new NewTopic("input", PARTITIONS, (short) 1), new NewTopic("output", PARTITIONS, (short) 1)))
				.all().get();
		int rate = Integer.parseInt(args[2]);
		world.start("input", () -> world.write(rate));
		world.start("committed", () -> world.read("committed", "read_committed"));
		world.start("uncommitted", () -> world.read("uncommitted", "read_uncommitted"));
		world.start("group", world::watchGroup);
		world.start("transactions", world::watchTransactions);
	}

	private interface Part {
		void run() throws Exception;
	}

	/** A part that fails ends everything: the test would see nothing of it. */
	private void start(String name, Part part) {
		new Thread(() -> {
			try {
				part.run();
			} catch (Throwable e) {
				e.printStackTrace();
				Runtime.getRuntime().halt(1);
			}
		}, name).start();
	}

	/** Number ID is due at start + ID / RATE; its time is that, and up to 40 ms of disorder. */
	private void write(int rate) throws Exception {
		long start = System.currentTimeMillis();
		long id = 0;
		try (KafkaProducer<String, String> producer = new KafkaProducer<>(
				Map.of("bootstrap.servers", bootstrap, "acks", "all"), new StringSerializer(), new StringSerializer())) {
			while (!Files.exists(directory.resolve("stop"))) {
				long due = (System.currentTimeMillis() - start) * rate / 1000;
				for (; id < due && !Files.exists(directory.resolve("hold")); id++) {
					long time = start + id * 1000 / rate + (id * 0x9E3779B97F4A7C15L >>> 58) % 40;
					int key = (int) (id % KafkaJob.KEYS);
					producer.send(new ProducerRecord<>("input", key % PARTITIONS, Integer.toString(key), id + " " + time), (sent, failure) -> {
						if (failure != null) {
							failure.printStackTrace();
							Runtime.getRuntime().halt(1);
						}
					});
				}
				Thread.sleep(10);
			}
		}
		Files.writeString(directory.resolve("produced.new"), id + "\n");
		Files.move(directory.resolve("produced.new"), directory.resolve("produced"));
	}

	private Writer writer(String file) throws Exception {
		return Files.newBufferedWriter(directory.resolve(file));
	}

	private static List<TopicPartition> partitions(String topic) {
		List<TopicPartition> all = new ArrayList<>();
		for (int i = 0; i < PARTITIONS; i++) {
			all.add(new TopicPartition(topic, i));
		}
		return all;
	}

	private void read(String file, String isolation) throws Exception {
		try (Writer out = writer(file); KafkaConsumer<String, String> consumer = new KafkaConsumer<>(
				Map.of("bootstrap.servers", bootstrap, "isolation.level", isolation, "fetch.max.wait.ms", "100"),
				new StringDeserializer(), new StringDeserializer())) {
			consumer.assign(partitions("output"));
			consumer.seekToBeginning(consumer.assignment());
			while (true) {
				for (ConsumerRecord<String, String> record : consumer.poll(Duration.ofMillis(100))) {
					out.write(System.currentTimeMillis() + " " + record.partition() + " " + record.value() + "\n");
				}
				out.flush();
			}
		}
	}

	private void watchGroup() throws Exception {
		try (Writer out = writer("group")) {
			while (true) {
				long committed = admin.listConsumerGroupOffsets(GROUP).partitionsToOffsetAndMetadata().get().values().stream()
						.mapToLong(offset -> offset.offset()).sum();
				long end = admin.listOffsets(partitions("input").stream().collect(Collectors.toMap(Function.identity(), p -> OffsetSpec.latest())))
						.all().get().values().stream().mapToLong(offset -> offset.offset()).sum();
				int members = committed == 0 ? 0
						: admin.describeConsumerGroups(List.of(GROUP)).all().get().get(GROUP).members().size();
				out.write(System.currentTimeMillis() + " " + committed + " " + end + " " + members + "\n");
				out.flush();
				Thread.sleep(200);
			}
		}
	}

	private void watchTransactions() throws Exception {
		Map<String, String> seen = new TreeMap<>();
		try (Writer out = writer("transactions")) {
			while (true) {
				for (TransactionListing one : admin.listTransactions().all().get()) {
					String state = one.state().toString();
					if (!state.equals(seen.put(one.transactionalId(), state))) {
						out.write(System.currentTimeMillis() + " " + one.transactionalId() + " " + state + "\n");
					}
				}
				out.flush();
				Thread.sleep(200);
			}
		}
	}
}
