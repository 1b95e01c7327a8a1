/* The candidate's own journal: how it is seeded, and how it is adopted. */
#include "core/handover/transition.h"
#include "core/journal/journal_adopt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/rng.h"
#include "tap.h"

#define HANDOVER "h2-3f2ac1d0"
#define SEED     "file:/sp/seed"
#define NOW      INT64_C(1800000000000)

static void job(char id[JOB_ID_BYTES], int number)
{
	snprintf(id, JOB_ID_BYTES, "%032d", number);
}

static struct launch *launched(struct journal *journal, int number, const char *from)
{
	struct launch *launch = journal_add_launch(journal);

	job(launch->job_id, number);
	launch->restore_path = xstrdup(from);
	launch->intended_unix_ms = NOW - 1000 + number;
	launch->started_unix_ms = NOW - 900 + number;
	return launch;
}

static void made(struct journal *journal, const char *path, int64_t id)
{
	struct snapshot snapshot = {.path = (char *)(uintptr_t)path,
				    .kind = SNAPSHOT_SAVEPOINT,
				    .checkpoint_id = id,
				    .size_bytes = -1,
				    .file_count = -1};

	journal_add_snapshot(journal, &snapshot);
}

static void name(struct party *party, const char *pod, enum side side)
{
	xstrset(&party->pod, pod);
	party->uid = xasprintf("u-%s", pod);
	party->template = xasprintf("g-%s/c1/h1", pod);
	party->side = side;
}

/* The owner's: job 1 runs, and there is a seed for the candidate. */
static void owner(struct journal *journal)
{
	struct handover *handover = &journal->handover;

	journal_init(journal, "orders");
	journal->sequence = 40;
	xstrset(&journal->writer, "old/u-old/1");
	name(&journal->owner, "old", SIDE_BLUE);
	name(&handover->from, "old", SIDE_BLUE);
	name(&handover->to, "new", SIDE_GREEN);
	xstrset(&handover->id, HANDOVER);
	handover->state = HANDOVER_OFFERED;
	xstrset(&handover->transition.id, HANDOVER);
	handover->transition.state = TRANSITION_SEEDED;
	handover->transition.seed = (struct transition_point){xstrdup(SEED), 41};
	journal->ever_proven = true;
	launched(journal, 1, NULL);
	made(journal, SEED, 41);
	journal_add_log(journal, NOW - 5, "the owner's");
}

/* The owner has stopped with a savepoint, and grants. */
static void grants(struct journal *journal)
{
	made(journal, "file:/sp/stop", 57);
	journal->sequence = 61;
	journal->handover.state = HANDOVER_GRANTED;
	journal->handover.transition.state = TRANSITION_GRANTED;
}

static char *encoded(struct journal *journal)
{
	struct buf text = {0};
	char *copy;

	CHECK(!journal_encode(journal, &text, &(struct err){0}));
	copy = xstrdup(buf_str(&text));
	buf_release(&text);
	return copy;
}

/* ---- the seed ---- */

