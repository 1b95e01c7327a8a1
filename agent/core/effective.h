/*
 * effective - what the running job says of its own settings (Flink's REST API), where the code of a job or
 * Flink's command line overrides what the configuration says. Pure data; it owns nothing.
 *
 * It is recorded with the launch: an agent that starts later, and the next launch, must know it before
 * Flink can be asked.
 */
#ifndef DREY_CORE_EFFECTIVE_H
#define DREY_CORE_EFFECTIVE_H

#include <stdbool.h>
#include <stdint.h>

/* What Flink does with the checkpoints of a job that ends other than by finishing
 * (externalized-checkpoint-retention). */
enum externalized {
	EXTERNALIZED_UNKNOWN,
	EXTERNALIZED_RETAIN, /* they stay */
	EXTERNALIZED_DELETE, /* they stay only when it fails */
	EXTERNALIZED_NONE,   /* they are deleted */
};
extern const char
	*const externalized_words[]; /* as Flink's configuration names them; NULL at the end */

/* Where the checkpoints are. */
enum checkpoint_storage {
	CHECKPOINT_STORAGE_UNKNOWN,
	CHECKPOINT_STORAGE_FILES,
	CHECKPOINT_STORAGE_MEMORY, /* in the memory of the JobManager */
	CHECKPOINT_STORAGE_OTHER,  /* a class that is not Flink's */
};
extern const char *const checkpoint_storage_words[];

enum state_backend {
	STATE_BACKEND_UNKNOWN,
	STATE_BACKEND_HASHMAP,
	STATE_BACKEND_ROCKSDB,
	STATE_BACKEND_FORST,
	STATE_BACKEND_OTHER,
};
extern const char *const state_backend_words[];

struct effective {
	bool known; /* Flink has said it, or that the job makes no checkpoints */
	bool checkpointing_off;
	int64_t interval_ms; /* 0 = no periodic checkpoints */
	enum externalized externalized;
	enum checkpoint_storage storage;
	enum state_backend backend;
	bool changelog, unaligned;
};

bool effective_same(const struct effective *a, const struct effective *b);

/*
 * Would Flink delete the checkpoints of the job if it were ended by a signal that lets it shut down in good
 * order, or by a cancel? `ha`: it has high availability, whose store keeps them when Flink shuts down.
 */
bool effective_signal_deletes(const struct effective *effective, bool ha);
bool effective_cancel_deletes(const struct effective *effective);

#endif
