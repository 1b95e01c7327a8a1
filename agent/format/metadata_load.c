/* metadata_load(): a visitor that keeps everything. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "format/metadata.h"

#define TEXT_BYTES 65536

/* Texts one after another; an allocation for each would double the time. */
struct metadata_text {
	struct metadata_text *next;
	size_t used_bytes, cap_bytes;
	char bytes[];
};

/* Files are found again by path, with open addressing. A slot is small, because the cost is mostly
 * cache misses: index of the file + 1, and above it bits of the hash, which distinguish nearly all
 * others. 0 is free. */
#define SLOT_NUMBER_BITS 21
_Static_assert(METADATA_MAX_FILES < 1 << SLOT_NUMBER_BITS, "a slot cannot hold every file");

struct collector {
	struct metadata *to;
	size_t operator_cap, file_cap;
	uint32_t *slots;
	size_t slot_count;
	int64_t text_bytes;
	struct buf text; /* a path that is compared */
};

static int on_header(void *ctx, const struct metadata_header *header, struct err *err)
{
	struct collector *c = ctx;

	(void)err;
	c->to->header = *header;
	return 0;
}

static int on_tail(void *ctx, const struct metadata_tail *tail, struct err *err)
{
	struct collector *c = ctx;

	(void)err;
	c->to->tail = *tail;
	return 0;
}

static int count_text(struct collector *c, size_t len, struct err *err)
{
	c->text_bytes += (int64_t)len;
	if (c->text_bytes > METADATA_MAX_TEXT)
		return err_set(err, ERR_FORMAT, 0, "more than %d bytes of names and paths",
			       METADATA_MAX_TEXT);
	return 0;
}

/* Keep a copy: *ret, NULL for none. */
static int keep_text(struct collector *c, const char *text, size_t len, const char **ret,
		     struct err *err)
{
	struct metadata_text *texts = c->to->texts;

	*ret = NULL;
	if (!text)
		return 0;
	if (count_text(c, len, err) < 0)
		return -1;
	if (!texts || texts->cap_bytes - texts->used_bytes <= len) {
		size_t cap = len < TEXT_BYTES ? TEXT_BYTES : len + 1;

		texts = xreallocarray(NULL, 1, sizeof(*texts) + cap);
		*texts = (struct metadata_text){c->to->texts, 0, cap};
		c->to->texts = texts;
	}
	*ret = memcpy(texts->bytes + texts->used_bytes, text, len + 1);
	texts->used_bytes += len + 1;
	return 0;
}

static size_t length(const char *text)
{
	return text ? strlen(text) : 0;
}

static void *grown(void *array, size_t *cap, size_t size_bytes)
{
	*cap = *cap ? 2 * *cap : 16;
	return xreallocarray(array, *cap, size_bytes);
}

static int on_operator(void *ctx, const struct metadata_operator *op, struct err *err)
{
	struct collector *c = ctx;
	struct metadata *to = c->to;
	struct metadata_operator copy = *op;

	if (to->operator_count == METADATA_MAX_OPERATORS)
		return err_set(err, ERR_FORMAT, 0, "more than %d operators",
			       METADATA_MAX_OPERATORS);
	if (keep_text(c, op->name, length(op->name), &copy.name, err) ||
	    keep_text(c, op->uid, length(op->uid), &copy.uid, err))
		return -1;
	if (to->operator_count == c->operator_cap)
		to->operators = grown(to->operators, &c->operator_cap, sizeof(*to->operators));
	to->operators[to->operator_count++] = copy;
	return 0;
}

static uint64_t hash(const struct collector *c, const char *path, bool relative)
{
	return packed_hash((uintptr_t)c ^ relative, path, strlen(path));
}

static uint32_t mark_of(uint64_t key)
{
	return (uint32_t)(key >> 32) << SLOT_NUMBER_BITS;
}

static struct metadata_kept *file_of(const struct collector *c, uint32_t slot)
{
	return &c->to->files[(slot & ((1 << SLOT_NUMBER_BITS) - 1)) - 1];
}

/* The slot of this file, taken or free. */
static uint32_t *slot_of(struct collector *c, const struct metadata_file *file, uint64_t key)
{
	for (uint64_t i = key;; i++) {
		uint32_t *slot = &c->slots[i & (c->slot_count - 1)];
		const struct metadata_kept *other;

		if (!*slot)
			return slot;
		if ((*slot ^ mark_of(key)) >> SLOT_NUMBER_BITS)
			continue;
		other = file_of(c, *slot);
		if (other->relative == file->relative &&
		    !strcmp(packed_get(&c->to->paths, other->path, &c->text), file->path))
			return slot;
	}
}