TEST(a_seed_starts_from_the_savepoint_and_wants_nothing_else)
{
	struct journal main, mine;

	owner(&main);
	main.intent.state = DESIRED_SUSPENDED;
	main.intent.do_not_restart = true;
	xstrset(&main.intent.savepoint_nonce, "s1");
	xstrset(&main.intent.restart_nonce, "r1");
	main.intent.restore =
		(struct restore_request){.kind = RESTORE_EMPTY, .token = xstrdup("a person's")};
	journal_ask_savepoint(&main, "s1");
	journal_ask_checkpoint(&main, "c1", false);
	main.operation.kind = OPERATION_SAVEPOINT;
	main.outcome.kind = OUTCOME_FAILED;
	xstrset(&main.disposing, "file:/sp/older");
	journal_add_failure(&main, NOW);
	journal_set_error(&main, "of the owner", NOW);
	journal_seed(&main, true, NOW, &mine);
	CHECK_INT(mine.intent.state, ==, DESIRED_RUNNING);
	CHECK(!mine.intent.do_not_restart);
	CHECK_INT(mine.intent.restore.kind, ==, RESTORE_PATH);
	CHECK_STR(mine.intent.restore.path, SEED);
	CHECK_STR(mine.intent.restore.token, HANDOVER);
	CHECK(mine.intent.restore.allow_non_restored);
	CHECK(!journal_savepoint_wanted(&mine) && !journal_restart_wanted(&mine));
	CHECK(!journal_savepoint_waits(&mine) && !journal_checkpoint_wanted(&mine));
	CHECK_INT(mine.operation.kind, ==, OPERATION_NONE);
	CHECK_INT(mine.outcome.kind, ==, OUTCOME_NONE);
	CHECK(!mine.disposing && !mine.last_error && !mine.failure_count && !mine.log_count);
	CHECK_STR(mine.owner.uid, "u-new");
	CHECK_INT(mine.owner.side, ==, SIDE_GREEN);
	CHECK_INT(mine.sequence, ==, 0);
	CHECK(!mine.writer && !mine.writer_count);
	/* the owner's is as it was */
	CHECK_INT(main.intent.state, ==, DESIRED_SUSPENDED);
	CHECK_STR(main.intent.restore.token, "a person's");
	journal_release(&mine);
	journal_release(&main);
}

TEST(a_seed_knows_the_state_and_not_the_running_job)
{
	struct journal main, mine, back;
	char *text;

	owner(&main);
	journal_seed(&main, false, NOW, &mine);
	CHECK(mine.ever_proven); /* so it never starts empty */
	CHECK(journal_snapshot(&mine, SEED) != NULL);
	if (CHECK(mine.launch_count == 1)) {
		CHECK(mine.launches[0].job_ended && mine.launches[0].end_known);
		CHECK_INT(mine.launches[0].ended_unix_ms, ==, NOW);
		CHECK_INT(mine.launches[0].wait_status, ==, 0);
	}
	CHECK(!main.launches[0].job_ended && !main.launches[0].ended_unix_ms);
	text = encoded(&mine);
	if (CHECK(!journal_decode(text, strlen(text), &back, &(struct err){0}))) {
		CHECK(journal_is_seeded(&back, &main.handover));
		journal_release(&back);
	}
	free(text);
	journal_release(&mine);
	journal_release(&main);
}

TEST(a_seed_belongs_to_one_hand_over)
{
	struct journal main, mine;

	owner(&main);
	journal_seed(&main, false, NOW, &mine);
	CHECK(journal_is_seeded(&mine, &main.handover));
	/* the request was carried out, and is only a token by now */
	journal_consume(&mine, HANDOVER);
	xstrset(&mine.intent.restore.token, NULL);
	CHECK(journal_is_seeded(&mine, &main.handover));
	xstrset(&main.handover.id, "h3-00000001");
	CHECK(!journal_is_seeded(&mine, &main.handover));
	xstrset(&main.handover.transition.id, "h3-00000001");
	CHECK(!journal_is_seeded(&mine, &main.handover));
	transition_release(&main.handover.transition);
	CHECK(!journal_is_seeded(&mine, &main.handover));
	journal_release(&mine);
	journal_release(&main);
}

TEST(numbered_job_ids_are_set_aside_once)
{
	struct journal main, mine;

	owner(&main);
	journal_reserve(&main, 5, 8); /* ids are not numbered */
	CHECK_INT(main.handover.transition.numbers, ==, 0);
	xstrset(&main.id_space, "shop/orders/");
	main.id_next = 3;
	journal_reserve(&main, 5, 8);
	journal_reserve(&main, 20, 8);
	CHECK_INT(main.id_next, ==, 3);
	CHECK_INT(main.handover.transition.first_number, ==, 5);
	CHECK_INT(main.handover.transition.numbers, ==, 8);
	journal_seed(&main, false, NOW, &mine);
	CHECK_INT(mine.id_next, ==, 5);
	mine.id_next = 7;
	grants(&main);
	CHECK(journal_adopt(&main, &mine, NOW));
	CHECK_INT(main.id_next, ==, 3); /* where the owner looks next */
	journal_release(&mine);
	journal_release(&main);
}

