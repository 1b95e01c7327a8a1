package dev.drey.gate;

import java.io.IOException;
import java.util.Collections;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import org.apache.flink.api.common.operators.MailboxExecutor;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.api.common.typeutils.base.array.BytePrimitiveArraySerializer;
import org.apache.flink.runtime.operators.coordination.CoordinationResponse;
import org.apache.flink.runtime.operators.coordination.OperatorEvent;
import org.apache.flink.runtime.operators.coordination.OperatorEventGateway;
import org.apache.flink.runtime.operators.coordination.OperatorEventHandler;
import org.apache.flink.runtime.state.StateInitializationContext;
import org.apache.flink.runtime.state.StateSnapshotContext;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.tasks.ProcessingTimeService;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;
import org.apache.flink.util.SerializedValue;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One subtask of a gate. All of it runs in the thread of its task.
 *
 * <p>At its start it asks the coordinator for the order. The first record blocks the task until there is one. Events of the
 * coordinator cannot come while it is blocked, and to process other mail of the task instead would take a checkpoint in the
 * middle of the record; so the order is the answer to a request, whose future the task can wait for.
 */
final class GateOperator<T> extends AbstractStreamOperator<T> implements OneInputStreamOperator<T, T>, OperatorEventHandler {
	private static final long serialVersionUID = 1;
	private static final Logger LOG = LoggerFactory.getLogger(GateOperator.class);
	/** After an answer without an order, and after none. */
	private static final long WAIT_MS = 20;
	private static final long ASK_AGAIN_MS = 200;
	private static final long REPORT_MS = 500;
	private static final String STATE = "drey-gate";
	private static final String KEYS = "drey-gate-keys";
	/** One element or none; drey reads the number of elements in the _metadata (agent/format/metadata.h). */
	private static final String HOLDS = "drey-gate-holds";

	private final String uid;
	private final GateTime<? super T> time;
	private final GateIdentity<? super T> identity;
	private final transient Valve valve;
	private final transient MailboxExecutor mailbox;
	private final transient OperatorEventGateway coordinator;
	private final transient ProcessingTimeService clock;
	private transient CompletableFuture<CoordinationResponse> asked;
	private transient ListState<byte[]> state;
	private transient ListState<String> keys;
	private transient ListState<String> holds;
	private transient Order order;
	private transient ProgressEvent reported;
	private transient boolean timer;
	private transient boolean idle;
	private transient boolean ended;
	/** The usual case, in one field. */
	private transient boolean atRest;

	GateOperator(String uid, String side, GateTime<? super T> time, GateIdentity<? super T> identity,
			StreamOperatorParameters<T> parameters) {
		this.uid = uid;
		this.time = time;
		this.identity = identity;
		this.valve = new Valve(side);
		this.mailbox = parameters.getMailboxExecutor();
		this.clock = parameters.getProcessingTimeService();
		setup(parameters.getContainingTask(), parameters.getStreamConfig(), parameters.getOutput());
		this.coordinator = parameters.getOperatorEventDispatcher().getOperatorEventGateway(getOperatorID());
	}

	@Override
	public void initializeState(StateInitializationContext context) throws Exception {
		super.initializeState(context);
		state = context.getOperatorStateStore().getListState(
				new ListStateDescriptor<>(STATE, BytePrimitiveArraySerializer.INSTANCE));
		for (byte[] element : state.get()) {
			valve.restore(element);
		}
		keys = context.getOperatorStateStore().getUnionListState(
				new ListStateDescriptor<>(KEYS, StringSerializer.INSTANCE));
		for (String key : keys.get()) {
			valve.restoreKey(key);
		}
		holds = context.getOperatorStateStore().getListState(
				new ListStateDescriptor<>(HOLDS, StringSerializer.INSTANCE));
	}

	@Override
	public void open() throws Exception {
		super.open();
		ask();
	}

	@Override
	public void processElement(StreamRecord<T> element) throws Exception {
		if (atRest) {
			valve.passedAtRest();
			output.collect(element);
			return;
		}
		if (valve.waits()) {
			awaitOrder();
		}
		long at = element.hasTimestamp() ? element.getTimestamp() : GateTime.NONE;
		if (time != null) {
			at = time.timeOf(element.getValue(), at);
		}
		if (valve.passes(at, Tally.mix(at, identity == null ? 0 : identity.applyAsLong(element.getValue())))) {
			output.collect(element);
		}
	}

