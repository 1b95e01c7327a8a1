/* What a candidate starts from, by its own journal (journal_adopt.h); and what the application's journal says
 * after it was adopted. */
#include "core/handover/transition.h"
#include "core/journal/journal_adopt.h"
#include "resolve_world.h"

#define SEED     "file:/sp/savepoint-aaaaaa-000000000005"
#define HANDOVER "h2-0"
#define OWN      "file:/cp/" JOB_B "/chk-6"

/* The owner's job A has made the seed, checkpoint 5, and runs on to 7. */
static void begin_seeded(struct world *w)
{
	struct handover *handover;
	struct journal mine;
	struct snapshot seed = {.path = (char *)(uintptr_t)SEED,
				.kind = SNAPSHOT_SAVEPOINT,
				.checkpoint_id = 5,
				.completed_unix_ms = 5000};

	begin(w);
	proved(w, JOB_A, NULL, 0, 5);
	journal_add_snapshot(&w->journal, &seed);
	handover = &w->journal.handover;
	handover->id = xstrdup(HANDOVER);
	handover->state = HANDOVER_OFFERED;
	handover->transition.id = xstrdup(HANDOVER);
	handover->transition.state = TRANSITION_SEEDED;
	handover->transition.seed.path = xstrdup(SEED);
	handover->to.uid = xstrdup("u-new");
	journal_seed(&w->journal, false, 6000, &mine);
	journal_release(&w->journal);
	w->journal = mine;
	found_savepoint(w, JOB_A, 5);
	found_checkpoint(w, JOB_A, 7);
}

#define SEEDED_TEST(name) TEST_WITH(name, struct world, w, begin_seeded, end)

SEEDED_TEST(it_starts_from_the_seed_although_the_owner_has_newer_state)
{
	CHECK_STARTS_FROM(w, SEED);
	CHECK_INT(w->decision.rule, ==, RULE_REQUEST);
}

SEEDED_TEST(it_does_not_start_without_the_seed)
{
	w->facts.candidates[0].integrity = INTEGRITY_DAMAGED;
	CHECK_DECIDES(w, HOLD);
}

/* The order is carried out once; then its own checkpoints count, and the owner's never. */
SEEDED_TEST(when_it_has_run_it_goes_on_from_its_own_state)
{
	journal_consume(&w->journal, HANDOVER);
	proved(w, JOB_B, SEED, 5, 6);
	CHECK_DECIDES(w, HOLD); /* that is not found: the seed is older */
	found_checkpoint(w, JOB_B, 6);
	CHECK_STARTS_FROM(w, OWN);
}

/* The owner's job was stopped with checkpoint 9: a branch that was left. */
SEEDED_TEST(after_the_adoption_the_state_of_the_owner_is_a_branch_that_was_left)
{
	struct journal mine = w->journal;
	struct snapshot stop = {.path = (char *)"file:/sp/savepoint-aaaaaa-000000000009",
				.kind = SNAPSHOT_SAVEPOINT,
				.checkpoint_id = 9,
				.completed_unix_ms = 9000};

	journal_consume(&mine, HANDOVER);
	w->journal = mine;
	proved(w, JOB_B, SEED, 5, 6);
	mine = w->journal;
	memset(&w->journal, 0, sizeof(w->journal));
	journal_init(&w->journal, "app");
	proved(w, JOB_A, NULL, 0, 8);
	journal_add_snapshot(&w->journal, &stop);
	record_copy(&handover_table, &mine.handover, &w->journal.handover);
	w->journal.handover.state = HANDOVER_GRANTED;
	w->journal.handover.transition.state = TRANSITION_GRANTED;
	CHECK(journal_adopt(&w->journal, &mine, 9500));
	journal_release(&mine);
	found_savepoint(w, JOB_A, 9);
	found_checkpoint(w, JOB_B, 6);
	CHECK_STARTS_FROM(w, OWN);
}
