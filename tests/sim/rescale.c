/*
 * Another parallelism: people ask for it, and Flink's adaptive scheduler gives it to the running job, some
 * time later, by a restart of its tasks. Flink forgets it with its process. In some histories Flink has
 * another scheduler, which refuses. Only in histories with FEATURE_RESCALE.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/sim.h"

#define VERTEX "b71731f1c0df9c3076c4a455334d0ad6"
#define OWN    1 /* parallelism of every job */
#define MOST   8 /* and its maximum */

/* ---- what people ask for ---- */

bool rescale_wish(struct world *w, struct event *event, const char *nonce)
{
	struct parallelism *wanted = &event->control.intent.parallelism;

	if (!has(w, FEATURE_RESCALE) || !luck(w, 300))
		return false;
	event->control.fields = CONTROL_PARALLELISM;
	*wanted = (struct parallelism){.nonce = (char *)(uintptr_t)nonce};
	if (luck(w, 200))
		wanted->reset = true;
	else
		wanted->all = luck_between(w, 1, MOST + 1); /* one is too much */
	w->figures->rescales++;
	return true;
}

/* ---- Flink ---- */

void rescale_ask(struct world *w, const struct effect *effect)
{
	const struct lifecycle *life = &w->agent->life;
	const char *upper = effect->text ? strstr(effect->text, "upperBound\":") : NULL;
	struct item *item = plan(w, luck_between(w, 1, 300), ITEM_RESCALE, SCOPE_CONTAINER);

	if (upper && life->operation.step != STEP_NONE)
		fail(w, "the job is rescaled while an operation is in flight");
	if (upper && !w->store.exists)
		w->truth.journal_changed = true;
	item->a = upper ? atoi(upper + strlen("upperBound\":")) : 0;
	item->b = journal_launch_const(&life->journal)->number;
	item->launch = (int)w->epochs[SCOPE_AGENT];
	memcpy(item->id, effect->id, JOB_ID_BYTES);
}

static enum operation_status take(struct world *w, const struct item *item)
{
	struct flink *flink = w->flink;

	if (!flink_answers(w) || flink->terminating || !flink->job_present ||
	    strcmp(w->truth.launches[flink->launch].job_id, item->id) != 0 ||
	    job_state_is_final(flink->state) || luck(w, w->calm ? 0 : 50))
		return STATUS_UNREACHABLE;
	if (w->other_scheduler)
		return STATUS_FAILED;
	if (!item->a)
		return STATUS_COMPLETED;
	if (item->a > MOST) {
		fail(w, "Flink is asked for more than the maximum parallelism");
		return STATUS_FAILED;
	}
	flink->upper = (int)item->a;
	if (flink->upper != flink->parallelism)
		plan(w, luck_between(w, 1000, 40000), ITEM_RESCALED, SCOPE_FLINK);
	return STATUS_COMPLETED;
}

static void arrives(struct world *w, const struct item *item)
{
	enum operation_status status = take(w, item);
	bool lost = !w->calm && luck(w, 100);
	struct item *answer;

	say(w, "rescale to %d arrives: status %d%s", (int)item->a, status, lost ? ", lost" : "");
	if (!w->agent->alive || item->launch != (int)w->epochs[SCOPE_AGENT])
		return;
	answer = plan(w, lost ? 5 * SECOND_MS : luck_between(w, 1, 100), ITEM_RESCALE_ANSWER,
		      SCOPE_AGENT);
	answer->a = lost ? STATUS_UNREACHABLE : status;
	answer->b = item->b;
	answer->launch = item->a > 0;
	snprintf(answer->id, sizeof(answer->id), "%d %d", w->flink->parallelism, w->flink->upper);
}

static void answered(struct world *w, const struct item *item)
{
	char *end;
	struct rescale_vertex vertex = {.id = VERTEX,
					.name = "count",
					.parallelism = strtol(item->id, &end, 10),
					.max_parallelism = MOST,
					.lower = 1};
	struct event event = {
		.type = EVENT_RESCALED,
		.rescaled = {.launch = item->b,
			     .put = item->launch,
			     .status = (enum operation_status)item->a,
			     .error = item->a == STATUS_FAILED ? "another scheduler" : NULL,
			     .vertices = &vertex,
			     .vertex_count = item->a == STATUS_COMPLETED}};

	vertex.upper = strtol(end, NULL, 10);
	agent_step(w, &event);
}

/* The cooldown is over: the tasks are restarted. */
static void rescales(struct world *w)
{
	struct flink *flink = w->flink;

	if (flink->upper == flink->parallelism || !flink->job_present ||
	    job_state_is_final(flink->state) || flink->state == JOB_CANCELLING)
		return;
	if (flink->state != JOB_RUNNING || flink->tasks_lost || flink->stop_op >= 0) {
		plan(w, SECOND_MS, ITEM_RESCALED, SCOPE_FLINK);
		return;
	}
	say(w, "the job is rescaled from %d to %d", flink->parallelism, flink->upper);
	flink->parallelism = flink->upper;
	flink_attempt_ends(w);
	flink->state = JOB_RESTARTING;
	plan(w, luck_between(w, 100, 3000), ITEM_RUN, SCOPE_FLINK);
}

void rescale_item(struct world *w, const struct item *item)
{
	if (item->kind == ITEM_RESCALE)
		arrives(w, item);
	else if (item->kind == ITEM_RESCALE_ANSWER)
		answered(w, item);
	else
		rescales(w);
}

void rescale_flink_starts(struct world *w)
{
	w->flink->parallelism = w->flink->upper = OWN;
}

/* What is in force is what the job runs with, unless its Flink cannot. With a journal that was changed
 * by others nobody knows what Flink was asked for. */
bool rescale_reached(const struct world *w)
{
	const struct journal *journal = &w->agent->life.journal;
	int wanted = (int)journal->parallelism.all;

	if (!has(w, FEATURE_RESCALE))
		return true;
	if (journal->intent.parallelism.nonce)
		return false;
	if (w->truth.journal_changed || w->truth.two || w->other_scheduler || !wanted)
		return true;
	return w->flink->upper == wanted && w->flink->parallelism == wanted;
}
