/* What a generation may start from, and whether it may start at all. */
#include "core/journal/journal_fields.h"
#include "resolve_world.h"

#define CHK_A(n)  "file:/cp/" JOB_A "/chk-" #n
#define CHK_B(n)  "file:/cp/" JOB_B "/chk-" #n
#define SAVE_A(n) "file:/sp/savepoint-aaaaaa-0000000000" #n

static struct launch *of(struct launch *launch, const char *generation)
{
	xstrset(&launch->generation, generation);
	return launch;
}

/* Generation g1 has run, and g2 is to follow. */
static void begin_upgrade(struct world *w)
{
	begin(w);
	of(proved(w, JOB_A, NULL, 0, 20), "g1");
	found_checkpoint(w, JOB_A, 20);
	found_savepoint(w, JOB_A, 21);
	w->policy.generation = "g2";
}

static void fail_for_good(struct world *w, const char *generation)
{
	w->journal.outcome.kind = OUTCOME_FAILED;
	if (generation)
		journal_add_failed_generation(&w->journal, generation);
}

WORLD_TEST_FROM(begin_upgrade, a_failure_binds_its_own_generation)
{
	fail_for_good(w, NULL);
	CHECK_STARTS_FROM(w, SAVE_A(21));
	w->policy.generation = "g1";
	CHECK_DECIDES(w, PARK);
	w->policy.generation = NULL; /* not known is not another one */
	CHECK_DECIDES(w, PARK);
	w->policy.generation = "g2";
	xstrset(&w->journal.launches[0].generation, NULL);
	CHECK_DECIDES(w, PARK);
}

WORLD_TEST_FROM(begin_upgrade, other_outcomes_bind_every_generation)
{
	static const enum outcome_kind kinds[] = {OUTCOME_FINISHED, OUTCOME_CANCELLED,
						  OUTCOME_UNKNOWN};

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		w->journal.outcome.kind = kinds[i];
		CHECK_DECIDES(w, PARK);
	}
	w->journal.outcome.kind = OUTCOME_RESTORE_MISMATCH;
	CHECK_DECIDES(w, HOLD);
}

WORLD_TEST_FROM(begin_upgrade, one_that_has_failed_is_parked_also_after_another_has_run)
{
	journal_add_failed_generation(&w->journal, "g2");
	CHECK_DECIDES(w, PARK);
	CHECK_INT(w->decision.rule, ==, 2);
	CHECK_HAS(w->decision.reason, "generation g2 has used up its attempts without");
	fail_for_good(w, NULL); /* g1, in between */
	CHECK_DECIDES(w, PARK);
	w->policy.generation = "g3";
	CHECK_STARTS_FROM(w, SAVE_A(21));
}

WORLD_TEST_FROM(begin_upgrade, do_not_restart_goes_before_the_generation)
{
	fail_for_good(w, NULL);
	w->journal.intent.do_not_restart = true;
	CHECK_DECIDES(w, PARK);
	CHECK_INT(w->decision.rule, ==, 1);
}

WORLD_TEST_FROM(begin_upgrade, a_rollback_starts_from_the_savepoint_of_the_upgrade)
{
	of(ran(w, JOB_B, SAVE_A(21), 21), "g2");
	fail_for_good(w, "g2");
	w->policy.generation = "g1";
	CHECK_STARTS_FROM(w, SAVE_A(21));

	/* once the bad one has moved on, its state is the newest; older state is a person's choice */
	w->journal.launches[1].last_checkpoint_id = 22;
	xstrset(&w->journal.launches[1].last_checkpoint_path, CHK_B(22));
	found_checkpoint(w, JOB_B, 22);
	CHECK_STARTS_FROM(w, CHK_B(22));
	request(w, RESTORE_PATH, SAVE_A(21), "t1");
	CHECK_STARTS_FROM(w, SAVE_A(21));
}

WORLD_TEST_FROM(begin_upgrade, a_stateless_upgrade_starts_empty)
{
	w->policy.stateless_upgrade = true;
	CHECK_DECIDES(w, START_EMPTY);
	CHECK_HAS(w->decision.reason, "upgrade is stateless: generation g2");

	/* and again, until a launch of this generation has left state */
	of(ran(w, JOB_B, NULL, 0), "g2");
	CHECK_DECIDES(w, START_EMPTY);
	found_checkpoint(w, JOB_B, 1);
	CHECK_STARTS_FROM(w, CHK_B(1));
	w->policy.generation = "g3";
	CHECK_DECIDES(w, START_EMPTY);
}

