/* Completed checkpoints are read while the job runs: which, how often, and what a verdict needs. */
#include "core/report/condition_review.h"
#include "life.h"

#define SECONDS 1000
#define MINUTES (60 * SECONDS)
#define HOURS   (60 * MINUTES)

static struct view completed(int64_t id)
{
	struct view view = job_in(JOB_RUNNING);

	view.completed_id = id;
	view.completed_path = id == 1 ? CHK(1) : id == 2 ? CHK(2) : CHK(3);
	return view;
}

static void begin_reviewing(struct life *l)
{
	life_begin(l);
	l->config.review = (struct review_config){.interval_ms = 6 * HOURS, .requests = 60};
	l->config.poll_tasks_ms = 1000;
	run_empty(l);
	forget(l);
}

#define REVIEW_TEST(name) LIFE_TEST_FROM(begin_reviewing, name)

static void read_as(struct life *l, const char *path, bool readable, bool complete, int64_t files)
{
	struct event e = {.type = EVENT_INSPECTED,
			  .inspected = {.path = path,
					.readable = readable,
					.complete = complete,
					.file_count = files,
					.error = complete ? NULL : "shared/1 is missing",
					.background = true}};

	step(l, &e);
}

static const char *condition_of(const struct life *l)
{
	static struct condition condition;
	static char text[900];

	condition_review(&l->life, &condition);
	snprintf(text, sizeof(text), "%s %s: %s", truth_name(condition.status), condition.reason,
		 condition.message);
	return text;
}

REVIEW_TEST(the_first_checkpoint_after_a_restore_is_read_and_then_one_in_the_interval)
{
	CHECK_NOTHING(l, EFFECT_INSPECT);
	CHECK_HAS(condition_of(l), "Unknown NotYet");
	viewed(l, completed(1));
	CHECK_INT(took(l, EFFECT_INSPECT), ==, 1);
	CHECK_STR(l->inspected, CHK(1));
	CHECK(l->last[EFFECT_INSPECT].background);
	read_as(l, CHK(1), true, true, 5);
	CHECK_HAS(condition_of(l), "False Verified");
	/* nothing newer is nothing to read, and neither is one that comes too soon */
	shown_after(l, 5 * HOURS, completed(2));
	CHECK_INT(took(l, EFFECT_INSPECT), ==, 1);
	shown_after(l, 1 * HOURS, completed(2));
	CHECK_INT(took(l, EFFECT_INSPECT), ==, 2);
	CHECK_STR(l->inspected, CHK(2));
	CHECK_NOTHING(l, EFFECT_SIGNAL);
}

REVIEW_TEST(what_flink_still_shows_as_the_newest_is_unusable)
{
	viewed(l, completed(1));
	forget(l);
	read_as(l, CHK(1), true, false, 5);
	CHECK_INT(took(l, EFFECT_POLL), ==, 1);
	CHECK(l->last[EFFECT_POLL].depth >= POLL_JOB);
	CHECK_HAS(condition_of(l), "Unknown NotYet");
	viewed(l, completed(1));
	CHECK_HAS(condition_of(l), "True Damaged: checkpoint 1 of the running job");
	CHECK_HAS(condition_of(l), "shared/1 is missing; take a savepoint now");
	CHECK_STR(l->told, "review");
	CHECK_HAS(buf_str(&l->durable_text), "shared/1 is missing");
	CHECK_PHASE(l, PHASE_RUNNING);
	CHECK_NOTHING(l, EFFECT_SIGNAL);
	/* a newer one that is complete ends it, and is looked for sooner */
	shown_after(l, 11 * MINUTES, completed(2));
	CHECK_INT(took(l, EFFECT_INSPECT), ==, 1);
	read_as(l, CHK(2), true, true, 5);
	CHECK_HAS(condition_of(l), "False Verified");
	shown_after(l, SECONDS, completed(2));
	CHECK_STR(l->told, "review review");
}

