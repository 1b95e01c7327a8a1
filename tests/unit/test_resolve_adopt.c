/*
 * restore.adopt: newest. The journal is lost, and the newest snapshot is taken without a person, if it is
 * certainly this job's and certainly the newest; else drey holds.
 */
#include "resolve_world.h"

enum { HISTORIES = 20000, JOBS = 5, SNAPSHOTS = 12 };

static void the_job_is(struct world *w, const char *letters)
{
	char id[JOB_ID_BYTES] = {0};

	for (; *letters; letters++) {
		memset(id, *letters, JOB_ID_BYTES - 1);
		facts_add_operator(&w->facts, id);
	}
	facts_set_job(&w->facts, SOURCE_PRESENT, NULL);
}

static void adopting(struct world *w)
{
	begin(w);
	w->policy.adopt_lost = ADOPT_NEWEST;
	the_job_is(w, "xyz");
}

#define ADOPT_TEST(name) WORLD_TEST_FROM(adopting, name)

static struct candidate *dated(struct candidate *c, int64_t unix_ms)
{
	c->snapshot.completed_unix_ms = unix_ms;
	return c;
}

#define CHECK_HOLDS(w, why)                                                                        \
	do {                                                                                       \
		CHECK_DECIDES(w, HOLD);                                                            \
		CHECK_INT((w)->decision.cause, ==, CAUSE_JOURNAL_LOST);                            \
		CHECK_HAS((w)->decision.reason, why);                                              \
	} while (0)

ADOPT_TEST(the_newest_is_taken)
{
	with_operators(found_checkpoint(w, JOB_A, 5), "xy");
	with_operators(found_checkpoint(w, JOB_A, 6), "xy");
	with_operators(found_savepoint(w, JOB_B, 9), "xyz");
	CHECK_STARTS_FROM(w, "file:/sp/savepoint-bbbbbb-000000000009");
	CHECK_INT(w->decision.rule, ==, RULE_NEWEST);
	CHECK_HAS(w->decision.reason, "restore.adopt is newest");
	CHECK(!w->decision.allow_non_restored);
}

/* The former holder's Flink lived a little longer, and has deleted what was chosen before it was read. */
ADOPT_TEST(an_adoption_that_restored_nothing_is_made_again)
{
	struct launch *launch = proved(w, JOB_C, "file:/cp/" JOB_A "/chk-5", 5, 0);

	launch->adopted = true;
	launch->verified_unix_ms = launch->proven_unix_ms = launch->last_checkpoint_id = 0;
	launch->left_state = false;
	w->journal.ever_proven = false;
	with_operators(found_checkpoint(w, JOB_A, 6), "xy");
	with_operators(found_checkpoint(w, JOB_A, 7), "xy");
	CHECK_STARTS_FROM(w, "file:/cp/" JOB_A "/chk-7");
	CHECK(w->decision.adopted);
	/* once Flink has confirmed it, what the job before it left is no part of the lineage any more */
	launch->verified_unix_ms = 1000;
	CHECK_DECIDES(w, HOLD);
	CHECK_INT(w->decision.cause, ==, CAUSE_NO_USABLE_STATE);
	CHECK_HAS(w->decision.reason, "; the newest that is there is file:/cp/" JOB_A "/chk-7 (");
}

