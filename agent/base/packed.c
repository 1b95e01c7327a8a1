#include "base/packed.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* A name begins with one of these; behind it 16 bytes, or the text and a NUL. */
#define TAG_UUID 1
#define TAG_TEXT 2

#define UUID_BYTES 16
#define UUID_CHARS 36
#define SLOTS_MIN  16

void packed_release(struct packed *packed)
{
	buf_release(&packed->names);
	buf_release(&packed->dirs);
	free(packed->dir_at);
	free(packed->slots);
	*packed = (struct packed){0};
}

uint64_t packed_hash(uint64_t seed, const char *text, size_t len)
{
	uint64_t h = seed, word;
	unsigned __int128 product;

	for (size_t i = 0; i < len; i += sizeof(word)) {
		word = 0;
		memcpy(&word, text + i, len - i < sizeof(word) ? len - i : sizeof(word));
		/* both halves of the product: the lower one alone would ignore the last letters */
		product = (unsigned __int128)(h ^ word) * UINT64_C(0x9E3779B97F4A7C15);
		h = (uint64_t)product ^ (uint64_t)(product >> 64);
	}
	return h;
}

/* ---- names ---- */

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Where the two digits of each byte are. */
static const unsigned char uuid_at[UUID_BYTES] = {0,  2,  4,  6,  9,  11, 14, 16,
						  19, 21, 24, 26, 28, 30, 32, 34};

/* Only the spelling that is also written. */
static bool read_uuid(const char *name, unsigned char *ret)
{
	if (strlen(name) != UUID_CHARS || name[8] != '-' || name[13] != '-' || name[18] != '-' ||
	    name[23] != '-')
		return false;
	for (size_t i = 0; i < UUID_BYTES; i++) {
		int high = digit_of(name[uuid_at[i]]), low = digit_of(name[uuid_at[i] + 1]);

		if ((high | low) < 0)
			return false;
		ret[i] = (unsigned char)(high << 4 | low);
	}
	return true;
}

static void write_uuid(const unsigned char *uuid, struct buf *ret)
{
	static const char digits[] = "0123456789abcdef";
	char text[UUID_CHARS];

	text[8] = text[13] = text[18] = text[23] = '-';
	for (size_t i = 0; i < UUID_BYTES; i++) {
		text[uuid_at[i]] = digits[uuid[i] >> 4];
		text[uuid_at[i] + 1] = digits[uuid[i] & 0xF];
	}
	buf_add(ret, text, sizeof(text));
}

void packed_name_of(const char *name, struct packed_name *ret)
{
	ret->text = read_uuid(name, ret->uuid) ? NULL : name;
}

/* `at` is the tag of the second. */
static int compare_names(const struct packed_name *name, const char *at)
{
	if (!name->text && *at == TAG_UUID)
		return memcmp(name->uuid, at + 1, UUID_BYTES);
	if (name->text && *at == TAG_TEXT)
		return strcmp(name->text, at + 1);
	return name->text ? 1 : -1;
}

static void name_at(const char *at, struct packed_name *ret)
{
	ret->text = *at == TAG_TEXT ? at + 1 : NULL;
	if (!ret->text)
		memcpy(ret->uuid, at + 1, UUID_BYTES);
}

/* ---- directories ---- */

static const char *dir_text(const struct packed *packed, uint32_t dir)
{
	return packed->dirs.data + packed->dir_at[dir];
}

/* The slot of this directory, taken or free. */
static uint32_t *dir_slot(const struct packed *packed, const char *text, size_t len)
{
	uint64_t at = packed_hash(packed->seed, text, len);

	for (;; at++) {
		uint32_t *slot = &packed->slots[at & (packed->slot_count - 1)];
		const char *other = *slot ? dir_text(packed, *slot - 1) : NULL;

		if (!other || (!strncmp(other, text, len) && !other[len]))
			return slot;
	}
}

static void grow_slots(struct packed *packed)
{
	packed->slot_count = packed->slot_count ? 4 * packed->slot_count : SLOTS_MIN;
	free(packed->slots);
	packed->slots = xcalloc(packed->slot_count, sizeof(*packed->slots));
	for (uint32_t i = 0; i < packed->dir_count; i++) {
		const char *text = dir_text(packed, i);

		*dir_slot(packed, text, strlen(text)) = i + 1;
	}
}

