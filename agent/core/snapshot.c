#include "core/snapshot.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/words.h"

void snapshot_copy(struct snapshot *to, const struct snapshot *from)
{
	*to = *from;
	to->path = xstrdup(from->path);
}

void snapshot_release(struct snapshot *snapshot)
{
	if (!snapshot)
		return;
	free(snapshot->path);
	*snapshot = (struct snapshot){0};
}

const char *const snapshot_kind_words[] = {"checkpoint", "savepoint", NULL};
const char *const snapshot_origin_words[] = {"found",   "periodic", "manual", "stop",
					     "initial", "request",  NULL};

const char *const snapshot_format_words[] = {"unknown", "canonical", "native", NULL};

WORDS_OF(snapshot_kind_words, snapshot_kind_name, enum snapshot_kind, "unknown");
WORDS_OF(snapshot_origin_words, snapshot_origin_name, enum snapshot_origin, "unknown");

char *snapshot_is_of_another(int64_t expected, int64_t checkpoint_id)
{
	if (!expected || expected == checkpoint_id)
		return NULL;
	return xasprintf("its _metadata is of checkpoint %" PRId64 ", not %" PRId64, checkpoint_id,
			 expected);
}

static const char *after_scheme(const char *path)
{
	if (!strncmp(path, "file:", 5))
		path += 5;
	while (path[0] == '/' && path[1] == '/')
		path++;
	return path;
}

/* The part of a path that tells files apart: without file scheme, repeated leading slashes, a
 * trailing slash or _metadata. */
static const char *bare_path(const char *path, size_t *ret_len)
{
	static const char metadata[] = "/_metadata";
	size_t len;

	path = after_scheme(path);
	len = strlen(path);
	if (len >= sizeof(metadata) - 1 && !strcmp(path + len - (sizeof(metadata) - 1), metadata))
		len -= sizeof(metadata) - 1;
	while (len > 1 && path[len - 1] == '/')
		len--;
	*ret_len = len;
	return path;
}

/* What may follow the name of a snapshot: slashes, and the name of its _metadata. */
static bool is_tail(const char *text)
{
	while (text[0] == '/' && (text[1] == '/' || !text[1]))
		text++;
	return !*text || !strcmp(text, "/_metadata");
}

/* Neither a slash nor the end of _metadata: the snapshot's own name ends with it. */
static bool is_own_end(char ch)
{
	return ch != '/' && ch != 'a';
}

/* Called for every pair of many, most of which begin alike and end with another number. */
bool snapshot_same_path(const char *a, const char *b)
{
	size_t len = 0;
	char a_end, b_end;

	if (!a || !b)
		return false;
	a = after_scheme(a);
	b = after_scheme(b);
	if (!*a || !*b)
		return !*a && !*b;
	a_end = a[strlen(a) - 1];
	b_end = b[strlen(b) - 1];
	if (a_end != b_end && is_own_end(a_end) && is_own_end(b_end))
		return false;
	if (!strcmp(a, b))
		return true;
	while (a[len] && a[len] == b[len])
		len++;
	while (len > 1 && a[len - 1] == '/')
		len--;
	return is_tail(a + len) && is_tail(b + len);
}

/* The end tells snapshots apart; coarser than bare_path(), which removes one _metadata. */
uint64_t snapshot_path_key(const char *path)
{
	static const char metadata[] = "/_metadata";
	const size_t tail = sizeof(metadata) - 1;
	uint64_t key = 0;
	size_t len, used;

	if (!path)
		return 0;
	path = after_scheme(path);
	len = strlen(path);
	for (;;) {
		if (len > 1 && path[len - 1] == '/')
			len--;
		else if (len >= tail && !memcmp(path + len - tail, metadata, tail))
			len -= tail;
		else
			break;
	}
	used = len < sizeof(key) ? len : sizeof(key);
	memcpy(&key, path + len - used, used);
	return key;
}

bool snapshot_is_under(const char *path, const char *dir)
{
	size_t path_len, dir_len;

	path = bare_path(path, &path_len);
	dir = bare_path(dir, &dir_len);
	return path_len > dir_len && !memcmp(path, dir, dir_len) &&
	       (path[dir_len] == '/' || dir[dir_len - 1] == '/');
}

/* Up to the slash after the bucket or host; a local path has neither. */
static size_t storage_len(const char *path)
{
	const char *at = strstr(path, "://");
	const char *end;

	if (!at || !strncmp(path, "file:", 5))
		return 0;
	end = strchr(at + 3, '/');
	return end ? (size_t)(end - path) : strlen(path);
}

bool snapshot_same_storage(const char *a, const char *b)
{
	size_t len = storage_len(a);

	return len == storage_len(b) && !memcmp(a, b, len);
}