/* Lying world, 587564: the newest of the other job has no date, since the storage does not answer. */
ADOPT_TEST(a_snapshot_without_a_date_does_not_leave_the_choice_to_others)
{
	struct candidate *undated;

	with_operators(found_savepoint(w, JOB_B, 9), "xyz");
	with_operators(found_checkpoint(w, JOB_A, 7), "xy")->snapshot.completed_unix_ms = 10000;
	undated = dated(with_operators(found_checkpoint(w, JOB_A, 8), "xy"), 0);
	undated->integrity = INTEGRITY_UNREADABLE;
	CHECK_DECIDES(w, HOLD);
	CHECK_INT(w->decision.cause, ==, CAUSE_SNAPSHOT_UNREADABLE);
	CHECK_HAS(w->decision.reason, "/chk-8 cannot be read");
	/* readable, and still without a date */
	undated->integrity = INTEGRITY_COMPLETE;
	CHECK_HOLDS(w, "its date is not known");
	broken(undated, INTEGRITY_DAMAGED, "truncated");
	dated(&w->facts.candidates[0], 11000);
	CHECK_HOLDS(w, "a newer one, of another job, is damaged");
	/* where there is deliberately no journal, only what cannot be read is waited for */
	w->policy.adopt_lost = ADOPT_HOLD;
	w->policy.adopt = true;
	undated->integrity = INTEGRITY_UNREADABLE;
	CHECK_DECIDES(w, HOLD);
	undated->integrity = INTEGRITY_COMPLETE;
	CHECK_STARTS_FROM(w, "file:/sp/savepoint-bbbbbb-000000000009");
}

/* A person had gone back, and that launch ended before it completed anything: Flink's HA data name what it was started from. */
ADOPT_TEST(what_a_later_launch_went_back_from_is_not_adopted)
{
	in_ha(w, with_operators(found_savepoint(w, JOB_A, 5), "xy"), JOB_B);
	in_ha(w, with_operators(found_checkpoint(w, JOB_A, 7), "xy"), JOB_A);
	CHECK_DECIDES(w, HOLD);
	CHECK_INT(w->decision.cause, ==, CAUSE_UNKNOWN_LAUNCH);
	CHECK_HAS(w->decision.reason, "Flink's HA has job " JOB_B);
}

/* The first try found it damaged, agreed with the HA data, and ended before Flink confirmed anything; now it can be read again. */
ADOPT_TEST(a_try_of_adopting_does_not_make_an_unknown_launch_a_known_one)
{
	struct launch *launch = proved(w, JOB_C, "file:/cp/" JOB_A "/chk-5", 5, 0);

	launch->adopted = true;
	launch->verified_unix_ms = launch->proven_unix_ms = launch->last_checkpoint_id = 0;
	launch->left_state = false;
	w->journal.ever_proven = false;
	journal_add_unknown_job(&w->journal, JOB_B);
	in_ha(w, with_operators(found_checkpoint(w, JOB_A, 5), "xy"), JOB_B);
	with_operators(found_savepoint(w, JOB_A, 7), "xy");
	CHECK_DECIDES(w, HOLD);
	CHECK_INT(w->decision.cause, ==, CAUSE_UNKNOWN_LAUNCH);
	CHECK_HAS(w->decision.reason, "Flink's HA has job " JOB_B);
	/* the one that agrees with them is no contradiction */
	broken(&w->facts.candidates[1], INTEGRITY_DAMAGED, "truncated");
	CHECK_STARTS_FROM(w, "file:/cp/" JOB_A "/chk-5");
}

/* Every cluster that is lost leaves one behind, sooner or later. */
ADOPT_TEST(a_checkpoint_that_was_never_completed_hides_no_other_one)
{
	struct candidate *cut;

	dated(with_operators(found_checkpoint(w, JOB_A, 86), "xy"), 1000);
	dated(with_operators(found_checkpoint(w, JOB_B, 98), "xy"), 2000);
	cut = dated(found_checkpoint(w, JOB_B, 99), 0);
	cut->integrity = INTEGRITY_INCOMPLETE;
	CHECK_STARTS_FROM(w, "file:/cp/" JOB_B "/chk-98");
	CHECK_HAS(w->facts.candidates[2].reason, "incomplete");
	/* a directory that is adopted */
	w->policy.adopt_lost = ADOPT_HOLD;
	w->policy.adopt = true;
	CHECK_STARTS_FROM(w, "file:/cp/" JOB_B "/chk-98");
}

ADOPT_TEST(by_default_drey_holds)
{
	w->policy.adopt_lost = ADOPT_HOLD;
	with_operators(found_checkpoint(w, JOB_A, 5), "xy");
	CHECK_HOLDS(w, "may be lost");
}

