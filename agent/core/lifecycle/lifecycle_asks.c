/*
 * What drey asks of Flink: each kind is a row, and all go the same way. What an answer means to its kind is in the file
 * of that kind.
 */
#include "core/lifecycle/lifecycle_asks.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "core/lifecycle/lifecycle_effects.h"
#include "core/lifecycle/lifecycle_operation.h"
#include "core/lifecycle/lifecycle_operation_answer.h"
#include "core/lifecycle/lifecycle_take_checkpoint.h"

#define SLOW_MS     10000 /* after this the result is polled less often */
#define PATIENCE_MS 60000

/* ---- the kinds ---- */

#define OPERATION  AT(operation), EVENT_OPERATION, EFFECT_TRIGGER
#define AT(member) offsetof(struct lifecycle, member)

static const struct ask_row {
	size_t at; /* the struct ask; kinds that take turns have the same one */
	enum event_type answer;
	enum effect_type send, poll; /* the same: it has no result of its own */
	int64_t within_ms;           /* until its deadline; 0 = it gets one later */
	/* the deadline is for Flink to accept it, which each answer but "not known" may mean; else for its end */
	bool to_accept;
	void (*accepted)(struct lifecycle *life); /* NULL: its result is polled */
	void (*completed)(struct lifecycle *life, const struct answer *answer);
	void (*failed)(struct lifecycle *life, const char *location, const char *error);
	void (*unknown)(struct lifecycle *life); /* Flink does not know the trigger id */
	bool (*lost)(struct lifecycle *life);    /* "in progress" is not true any more: failed */
	void (*late)(struct lifecycle *life);    /* the deadline has passed */
	void (*adopt)(struct lifecycle *life, enum ask_kind kind); /* if it is in the journal */
} rows[ASKS] = {
	[ASK_SAVEPOINT] = {OPERATION, EFFECT_POLL_OPERATION, 0, false, NULL, operation_completed,
			   savepoint_refused, operation_unknown, operation_lost, operation_late,
			   operation_adopt},
	[ASK_STOP] = {OPERATION, EFFECT_POLL_OPERATION, 0, false, NULL, operation_completed,
		      stop_refused, stop_unknown, operation_lost, operation_late, operation_adopt},
	[ASK_CANCEL] = {OPERATION, EFFECT_TRIGGER, PATIENCE_MS, false, operation_await_end,
			operation_completed, cancel_refused, operation_unknown, operation_lost,
			cancel_late, operation_adopt},
	[ASK_CHECKPOINT] = {AT(checkpoint), EVENT_CHECKPOINT, EFFECT_TRIGGER_CHECKPOINT,
			    EFFECT_POLL_CHECKPOINT, PATIENCE_MS, true, NULL, checkpoint_completed,
			    checkpoint_failed, checkpoint_unknown, checkpoint_lost,
			    checkpoint_unaccepted, checkpoint_adopt},
};

static struct ask *ask_of(struct lifecycle *life, enum ask_kind kind)
{
	return (struct ask *)((char *)life + rows[kind].at);
}

/* The one of this kind that is in flight; NULL = none. */
static struct ask *in_flight(struct lifecycle *life, enum ask_kind kind)
{
	struct ask *ask = ask_of(life, kind);

	return ask->step != STEP_NONE && ask->kind == kind ? ask : NULL;
}

/* ---- begin ---- */

static struct ask *decided(struct lifecycle *life, enum ask_kind kind, enum ask_step step,
			   const char *trigger_id, int64_t started_unix_ms)
{
	struct ask *ask = ask_of(life, kind);

	*ask = (struct ask){.kind = kind, .step = step, .started_unix_ms = started_unix_ms};
	snprintf(ask->id, sizeof(ask->id), "%s", trigger_id);
	if (rows[kind].within_ms)
		ask->deadline_ms = life->now_ms + rows[kind].within_ms;
	return ask;
}

void ask_begin(struct lifecycle *life, enum ask_kind kind, const char *trigger_id)
{
	struct ask *ask = decided(life, kind, STEP_WRITING, trigger_id, life->now_unix_ms);

	ask->asking = true;
	memcpy(emit_after_write(life, rows[kind].send)->id, ask->id, JOB_ID_BYTES);
}

void ask_adopt(struct lifecycle *life, enum ask_kind kind, const char *trigger_id,
	       int64_t started_unix_ms)
{
	bool has_result = rows[kind].poll != rows[kind].send;

	decided(life, kind, has_result ? STEP_POLLING : STEP_TRIGGERING, trigger_id,
		started_unix_ms)
		->poll_ms = life->now_ms;
}

void asks_adopt(struct lifecycle *life)
{
	for (enum ask_kind kind = 0; kind < ASKS; kind++)
		rows[kind].adopt(life, kind);
}

/* ---- send, and ask for the result ---- */

void ask_enter(struct ask *ask, enum ask_step step)
{
	struct ask was = *ask;

	*ask = (struct ask){.kind = was.kind, .step = step};
	memcpy(ask->id, was.id, JOB_ID_BYTES);
}

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

static void ask_now(struct lifecycle *life, const struct ask_row *row, struct ask *ask)
{
	bool sends = ask->step == STEP_TRIGGERING;

	if (ask->asking || (!sends && ask->step != STEP_POLLING && ask->step != STEP_LEFT))
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
			rows[kind].late(life);
		if (ask && is_due(life, &ask->poll_ms))
			ask_now(life, &rows[kind], ask);
	}
}

static void plan(struct lifecycle *life, int64_t due_ms)
{
	if (due_ms && (!life->asks_ms || due_ms < life->asks_ms))
		life->asks_ms = due_ms;
}

void asks_plan(struct lifecycle *life)
{
	life->asks_ms = 0;
	for (enum ask_kind kind = 0; kind < ASKS; kind++) {
		const struct ask *ask = in_flight(life, kind);

		plan(life, ask ? ask->deadline_ms : 0);
		plan(life, ask ? ask->poll_ms : 0);
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

static bool is_answer(const struct ask *ask, const struct answer *answer)
{
	return answer->trigger_id && !strcmp(ask->id, answer->trigger_id);
}

void on_answer(struct lifecycle *life, const struct event *event)
{
	for (enum ask_kind kind = 0; kind < ASKS; kind++) {
		struct ask *ask = in_flight(life, kind);

		if (!ask || rows[kind].answer != event->type || !is_answer(ask, &event->answer))
			continue;
		ask->asking = false;
		if (life->fenced)
			return;
		if (ask->step == STEP_LEFT)
			read_left(life, ask, event->answer.status);
		else if (ask->step <= STEP_POLLING)
			ask_judge(life, &rows[kind], ask, &event->answer);
		return;
	}
}
