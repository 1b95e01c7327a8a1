#include "store/snapshots.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "format/metadata.h"
#include "format/source.h"
#include "store/uri.h"

#define JOB_ID_DIGITS    32
#define JOB_PREFIX       6
#define SAVEPOINT_PREFIX "savepoint-"
#define SAVEPOINT_RANDOM 12
#define MAX_ID_DIGITS    18 /* always fits in 63 bits */

static bool is_hex(const char *text, size_t len)
{
	return strspn(text, "0123456789abcdef") >= len;
}

static bool is_job_id(const char *name)
{
	return strlen(name) == JOB_ID_DIGITS && is_hex(name, JOB_ID_DIGITS);
}

/* What follows prefix in name; NULL when it does not start with it. */
static const char *after(const char *name, const char *prefix)
{
	size_t len = strlen(prefix);

	return strncmp(name, prefix, len) ? NULL : name + len;
}

/* The n of "chk-<n>"; -1 for another name. */
static int64_t checkpoint_id_of(const char *name)
{
	const char *digits = after(name, "chk-");
	size_t len = digits ? strlen(digits) : 0;

	if (!len || len > MAX_ID_DIGITS || strspn(digits, "0123456789") != len)
		return -1;
	return strtoll(digits, NULL, 10);
}

/* The job's part of "savepoint-<6 hex>-<12 hex>"; NULL for another name. */
static const char *savepoint_job(const char *name)
{
	const char *job = after(name, SAVEPOINT_PREFIX), *random;

	if (!job || !is_hex(job, JOB_PREFIX) || job[JOB_PREFIX] != '-')
		return NULL;
	random = job + JOB_PREFIX + 1;
	return strlen(random) == SAVEPOINT_RANDOM && is_hex(random, SAVEPOINT_RANDOM) ? job : NULL;
}

struct listing {
	const char *dir; /* canonical; directly above the snapshots */
	const char *job_id;
	enum snapshots_kind kind;
	snapshots_fn fn;
	void *ctx;
	bool ended;  /* by fn */
	bool failed; /* idem */
};

static int hand_out_snapshot(struct listing *ls, const struct store_dir *dir, const char *job_id,
			     int64_t checkpoint_id, struct err *err)
{
	cleanup_free char *path = uri_join(ls->dir, dir->name);
	struct snapshots_item item = {
		.path = path,
		.kind = ls->kind,
		.job_id = job_id,
		.checkpoint_id = checkpoint_id,
		.mtime_unix_ms = -1,
		.size_bytes = -1,
	};
	int rc;

	switch (dir->leaf) {
	case STORE_LEAF_PRESENT:
		item.state = SNAPSHOTS_COMPLETE;
		item.mtime_unix_ms = dir->stat.mtime_unix_ms;
		item.size_bytes = dir->stat.size_bytes;
		break;
	case STORE_LEAF_ABSENT:
		item.state = SNAPSHOTS_INCOMPLETE;
		break;
	case STORE_LEAF_UNREADABLE:
		item.state = SNAPSHOTS_UNREADABLE;
		item.why = dir->why;
		break;
	}
	rc = ls->fn(ls->ctx, &item, err);
	ls->ended = rc > 0;
	ls->failed = rc < 0;
	return rc;
}

static int on_checkpoint(void *ctx, const struct store_dir *dir, struct err *err)
{
	struct listing *ls = ctx;
	int64_t id = checkpoint_id_of(dir->name);

	return id < 0 ? 0 : hand_out_snapshot(ls, dir, ls->job_id, id, err);
}

/* Other programs choose the name of a savepoint themselves (State Processor API): only a _metadata tells whether a directory
 * is one, so one that cannot be read may be. Not what file systems keep there (lost+found, .snapshot), nor a link to
 * what was deleted. */
static bool is_no_savepoint(const struct store_dir *dir)
{
	if (checkpoint_id_of(dir->name) >= 0 || dir->leaf == STORE_LEAF_ABSENT)
		return true;
	if (dir->leaf == STORE_LEAF_PRESENT)
		return false;
	/* MUT: a directory under another name that cannot be read is no savepoint */
	return *dir->name == '.' || !strcmp(dir->name, "lost+found") ||
	       (dir->why->kind == ERR_RETRY && dir->why->sys == ENOENT);
}

static int on_savepoint(void *ctx, const struct store_dir *dir, struct err *err)
{
	struct listing *ls = ctx;
	const char *job = savepoint_job(dir->name);
	char prefix[JOB_PREFIX + 1] = "";

	if (!job && is_no_savepoint(dir))
		return 0;
	if (job)
		memcpy(prefix, job, JOB_PREFIX);
	return hand_out_snapshot(ls, dir, prefix, -1, err);
}

