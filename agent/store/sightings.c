#include "store/sightings.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/packed.h"
#include "store/uri.h"

#define SLOTS_FIRST ((size_t)64)
#define SLOTS_MOST  ((size_t)1 << 20)
#define DIRS_MOST                                                                                  \
	((size_t)32768) /* what is remembered besides names when there is no room for those */

/* What a slot is about goes into its hash, too. */
#define OF_NAME 0
#define OF_DONE 1 /* + scope: a complete listing; its tick is in `listed` */
#define OF_GONE 8 /* + scope: one that was made to know what is gone */

struct slot {
	uint64_t hash; /* 0: free */
	int64_t size_bytes;
	sightings_tick listed, found; /* 0: never */
};

struct sightings {
	uint64_t seed;
	struct slot *slots; /* open addressing; some are always free */
	size_t slot_count, count;
	sightings_tick last, full; /* full: when a name was first not remembered */
	int64_t begin_ms, begin_unix_ms;
	struct buf key;
};

struct sightings *sightings_new(void)
{
	struct sightings *seen = xcalloc(1, sizeof(*seen));

	if (getrandom(&seen->seed, sizeof(seen->seed), 0) != sizeof(seen->seed))
		seen->seed = (uintptr_t)seen;
	seen->seed |= 1;
	seen->begin_ms = clock_mono_ms();
	seen->begin_unix_ms = clock_unix_ms();
	return seen;
}

void sightings_free(struct sightings *seen)
{
	if (!seen)
		return;
	buf_release(&seen->key);
	free(seen->slots);
	free(seen);
}

/* ---- time ---- */

static sightings_tick tick_now(struct sightings *seen)
{
	int64_t since_ms = clock_mono_ms() - seen->begin_ms + 1;

	if (since_ms > (int64_t)seen->last && since_ms < UINT32_MAX)
		seen->last = (sightings_tick)since_ms;
	return seen->last;
}

sightings_tick sightings_begin(struct sightings *seen)
{
	sightings_tick before = seen->last;

	if (tick_now(seen) == before && before < UINT32_MAX)
		seen->last++;
	return seen->last;
}

static int64_t unix_ms_of(const struct sightings *seen, sightings_tick tick)
{
	return tick ? seen->begin_unix_ms + tick - 1 : 0;
}

/* ---- slots ---- */

/* s3, s3a and s3p are three names for the same. */
static uint64_t hash_of(struct sightings *seen, int about, const char *uri)
{
	uint64_t hash = seen->seed ^ (uint64_t)(about + 1) * UINT64_C(0x9E3779B97F4A7C15);

	if (!strncmp(uri, "s3a:", 4) || !strncmp(uri, "s3p:", 4)) {
		buf_clear(&seen->key);
		buf_addstr(&seen->key, "s3");
		buf_addstr(&seen->key, uri + 3);
		uri = seen->key.data;
	}
	hash = packed_hash(hash, uri, strlen(uri));
	return hash ? hash : 1;
}

/* That of this hash, or the free one where it would be. */
static struct slot *slot_of(const struct sightings *seen, uint64_t hash)
{
	size_t mask = seen->slot_count - 1, at = hash & mask;

	while (seen->slots[at].hash && seen->slots[at].hash != hash)
		at = (at + 1) & mask;
	return &seen->slots[at];
}

static void grow(struct sightings *seen)
{
	struct slot *old = seen->slots;
	size_t old_count = seen->slot_count;

	seen->slot_count = old_count ? 2 * old_count : SLOTS_FIRST;
	seen->slots = xcalloc(seen->slot_count, sizeof(*seen->slots));
	for (size_t i = 0; i < old_count; i++)
		if (old[i].hash)
			*slot_of(seen, old[i].hash) = old[i];
	free(old);
}

/* NULL: there is none. */
static struct slot *find(struct sightings *seen, int about, const char *uri)
{
	uint64_t hash = hash_of(seen, about, uri);
	struct slot *slot = seen->slot_count ? slot_of(seen, hash) : NULL;

	return slot && slot->hash ? slot : NULL;
}