ADOPT_TEST(nothing_at_all_is_a_first_launch)
{
	CHECK_DECIDES(w, START_EMPTY);
}

/* A journal with launches is not lost: what no launch of it made is never taken. */
ADOPT_TEST(a_journal_with_launches_is_not_lost)
{
	proved(w, JOB_A, NULL, 0, 8);
	with_operators(found_checkpoint(w, JOB_A, 8), "x");
	with_operators(found_checkpoint(w, JOB_B, 9), "x");
	CHECK_DECIDES(w, HOLD);
	CHECK_INT(w->decision.cause, ==, CAUSE_UNKNOWN_NEWER_STATE);
}

ADOPT_TEST(the_job_is_asked_for_only_when_it_matters)
{
	w->facts.job.state = SOURCE_NOT_CONFIGURED;
	resolve(&w->journal, &w->facts, &w->policy, &w->decision);
	CHECK_INT(w->decision.kind, ==, DECISION_START_EMPTY);
	found_checkpoint(w, JOB_A, 5)->integrity = INTEGRITY_UNCHECKED;
	resolve(&w->journal, &w->facts, &w->policy, &w->decision);
	CHECK_INT(w->decision.kind, ==, DECISION_VERIFY);
	CHECK(!w->decision.of_job);
	with_operators(&w->facts.candidates[0], "x")->integrity = INTEGRITY_COMPLETE;
	resolve(&w->journal, &w->facts, &w->policy, &w->decision);
	CHECK_INT(w->decision.kind, ==, DECISION_VERIFY);
	CHECK(w->decision.of_job);
}

ADOPT_TEST(a_job_that_cannot_be_built_adopts_nothing)
{
	with_operators(found_checkpoint(w, JOB_A, 5), "x");
	facts_set_job(&w->facts, SOURCE_UNREADABLE, "main() has thrown");
	CHECK_HOLDS(w, "main() has thrown");
	facts_set_job(&w->facts, SOURCE_ABSENT, "it has no operators");
	CHECK_HOLDS(w, "it has no operators");
}

ADOPT_TEST(another_jobs_snapshot_is_passed_over)
{
	with_operators(found_checkpoint(w, JOB_A, 5), "xy");
	with_operators(found_checkpoint(w, JOB_FOREIGN, 99), "q");
	CHECK_STARTS_FROM(w, "file:/cp/" JOB_A "/chk-5");
}

/* Nothing is ours: drey does not start empty beside another job's state. */
ADOPT_TEST(only_another_jobs_snapshots_hold)
{
	with_operators(found_checkpoint(w, JOB_FOREIGN, 99), "q");
	CHECK_DECIDES(w, HOLD);
	CHECK_INT(w->decision.cause, ==, CAUSE_NO_USABLE_STATE);
}

ADOPT_TEST(state_that_the_job_would_lose_holds)
{
	with_operators(found_checkpoint(w, JOB_A, 5), "xq");
	CHECK_HOLDS(w, "operators that this job does not have");
	with_operators(&w->facts.candidates[0], "");
	CHECK_HOLDS(w, "names no operator");
}

/* A person has once gone back, or files were copied: which is the newest cannot be told. */
ADOPT_TEST(dates_and_ids_that_disagree_hold)
{
	dated(with_operators(found_checkpoint(w, JOB_A, 50), "x"), 1000);
	dated(with_operators(found_checkpoint(w, JOB_B, 12), "x"), 2000);
	CHECK_HOLDS(w, "not the highest checkpoint id");
	CHECK_HAS(w->decision.reason, JOB_A "/chk-50 has 50");
	/* whose it is must be known: it is another job's */
	w->facts.candidates[0].integrity = INTEGRITY_UNCHECKED;
	with_operators(&w->facts.candidates[0], "q");
	CHECK_STARTS_FROM(w, "file:/cp/" JOB_B "/chk-12");
	broken(&w->facts.candidates[0], INTEGRITY_UNREADABLE, "403");
	with_operators(&w->facts.candidates[0], "");
	CHECK_HOLDS(w, "not the highest checkpoint id");
	broken(&w->facts.candidates[0], INTEGRITY_DAMAGED, "a file is missing");
	CHECK_HOLDS(w, "not the highest checkpoint id");
}

