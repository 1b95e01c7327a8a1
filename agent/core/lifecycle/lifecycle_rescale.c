/*
 * Another parallelism for the running job, by Flink's adaptive scheduler: without a stop, and without a
 * launch of drey's.
 *
 * A request is in the journal before Flink is asked. What Flink has accepted is in force, and every
 * launch gets it again, once: Flink keeps it only with the job id. drey never corrects a running job,
 * so others (an autoscaler) may change the bounds after that. A launch that cannot have them runs on
 * with its own.
 *
 * The vertices are looked at first: what they can have is decided here, and a request that already
 * arrived is recognised, so a lost answer does no harm.
 */
#include "core/lifecycle/lifecycle_rescale.h"

#include <stdlib.h>
#include <string.h>

#include "base/backoff.h"
#include "base/mem.h"
#include "core/lifecycle/lifecycle_asks.h"
#include "core/lifecycle/lifecycle_blockers.h"
#include "core/lifecycle/lifecycle_effects.h"
#include "core/lifecycle/lifecycle_facts.h"
#include "core/slots.h"

#define RETRY_FIRST_MS 1000
#define RETRY_MOST_MS  60000

/* How often the vertices are looked at until they run as requested: Flink rescales after its cooldown
 * (30 s by default), and waits for slots. */
#define LOOK_OFTEN_MS  1000
#define LOOK_SELDOM_MS 10000
#define OFTEN_FOR_MS   (2 * 60 * INT64_C(1000))
#define LOOK_FOR_MS    (30 * 60 * INT64_C(1000))

/* Flink caches what it shows of the vertices for 3 s: before that it may be what was before. */
#define FRESH_MS         3100
#define OWN_MAX_VERTICES 1000

void rescale_take(struct lifecycle *life, const struct parallelism *wanted)
{
	struct parallelism *request = &life->journal.intent.parallelism;

	parallelism_release(request);
	parallelism_copy(request, wanted);
	life->rescale.again_ms = 0; /* a person does not wait for a backoff */
}

void rescale_forget(struct lifecycle *life)
{
	for (size_t i = 0; i < life->rescale.own_count; i++)
		free(life->rescale.own[i].id);
	free(life->rescale.own);
	free(life->rescale.left_out);
	free(life->rescale.missing);
	parallelism_release(&life->rescale.put);
	memset(&life->rescale, 0, sizeof(life->rescale));
}

char *lifecycle_slots_short(const struct lifecycle *life)
{
	return life->rescale.slots_known
		       ? slots_short(life->rescale.slots_needed, life->rescale.slots_total,
				     life->rescale.task_managers)
		       : NULL;
}

void rescale_yield(struct lifecycle *life)
{
	if (withdraw(life, EFFECT_RESCALE))
		ask_enter(&life->rescaling, STEP_NONE);
}

static bool is_requested(const struct lifecycle *life)
{
	return life->journal.intent.parallelism.nonce;
}

void rescale_look(struct lifecycle *life)
{
	ask_begin(life, ASK_LOOK, journal_launch(&life->journal)->job_id, NULL);
}

/* ---- the answer ---- */

static void record(struct lifecycle *life, const char *nonce, const char *error)
{
	struct rescaled *result = &life->journal.rescaled;

	rescaled_release(result);
	result->nonce = xstrdup(nonce);
	result->ok = !error;
	result->error = xstrdup(error);
	result->left_out = error ? NULL : xstrdup(life->rescale.left_out);
	result->launch = journal_launch(&life->journal)->number;
	result->unix_ms = life->now_unix_ms;
	life->want_write = true;
}

/* Flink cannot, or must not, do what was asked: what was in force stays. */
static void refused(struct lifecycle *life, bool requested, const char *error)
{
	struct journal *journal = &life->journal;
	struct parallelism *of = requested ? &journal->intent.parallelism : &journal->parallelism;

	note(life, NOTE_WARNING, "%s: %s",
	     requested ? "the parallelism is not changed"
		       : "the job runs with its own parallelism, not with the requested one",
	     error);
	record(life, of->nonce, error);
	if (requested)
		parallelism_release(&journal->intent.parallelism);
	else
		journal->parallelism_launch = journal_launch(journal)->number;
}

