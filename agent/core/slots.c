#include "core/slots.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"

int64_t slots_needed(const struct slot_user *users, size_t count)
{
	/* the largest user of each group; there are few groups */
	cleanup_free struct slot_user *groups = xcalloc(count + 1, sizeof(*groups));
	size_t group_count = 0;
	int64_t sum = 0;

	for (size_t i = 0; i < count; i++) {
		size_t at = 0;

		while (at < group_count && !xstrsame(groups[at].group, users[i].group))
			at++;
		if (at == group_count)
			groups[group_count++].group = users[i].group;
		if (users[i].parallelism > groups[at].parallelism)
			groups[at].parallelism = users[i].parallelism;
	}
	for (size_t i = 0; i < group_count; i++)
		sum += groups[i].parallelism;
	return sum;
}

char *slots_short(int64_t needed, int64_t total, int64_t task_managers)
{
	cleanup_free char *managers = NULL;

	if (needed <= total)
		return NULL;
	if (task_managers >= 0)
		managers = xasprintf(" (%" PRId64 " TaskManager%s)", task_managers,
				     task_managers == 1 ? "" : "s");
	return xasprintf("it needs %" PRId64 " slot%s, and there %s %" PRId64 "%s", needed,
			 needed == 1 ? "" : "s", total == 1 ? "is" : "are", total,
			 managers ? managers : "");
}