/* The same, made if there is room; else NULL, and that is remembered. */
static struct slot *put(struct sightings *seen, int about, const char *uri)
{
	uint64_t hash = hash_of(seen, about, uri);
	struct slot *slot = seen->slot_count ? slot_of(seen, hash) : NULL;

	if (slot && slot->hash)
		return slot;
	if (seen->count >= SIGHTINGS_MAX && about == OF_NAME) {
		seen->full = seen->full ? seen->full : tick_now(seen);
		return NULL;
	}
	if (seen->count == SIGHTINGS_MAX + DIRS_MOST)
		return NULL;
	if (!slot || (seen->count >= seen->slot_count / 8 * 7 && seen->slot_count < SLOTS_MOST)) {
		grow(seen);
		slot = slot_of(seen, hash);
	}
	seen->count++;
	*slot = (struct slot){.hash = hash, .size_bytes = -1};
	return slot;
}

/* ---- what was seen ---- */

static void note_size(struct slot *slot, int64_t size_bytes)
{
	/* the greatest: what was shorter once is what is doubted */
	if (size_bytes > slot->size_bytes)
		slot->size_bytes = size_bytes;
}

void sightings_listed(struct sightings *seen, const char *uri, int64_t size_bytes,
		      sightings_tick tick)
{
	struct slot *slot = put(seen, OF_NAME, uri);

	if (!slot)
		return;
	slot->listed = tick;
	note_size(slot, size_bytes);
}

void sightings_found(struct sightings *seen, const char *uri, int64_t size_bytes)
{
	struct slot *slot = put(seen, OF_NAME, uri);

	if (!slot)
		return;
	slot->found = tick_now(seen);
	note_size(slot, size_bytes);
}

bool sightings_any(const struct sightings *seen)
{
	return seen->count > 0;
}

/* The slot stays: what comes behind it is found through it. */
void sightings_forget(struct sightings *seen, const char *uri)
{
	struct slot *slot = find(seen, OF_NAME, uri);

	if (slot)
		*slot = (struct slot){.hash = slot->hash, .size_bytes = -1};
}

void sightings_complete(struct sightings *seen, enum sightings_scope scope, const char *uri,
			sightings_tick tick)
{
	struct slot *slot = put(seen, OF_DONE + (int)scope, uri);

	if (slot)
		slot->listed = tick;
}

void sightings_gone(struct sightings *seen, enum sightings_scope scope, const char *uri,
		    sightings_tick tick)
{
	struct slot *slot = put(seen, OF_GONE + (int)scope, uri);

	if (slot)
		slot->listed = tick;
}

/* ---- what covers a name ---- */

/* "s3://b/ck/chk-1/" of "s3://b/ck/chk-1/_metadata", and of that "s3://b/ck/"; false: it is the root. */
static bool cut_to_dir(struct buf *uri, size_t root)
{
	size_t len = uri->len_bytes;

	if (len && uri->data[len - 1] == '/')
		len--;
	while (len > root && uri->data[len - 1] != '/')
		len--;
	if (len <= root)
		return false;
	uri->len_bytes = len;
	uri->data[len] = '\0';
	return true;
}

/* Where the path of a canonical URI begins. */
static size_t root_of(const char *uri)
{
	const char *mark = strstr(uri, "://");
	const char *slash = strchr(mark ? mark + 3 : uri, '/');

	return slash ? (size_t)(slash - uri) : strlen(uri);
}

static sightings_tick tick_of(struct sightings *seen, int about, const char *uri)
{
	const struct slot *slot = find(seen, about, uri);

	return slot ? slot->listed : 0;
}

