#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/handover/transition.h"
#include "core/lifecycle/retention.h"
#include "tests/unit/tap.h"

#define HOUR 3600000LL
#define NOW  (1000 * HOUR)

static void add(struct journal *journal, const char *path, enum snapshot_origin origin,
		int hours_ago)
{
	struct snapshot snapshot = {
		.path = (char *)(uintptr_t)path,
		.kind = SNAPSHOT_SAVEPOINT,
		.origin = origin,
		.completed_unix_ms = NOW - hours_ago * HOUR,
		.verified = true,
	};

	journal_add_snapshot(journal, &snapshot);
}

/* A proven launch with periodic savepoints of 1 to 5 hours ago, /sp/5 is the oldest. */
static void begin(struct journal *journal)
{
	journal_init(journal, "orders");
	journal_add_launch(journal)->proven_unix_ms = NOW - 9 * HOUR;
	add(journal, "/sp/5", ORIGIN_PERIODIC, 5);
	add(journal, "/sp/4", ORIGIN_PERIODIC, 4);
	add(journal, "/sp/3", ORIGIN_PERIODIC, 3);
	add(journal, "/sp/2", ORIGIN_PERIODIC, 2);
	add(journal, "/sp/1", ORIGIN_PERIODIC, 1);
}

static const char *next(struct journal *journal, struct retention retention)
{
	const struct snapshot *snapshot = retention_next(&retention, journal, NOW);

	return snapshot ? snapshot->path : "none";
}

/* All that go, one after another, as one word. */
static void all(struct journal *journal, struct retention retention, char *ret)
{
	const char *path;

	while (*(path = next(journal, retention)) == '/') {
		*ret++ = path[4];
		journal_remove_snapshot(journal, path);
	}
	*ret = '\0';
}

#define JOURNAL_TEST(name) TEST_WITH(name, struct journal, journal, begin, journal_release)

JOURNAL_TEST(nothing_goes_without_a_limit)
{
	CHECK_STR(next(journal, (struct retention){.all_origins = true}), "none");
}

JOURNAL_TEST(the_oldest_go_first_until_the_count_is_right)
{
	char gone[9];

	all(journal, (struct retention){.keep_count = 3}, gone);
	CHECK_STR(gone, "54");
}

/* The clock was ahead when the older one was recorded. */
TEST(the_newest_is_known_by_its_id_too)
{
	struct journal journal;

	journal_init(&journal, "orders");
	journal_add_launch(&journal)->proven_unix_ms = NOW - 9 * HOUR;
	add(&journal, "/sp/2", ORIGIN_PERIODIC, 5);
	add(&journal, "/sp/1", ORIGIN_PERIODIC, 2);
	CHECK_STR(next(&journal, (struct retention){.keep_count = 1}), "/sp/2");
	snprintf(journal_launch(&journal)->job_id, JOB_ID_BYTES, "aaaa");
	for (int i = 0; i < 2; i++)
		snprintf(journal.snapshots[i].job_id, JOB_ID_BYTES, "aaaa");
	CHECK_STR(next(&journal, (struct retention){.keep_count = 1}), "none"); /* who knows */
	journal.snapshots[0].checkpoint_id = 9;
	journal.snapshots[1].checkpoint_id = 8;
	CHECK_STR(next(&journal, (struct retention){.keep_count = 1}), "none");
	journal_release(&journal);
}

JOURNAL_TEST(what_the_job_was_started_from_stays)
{
	struct launch *launch;
	char gone[9];

	launch = journal_launch(journal);
	launch->restore_path = xstrdup("file:/sp/5");
	snprintf(launch->job_id, sizeof(launch->job_id), "aaaa");
	launch = journal_add_launch(journal); /* the same job goes on */
	launch->restore_path = xstrdup("/cp/aaaa/chk-9");
	launch->proven_unix_ms = NOW - HOUR;
	snprintf(launch->job_id, sizeof(launch->job_id), "aaaa");
	all(journal, (struct retention){.keep_count = 3}, gone);
	CHECK_STR(gone, "4");
	launch = journal_add_launch(journal); /* another one */
	launch->proven_unix_ms = NOW - HOUR;
	snprintf(launch->job_id, sizeof(launch->job_id), "bbbb");
	all(journal, (struct retention){.keep_count = 3}, gone);
	CHECK_STR(gone, "5");
}

JOURNAL_TEST(what_is_too_old_goes_but_never_the_newest)
{
	char gone[9];

	all(journal, (struct retention){.max_age_ms = 3 * HOUR}, gone);
	CHECK_STR(gone, "54");
	all(journal, (struct retention){.max_age_ms = 1}, gone);
	CHECK_STR(gone, "32");
}

JOURNAL_TEST(the_newest_verified_one_stays_when_newer_ones_are_not)
{
	char gone[9];

	journal->snapshots[3].verified = journal->snapshots[4].verified = false;
	all(journal, (struct retention){.keep_count = 1}, gone);
	CHECK_STR(gone, "54"); /* /sp/3 stays, and so do those that did not push out anything */
}