/* A job that goes on from checkpoint 1 makes checkpoint 2: this one has restored nothing, which only the journal knew. */
ADOPT_TEST(a_job_that_begins_anew_is_not_the_newest)
{
	dated(with_operators(found_savepoint(w, JOB_A, 1), "x"), 1000);
	dated(with_operators(found_checkpoint(w, JOB_B, 1), "x"), 2000);
	CHECK_HOLDS(w, "not the highest checkpoint id");
	w->facts.candidates[1].snapshot.checkpoint_id = 2;
	CHECK_STARTS_FROM(w, "file:/cp/" JOB_B "/chk-1");
}

/* Inside one job the ids decide: a savepoint may take longer than the checkpoints after it. */
ADOPT_TEST(inside_a_job_the_id_decides)
{
	dated(with_operators(found_savepoint(w, JOB_A, 7), "x"), 9000);
	dated(with_operators(found_checkpoint(w, JOB_A, 8), "x"), 8000);
	CHECK_STARTS_FROM(w, "file:/cp/" JOB_A "/chk-8");
}

ADOPT_TEST(a_damaged_one_is_passed_over_loudly)
{
	with_operators(found_checkpoint(w, JOB_A, 5), "x");
	broken(found_checkpoint(w, JOB_A, 6), INTEGRITY_DAMAGED, "a file is missing");
	CHECK_STARTS_FROM(w, "file:/cp/" JOB_A "/chk-5");
	CHECK(w->facts.candidates[1].passed_over);
	broken(&w->facts.candidates[1], INTEGRITY_UNREADABLE, "timed out");
	CHECK_DECIDES(w, HOLD);
	CHECK_INT(w->decision.cause, ==, CAUSE_SNAPSHOT_UNREADABLE);
}

/* Lying world, 691473: B had been started from chk-5 of A, behind its chk-6. Its own newest is damaged. */
ADOPT_TEST(what_another_job_may_have_gone_back_behind_is_not_adopted)
{
	with_operators(found_checkpoint(w, JOB_A, 6), "xy");
	dated(found_checkpoint(w, JOB_B, 7), 8000);
	broken(&w->facts.candidates[1], INTEGRITY_DAMAGED, "a file is missing");
	CHECK_HOLDS(w, "a newer one, of another job, is damaged");
	CHECK_HAS(w->decision.reason, "(file:/cp/" JOB_B "/chk-7: a file is missing)");
	/* Flink's HA data show that it was started from there */
	in_ha(w, &w->facts.candidates[0], JOB_B);
	CHECK_STARTS_FROM(w, "file:/cp/" JOB_A "/chk-6");
}

ADOPT_TEST(an_unknown_date_holds)
{
	dated(with_operators(found_checkpoint(w, JOB_A, 5), "x"), 0);
	CHECK_HOLDS(w, "date is not known");
}

ADOPT_TEST(an_unreadable_source_holds)
{
	with_operators(found_checkpoint(w, JOB_A, 5), "x");
	facts_set_source(&w->facts, SOURCE_SAVEPOINTS, SOURCE_UNREADABLE, "403");
	CHECK_DECIDES(w, HOLD);
	CHECK_INT(w->decision.cause, ==, CAUSE_STORAGE_UNREADABLE);
}

ADOPT_TEST(do_not_restart_parks)
{
	with_operators(found_checkpoint(w, JOB_A, 5), "x");
	w->journal.intent.do_not_restart = true;
	CHECK_DECIDES(w, PARK);
}

