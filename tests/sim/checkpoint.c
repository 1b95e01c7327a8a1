/*
 * Requested checkpoints: people who ask for one, the REST calls, and what Flink does. It is an ordinary
 * checkpoint of the job, which only has an answer under a trigger id.
 *
 * This draws from its own stream of random numbers, and only in histories that have the feature.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tests/sim/sim.h"

/* Of a fault: never in the calm. */
static bool asks_chance(struct world *w, int per_mille)
{
	return !w->calm && per_mille && stream_odds(&w->asks, per_mille);
}

void checkpoint_draw(struct world *w)
{
	rng_seed(&w->asks, w->seed ^ UINT64_C(0x5851f42d4c957f2d));
	w->ask_ms = stream_between(&w->asks, 1, 20) * MINUTE_MS;
	if (stream_odds(&w->asks, 500))
		w->config->full_checkpoint_ms = stream_between(&w->asks, 1, 20) * MINUTE_MS;
}

static void ask_later(struct world *w)
{
	plan(w, 1 + rng_below(&w->asks, 2 * w->ask_ms), ITEM_ASK, SCOPE_WORLD);
}

void checkpoint_begin(struct world *w)
{
	if (has(w, FEATURE_CHECKPOINT))
		ask_later(w);
}

static void ask(struct world *w)
{
	char nonce[32];
	struct event event = {.type = EVENT_CONTROL};

	for (int i = 0; i < PODS && (!w->agent->alive || w->agent->stands); i++)
		world_enter(w, i);
	ask_later(w);
	if (!w->agent->alive || w->agent->stands || w->agent->life.fenced ||
	    w->agent->life.terminating)
		return;
	snprintf(nonce, sizeof(nonce), "c%" PRIu64, ++w->asked);
	event.control.fields = CONTROL_CHECKPOINT;
	event.control.checkpoint_nonce = nonce;
	event.control.checkpoint_full = stream_odds(&w->asks, 500);
	say(w, "user: a checkpoint, please: %s", nonce);
	agent_step(w, &event);
}

/* ---- the agent's effects ---- */

static int64_t asks_delay(struct world *w)
{
	return asks_chance(w, w->chaos.poll_lost) ? stream_between(&w->asks, 100, 8000)
						  : stream_between(&w->asks, 2, 50);
}

static void answer(struct world *w, const char *id, int64_t in_ms, enum operation_status status,
		   int snap)
{
	struct item *item = plan(w, in_ms, ITEM_ASK_ANSWER, SCOPE_AGENT);

	item->a = status;
	item->b = snap;
	memcpy(item->id, id, JOB_ID_BYTES);
}

void checkpoint_trigger(struct world *w, const struct effect *effect)
{
	const struct checkpoint_operation *record = &w->store.image->journal.checkpoint;
	struct item *item;

	if (w->store.exists && w->store.image->journal.sequence == w->agent->file_sequence &&
	    strcmp(record->trigger_id, effect->id) != 0)
		fail(w, "checkpoint %.6s is not in the journal", effect->id);
	if (asks_chance(w, w->chaos.post_lost)) {
		answer(w, effect->id, stream_between(&w->asks, 1, 5) * SECOND_MS,
		       STATUS_UNREACHABLE, -1);
		return;
	}
	item = plan(w, asks_delay(w), ITEM_ASK_POST, SCOPE_CONTAINER);
	item->b = (int64_t)w->epochs[SCOPE_AGENT];
	item->launch = truth_find(w, record->job_id);
	memcpy(item->id, effect->id, JOB_ID_BYTES);
}

void checkpoint_poll(struct world *w, const struct effect *effect)
{
	memcpy(plan(w, asks_delay(w), ITEM_ASK_LOOK, SCOPE_AGENT)->id, effect->id, JOB_ID_BYTES);
}

/* ---- Flink ---- */

/* The request has arrived. A repeated trigger id is the same checkpoint. */
static enum operation_status accept_checkpoint(struct world *w, const struct item *item)
{
	struct flink *flink = w->flink;
	bool known = flink->job_present && item->launch == flink->launch;
	struct item *done;
	struct op *op;

