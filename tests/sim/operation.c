/*
 * Savepoint, stop and cancel as Flink does them: asynchronous, by trigger id; the client must query the
 * result. A repeated trigger id is the same operation; a second stop destroys the first.
 */
#include <stdio.h>
#include <string.h>

#include "tests/sim/sim.h"

struct op *operation_find(struct world *w, const char *trigger_id)
{
	for (int i = 0; i < w->flink->op_count; i++)
		if (!strcmp(w->flink->ops[i].trigger_id, trigger_id))
			return &w->flink->ops[i];
	return NULL;
}

enum operation_status operation_shown(const struct op *op)
{
	if (!op)
		return STATUS_UNKNOWN_ID;
	return op->state == OP_RUNNING     ? STATUS_IN_PROGRESS
	       : op->state == OP_COMPLETED ? STATUS_COMPLETED
					   : STATUS_FAILED;
}

/* The attempt of the job has ended, and every operation with it. A stop whose savepoint is complete
 * reports the path in its error. */
void operations_fail(struct world *w)
{
	for (int i = 0; i < w->flink->op_count; i++)
		if (w->flink->ops[i].state == OP_RUNNING)
			w->flink->ops[i].state = OP_FAILED;
}

struct op *operation_add(struct world *w, const char *trigger_id, enum operation_kind kind)
{
	struct flink *flink = w->flink;
	struct op *op;

	if (flink->op_count == FLINK_MAX_OPS) {
		memmove(flink->ops, flink->ops + 1, sizeof(flink->ops) - sizeof(flink->ops[0]));
		flink->op_count--;
		if (flink->stop_op >= 0)
			flink->stop_op--;
	}
	op = &flink->ops[flink->op_count++];
	*op = (struct op){.kind = kind, .snap = -1, .made = -1};
	memcpy(op->trigger_id, trigger_id, JOB_ID_BYTES);
	return op;
}

static void take_savepoint(struct world *w, struct op *op)
{
	struct flink *flink = w->flink;
	int64_t takes_ms = odds(w, 100) ? between(w, 30, 240) * SECOND_MS : between(w, 50, 20000);
	struct item *item;

	op->snap = -1;
	item = plan(w, takes_ms, ITEM_SAVEPOINT_DONE, SCOPE_JOB);
	item->a = storage_add(w, SNAPSHOT_SAVEPOINT, flink->launch, flink->next_id++);
	w->truth.launches[flink->launch].ha.counter = flink->next_id;
	memcpy(item->id, op->trigger_id, JOB_ID_BYTES);
	memcpy(w->storage.snaps[item->a].trigger_id, op->trigger_id, JOB_ID_BYTES);
	w->storage.snaps[item->a].outside = op->outside;
	w->storage.snaps[item->a].stop = op->kind == OPERATION_STOP;
}

static void cancel(struct world *w)
{
	struct flink *flink = w->flink;

	w->figures->cancels++;
	if (flink->state == JOB_FINISHED || flink->state == JOB_FAILED ||
	    flink->state == JOB_CANCELED || flink->state == JOB_CANCELLING)
		return;
	flink_attempt_ends(w);
	flink->state = JOB_CANCELLING;
	if (!flink->cancel_ignored)
		plan(w, between(w, 50, 8000), ITEM_CANCEL_DONE, SCOPE_JOB);
}

/* The request has arrived: the response. */
static enum operation_status accept_post(struct world *w, const struct item *item)
{
	struct flink *flink = w->flink;
	enum operation_kind kind = (enum operation_kind)item->a;
	bool known = flink->job_present && item->launch == flink->launch;
	struct op *op;

	if (!flink_answers(w) || flink->terminating)
		return STATUS_UNREACHABLE;
	if (kind == OPERATION_CANCEL) {
		if (!known)
			return STATUS_FAILED;
		cancel(w);
		return STATUS_ACCEPTED;
	}
	if (operation_find(w, item->id))
		return STATUS_ACCEPTED;
	op = operation_add(w, item->id, kind);
	if (!known || flink->state != JOB_RUNNING || flink->tasks_lost) {
		op->state = OP_FAILED; /* reported only when the result is queried */
		return STATUS_ACCEPTED;
	}
	if (flink->stop_op >= 0 && flink->ops[flink->stop_op].outside) {
		op->state = OP_FAILED;
		return STATUS_ACCEPTED;
	}
	if (flink->stop_op >= 0) {
		if (w->truth.journal_changed || w->truth.two) /* the stop was forgotten with it */
			return STATUS_FAILED;
		fail(w, "a %s is sent while a stop is under way", operation_kind_name(kind));
		return STATUS_FAILED;
	}
	if (kind == OPERATION_STOP)
		flink->stop_op = (int)(op - flink->ops);
	take_savepoint(w, op);
	return STATUS_ACCEPTED;
}

