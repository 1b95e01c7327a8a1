#include "run/gc/gc_needs.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "run/gc/gc_confirm.h"
#include "run/gc/gc_run.h"
#include "store/snapshots.h"
#include "store/uri.h"

#define GC_NEEDS_READINGS 2 /* that must agree: who deletes, proves */

struct gc_needs {
	const struct setup *setup;
	const char *savepoint;
	struct gc gc;
	struct gc files; /* only its references: the names of the savepoint's files */
	bool metadata;   /* listed in its directory */
	struct gc_look look;
	char *why; /* the first reference that was found */
};

/* ---- the savepoint ---- */

static int note_leaf(void *ctx, const struct store_leaf *leaf, struct err *err)
{
	struct gc_needs *needs = ctx;

	(void)err;
	if (!strcmp(leaf->name, METADATA_NAME))
		needs->metadata = true;
	else
		gc_refer(&needs->files, leaf->name);
	return 0;
}

static void note_file(void *ctx, const struct metadata_file *file)
{
	struct gc_needs *needs = ctx;

	gc_refer(&needs->files, file->path);
}

static int read_savepoint(struct gc_needs *needs, struct stores *stores, struct err *err)
{
	const char *path = needs->savepoint;
	cleanup_free char *dir = snapshots_dir_uri(path);
	struct store *store = stores_get(stores, dir, err);
	struct err why = {0};

	if (!store)
		return -1;
	if (store_list_tree(store, dir, note_leaf, needs, &why) < 0 && why.kind != ERR_ABSENT)
		return err_pass(err, &why);
	why = (struct err){0};
	if (gc_refs_read(stores, path, 0, note_file, needs, &why) == 0)
		return 0;
	/* Without it, Flink has nothing to delete by. The job that claimed it deletes it in time, and leaves the
	 * files that it still needs. */
	if (why.kind == ERR_ABSENT && !needs->metadata) {
		gc_release(&needs->files);
		return 0;
	}
	return err_pass(err, &why);
}

/* ---- what refers to it ---- */

static void on_reference(void *ctx, const struct metadata_file *file)
{
	struct gc_needs *needs = ctx;

	/* MUT: a savepoint is deleted although a checkpoint refers to its files */
	if (!needs->why && gc_is_referred(&needs->files, file->path))
		needs->why = xasprintf("%s refers to its file %s", needs->look.reading,
				       uri_name(file->path));
}

static int read_snapshots(struct gc_needs *needs, const struct gc_facts_ask *ask, struct err *err)
{
	const struct gc *gc = &needs->gc;

	gc_look_begin(&needs->look, ask, &needs->gc);
	needs->look.refer = on_reference;
	needs->look.refer_ctx = needs;
	gc_look_list(&needs->look);
	gc_retain_but(&needs->gc, needs->savepoint);
	gc_look_read(&needs->look);
	gc_confirm_near(&needs->look);
	gc_look_end(&needs->look);
	if (needs->why)
		return 1;
	if (gc->unreadable)
		return err_set(err, ERR_RETRY, 0, "%s", gc->unreadable);
	/* MUT: no checkpoint of the running job needs to be read */
	if (!gc_has_read_last(gc, ask->journal, needs->savepoint))
		return err_set(err, ERR_RETRY, 0, "no snapshot of the running job was found");
	return 0;
}

static int read_once(struct gc_needs *needs, const struct gc_run *run, struct err *err)
{
	struct gc_facts_ask ask;
	int rc;

	gc_release(&needs->gc);
	gc_run_ask(run, &needs->gc, &ask);
	rc = read_snapshots(needs, &ask, err);
	gc_run_ask_release(&ask);
	return rc;
}

static int ask_storage(struct gc_needs *needs, struct err *err)
{
	struct gc_run run = {0};
	int rc = 0;

	if (gc_run_open(&run, needs->setup, err) < 0)
		return -1;
	if (!run.journal.launch_count) {
		gc_run_close(&run);
		return err_set(err, ERR_RETRY, 0, "the journal has no launch");
	}
	/* MUT: a savepoint is deleted although two directories are one */
	needs->why = gc_run_overlap(&run);
	if (needs->why) {
		gc_run_close(&run);
		return 1;
	}
	for (int i = 0; i < GC_NEEDS_READINGS && !rc; i++)
		rc = read_once(needs, &run, err);
	gc_run_close(&run);
	return rc;
}

int gc_needs(const struct setup *setup, const char *savepoint, char **ret_why, struct err *err)
{
	struct gc_needs needs = {.setup = setup, .savepoint = savepoint};
	cleanup_stores struct stores stores = {.config = &setup->storage};
	int rc = read_savepoint(&needs, &stores, err);

	/* without files there is nothing to which anything could refer */
	if (rc == 0 && needs.files.ref_count)
		rc = ask_storage(&needs, err);
	if (rc > 0) {
		*ret_why = needs.why;
		needs.why = NULL;
	}
	free(needs.why);
	gc_release(&needs.gc);
	gc_release(&needs.files);
	return rc < 0 ? err_wrap(err, "it is not known whether a snapshot refers to its files")
		      : rc;
}
