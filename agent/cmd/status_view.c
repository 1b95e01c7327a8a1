#include "cmd/status_view.h"

#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "cmd/cli.h"
#include "core/report/transitions.h"

static const char *text(const struct json *obj, const char *key)
{
	const char *value = json_str(obj, key);

	return value ? value : "";
}

static void read_launch(const struct json *launch, struct status_view *view)
{
	const struct json *restore = json_get(launch, "restorePoint");

	view->launch_number = json_i64_or(launch, "number", 0);
	view->job_id = text(launch, "jobId");
	view->generation = text(launch, "generation");
	view->flink_version = text(launch, "flinkVersion");
	view->started_unix_ms = json_i64_or(launch, "startedUnixMs", 0);
	view->verified = json_bool_or(launch, "restoreVerified", false);
	view->proven = json_bool_or(launch, "proven", false);
	view->settings = json_get(launch, "effective");
	if (!json_bool_or(view->settings, "known", false))
		view->settings = NULL;
	view->restore_path = text(restore, "path");
	view->restore_kind = text(restore, "kind");
	view->restore_checkpoint_id = json_i64_or(restore, "checkpointId", 0);
	view->restore_unix_ms = json_i64_or(restore, "completedUnixMs", 0);
}

static void read_handover(const struct json *doc, struct status_view *view)
{
	const struct json *handover = json_get(doc, "handover");

	view->role = text(doc, "role");
	view->owner_pod = text(json_get(doc, "owner"), "pod");
	view->handover_state = text(handover, "state");
	view->handover_to = text(json_get(handover, "to"), "pod");
	view->handover_why = text(handover, "why");
	view->handover_unix_ms = json_i64_or(handover, "stateUnixMs", 0);
	view->returned = text(handover, "returned");
	view->returned_unix_ms = json_i64_or(handover, "returnedUnixMs", 0);
}

/* An older drey, or a journal that is read without a drey, has no such condition. */
static void read_ready(const struct json *doc, struct status_view *view)
{
	const struct json *each;

	view->ready = true;
	json_each (each, json_get(doc, "conditions"))
		if (!strcmp(text(each, "type"), "Ready")) {
			view->ready = !strcmp(text(each, "status"), "True");
			(void)clock_parse_rfc3339(text(each, "lastTransitionTime"),
						  &view->ready_unix_ms, NULL);
		}
}

/* The worst first. */
enum scale_rank {
	SCALE_FINE,
	SCALE_AT_0,
	SCALE_CONTESTED,
	SCALE_CANNOT,
};

static enum scale_rank scale_rank(const struct json *object)
{
	if (*text(object, "error"))
		return SCALE_CANNOT;
	if (json_bool_or(object, "contested", false))
		return SCALE_CONTESTED;
	return json_i64_or(object, "replicas", -1) == 0 && json_i64_or(object, "recorded", 0) > 0
		       ? SCALE_AT_0
		       : SCALE_FINE;
}

/* A document may say anything: as many as a number holds. */
static int64_t add_recorded(int64_t sum, const struct json *object)
{
	int64_t recorded = json_i64_or(object, "recorded", 0);

	return recorded > INT64_MAX - sum ? INT64_MAX : sum + recorded;
}

static void read_loss(const struct json *loss, struct status_view *view)
{
	view->lost_path = text(json_get(loss, "lost"), "path");
	view->lost_reason = text(loss, "reason");
	view->lost_ms = json_i64_or(loss, "totalMs", 0);
	view->lost_launch = json_i64_or(loss, "launch", 0);
	view->lost_unix_ms = json_i64_or(loss, "unixMs", 0);
}

static void read_scale(const struct json *doc, struct status_view *view)
{
	const struct json *object, *list = json_get(doc, "scale");
	enum scale_rank worst = SCALE_FINE;

	view->scale_kind = view->scale_name = view->scale_error = "";
	json_each (object, list) {
		enum scale_rank rank = scale_rank(object);

		if (rank > worst) {
			worst = rank;
			view->scale_kind = text(object, "kind");
			view->scale_name = text(object, "name");
			view->scale_error = text(object, "error");
			view->scale_contested = rank == SCALE_CONTESTED;
			view->scale_objects = view->scale_back = 0;
		}
		if (rank == worst && rank != SCALE_FINE) {
			view->scale_objects++;
			if (rank == SCALE_AT_0)
				view->scale_back = add_recorded(view->scale_back, object);
		}
	}
}