/* The clock was set back: what was made last has the oldest date. */
JOURNAL_TEST(the_newest_of_the_job_stays_whatever_the_clock_says)
{
	char gone[8];

	snprintf(journal_launch(journal)->job_id, JOB_ID_BYTES, "aaaa");
	for (size_t i = 0; i < journal->snapshot_count; i++) {
		snprintf(journal->snapshots[i].job_id, JOB_ID_BYTES, "aaaa");
		journal->snapshots[i].checkpoint_id = 10 - (int64_t)i;
	}
	all(journal, (struct retention){.keep_count = 1}, gone);
	CHECK_STR(gone, "432"); /* /sp/5 has the highest id, /sp/1 the latest date */
}

JOURNAL_TEST(only_our_own_periodic_ones_go_by_default)
{
	char gone[9];

	add(journal, "/sp/m", ORIGIN_MANUAL, 8);
	add(journal, "/sp/s", ORIGIN_STOP, 7);
	add(journal, "/sp/i", ORIGIN_INITIAL, 100);
	add(journal, "/sp/f", ORIGIN_FOUND, 100);
	add(journal, "/sp/r", ORIGIN_REQUEST, 100);
	all(journal, (struct retention){.keep_count = 4}, gone);
	CHECK_STR(gone, "5");
	all(journal, (struct retention){.keep_count = 4, .all_origins = true}, gone);
	CHECK_STR(gone, "ms");
}

JOURNAL_TEST(nothing_goes_before_the_launch_is_proven)
{
	journal_add_launch(journal);
	CHECK_STR(next(journal, (struct retention){.keep_count = 1}), "none");
	journal_launch(journal)->proven_unix_ms = NOW;
	CHECK_STR(next(journal, (struct retention){.keep_count = 1}), "/sp/5");
	journal_launch(journal)->mismatched = true;
	CHECK_STR(next(journal, (struct retention){.keep_count = 1}), "none");
}

/* The clock may have been set: what the job was started from is newer than all of before, whatever the
 * dates say. */
JOURNAL_TEST(nothing_goes_when_what_the_job_was_started_from_is_lost)
{
	memset(journal_launch(journal)->job_id, 97, JOB_ID_BYTES - 1);
	journal_launch(journal)->restore_path = xstrdup("/sp/3");
	CHECK_STR(retention_keeper(journal)->path, "/sp/3");
	CHECK_STR(next(journal, (struct retention){.keep_count = 1}), "/sp/5");
	journal->snapshots[2].verified = false;
	CHECK(!retention_keeper(journal));
	CHECK_STR(next(journal, (struct retention){.keep_count = 1}), "none");
}

JOURNAL_TEST(what_somebody_names_stays)
{
	journal->intent.restore.path = xstrdup("file:///sp/5/_metadata");
	CHECK_STR(next(journal, (struct retention){.keep_count = 1}), "/sp/4");
	journal->operation.path = xstrdup("/sp/4");
	CHECK_STR(next(journal, (struct retention){.keep_count = 1}), "/sp/3");
	journal->last_operation.location = xstrdup("/sp/3");
	CHECK_STR(next(journal, (struct retention){.keep_count = 1}), "/sp/2");
}

/* G11: with the least retention there is, from the seed until the next version is proven. */
JOURNAL_TEST(the_seed_and_the_end_of_a_transition_stay_in_every_state)
{
	struct handover *handover = &journal->handover;
	struct transition *transition = &handover->transition;
	const struct retention least = {.keep_count = 1};

	xstrset(&handover->id, "h2-0");
	xstrset(&transition->id, "h2-0");
	xstrset(&transition->seed.path, "/sp/5");
	xstrset(&transition->stop.path, "/sp/4");
	for (int state = TRANSITION_OFFERED; state < TRANSITION_STATES; state++) {
		transition->state = state;
		handover->state = transition_outside(transition->state);
		if (state == TRANSITION_DONE || state == TRANSITION_REFUSED)
			CHECK_STR(next(journal, least), "/sp/5");
		else
			CHECK_STR(next(journal, least), "/sp/3");
	}
}

JOURNAL_TEST(what_a_transition_depends_on_stays_until_it_is_over)
{
	struct handover *handover = &journal->handover;

	xstrset(&handover->id, "h2-0");
	xstrset(&handover->transition.id, "h2-0");
	xstrset(&handover->transition.seed.path, "/sp/5");
	handover->transition.state = TRANSITION_CROSSING;
	handover->state = HANDOVER_OFFERED;
	CHECK_STR(next(journal, (struct retention){.keep_count = 2}), "/sp/4");
	handover->transition.state = TRANSITION_DONE;
	handover->state = HANDOVER_DONE;
	CHECK_STR(next(journal, (struct retention){.keep_count = 2}), "/sp/5");
}

TEST(an_application_that_never_ran_disposes_of_nothing)
{
	struct journal journal;

	journal_init(&journal, "orders");
	add(&journal, "/sp/1", ORIGIN_PERIODIC, 5);
	add(&journal, "/sp/2", ORIGIN_PERIODIC, 4);
	CHECK_STR(next(&journal, (struct retention){.keep_count = 1}), "none");
	journal_release(&journal);
}
