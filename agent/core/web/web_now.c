#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "core/web/web_internal.h"

static void begin_row(const struct web *page, const char *name)
{
	buf_addf(page->out, "<div><dt>%s</dt><dd>", name);
}

static void end_row(const struct web *page)
{
	buf_addstr(page->out, "</dd></div>\n");
}

/* "12 of 12" with a bar; nothing without a total. */
static void part_row(const struct web *page, const char *name, int64_t part, int64_t total)
{
	begin_row(page, name);
	buf_addf(page->out, "%" PRId64 " of %" PRId64, part, total);
	if (total > 0)
		buf_addf(page->out,
			 "<meter min=\"0\" max=\"%" PRId64 "\" value=\"%" PRId64
			 "\" aria-label=\"%s\">"
			 "</meter>",
			 total, part, name);
	end_row(page);
}

static void add_job(const struct web *page)
{
	const struct json *job = json_get(page->status, "job");
	const struct json *tasks = json_get(page->status, "tasks");
	const struct json *slots = json_get(page->status, "slots");
	const char *state = json_str(job, "state");
	int64_t managers = json_i64_or(page->status, "taskManagers", -1);
	int64_t total = json_i64_or(slots, "total", 0);

	if (state) {
		begin_row(page, "Flink reports");
		web_text(page, state);
		if (json_i64_or(job, "restarts", 0) > 0)
			buf_addf(page->out, ", %" PRId64 " restarts",
				 json_i64_or(job, "restarts", 0));
		end_row(page);
	}
	if (json_kind(tasks) == JSON_OBJECT)
		part_row(page, "Tasks running", json_i64_or(tasks, "running", 0),
			 json_i64_or(tasks, "total", 0));
	if (json_kind(slots) == JSON_OBJECT)
		part_row(page, "Slots used", total - json_i64_or(slots, "free", 0), total);
	if (managers >= 0) {
		begin_row(page, "TaskManagers");
		buf_addf(page->out, "%" PRId64, managers);
		end_row(page);
	}
}

static void now_launch(const struct web *page)
{
	const struct json *launch = json_get(page->status, "launch");
	const struct json *restore = json_get(launch, "restorePoint");

	if (json_kind(launch) != JSON_OBJECT)
		return;
	begin_row(page, "Launch");
	buf_addf(page->out, "%" PRId64 ", ", json_i64_or(launch, "number", 0));
	web_since(page, json_i64_or(launch, "startedUnixMs", 0));
	end_row(page);
	begin_row(page, "Started from");
	if (json_kind(restore) == JSON_OBJECT) {
		web_text(page, json_str(restore, "kind"));
		if (json_i64_or(restore, "checkpointId", 0) > 0)
			buf_addf(page->out, " %" PRId64, json_i64_or(restore, "checkpointId", 0));
	} else {
		buf_addstr(page->out, "nothing (empty)");
	}
	buf_addstr(page->out, json_bool_or(launch, "proven", false) ? ", proven"
			      : json_bool_or(launch, "restoreVerified", false)
				      ? ", verified"
				      : ", not verified yet");
	end_row(page);
}

static int64_t size_of(const struct web *page, const char *path)
{
	const struct json *each;

	json_each (each, json_get(page->status, "snapshots")) {
		const char *other = json_str(each, "path");

		if (path && other && !strcmp(path, other))
			return json_i64_or(each, "sizeBytes", -1);
	}
	return -1;
}

static void now_snapshot(const struct web *page, const char *name, const char *member,
			 const char *id)
{
	const struct json *snapshot = json_get(page->status, member);
	int64_t size_bytes = size_of(page, json_str(snapshot, "path"));

	if (json_kind(snapshot) != JSON_OBJECT)
		return;
	begin_row(page, name);
	if (json_i64_or(snapshot, id, 0) > 0)
		buf_addf(page->out, "%" PRId64 ", ", json_i64_or(snapshot, id, 0));
	web_since(page, json_i64_or(snapshot, "completedUnixMs", 0));
	if (size_bytes >= 0) {
		buf_addstr(page->out, ", ");
		web_size(page, size_bytes);
	}
	end_row(page);
}

static void add_operation(const struct web *page)
{
	const struct json *operation = json_get(page->status, "operation");
	const struct json *last = json_get(page->status, "lastOperation");
	int64_t next_ms = json_i64_or(page->status, "nextSavepointInMs", -1);

	if (json_kind(operation) == JSON_OBJECT) {
		begin_row(page, "In progress");
		web_text(page, json_str(operation, "kind"));
		buf_addstr(page->out, " (");
		web_text(page, json_str(operation, "reason"));
		buf_addstr(page->out, "), ");
		web_since(page, json_i64_or(operation, "startedUnixMs", 0));
		end_row(page);
	}
	if (json_kind(last) == JSON_OBJECT) {
		bool ok = json_bool_or(last, "ok", false);

		begin_row(page, "Last operation");
		web_text(page, json_str(last, "kind"));
		buf_addstr(page->out, ok ? " done, " : " <b class=\"failed\">failed</b>, ");
		web_since(page, json_i64_or(last, "endedUnixMs", 0));
		if (json_str(last, "error")) {
			buf_addstr(page->out, ": ");
			web_text(page, json_str(last, "error"));
		}
		end_row(page);
	}
	if (next_ms >= 0) {
		begin_row(page, "Next savepoint");
		buf_addstr(page->out, "in ");
		web_duration(page, next_ms);
		end_row(page);
	}
}

