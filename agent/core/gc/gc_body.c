/* gc: what a _metadata refers to, beside what is there: is it that of this snapshot, and whole? */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/gc/gc_internal.h"

enum { NAME_LEN = 36, HALF = NAME_LEN / 2, JOB_LEN = JOB_ID_BYTES - 1 };

/* ---- the files that are there ---- */

/* The place of this key, taken or free. */
static uint32_t *there_of_key(const struct gc *gc, uint32_t key)
{
	size_t mask = gc->there_cap - 1, at = key & mask;

	while (gc->there[at] && gc->there[at] != key)
		at = (at + 1) & mask;
	return &gc->there[at];
}

static uint32_t key_of_hash(uint64_t hash)
{
	return (uint32_t)(hash >> 32) | 1;
}

static void index_names(struct gc *gc)
{
	if (gc->there && gc->there_of == gc->file_count)
		return;
	free(gc->there);
	for (gc->there_cap = 64; gc->there_cap < 2 * gc->file_count;)
		gc->there_cap *= 2;
	gc->there = xcalloc(gc->there_cap, sizeof(*gc->there));
	gc->there_of = gc->file_count;
	for (size_t t = 0; t < gc->tree_count; t++) {
		const struct gc_tree *tree = &gc->trees[t];

		for (size_t i = tree->first;
		     i < tree->first + tree->count && tree->kind == GC_TREE_JOB; i++) {
			uint32_t key = key_of_hash(packed_hash_of(&gc->names, gc->files[i].name));

			*there_of_key(gc, key) = key;
		}
	}
}

/* In any of the directories of jobs, under this name: two names with one key count as one. */
static bool is_in_tree(const struct gc *gc, const char *path)
{
	const char *name = strrchr(path, '/');

	return *there_of_key(gc, key_of_hash(packed_hash_name(name ? name + 1 : path))) != 0;
}

/* ---- one body ---- */

/* ".../<job id>/shared/..." and what else Flink has in the directory of a job. */
static bool job_of_path(const char *path, char ret[JOB_ID_BYTES])
{
	static const char *const below[] = {"shared/", "chk-", "taskowned/", "dstl/"};
	const char *found = NULL;

	for (const char *at = strchr(path, '/'); at; at = strchr(at + 1, '/')) {
		if (strspn(at + 1, "0123456789abcdef") != JOB_LEN || at[1 + JOB_LEN] != '/')
			continue;
		for (size_t i = 0; i < ARRAY_LEN(below); i++)
			if (!strncmp(at + 2 + JOB_LEN, below[i], strlen(below[i])))
				found = at + 1;
	}
	if (found)
		snprintf(ret, JOB_ID_BYTES, "%.*s", JOB_LEN, found);
	return found != NULL;
}

/* Did the one begin when the other was over? Not if it is not known of both. */
static bool ran_later(const struct journal *journal, const char *job_id, const char *than)
{
	int last = gc_newest_of_job(journal, than);

	for (int i = 0; i <= last; i++)
		if (!strcmp(journal->launches[i].job_id, job_id))
			return false;
	return last >= 0 && gc_newest_of_job(journal, job_id) > last;
}

static int64_t tree_of_job(const struct gc *gc, const char *job_id)
{
	for (size_t i = 0; i < gc->tree_count; i++)
		if (gc->trees[i].kind == GC_TREE_JOB && !strcmp(gc->trees[i].job_id, job_id))
			return (int64_t)i;
	return -1;
}

static void note_owner(struct gc_body *body, const struct gc *gc, const struct journal *journal,
		       const char *job_id)
{
	if (!strcmp(body->owner, job_id))
		return;
	memcpy(body->owner, job_id, JOB_ID_BYTES);
	body->owner_tree = tree_of_job(gc, job_id);
	if (!*body->later && ran_later(journal, job_id, gc->snapshots[body->snapshot].job_id))
		memcpy(body->later, job_id, JOB_ID_BYTES);
}

static void add_stray(struct gc *gc, const struct gc_body *body, const char *path)
{
	size_t len = strlen(path);
	const char *name = path + (len > NAME_LEN ? len - NAME_LEN : 0);
	struct gc_stray *stray;

	if ((gc->stray_count & (gc->stray_count - 1)) == 0)
		gc->strays = xreallocarray(gc->strays, gc->stray_count ? 2 * gc->stray_count : 1,
					   sizeof(*gc->strays));
	stray = &gc->strays[gc->stray_count++];
	*stray = (struct gc_stray){.snapshot = body->snapshot, .tree = (size_t)body->owner_tree};
	if (strlen(name) != NAME_LEN)
		return;
	stray->halves[0] = packed_hash(1, name, HALF);
	stray->halves[1] = packed_hash(1, name + HALF, HALF);
}

/* Most references are to the directory of the one before. */
static bool is_in_same_dir(const struct gc_body *body, const char *path)
{
	size_t len = strlen(body->dir);

	return len && !strncmp(path, body->dir, len) && !strchr(path + len, '/');
}

static void note_dir(struct gc_body *body, const char *path)
{
	size_t len = (size_t)(strrchr(path, '/') + 1 - path);

	snprintf(body->dir, sizeof(body->dir), "%.*s", len < sizeof(body->dir) ? (int)len : 0,
		 path);
}

