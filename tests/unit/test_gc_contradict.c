/* What one reading says and another does not, of the checkpoints of dead launches. */
#include <string.h>

#include "base/mem.h"

#include "core/gc/gc_internal.h"
#include "gc_names.h"
#include "tap.h"

#define DEAD    "11111111111111111111111111111111"
#define LAST    "22222222222222222222222222222222"
#define FOREIGN "ffffffffffffffffffffffffffffffff"

struct world {
	struct journal journal;
	struct gc gc;
};

static void add_launch(struct world *w, const char *job_id)
{
	struct launch *launch = journal_add_launch(&w->journal);

	memcpy(launch->job_id, job_id, JOB_ID_BYTES);
	launch->intended_unix_ms = launch->started_unix_ms = 1000 * launch->number;
	launch->proven_unix_ms = 10000 * launch->number;
}

static void begin(struct world *w)
{
	*w = (struct world){.gc.now_unix_ms = 100000};
	journal_init(&w->journal, "app");
	add_launch(w, DEAD);
	add_launch(w, LAST);
}

static void end(struct world *w)
{
	gc_release(&w->gc);
	journal_release(&w->journal);
}

#define CONTRADICT_TEST(name) TEST_WITH(name, struct world, w, begin, end)

static struct gc_snapshot *checkpoint(struct world *w, const char *job_id, int64_t id)
{
	cleanup_free char *path = xasprintf("file:/ck/%s/chk-%d", job_id, (int)id);
	struct gc_snapshot s = {
		.path = path, .kind = SNAPSHOT_CHECKPOINT, .checkpoint_id = id, .unix_ms = 1500};

	memcpy(s.job_id, job_id, JOB_ID_BYTES);
	return gc_add_snapshot(&w->gc, &s);
}

static char *said(struct world *w)
{
	return gc_contradiction(&w->gc, &w->journal);
}

CONTRADICT_TEST(a_checkpoint_of_a_dead_launch_does_not_disappear)
{
	cleanup_free char *none = NULL, *why = NULL;
	struct gc_snapshot *s = checkpoint(w, DEAD, 5);

	none = said(w);
	CHECK_STR(none, NULL);
	s->gone = true;
	why = said(w);
	CHECK_HAS(why, "chk-5 was listed and is gone");
}

CONTRADICT_TEST(an_empty_directory_has_disappeared_only_if_it_had_files)
{
	cleanup_free char *none = NULL, *why = NULL;
	struct gc_snapshot *s = checkpoint(w, DEAD, 5);

	s->lost = s->gone = true;
	gc_add_tree(&w->gc, GC_TREE_JOB, "file:/ck/" DEAD, DEAD);
	gc_add_file(&w->gc, "chk-4/" GC_UUID("04"), 10, 1500, false);
	none = said(w);
	CHECK_STR(none, NULL);
	gc_add_file(&w->gc, "chk-5/" GC_UUID("05"), 10, 1500, false);
	why = said(w);
	CHECK_HAS(why, "chk-5 was listed and is gone");
}

CONTRADICT_TEST(flink_deletes_checkpoints_of_its_job_and_what_it_has_claimed)
{
	cleanup_free char *why = NULL;

	checkpoint(w, LAST, 9)->gone = true;
	checkpoint(w, DEAD, 5)->gone = true;
	checkpoint(w, FOREIGN, 7)->gone = true;
	journal_launch(&w->journal)->restore_path = xstrdup("file:///ck/" DEAD "/chk-5");
	why = said(w);
	CHECK_STR(why, NULL);
}

CONTRADICT_TEST(a_checkpoint_that_is_to_go_has_its_metadata_in_the_tree)
{
	cleanup_free char *why = NULL, *none = NULL;

	checkpoint(w, DEAD, 5);
	gc_add_tree(&w->gc, GC_TREE_JOB, "file:/ck/" DEAD, DEAD);
	gc_add_file(&w->gc, "chk-4/_metadata", 10, 1500, false);
	why = said(w);
	CHECK_HAS(why, "chk-5 has a _metadata that the listing of its job leaves out");
	gc_add_file(&w->gc, "chk-5/_metadata", 10, 1500, false);
	none = said(w);
	CHECK_STR(none, NULL);
}

CONTRADICT_TEST(one_that_stays_or_lies_elsewhere_is_not_looked_for)
{
	cleanup_free char *none = NULL, *why = NULL;

	checkpoint(w, DEAD, 5)->retained = true;
	gc_add_tree(&w->gc, GC_TREE_JOB, "file:/ck/" DEAD, DEAD);
	none = said(w);
	CHECK_STR(none, NULL);
	gc_find_snapshot(&w->gc, "file:/ck/" DEAD "/chk-5")->retained = false;
	gc_add_tree(&w->gc, GC_TREE_JOB, "file:/elsewhere/" DEAD, DEAD);
	w->gc.trees[0].kind = GC_TREE_RESULTS;
	why = said(w);
	CHECK_STR(why, NULL);
}