ADOPT_TEST(the_age_limit_holds)
{
	with_operators(found_checkpoint(w, JOB_A, 5), "x");
	w->policy.max_age_ms = 1000;
	w->facts.now_unix_ms = 60000;
	CHECK_DECIDES(w, HOLD);
	CHECK_INT(w->decision.cause, ==, CAUSE_STATE_TOO_OLD);
}

ADOPT_TEST(only_savepoints_by_policy)
{
	with_operators(found_checkpoint(w, JOB_A, 8), "x");
	with_operators(found_savepoint(w, JOB_A, 7), "x");
	w->policy.restore = POLICY_SAVEPOINT;
	CHECK_STARTS_FROM(w, "file:/sp/savepoint-aaaaaa-000000000007");
}

/* A migration: the savepoint that a person names may be newer than all that the old deployment left. */
ADOPT_TEST(an_initial_savepoint_that_may_be_newer_holds)
{
	struct candidate *initial;

	with_operators(found_checkpoint(w, JOB_A, 8), "x");
	with_operators(given_initial(w, 9), "x");
	CHECK_HOLDS(w, "not the highest checkpoint id");
	/* a journal that was lost later */
	with_operators(found_checkpoint(w, JOB_A, 12), "x");
	CHECK_STARTS_FROM(w, "file:/cp/" JOB_A "/chk-12");
	/* what it is cannot be read; and it has been deleted since */
	initial = &w->facts.candidates[1];
	initial->snapshot.checkpoint_id = 0;
	broken(initial, INTEGRITY_UNREADABLE, "403");
	with_operators(initial, "");
	CHECK_HOLDS(w, "not the highest checkpoint id");
	broken(initial, INTEGRITY_INCOMPLETE, "404");
	CHECK_STARTS_FROM(w, "file:/cp/" JOB_A "/chk-12");
}

/* By the dates of one listing it is newer. */
ADOPT_TEST(an_initial_savepoint_that_is_newer_comes_first)
{
	struct candidate *initial;

	with_operators(found_checkpoint(w, JOB_A, 8), "x");
	initial = with_operators(found_savepoint(w, JOB_B, 9), "x");
	initial->snapshot.origin = ORIGIN_INITIAL;
	facts_set_source(&w->facts, SOURCE_INITIAL, SOURCE_PRESENT, "savepoint");
	CHECK_STARTS_FROM(w, "file:/sp/savepoint-bbbbbb-000000000009");
}

/* Directories that are declared as shared: only what no other application can have written. */
ADOPT_TEST(shared_directories_only_with_an_own_job_id)
{
	w->policy.foreign = FOREIGN_IGNORE;
	with_operators(found_checkpoint(w, JOB_A, 8), "x");
	with_operators(found_checkpoint(w, JOB_B, 9), "x");
	facts_add_job(&w->facts, JOB_A);
	CHECK_STARTS_FROM(w, "file:/cp/" JOB_A "/chk-8");
}

/* A request that a person has made is carried out, and nothing else. */
ADOPT_TEST(a_request_comes_first)
{
	with_operators(found_checkpoint(w, JOB_A, 8), "x");
	with_operators(found_checkpoint(w, JOB_B, 9), "x");
	request(w, RESTORE_PATH, "file:/cp/" JOB_A "/chk-8", "t");
	CHECK_STARTS_FROM(w, "file:/cp/" JOB_A "/chk-8");
}

/* ---- at random ---- */

static uint64_t seed;

static unsigned draw(unsigned below)
{
	uint64_t x = seed += UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return (unsigned)((x ^ (x >> 31)) % below);
}

struct history {
	bool ours[SNAPSHOTS + 1];
	int64_t highest_id; /* of ours that are not damaged */
};

/* Launches one after another, each with higher ids than the one that it was started from; sometimes back
 * to an older one. Two of the jobs may be another application's. */
