package dev.drey.gate;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.state.CheckpointListener;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.runtime.state.FunctionInitializationContext;
import org.apache.flink.runtime.state.FunctionSnapshotContext;
import org.apache.flink.streaming.api.checkpoint.CheckpointedFunction;
import org.apache.flink.streaming.api.functions.ProcessFunction;
import org.apache.flink.util.Collector;

/**
 * A sink in two phases: records become visible in {@link #OUTPUTS} when the checkpoint that contains them is complete, once.
 * What is in its state when it is restored belongs to a complete checkpoint.
 */
final class Commit extends ProcessFunction<Long, Void> implements CheckpointedFunction, CheckpointListener {
	private static final long serialVersionUID = 1;
	private static final int JOB_ID_LENGTH = 32;
	static final Map<String, Output> OUTPUTS = new ConcurrentHashMap<>();

	/** What both sides have committed, and in what transactions. */
	static final class Output {
		private final Set<String> transactions = new HashSet<>();
		private final Map<Long, Integer> counts = new TreeMap<>();
		private final Map<String, Set<Long>> launches = new HashMap<>();

		synchronized void commit(String transaction, List<Long> values) {
			if (transactions.add(transaction)) {
				values.forEach(value -> counts.merge(value, 1, Integer::sum));
				launches.computeIfAbsent(transaction.substring(0, JOB_ID_LENGTH), any -> new HashSet<>()).addAll(values);
			}
		}

		/** Of 0 ... limit - 1 of each split: "lost N doubled N", and the first of them. */
		synchronized String check(int splits, long limit) {
			long lost = 0;
			long doubled = 0;
			String first = "";
			for (int split = 0; split < splits; split++) {
				for (long number = 0; number < limit; number++) {
					int count = counts.getOrDefault((long) split << Stream.NUMBER_BITS | number, 0);
					lost += count == 0 ? 1 : 0;
					doubled += count > 1 ? count - 1 : 0;
					first = count == 1 || !first.isEmpty() ? first : " (" + split + ":" + number + ")";
				}
			}
			return "lost " + lost + " doubled " + doubled + first;
		}

		/** Whether this launch has committed it. */
		synchronized boolean isOf(JobID job, int split, long number) {
			return launches.getOrDefault(job.toHexString(), Set.of()).contains((long) split << Stream.NUMBER_BITS | number);
		}

		synchronized int size() {
			return counts.size();
		}

		synchronized boolean has(int splits, long limit) {
			for (int split = 0; split < splits; split++) {
				for (long number = Math.max(0, limit - 1000); number < limit; number++) {
					if (!counts.containsKey((long) split << Stream.NUMBER_BITS | number)) {
						return false;
					}
				}
			}
			return true;
		}
	}

	private final String output;
	private final String launch;
	private transient TreeMap<Long, List<Long>> pending;
	private transient List<Long> open;
	private transient ListState<String> state;

	Commit(String output, String launch) {
		this.output = output;
		this.launch = launch;
	}

	@Override
	public void initializeState(FunctionInitializationContext context) throws Exception {
		pending = new TreeMap<>();
		open = new ArrayList<>();
		state = context.getOperatorStateStore().getListState(new ListStateDescriptor<>("pending", Types.STRING));
		for (String element : state.get()) {
			String[] parts = element.split("=", 2);
			commit(parts[0], decode(parts[1]));
		}
	}

	@Override
	public void processElement(Long value, Context context, Collector<Void> out) {
		open.add(value);
	}

	@Override
	public void snapshotState(FunctionSnapshotContext context) throws Exception {
		pending.put(context.getCheckpointId(), open);
		open = new ArrayList<>();
		List<String> elements = new ArrayList<>();
		pending.forEach((id, values) -> elements.add(transaction(id) + "=" + values));
		state.update(elements);
	}

	@Override
	public void notifyCheckpointComplete(long checkpointId) {
		Map<Long, List<Long>> complete = pending.headMap(checkpointId, true);
		complete.forEach((id, values) -> commit(transaction(id), values));
		complete.clear();
	}

	private String transaction(long checkpoint) {
		return launch + "-" + getRuntimeContext().getTaskInfo().getIndexOfThisSubtask() + "-" + checkpoint;
	}

	private void commit(String transaction, List<Long> values) {
		OUTPUTS.get(output).commit(transaction, values);
	}

	private static List<Long> decode(String list) {
		if (list.equals("[]")) {
			return Collections.emptyList();
		}
		List<Long> values = new ArrayList<>();
		for (String word : list.substring(1, list.length() - 1).split(", ")) {
			values.add(Long.parseLong(word));
		}
		return values;
	}
}