/* So many have failed that the journal has dropped the last one of the generation before. */
WORLD_TEST_FROM(begin_upgrade, an_upgrade_stays_stateless_however_often_it_fails)
{
	w->policy.stateless_upgrade = true;
	of(ran(w, JOB_B, NULL, 0), "g2");
	journal_add_former_job(&w->journal, JOB_A);
	record_list_remove(&launch_table, w->journal.launches, &w->journal.launch_count, 0, 1);
	w->journal.ever_proven = true;
	CHECK_DECIDES(w, START_EMPTY);
	CHECK_HAS(w->decision.reason, "upgrade is stateless: generation g2");
	/* none of that generation was proven, either, and the savepoint that it began with is still configured */
	w->journal.ever_proven = false;
	given_initial(w, 900);
	CHECK_DECIDES(w, START_EMPTY);
	CHECK_HAS(w->decision.reason, "upgrade is stateless: generation g2");
}

WORLD_TEST_FROM(begin_upgrade, a_restart_of_the_same_generation_keeps_its_state)
{
	w->policy.stateless_upgrade = true;
	w->policy.generation = "g1";
	CHECK_STARTS_FROM(w, SAVE_A(21));
}

WORLD_TEST_FROM(begin_upgrade, what_was_seen_of_a_generation_once_is_its_state)
{
	struct launch *launch;

	w->policy.stateless_upgrade = true;
	launch = of(ran(w, JOB_B, NULL, 0), "g2");
	CHECK_DECIDES(w, START_EMPTY);
	launch->left_state = true;
	CHECK_DECIDES(w, HOLD);
}

WORLD_TEST_FROM(begin_upgrade, what_cannot_be_read_does_not_end_a_stateless_upgrade)
{
	w->policy.stateless_upgrade = true;
	of(ran(w, JOB_B, NULL, 0), "g2");
	of(ran(w, JOB_C, NULL, 0), "g2");
	broken(found_savepoint(w, JOB_B, 1), INTEGRITY_UNREADABLE, "permission denied");
	CHECK_DECIDES(w, HOLD);
	CHECK_INT(w->decision.cause, ==, CAUSE_SNAPSHOT_UNREADABLE);
	CHECK_HAS(w->decision.reason, "which tells whether generation g2 has left state");
}

WORLD_TEST_FROM(begin_upgrade, what_only_the_ha_data_know_of_a_generation_is_its_state)
{
	struct candidate *entry;

	w->policy.stateless_upgrade = true;
	of(ran(w, JOB_B, NULL, 0), "g2");
	entry = found_checkpoint(w, JOB_B, 1);
	broken(entry, INTEGRITY_INCOMPLETE, "no _metadata");
	CHECK_DECIDES(w, START_EMPTY); /* never completed */
	in_ha(w, entry, JOB_B);
	CHECK_DECIDES(w, HOLD);
	CHECK_HAS(w->decision.reason, "has run before, but no usable snapshot");
}

WORLD_TEST_FROM(begin_upgrade, a_launch_that_never_ran_makes_no_upgrade)
{
	w->policy.stateless_upgrade = true;
	of(intended(w, JOB_B, NULL, 0), "g2"); /* withdrawn: the old image came back first */
	w->policy.generation = "g1";
	CHECK_STARTS_FROM(w, SAVE_A(21));
}

WORLD_TEST_FROM(begin_upgrade, what_is_not_known_to_be_another_generation_keeps_its_state)
{
	w->policy.stateless_upgrade = true;
	w->policy.generation = NULL;
	CHECK_STARTS_FROM(w, SAVE_A(21));
	w->policy.generation = "g2";
	xstrset(&w->journal.launches[0].generation, NULL);
	CHECK_STARTS_FROM(w, SAVE_A(21));
}

WORLD_TEST_FROM(begin_upgrade, a_person_can_give_a_stateless_upgrade_state)
{
	w->policy.stateless_upgrade = true;
	request(w, RESTORE_PATH, SAVE_A(21), "t1");
	CHECK_STARTS_FROM(w, SAVE_A(21));
	of(ran(w, JOB_B, SAVE_A(21), 21), "g2");
	carried_out(w);
	CHECK_STARTS_FROM(w, SAVE_A(21)); /* not used up by a launch that has not proven itself */
}

