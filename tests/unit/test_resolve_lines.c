/* Between two lines of Flink (1.20, 2.3) a job passes by a savepoint only. */
#include "resolve_world.h"

#define CHK_A(n)  "file:/cp/" JOB_A "/chk-" #n
#define SAVE_A(n) "file:/sp/savepoint-aaaaaa-0000000000" #n

/* A launch of `made` has completed checkpoint 20; `now` would be launched. */
static void begin_lines(struct world *w, const char *made, const char *now)
{
	begin(w);
	xstrset(&proved(w, JOB_A, NULL, 0, 20)->flink_version, made);
	w->policy.flink_version = now;
}

TEST(a_checkpoint_passes_inside_a_line_only)
{
	static const struct {
		const char *made, *now;
		bool passes;
	} cases[] = {
		{"2.3.0", "2.3.0", true},      {"2.3.0", "2.3.1", true},
		{"1.20.0", "1.20.4", true},    {"2.3-SNAPSHOT", "2.3.0", true},
		{"2.3.0", "2.3.0-acme", true}, {"1.20.0", "2.3.0", false},
		{"2.3.0", "1.20.0", false},    {"1.19.3", "1.20.0", false},
		{"2.1.0", "2.10.0", false},    {"2.10.0", "2.1.0", false},
		{"12.3.0", "2.3.0", false},    {NULL, "2.3.0", true}, /* not known */
		{"2.3.0", NULL, true},         {"unknown", "2.3.0", true},
		{"2.3.0", "unknown", true},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct world w;

		begin_lines(&w, cases[i].made, cases[i].now);
		found_checkpoint(&w, JOB_A, 20);
		if (!CHECK_INT(decide(&w), ==,
			       cases[i].passes ? DECISION_START_FROM : DECISION_HOLD))
			tap_note("%s -> %s: %s", cases[i].made, cases[i].now, w.decision.reason);
		if (!cases[i].passes) {
			CHECK_INT(w.decision.cause, ==, CAUSE_SAVEPOINT_REQUIRED);
			CHECK_HAS(w.decision.reason, cases[i].made);
			CHECK_HAS(w.decision.reason, "`drey resume --from " CHK_A(20) "`");
		}
		end(&w);
	}
}

TEST(a_savepoint_that_is_the_newest_passes)
{
	struct world w;

	begin_lines(&w, "1.20.0", "2.3.0");
	found_checkpoint(&w, JOB_A, 20);
	found_savepoint(&w, JOB_A, 21);
	CHECK_STARTS_FROM(&w, SAVE_A(21));
	end(&w);
}

TEST(an_older_savepoint_is_no_way_back)
{
	struct world w;

	begin_lines(&w, "1.20.0", "2.3.0");
	found_savepoint(&w, JOB_A, 19);
	found_checkpoint(&w, JOB_A, 20);
	CHECK_DECIDES(&w, HOLD);
	CHECK_INT(w.decision.cause, ==, CAUSE_SAVEPOINT_REQUIRED);
	end(&w);
}

TEST(a_person_may_name_the_checkpoint)
{
	struct world w;

	begin_lines(&w, "1.20.0", "2.3.0");
	found_checkpoint(&w, JOB_A, 20);
	request(&w, RESTORE_PATH, CHK_A(20), "t1");
	CHECK_STARTS_FROM(&w, CHK_A(20));
	end(&w);
}

/* The order was carried out, and that launch has left nothing yet; then comes another Flink. */
TEST(a_person_has_named_the_checkpoint_for_the_flink_of_then)
{
	static const struct {
		const char *made, *first, *now;
		bool passes;
	} cases[] = {
		{"2.3.0", "2.3.0", "2.3.1", true},
		{"2.3.0", "2.3.0", "1.20.0", false},
		{"1.20.0", "2.3.0", "2.3.0", true}, /* who named it knew that */
		{"1.20.0", "2.3.0", "1.20.0", true},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct launch *launch;
		struct world w;

		begin_lines(&w, cases[i].made, cases[i].now);
		found_checkpoint(&w, JOB_A, 20);
		request(&w, RESTORE_PATH, CHK_A(20), "t1");
		launch = ran(&w, JOB_B, CHK_A(20), 20);
		xstrset(&launch->flink_version, cases[i].first);
		xstrset(&launch->request_token, "t1");
		journal_consume(&w.journal, "t1");
		if (!CHECK_INT(decide(&w), ==,
			       cases[i].passes ? DECISION_START_FROM : DECISION_HOLD))
			tap_note("%s, %s -> %s: %s", cases[i].made, cases[i].first, cases[i].now,
				 w.decision.reason);
		end(&w);
	}
}

/* 1.20 has made the savepoint, 2.3 has started from it; what counts is who made the newest. */
TEST(what_the_new_line_has_made_is_its_own)
{
	struct world w;

	begin_lines(&w, "1.20.0", "2.3.0");
	xstrset(&proved(&w, JOB_B, SAVE_A(21), 21, 30)->flink_version, "2.3.0");
	found_savepoint(&w, JOB_A, 21);
	found_checkpoint(&w, JOB_B, 30);
	CHECK_STARTS_FROM(&w, "file:/cp/" JOB_B "/chk-30");
	w.policy.flink_version = "1.20.0"; /* rolled back */
	CHECK_DECIDES(&w, HOLD);
	CHECK_INT(w.decision.cause, ==, CAUSE_SAVEPOINT_REQUIRED);
	end(&w);
}

TEST(a_damaged_checkpoint_is_passed_over_as_ever)
{
	struct world w;

	begin_lines(&w, "1.20.0", "2.3.0");
	found_savepoint(&w, JOB_A, 19);
	broken(found_checkpoint(&w, JOB_A, 20), INTEGRITY_DAMAGED, "a file is gone");
	CHECK_STARTS_FROM(&w, SAVE_A(19));
	end(&w);
}

/* The journal was lost, and a person has named the checkpoint for the Flink of then. */
TEST(a_checkpoint_of_a_forgotten_launch_is_for_the_line_that_it_was_given_to)
{
	static const struct {
		const char *given_to, *now;
		bool initial, passes;
	} cases[] = {
		{"2.3.0", "1.20.4", false, false},
		{"2.3.0", "2.3.1", false, true},
		{NULL, "1.20.4", false, true}, /* not known */
		{"2.3.0", "1.20.4", true, true},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct candidate *c;
		struct world w;

		begin(&w);
		xstrset(&proved(&w, JOB_B, CHK_A(20), 20, 21)->flink_version, cases[i].given_to);
		w.policy.restore = POLICY_SAVEPOINT; /* so that what came after it does not count */
		w.policy.flink_version = cases[i].now;
		c = found_checkpoint(&w, JOB_A, 20);
		if (cases[i].initial)
			c->snapshot.origin = ORIGIN_INITIAL;
		if (!CHECK_INT(decide(&w), ==,
			       cases[i].passes ? DECISION_START_FROM : DECISION_HOLD))
			tap_note("%zu: %s", i, w.decision.reason);
		if (!cases[i].passes)
			CHECK_INT(w.decision.cause, ==, CAUSE_SAVEPOINT_REQUIRED);
		end(&w);
	}
}
