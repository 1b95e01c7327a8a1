/*
 * The events as JSON, from tables of their members (core/record.h).
 */
#include <string.h>

#include "core/handover/gate_record.h"
#include "core/handover/transition.h"
#include "core/journal/journal_fields.h"
#include "core/trace/life_trace.h"
#include "core/trace/life_trace_facts.h"

#define EVENT(name, kind, member, ...) FIELD(name, kind, struct event, member, __VA_ARGS__)

static const char *const statuses[] = {"accepted",   "in-progress", "completed", "failed",
				       "unknown-id", "unreachable", NULL};
static const char *const upgrades[] = {"unknown", "no", "yes", NULL};

static const struct field hello_fields[] = {
	EVENT("running", TEXT, hello.running, .sparse = true),
	EVENT("last", TEXT, hello.last, .sparse = true),
	EVENT("runningNumber", KNOWN, hello.running_number, .sparse = true),
	EVENT("lastNumber", KNOWN, hello.last_number, .sparse = true),
	EVENT("fenced", BOOL, hello.fenced, .sparse = true),
	EVENT("lastWaitStatus", SMALL, hello.last_wait_status, .unknown = -1, .sparse = true),
	EVENT("stopping", BOOL, hello.stopping, .sparse = true),
	EVENT("graceLeftMs", NUMBER, hello.grace_left_ms),
	EVENT("upgrade", WORD, hello.upgrade, .words = upgrades),
	EVENT("claim", SMALL, hello.claim, .sparse = true),
	EVENT("wanted", SMALL, hello.wanted, .sparse = true),
	EVENT("held", TEXT, hello.held, .sparse = true),
};

static const struct field observed_fields[] = {
	EVENT("facts", OWN, observed.facts, .write = life_trace_observed_write,
	      .read = life_trace_observed_read),
};

static const struct field journal_event_fields[] = {
	EVENT("sequence", NUMBER, journal.sequence),
	EVENT("conflict", BOOL, journal.conflict, .sparse = true),
	EVENT("error", TEXT, journal.error, .sparse = true),
	EVENT("lost", BOOL, journal.lost, .sparse = true),
	EVENT("unknown", BOOL, journal.unknown, .sparse = true),
};

static const struct field process_fields[] = {
	EVENT("launchId", TEXT, process.launch_id, .sparse = true),
	EVENT("number", KNOWN, process.number, .sparse = true),
	EVENT("waitStatus", SMALL, process.wait_status, .unknown = -1, .sparse = true),
	EVENT("oomKilled", BOOL, process.oom_killed, .sparse = true),
	EVENT("shortcut", BOOL, process.shortcut, .sparse = true),
	EVENT("error", TEXT, process.error, .sparse = true),
	EVENT("meaning", TEXT, process.meaning, .sparse = true),
};

static const struct field refused_fields[] = {
	EVENT("effect", SMALL, refused.effect, .unknown = -1),
	EVENT("cause", SMALL, refused.cause, .unknown = -1),
	EVENT("why", TEXT, refused.why, .sparse = true),
	EVENT("launchId", TEXT, refused.launch_id, .sparse = true),
	EVENT("facts", OWN, refused.facts, .write = life_trace_refused_write,
	      .read = life_trace_refused_read),
};

#define SAVEPOINT(name, kind, member, ...)                                                         \
	FIELD(name, kind, struct seen_savepoint, member, __VA_ARGS__)
static const struct field seen_fields[] = {
	SAVEPOINT("id", NUMBER, id),
	SAVEPOINT("path", TEXT, path),
	SAVEPOINT("completedUnixMs", KNOWN, completed_unix_ms, .sparse = true),
	SAVEPOINT("stop", BOOL, stop, .sparse = true),
};
static const struct record seen_table = RECORD(struct seen_savepoint, seen_fields);