/* ---- the adoption ---- */

TEST(an_adoption_adds_what_has_happened_there)
{
	struct journal main, mine, back;
	char *text;

	owner(&main);
	xstrset(&main.intent.savepoint_nonce, "s1");
	journal_seed(&main, false, NOW, &mine);
	xstrset(&mine.writer, "new/u-new/7");
	launched(&mine, 20, SEED)->ended_unix_ms = NOW + 1;
	launched(&mine, 21, SEED);
	mine.launches[2].proven_unix_ms = NOW + 9;
	made(&mine, "file:/sp/of-new", 44);
	journal_consume(&mine, HANDOVER);
	journal_add_failure(&mine, NOW + 1);
	journal_set_error(&mine, "once", NOW + 1);
	journal_add_log(&mine, NOW + 2, "the candidate's");
	journal_add_former_job(&mine, "0123456789abcdef0123456789abcdef");
	/* meanwhile the owner's job was launched once more, and is stopped */
	launched(&main, 2, "file:/chk/45");
	xstrset(&main.intent.savepoint_nonce, "s2");
	grants(&main);
	if (CHECK(journal_adopt(&main, &mine, NOW + 50))) {
		CHECK_INT(main.launch_count, ==, 4);
		CHECK_INT(main.launches[1].number, ==, 2);
		CHECK(main.launches[1].job_ended && main.launches[1].end_known);
		CHECK_INT(main.launches[2].number, ==, 3);
		CHECK_STR(main.launches[3].job_id, "00000000000000000000000000000021");
		CHECK_STR(main.launches[3].restore_path, SEED);
		CHECK(main.launches[3].proven_unix_ms && !main.launches[3].job_ended);
		CHECK(!main.launches[0].job_ended); /* an earlier one is left as it was */
		CHECK(journal_snapshot(&main, "file:/sp/stop") &&
		      journal_snapshot(&main, "file:/sp/of-new"));
		CHECK(journal_is_consumed(&main, HANDOVER));
		CHECK(journal_is_former_job(&main, "0123456789abcdef0123456789abcdef"));
		CHECK_INT(main.failure_count, ==, 1);
		CHECK_STR(main.last_error, "once");
		CHECK_INT(main.last_error_launch, ==, 4); /* its last launch, there number 3 */
		CHECK_INT(main.log_count, ==, 2);
		CHECK_STR(main.owner.uid, "u-new");
		CHECK_INT(main.owner.side, ==, SIDE_GREEN);
		CHECK_INT(main.sequence, ==, 61);
		/* what people want is in the application's journal */
		CHECK_STR(main.intent.savepoint_nonce, "s2");
		CHECK_INT(main.intent.restore.kind, ==, RESTORE_NONE);
		CHECK_INT(main.handover.state, ==, HANDOVER_GRANTED);
		text = encoded(&main);
		if (CHECK(!journal_decode(text, strlen(text), &back, &(struct err){0})))
			journal_release(&back);
		free(text);
	}
	journal_release(&mine);
	journal_release(&main);
}

TEST(a_journal_of_another_hand_over_is_not_adopted)
{
	struct journal main, mine;
	char *before, *after;

	owner(&main);
	journal_seed(&main, false, NOW, &mine);
	launched(&mine, 20, SEED);
	grants(&main);
	xstrset(&main.handover.id, "h3-00000001");
	xstrset(&main.handover.transition.id, "h3-00000001");
	before = encoded(&main);
	CHECK(!journal_adopt(&main, &mine, NOW));
	after = encoded(&main);
	CHECK_STR(after, before);
	free(before);
	free(after);
	journal_release(&mine);
	journal_release(&main);
}

