package dev.drey.gate;

import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.operators.coordination.CoordinationRequest;
import org.apache.flink.runtime.operators.coordination.CoordinationRequestHandler;
import org.apache.flink.runtime.operators.coordination.CoordinationResponse;
import org.apache.flink.runtime.operators.coordination.OperatorCoordinator;
import org.apache.flink.runtime.operators.coordination.OperatorEvent;

/**
 * What a gate has in the JobManager. Flink calls it in the main thread of the JobMaster, where nothing may block; so it hands
 * everything to the thread of the {@link GateHub}. It has no state of its own in a checkpoint.
 */
final class GateCoordinator implements OperatorCoordinator, CoordinationRequestHandler {
	/** In the job graph. */
	static final class Provider implements OperatorCoordinator.Provider {
		private static final long serialVersionUID = 1;

		private final OperatorID id;
		private final String uid;
		private final String side;
		private final String directory;

		Provider(OperatorID id, String uid, String side, String directory) {
			this.id = id;
			this.uid = uid;
			this.side = side;
			this.directory = directory;
		}

		@Override
		public OperatorID getOperatorId() {
			return id;
		}

		@Override
		public OperatorCoordinator create(Context context) {
			return new GateCoordinator(context, uid, side, directory);
		}
	}

	private static final String JOB_ID = "<job_id>";

	/** As drey gave it to this JobManager: a job that is recovered was built with that of another one. */
	private static final String DIRECTORY = System.getenv("DREY_GATE_DIRECTORY");

	private final Context context;
	private final Gate gate;
	/** Null where there is no drey. */
	private final GateHub hub;

	private GateCoordinator(Context context, String uid, String side, String directory) {
		this.context = context;
		this.gate = new Gate(uid);
		// all coordinators of a job are made before the first one is started: the hub knows its gates when it begins
		this.hub = directory == null
				? null
				: GateHub.join(context.getCoordinatorStore(), Path.of(DIRECTORY != null ? DIRECTORY : directory),
						launch(context), side, gate);
	}

	/** Only Flink 2 has a method for it. */
	private static String launch(Context context) {
		String launch = context.metricGroup().getAllVariables().get(JOB_ID);
		if (launch == null) {
			throw new IllegalStateException("drey: this version of Flink names no job to its operator coordinators");
		}
		return launch;
	}

	private void tell(Predicate<Gate> what) {
		if (hub != null) {
			hub.run(gate, what);
		}
	}

	@Override
	public void start() {
		int parallelism = context.currentParallelism();
		tell(g -> g.start(parallelism));
	}

	@Override
	public void close() {
		if (hub != null) {
			hub.leave();
		}
	}

	@Override
	public CompletableFuture<CoordinationResponse> handleCoordinationRequest(CoordinationRequest request) {
		if (hub == null) {
			return CompletableFuture.completedFuture(OrderRequest.answer(Order.OPEN));
		}
		return hub.ask(gate, (OrderRequest) request).thenApply(OrderRequest::answer);
	}

	@Override
	public void handleEventFromOperator(int subtask, int attempt, OperatorEvent event) {
		if (event instanceof ProgressEvent) {
			tell(g -> g.progress(subtask, attempt, (ProgressEvent) event));
		} else {
			tell(g -> g.snapshot(subtask, attempt, (SnapshotEvent) event));
		}
	}

	@Override
	public void executionAttemptReady(int subtask, int attempt, SubtaskGateway gateway) {
		tell(g -> g.ready(subtask, attempt, gateway));
	}

	@Override
	public void executionAttemptFailed(int subtask, int attempt, Throwable reason) {
		tell(g -> g.failed(subtask, attempt));
	}

	@Override
	public void subtaskReset(int subtask, long checkpointId) {
		tell(g -> g.reset(subtask));
	}

	@Override
	public void resetToCheckpoint(long checkpointId, byte[] checkpointData) {
		tell(Gate::resetAll);
	}

	@Override
	public void checkpointCoordinator(long checkpointId, CompletableFuture<byte[]> result) {
		result.complete(new byte[0]);
	}

	@Override
	public void notifyCheckpointComplete(long checkpointId) {
		tell(g -> g.completed(checkpointId));
	}

	@Override
	public void notifyCheckpointAborted(long checkpointId) {
		tell(g -> g.aborted(checkpointId));
	}
}
