#include "cmd/status_text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "cmd/age.h"
#include "cmd/rows.h"
#include "cmd/wrap.h"

#define TRANSITIONS      3
#define TRANSITIONS_WIDE 20
#define LINE_COLUMNS     120 /* of a transition, where there is no width */

enum term_colour status_colour(const struct status_view *view)
{
	if (status_view_is(view, "Running"))
		return view->ready ? TERM_GREEN : TERM_YELLOW;
	if (status_view_is(view, "Holding") || status_view_is(view, "Failed"))
		return TERM_RED;
	if (status_view_is(view, "Finished") || status_view_is(view, "Standby") ||
	    status_view_is(view, "Prepared") || status_view_is(view, "Shadow"))
		return TERM_GREEN;
	return status_view_parked(view) ? TERM_CYAN : TERM_YELLOW;
}

static void add_last_launch(struct rows *rows, const struct status_view *view)
{
	if (!view->launch_number)
		return;
	rows_begin(rows, "launch");
	rows_add(rows, "%" PRId64 ", job id %s", view->launch_number, view->job_id);
	rows_add_ago(rows, ", started ", view->started_unix_ms);
	rows_add(rows, "%s%s", *view->job_state ? ", Flink reports " : "", view->job_state);
	if (view->tasks_total)
		rows_add(rows, ", %" PRId64 " of %" PRId64 " tasks running", view->tasks_running,
			 view->tasks_total);
	if (*view->flink_version)
		rows_add(rows, ", Flink %s", view->flink_version);
	rows_begin(rows, "started from");
	if (*view->restore_path) {
		rows_add(rows, "%s %s", *view->restore_kind ? view->restore_kind : "snapshot",
			 view->restore_path);
		if (view->restore_checkpoint_id > 0)
			rows_add(rows, " (checkpoint id %" PRId64 ")", view->restore_checkpoint_id);
		rows_add_ago(rows, ", complete ", view->restore_unix_ms);
	} else {
		rows_add(rows, "nothing (empty)");
	}
	rows_add(rows, ", %s",
		 view->proven     ? "verified and proven"
		 : view->verified ? "verified"
				  : "not verified yet");
}

static void add_checkpoints(struct rows *rows, const struct status_view *view)
{
	char time[CLOCK_TEXT_BYTES];

	if (view->checkpoints_completed < 0)
		return;
	rows_begin(rows, "checkpoints");
	if (view->checkpoint_interval_ms)
		rows_add(rows, "every %s, ", clock_human(view->checkpoint_interval_ms, time));
	rows_add(rows, "%" PRId64 " completed and %" PRId64 " failed since the launch",
		 view->checkpoints_completed, view->checkpoints_failed);
	if (view->checkpoint_duration_ms)
		rows_add(rows, ", the newest took %s",
			 clock_human(view->checkpoint_duration_ms, time));
	if (view->checkpoint_failures)
		rows_add(rows, ", the last %" PRId64 " failed", view->checkpoint_failures);
}

static void add_state(struct rows *rows, const struct status_view *view)
{
	if (view->checkpoint_id > 0) {
		rows_begin(rows, "checkpoint");
		rows_add(rows, "%" PRId64, view->checkpoint_id);
		rows_add_ago(rows, ", ", view->checkpoint_unix_ms);
		rows_add(rows, "%s%s", *view->checkpoint_path ? ", " : "", view->checkpoint_path);
	}
	add_checkpoints(rows, view);
	if (*view->savepoint_path) {
		rows_begin(rows, "savepoint");
		rows_add(rows, "%s (%s%s%s)", view->savepoint_path, view->savepoint_origin,
			 *view->savepoint_format ? ", " : "", view->savepoint_format);
		rows_add_ago(rows, ", ", view->savepoint_unix_ms);
	}
}

static void add_loss(struct rows *rows, const struct status_view *view)
{
	char time[CLOCK_TEXT_BYTES];

	if (!*view->lost_path)
		return;
	rows_begin(rows, "state lost");
	rows_add(rows, "%s, up to %s", clock_human(view->lost_ms, time), view->lost_path);
	rows_add_ago(rows, ", ", view->lost_unix_ms);
	rows_add(rows, "%s%s; `drey acknowledge`", *view->lost_reason ? ": " : "",
		 view->lost_reason);
}

/* "savepoint waits: an operation is in flight; not all tasks run". */
static void add_waits(struct rows *rows, const struct status_view *view)
{
	const struct json *wait, *clause;

	json_each (wait, view->waits) {
		const char *between = " waits: ";

		rows_begin(rows, "not begun");
		rows_add(rows, "%s", json_str(wait, "what") ? json_str(wait, "what") : "?");
		json_each (clause, json_get(wait, "for")) {
			rows_add(rows, "%s%s", between,
				 json_text(clause) ? json_text(clause) : "?");
			between = "; ";
		}
	}
}