static void grow_slots(struct collector *c)
{
	c->slot_count = c->slot_count ? 4 * c->slot_count : 64;
	free(c->slots);
	c->slots = xcalloc(c->slot_count, sizeof(*c->slots));
	for (size_t i = 0; i < c->to->file_count; i++) {
		const struct metadata_kept *file = &c->to->files[i];
		const char *path = packed_get(&c->to->paths, file->path, &c->text);
		uint64_t key = hash(c, path, file->relative), at = key;

		/* all are different */
		while (c->slots[at & (c->slot_count - 1)])
			at++;
		c->slots[at & (c->slot_count - 1)] = mark_of(key) | (uint32_t)(i + 1);
	}
}

/* A second reference to a file: it must satisfy both. */
static void merge(struct metadata_kept *into, const struct metadata_file *file)
{
	/* The exact length of one can be the lower bound of another, but not the reverse. */
	if (into->size_bytes == file->size_bytes)
		into->lower_bound = into->lower_bound && file->lower_bound;
	else if (into->size_bytes < file->size_bytes)
		into->lower_bound = file->lower_bound;
	if (into->size_bytes < file->size_bytes)
		into->size_bytes = file->size_bytes;
	into->shared = into->shared || file->shared;
}

static int on_file(void *ctx, const struct metadata_file *file, struct err *err)
{
	struct collector *c = ctx;
	struct metadata *to = c->to;
	uint64_t key = hash(c, file->path, file->relative);
	uint32_t *slot, path;

	if (3 * c->slot_count <= 4 * to->file_count)
		grow_slots(c);
	slot = slot_of(c, file, key);
	if (*slot) {
		merge(file_of(c, *slot), file);
		return 0;
	}
	if (to->file_count == METADATA_MAX_FILES)
		return err_set(err, ERR_FORMAT, 0, "more than %d files", METADATA_MAX_FILES);
	if (count_text(c, strlen(file->path), err) < 0)
		return -1;
	path = packed_add(&to->paths, file->path); /* METADATA_MAX_TEXT fits */
	if (to->file_count == c->file_cap)
		to->files = grown(to->files, &c->file_cap, sizeof(*to->files));
	to->files[to->file_count++] = (struct metadata_kept){
		.size_bytes = file->size_bytes,
		.path = path,
		.relative = file->relative,
		.shared = file->shared,
		.lower_bound = file->lower_bound,
	};
	*slot = mark_of(key) | (uint32_t)to->file_count;
	return 0;
}

int metadata_load(struct source *src, struct metadata *ret, struct err *err)
{
	struct metadata metadata = {0};
	struct collector c = {.to = &metadata};
	struct metadata_visitor visitor = {
		.ctx = &c,
		.header = on_header,
		.operator_state = on_operator,
		.file = on_file,
		.tail = on_tail,
	};
	int rc = metadata_parse(src, &visitor, err);

	free(c.slots);
	buf_release(&c.text);
	if (rc) {
		metadata_release(&metadata);
		return -1;
	}
	metadata.size_bytes = metadata.tail.inline_bytes;
	for (size_t i = 0; i < metadata.file_count; i++)
		if (metadata.files[i].size_bytes > 0 &&
		    metadata.files[i].size_bytes <= INT64_MAX - metadata.size_bytes)
			metadata.size_bytes += metadata.files[i].size_bytes;
	*ret = metadata;
	return 0;
}

struct metadata_file metadata_file(const struct metadata *metadata, size_t index, struct buf *text)
{
	const struct metadata_kept *kept = &metadata->files[index];

	return (struct metadata_file){
		.path = packed_get(&metadata->paths, kept->path, text),
		.size_bytes = kept->size_bytes,
		.relative = kept->relative,
		.shared = kept->shared,
		.lower_bound = kept->lower_bound,
	};
}

void metadata_release(struct metadata *metadata)
{
	if (!metadata)
		return;
	for (struct metadata_text *texts = metadata->texts, *next; texts; texts = next) {
		next = texts->next;
		free(texts);
	}
	free(metadata->operators);
	free(metadata->files);
	packed_release(&metadata->paths);
	*metadata = (struct metadata){0};
}
