#include "core/overlap.h"

#include <stddef.h>

#include "base/words.h"

/* One inside another is allowed: the results are in <checkpoint directory>/job-results by default, which is no
 * job id. Savepoints, and what Flink's HA keeps below its cluster id, have names of their own. */
static const struct {
	enum overlap_role a, b;
	enum overlap_relation relation;
} refused[] = {
	{OVERLAP_RESULTS, OVERLAP_CHECKPOINTS, OVERLAP_SAME},
	{OVERLAP_RESULTS, OVERLAP_SAVEPOINTS, OVERLAP_SAME},
	{OVERLAP_RESULTS, OVERLAP_HA, OVERLAP_SAME},
};

bool overlap_is_refused(enum overlap_role a, enum overlap_role b, enum overlap_relation relation)
{
	for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++)
		if (refused[i].relation == relation && ((refused[i].a == a && refused[i].b == b) ||
							(refused[i].a == b && refused[i].b == a)))
			return true;
	return false;
}

static const char *const overlap_key_words[] = {
	[OVERLAP_CHECKPOINTS] = "flink.checkpointDirectory",
	[OVERLAP_SAVEPOINTS] = "flink.savepointDirectory",
	[OVERLAP_RESULTS] = "flink.resultStoreDirectory",
	[OVERLAP_HA] = "high-availability.storageDir",
};
WORDS_OF(overlap_key_words, overlap_key, enum overlap_role, "unknown");
