#include "base/cgroup.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/mem.h"

#define FILE_MAX_BYTES ((size_t)64 * 1024)
/* Version 1 writes the largest multiple of a page for "no limit". */
#define NO_LIMIT_BYTES (INT64_C(1) << 60)

struct files {
	const char *dir, *limit, *used, *inactive;
};

static const struct files version_2 = {"", "memory.max", "memory.current", "inactive_file "};
static const struct files version_1 = {"memory/", "memory.limit_in_bytes", "memory.usage_in_bytes",
				       "total_inactive_file "};

static bool cgroup_text(const char *dir, const struct files *files, const char *name,
			struct buf *ret_text)
{
	cleanup_free char *path = xasprintf("%s%s%s", dir, files->dir, name);
	struct err err = {0};

	buf_clear(ret_text);
	return fs_read(path, FILE_MAX_BYTES, ret_text, &err) == 0;
}

static bool cgroup_number(const char *dir, const struct files *files, const char *name,
			  int64_t *ret_value)
{
	cleanup_buf struct buf text = BUF_INIT;
	char *end;

	if (!cgroup_text(dir, files, name, &text))
		return false;
	*ret_value = strtoll(buf_str(&text), &end, 10);
	return end != buf_str(&text); /* "max" */
}

/* The value behind the word at the beginning of a line; 0: there is none. */
static int64_t line_value(const char *text, const char *word)
{
	size_t len = strlen(word);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, word, len) == 0)
			return strtoll(line + len, NULL, 10);
	}
	return 0;
}

static bool headroom(const char *dir, const struct files *files, int64_t *ret_bytes)
{
	cleanup_buf struct buf stat = BUF_INIT;
	int64_t limit, used;

	if (!cgroup_number(dir, files, files->limit, &limit) || limit >= NO_LIMIT_BYTES ||
	    !cgroup_number(dir, files, files->used, &used))
		return false;
	if (cgroup_text(dir, files, "memory.stat", &stat))
		used -= line_value(buf_str(&stat), files->inactive);
	*ret_bytes = limit - used;
	return true;
}

/* Inside a container its cgroup is the mounted one; elsewhere it is below. The caller frees. */
static char *own_directory(void)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct err err = {0};
	const char *at;

	if (fs_read("/proc/self/cgroup", FILE_MAX_BYTES, &text, &err) < 0)
		return NULL;
	at = buf_str(&text);
	at = strncmp(at, "0::", 3) == 0 ? at : strstr(at, "\n0::");
	at = at ? strchr(at, '/') : NULL;
	if (!at || at[1] == '\n' || !at[1])
		return NULL;
	return xasprintf("/sys/fs/cgroup%.*s/", (int)strcspn(at, "\n"), at);
}

int64_t cgroup_headroom_bytes(const char *root)
{
	cleanup_free char *own = root ? NULL : own_directory();
	const char *mount = root ? root : "/sys/fs/cgroup/";
	int64_t bytes;

	if (own && headroom(own, &version_2, &bytes))
		return bytes;
	if (headroom(mount, &version_2, &bytes) || headroom(mount, &version_1, &bytes))
		return bytes;
	return INT64_MAX;
}
