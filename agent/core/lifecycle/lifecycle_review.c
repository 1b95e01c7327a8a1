/*
 * Reading completed checkpoints while the job runs (review.h). A verdict is recorded with the launch.
 */
#include "core/lifecycle/lifecycle_review.h"

#include <stdlib.h>

#include "base/mem.h"
#include "core/lifecycle/lifecycle_asks.h"
#include "core/lifecycle/lifecycle_blockers.h"
#include "core/lifecycle/lifecycle_effects.h"
#include "core/lifecycle/lifecycle_look.h"
#include "core/lifecycle/lifecycle_state.h"

#define HOUR_MS (60 * 60 * INT64_C(1000))

/* After a checkpoint that could not be read, one that is damaged, and so many that were gone: not sooner. */
#define REVIEW_PAUSE_MS  (10 * 60 * INT64_C(1000))
#define REVIEW_MISSES    5
#define REVIEW_FEW_FILES 24 /* are asked for one by one */
#define REVIEW_PER_PAGE  12 /* as VERIFY_LIST_COST */

int64_t review_requests(int64_t file_count)
{
	if (file_count < 0)
		file_count = 0;
	return 2 + (file_count <= REVIEW_FEW_FILES ? file_count : file_count / REVIEW_PER_PAGE);
}

void review_forget(struct lifecycle *life)
{
	free(life->own->review.error);
	ask_enter(&life->reviewed, STEP_NONE);
	life->own->review = (struct review){0};
}

void review_soon(struct lifecycle *life)
{
	if (life->own->review.due_ms)
		life->own->review.due_ms = life->now_ms;
}

/* Nothing else has to be read, or is about to happen to the job. */
static bool may_review(const struct lifecycle *life)
{
	return life->config->review.interval_ms && !blockers(life, BEGIN_REVIEW);
}

/* A new agent goes on where the one before has stopped. */
static int64_t review_due_ms(struct lifecycle *life, const struct launch *launch)
{
	int64_t age_ms = life->now_unix_ms - launch->reviewed_unix_ms;
	int64_t left_ms = life->config->review.interval_ms - age_ms;

	if (!life->own->review.due_ms && launch->reviewed_id)
		life->own->review.due_ms = life->now_ms + (age_ms < 0 || left_ms < 0 ? 0 : left_ms);
	return life->own->review.due_ms;
}

void review_give_way(struct lifecycle *life)
{
	/* MUT: a review continues although something else needs the job */
	if (life->own->review.step != REVIEW_RESTS && !may_review(life))
		review_forget(life);
}

void review_pursue(struct lifecycle *life)
{
	const struct launch *launch = journal_launch_const(&life->journal);

	if (life->own->review.step != REVIEW_RESTS || !may_review(life) ||
	    !launch->last_checkpoint_path || launch->last_checkpoint_id <= launch->reviewed_id ||
	    life->now_ms < review_due_ms(life, launch))
		return;
	life->own->review.step = REVIEW_READS;
	life->own->review.id = launch->last_checkpoint_id;
	ask_begin(life, ASK_REVIEW, NULL, launch->last_checkpoint_path)->background = true;
}

/* How long until the next one, after one of so many files. */
static int64_t pace_ms(const struct lifecycle *life, int64_t file_count, bool good)
{
	const struct review_config *config = &life->config->review;
	int64_t wait_ms = config->interval_ms, cost_ms;

	if (!good && wait_ms > REVIEW_PAUSE_MS)
		wait_ms = REVIEW_PAUSE_MS;
	if (!config->requests)
		return wait_ms;
	cost_ms = review_requests(file_count) * HOUR_MS / config->requests;
	return cost_ms > wait_ms ? cost_ms : wait_ms;
}

static void rest(struct lifecycle *life, int64_t wait_ms)
{
	int misses = life->own->review.misses;

	review_forget(life);
	life->own->review.misses = misses;
	life->own->review.due_ms = life->now_ms + wait_ms;
}

static void review_record(struct lifecycle *life, int64_t file_count, const char *error)
{
	struct launch *launch = journal_launch(&life->journal);

	launch->reviewed_id = life->own->review.id;
	launch->reviewed_unix_ms = life->now_unix_ms;
	/* MUT: that a checkpoint cannot be restored is not recorded */
	xstrset(&launch->unusable, error);
	life->want_write = true;
	life->own->review.misses = 0;
	rest(life, pace_ms(life, file_count, !error));
}

void review_read(struct lifecycle *life, const struct event *event)
{
	const char *error = event->inspected.error;

	if (event->inspected.readable && event->inspected.complete) {
		review_record(life, event->inspected.file_count, NULL);
	} else if (!event->inspected.readable) {
		note(life, NOTE_WARNING, "cannot read checkpoint %s to verify it: %s",
		     event->inspected.path, error ? error : "no detail");
		rest(life, REVIEW_PAUSE_MS);
	} else {
		life->own->review.step = REVIEW_CONFIRMS;
		xstrset(&life->own->review.error, error ? error : "it is incomplete");
		life->own->review.since_ms = life->now_ms;
		poll_now(life);
	}
}

void review_viewed(struct lifecycle *life, const struct view *view)
{
	if (life->own->review.step != REVIEW_CONFIRMS)
		return;
	if (life->polled_ms < life->own->review.since_ms || !view->statistics_known) {
		life->poll_ms = life->now_ms + life->config->poll_fast_ms;
		return;
	}
	/* MUT: a checkpoint that Flink has deleted counts as damaged */
	if (view->completed_id == life->own->review.id) {
		cleanup_free char *error = xstrdup(life->own->review.error);

		review_record(life, 0, error);
		return;
	}
	rest(life, ++life->own->review.misses < REVIEW_MISSES ? 0 : REVIEW_PAUSE_MS);
	if (life->own->review.due_ms > life->now_ms)
		life->own->review.misses = 0;
}