/* When the newest listing of this kind began that would have named the file. */
static sightings_tick covered(struct sightings *seen, int kind, const char *uri)
{
	cleanup_buf struct buf dir = BUF_INIT, leaf = BUF_INIT;
	sightings_tick newest = 0, tick;
	size_t root = root_of(uri);
	int depth;

	buf_addstr(&dir, uri);
	/* of a directory: a listing that has found it empty covers it, too */
	if (dir.len_bytes && dir.data[dir.len_bytes - 1] == '/')
		newest = tick_of(seen, kind + SIGHTINGS_TREE, dir.data);
	for (depth = 1; cut_to_dir(&dir, root); depth++) {
		tick = tick_of(seen, kind + SIGHTINGS_TREE, dir.data);
		newest = tick > newest ? tick : newest;
		if (depth > 2)
			continue;
		buf_clear(&leaf);
		buf_addf(&leaf, "%s%s", dir.data, depth == 2 ? uri_name(uri) : "");
		tick = tick_of(seen, kind + (depth == 1 ? SIGHTINGS_LEVEL : SIGHTINGS_LEAF),
			       leaf.data);
		newest = tick > newest ? tick : newest;
	}
	return newest;
}

static sightings_tick later_of(sightings_tick a, sightings_tick b)
{
	return a > b ? a : b;
}

bool sightings_of(const struct sightings *const_seen, const char *uri, struct store_sighting *ret)
{
	struct sightings *seen = (struct sightings *)(uintptr_t)const_seen; /* for its buffer */
	cleanup_free char *canonical = uri_canonical(uri);
	const struct slot *slot;
	sightings_tick dir;

	if (!canonical)
		return false;
	slot = find(seen, OF_NAME, canonical);
	dir = covered(seen, OF_DONE, canonical);
	if (!dir && !(slot && later_of(slot->listed, slot->found)))
		return false;
	*ret = (struct store_sighting){
		.listed_unix_ms = slot ? unix_ms_of(seen, slot->listed) : 0,
		.found_unix_ms = slot ? unix_ms_of(seen, slot->found) : 0,
		.size_bytes = slot ? slot->size_bytes : -1,
		.dir_unix_ms = unix_ms_of(seen, dir),
		.left_out = dir && !(slot && slot->listed >= dir),
	};
	return true;
}

bool sightings_left_out(const struct sightings *seen, const char *uri)
{
	struct store_sighting sighting;

	return sightings_of(seen, uri, &sighting) && sighting.left_out;
}

bool sightings_only_listed(const struct sightings *const_seen, const char *uri)
{
	struct sightings *seen = (struct sightings *)(uintptr_t)const_seen; /* for its buffer */
	const struct slot *slot = find(seen, OF_NAME, uri);

	return slot && slot->listed && !slot->found;
}

/* ---- contradictions ---- */

static int contradict(struct sightings *seen, const char *uri, const struct slot *slot,
		      const char *answer, struct err *err)
{
	bool listed = slot->listed >= slot->found;
	char then[CLOCK_TEXT_BYTES], now[CLOCK_TEXT_BYTES], size[40] = "";

	if (slot->size_bytes >= 0)
		snprintf(size, sizeof(size), " with %" PRId64 " bytes", slot->size_bytes);
	return err_set(
		err, ERR_CONTRADICTED, 0, "%s: %s at %s%s, but %s at %s (UTC)", uri,
		listed ? "listed" : "found",
		clock_time_of_day(unix_ms_of(seen, later_of(slot->listed, slot->found)), then),
		size, answer, clock_time_of_day(unix_ms_of(seen, tick_now(seen)), now));
}

int sightings_check(struct sightings *seen, const char *uri, int64_t size_bytes, const char *answer,
		    struct err *err)
{
	const struct slot *slot = find(seen, OF_NAME, uri);
	sightings_tick at = slot ? later_of(slot->listed, slot->found) : 0;

	/* MUT: a shorter file than was listed is believed */
	if (size_bytes >= 0)
		return at && size_bytes < slot->size_bytes
			       ? contradict(seen, uri, slot, answer, err)
			       : 0;
	if (!at && !seen->full)
		return 0;
	/* MUT: what a later listing has not named stays remembered */
	if (covered(seen, OF_GONE, uri) > (at ? at : seen->full))
		return 0;
	/* MUT: a file that was listed is believed to be absent */
	if (at)
		return contradict(seen, uri, slot, answer, err);
	/* MUT: an absence counts although more was listed than is remembered */
	return err_set(
		err, ERR_CONTRADICTED, 0,
		"%s: %s, but more than %zu files were seen, so it is not known whether it was listed",
		uri, answer, SIGHTINGS_MAX);
}
