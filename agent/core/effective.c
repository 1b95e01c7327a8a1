#include "core/effective.h"

#include <stddef.h>

#include "base/words.h"

const char *const externalized_words[] = {"UNKNOWN", "RETAIN_ON_CANCELLATION",
					  "DELETE_ON_CANCELLATION", "NO_EXTERNALIZED_CHECKPOINTS",
					  NULL};
const char *const checkpoint_storage_words[] = {"unknown", "filesystem", "jobmanager", "other",
						NULL};
const char *const state_backend_words[] = {"unknown", "hashmap", "rocksdb", "forst", "other", NULL};
const char *const claim_mode_words[] = {"unknown", "NO_CLAIM", "CLAIM", NULL};
const char *const task_restarts_words[] = {"unknown", "off", "on", NULL};

enum externalized externalized_of(const char *word)
{
	int found = words_find(externalized_words, word);

	return found < 0 ? EXTERNALIZED_UNKNOWN : (enum externalized)found;
}

bool effective_same(const struct effective *a, const struct effective *b)
{
	return a->known == b->known && a->checkpointing_off == b->checkpointing_off &&
	       a->interval_ms == b->interval_ms && a->externalized == b->externalized &&
	       a->storage == b->storage && a->backend == b->backend &&
	       a->changelog == b->changelog && a->unaligned == b->unaligned &&
	       a->restarts == b->restarts && a->claim == b->claim &&
	       a->canonical_refused == b->canonical_refused;
}

bool effective_cancel_deletes(const struct effective *effective)
{
	return effective->known && (effective->externalized == EXTERNALIZED_DELETE ||
				    effective->externalized == EXTERNALIZED_NONE);
}

/* Source: CheckpointProperties (discardSuspended is true unless they are retained), and
 * StandaloneCompletedCheckpointStore.shutdown(), which asks for it; DefaultCompletedCheckpointStore, that of
 * high availability, discards nothing of a job that is suspended. */
bool effective_signal_deletes(const struct effective *effective, bool ha)
{
	/* MUT: a job whose checkpoints Flink deletes is ended by a signal */
	return !ha && effective_cancel_deletes(effective);
}
