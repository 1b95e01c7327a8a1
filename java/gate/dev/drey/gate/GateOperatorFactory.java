package dev.drey.gate;

import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.operators.coordination.OperatorCoordinator;
import org.apache.flink.streaming.api.operators.AbstractStreamOperatorFactory;
import org.apache.flink.streaming.api.operators.ChainingStrategy;
import org.apache.flink.streaming.api.operators.CoordinatedOperatorFactory;
import org.apache.flink.streaming.api.operators.OneInputStreamOperatorFactory;
import org.apache.flink.streaming.api.operators.StreamOperator;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;

/** A gate in the job graph: makes its operators in the TaskManagers, and its coordinator in the JobManager. */
final class GateOperatorFactory<T> extends AbstractStreamOperatorFactory<T>
		implements OneInputStreamOperatorFactory<T, T>, CoordinatedOperatorFactory<T> {
	private static final long serialVersionUID = 1;

	private final String uid;
	private final String side;
	private final String directory;
	private final GateTime<? super T> time;
	private final GateIdentity<? super T> identity;

	/** directory: null where there is no drey. time, identity: null for the ones of the stream. */
	GateOperatorFactory(
			String uid, String side, String directory, GateTime<? super T> time, GateIdentity<? super T> identity) {
		this.uid = uid;
		this.side = side;
		this.directory = directory;
		this.time = time;
		this.identity = identity;
		setChainingStrategy(ChainingStrategy.ALWAYS);
	}

	@Override
	@SuppressWarnings("unchecked")
	public <O extends StreamOperator<T>> O createStreamOperator(StreamOperatorParameters<T> parameters) {
		GateOperator<T> operator = new GateOperator<>(uid, side, time, identity, parameters);
		parameters.getOperatorEventDispatcher().registerEventHandler(operator.getOperatorID(), operator);
		return (O) operator;
	}

	@Override
	public OperatorCoordinator.Provider getCoordinatorProvider(String operatorName, OperatorID operatorId) {
		return new GateCoordinator.Provider(operatorId, uid, side, directory);
	}

	@Override
	@SuppressWarnings("rawtypes")
	public Class<? extends StreamOperator> getStreamOperatorClass(ClassLoader classLoader) {
		return GateOperator.class;
	}
}
