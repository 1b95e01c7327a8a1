/* gc: what there is, and the words. What follows from it is in gc_retain.c and gc_judge.c. */
#include "core/gc/gc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/words.h"

/* Sizes of tables are powers of two. */
#define REFS_MIN   1024
#define PLACES_MIN 64

void gc_release(struct gc *gc)
{
	if (!gc)
		return;
	for (size_t i = 0; i < gc->tree_count; i++)
		free(gc->trees[i].dir);
	for (size_t i = 0; i < gc->snapshot_count; i++)
		free(gc->snapshots[i].path);
	free(gc->trees);
	free(gc->files);
	free(gc->snapshots);
	free(gc->refs);
	free(gc->there);
	free(gc->strays);
	free(gc->by_path);
	free(gc->unreadable);
	free(gc->stop);
	packed_release(&gc->names);
	*gc = (struct gc){0};
}

/* ---- what there is ---- */

void gc_add_tree(struct gc *gc, enum gc_tree_kind kind, const char *dir, const char *job_id)
{
	struct gc_tree *tree;

	gc->trees = xreallocarray(gc->trees, gc->tree_count + 1, sizeof(*gc->trees));
	tree = &gc->trees[gc->tree_count++];
	*tree = (struct gc_tree){.kind = kind, .dir = xstrdup(dir), .first = gc->file_count};
	snprintf(tree->job_id, sizeof(tree->job_id), "%s", job_id);
}

bool gc_add_file(struct gc *gc, const char *name, int64_t size_bytes, int64_t mtime_unix_ms,
		 bool odd)
{
	struct gc_tree *tree = &gc->trees[gc->tree_count - 1];
	uint32_t number = packed_add(&gc->names, name);

	if (number == PACKED_FULL)
		return false;
	if (gc->file_count == gc->file_cap) {
		/* by a half: memory is what limits this */
		gc->file_cap += gc->file_cap / 2 + 64;
		gc->files = xreallocarray(gc->files, gc->file_cap, sizeof(*gc->files));
	}
	gc->files[gc->file_count++] = (struct gc_file){
		.size_bytes = size_bytes,
		.name = number,
		.odd = odd,
		.undated = mtime_unix_ms <= 0,
		.verdict = GC_DOUBT,
		.reason = GC_STOPPED,
	};
	tree->count++;
	if (mtime_unix_ms > tree->newest_unix_ms)
		tree->newest_unix_ms = mtime_unix_ms;
	return true;
}

/* The place of the snapshot with this path, taken or free. */
static uint32_t *place_of(const struct gc *gc, const char *path)
{
	uint64_t key = snapshot_path_key(path) * UINT64_C(0x9E3779B97F4A7C15);

	for (size_t at = (size_t)(key >> 32);; at++) {
		uint32_t *place = &gc->by_path[at & (gc->by_path_cap - 1)];

		if (!*place || snapshot_same_path(gc->snapshots[*place - 1].path, path))
			return place;
	}
}

static void grow_places(struct gc *gc)
{
	free(gc->by_path);
	gc->by_path_cap = gc->by_path_cap ? 2 * gc->by_path_cap : PLACES_MIN;
	gc->by_path = xcalloc(gc->by_path_cap, sizeof(*gc->by_path));
	for (size_t i = 0; gc->snapshots && i < gc->snapshot_count; i++)
		*place_of(gc, gc->snapshots[i].path) = (uint32_t)i + 1;
}

struct gc_snapshot *gc_find_snapshot(const struct gc *gc, const char *path)
{
	uint32_t place = gc->by_path_cap ? *place_of(gc, path) : 0;

	return place ? &gc->snapshots[place - 1] : NULL;
}

struct gc_snapshot *gc_add_snapshot(struct gc *gc, const struct gc_snapshot *snapshot)
{
	struct gc_snapshot *to;

	if (gc_find_snapshot(gc, snapshot->path))
		return NULL;
	if (!gc->by_path || 2 * gc->snapshot_count >= gc->by_path_cap)
		grow_places(gc);
	if (!gc->snapshots || gc->snapshot_count == gc->snapshot_cap) {
		gc->snapshot_cap += gc->snapshot_cap / 2 + 16;
		gc->snapshots =
			xreallocarray(gc->snapshots, gc->snapshot_cap, sizeof(*gc->snapshots));
	}
	*place_of(gc, snapshot->path) = (uint32_t)gc->snapshot_count + 1;
	to = &gc->snapshots[gc->snapshot_count++];
	*to = *snapshot;
	to->path = xstrdup(snapshot->path);
	return to;
}

void gc_set_unreadable(struct gc *gc, const char *why)
{
	if (!gc->unreadable)
		gc->unreadable = xstrdup(why);
}

/* ---- references ---- */

/* Of the last name of the path, never 0. Two names with one hash keep a file too many. */
static uint64_t key_of(const char *path)
{
	const char *name = strrchr(path, '/');
	uint64_t key;

	name = name ? name + 1 : path;
	key = packed_hash(1, name, strlen(name));
	return key ? key : 1;
}

