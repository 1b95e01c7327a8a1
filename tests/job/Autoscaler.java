package drey;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.JobStatus;
import org.apache.flink.autoscaler.JobAutoScalerContext;
import org.apache.flink.autoscaler.JobAutoScalerImpl;
import org.apache.flink.autoscaler.RestApiMetricsCollector;
import org.apache.flink.autoscaler.ScalingExecutor;
import org.apache.flink.autoscaler.ScalingMetricEvaluator;
import org.apache.flink.autoscaler.event.AutoScalerEventHandler;
import org.apache.flink.autoscaler.event.LoggingEventHandler;
import org.apache.flink.autoscaler.realizer.ScalingRealizer;
import org.apache.flink.autoscaler.state.AutoScalerStateStore;
import org.apache.flink.autoscaler.state.InMemoryAutoScalerStateStore;
import org.apache.flink.autoscaler.tuning.ConfigChanges;
import org.apache.flink.client.program.rest.RestClusterClient;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;
import org.apache.flink.runtime.client.JobStatusMessage;
import org.apache.flink.runtime.highavailability.nonha.standalone.StandaloneClientHAServices;
import org.apache.flink.runtime.jobgraph.JobResourceRequirements;
import org.apache.flink.runtime.jobgraph.JobVertexID;
import org.apache.flink.runtime.jobgraph.JobVertexResourceRequirements;
import org.apache.flink.runtime.rest.messages.EmptyRequestBody;
import org.apache.flink.runtime.rest.messages.JobMessageParameters;
import org.apache.flink.runtime.rest.messages.job.JobResourceRequirementsBody;
import org.apache.flink.runtime.rest.messages.job.JobResourceRequirementsHeaders;
import org.apache.flink.runtime.rest.messages.job.JobResourcesRequirementsUpdateHeaders;

/**
 * Apache's autoscaler (flink-autoscaler, the library) outside of its operator: it collects metrics from a running Flink, and decides. Its
 * standalone program, which is not on Maven Central, adds a loop over the jobs and the request that carries out a decision; so does
 * this one.
 *
 * <p>Arguments: KEY=VALUE of the configuration: rest.address, rest.port, job.autoscaler.*.
 */
public final class Autoscaler {
	private static final Duration TIMEOUT = Duration.ofSeconds(20);
	private static final long PAUSE_MS = 2000;

	private Autoscaler() {}

	public static void main(String[] args) throws Exception {
		Configuration configuration = new Configuration();
		for (String arg : args) {
			int equals = arg.indexOf('=');
			configuration.setString(arg.substring(0, equals), arg.substring(equals + 1));
		}
		AutoScalerEventHandler<JobID, JobAutoScalerContext<JobID>> events = new LoggingEventHandler<>();
		AutoScalerStateStore<JobID, JobAutoScalerContext<JobID>> store = new InMemoryAutoScalerStateStore<>();
		JobAutoScalerImpl<JobID, JobAutoScalerContext<JobID>> scaler = new JobAutoScalerImpl<>(
				new RestApiMetricsCollector<>(),
				new ScalingMetricEvaluator(),
				new ScalingExecutor<>(events, store),
				events,
				new Requirements(),
				store);
		while (true) {
			try (RestClusterClient<String> client = connect(configuration)) {
				for (JobStatusMessage job : client.listJobs().get(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS)) {
					if (job.getJobState() == JobStatus.RUNNING) {
						scaler.scale(new JobAutoScalerContext<>(
								job.getJobId(),
								job.getJobId(),
								job.getJobState(),
								configuration,
								new UnregisteredMetricsGroup(),
								() -> connect(configuration)));
					}
				}
			} catch (Exception e) { // the JobManager is away
				System.err.println(e);
			}
			Thread.sleep(PAUSE_MS);
		}
	}

	private static RestClusterClient<String> connect(Configuration configuration) throws Exception {
		String url = "http://" + configuration.get(RestOptions.ADDRESS) + ":" + configuration.get(RestOptions.PORT);
		return new RestClusterClient<>(configuration, "standalone", (c, handler) -> new StandaloneClientHAServices(url));
	}

	private static final class Requirements implements ScalingRealizer<JobID, JobAutoScalerContext<JobID>> {
		@Override
		public void realizeParallelismOverrides(JobAutoScalerContext<JobID> context, Map<String, String> overrides) throws Exception {
			JobMessageParameters job = new JobMessageParameters();
			job.jobPathParameter.resolve(context.getJobID());
			try (RestClusterClient<String> client = context.getRestClusterClient()) {
				JobResourceRequirements before = client.sendRequest(
								new JobResourceRequirementsHeaders(), job, EmptyRequestBody.getInstance())
						.get(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS)
						.asJobResourceRequirements()
						.get();
				Map<JobVertexID, JobVertexResourceRequirements> after = new HashMap<>(before.getJobVertexParallelisms());
				for (Map.Entry<String, String> vertex : overrides.entrySet()) {
					after.put(
							JobVertexID.fromHexString(vertex.getKey()),
							new JobVertexResourceRequirements(
									new JobVertexResourceRequirements.Parallelism(1, Integer.parseInt(vertex.getValue()))));
				}
				if (after.equals(before.getJobVertexParallelisms())) {
					return;
				}
				System.err.println("the autoscaler sets " + overrides + " for job " + context.getJobID());
				client.sendRequest(
								new JobResourcesRequirementsUpdateHeaders(),
								job,
								new JobResourceRequirementsBody(new JobResourceRequirements(after)))
						.get(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
			}
		}

		@Override
		public void realizeConfigOverrides(JobAutoScalerContext<JobID> context, ConfigChanges changes) {}
	}
}