/* Flink has what `wanted` says; now the job has to run with it. */
static void accepted(struct lifecycle *life, struct parallelism *wanted, bool requested)
{
	struct journal *journal = &life->journal;
	struct parallelism *request = &journal->intent.parallelism;
	const char *left_out = life->rescale.left_out;
	cleanup_free char *few = lifecycle_slots_short(life);

	note(life, left_out ? NOTE_WARNING : NOTE_INFO, "Flink has accepted the parallelism%s%s%s",
	     requested ? "" : " that is in force", left_out ? ", except: " : "",
	     left_out ? left_out : "");
	if (few)
		note(life, NOTE_WARNING,
		     "there are too few slots for the parallelism: %s; the job runs with fewer subtasks until there are more: add TaskManagers",
		     few);
	record(life, wanted->nonce, NULL);
	if (requested && xstrsame(request->nonce, wanted->nonce))
		parallelism_release(request);
	if (requested) {
		parallelism_release(&journal->parallelism);
		if (!parallelism_is_empty(wanted))
			parallelism_copy(&journal->parallelism, wanted);
	}
	journal->parallelism_launch = journal_launch(journal)->number;
	life->rescale.settling = true;
	life->rescale.reached = false;
	life->rescale.since_ms = life->now_ms;
}

/* ---- what the job had by itself ---- */

static void remember_own(struct lifecycle *life, const struct event *event)
{
	size_t count = event->rescaled.vertex_count;

	if (life->rescale.own || !count || count > OWN_MAX_VERTICES ||
	    life->journal.parallelism_launch == journal_launch(&life->journal)->number)
		return;
	life->rescale.own = xcalloc(count, sizeof(*life->rescale.own));
	for (size_t i = 0; i < count; i++) {
		const struct rescale_vertex *vertex = &event->rescaled.vertices[i];

		life->rescale.own[i].id = xstrdup(vertex->id);
		life->rescale.own[i].bounds = (struct rescale_bounds){vertex->lower, vertex->upper};
	}
	life->rescale.own_count = count;
}

static void plan_own(const struct lifecycle *life, const struct event *event,
		     struct rescale_plan *plan)
{
	for (size_t i = 0; i < plan->count; i++) {
		const struct rescale_vertex *vertex = &event->rescaled.vertices[i];

		for (size_t at = 0; at < life->rescale.own_count; at++)
			if (!strcmp(life->rescale.own[at].id, vertex->id))
				plan->bounds[i] = life->rescale.own[at].bounds;
		if (plan->bounds[i].lower != vertex->lower ||
		    plan->bounds[i].upper != vertex->upper)
			plan->verdict = RESCALE_APPLY;
	}
	if (!life->rescale.own)
		plan->why = xstrdup(
			"the running job keeps its parallelism until its next launch, because its own is not known any more");
}

/* ---- what was seen ---- */

static void put(struct lifecycle *life, const struct event *event, const struct rescale_plan *plan,
		const struct parallelism *wanted, bool requested)
{
	ask_begin(life, ASK_RESCALE, journal_launch(&life->journal)->job_id, NULL)->text =
		rescale_body(event->rescaled.vertices, plan->bounds, plan->count);
	parallelism_release(&life->rescale.put);
	parallelism_copy(&life->rescale.put, wanted);
	life->rescale.put_requested = requested;
}

static void plan_change(struct lifecycle *life, const struct event *event)
{
	const struct journal *journal = &life->journal;
	const struct parallelism *request = &journal->intent.parallelism;
	bool requested = is_requested(life);
	struct parallelism wanted;
	struct rescale_plan plan;

	if (requested)
		parallelism_after(&wanted, &journal->parallelism, request);
	else
		parallelism_copy(&wanted, &journal->parallelism);
	rescale_plan(&wanted, event->rescaled.vertices, event->rescaled.vertex_count, requested,
		     &plan);
	if (requested && request->reset)
		plan_own(life, event, &plan);
	xstrset(&life->rescale.left_out, plan.verdict == RESCALE_REFUSED ? NULL : plan.why);
	if (plan.verdict == RESCALE_REFUSED)
		refused(life, requested, plan.why);
	else if (plan.verdict == RESCALE_APPLY)
		put(life, event, &plan, &wanted, requested);
	else
		accepted(life, &wanted, requested);
	rescale_plan_release(&plan);
	parallelism_release(&wanted);
}