static uint64_t *slot_of(const struct gc *gc, uint64_t key)
{
	size_t at = (size_t)key & (gc->ref_cap - 1);

	while (gc->refs[at] && gc->refs[at] != key)
		at = (at + 1) & (gc->ref_cap - 1);
	return &gc->refs[at];
}

static void grow_refs(struct gc *gc)
{
	struct gc old = *gc;

	gc->ref_cap = old.ref_cap ? 2 * old.ref_cap : REFS_MIN;
	gc->refs = xcalloc(gc->ref_cap, sizeof(*gc->refs));
	for (size_t i = 0; i < old.ref_cap; i++)
		if (old.refs[i])
			*slot_of(gc, old.refs[i]) = old.refs[i];
	free(old.refs);
}

void gc_refer(struct gc *gc, const char *path)
{
	uint64_t key = key_of(path), *slot;

	if (4 * (gc->ref_count + 1) > 3 * gc->ref_cap)
		grow_refs(gc);
	slot = slot_of(gc, key);
	if (!*slot)
		gc->ref_count++;
	*slot = key;
}

bool gc_is_referred(const struct gc *gc, const char *path)
{
	return gc->ref_cap && *slot_of(gc, key_of(path)) != 0;
}

/* ---- when ---- */

int64_t gc_due_unix_ms(int64_t proven_unix_ms, int64_t grace_ms, int64_t ended_unix_ms,
		       bool stopped, int64_t interval_ms)
{
	int64_t first_unix_ms = proven_unix_ms + grace_ms + GC_SLACK_MS;
	int64_t wait_ms = stopped && interval_ms > GC_RETRY_MS ? GC_RETRY_MS : interval_ms;
	int64_t next_unix_ms = ended_unix_ms ? ended_unix_ms + wait_ms : 0;

	return first_unix_ms > next_unix_ms ? first_unix_ms : next_unix_ms;
}

/* ---- words ---- */

static const struct {
	enum gc_verdict verdict;
	const char *name, *text;
} reasons[GC_REASON_COUNT] = {
	[GC_REPLACED] = {GC_DELETE, "replaced", "completed checkpoints of old launches"},
	[GC_UNFINISHED] = {GC_DELETE, "unfinished", "checkpoints that were never completed"},
	[GC_UNREFERENCED] = {GC_DELETE, "unreferenced", "no snapshot refers to them"},
	[GC_RESULT] = {GC_DELETE, "result", "how a dead launch ended"},
	[GC_BLOB] = {GC_DELETE, "blob", "libraries of dead jobs in Flink's HA"},
	[GC_HA] = {GC_DELETE, "ha", "Flink's HA of dead jobs"},
	[GC_RETAINED] = {GC_KEEP, "retained", "completed checkpoints that stay"},
	[GC_REFERRED] = {GC_KEEP, "referred", "a snapshot that stays refers to them"},
	[GC_NEEDED] = {GC_KEEP, "needed", "of the last launch"},
	[GC_HA_NAMED] = {GC_KEEP, "ha-named", "Flink's HA data refer to them"},
	[GC_ACTIVE] = {GC_DOUBT, "active", "something still writes for this job"},
	[GC_STRANGE] = {GC_DOUBT, "strange", "not what Flink writes there"},
	[GC_TASK_OWNED] = {GC_DOUBT, "task-owned", "operators may refer to them"},
	[GC_NEW] = {GC_DOUBT, "new", "seen by only one of two readings"},
	[GC_UNPROVEN] = {GC_DOUBT, "unproven", "of a job that is not known to be dead"},
	[GC_STOPPED] = {GC_DOUBT, "stopped", "nothing can be judged now"},
};

static struct gc_sum add_up(const struct gc_sum *sums, enum gc_verdict verdict)
{
	struct gc_sum sum = {0};

	for (int i = 0; i < GC_REASON_COUNT; i++)
		if (reasons[i].verdict == verdict) {
			sum.files += sums[i].files;
			sum.bytes += sums[i].bytes;
		}
	return sum;
}

struct gc_sum gc_total(const struct gc *gc, enum gc_verdict verdict)
{
	return add_up(gc->sums, verdict);
}

struct gc_sum gc_tree_total(const struct gc_tree *tree, enum gc_verdict verdict)
{
	return add_up(tree->sums, verdict);
}

enum gc_verdict gc_reason_verdict(enum gc_reason reason)
{
	return reasons[reason].verdict;
}

const char *gc_reason_name(enum gc_reason reason)
{
	return reasons[reason].name;
}

const char *gc_reason_text(enum gc_reason reason)
{
	return reasons[reason].text;
}

static const char *const gc_verdict_words[] = {
	[GC_KEEP] = "keep",
	[GC_DOUBT] = "doubt",
	[GC_DELETE] = "delete",
};
WORDS_OF(gc_verdict_words, gc_verdict_name, enum gc_verdict, "unknown");