WORLD_TEST_FROM(begin_upgrade, a_stateless_upgrade_waits_for_what_cannot_be_read)
{
	w->policy.stateless_upgrade = true;
	of(ran(w, JOB_B, NULL, 0), "g2");
	facts_set_source(&w->facts, SOURCE_CHECKPOINTS, SOURCE_UNREADABLE, "timeout");
	CHECK_DECIDES(w, HOLD);
}

/* Flink has told of it, and it was gone before anybody could look: its checkpoint id is not known. */
static void told_of(struct world *w, const char *job, int64_t unix_ms)
{
	struct snapshot told = {.path = "file:/sp/savepoint-aaaaaa-1",
				.kind = SNAPSHOT_SAVEPOINT,
				.completed_unix_ms = unix_ms,
				.size_bytes = -1,
				.file_count = -1};

	snprintf(told.job_id, sizeof(told.job_id), "%s", job);
	journal_add_snapshot(&w->journal, &told);
}

/* Lying world, 1486185: Flink's answer came when the next launch had begun, from the snapshot before; that launch left nothing. */
WORLD_TEST(a_savepoint_that_flink_told_of_late_is_not_gone_back_behind)
{
	struct launch *later;

	proved(w, JOB_A, NULL, 0, 7);
	later = ran(w, JOB_B, "file:/cp/" JOB_A "/chk-7", 7);
	later->intended_unix_ms = 7900;
	found_checkpoint(w, JOB_A, 7);
	told_of(w, JOB_A, 8000);
	CHECK_DECIDES(w, HOLD);
	CHECK_INT(w->decision.cause, ==, CAUSE_NEWEST_STATE_MISSING);
	CHECK_HAS(w->decision.reason, "savepoint-aaaaaa-1, but it was not found");
	/* it was known, and not taken */
	later->intended_unix_ms = 8001;
	CHECK_DECIDES(w, START_FROM);
	later->intended_unix_ms = 7900;
	/* a person has gone back */
	xstrset(&later->request_token, "t1");
	CHECK_DECIDES(w, START_FROM);
	xstrset(&later->request_token, NULL);
	/* what the later launch has left comes after it */
	found_checkpoint(w, JOB_B, 8);
	CHECK_DECIDES(w, START_FROM);
}

TEST(a_savepoint_that_was_gone_before_anybody_looked_is_not_gone_back_behind)
{
	struct candidate *c;
	struct world w;

	begin(&w); /* chk-7 was completed before it */
	proved(&w, JOB_A, NULL, 0, 7);
	found_checkpoint(&w, JOB_A, 7);
	told_of(&w, JOB_A, 8000);
	CHECK_DECIDES(&w, HOLD);
	CHECK_INT(w.decision.cause, ==, CAUSE_NEWEST_STATE_MISSING);
	CHECK_HAS(w.decision.reason, "savepoint-aaaaaa-1, but it was not found");
	end(&w);

	begin(&w); /* nor behind it by Flink's own HA */
	proved(&w, JOB_A, NULL, 0, 7);
	in_ha(&w, found_checkpoint(&w, JOB_A, 7), JOB_A);
	same_as_ever(&w);
	told_of(&w, JOB_A, 8000);
	CHECK_DECIDES(&w, HOLD);
	end(&w);

	begin(&w); /* chk-9 came more than a minute later */
	proved(&w, JOB_A, NULL, 0, 9);
	found_checkpoint(&w, JOB_A, 9)->snapshot.completed_unix_ms = 70000;
	told_of(&w, JOB_A, 8000);
	CHECK_DECIDES(&w, START_FROM);
	end(&w);

	begin(&w); /* a later launch has been decided without it, long ago */
	proved(&w, JOB_A, NULL, 0, 7);
	proved(&w, JOB_B, "file:/cp/" JOB_A "/chk-7", 7, 8);
	found_checkpoint(&w, JOB_B, 8);
	told_of(&w, JOB_A, 20000);
	CHECK_DECIDES(&w, START_FROM);
	end(&w);

	begin(&w); /* it is there: its own checkpoint id counts */
	proved(&w, JOB_A, NULL, 0, 7);
	found_checkpoint(&w, JOB_A, 7);
	told_of(&w, JOB_A, 8000);
	c = found(&w, SOURCE_SAVEPOINTS, "file:/sp/savepoint-aaaaaa-1", SNAPSHOT_SAVEPOINT,
		  "aaaaaa", 8);
	CHECK_DECIDES(&w, START_FROM);
	CHECK_INT(w.decision.candidate, ==, (size_t)(c - w.facts.candidates));
	end(&w);
}