static uint32_t add_dir(struct packed *packed, const char *text, size_t len)
{
	uint32_t *slot;

	/* mostly that of the one before */
	if (packed->dir_count && !strncmp(dir_text(packed, packed->dir_last), text, len) &&
	    !dir_text(packed, packed->dir_last)[len])
		return packed->dir_last;
	if (3 * packed->slot_count <= 4 * packed->dir_count)
		grow_slots(packed);
	slot = dir_slot(packed, text, len);
	if (*slot)
		return packed->dir_last = *slot - 1;
	if (packed->dirs.len_bytes + len + 1 >= PACKED_FULL)
		return PACKED_FULL;
	if (packed->dir_count == packed->dir_cap) {
		packed->dir_cap += packed->dir_cap / 2 + 16;
		packed->dir_at =
			xreallocarray(packed->dir_at, packed->dir_cap, sizeof(*packed->dir_at));
	}
	packed->dir_at[packed->dir_count++] = (uint32_t)packed->dirs.len_bytes;
	buf_add(&packed->dirs, text, len);
	buf_addch(&packed->dirs, '\0');
	*slot = (uint32_t)packed->dir_count;
	return packed->dir_last = (uint32_t)packed->dir_count - 1;
}

/* The number of a directory: seven bits in each byte, the last one without the eighth. */
static void put_dir(struct buf *names, uint32_t dir)
{
	for (; dir >= 0x80; dir >>= 7)
		buf_addch(names, (char)(dir | 0x80));
	buf_addch(names, (char)dir);
}

/* The tag of its name, and *ret_dir. */
static const char *packed_tag(const struct packed *packed, uint32_t number, uint32_t *ret_dir)
{
	const unsigned char *at = (const unsigned char *)packed->names.data + number;
	int shift = 0;

	*ret_dir = 0;
	for (; *at & 0x80; at++, shift += 7)
		*ret_dir |= (uint32_t)(*at & 0x7F) << shift;
	*ret_dir |= (uint32_t)*at << shift;
	return (const char *)at + 1;
}

/* ---- texts ---- */

uint32_t packed_add(struct packed *packed, const char *text)
{
	const char *slash = strrchr(text, '/'), *name = slash ? slash + 1 : text;
	size_t number = packed->names.len_bytes, len = strlen(name);
	struct packed_name key;
	uint32_t dir;

	if (number + len + 8 >= PACKED_FULL)
		return PACKED_FULL;
	if (!packed->seed)
		packed->seed = (uintptr_t)packed | 1;
	dir = add_dir(packed, text, (size_t)(name - text));
	if (dir == PACKED_FULL)
		return PACKED_FULL;
	put_dir(&packed->names, dir);
	packed_name_of(name, &key);
	buf_addch(&packed->names, key.text ? TAG_TEXT : TAG_UUID);
	if (key.text)
		buf_add(&packed->names, name, len + 1);
	else
		buf_add(&packed->names, key.uuid, UUID_BYTES);
	return (uint32_t)number;
}

const char *packed_get(const struct packed *packed, uint32_t number, struct buf *ret)
{
	uint32_t dir;
	const char *at = packed_tag(packed, number, &dir);

	buf_clear(ret);
	buf_addstr(ret, dir_text(packed, dir));
	if (*at == TAG_UUID)
		write_uuid((const unsigned char *)at + 1, ret);
	else
		buf_addstr(ret, at + 1);
	return buf_str(ret);
}

const char *packed_dir(const struct packed *packed, uint32_t number)
{
	uint32_t dir;

	packed_tag(packed, number, &dir);
	return dir_text(packed, dir);
}

int packed_compare(const struct packed *packed, uint32_t a, uint32_t b)
{
	uint32_t dir_a, dir_b;
	const char *name_a = packed_tag(packed, a, &dir_a), *name_b = packed_tag(packed, b, &dir_b);
	struct packed_name name;

	if (dir_a != dir_b)
		return strcmp(dir_text(packed, dir_a), dir_text(packed, dir_b));
	name_at(name_a, &name);
	return compare_names(&name, name_b);
}

bool packed_same_dir(const struct packed *packed, uint32_t a, uint32_t b)
{
	uint32_t dir_a, dir_b;

	packed_tag(packed, a, &dir_a);
	packed_tag(packed, b, &dir_b);
	return dir_a == dir_b;
}

int packed_compare_name(const struct packed *packed, const struct packed_name *name,
			uint32_t number)
{
	uint32_t dir;

	return compare_names(name, packed_tag(packed, number, &dir));
}

static uint64_t hash_name(const struct packed_name *name)
{
	return name->text ? packed_hash(1, name->text, strlen(name->text))
			  : packed_hash(2, (const char *)name->uuid, UUID_BYTES);
}

uint64_t packed_hash_of(const struct packed *packed, uint32_t number)
{
	struct packed_name name;
	uint32_t dir;

	name_at(packed_tag(packed, number, &dir), &name);
	return hash_name(&name);
}

uint64_t packed_hash_name(const char *text)
{
	struct packed_name name;

	packed_name_of(text, &name);
	return hash_name(&name);
}
