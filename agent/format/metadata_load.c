/* metadata_load(): a visitor that keeps everything. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "format/metadata.h"

struct collector {
	struct metadata *to;
	size_t operator_cap, file_cap;
	size_t *slots; /* open addressing; index of a file + 1, 0 is free */
	size_t slot_count;
	int64_t text_bytes;
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

static int count_text(struct collector *c, const char *text, struct err *err)
{
	c->text_bytes += text ? (int64_t)strlen(text) : 0;
	if (c->text_bytes > METADATA_MAX_TEXT)
		return err_set(err, ERR_FORMAT, 0, "more than %d bytes of names and paths",
			       METADATA_MAX_TEXT);
	return 0;
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
	struct metadata_operator *copy;

	if (to->operator_count == METADATA_MAX_OPERATORS)
		return err_set(err, ERR_FORMAT, 0, "more than %d operators",
			       METADATA_MAX_OPERATORS);
	if (count_text(c, op->name, err) || count_text(c, op->uid, err))
		return -1;
	if (to->operator_count == c->operator_cap)
		to->operators = grown(to->operators, &c->operator_cap, sizeof(*to->operators));
	copy = &to->operators[to->operator_count++];
	*copy = *op;
	copy->name = xstrdup(op->name);
	copy->uid = xstrdup(op->uid);
	return 0;
}

static size_t hash(const char *text, bool relative)
{
	uint64_t h = relative ? 0xcbf29ce484222325u : 0x9ae16a3b2f90404fu;

	for (; *text; text++)
		h = (h ^ (unsigned char)*text) * 0x100000001b3u;
	return (size_t)(h ^ h >> 29);
}

/* The slot of this file, taken or free. */
static size_t *slot_of(struct collector *c, const struct metadata_file *file)
{
	size_t i = hash(file->path, file->relative);

	for (;; i++) {
		size_t *slot = &c->slots[i & (c->slot_count - 1)];
		const struct metadata_file *other;

		if (!*slot)
			return slot;
		other = &c->to->files[*slot - 1];
		if (other->relative == file->relative && !strcmp(other->path, file->path))
			return slot;
	}
}

static void grow_slots(struct collector *c)
{
	c->slot_count = c->slot_count ? 2 * c->slot_count : 64;
	free(c->slots);
	c->slots = xcalloc(c->slot_count, sizeof(*c->slots));
	for (size_t i = 0; i < c->to->file_count; i++)
		*slot_of(c, &c->to->files[i]) = i + 1;
}

/* A second reference to a file: it must satisfy both. */
static void merge(struct metadata_file *into, const struct metadata_file *file)
{
	const struct metadata_file *larger = into->size_bytes >= file->size_bytes ? into : file;
	const struct metadata_file *smaller = larger == into ? file : into;

	/* The exact length of one can be the lower bound of another, not the other way round. */
	if (larger->size_bytes == smaller->size_bytes)
		into->lower_bound = into->lower_bound && file->lower_bound;
	else
		into->lower_bound = larger->lower_bound;
	into->size_bytes = larger->size_bytes;
	into->shared = into->shared || file->shared;
}

static int on_file(void *ctx, const struct metadata_file *file, struct err *err)
{
	struct collector *c = ctx;
	struct metadata *to = c->to;
	size_t *slot;

	if (2 * to->file_count >= c->slot_count)
		grow_slots(c);
	slot = slot_of(c, file);
	if (*slot) {
		merge(&to->files[*slot - 1], file);
		return 0;
	}
	if (to->file_count == METADATA_MAX_FILES)
		return err_set(err, ERR_FORMAT, 0, "more than %d files", METADATA_MAX_FILES);
	if (count_text(c, file->path, err))
		return -1;
	if (to->file_count == c->file_cap)
		to->files = grown(to->files, &c->file_cap, sizeof(*to->files));
	to->files[to->file_count] = *file;
	to->files[to->file_count].path = xstrdup(file->path);
	*slot = ++to->file_count;
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

void metadata_release(struct metadata *metadata)
{
	if (!metadata)
		return;
	for (size_t i = 0; i < metadata->operator_count; i++) {
		free((char *)metadata->operators[i].name);
		free((char *)metadata->operators[i].uid);
	}
	for (size_t i = 0; i < metadata->file_count; i++)
		free((char *)metadata->files[i].path);
	free(metadata->operators);
	free(metadata->files);
	*metadata = (struct metadata){0};
}