void status_view_read(const struct json *doc, struct status_view *ret_view)
{
	const struct json *desired = json_get(doc, "desired");
	const struct json *savepoint = json_get(doc, "lastSavepoint");
	const struct json *operation = json_get(doc, "operation");
	const struct json *last = json_get(doc, "lastOperation");
	const struct json *checkpoint = json_get(doc, "lastCheckpoint");
	const struct json *checkpoints = json_get(doc, "checkpoints");
	const struct json *attempts = json_get(doc, "attempts");
	struct status_view view = {
		.application = text(doc, "application"),
		.phase = text(doc, "phase"),
		.cause = text(doc, "cause"),
		.reason = text(doc, "reason"),
		.last_error = text(doc, "lastError"),
		.desired_state = text(desired, "state"),
		.do_not_restart = json_bool_or(desired, "doNotRestart", false),
		.savepoint_path = text(savepoint, "path"),
		.savepoint_origin = text(savepoint, "origin"),
		.savepoint_format = text(savepoint, "format"),
		.savepoint_unix_ms = json_i64_or(savepoint, "completedUnixMs", 0),
		.waits = json_get(doc, "waits"),
		.operation_kind = text(operation, "kind"),
		.operation_reason = text(operation, "reason"),
		.operation_format = text(operation, "format"),
		.operation_started_unix_ms = json_i64_or(operation, "startedUnixMs", 0),
		.last_kind = text(last, "kind"),
		.last_reason = text(last, "reason"),
		.last_nonce = text(last, "nonce"),
		.last_ok = json_bool_or(last, "ok", false),
		.last_location = text(last, "location"),
		.last_operation_error = text(last, "error"),
		.last_ended_unix_ms = json_i64_or(last, "endedUnixMs", 0),
		.job_state = text(json_get(doc, "job"), "state"),
		.tasks_running = json_i64_or(json_get(doc, "tasks"), "running", 0),
		.tasks_total = json_i64_or(json_get(doc, "tasks"), "total", 0),
		.last_error_unix_ms = json_i64_or(doc, "lastErrorUnixMs", 0),
		.last_error_launch = json_i64_or(doc, "lastErrorLaunch", 0),
		.checkpoint_path = text(checkpoint, "path"),
		.checkpoint_id = json_i64_or(checkpoint, "id", 0),
		.checkpoint_unix_ms = json_i64_or(checkpoint, "completedUnixMs", 0),
		.checkpoints_completed = json_i64_or(checkpoints, "completed", -1),
		.checkpoints_failed = json_i64_or(checkpoints, "failed", 0),
		.checkpoint_failures = json_i64_or(checkpoints, "failures", 0),
		.checkpoint_interval_ms = json_i64_or(checkpoints, "intervalMs", 0),
		.checkpoint_duration_ms = json_i64_or(checkpoints, "durationMs", 0),
		.spare = text(json_get(doc, "spare"), "state"),
		.spare_reason = text(json_get(doc, "spare"), "reason"),
		.failures = json_i64_or(attempts, "failed", 0),
		.max_failures = json_i64_or(attempts, "max", 0),
		.journal_broken = json_bool_or(json_get(doc, "journal"), "broken", false),
		.journal_error = text(json_get(doc, "journal"), "error"),
		.task_managers = json_i64_or(doc, "taskManagers", -1),
		.slots_free = json_i64_or(json_get(doc, "slots"), "free", 0),
		.slots_total = json_i64_or(json_get(doc, "slots"), "total", 0),
		.conditions = json_get(doc, "conditions"),
		.transitions = json_get(doc, "transitions"),
	};

	read_ready(doc, &view);
	read_launch(json_get(doc, "launch"), &view);
	read_handover(doc, &view);
	read_scale(doc, &view);
	read_loss(json_get(doc, "stateLoss"), &view);
	view.phase_unix_ms = transitions_since(view.transitions, view.phase);
	*ret_view = view;
}

