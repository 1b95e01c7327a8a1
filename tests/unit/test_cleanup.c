/* What storage shows of Flink's work after its job has ended. */
#include "run/effects/cleanup.h"

#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "store_dir.h"
#include "tap.h"

#define JOB "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa02"

struct world {
	char *top;
	struct cleanup_ask ask;
};

static void begin(struct world *w)
{
	*w = (struct world){.top = dir_new()};
	dir_mkdir(w->top, "results");
	dir_mkdir(w->top, "ck");
	dir_mkdir(w->top, "ck/" JOB);
	dir_mkdir(w->top, "ck/" JOB "/shared");
	memcpy(w->ask.job_id, JOB, sizeof(JOB));
	w->ask.result_dir = xasprintf("file:%s/results", w->top);
	w->ask.shared_dir = xasprintf("file:%s/ck/" JOB "/shared", w->top);
}

static void end(struct world *w)
{
	cleanup_ask_release(&w->ask);
	dir_removep(&w->top);
}

static void put(const struct world *w, const char *name)
{
	dir_put(w->top, name, "{}", 2);
}

static void take(const struct world *w, const char *name)
{
	cleanup_free char *path = xasprintf("%s/%s", w->top, name);

	CHECK(!unlink(path));
}

static void shows(const struct world *w, enum cleanup cleanup)
{
	struct store_config storage = {0};

	CHECK_INT(cleanup_look(&w->ask, &storage), ==, cleanup);
}

#define WORLD_TEST(name) TEST_WITH(name, struct world, w, begin, end)

WORLD_TEST(the_result_is_clean_when_only_the_clean_entry_is_there)
{
	shows(w, CLEANUP_PENDING);
	put(w, "results/" JOB "_DIRTY.json");
	shows(w, CLEANUP_PENDING);
	put(w, "results/" JOB ".json");
	shows(w, CLEANUP_PENDING); /* it is being renamed */
	take(w, "results/" JOB "_DIRTY.json");
	shows(w, CLEANUP_DONE);
}

WORLD_TEST(an_entry_of_another_job_says_nothing)
{
	put(w, "results/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa03.json");
	shows(w, CLEANUP_PENDING);
}

WORLD_TEST(shared_state_is_deleted_after_the_result_is_clean)
{
	put(w, "results/" JOB ".json");
	put(w, "ck/" JOB "/shared/0a1b");
	shows(w, CLEANUP_PENDING);
	take(w, "ck/" JOB "/shared/0a1b");
	shows(w, CLEANUP_DONE);
}

WORLD_TEST(a_job_without_shared_state_is_done)
{
	put(w, "results/" JOB ".json");
	xstrset(&w->ask.shared_dir, NULL);
	shows(w, CLEANUP_DONE);
	w->ask.shared_dir = xasprintf("file:%s/ck/nothing/shared", w->top);
	shows(w, CLEANUP_DONE);
}

WORLD_TEST(what_cannot_be_read_is_not_done)
{
	put(w, "results/" JOB ".json");
	xstrset(&w->ask.shared_dir, "s4://b/ck");
	shows(w, CLEANUP_PENDING);
	xstrset(&w->ask.result_dir, "s4://b/results");
	shows(w, CLEANUP_PENDING);
}

WORLD_TEST(what_nothing_shows_is_not_done)
{
	w->ask.not_all_shown = true;
	shows(w, CLEANUP_PENDING);
	put(w, "results/" JOB ".json");
	shows(w, CLEANUP_UNKNOWN);
	xstrset(&w->ask.result_dir, NULL);
	shows(w, CLEANUP_UNKNOWN);
}