static void add_attempts(const struct web *page)
{
	const struct json *attempts = json_get(page->status, "attempts");

	if (json_kind(attempts) != JSON_OBJECT)
		return;
	begin_row(page, "Failed attempts");
	buf_addf(page->out, "%" PRId64 " of %" PRId64 " in ", json_i64_or(attempts, "failed", 0),
		 json_i64_or(attempts, "max", 0));
	web_duration(page, json_i64_or(attempts, "windowMs", 0));
	end_row(page);
}

static void show_checkpoints(const struct web *page)
{
	const struct json *checkpoints = json_get(page->status, "checkpoints");

	if (json_kind(checkpoints) != JSON_OBJECT)
		return;
	begin_row(page, "Checkpoints");
	buf_addf(page->out, "%" PRId64 " completed, %" PRId64 " failed",
		 json_i64_or(checkpoints, "completed", 0), json_i64_or(checkpoints, "failed", 0));
	if (json_i64_or(checkpoints, "intervalMs", 0) > 0) {
		buf_addstr(page->out, ", every ");
		web_duration(page, json_i64_or(checkpoints, "intervalMs", 0));
	}
	if (json_str(checkpoints, "failure")) {
		buf_addstr(page->out, "; ");
		web_text(page, json_str(checkpoints, "failure"));
	}
	end_row(page);
}

/* What a launch has given up, until that is settled. */
static void show_loss(const struct web *page)
{
	const struct json *loss = json_get(page->status, "stateLoss");

	if (json_kind(loss) != JSON_OBJECT)
		return;
	begin_row(page, "State lost");
	buf_addstr(page->out, "<b class=\"failed\">");
	web_duration(page, json_i64_or(loss, "totalMs", 0));
	buf_addstr(page->out, "</b> of ");
	web_text(page, json_str(json_get(loss, "lost"), "path"));
	buf_addstr(page->out, ", ");
	web_since(page, json_i64_or(loss, "unixMs", 0));
	if (json_str(loss, "reason")) {
		buf_addstr(page->out, ": ");
		web_text(page, json_str(loss, "reason"));
	}
	end_row(page);
}

static void add_handover(const struct web *page)
{
	const struct json *handover = json_get(page->status, "handover");
	const char *role = json_str(page->status, "role"), *state = json_str(handover, "state");
	const char *to = json_str(json_get(handover, "to"), "pod");
	const char *owner = json_str(json_get(page->status, "owner"), "pod");

	if (!role)
		return;
	begin_row(page, "Role of this Pod");
	web_text(page, role);
	if (owner && strcmp(role, "owner") != 0) {
		buf_addstr(page->out, "; the owner is ");
		web_text(page, owner);
	}
	end_row(page);
	if (!state || !strcmp(state, "none"))
		return;
	begin_row(page, "Hand-over");
	web_text(page, state);
	if (to) {
		buf_addstr(page->out, " to ");
		web_text(page, to);
	}
	buf_addstr(page->out, ", ");
	web_since(page, json_i64_or(handover, "stateUnixMs", 0));
	if (json_str(handover, "why")) {
		buf_addstr(page->out, ": ");
		web_text(page, json_str(handover, "why"));
	}
	end_row(page);
}

static void time_row(const struct web *page, const char *name, const struct json *transition,
		     const char *member)
{
	char text[CLOCK_TEXT_BYTES];
	int64_t unix_ms = json_i64_or(transition, member, 0);

	if (unix_ms <= 0)
		return;
	begin_row(page, name);
	web_text(page, clock_rfc3339(unix_ms, text));
	end_row(page);
}

/* Both versions run for a while: how far each of them is, and what their gates have counted. */
static void add_transition(const struct web *page)
{
	const struct json *transition = json_get(json_get(page->status, "handover"), "transition");
	int64_t above = json_i64_or(transition, "above", 0);
	int64_t below = json_i64_or(transition, "below", 0);
	int64_t withheld = json_i64_or(transition, "withheld", 0);

	if (json_kind(transition) != JSON_OBJECT)
		return;
	begin_row(page, "Transition");
	web_text(page, json_str(transition, "state"));
	if (json_str(transition, "waitsFor")) {
		buf_addstr(page->out, ", waits for: ");
		web_text(page, json_str(transition, "waitsFor"));
	}
	end_row(page);
	time_row(page, "Cut in event time", transition, "cutUnixMs");
	time_row(page, "Watermark here", transition, "watermarkUnixMs");
	time_row(page, "Of the next version", transition, "candidateWatermarkUnixMs");
	if (json_kind(json_get(transition, "behindMs")) == JSON_NUMBER) {
		begin_row(page, "Next version behind");
		buf_addf(page->out, "%" PRId64 " ms of event time",
			 json_i64_or(transition, "behindMs", 0));
		end_row(page);
	}
	if (above > 0 || below > 0 || withheld > 0) {
		begin_row(page, "Records");
		buf_addf(page->out,
			 "%" PRId64 " held back here; written twice: %s%" PRId64
			 " at or above the cut, %" PRId64 " below it",
			 withheld, json_bool_or(transition, "inexact", false) ? "at least " : "",
			 above, below);
		end_row(page);
	}
	if (json_str(transition, "replay")) {
		begin_row(page, "Starts again from");
		web_text(page, json_str(transition, "replay"));
		end_row(page);
	}
}

void web_now(const struct web *page)
{
	buf_addstr(
		page->out,
		"<section id=\"now\" aria-labelledby=\"now-h\"><h2 id=\"now-h\">State</h2>\n<dl>");
	add_job(page);
	now_launch(page);
	now_snapshot(page, "Checkpoint", "lastCheckpoint", "id");
	now_snapshot(page, "Savepoint", "lastSavepoint", "checkpointId");
	show_checkpoints(page);
	show_loss(page);
	add_operation(page);
	add_attempts(page);
	add_handover(page);
	add_transition(page);
	buf_addstr(page->out, "</dl></section>\n");
}