	if (!flink_answers(w) || flink->terminating)
		return STATUS_UNREACHABLE;
	if (operation_find(w, item->id))
		return STATUS_ACCEPTED;
	op = operation_add(w, item->id, OPERATION_CHECKPOINT);
	if (!known || flink->state != JOB_RUNNING || flink->tasks_lost || flink->stop_op >= 0) {
		op->state = OP_FAILED;
		return STATUS_ACCEPTED;
	}
	done = plan(w, flink->checkpoint_takes_ms, ITEM_CHECKPOINT_DONE, SCOPE_JOB);
	done->a = op->made = storage_add(w, SNAPSHOT_CHECKPOINT, flink->launch, flink->next_id++);
	w->truth.launches[flink->launch].ha.counter = flink->next_id;
	return STATUS_ACCEPTED;
}

void checkpoint_result(struct world *w, int snap, bool ok)
{
	for (int i = 0; i < w->flink->op_count; i++) {
		struct op *op = &w->flink->ops[i];

		if (op->kind != OPERATION_CHECKPOINT || op->state != OP_RUNNING || op->made != snap)
			continue;
		op->state = ok ? OP_COMPLETED : OP_FAILED;
		op->snap = ok ? snap : -1;
		w->figures->asked += ok;
	}
}

static void post(struct world *w, const struct item *item)
{
	enum operation_status status = accept_checkpoint(w, item);
	bool lost = asks_chance(w, w->chaos.answer_lost);

	say(w, "POST checkpoint %.6s arrives: status %d%s", item->id, status,
	    lost ? ", answer lost" : "");
	if (!w->agent->alive || (uint64_t)item->b != w->epochs[SCOPE_AGENT])
		return; /* the agent that requested it has died */
	answer(w, item->id, lost ? 5 * SECOND_MS : stream_between(&w->asks, 2, 50),
	       lost ? STATUS_UNREACHABLE : status, -1);
}

static void look(struct world *w, const struct item *item)
{
	const struct op *op = operation_find(w, item->id);
	enum operation_status status;

	status = !flink_answers(w) || asks_chance(w, w->chaos.poll_lost) ? STATUS_UNREACHABLE
									 : operation_shown(op);
	answer(w, item->id, asks_delay(w), status, status == STATUS_COMPLETED ? op->snap : -1);
}

static void answered(struct world *w, const struct item *item)
{
	char path[PATH_BYTES + 16];
	struct event event = {.type = EVENT_CHECKPOINT};

	event.checkpoint.trigger_id = item->id;
	event.checkpoint.status = (enum operation_status)item->a;
	if (item->b >= 0) {
		event.checkpoint.checkpoint_id = w->storage.snaps[item->b].id;
		/* the statistics are cached */
		if (stream_odds(&w->asks, 500))
			event.checkpoint.location = rest_path(w, (int)item->b, path, sizeof(path));
	}
	event.checkpoint.error =
		event.checkpoint.status == STATUS_FAILED ? "Flink has declined" : NULL;
	agent_step(w, &event);
}

void checkpoint_item(struct world *w, const struct item *item)
{
	switch (item->kind) {
	case ITEM_ASK:
		if (!w->calm)
			ask(w);
		break;
	case ITEM_ASK_POST:
		post(w, item);
		break;
	case ITEM_ASK_LOOK:
		look(w, item);
		break;
	case ITEM_ASK_ANSWER:
		answered(w, item);
		break;
	default:
		break;
	}
}

/* ---- oracles ---- */

/* It is about an answer that somebody waits for: it must be true. */
void checkpoint_judge(struct world *w)
{
	const struct journal *journal = &w->agent->life.journal;

	if (w->agent->life.checkpoint.asking && w->agent->life.launch_step != LAUNCH_LIVE)
		fail(w, "Flink is asked for a checkpoint, but none is running");
	for (size_t i = 0; i < journal->checkpoint_request_count; i++) {
		const struct checkpoint_request *request = &journal->checkpoint_requests[i];
		int snap =
			request->ok && request->location ? storage_find(w, request->location) : -1;

		if (request->ok && request->location &&
		    (snap < 0 || w->storage.snaps[snap].kind != SNAPSHOT_CHECKPOINT ||
		     w->storage.snaps[snap].id != request->checkpoint_id))
			fail(w, "request %s was answered with %s, which is not that checkpoint",
			     request->nonce, request->location);
	}
}

bool checkpoint_reached(const struct world *w)
{
	return !journal_checkpoint_wanted(&w->agent->life.journal);
}
