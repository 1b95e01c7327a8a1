#include "run/effects/cleanup.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "store/stores.h"
#include "store/uri.h"

static bool adds_to_archives(const struct setup *setup)
{
	return flink_conf_get(&setup->flink_conf, "jobmanager.archive.fs.dir") &&
	       flink_version_has_applications(setup->version);
}

/* Then shared files are not where the metadata is. */
static bool scatters_files(const struct setup *setup)
{
	return flink_conf_get(&setup->flink_conf, "s3.entropy.key") != NULL;
}

void cleanup_ask_init(struct cleanup_ask *ask, const struct driver *driver)
{
	const struct launch *launch = journal_launch_const(&driver->life.journal);

	*ask = (struct cleanup_ask){0};
	memcpy(ask->job_id, launch->job_id, JOB_ID_BYTES);
	ask->result_dir = xstrdup(launch->job_result_path);
	ask->not_all_shown = adds_to_archives(driver->setup) || scatters_files(driver->setup) ||
			     !driver_ha_may_kill(driver, launch->job_id);
	if (launch->last_checkpoint_path) {
		cleanup_free char *job_dir = uri_parent(launch->last_checkpoint_path);

		ask->shared_dir = job_dir ? uri_join(job_dir, "shared") : NULL;
	}
}

void cleanup_ask_release(struct cleanup_ask *ask)
{
	free(ask->result_dir);
	free(ask->shared_dir);
	*ask = (struct cleanup_ask){0};
}

struct results {
	const char *job_id;
	bool clean, dirty;
};

static int note_result(void *ctx, const struct store_entry *entry, struct err *err)
{
	struct results *results = ctx;
	size_t digits = strlen(results->job_id);

	(void)err;
	if (entry->is_prefix || strncmp(entry->name, results->job_id, digits) != 0)
		return 0;
	results->clean = results->clean || !strcmp(entry->name + digits, ".json");
	results->dirty = results->dirty || !strcmp(entry->name + digits, "_DIRTY.json");
	return 0;
}

static bool result_is_clean(struct stores *stores, const struct cleanup_ask *ask)
{
	struct results results = {.job_id = ask->job_id};
	struct err err = {0};
	struct store *store = stores_get(stores, ask->result_dir, &err);

	return store && store_list(store, ask->result_dir, note_result, &results, &err) == 0 &&
	       results.clean && !results.dirty;
}

static int note_file(void *ctx, const struct store_entry *entry, struct err *err)
{
	bool *any = ctx;

	(void)err;
	*any = *any || !entry->is_prefix;
	return *any;
}

static bool shared_is_empty(struct stores *stores, const struct cleanup_ask *ask)
{
	struct err err = {0};
	struct store *store;
	bool any = false;

	if (!ask->shared_dir)
		return true;
	store = stores_get(stores, ask->shared_dir, &err);
	if (!store)
		return false;
	if (store_list(store, ask->shared_dir, note_file, &any, &err) < 0)
		return err.kind == ERR_ABSENT && store_is_listed(store, ask->shared_dir, NULL) == 0;
	/* MUT: Flink may be killed while it deletes shared state */
	return !any;
}

enum cleanup cleanup_look(const struct cleanup_ask *ask, const struct store_config *storage)
{
	cleanup_stores struct stores stores = {.config = storage};
	bool done;

	if (!ask->result_dir)
		return CLEANUP_UNKNOWN;
	done = result_is_clean(&stores, ask) && shared_is_empty(&stores, ask);
	if (!done)
		return CLEANUP_PENDING;
	return ask->not_all_shown ? CLEANUP_UNKNOWN : CLEANUP_DONE;
}
