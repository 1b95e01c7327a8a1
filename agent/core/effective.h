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

/* Whether the job takes over the snapshot that it is restored from. Only the code of a job can set it: Flink's
 * command line overwrites the configuration, and what GET /jobmanager/config says of it is not what the job has
 * (a job that claims runs where that says NO_CLAIM: 1.20.0, 2.3.0). What Flink restored tells:
 * CheckpointCoordinator.restoreSavepoint() registers it as a checkpoint of the job itself if it is claimed, else
 * as a savepoint. LEGACY (before 2.0) cannot be told from NO_CLAIM. */
enum claim_mode {
	CLAIM_MODE_UNKNOWN, /* also of a job that was started empty */
	CLAIM_MODE_NO_CLAIM,
	CLAIM_MODE_CLAIM,
};
extern const char *const claim_mode_words[];

/* Whether Flink restarts tasks that fail; if not, each failure ends the job. UNKNOWN: Flink says "Cluster level
 * default", which 1.20 says also where the code of the job has set another strategy. */
enum task_restarts {
	TASK_RESTARTS_UNKNOWN,
	TASK_RESTARTS_OFF,
	TASK_RESTARTS_ON,
};
extern const char *const task_restarts_words[];

struct effective {
	bool known; /* Flink has said it, or that the job makes no checkpoints */
	bool checkpointing_off;
	int64_t interval_ms; /* 0 = no periodic checkpoints */
	enum externalized externalized;
	enum checkpoint_storage storage;
	enum state_backend backend;
	bool changelog, unaligned;
	enum task_restarts restarts;
	enum claim_mode claim;  /* known earlier than the rest, or never */
	bool canonical_refused; /* a canonical savepoint has failed, since its state has none */
};

/* By Flink's word; UNKNOWN of another one. */
enum externalized externalized_of(const char *word);

bool effective_same(const struct effective *a, const struct effective *b);

/*
 * Would Flink delete the checkpoints of the job if it were ended by a signal that lets it shut down in good
 * order, or by a cancel? `ha`: it has high availability, whose store keeps them when Flink shuts down.
 */
bool effective_signal_deletes(const struct effective *effective, bool ha);
bool effective_cancel_deletes(const struct effective *effective);

#endif