REVIEW_TEST(one_that_flink_has_deleted_for_a_newer_one_says_nothing)
{
	viewed(l, completed(1));
	read_as(l, CHK(1), true, false, 5);
	viewed(l, completed(2));
	CHECK_HAS(condition_of(l), "Unknown NotYet");
	CHECK_INT(took(l, EFFECT_INSPECT), ==, 2);
	CHECK_STR(l->inspected, CHK(2));
	read_as(l, CHK(2), true, true, 5);
	CHECK_HAS(condition_of(l), "False Verified");
}

REVIEW_TEST(a_stop_ends_a_review)
{
	viewed(l, completed(1));
	CHECK_INT(took(l, EFFECT_INSPECT), ==, 1);
	desire(l, DESIRED_SUSPENDED);
	CHECK_INT(took(l, EFFECT_TRIGGER), ==, 1);
	read_as(l, CHK(1), true, true, 5);
	CHECK_HAS(condition_of(l), "Unknown");
	CHECK_INT(journal_launch(&l->life.journal)->reviewed_id, ==, 0);
}

REVIEW_TEST(a_poll_from_before_the_reading_is_no_witness)
{
	struct view old = completed(1);

	viewed(l, completed(1));
	l->life.polling = true; /* it was sent before */
	l->life.polled_ms = l->now_ms;
	l->now_ms += 10;
	read_as(l, CHK(1), true, false, 5);
	viewed(l, old);
	CHECK_HAS(condition_of(l), "Unknown NotYet");
	pass(l, SECONDS);
	viewed(l, completed(1));
	CHECK_HAS(condition_of(l), "True Damaged");
}

REVIEW_TEST(what_cannot_be_read_is_no_verdict_and_is_tried_later)
{
	viewed(l, completed(1));
	read_as(l, CHK(1), false, false, -1);
	CHECK_HAS(condition_of(l), "Unknown NotYet");
	shown_after(l, 9 * MINUTES, completed(2));
	CHECK_INT(took(l, EFFECT_INSPECT), ==, 1);
	shown_after(l, 2 * MINUTES, completed(2));
	CHECK_INT(took(l, EFFECT_INSPECT), ==, 2);
}

REVIEW_TEST(a_checkpoint_of_many_files_makes_the_next_one_wait)
{
	viewed(l, completed(1));
	/* 2 + 10,000 / 12 requests at 60 an hour are nearly 14 h */
	read_as(l, CHK(1), true, true, 10000);
	shown_after(l, 13 * HOURS, completed(2));
	CHECK_INT(took(l, EFFECT_INSPECT), ==, 1);
	shown_after(l, 1 * HOURS, completed(2));
	CHECK_INT(took(l, EFFECT_INSPECT), ==, 2);
}

REVIEW_TEST(a_stop_does_not_wait_for_a_review)
{
	viewed(l, completed(1));
	desire(l, DESIRED_SUSPENDED);
	CHECK_INT(took(l, EFFECT_TRIGGER), ==, 1);
	read_as(l, CHK(1), true, false, 5);
	CHECK_HAS(condition_of(l), "Unknown NotYet");
	CHECK_PHASE(l, PHASE_STOPPING);
}

REVIEW_TEST(the_next_agent_does_not_begin_anew)
{
	char *job = xstrdup(job_of(l));

	viewed(l, completed(1));
	read_as(l, CHK(1), true, true, 5);
	restart_agent(l);
	hello(l, job);
	viewed(l, completed(2));
	CHECK_HAS(condition_of(l), "False Verified");
	CHECK_NOTHING(l, EFFECT_INSPECT);
	shown_after(l, 6 * HOURS, completed(2));
	CHECK_INT(took(l, EFFECT_INSPECT), ==, 1);
	free(job);
}

REVIEW_TEST(without_an_interval_none_is_read)
{
	l->config.review.interval_ms = 0;
	viewed(l, completed(1));
	CHECK_NOTHING(l, EFFECT_INSPECT);
	CHECK_HAS(condition_of(l), "Unknown Off");
}

TEST(few_files_are_asked_for_one_by_one_and_many_by_pages)
{
	CHECK_INT(review_requests(-1), ==, 2);
	CHECK_INT(review_requests(0), ==, 2);
	CHECK_INT(review_requests(24), ==, 26);
	CHECK_INT(review_requests(1200), ==, 102);
	CHECK_INT(review_requests(10000), ==, 835);
}