static const struct field view_fields[] = {
	EVENT("reachable", BOOL, view.reachable, .sparse = true),
	EVENT("silence", TEXT, view.silence, .sparse = true),
	EVENT("mute", BOOL, view.mute, .sparse = true),
	EVENT("jobPresent", BOOL, view.job_present, .sparse = true),
	EVENT("state", WORD, view.state, .words = job_state_words),
	EVENT("jobUnixMs", KNOWN, view.job_unix_ms, .sparse = true),
	EVENT("tasksMissing", BOOL, view.tasks_missing, .sparse = true),
	EVENT("tasksKnown", BOOL, view.cluster.tasks_known, .sparse = true),
	EVENT("tasksTotal", SMALL, view.cluster.tasks_total, .sparse = true),
	EVENT("tasksRunning", SMALL, view.cluster.tasks_running, .sparse = true),
	EVENT("tasksWaiting", SMALL, view.cluster.tasks_waiting, .sparse = true),
	EVENT("slotsKnown", BOOL, view.cluster.slots_known, .sparse = true),
	EVENT("taskManagers", SMALL, view.cluster.task_managers, .sparse = true),
	EVENT("slotsTotal", SMALL, view.cluster.slots_total, .sparse = true),
	EVENT("slotsFree", SMALL, view.cluster.slots_free, .sparse = true),
	EVENT("restartsKnown", BOOL, view.restarts_known, .sparse = true),
	EVENT("restarts", KNOWN, view.restarts, .sparse = true),
	EVENT("rescalesCounted", BOOL, view.rescales_counted, .sparse = true),
	EVENT("statisticsKnown", BOOL, view.statistics_known, .sparse = true),
	EVENT("checkpointingOff", BOOL, view.checkpointing_off, .sparse = true),
	EVENT("restored", BOOL, view.restored, .sparse = true),
	EVENT("restoredAsOwn", BOOL, view.restored_as_own, .sparse = true),
	EVENT("restoredId", KNOWN, view.restored_id, .sparse = true),
	EVENT("restoredPath", TEXT, view.restored_path, .sparse = true),
	EVENT("completedId", KNOWN, view.completed_id, .sparse = true),
	EVENT("completedPath", TEXT, view.completed_path, .sparse = true),
	EVENT("completedUnixMs", KNOWN, view.completed_unix_ms, .sparse = true),
	EVENT("statisticsFailed", BOOL, view.statistics_failed, .sparse = true),
	EVENT("checkpointsCompleted", KNOWN, view.checkpointing.completed, .sparse = true),
	EVENT("checkpointsFailed", KNOWN, view.checkpointing.failed, .sparse = true),
	EVENT("checkpointsInProgress", KNOWN, view.checkpointing.in_progress, .sparse = true),
	EVENT("checkpointFailures", KNOWN, view.checkpointing.failures, .sparse = true),
	EVENT("checkpointFailedUnixMs", KNOWN, view.checkpointing.failed_unix_ms, .sparse = true),
	EVENT("checkpointFailure", CHARS, view.checkpointing.failure, .sparse = true),
	EVENT("checkpointDurationMs", KNOWN, view.checkpointing.duration_ms, .sparse = true),
	EVENT("checkpointSizeBytes", KNOWN, view.checkpointing.size_bytes, .sparse = true),
	EVENT("checkpointProcessedBytes", KNOWN, view.checkpointing.processed_bytes,
	      .sparse = true),
	EVENT("checkpointPersistedBytes", KNOWN, view.checkpointing.persisted_bytes,
	      .sparse = true),
	EVENT("checkpointPlanKnown", BOOL, view.plan.known, .sparse = true),
	EVENT("checkpointIntervalMs", KNOWN, view.plan.interval_ms, .sparse = true),
	EVENT("checkpointMinPauseMs", KNOWN, view.plan.min_pause_ms, .sparse = true),
	EVENT("effective", RECORD, view.effective, .record = &effective_table, .sparse = true),
	FIELDS("savepoints", LIST, struct event, view.savepoints, view.savepoint_count,
	       .record = &seen_table),
	EVENT("failure", TEXT, view.failure, .sparse = true),
	EVENT("application", SMALL, view.application, .sparse = true),
	EVENT("otherJob", TEXT, view.other_job, .sparse = true),
	EVENT("cleanup", SMALL, view.cleanup, .sparse = true),
};

static const struct field operation_fields[] = {
	EVENT("triggerId", TEXT, operation.trigger_id, .sparse = true),
	EVENT("jobId", TEXT, operation.job_id, .sparse = true),
	EVENT("status", WORD, operation.status, .words = statuses),
	EVENT("location", TEXT, operation.location, .sparse = true),
	EVENT("error", TEXT, operation.error, .sparse = true),
};

static const struct field inspected_fields[] = {
	EVENT("path", TEXT, inspected.path, .sparse = true),
	EVENT("readable", BOOL, inspected.readable, .sparse = true),
	EVENT("complete", BOOL, inspected.complete, .sparse = true),
	EVENT("checkpointId", NUMBER, inspected.checkpoint_id),
	EVENT("sizeBytes", NUMBER, inspected.size_bytes),
	EVENT("fileCount", NUMBER, inspected.file_count),
	EVENT("error", TEXT, inspected.error, .sparse = true),
	EVENT("background", BOOL, inspected.background, .sparse = true),
};

static const struct field disposed_fields[] = {
	EVENT("path", TEXT, disposed.path, .sparse = true),
	EVENT("error", TEXT, disposed.error, .sparse = true),
	EVENT("needed", TEXT, disposed.needed, .sparse = true),
};