static void add_operations(struct rows *rows, const struct status_view *view)
{
	if (*view->operation_kind) {
		rows_begin(rows, "in progress");
		rows_add(rows, "%s (%s%s%s)", view->operation_kind, view->operation_reason,
			 *view->operation_format ? ", " : "", view->operation_format);
		rows_add_ago(rows, ", started ", view->operation_started_unix_ms);
	}
	if (*view->last_kind) {
		rows_begin(rows, "last operation");
		rows_add(rows, "%s (%s) %s", view->last_kind, view->last_reason,
			 view->last_ok ? "done" : "failed");
		rows_add_ago(rows, " ", view->last_ended_unix_ms);
		rows_add(rows, "%s%s", *view->last_operation_error ? ": " : "",
			 view->last_operation_error);
	}
}

/* "StatefulSet a and 3 more". */
static void add_scaled(struct rows *rows, const struct status_view *view)
{
	rows_add(rows, "%s %s", view->scale_kind, view->scale_name);
	if (view->scale_objects > 1)
		rows_add(rows, " and %" PRId64 " more", view->scale_objects - 1);
}

/* TaskManagers that are there, as usual, are nothing to speak of. */
static void add_scale(struct rows *rows, const struct status_view *view)
{
	const char *is = view->scale_objects > 1 ? "are" : "is";

	if (view->scale_objects) {
		rows_begin(rows, "scale");
		if (*view->scale_error)
			rows_add(rows, "cannot scale ");
		add_scaled(rows, view);
		if (*view->scale_error)
			rows_add(rows, ": %s", view->scale_error);
		else if (view->scale_contested)
			rows_add(rows, " %s left to others, who scale up again and again", is);
		else
			rows_add(rows, " %s at 0; %" PRId64 " will be back before the next launch",
				 is, view->scale_back);
	}
	if (*view->spare) {
		rows_begin(rows, "spare");
		rows_add(rows, "%s%s%s", view->spare, *view->spare_reason ? ": " : "",
			 view->spare_reason);
	}
}

/* An ordinary owner without a hand-over has nothing to say. */
static void add_handover(struct rows *rows, const struct status_view *view)
{
	if (status_view_stands(view)) {
		rows_begin(rows, "role");
		rows_add(rows, "%s%s%s", view->role, *view->owner_pod ? ", the owner is " : "",
			 view->owner_pod);
	}
	if (*view->handover_state && strcmp(view->handover_state, "none") != 0) {
		rows_begin(rows, "hand-over");
		rows_add(rows, "%s", view->handover_state);
		rows_add_ago(rows, " ", view->handover_unix_ms);
		rows_add(rows, "%s%s%s%s", *view->handover_to ? ", to " : "", view->handover_to,
			 *view->handover_why ? ": " : "", view->handover_why);
	}
	if (*view->returned) {
		rows_begin(rows, "returned");
		rows_add_ago(rows, "", view->returned_unix_ms);
		rows_add(rows, "%s%s; see `drey explain HandoverReturned`",
			 view->returned_unix_ms ? ": " : "", view->returned);
	}
}

static void add_faults(struct rows *rows, const struct status_view *view)
{
	if (view->failures > 0) {
		rows_begin(rows, "attempts");
		rows_add(rows, "%" PRId64 " of %" PRId64 " failed", view->failures,
			 view->max_failures);
	}
	if (view->journal_broken) {
		rows_begin(rows, "journal");
		rows_add(rows, "cannot be written%s%s", *view->journal_error ? ": " : "",
			 view->journal_error);
	}
	if (*view->last_error) {
		rows_begin(rows, "last error");
		rows_add_ago(rows, "", view->last_error_unix_ms);
		if (view->last_error_launch)
			rows_add(rows, ", launch %" PRId64, view->last_error_launch);
		rows_add(rows, "%s%s", view->last_error_unix_ms ? ": " : "", view->last_error);
	}
}

/* What the running job has said of its settings (core/effective.h). */
static void add_settings(struct rows *rows, const struct json *settings)
{
	static const struct {
		const char *member, *name;
	} words[] = {{"retention", "retention"},
		     {"storage", "checkpoint storage"},
		     {"backend", "state backend"},
		     {"claimMode", "claim mode"},
		     {"restarts", "restarts of tasks"}};
	const char *separator = "";

	if (!settings)
		return;
	rows_begin(rows, "settings");
	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		const char *word = json_str(settings, words[i].member);

		if (word)
			rows_add(rows, "%s%s %s", separator, words[i].name, word);
		separator = word ? ", " : separator;
	}
	rows_add(rows, "%s%s%s",
		 json_bool_or(settings, "checkpointingOff", false) ? ", no checkpoints" : "",
		 json_bool_or(settings, "changelog", false) ? ", changelog" : "",
		 json_bool_or(settings, "unaligned", false) ? ", unaligned checkpoints" : "");
}