void gc_body_begin(struct gc_body *body, struct gc *gc, size_t snapshot)
{
	*body = (struct gc_body){.snapshot = snapshot, .owner_tree = -1};
	index_names(gc);
}

void gc_body_refer(struct gc_body *body, struct gc *gc, const struct journal *journal,
		   const char *path, bool relative)
{
	char job_id[JOB_ID_BYTES];

	if (relative) {
		body->beside++;
		body->there += is_in_tree(gc, path);
		return;
	}
	gc_refer(gc, path);
	if (!is_in_same_dir(body, path)) {
		if (!job_of_path(path, job_id))
			return;
		note_owner(body, gc, journal, job_id);
		note_dir(body, path);
	}
	if (body->owner_tree >= 0 && !is_in_tree(gc, path))
		add_stray(gc, body, path);
}

char *gc_body_is_of_another(const struct gc_body *body, const struct gc *gc)
{
	const struct gc_snapshot *snapshot = &gc->snapshots[body->snapshot];

	/* MUT: a checkpoint may refer to files of a job that ran later */
	if (*body->later)
		return xasprintf(
			"it refers to files of job %s, which ran later: its _metadata is that of another checkpoint",
			body->later);
	/* MUT: a checkpoint may name none of its own files */
	if (body->beside && !body->there && snapshot->checkpoint_id &&
	    gc_has_file_of(gc, snapshot, NAME_LEN))
		return xstrdup(
			"it names none of the files in its directory, and files that are not there: its _metadata is that of another checkpoint");
	return NULL;
}

/* ---- references that lead nowhere ---- */

/* Is it one of the last launch, or does something besides the journal name it? */
static bool stray_matters(const struct gc_snapshot *snapshot, const struct journal *journal)
{
	const struct launch *last = journal_launch_const(journal);

	return !snapshot->gone && (snapshot->named || !strcmp(snapshot->job_id, last->job_id) ||
				   snapshot_same_path(snapshot->path, last->restore_path));
}

struct half {
	uint64_t key;
	size_t stray;
};

static int by_half(const void *left, const void *right)
{
	const struct half *a = left, *b = right;

	return (a->key > b->key) - (a->key < b->key);
}

static struct half *sort_halves(const struct gc *gc)
{
	struct half *halves = xcalloc(2 * gc->stray_count, sizeof(*halves));

	for (size_t i = 0; i < 2 * gc->stray_count; i++)
		halves[i] = (struct half){gc->strays[i / 2].halves[i % 2], i / 2};
	qsort(halves, 2 * gc->stray_count, sizeof(*halves), by_half);
	return halves;
}

/* The one of which a half has this name: a byte, or a few, were damaged. Names are drawn at random, so no two others have
 * a half in common. */
static const struct gc_stray *stray_like(const struct gc *gc, const struct half *halves,
					 const char *name)
{
	const char *last = strrchr(name, '/');

	last = last ? last + 1 : name;
	for (int i = 0; i < 2 && strlen(last) == NAME_LEN; i++) {
		const struct half key = {.key = packed_hash(1, last + (size_t)i * HALF, HALF)};
		const struct half *found =
			bsearch(&key, halves, 2 * gc->stray_count, sizeof(key), by_half);

		if (found)
			return &gc->strays[found->stray];
	}
	return NULL;
}

/* One in this tree, of a snapshot that is needed. */
static const struct gc_stray *stray_needed(const struct gc *gc, size_t tree,
					   const struct journal *journal)
{
	for (size_t i = 0; i < gc->stray_count; i++)
		if (gc->strays[i].tree == tree &&
		    stray_matters(&gc->snapshots[gc->strays[i].snapshot], journal))
			return &gc->strays[i];
	return NULL;
}

static char *stray_in(const struct gc *gc, size_t index, const struct half *halves,
		      const struct journal *journal)
{
	const struct gc_tree *tree = &gc->trees[index];
	const struct gc_stray *needed = stray_needed(gc, index, journal);
	cleanup_buf struct buf text = BUF_INIT;

	for (size_t i = tree->first; i < tree->first + tree->count; i++) {
		const char *name = gc_name(gc, &gc->files[i], &text);
		enum gc_known known = gc_known_name(tree->kind, name);
		const struct gc_stray *like;

		if ((known != GC_KNOWN_SHARED && known != GC_KNOWN_CHECKPOINT) ||
		    gc_is_referred(gc, name))
			continue;
		like = stray_like(gc, halves, name);
		/* MUT: a damaged name in a _metadata refers to nothing */
		if (like)
			return xasprintf(
				"%s is damaged: it refers to a file that is not there, and %s/%s, to which nothing refers, has half of its name",
				gc->snapshots[like->snapshot].path, tree->dir, name);
		/* MUT: what is needed may refer to files that are not there */
		if (needed && known == GC_KNOWN_SHARED)
			return xasprintf(
				"%s is needed, and refers to a file in %s that is not there, but nothing refers to %s, which is",
				gc->snapshots[needed->snapshot].path, tree->dir, name);
	}
	return NULL;
}

char *gc_stray_contradiction(const struct gc *gc, const struct journal *journal)
{
	struct half *halves = gc->stray_count ? sort_halves(gc) : NULL;
	char *why = NULL;

	for (size_t i = 0; halves && i < gc->tree_count && !why; i++)
		if (gc->trees[i].kind == GC_TREE_JOB)
			why = stray_in(gc, i, halves, journal);
	free(halves);
	return why;
}
