/*
 * What drey asks of Flink or of storage: each kind is a row, and all go the same way. What an answer means to its kind is
 * in the file of that kind.
 */
#include "core/lifecycle/lifecycle_asks.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/lifecycle/lifecycle_effects.h"
#include "core/lifecycle/lifecycle_operation.h"
#include "core/lifecycle/lifecycle_operation_answer.h"
#include "core/lifecycle/lifecycle_rescale.h"
#include "core/lifecycle/lifecycle_retention.h"
#include "core/lifecycle/lifecycle_review.h"
#include "core/lifecycle/lifecycle_stall.h"
#include "core/lifecycle/lifecycle_stop_failed.h"
#include "core/lifecycle/lifecycle_take_checkpoint.h"

#define SLOW_MS     10000 /* after this the result is polled less often */
#define PATIENCE_MS 60000

/* ---- the kinds ---- */

/* What the kinds of an operation have in common, and those that read a snapshot. */
#define OPERATION    "operation", AT(operation), EVENT_OPERATION, EFFECT_TRIGGER
#define READS(WHERE) NULL, AT(WHERE), EVENT_INSPECTED, EFFECT_INSPECT
#define AT(member)   offsetof(struct lifecycle, member)

const struct ask_row ask_rows[ASKS] = {
	/* clang-format off */
	[ASK_SAVEPOINT] = {"savepoint", OPERATION, NULL, EFFECT_POLL_OPERATION, 0, false, NULL, operation_completed,
		savepoint_refused, operation_unknown, operation_lost, operation_late, operation_adopt},
	[ASK_STOP] = {"stop with savepoint", OPERATION, NULL, EFFECT_POLL_OPERATION, 0, false, NULL, operation_completed,
		stop_refused, stop_unknown, operation_lost, operation_late, operation_adopt},
	[ASK_CANCEL] = {"cancel", OPERATION, NULL, EFFECT_TRIGGER, PATIENCE_MS, false, operation_await_end, operation_completed,
		cancel_refused, operation_unknown, operation_lost, cancel_late, operation_adopt},
	[ASK_CHECKPOINT] = {"checkpoint", "checkpoint", AT(checkpoint), EVENT_CHECKPOINT, EFFECT_TRIGGER_CHECKPOINT,
		NULL, EFFECT_POLL_CHECKPOINT, PATIENCE_MS, true, NULL, checkpoint_completed,
		checkpoint_failed, checkpoint_unknown, checkpoint_lost, checkpoint_unaccepted, checkpoint_adopt},
	[ASK_LOOK] = {"a look at the vertices", NULL, AT(rescaling), EVENT_RESCALED, EFFECT_RESCALE, rescale_answered},
	[ASK_RESCALE] = {"another parallelism", "intent.parallelism", AT(rescaling), EVENT_RESCALED, EFFECT_RESCALE, rescale_answered},
	[ASK_DISPOSAL] = {"deletion of an old savepoint", "disposing", AT(disposal), EVENT_DISPOSED, EFFECT_DISPOSE, disposal_answered},
	[ASK_KEEPER] = {"the savepoint that stays, before an older one is deleted", READS(keeper), keeper_read},
	[ASK_STALLED] = {"the newest checkpoint, before a job that completes none is restarted", READS(stalled), stalled_read},
	[ASK_NEWEST] = {"the newest checkpoint, before a job is ended without a savepoint", READS(newest), last_resort_read},
	[ASK_RESULT] = {"the savepoint that a savepoint or a stop has made", READS(result), operation_read},
	[ASK_REVIEW] = {"a completed checkpoint, to know that it can be restored", READS(reviewed), review_read},
	/* clang-format on */
};

static struct ask *ask_of(const struct lifecycle *life, enum ask_kind kind)
{
	return (struct ask *)((uintptr_t)life + ask_rows[kind].at);
}

/* The one of this kind that is in flight; NULL = none. */
static struct ask *in_flight(struct lifecycle *life, enum ask_kind kind)
{
	struct ask *ask = ask_of(life, kind);

	return ask->step != STEP_NONE && ask->kind == kind ? ask : NULL;
}

/* ---- begin and end ---- */

void ask_enter(struct ask *ask, enum ask_step step)
{
	struct ask was = *ask;

	free(ask->path);
	*ask = (struct ask){.kind = was.kind, .step = step};
	memcpy(ask->id, was.id, JOB_ID_BYTES);
}

