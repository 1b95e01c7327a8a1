/* What an observation finds of earlier launches besides snapshots, when the journal knows of none. */
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/mem.h"
#include "core/job_id.h"
#include "core/resolve/flink_choice.h"
#include "core/resolve/resolve.h"
#include "observe_world.h"

#define LAUNCH  "dddddddddddddddddddddddddddddd04"
#define JOB_2   "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa02"
#define CLUSTER "00000000000000000000000000000000"

static void put_result(struct world *w, const char *name, const char *fixture)
{
	cleanup_free char *from = xasprintf("tests/fixtures/results/%s", fixture);
	cleanup_free char *to = xasprintf("results/%s", name);
	cleanup_buf struct buf text = BUF_INIT;

	CHECK(!fs_read(from, 1 << 20, &text, NULL));
	dir_put(w->top, to, text.data, text.len_bytes);
}

static char *results_of(struct world *w)
{
	return xasprintf("%s/results", w->top);
}

static void lost_begin(struct world *w)
{
	world_begin(w);
	dir_mkdir(w->top, "results");
	w->places.results_dir = results_of(w);
	journal_release(&w->journal);
	journal_init(&w->journal, "orders");
}

static void lost_end(struct world *w)
{
	free((char *)(uintptr_t)w->places.results_dir);
	world_end(w);
}

#define LOST_TEST(name) TEST_WITH(name, struct world, w, lost_begin, lost_end)

static void finds(const char *name, const char *fixture, const char *job, enum job_end end)
{
	const struct trace *trace;
	struct world w;

	lost_begin(&w);
	put_result(&w, name, fixture);
	observe(&w);
	trace = facts_newest_trace(&w.facts, TRACE_RESULT);
	if (CHECK(trace != NULL)) {
		CHECK_STR(trace->name, job);
		CHECK_HAS(trace->path, name);
		CHECK_INT(trace->end, ==, end);
		CHECK(trace->unix_ms > 0);
	}
	CHECK_INT(w.facts.results_listed.state, ==, SOURCE_PRESENT);
	lost_end(&w);
}

TEST(finds_the_records_of_all_launches)
{
	finds(LAUNCH "/" JOB ".json", "1.20.0-succeeded.json", JOB, JOB_END_FINISHED);
	finds(LAUNCH "/" JOB "_DIRTY.json", "2.3.0-succeeded.json", JOB, JOB_END_FINISHED);
	finds(LAUNCH "/" JOB_2, "1.20.0-archive-stopped", JOB_2, JOB_END_STOPPED);
	finds(LAUNCH "/" CLUSTER "/applications/" LAUNCH "/jobs/" JOB_2, "2.3.0-archive-stopped",
	      JOB_2, JOB_END_STOPPED);
	/* of an older drey */
	finds(JOB "/" JOB ".json", "1.20.0-succeeded.json", JOB, JOB_END_FINISHED);
	/* of another job than its name says, or damaged: a trace, but not one of an end */
	finds(LAUNCH "/" JOB_2 ".json", "1.20.0-succeeded.json", JOB_2, JOB_END_NONE);
	finds(LAUNCH "/" JOB ".json", "README.md", JOB, JOB_END_NONE);
}

/* A stop with savepoint is SUCCEEDED in the result store; only the archive shows the difference. */
LOST_TEST(a_stop_is_no_end)
{
	put_result(w, LAUNCH "/" JOB_2 ".json", "2.3.0-succeeded.json");
	put_result(w, LAUNCH "/" JOB_2, "1.20.0-archive-stopped");
	observe(w);
	for (size_t i = 0; i < w->facts.trace_count; i++)
		CHECK_INT(w->facts.traces[i].end, !=, JOB_END_FINISHED);
}

LOST_TEST(what_is_no_record_of_a_job_is_no_trace)
{
	put_result(w, "application-" LAUNCH "/" LAUNCH ".json", "2.3.0-succeeded.json");
	put_result(w, LAUNCH "/notes.txt", "README.md");
	put_result(w, LAUNCH "/" CLUSTER "/applications/" LAUNCH "/" LAUNCH, "README.md");
	put_result(w, JOB ".json", "2.3.0-succeeded.json"); /* in no launch's directory */
	observe(w);
	CHECK_INT(w->facts.trace_count, ==, 0);
	CHECK_INT(w->facts.results_listed.state, ==, SOURCE_ABSENT);
}

LOST_TEST(a_result_store_that_is_not_there_is_none)
{
	CHECK(!rmdir(w->places.results_dir));
	observe(w);
	CHECK_INT(w->facts.results_listed.state, ==, SOURCE_ABSENT);
	CHECK(w->facts.names_read);
}

TEST(one_that_cannot_be_read_is_not_absent)
{
	struct world w;

	lost_begin(&w);
	free((char *)(uintptr_t)w.places.results_dir);
	w.places.results_dir = xstrdup("nosuch://b/results");
	observe(&w);
	CHECK_INT(w.facts.results_listed.state, ==, SOURCE_UNREADABLE);
	CHECK(!w.facts.names_read);
	lost_end(&w);
}

