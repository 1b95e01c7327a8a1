#include "run/journal/journal_store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/mem.h"
#include "run/inputs/control_seen.h"
#include "run/journal/journal_file.h"
#include "run/journal/journal_map.h"
#include "run/journal/journal_origin.h"

struct journal_store {
	struct journal_file file;
	char *path;
	struct journal_map *map;      /* NULL: the file is the journal */
	struct journal_origin origin; /* of a map that the chart makes; zeroed: not asked */
	const char *application;
	bool moving; /* the file was read, and the map does not have it yet */
	bool shadow; /* of a candidate */
};

struct journal_store *journal_store_open(const struct config *config, const struct setup_kube *kube)
{
	struct journal_store *store = xcalloc(1, sizeof(*store));

	store->application = config->application;
	store->path = xasprintf("%s/%s", config->state_directory, JOURNAL_FILE_NAME);
	journal_file_init(&store->file, config->state_directory);
	if (kube->on && kube->journal)
		store->map = journal_map_new(kube_open(kube->client), kube->journal,
					     config->application);
	return store;
}

struct journal_store *journal_store_open_shadow(const struct config *config,
						const struct setup_kube *kube, const char *map)
{
	struct journal_store *store = xcalloc(1, sizeof(*store));

	store->application = config->application;
	store->path = xasprintf("%s/%s", config->state_directory, JOURNAL_FILE_NAME);
	journal_file_init(&store->file, config->state_directory);
	store->map = journal_map_new(kube_open(kube->client), map, config->application);
	store->shadow = true;
	return store;
}

void journal_store_guard(struct journal_store *store, const struct setup_kube *kube)
{
	if (!store->map || kube->create_maps)
		return;
	journal_origin_init(&store->origin, kube, store->shadow);
	journal_map_made(store->map, journal_origin_vouch, &store->origin);
}

void journal_store_guard_reader(struct journal_store *store, const struct setup_kube *kube)
{
	journal_store_guard(store, kube);
	if (store->map)
		journal_map_only_read(store->map);
}

void journal_store_free(struct journal_store *store)
{
	if (!store)
		return;
	journal_map_free(store->map);
	journal_origin_release(&store->origin);
	journal_file_release(&store->file);
	free(store->path);
	free(store);
}

void journal_store_stop(struct journal_store *store)
{
	if (store->map)
		journal_map_stop(store->map);
	if (store->origin.client)
		kube_stop(store->origin.client);
}

const char *journal_store_place(const struct journal_store *store)
{
	return store->map ? journal_map_place(store->map) : store->path;
}

bool journal_store_is_remote(const struct journal_store *store)
{
	return store->map != NULL;
}

/* ---- reading ---- */

/* The map is not there. What was written before there was a Kubernetes is not forgotten. */
static int read_moved(struct journal_store *store, struct journal *ret_journal, struct err *err)
{
	if (journal_file_read(&store->file, ret_journal, err) < 0)
		return -1;
	store->moving = true;
	return 0;
}

static int read_any(struct journal_store *store, struct journal *ret_journal, struct err *err)
{
	struct err why = {0};

	if (!store->map)
		return journal_file_read(&store->file, ret_journal, err);
	if (journal_map_read(store->map, ret_journal, &why) == 0)
		return 0;
	if (why.kind == ERR_ABSENT && !store->shadow)
		return read_moved(store, ret_journal, err);
	return err_pass(err, &why);
}

static int refuse_other(const struct journal_store *store, const char *application, struct err *err)
{
	if (store->map && !store->moving)
		return err_set(
			err, ERR_CONFIG, 0,
			"%s belongs to application '%s', not to '%s'; give every application its own %s",
			journal_store_place(store), application, store->application,
			store->shadow ? "handover.candidate" : "kubernetes.journal");
	return err_set(
		err, ERR_CONFIG, 0,
		"the state directory %s belongs to application '%s', not to '%s'; give every application its own stateDirectory",
		store->file.dir, application, store->application);
}

/* What a person can do about what cannot be understood. */
static int name_way_out(const struct journal_store *store, const struct err *why, struct err *err)
{
	const char *way = !store->map            ? "move it away"
			  : store->origin.client ? "empty the ConfigMap"
						 : "delete the ConfigMap";

	return err_set(
		err, why->kind, 0,
		"%s; it is left unchanged. Restore a copy of it, or %s: drey then decides from the checkpoints and savepoints that it finds",
		why->msg, way);
}

int journal_store_read(struct journal_store *store, struct journal *ret_journal, struct err *err)
{
	struct err why = {0};
	int result;

	if (read_any(store, ret_journal, &why) == 0) {
		const char *application = ret_journal->application;

		if (!application || !strcmp(application, store->application))
			return 0;
		result = refuse_other(store, application, err);
		journal_release(ret_journal);
		return result;
	}
	if (why.kind == ERR_FORMAT)
		return name_way_out(store, &why, err);
	return err_pass(err, &why);
}

/* ---- writing ---- */

/* It must not be taken for the journal once more when the map is lost. */
static int move_away(struct journal_store *store, struct err *err)
{
	cleanup_free char *to = xasprintf("%s%s", store->path, JOURNAL_MOVED_SUFFIX);

	if (rename(store->path, to) < 0 && errno != ENOENT)
		return err_set(err, errno == EBUSY ? ERR_RETRY : err_kind_of_errno(errno), errno,
			       "rename %s", store->path);
	store->moving = false;
	return 0;
}

int journal_store_put(struct journal_store *store, const struct buf *text, int64_t sequence,
		      const char *writer, struct err *err)
{
	if (!store->map)
		return journal_file_put(&store->file, text->data, text->len_bytes, sequence, writer,
					err);
	if (journal_map_put(store->map, text->data, text->len_bytes, sequence, writer, err) < 0)
		return err_wrap(err, "write the journal");
	return store->moving ? move_away(store, err) : 0;
}

/* ---- what was seen ---- */

int journal_store_check(struct journal_store *store, const char *writer, struct err *err)
{
	int result;

	if (!store->map)
		return journal_file_check(&store->file, err);
	result = journal_map_check(store->map, writer, err);
	if (result == 0 && store->origin.client && journal_map_is_marked(store->map))
		journal_origin_note(&store->origin);
	return result;
}

int journal_store_remove(struct journal_store *store, struct err *err)
{
	return journal_map_remove(store->map, err);
}

int journal_store_read_seen(struct journal_store *store, struct buf *text, struct err *err)
{
	const char *seen = store->map ? journal_map_seen(store->map) : NULL;

	if (!store->map || store->moving)
		return control_seen_read(store->file.dir, text, err);
	if (!seen)
		return err_set(err, ERR_ABSENT, 0, "not read yet");
	buf_addstr(text, seen);
	return 0;
}

int journal_store_save_seen(struct journal_store *store, const struct buf *text, struct err *err)
{
	if (store->map)
		return journal_map_save_seen(store->map, text->data, err);
	return control_seen_save(store->file.dir, text, err);
}