static int64_t count_subtasks(const struct event *event)
{
	int64_t sum = 0;

	for (size_t i = 0; i < event->rescaled.vertex_count; i++)
		sum += event->rescaled.vertices[i].parallelism;
	return sum;
}

static void see_slots(struct lifecycle *life, const struct event *event)
{
	life->rescale.slots_known = event->rescaled.slots_known;
	life->rescale.slots_needed =
		rescale_slots(event->rescaled.vertices, event->rescaled.vertex_count);
	life->rescale.slots_total = event->rescaled.slots_total;
	life->rescale.task_managers = event->rescaled.task_managers;
}

static void see_vertices(struct lifecycle *life, const struct event *event)
{
	int64_t subtasks = count_subtasks(event);
	char *missing = rescale_missing(event->rescaled.vertices, event->rescaled.vertex_count);

	/* of more, see_tasks() knows */
	if (life->rescale.settling && subtasks < life->rescale.subtasks)
		life->rescale.restarts++;
	life->rescale.subtasks = subtasks;
	free(life->rescale.missing);
	life->rescale.missing = missing;
	remember_own(life, event);
	see_slots(life, event);
}

static void settle(struct lifecycle *life)
{
	cleanup_free char *few = lifecycle_slots_short(life);
	int64_t waited_ms = life->now_ms - life->rescale.since_ms;

	if (!life->rescale.missing && !life->seen.tasks_missing && waited_ms >= FRESH_MS) {
		life->rescale.settling = false;
		life->rescale.reached = true;
		note(life, NOTE_INFO, "the job runs with the requested parallelism");
	} else if (waited_ms >= LOOK_FOR_MS) {
		life->rescale.settling = false;
		note(life, NOTE_WARNING,
		     "the job does not run with the requested parallelism after %lld min: %s%s%s",
		     (long long)(LOOK_FOR_MS / 60000),
		     life->rescale.missing ? life->rescale.missing : "tasks are missing",
		     few ? "; " : "", few ? few : "");
	} else {
		life->rescale.again_ms =
			life->now_ms + (waited_ms < OFTEN_FOR_MS ? LOOK_OFTEN_MS : LOOK_SELDOM_MS);
	}
}

/* A later look at what is in force must not undo it, so the answer counts for what was asked. */
static void on_refusal(struct lifecycle *life, const struct event *event)
{
	const char *error = event->rescaled.error ? event->rescaled.error : "no reason given";
	bool put_was = event->rescaled.put && life->rescale.put_requested;

	life->rescale.settling = false;
	if (put_was && !xstrsame(life->rescale.put.nonce, life->journal.intent.parallelism.nonce))
		return; /* another request has replaced it, and is asked for next */
	if (put_was || (!event->rescaled.put && is_requested(life)))
		refused(life, true, error);
	else if (parallelism_is_unasked(life, journal_launch(&life->journal)))
		refused(life, false, error);
}

static void on_vertices(struct lifecycle *life, const struct event *event)
{
	life->rescale.failures = 0;
	see_vertices(life, event);
	if (event->rescaled.put)
		accepted(life, &life->rescale.put, life->rescale.put_requested);
	/* an operation may have begun since */
	else if (!blockers(life, BEGIN_RESCALE) &&
		 (is_requested(life) ||
		  parallelism_is_unasked(life, journal_launch(&life->journal))))
		plan_change(life, event);
	/* another request goes first */
	if (life->rescale.settling && life->rescaling.step == STEP_NONE && !is_requested(life))
		settle(life);
}

void rescale_answered(struct lifecycle *life, const struct event *event)
{
	if (event->rescaled.status == STATUS_COMPLETED) {
		on_vertices(life, event);
	} else if (event->rescaled.status == STATUS_FAILED) {
		on_refusal(life, event);
	} else {
		life->rescale.failures++;
		life->rescale.again_ms = life->now_ms + backoff_ms(RETRY_FIRST_MS, RETRY_MOST_MS,
								   life->rescale.failures);
	}
}