/* The request as it came in: whether it was read back is no member of the journal. */
static const struct field control_fields[] = {
	EVENT("fields", SMALL, control.fields),
	EVENT("intent", RECORD, control.intent, .record = &intent_table),
	EVENT("readBack", BOOL, control.intent.restore.read_back),
	EVENT("checkpointNonce", TEXT, control.checkpoint_nonce, .sparse = true),
	EVENT("checkpointFull", BOOL, control.checkpoint_full, .sparse = true),
	EVENT("acknowledgeNonce", TEXT, control.acknowledge_nonce, .sparse = true),
	EVENT("promoteNonce", TEXT, control.promote_nonce, .sparse = true),
	EVENT("promoteAtUnixMs", KNOWN, control.promote_at_unix_ms, .sparse = true),
	EVENT("abortNonce", TEXT, control.abort_nonce, .sparse = true),
};

static const struct field stopping_fields[] = {
	EVENT("graceLeftMs", NUMBER, stopping.grace_left_ms),
	EVENT("upgrade", WORD, stopping.upgrade, .words = upgrades),
};

static const struct field candidate_fields[] = {
	EVENT("place", SMALL, candidate.place, .sparse = true),
	EVENT("unreadable", BOOL, candidate.unreadable, .sparse = true),
	EVENT("present", BOOL, candidate.present, .sparse = true),
	EVENT("party", RECORD, candidate.party, .record = &party_table),
	EVENT("state", SMALL, candidate.state, .sparse = true),
	EVENT("beat", KNOWN, candidate.beat, .sparse = true),
	EVENT("ask", KNOWN, candidate.ask, .sparse = true),
	EVENT("answer", KNOWN, candidate.answer, .sparse = true),
	EVENT("wanted", SMALL, candidate.wanted, .sparse = true),
	EVENT("why", TEXT, candidate.why, .sparse = true),
	EVENT("lockIsFree", BOOL, candidate.lock_is_free, .sparse = true),
	EVENT("shadow", RECORD, candidate.shadow, .record = &candidate_shadow_table,
	      .sparse = true),
};

static const struct field checkpoint_fields[] = {
	EVENT("triggerId", TEXT, checkpoint.trigger_id, .sparse = true),
	EVENT("status", WORD, checkpoint.status, .words = statuses),
	EVENT("checkpointId", KNOWN, checkpoint.checkpoint_id, .sparse = true),
	EVENT("location", TEXT, checkpoint.location, .sparse = true),
	EVENT("error", TEXT, checkpoint.error, .sparse = true),
};

#define VERTEX(name, kind, member, ...)                                                            \
	FIELD(name, kind, struct rescale_vertex, member, __VA_ARGS__)
static const struct field vertex_fields[] = {
	VERTEX("id", TEXT, id),
	VERTEX("name", TEXT, name),
	VERTEX("parallelism", NUMBER, parallelism),
	VERTEX("max", NUMBER, max_parallelism),
	VERTEX("lower", NUMBER, lower),
	VERTEX("upper", NUMBER, upper),
	VERTEX("slotGroup", TEXT, slot_group, .sparse = true),
};
static const struct record vertex_table = RECORD(struct rescale_vertex, vertex_fields);

static const struct field rescaled_fields[] = {
	EVENT("launch", NUMBER, rescaled.launch),
	EVENT("put", BOOL, rescaled.put, .sparse = true),
	EVENT("status", WORD, rescaled.status, .words = statuses),
	EVENT("error", TEXT, rescaled.error, .sparse = true),
	FIELDS("vertices", LIST, struct event, rescaled.vertices, rescaled.vertex_count,
	       .record = &vertex_table),
	EVENT("slotsKnown", BOOL, rescaled.slots_known, .sparse = true),
	EVENT("slotsTotal", SMALL, rescaled.slots_total, .sparse = true),
	EVENT("taskManagers", SMALL, rescaled.task_managers, .sparse = true),
};

static const struct field lease_fields[] = {
	EVENT("sentMs", NUMBER, lease.sent_ms),
	EVENT("why", TEXT, lease.why, .sparse = true),
	EVENT("longestMs", NUMBER, lease.longest_ms, .sparse = true),
};

static const struct field gate_fields[] = {
	EVENT("launchId", TEXT, gate.launch_id, .sparse = true),
	EVENT("transition", TEXT, gate.transition, .sparse = true),
	EVENT("ended", BOOL, gate.ended, .sparse = true),
	EVENT("report", RECORD, gate.report, .record = &gate_report_whole_table),
};