void status_view_savepoint(const struct json *doc, const char *nonce,
			   struct status_savepoint *ret_answer)
{
	const struct json *last = json_get(doc, "lastOperation"), *element;

	*ret_answer = (struct status_savepoint){.location = "", .error = ""};
	json_each (element, json_get(doc, "savepointRequests"))
		if (!strcmp(text(element, "nonce"), nonce)) {
			ret_answer->ok = !strcmp(text(element, "state"), "done");
			ret_answer->ended =
				ret_answer->ok || !strcmp(text(element, "state"), "failed");
			ret_answer->location = text(element, "location");
			ret_answer->error = text(element, "error");
			return;
		}
	/* an older agent, which reports only one request */
	if (strcmp(text(last, "nonce"), nonce) != 0)
		return;
	ret_answer->ended = true;
	ret_answer->ok = json_bool_or(last, "ok", false);
	ret_answer->location = text(last, "location");
	ret_answer->error = text(last, "error");
}

void status_view_checkpoint(const struct json *doc, const char *nonce,
			    struct status_checkpoint *ret_answer)
{
	const struct json *element;

	*ret_answer = (struct status_checkpoint){.location = "", .error = ""};
	json_each (element, json_get(doc, "checkpointRequests")) {
		if (strcmp(text(element, "nonce"), nonce) != 0)
			continue;
		ret_answer->ok = !strcmp(text(element, "state"), "done");
		ret_answer->ended = ret_answer->ok || !strcmp(text(element, "state"), "failed");
		ret_answer->checkpoint_id = json_i64_or(element, "checkpointId", 0);
		ret_answer->location = text(element, "location");
		ret_answer->error = text(element, "error");
	}
}

void status_view_rescale(const struct json *doc, struct status_rescale *ret_rescale)
{
	const struct json *wanted = json_get(doc, "parallelism"), *last = json_get(wanted, "last");

	*ret_rescale =
		(struct status_rescale){.waiting = text(wanted, "waitingNonce"),
					.state = text(wanted, "state"),
					.missing = text(wanted, "missing"),
					.nonce = text(last, "nonce"),
					.error = text(last, "error"),
					.left_out = text(last, "leftOut"),
					.ok = json_bool_or(last, "ok", false),
					.slots_needed = json_i64_or(wanted, "slotsNeeded", 0),
					.slots_total = json_i64_or(wanted, "slotsTotal", 0),
					.task_managers = json_i64_or(wanted, "taskManagers", -1)};
}

/* Both members came with the same version. */
bool status_view_takes_application(const struct json *doc)
{
	return json_get(doc, "savepointRequests") != NULL;
}

bool status_view_is(const struct status_view *view, const char *phase)
{
	return strcmp(view->phase, phase) == 0;
}

bool status_view_stands(const struct status_view *view)
{
	return status_view_is(view, "Standby") || status_view_is(view, "Prepared") ||
	       status_view_is(view, "HandedOver") || status_view_is(view, "Shadow");
}

bool status_view_handed_over(const struct status_view *view)
{
	return status_view_stands(view) && *view->owner_pod && strcmp(view->role, "unknown") != 0;
}

bool status_view_parked(const struct status_view *view)
{
	return status_view_is(view, "Suspended") || status_view_is(view, "Cancelled") ||
	       status_view_is(view, "Finished") || status_view_is(view, "Failed");
}

int64_t status_view_changed(const struct status_view *view)
{
	size_t count = json_len(view->transitions);

	return count ? json_i64_or(json_at(view->transitions, count - 1), "unixMs", 0) : 0;
}

int status_view_exit(const struct status_view *view)
{
	if (status_view_is(view, "Running"))
		return view->ready ? CLI_OK : CLI_FAILED;
	if (status_view_parked(view))
		return CLI_PARKED;
	return status_view_is(view, "Holding") ? CLI_HELD : CLI_FAILED;
}
