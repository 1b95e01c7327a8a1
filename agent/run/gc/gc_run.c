#include "run/gc/gc_run.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "run/config/setup_overlap.h"
#include "run/gc/gc_after.h"
#include "run/gc/gc_ha.h"
#include "run/gc/gc_named.h"
#include "run/gc/gc_plan.h"
#include "store/uri.h"

struct gc_policy gc_run_policy(const struct setup *setup)
{
	return (struct gc_policy){
		.grace_ms = setup->config.gc.grace_ms,
		.keep_launches = setup->config.gc.keep_launches,
		.keep_ms = setup->config.gc.keep_ms,
	};
}

int gc_run_open(struct gc_run *run, const struct setup *setup, struct err *err)
{
	const struct gc_run_watch watch = run->watch;
	struct err why = {0};

	*run = (struct gc_run){.setup = setup, .watch = watch};
	run->store = journal_store_open(&setup->config, &setup->kube);
	journal_store_guard_reader(run->store, &setup->kube); /* it decides what is deleted */
	if (journal_store_read(run->store, &run->journal, &why) == 0)
		return 0;
	if (why.kind == ERR_ABSENT) {
		journal_init(&run->journal, setup->config.application);
		return 0;
	}
	journal_store_free(run->store);
	return err_pass(err, &why);
}

void gc_run_close(struct gc_run *run)
{
	gc_release(&run->gc);
	journal_release(&run->journal);
	journal_store_free(run->store);
}

/* ---- read ---- */

static bool ends(const struct gc_run *run)
{
	return run->watch.ends && run->watch.ends(run->watch.ctx);
}

static int on_reading(void *ctx, const char *what, size_t done)
{
	const struct gc_run *run = ctx;

	if (run->watch.reading)
		run->watch.reading(run->watch.ctx, what, done);
	return ends(run) ? -1 : 0;
}

/* FileSystemBlobStore */
static void find_blob_dirs(const struct setup *setup, struct gc_facts_ask *ask)
{
	struct gc_ha_place places[GC_HA_PLACES];

	ask->blob_dir_count = gc_ha_places(setup, places);
	ask->blob_dirs = xcalloc(GC_HA_PLACES, sizeof(*ask->blob_dirs));
	for (size_t i = 0; i < ask->blob_dir_count; i++) {
		ask->blob_dirs[i] = uri_join(places[i].dir, "blob");
		free(places[i].dir);
	}
}

void gc_run_ask(const struct gc_run *run, struct gc *gc, struct gc_facts_ask *ret)
{
	const struct setup *setup = run->setup;
	struct gc_named named;

	*ret = (struct gc_facts_ask){
		.storage = &setup->storage,
		.journal = &run->journal,
		.checkpoint_dir = setup->places.checkpoint_dir,
		.savepoint_dir = setup->places.savepoint_dir,
		.initial = setup->places.initial,
		.result_dir = setup->config.flink.result_store_directory,
	};
	gc_named_read(setup, &run->journal, &named);
	if (named.unreadable)
		gc_set_unreadable(gc, named.unreadable);
	ret->named = named.paths;
	ret->named_count = named.count;
	named.paths = NULL;
	named.count = 0;
	gc_named_release(&named);
	find_blob_dirs(setup, ret);
}

void gc_run_ask_release(struct gc_facts_ask *ask)
{
	for (size_t i = 0; i < ask->blob_dir_count; i++)
		free(ask->blob_dirs[i]);
	for (size_t i = 0; i < ask->named_count; i++)
		free(ask->named[i]);
	free(ask->blob_dirs);
	free(ask->named);
}

char *gc_run_overlap(const struct gc_run *run)
{
	struct err err = {0};
	char *why = NULL;
	int rc = setup_overlap(run->setup, &run->journal, &why, &err);

	/* MUT: directories that cannot be looked at are apart */
	if (rc < 0)
		return xasprintf("two directories could be one: %s", err.msg);
	return why;
}