static struct ask *decided(struct lifecycle *life, enum ask_kind kind, enum ask_step step,
			   const char *id, int64_t started_unix_ms)
{
	struct ask *ask = ask_of(life, kind);

	ask_enter(ask, step);
	ask->kind = kind;
	snprintf(ask->id, sizeof(ask->id), "%s", id ? id : "");
	ask->started_unix_ms = started_unix_ms;
	if (ask_rows[kind].within_ms)
		ask->deadline_ms = life->now_ms + ask_rows[kind].within_ms;
	return ask;
}

struct effect *ask_begin(struct lifecycle *life, enum ask_kind kind, const char *id,
			 const char *path)
{
	const struct ask_row *row = &ask_rows[kind];
	struct ask *ask = decided(life, kind, row->written ? STEP_WRITING : STEP_TRIGGERING, id,
				  life->now_unix_ms);
	struct effect *effect =
		row->written ? emit_after_write(life, row->send) : emit(life, row->send);

	ask->asking = true;
	ask->path = xstrdup(path);
	memcpy(effect->id, ask->id, JOB_ID_BYTES);
	effect->text = xstrdup(path);
	return effect;
}

void ask_adopt(struct lifecycle *life, enum ask_kind kind, const char *trigger_id,
	       int64_t started_unix_ms)
{
	bool has_result = ask_rows[kind].poll != ask_rows[kind].send;

	decided(life, kind, has_result ? STEP_POLLING : STEP_TRIGGERING, trigger_id,
		started_unix_ms)
		->poll_ms = life->now_ms;
}

void asks_adopt(struct lifecycle *life)
{
	for (enum ask_kind kind = 0; kind < ASKS; kind++)
		if (ask_rows[kind].adopt)
			ask_rows[kind].adopt(life, kind);
}

void asks_forget(struct lifecycle *life)
{
	for (enum ask_kind kind = 0; kind < ASKS; kind++) {
		if (!ask_rows[kind].answered)
			continue;
		withdraw(life, ask_rows[kind].send);
		ask_enter(ask_of(life, kind), STEP_NONE);
	}
}

/* ---- send, and ask for the result ---- */

void ask_sent(struct lifecycle *life, struct ask *ask)
{
	ask->sent_ms = life->now_ms;
	ask->sent_unix_ms = life->now_unix_ms;
}

void ask_again(struct lifecycle *life, struct ask *ask, int64_t wait_ms)
{
	ask->poll_ms = life->now_ms + wait_ms;
}

void ask_repeat(struct lifecycle *life, struct ask *ask)
{
	ask->step = STEP_TRIGGERING;
	ask_again(life, ask, ASK_AGAIN_MS);
}

static bool is_polled(const struct ask *ask) /* or sent again */
{
	return ask->step == STEP_TRIGGERING || ask->step == STEP_POLLING || ask->step == STEP_LEFT;
}

static void ask_now(struct lifecycle *life, const struct ask_row *row, struct ask *ask)
{
	bool sends = ask->step == STEP_TRIGGERING;

	if (ask->asking || !is_polled(ask))
		return;
	ask->asking = true;
	if (sends && !ask->sent_ms) /* Flink does not know what was sent earlier */
		ask_sent(life, ask);
	memcpy(emit(life, sends ? row->send : row->poll)->id, ask->id, JOB_ID_BYTES);
}

static bool is_due(const struct lifecycle *life, int64_t *due_ms)
{
	if (!*due_ms || life->now_ms < *due_ms)
		return false;
	*due_ms = 0;
	return true;
}

void asks_due(struct lifecycle *life)
{
	for (enum ask_kind kind = 0; kind < ASKS; kind++) {
		struct ask *ask = in_flight(life, kind);

		if (ask && is_due(life, &ask->deadline_ms))
			ask_rows[kind].late(life);
		if (ask && is_due(life, &ask->poll_ms))
			ask_now(life, &ask_rows[kind], ask);
	}
}

void asks_plan(struct lifecycle *life)
{
	life->asks_ms = 0;
	for (enum ask_kind kind = 0; kind < ASKS; kind++) {
		const struct ask *ask = ask_of(life, kind);

		for (int i = 0; i < 2; i++) {
			int64_t due_ms = i ? ask->poll_ms : ask->deadline_ms;

			if (due_ms && (!life->asks_ms || due_ms < life->asks_ms))
				life->asks_ms = due_ms;
		}
	}
}

/* ---- answers ---- */

static void accept(struct lifecycle *life, const struct ask_row *row, struct ask *ask)
{
	ask->step = STEP_POLLING;
	if (row->to_accept)
		ask->deadline_ms = 0;
	if (ask->accepted_ms)
		return;
	ask->accepted_ms = life->now_ms;
	ask->accepted_unix_ms = life->now_unix_ms;
}