TEST(a_job_that_has_finished_there_has_finished)
{
	struct journal main, mine;

	owner(&main);
	journal_seed(&main, false, NOW, &mine);
	launched(&mine, 20, SEED);
	mine.outcome = (struct outcome){.kind = OUTCOME_FINISHED, .reason = xstrdup("all read")};
	grants(&main);
	CHECK(journal_adopt(&main, &mine, NOW));
	CHECK_INT(main.outcome.kind, ==, OUTCOME_FINISHED);
	CHECK_STR(main.outcome.reason, "all read");
	journal_release(&mine);
	journal_release(&main);
}

/* The answer to the write was lost, and the journal is read and adopted again; Flink has continued the job
 * in between. */
TEST(a_launch_that_continues_a_job_is_added_to_it)
{
	struct journal main, mine;

	owner(&main);
	journal_seed(&main, false, NOW, &mine);
	launched(&mine, 20, SEED);
	grants(&main);
	CHECK(journal_adopt(&main, &mine, NOW));
	launched(&mine, 20, "file:/chk/60");
	CHECK(journal_adopt(&main, &mine, NOW));
	CHECK_INT(main.launch_count, ==, 3);
	CHECK_STR(main.launches[2].restore_path, "file:/chk/60");
	CHECK(journal_adopt(&main, &mine, NOW));
	CHECK_INT(main.launch_count, ==, 3);
	journal_release(&mine);
	journal_release(&main);
}

/* ---- whatever happens ---- */

static void live(struct journal *journal, struct rng *rng, int first_job)
{
	char path[64];

	for (int64_t i = rng_below(rng, 6); i > 0; i--) {
		int what = (int)rng_below(rng, 5);

		snprintf(path, sizeof(path), "file:/sp/%d", (int)rng_below(rng, 40));
		if (what == 0)
			launched(journal, first_job + (int)rng_below(rng, 3), path);
		else if (what == 1)
			made(journal, path, 50 + rng_below(rng, 20));
		else if (what == 2)
			journal_add_failure(journal, NOW + rng_below(rng, 100));
		else if (what == 3)
			journal_add_log(journal, NOW + rng_below(rng, 100), path);
		else
			journal_consume(journal, path);
	}
}

static bool knows_all(const struct journal *journal, const struct journal *of)
{
	for (size_t i = 0; i < of->launch_count; i++)
		if (!journal_knows_job(journal, of->launches[i].job_id))
			return false;
	for (size_t i = 0; i < of->snapshot_count; i++)
		if (!journal_snapshot(journal, of->snapshots[i].path))
			return false;
	for (size_t i = 0; i < of->consumed_count; i++)
		if (!journal_is_consumed(journal, of->consumed[i]))
			return false;
	return true;
}

static bool one_history(uint64_t seed)
{
	struct journal main, mine, before, back;
	char *once, *twice;
	struct rng rng;
	bool well;

	rng_seed(&rng, seed);
	owner(&main);
	live(&main, &rng, 2);
	journal_seed(&main, rng_below(&rng, 2), NOW, &mine);
	live(&mine, &rng, 20);
	live(&main, &rng, 2);
	grants(&main);
	once = encoded(&main);
	well = !journal_decode(once, strlen(once), &before, &(struct err){0});
	free(once);
	well = well && journal_adopt(&main, &mine, NOW);
	once = encoded(&main); /* and its numbers ascend, or it could not be read */
	well = well && knows_all(&main, &before) && knows_all(&main, &mine) &&
	       !journal_decode(once, strlen(once), &back, &(struct err){0});
	if (well) {
		well = journal_adopt(&back, &mine, NOW + 77);
		twice = encoded(&back);
		well = well && !strcmp(once, twice) && back.intent.state == before.intent.state &&
		       back.intent.restore.kind == before.intent.restore.kind;
		free(twice);
		journal_release(&back);
	}
	free(once);
	journal_release(&before);
	journal_release(&mine);
	journal_release(&main);
	return well;
}

TEST(nothing_is_lost_and_a_second_adoption_changes_nothing)
{
	int failed = 0;

	for (uint64_t seed = 1; seed <= 3000 && !failed; seed++) {
		failed += !one_history(seed);
		if (failed)
			tap_note("seed %d", (int)seed);
	}
	CHECK_INT(failed, ==, 0);
}
