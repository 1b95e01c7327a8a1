#include "core/snapshot.h"

#include <stdlib.h>

#include "base/mem.h"

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

const char *snapshot_kind_name(enum snapshot_kind kind)
{
	static const char *const names[] = {"checkpoint", "savepoint"};

	return (size_t)kind < ARRAY_LEN(names) ? names[kind] : "unknown";
}

const char *snapshot_origin_name(enum snapshot_origin origin)
{
	static const char *const names[] = {"found", "periodic", "manual",
					    "stop",  "initial",  "request"};

	return (size_t)origin < ARRAY_LEN(names) ? names[origin] : "unknown";
}