/* Nobody waits for it any more. But a result that nobody has read keeps Flink from ending: it halts itself
 * only after 5 s. */
static void read_left(struct lifecycle *life, struct ask *ask, enum operation_status status)
{
	if (status == STATUS_COMPLETED || status == STATUS_FAILED || status == STATUS_UNKNOWN_ID)
		ask_enter(ask, STEP_NONE);
	else
		ask_again(life, ask, life->config->poll_fast_ms);
}

static void ask_judge(struct lifecycle *life, const struct ask_row *row, struct ask *ask,
		      const struct answer *answer)
{
	bool slow = life->now_unix_ms - ask->started_unix_ms > SLOW_MS;
	int64_t wait_ms = slow ? ASK_AGAIN_MS : life->config->poll_fast_ms;

	if (ask->step == STEP_WRITING)
		ask->step = STEP_TRIGGERING;
	if (answer->status == STATUS_ACCEPTED ||
	    (answer->status == STATUS_IN_PROGRESS && row->to_accept))
		accept(life, row, ask);
	switch (answer->status) {
	case STATUS_ACCEPTED:
		if (row->accepted)
			row->accepted(life);
		else
			ask_again(life, ask, wait_ms);
		break;
	case STATUS_IN_PROGRESS:
		if (!row->lost(life))
			ask_again(life, ask, wait_ms);
		break;
	case STATUS_UNREACHABLE: /* it may have been accepted */
		if (row->to_accept)
			ask->step = STEP_POLLING;
		ask_again(life, ask, ASK_AGAIN_MS);
		break;
	case STATUS_COMPLETED:
		row->completed(life, answer);
		break;
	case STATUS_FAILED:
		row->failed(life, answer->location,
			    answer->error ? answer->error : "Flink reports no reason");
		break;
	case STATUS_UNKNOWN_ID:
		row->unknown(life);
		break;
	}
}

/* What still waits for the journal was not asked yet: that is the answer to an earlier one. */
static bool is_answer(const struct lifecycle *life, enum ask_kind kind, const struct ask *ask,
		      const struct event *event)
{
	const struct launch *launch = journal_launch_const(&life->journal);

	if (ask_rows[kind].answer != event->type || find_deferred(life, ask_rows[kind].send))
		return false;
	switch (event->type) {
	case EVENT_RESCALED:
		return launch && event->rescaled.launch == launch->number;
	case EVENT_DISPOSED:
		return xstrsame(ask->path, event->disposed.path);
	case EVENT_INSPECTED:
		return xstrsame(ask->path, event->inspected.path) &&
		       event->inspected.background == (kind == ASK_REVIEW);
	default:
		return xstrsame(ask->id, event->answer.trigger_id);
	}
}

static void take_answer(struct lifecycle *life, enum ask_kind kind, struct ask *ask,
			const struct event *event)
{
	ask->asking = false;
	if (ask_rows[kind].answered)
		ask_enter(ask, STEP_NONE);
	if (life->fenced)
		return;
	if (ask_rows[kind].answered)
		ask_rows[kind].answered(life, event);
	else if (ask->step == STEP_LEFT)
		read_left(life, ask, event->answer.status);
	else if (ask->step <= STEP_POLLING)
		ask_judge(life, &ask_rows[kind], ask, &event->answer);
}

void on_answer(struct lifecycle *life, const struct event *event)
{
	for (enum ask_kind kind = 0; kind < ASKS; kind++) {
		struct ask *ask = in_flight(life, kind);

		if (!ask || !is_answer(life, kind, ask, event))
			continue;
		take_answer(life, kind, ask, event);
		return;
	}
}

/* ---- what they say of themselves ---- */

const char *asks_check(const struct lifecycle *life)
{
	for (enum ask_kind kind = 0; kind < ASKS; kind++) {
		const struct effect *waits = find_deferred(life, ask_rows[kind].send);
		const struct ask *ask = ask_of(life, kind);
		bool rests = ask->step == STEP_NONE || ask->step == STEP_SETTLING;

		if (waits && !life->fenced && (rests || strcmp(waits->id, ask->id) != 0))
			return "a request waits for the journal that is not in flight";
		if (rests && (ask->asking || (ask->deadline_ms && !life->fenced)))
			return "an answer is awaited, but nothing is asked";
		if (ask->poll_ms && !is_polled(ask))
			return "Flink is asked for the result of nothing";
		if (!rests && life->launch_step != LAUNCH_LIVE)
			return "something is asked of Flink, but none is running";
	}
	return NULL;
}