/* Only with -o wide. */
static void add_more(struct rows *rows, const struct status_view *view)
{
	const struct json *each;

	if (*view->generation) {
		rows_begin(rows, "generation");
		rows_add(rows, "%s", view->generation);
	}
	add_settings(rows, view->settings);
	if (view->task_managers >= 0) {
		rows_begin(rows, "slots");
		rows_add(rows,
			 "%" PRId64 " of %" PRId64 " free, %" PRId64 " TaskManagers registered",
			 view->slots_free, view->slots_total, view->task_managers);
	}
	json_each (each, view->conditions) {
		const char *reason = json_str(each, "reason"), *message = json_str(each, "message");

		rows_begin(rows, "condition");
		rows_add(rows, "%s %s, %s%s%s", json_str(each, "type"), json_str(each, "status"),
			 reason ? reason : "", message && *message ? ": " : "",
			 message ? message : "");
	}
}

/* The newest ones, in the order in which they came; each on one line unless all is asked for. */
static void add_transitions(struct rows *rows, const struct status_view *view, bool wide)
{
	size_t count = json_len(view->transitions);
	size_t most = wide ? TRANSITIONS_WIDE : TRANSITIONS;

	for (size_t i = count > most ? count - most : 0; i < count; i++) {
		const struct json *each = json_at(view->transitions, i);
		const char *text = json_str(each, "text");
		char when[AGE_TEXT_BYTES];

		age_when(json_i64_or(each, "unixMs", 0), rows->now_unix_ms, when);
		rows_begin(rows, i + most == count || !i ? "transitions" : "");
		rows_add(rows, "%s  %s", when, text ? text : "");
		if (!wide)
			rows_cut(rows, rows->term->width ? 0 : LINE_COLUMNS);
	}
}

static void add_head(const struct status_view *view, const struct status_layout *layout,
		     struct shown *to)
{
	enum term_colour colour = status_colour(view);
	cleanup_shown struct shown name = {0}, phase = {0};
	cleanup_buf struct buf rest = BUF_INIT;
	char when[AGE_TEXT_BYTES], age[AGE_TEXT_BYTES];

	shown_addf(&name, "%s: ", view->application);
	shown_addf(&phase, "%s", view->phase);
	shown_addf(to, "%s", shown_str(&name));
	shown_begin(to, &layout->term, colour);
	shown_addf(to, "%s", shown_str(&phase));
	shown_end(to, &layout->term, colour);
	if (view->phase_unix_ms)
		buf_addf(&rest, " since %s (%s)",
			 age_when(view->phase_unix_ms, layout->now_unix_ms, when),
			 age_text(view->phase_unix_ms, layout->now_unix_ms, age));
	/* the reason is about that, and is often much younger than the phase */
	if (view->phase_unix_ms && !strcmp(view->phase, "Running") && !view->ready &&
	    view->ready_unix_ms > view->phase_unix_ms)
		buf_addf(&rest, ", not ready since %s (%s)",
			 age_when(view->ready_unix_ms, layout->now_unix_ms, when),
			 age_text(view->ready_unix_ms, layout->now_unix_ms, age));
	if (*view->reason)
		buf_addf(&rest, ": %s", view->reason);
	wrap_add(buf_str(&rest), shown_columns(&name) + shown_columns(&phase), 4,
		 (size_t)layout->term.width, to);
	shown_addf(to, "\n");
}

void status_text(const struct status_view *view, const struct status_layout *layout,
		 struct shown *ret_text)
{
	struct rows rows = {
		.term = &layout->term, .now_unix_ms = layout->now_unix_ms, .to = ret_text};

	add_head(view, layout, ret_text);
	if (*view->cause) {
		rows_begin(&rows, "see");
		rows_add(&rows, "%s explain %s", layout->program ? layout->program : "drey",
			 view->cause);
	}
	if (!status_view_stands(view)) {
		rows_begin(&rows, "desired");
		rows_add(&rows, "%s%s", view->desired_state,
			 view->do_not_restart ? ", do-not-restart is on" : "");
	}
	add_handover(&rows, view);
	add_last_launch(&rows, view);
	add_state(&rows, view);
	add_loss(&rows, view);
	add_operations(&rows, view);
	add_waits(&rows, view);
	add_scale(&rows, view);
	add_faults(&rows, view);
	if (layout->wide)
		add_more(&rows, view);
	add_transitions(&rows, view, layout->wide);
	rows_end(&rows);
}