/* The job ids are collected first, so that a store never has two listings open. */
struct job_ids {
	snapshots_job_fn wanted;
	void *ctx;
	char (*id)[JOB_ID_DIGITS + 1];
	size_t count, cap;
	bool flat; /* chk-<n> without a job id above */
};

static int on_job(void *ctx, const struct store_entry *entry, struct err *err)
{
	struct job_ids *jobs = ctx;

	(void)err;
	if (!entry->is_prefix)
		return 0;
	if (checkpoint_id_of(entry->name) >= 0)
		jobs->flat = true;
	if (!is_job_id(entry->name) || (jobs->wanted && !jobs->wanted(jobs->ctx, entry->name)))
		return 0;
	if (jobs->count == jobs->cap) {
		jobs->cap = jobs->cap ? 2 * jobs->cap : 16;
		jobs->id = xreallocarray(jobs->id, jobs->cap, sizeof(*jobs->id));
	}
	memcpy(jobs->id[jobs->count++], entry->name, JOB_ID_DIGITS + 1);
	return 0;
}

static int list_job(struct store *store, struct listing *ls, const char *top, const char *job_id,
		    struct err *err)
{
	cleanup_free char *dir = uri_join(top, job_id);

	ls->dir = dir;
	ls->job_id = job_id;
	return store_list_dirs(store, dir, METADATA_NAME, on_checkpoint, ls, err);
}

/* The listings of the next jobs, at the same time. */
static void begin_jobs(struct store *store, const char *top, const struct job_ids *jobs,
		       size_t first)
{
	struct store_next next[STORE_AHEAD_MAX];
	char *dirs[STORE_AHEAD_MAX];
	size_t count = 0;

	for (; count < STORE_AHEAD_MAX && first + count < jobs->count; count++) {
		dirs[count] = uri_join(top, jobs->id[first + count]);
		next[count] = (struct store_next){dirs[count], STORE_NEXT_DIRS};
	}
	store_ahead(store, next, count);
	while (count)
		free(dirs[--count]);
}

static int list_jobs(struct store *store, struct listing *ls, const char *top,
		     snapshots_job_fn wanted, struct err *err)
{
	struct job_ids jobs = {.wanted = wanted, .ctx = ls->ctx};
	int rc = store_list(store, top, on_job, &jobs, err);

	if (!rc && jobs.flat) {
		ls->dir = top;
		ls->job_id = "";
		rc = store_list_dirs(store, top, METADATA_NAME, on_checkpoint, ls, err);
	}
	for (size_t i = 0; i < jobs.count && !rc && !ls->ended; i++) {
		struct err why = {0};

		if (i % STORE_AHEAD_MAX == 0)
			begin_jobs(store, top, &jobs, i);
		rc = list_job(store, ls, top, jobs.id[i], &why);
		if (rc && why.kind == ERR_ABSENT && !ls->failed)
			rc = 0; /* removed since */
		else if (rc && err)
			*err = why;
	}
	free(jobs.id);
	return rc;
}

int snapshots_list_jobs(struct store *store, const char *checkpoint_dir, snapshots_job_fn wanted,
			snapshots_fn fn, void *ctx, struct err *err)
{
	struct listing ls = {.kind = SNAPSHOTS_CHECKPOINT, .fn = fn, .ctx = ctx};
	cleanup_free char *top = uri_canonical(checkpoint_dir);

	if (!top)
		return store_list(store, checkpoint_dir, NULL, NULL, err); /* names the fault */
	return list_jobs(store, &ls, top, wanted, err);
}

int snapshots_list_savepoints(struct store *store, const char *savepoint_dir, snapshots_fn fn,
			      void *ctx, struct err *err)
{
	cleanup_free char *top = uri_canonical(savepoint_dir);
	struct listing ls = {.dir = top, .kind = SNAPSHOTS_SAVEPOINT, .fn = fn, .ctx = ctx};

	if (!top)
		return store_list(store, savepoint_dir, NULL, NULL, err);
	return store_list_dirs(store, top, METADATA_NAME, on_savepoint, &ls, err);
}

char *snapshots_metadata_uri(const char *path)
{
	if (!strcmp(uri_name(path), METADATA_NAME))
		return xstrdup(path);
	return uri_join(path, METADATA_NAME);
}

char *snapshots_dir_uri(const char *path)
{
	return strcmp(uri_name(path), METADATA_NAME) ? xstrdup(path) : uri_parent(path);
}