	@Override
	public void processWatermark(Watermark mark) throws Exception {
		valve.watermark(mark.getTimestamp());
		super.processWatermark(mark);
	}

	@Override
	public void processWatermarkStatus(WatermarkStatus status) throws Exception {
		idle = status.isIdle();
		super.processWatermarkStatus(status);
	}

	@Override
	public void handleOperatorEvent(OperatorEvent event) {
		follow(((OrderEvent) event).order);
	}

	@Override
	public void snapshotState(StateSnapshotContext context) throws Exception {
		super.snapshotState(context);
		state.update(valve.snapshot());
		keys.update(valve.keys());
		holds.update(valve.holds() ? Collections.singletonList("") : Collections.emptyList());
		Tally tally = valve.tally();
		if (tally != null) {
			coordinator.sendEventToCoordinator(
					new SnapshotEvent(context.getCheckpointId(), order.transition, valve.watermark(), idle, tally));
		}
	}

	/** The end of the input: it has crossed every cut. */
	@Override
	public void finish() throws Exception {
		super.finish();
		ended = true;
		report();
	}

	private void ask() throws IOException {
		asked = getContainingTask().getEnvironment().getOperatorCoordinatorEventGateway()
				.sendRequestToCoordinator(getOperatorID(), new SerializedValue<>(new OrderRequest(
						getRuntimeContext().getTaskInfo().getIndexOfThisSubtask(),
						getRuntimeContext().getTaskInfo().getAttemptNumber())));
		CompletableFuture<CoordinationResponse> mine = asked;
		mine.whenComplete((response, failure) -> {
			try {
				mailbox.execute(() -> takeAnswer(mine), "drey: the order of a gate");
			} catch (RejectedExecutionException e) {
				LOG.debug("the task has ended", e);
			}
		});
	}

	/** If no record has waited for it. Without an answer the next record asks again, and a new order comes as an event. */
	private void takeAnswer(CompletableFuture<CoordinationResponse> answer) throws Exception {
		if (asked == answer && !answer.isCompletedExceptionally()) {
			asked = null;
			follow(OrderRequest.order(answer.get()));
		}
	}

	/** Blocks the task; it can be cancelled meanwhile. */
	private void awaitOrder() throws Exception {
		LOG.debug("gate {} waits for its order", uid);
		while (valve.waits()) {
			if (asked == null) {
				ask();
			}
			CompletableFuture<CoordinationResponse> answer = asked;
			try {
				CoordinationResponse response = answer.get();
				asked = null;
				follow(OrderRequest.order(response));
				if (valve.waits()) {
					Thread.sleep(WAIT_MS);
				}
			} catch (ExecutionException e) {
				asked = null;
				LOG.warn("drey: gate {} cannot ask for its order; it asks again", uid, e.getCause());
				Thread.sleep(ASK_AGAIN_MS);
			}
		}
	}

	private void follow(Order next) {
		if (next == null) {
			return;
		}
		boolean first = order == null;
		valve.apply(next);
		if (first || next.number > order.number) {
			order = next;
			LOG.debug("gate {} is {} by order {}", uid, valve.state(), next.number);
		}
		atRest = valve.isAtRest();
		report();
		if (!order.isAtRest() && !timer) {
			timer = true;
			clock.registerTimer(clock.getCurrentProcessingTime() + REPORT_MS, this::reportAgain);
		}
	}

	/** While a transition is on. */
	private void reportAgain(long now) {
		timer = !order.isAtRest() && !ended;
		if (timer) {
			ProgressEvent progress = progress();
			if (!progress.isSame(reported)) {
				send(progress);
			}
			clock.registerTimer(now + REPORT_MS, this::reportAgain);
		}
	}

	private void report() {
		send(progress());
	}

	private void send(ProgressEvent progress) {
		reported = progress;
		coordinator.sendEventToCoordinator(progress);
	}

	private ProgressEvent progress() {
		ProgressEvent progress = new ProgressEvent();
		progress.number = valve.answered();
		progress.refusal = valve.refusal();
		progress.state = ended ? "ended" : valve.state();
		progress.watermark = ended ? Long.MAX_VALUE : valve.watermark();
		progress.idle = idle;
		progress.ended = ended;
		progress.passed = valve.passed();
		progress.withheld = valve.withheld();
		progress.tally = valve.tally();
		return progress;
	}
}