/* The journal knows what has run: nothing is read that no decision needs. */
TEST(a_journal_with_launches_asks_for_no_traces)
{
	struct world w;

	world_begin(&w);
	dir_mkdir(w.top, "results");
	w.places.results_dir = results_of(&w);
	put_result(&w, LAUNCH "/" JOB ".json", "1.20.0-succeeded.json");
	observe(&w);
	CHECK_INT(w.facts.trace_count, ==, 0);
	CHECK_INT(w.facts.results_listed.state, ==, SOURCE_NOT_CONFIGURED);
	lost_end(&w);
}

/* But an id of which there is a record is used, in every case. */
TEST(the_record_of_a_numbered_id_is_a_trace_of_it)
{
	for (int lost = 0; lost < 2; lost++) {
		struct world w;
		char id[JOB_ID_BYTES];
		cleanup_free char *name = NULL;

		lost_begin(&w);
		if (!lost)
			strcpy(journal_add_launch(&w.journal)->job_id, FOREIGN);
		w.places.id_space = "shop/orders/";
		w.places.id_count = 4;
		job_id_name(w.places.id_space, 2, id);
		name = xasprintf(LAUNCH "/%s.json", id);
		put_result(&w, name, "2.3.0-succeeded.json");
		observe(&w);
		CHECK(flink_id_is_used(&w.journal, &w.facts, id));
		CHECK_INT(w.facts.trace_count, ==, lost);
		if (lost)
			CHECK(w.facts.traces[0].surely_ours);
		lost_end(&w);
	}
}

LOST_TEST(directories_and_savepoints_of_numbered_ids_and_ha_maps_are_traces)
{
	char ids[2][JOB_ID_BYTES];
	cleanup_free char *empty = NULL;

	w->places.id_space = "shop/orders/";
	w->places.id_count = 2;
	for (int n = 0; n < 2; n++)
		job_id_name(w->places.id_space, n, ids[n]);
	empty = xasprintf("ck/%s", ids[0]);
	dir_mkdir(w->top, empty);
	put_savepoint(w, ids[1], 1, 5, DAY_S);
	observe(w);
	CHECK_INT(w->facts.trace_count, ==, 2);
	for (size_t i = 0; i < w->facts.trace_count; i++)
		CHECK(w->facts.traces[i].kind == TRACE_ID && w->facts.traces[i].surely_ours);
	CHECK_HAS(w->facts.traces[0].path, empty);
}

/* ---- savepoints under another name ---- */

/* As the State Processor API writes them, where it was told to. */
LOST_TEST(a_savepoint_under_any_name_is_a_candidate_of_an_unknown_job)
{
	const struct candidate *c;

	put(w, "sp/bootstrapped", 1, DAY_S);
	put(w, "sp/chk-7", 7, DAY_S); /* a checkpoint, in a directory that both share */
	dir_mkdir(w->top, "sp/lost+found");
	observe(w);
	CHECK_INT(w->facts.candidate_count, ==, 1);
	c = facts_find(&w->facts,
		       w->facts.candidate_count ? w->facts.candidates[0].snapshot.path : "");
	if (CHECK(c != NULL)) {
		CHECK_HAS(c->snapshot.path, "sp/bootstrapped");
		CHECK_STR(c->snapshot.job_id, "");
		CHECK_INT(c->snapshot.kind, ==, SNAPSHOT_SAVEPOINT);
		CHECK_INT(c->integrity, !=, INTEGRITY_INCOMPLETE);
	}
}

LOST_TEST(one_under_another_name_that_cannot_be_read_is_no_first_launch)
{
	const struct policy policy = {.max_loss.max_ms = LOSS_MAX_AUTO};
	struct decision decision;
	const struct candidate *c;

	dir_mkdir(w->top, "sp/bootstrapped");
	dir_loop(w->top, "sp/bootstrapped/_metadata");
	observe(w);
	c = find(w, "sp/bootstrapped");
	CHECK(c && c->integrity == INTEGRITY_UNREADABLE);
	resolve(&w->journal, &w->facts, &policy, &decision);
	CHECK_STR(decision_kind_name(decision.kind), "HOLD");
}

/* Observes as a user who may not read what is in it. */
static void observe_private(struct world *w)
{
	cleanup_free char *dir = xasprintf("%s/sp/private", w->top);
	bool root = !geteuid();

	CHECK(!mkdir(dir, 0) && !chmod(w->top, 0755));
	CHECK(!root || !seteuid(65534));
	observe(w);
	CHECK(!root || !seteuid(0));
	CHECK(!chmod(dir, 0755));
}

LOST_TEST(what_may_not_be_read_may_be_all_that_is_left)
{
	const struct candidate *c;

	observe_private(w);
	c = find(w, "sp/private");
	CHECK(c && c->integrity == INTEGRITY_UNREADABLE);
}

WORLD_TEST(with_a_journal_what_others_keep_there_is_theirs)
{
	observe_private(w);
	CHECK(!find(w, "sp/private"));
	CHECK_INT(w->facts.sources[SOURCE_SAVEPOINTS].state, ==, SOURCE_PRESENT);
}