/* One reading. `first`: of two, in the second one. */
static void read_and_judge(struct gc_run *run, const struct gc_policy *policy,
			   const struct gc_first *first, struct gc *gc)
{
	const struct gc_ha_ask ha = {run->setup, &run->journal, on_reading, run};
	cleanup_free char *overlap = NULL;
	struct gc_facts_ask ask;

	*gc = (struct gc){.policy = *policy, .now_unix_ms = clock_unix_ms()};
	on_reading(run, "Flink's HA data", 0);
	gc_run_ask(run, gc, &ask);
	ask.first = first;
	ask.progress = on_reading;
	ask.progress_ctx = run;
	gc_facts(&ask, gc);
	gc_ha_read(&ha, gc);
	gc_judge(gc, &run->journal);
	overlap = gc_run_overlap(run);
	/* MUT: files are deleted although results are among the checkpoints */
	if (overlap)
		gc_stop_all(gc, overlap);
	gc_run_ask_release(&ask);
}

void gc_run_collect(struct gc_run *run, const struct gc_policy *policy)
{
	read_and_judge(run, policy, NULL, &run->gc);
}

/* ---- delete ---- */

static int holds(void *ctx, struct err *err)
{
	struct gc_run *run = ctx;
	cleanup_journal struct journal now = {0};
	const char *why;
	bool same;

	if (ends(run))
		return err_set(err, ERR_BUSY, 0, "it was interrupted");
	if (journal_store_read(run->store, &now, err) < 0)
		return err_wrap(err, "the journal cannot be read again");
	same = gc_still_holds(&run->journal, &now, &why);
	return same ? 0 : err_set(err, ERR_BUSY, 0, "meanwhile %s", why);
}

static void on_deleting(void *ctx, int64_t done, int64_t of)
{
	const struct gc_run *run = ctx;

	if (run->watch.deleting)
		run->watch.deleting(run->watch.ctx, done, of);
}

/* The second reading takes the place of the first one. */
static void read_again(struct gc_run *run, struct gc_first *first)
{
	const struct gc_policy policy = run->gc.policy;
	cleanup_free char *why = NULL;

	gc_first_take(&run->gc, first);
	gc_release(&run->gc);
	read_and_judge(run, &policy, first, &run->gc);
	why = gc_agree(first, &run->gc);
	/* MUT: two readings need not agree */
	if (why)
		gc_stop_all(&run->gc, why);
}

static void check_after(struct gc_run *run)
{
	struct gc_facts_ask ask;
	struct gc gc = {0};

	/* what could not be deleted is listed still, and was reported */
	if (run->ended.kind || run->deleted.failed || ends(run))
		return;
	gc_run_ask(run, &gc, &ask);
	ask.progress = on_reading;
	ask.progress_ctx = run;
	gc_after(&ask, &run->gc, &run->ended);
	gc_run_ask_release(&ask);
	gc_release(&gc);
}

void gc_run_delete(struct gc_run *run)
{
	const struct gc_delete_ask ask = {
		.storage = &run->setup->storage,
		.holds = holds,
		.progress = on_deleting,
		.ctx = run,
	};
	struct gc_first first = {0};
	struct gc_plan plan = {.state_dir = run->setup->config.state_directory, .gc = &run->gc};
	struct err err = {0};

	/* empty directories are no reason to read all again */
	if (gc_total(&run->gc, GC_DELETE).files)
		read_again(run, &first);
	plan.first_unix_ms = first.read_unix_ms;
	if ((!run->gc.stop || run->gc.only_jobs) &&
	    (!first.count || gc_plan_write(&plan, &run->ended) == 0)) {
		gc_delete(&ask, &run->gc, &run->deleted, &run->ended);
		if (run->deleted.files)
			check_after(run);
		plan.deleted = &run->deleted;
		plan.ended = &run->ended;
		if (first.count && gc_plan_write(&plan, &err) < 0 && !run->ended.kind)
			run->ended = err;
	}
	gc_first_release(&first);
}