static const struct field gate_keys_fields[] = {
	EVENT("transition", TEXT, gate_keys.transition, .sparse = true),
	EVENT("state", WORD, gate_keys.state, .words = transition_state_words),
	EVENT("toggleUnixMs", KNOWN, gate_keys.toggle_unix_ms, .sparse = true),
	EVENT("stage", SMALL, gate_keys.shown.stage, .unknown = -1),
	EVENT("subtasks", SMALL, gate_keys.shown.subtasks, .unknown = -1),
	EVENT("behind", SMALL, gate_keys.shown.behind, .unknown = -1),
	EVENT("gauges", SMALL, gate_keys.shown.gauges, .unknown = -1),
	EVENT("gaugesOver", SMALL, gate_keys.shown.gauges_over, .unknown = -1),
};

static const struct field signs_fields[] = {
	EVENT("launch", NUMBER, signs.launch),
	EVENT("verdict", WORD, signs.signs.verdict, .words = signs_words),
	EVENT("failed", BOOL, signs.signs.failed, .sparse = true),
	EVENT("newestId", KNOWN, signs.signs.newest_id, .sparse = true),
	EVENT("text", CHARS, signs.signs.text, .sparse = true),
};

static const struct record tables[EVENT_COUNT] = {
	[EVENT_HELLO] = RECORD(struct event, hello_fields),
	[EVENT_OBSERVED] = RECORD(struct event, observed_fields),
	[EVENT_JOURNAL_WRITTEN] = RECORD(struct event, journal_event_fields),
	[EVENT_JOURNAL_FAILED] = RECORD(struct event, journal_event_fields),
	[EVENT_JOURNAL_SEEN] = RECORD(struct event, journal_event_fields),
	[EVENT_STARTED] = RECORD(struct event, process_fields),
	[EVENT_LAUNCH_FAILED] = RECORD(struct event, process_fields),
	[EVENT_REFUSED] = RECORD(struct event, refused_fields),
	[EVENT_EXITED] = RECORD(struct event, process_fields),
	[EVENT_VIEW] = RECORD(struct event, view_fields),
	[EVENT_OPERATION] = RECORD(struct event, operation_fields),
	[EVENT_DISPOSED] = RECORD(struct event, disposed_fields),
	[EVENT_INSPECTED] = RECORD(struct event, inspected_fields),
	[EVENT_CONTROL] = RECORD(struct event, control_fields),
	[EVENT_STOPPING] = RECORD(struct event, stopping_fields),
	[EVENT_CANDIDATE] = RECORD(struct event, candidate_fields),
	[EVENT_CHECKPOINT] = RECORD(struct event, checkpoint_fields),
	[EVENT_RESCALED] = RECORD(struct event, rescaled_fields),
	[EVENT_LEASE] = RECORD(struct event, lease_fields),
	[EVENT_GATE] = RECORD(struct event, gate_fields),
	[EVENT_GATE_KEYS] = RECORD(struct event, gate_keys_fields),
	[EVENT_SIGNS] = RECORD(struct event, signs_fields),
	[EVENT_TICK] = {.size_bytes = sizeof(struct event)},
};

/* Facts of thousands of snapshots are not rendered just to be dropped: see TRACE_STEP_BYTES. */
static bool too_large(const struct event *event)
{
	const struct facts *facts = event->type == EVENT_OBSERVED  ? event->observed.facts
				    : event->type == EVENT_REFUSED ? event->refused.facts
								   : NULL;

	return facts && facts->candidate_count > TRACE_CANDIDATES;
}

struct json *life_trace_event(const struct event *event)
{
	struct json *to = json_object();

	json_add_str(to, "type", event_type_name(event->type));
	if (too_large(event))
		json_add_bool(to, "omitted", true);
	else
		record_write(&tables[event->type], event, NULL, to);
	return to;
}

int life_trace_event_read(const struct json *from, struct event *ret_event, struct err *err)
{
	const char *name;

	memset(ret_event, 0, sizeof(*ret_event));
	if (json_need_str(from, "type", &name, err) < 0)
		return -1;
	for (int type = 0; type < EVENT_COUNT; type++) {
		if (strcmp(event_type_name((enum event_type)type), name) != 0)
			continue;
		record_init(&tables[type], ret_event);
		ret_event->type = (enum event_type)type;
		return record_read(&tables[type], from, ret_event, err);
	}
	return err_set(err, ERR_FORMAT, 0, "'type': unknown event \"%s\"", name);
}

void life_trace_event_release(struct event *event)
{
	enum event_type type = event->type;

	if (type == EVENT_OBSERVED)
		life_trace_facts_release(event->observed.facts, event->observed.decision);
	if (type == EVENT_REFUSED)
		life_trace_facts_release(event->refused.facts, event->refused.decision);
	record_release(&tables[type], event);
}