/* A person uses Flink's own UI. */
void operation_outside(struct world *w)
{
	struct flink *flink = w->flink;
	enum operation_kind kind = odds(w, 700)   ? OPERATION_SAVEPOINT
				   : odds(w, 500) ? OPERATION_STOP
						  : OPERATION_CANCEL;
	char id[JOB_ID_BYTES];
	struct op *op;

	if (!flink_answers(w) || flink->terminating || !flink->job_present ||
	    flink->state != JOB_RUNNING || flink->stop_op >= 0 || flink->tasks_lost)
		return;
	say(w, "somebody else asks for a %s", operation_kind_name(kind));
	if (kind == OPERATION_CANCEL) {
		flink_attempt_ends(w);
		flink->state = JOB_CANCELLING;
		plan(w, between(w, 50, 8000), ITEM_CANCEL_DONE, SCOPE_JOB);
		return;
	}
	rng_hex_id(&w->rng, id);
	op = operation_add(w, id, kind);
	op->outside = true;
	if (kind == OPERATION_STOP)
		flink->stop_op = (int)(op - flink->ops);
	take_savepoint(w, op);
}

void operation_post(struct world *w, const struct item *item)
{
	enum operation_status status = accept_post(w, item);
	bool lost = chance(w, w->chaos.answer_lost);
	struct item *answer;

	say(w, "POST %s %.6s arrives: status %d%s",
	    operation_kind_name((enum operation_kind)item->a), item->id, status,
	    lost ? ", answer lost" : "");
	if (!w->agent->alive || (uint64_t)item->b != w->epochs[SCOPE_AGENT])
		return; /* the agent that requested it has died */
	answer = plan(w, lost ? 5 * SECOND_MS : between(w, 2, 50), ITEM_OPERATION_ANSWER,
		      SCOPE_AGENT);
	answer->a = lost ? STATUS_UNREACHABLE : status;
	answer->b = -1;
	memcpy(answer->id, item->id, JOB_ID_BYTES);
}

static void stop_goes_on(struct world *w, struct op *op)
{
	struct item *item = plan(w, between(w, 20, 10000), ITEM_STOP_DONE, SCOPE_JOB);

	memcpy(item->id, op->trigger_id, JOB_ID_BYTES);
}

static void savepoint_done(struct world *w, const struct item *item)
{
	struct flink *flink = w->flink;
	struct op *op = operation_find(w, item->id);

	if (!op || op->state != OP_RUNNING || flink->state != JOB_RUNNING)
		return;
	if (chance(w, w->chaos.savepoint_fails)) {
		op->state = OP_FAILED;
		if (op->kind == OPERATION_STOP)
			flink->stop_op = -1; /* the job continues */
		say(w, "savepoint %.6s fails", item->id);
		return;
	}
	storage_complete(w, (int)item->a);
	op->snap = (int)item->a;
	if (op->kind == OPERATION_STOP) {
		stop_goes_on(w, op);
		return;
	}
	op->state = OP_COMPLETED;
	w->figures->savepoints++;
}

static void stop_done(struct world *w, const struct item *item)
{
	struct op *op = operation_find(w, item->id);

	if (!op || op->state != OP_RUNNING)
		return;
	if (chance(w, w->chaos.stop_half_fails)) {
		w->flink->failure = "StopWithSavepointStoppingException";
		w->truth.half_stop = true;
		flink_job_over(w, JOB_FAILED);
		return;
	}
	op->state = OP_COMPLETED;
	w->figures->stops++;
	flink_job_over(w, JOB_FINISHED);
}

/* Flink deletes a savepoint, but only the Flink that runs the job of the requesting agent. */
static void dispose(struct world *w, const struct item *item)
{
	struct snap *snap = &w->storage.snaps[item->a];
	bool served =
		flink_answers(w) && !strcmp(w->truth.launches[w->flink->launch].job_id, item->id);
	bool done = served && !chance(w, w->chaos.savepoint_fails);
	struct item *answer;

	w->storage.disposals--;
	if (done && !snap->deleted) {
		oracle_dispose(w, (int)item->a);
		say(w, "%s is disposed of", snap->path);
		snap->deleted = true;
		/* at drey's wish: it is not missed, also not on a branch to which a person goes back */
		snap->numbered = snap->named = (struct knowledge){0};
	}
	if (chance(w, w->chaos.answer_lost))
		done = false;
	answer = plan(w, below(w, 3 * SECOND_MS), ITEM_DISPOSED, SCOPE_AGENT);
	answer->a = item->a;
	answer->b = !done;
}

void operation_item(struct world *w, const struct item *item)
{
	switch (item->kind) {
	case ITEM_POST:
		operation_post(w, item);
		break;
	case ITEM_DISPOSE:
		dispose(w, item);
		break;
	case ITEM_SAVEPOINT_DONE:
		savepoint_done(w, item);
		break;
	case ITEM_STOP_DONE:
		stop_done(w, item);
		break;
	case ITEM_CANCEL_DONE:
		if (w->flink->state != JOB_CANCELLING)
			break;
		lie_job_ends(w);
		flink_job_over(w, JOB_CANCELED);
		break;
	default:
		break;
	}
}
