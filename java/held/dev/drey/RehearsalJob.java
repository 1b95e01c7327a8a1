package dev.drey;

import java.nio.file.Path;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.connector.source.lib.NumberSequenceSource;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.util.Collector;

/** The job of the {@link Rehearsal}: it counts numbers by key. */
final class RehearsalJob {
	static final String NAME = "drey-rehearsal";

	private static final int STEP_LIMIT_S = 30;
	private static final int PAUSE_MS = 20;

	private RehearsalJob() {}

	/** Runs it, stops it with a savepoint, runs it from there, and ends it. Each time in a cluster of its own. */
	static void run(Configuration users, Path directory) throws Exception {
		Configuration configuration = configuration(users, directory);
		configuration.setString("execution.state-recovery.path", play(configuration, directory));
		play(configuration, directory);
	}

	/** The savepoint with which it was stopped. */
	private static String play(Configuration configuration, Path directory) throws Exception {
		JobClient job = start(configuration);
		try {
			return stop(job, directory);
		} catch (Exception e) {
			job.cancel(); // its cluster ends with it
			throw e;
		}
	}

	private static Configuration configuration(Configuration users, Path directory) {
		Configuration c = Loopback.configuration(directory.toString());
		c.setString("execution.target", "local");
		c.setString("execution.attached", "true"); // nothing else is allowed there
		c.setString("taskmanager.bind-host", "127.0.0.1");
		c.setString("taskmanager.host", "127.0.0.1");
		c.setString("taskmanager.memory.network.min", "4mb");
		c.setString("taskmanager.memory.network.max", "4mb");
		c.setString("taskmanager.memory.managed.size", "32mb");
		for (String backend : new String[] {"state.backend.type", "state.backend"}) {
			String name = users.getString(backend, null);
			if (name != null) {
				c.setString(backend, name);
			}
		}
		return c;
	}

	private static JobClient start(Configuration configuration) throws Exception {
		// not getExecutionEnvironment(): that is the one of the application
		StreamExecutionEnvironment env = new StreamExecutionEnvironment(configuration);
		env.setParallelism(1);
		env.enableCheckpointing(100);
		env.fromSource(new NumberSequenceSource(1, Long.MAX_VALUE), WatermarkStrategy.noWatermarks(), "numbers")
				.uid("numbers")
				.keyBy(number -> number % 8)
				.process(new Count())
				.uid("count")
				.sinkTo(new DiscardingSink<>())
				.uid("end");
		return env.executeAsync(NAME);
	}

	/** Its tasks may not run yet: Flink refuses a savepoint then. */
	private static String stop(JobClient job, Path directory) throws Exception {
		long endMs = System.currentTimeMillis() + TimeUnit.SECONDS.toMillis(STEP_LIMIT_S);
		String savepoint = null;
		while (savepoint == null) {
			try {
				savepoint = job.stopWithSavepoint(false, directory.toUri() + "savepoints", SavepointFormatType.CANONICAL)
						.get(STEP_LIMIT_S, TimeUnit.SECONDS);
			} catch (ExecutionException e) {
				if (System.currentTimeMillis() > endMs) {
					throw e;
				}
				Thread.sleep(PAUSE_MS);
			}
		}
		end(job);
		return savepoint;
	}

	private static void end(JobClient job) throws InterruptedException, ExecutionException, TimeoutException {
		try {
			job.getJobExecutionResult().get(STEP_LIMIT_S, TimeUnit.SECONDS);
		} catch (ExecutionException e) {
			if (!job.getJobStatus().get(STEP_LIMIT_S, TimeUnit.SECONDS).isGloballyTerminalState()) {
				throw e;
			}
		}
	}

	static final class Count extends KeyedProcessFunction<Long, Long, Long> {
		private static final long serialVersionUID = 1;

		private transient ValueState<Long> count;

		@Override
		public void open(OpenContext context) {
			count = getRuntimeContext().getState(new ValueStateDescriptor<>("count", Long.class));
		}

		@Override
		public void processElement(Long number, Context context, Collector<Long> out) throws Exception {
			Long before = count.value();
			count.update(before == null ? 1 : before + 1);
			out.collect(number);
		}
	}
}