static void draw_history(struct world *w, struct history *h)
{
	static const char *const jobs[JOBS] = {JOB_A, JOB_B, JOB_C, JOB_FOREIGN,
					       "dddddddddddddddddddddddddddddddd"};
	int64_t id = 1, other_id = 1;
	int count = 1 + (int)draw(SNAPSHOTS);

	for (int i = 0; i < count; i++) {
		unsigned job = draw(JOBS);
		bool ours = job < 3;
		struct candidate *c;

		if (!draw(6))
			id = 1 + draw((unsigned)id); /* a person goes back */
		c = found_checkpoint(
			w, jobs[job],
			(ours ? (id += 1 + draw(3)) : (other_id += 1 + draw(9))) * 100 + i);
		c->snapshot.completed_unix_ms = 1000 * (i + 1);
		with_operators(c, ours ? "xy" : "q");
		if (!draw(8))
			broken(c, draw(2) ? INTEGRITY_DAMAGED : INTEGRITY_UNREADABLE, "x");
		h->ours[i] = ours;
		if (!ours || c->integrity == INTEGRITY_DAMAGED)
			continue;
		if (c->snapshot.checkpoint_id > h->highest_id)
			h->highest_id = c->snapshot.checkpoint_id;
	}
}

TEST(what_is_adopted_is_ours_and_has_the_highest_id)
{
	int taken = 0, held = 0;

	for (int i = 0; i < HISTORIES; i++) {
		struct history h = {0};
		struct world w;

		seed = (uint64_t)i;
		adopting(&w);
		draw_history(&w, &h);
		if (decide(&w) == DECISION_START_FROM) {
			const struct candidate *c = &w.facts.candidates[w.decision.candidate];

			taken++;
			CHECK(h.ours[w.decision.candidate]);
			CHECK_INT(c->integrity, ==, INTEGRITY_COMPLETE);
			if (c->snapshot.checkpoint_id != h.highest_id)
				tap_note("history %d", i);
			CHECK_INT(c->snapshot.checkpoint_id, ==, h.highest_id);
		} else {
			held++;
			CHECK_INT(w.decision.kind, ==, DECISION_HOLD);
		}
		end(&w);
	}
	tap_note("%d taken, %d held", taken, held);
	CHECK_INT(taken, >, HISTORIES / 4);
	CHECK_INT(held, >, HISTORIES / 20);
}

/* ---- blue/green: the cut is lost with the journal ---- */

static struct candidate *gated(struct candidate *c, bool holds, int64_t unix_ms)
{
	c->gates_hold = holds;
	return dated(with_operators(c, "xy"), unix_ms);
}

ADOPT_TEST(what_gates_held_back_needs_a_person)
{
	gated(found_checkpoint(w, JOB_A, 5), false, 1000);
	gated(found_checkpoint(w, JOB_A, 6), true, 2000);
	gated(found_checkpoint(w, JOB_A, 7), true, 3000);
	CHECK_HOLDS(w, "with file:/cp/" JOB_A "/chk-5, from before that");
	CHECK_HAS(w->decision.reason, "in the newest state file:/cp/" JOB_A "/chk-7");
	w->facts.candidates[0].integrity = INTEGRITY_UNCHECKED;
	w->truth = INTEGRITY_DAMAGED; /* as is seen when it is verified */
	CHECK_HOLDS(w, "none from before that was found");
}

/* restore.adopt: hold. What the sentence names is what a person does. */
WORLD_TEST(a_lost_journal_names_the_snapshot_that_loses_nothing)
{
	gated(found_checkpoint(w, JOB_A, 5), false, 1000);
	gated(found_checkpoint(w, JOB_A, 6), true, 2000);
	w->facts.candidates[1].integrity = INTEGRITY_UNCHECKED;
	w->policy.gates = true;
	CHECK_HOLDS(w, "with file:/cp/" JOB_A "/chk-5, from before that");
	CHECK_INT(w->rounds, ==, 2); /* it was verified */
	w->facts.candidates[1].gates_hold = false;
	CHECK_HOLDS(w, "use `drey resume --from file:/cp/" JOB_A "/chk-6`");
}
