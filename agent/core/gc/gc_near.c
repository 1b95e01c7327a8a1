/*
 * gc: the checkpoints of a job are numbered, so what a listing has left out can be asked for by its name: the numbers
 * next to those that are known.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/gc/gc_internal.h"

/* A checkpoint that is known, or was once. */
struct known_chk {
	char job_id[JOB_ID_BYTES];
	int64_t id;
	char *job_dir;
};

struct known_chks {
	struct known_chk *list; /* by job, the newest first */
	size_t count, cap;
};

/* ".../<job id>/chk-<n>", also of its _metadata. False: it has another path. */
static bool chk_of_path(const char *path, struct known_chk *ret)
{
	const char *name = path ? strstr(path, "/chk-") : NULL;
	size_t len;

	/* the last one: a directory above may be called like that */
	for (const char *next = name; next; next = strstr(next + 1, "/chk-"))
		name = next;
	len = name ? (size_t)(name - path) : 0;
	if (len < JOB_ID_BYTES || path[len - JOB_ID_BYTES] != '/')
		return false;
	snprintf(ret->job_id, sizeof(ret->job_id), "%s", path + len - JOB_ID_BYTES + 1);
	ret->id = gc_checkpoint_of(name + 1, NULL);
	if (!ret->id || !gc_is_job_id(ret->job_id))
		return false;
	ret->job_dir = xstrndup(path, len);
	return true;
}

static void chks_note(struct known_chks *chks, const char *path)
{
	struct known_chk chk;

	if (!chk_of_path(path, &chk))
		return;
	if (chks->count == chks->cap) {
		chks->cap = chks->cap ? 2 * chks->cap : 16;
		chks->list = xreallocarray(chks->list, chks->cap, sizeof(*chks->list));
	}
	chks->list[chks->count++] = chk;
}

static int by_job_and_id(const void *left, const void *right)
{
	const struct known_chk *a = left, *b = right;
	int order = strcmp(a->job_id, b->job_id);

	return order ? order : (a->id < b->id) - (a->id > b->id);
}

static void chks_collect(const struct gc *gc, const struct journal *journal,
			 struct known_chks *chks)
{
	for (size_t i = 0; i < gc->snapshot_count; i++)
		chks_note(chks, gc->snapshots[i].path);
	for (size_t i = 0; i < journal->launch_count; i++) {
		chks_note(chks, journal->launches[i].last_checkpoint_path);
		chks_note(chks, journal->launches[i].restore_path);
	}
	if (chks->count)
		qsort(chks->list, chks->count, sizeof(*chks->list), by_job_and_id);
}

static bool is_known_chk(const struct known_chk *job, size_t count, int64_t id)
{
	struct known_chk key = *job;

	key.id = id;
	return bsearch(&key, job, count, sizeof(key), by_job_and_id) != NULL;
}

/* The nearest first, and of these the newest. `job` has all that are known of one job. */
static void near_of_job(const struct known_chk *job, size_t count, gc_checkpoint_fn *fn, void *ctx)
{
	int64_t asked[GC_NEAR_PER_JOB];
	int asked_count = 0;

	for (int64_t distance = 1; asked_count < GC_NEAR_PER_JOB; distance++)
		for (size_t i = 0; i < 2 * count && asked_count < GC_NEAR_PER_JOB; i++) {
			const struct known_chk *next = &job[i / 2];
			int64_t id = next->id + (i % 2 ? -distance : distance);
			bool skip = id <= 0 || is_known_chk(job, count, id);
			cleanup_free char *dir = NULL;

			for (int k = 0; k < asked_count && !skip; k++)
				skip = asked[k] == id;
			if (skip)
				continue;
			asked[asked_count++] = id;
			dir = xasprintf("%s/chk-%jd", next->job_dir, (intmax_t)id);
			fn(ctx, dir);
		}
}

void gc_near(const struct gc *gc, const struct journal *journal, gc_checkpoint_fn *fn, void *ctx)
{
	struct known_chks chks = {0};

	chks_collect(gc, journal, &chks);
	for (size_t i = 0, end; i < chks.count; i = end) {
		for (end = i + 1;
		     end < chks.count && !strcmp(chks.list[end].job_id, chks.list[i].job_id);)
			end++;
		near_of_job(chks.list + i, end - i, fn, ctx);
	}
	for (size_t i = 0; i < chks.count; i++)
		free(chks.list[i].job_dir);
	free(chks.list);
}

bool gc_has_checkpoint(const struct gc *gc, const char *path)
{
	struct known_chk chk, other;
	bool found = false;

	if (!chk_of_path(path, &chk))
		return false;
	for (size_t i = 0; i < gc->snapshot_count && !found; i++) {
		if (!chk_of_path(gc->snapshots[i].path, &other))
			continue;
		found = !gc->snapshots[i].gone && !by_job_and_id(&chk, &other);
		free(other.job_dir);
	}
	free(chk.job_dir);
	return found;
}
