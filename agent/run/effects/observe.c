#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "core/report/status_history.h"
#include "run/driver_internal.h"
#include "run/ha/ha_observe.h"
#include "run/observe/observe.h"
#include "run/observe/observe_job.h"
#include "run/part.h"
#include "store/verify.h"

/* ---- OBSERVE ---- */

struct observe_job {
	struct driver *driver;
	int64_t launch; /* number of the last one */
	struct observe_plan plan;
	struct ha_former former;
	struct facts facts;
	struct decision decision;
};

static void gather_work(void *arg)
{
	struct observe_job *job = arg;

	ha_former_observe(&job->former, job->driver->setup, &job->plan);
	observe_gather(&job->plan, &job->facts);
}

static void verify_work(void *arg)
{
	struct observe_job *job = arg;

	if (job->decision.of_job)
		observe_job(job->driver->setup, &job->facts);
	else
		observe_check(&job->plan, &job->facts, job->decision.candidate);
}

static void free_observe(struct observe_job *job)
{
	facts_release(&job->facts);
	observe_plan_release(&job->plan);
	ha_former_release(&job->former);
	free(job);
}

static const char *start_path(const struct observe_job *job)
{
	return !decision_starts(&job->decision) || job->decision.kind == DECISION_START_EMPTY
		       ? NULL
		       : job->facts.candidates[job->decision.candidate].snapshot.path;
}

/* What was decided passes, does not, or is old by now. */
static void decided(struct driver *driver, const struct gate *gate, enum gate_verdict verdict)
{
	struct observe_job *job = gate->arg;
	struct event observed = {.type = EVENT_OBSERVED,
				 .observed = {.facts = &job->facts, .decision = &job->decision}};
	struct event refused = {.type = EVENT_REFUSED,
				.refused = {.effect = EFFECT_OBSERVE,
					    .cause = gate->cause,
					    .why = gate->why,
					    .facts = &job->facts,
					    .decision = &job->decision}};

	if (verdict == GATE_PASSES || verdict == GATE_REFUSED) {
		json_free(driver->decision);
		driver->decision = decision_document(&job->facts, &job->decision, clock_unix_ms());
	}
	if (verdict == GATE_STALE)
		gate_ask_effect(driver, &(struct effect){.type = EFFECT_OBSERVE});
	else if (verdict != GATE_NOT_YET)
		driver_step(driver, verdict == GATE_REFUSED ? &refused : &observed);
	free_observe(job);
}

/* The decision is made here, on the loop's thread, with the journal as it is now. */
static void observed(void *arg, bool ran)
{
	struct observe_job *job = arg;
	struct driver *driver = job->driver;

	if (!ran || driver->closing) {
		free_observe(job);
		return;
	}
	resolve(&driver->life.journal, &job->facts, &driver->setup->life.policy, &job->decision);
	if (job->decision.kind == DECISION_VERIFY) {
		lane_submit(driver->store_lane, verify_work, observed, job);
		return;
	}
	gate_ask(driver, GATE_OBSERVED,
		 &(struct gate){.decision = &job->decision,
				.path = start_path(job),
				.then = decided,
				.arg = job});
}

/* Flink's HA maps come first: what they name is looked for in storage. */
static void ha_observed(void *arg, bool ran)
{
	struct observe_job *job = arg;

	if (ran && !job->driver->closing)
		lane_submit(job->driver->store_lane, gather_work, observed, job);
	else
		free_observe(job);
}

static struct observe_job *observe_job_new(struct driver *driver)
{
	struct observe_job *job = xcalloc(1, sizeof(*job));
	const struct launch *launch = journal_launch(&driver->life.journal);

	job->driver = driver;
	job->launch = launch ? launch->number : 0;
	observe_plan_init(&job->plan, &driver->setup->places, &driver->life.journal, NULL);
	job->plan.heads_later = true;
	ha_former_init(&job->former, driver->setup, driver_cluster_id(driver),
		       &driver->life.journal);
	return job;
}

static void observe(struct driver *driver)
{
	struct observe_job *job = observe_job_new(driver);

	if (!driver_ha_observe(driver, &job->plan, ha_observed, job))
		lane_submit(driver->store_lane, gather_work, observed, job);
}

/* ---- SIGNS: the same facts, about the launch that lives; nothing is decided from them ---- */

static void signs_seen(void *arg, bool ran)
{
	struct observe_job *job = arg;
	const struct launch *launch = journal_launch(&job->driver->life.journal);
	struct event event = {.type = EVENT_SIGNS};

	if (ran && launch) {
		event.signs.launch = job->launch;
		signs_read(launch, &job->facts, &event.signs.signs);
		driver_step(job->driver, &event);
	}
	free_observe(job);
}

static void signs_ha_observed(void *arg, bool ran)
{
	struct observe_job *job = arg;

	if (ran && !job->driver->closing)
		lane_submit(job->driver->store_lane, gather_work, signs_seen, job);
	else
		free_observe(job);
}

static void seek(struct driver *driver)
{
	struct observe_job *job = observe_job_new(driver);

	if (!driver_ha_observe(driver, &job->plan, signs_ha_observed, job))
		lane_submit(driver->store_lane, gather_work, signs_seen, job);
}

/* ---- INSPECT ---- */

struct inspect_job {
	struct driver *driver;
	bool background;
	struct candidate candidate;
};

static void inspect_work(void *arg)
{
	struct inspect_job *job = arg;

	observe_verify(&job->driver->setup->storage, &job->candidate);
}

static void inspected(void *arg, bool ran)
{
	struct inspect_job *job = arg;
	struct event event;

	inspection_says(&job->candidate, job->background, &event);
	if (ran)
		driver_step(job->driver, &event);
	snapshot_release(&job->candidate.snapshot);
	free(job->candidate.operators);
	free(job->candidate.detail);
	free(job);
}

static void inspect(struct driver *driver, const struct effect *effect)
{
	struct inspect_job *job = xcalloc(1, sizeof(*job));

	job->driver = driver;
	job->background = effect->background;
	job->candidate.snapshot.path = xstrdup(effect->text);
	job->candidate.snapshot.size_bytes = job->candidate.snapshot.file_count = -1;
	lane_submit(job->background ? driver->review_lane : driver->store_lane, inspect_work,
		    inspected, job);
}

/* ---- the part ---- */

static int observe_open(struct driver *driver, struct err *err)
{
	(void)err;
	driver->store_lane = lane_new(driver->workers, "drey-store");
	driver->review_lane = lane_new(driver->workers, "drey-review");
	return 0;
}

static void observe_execute(struct driver *driver, const struct effect *effect)
{
	if (effect->type == EFFECT_OBSERVE)
		observe(driver);
	else if (effect->type == EFFECT_SIGNS)
		seek(driver);
	else if (effect->type == EFFECT_INSPECT)
		inspect(driver, effect);
}

static void observe_close(struct driver *driver)
{
	lane_free(driver->store_lane, LANE_PATIENCE_MS);
	driver->store_lane = NULL;
	lane_free(driver->review_lane, 0);
	driver->review_lane = NULL;
	json_free(driver->decision);
	driver->decision = NULL;
}

const struct part part_observe = {
	.name = "observe",
	.open = observe_open,
	.execute = observe_execute,
	.close = observe_close,
};
