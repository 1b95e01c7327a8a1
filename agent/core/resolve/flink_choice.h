/*
 * flink_choice - what Flink itself will start from, given what drey gives it. Pure.
 *
 * Flink compares nothing: an HA entry of the job id always wins over the restore argument; else
 * the argument; else the job starts empty (DefaultExecutionGraphFactory, the same in 1.15 to 2.3).
 * Before every launch it must match the decision.
 */
#ifndef DREY_CORE_FLINK_CHOICE_H
#define DREY_CORE_FLINK_CHOICE_H

#include "core/journal/journal.h"
#include "core/resolve/facts.h"
#include "core/resolve/resolve.h"

enum flink_source {
	FLINK_EMPTY,
	FLINK_ARGUMENT,
	FLINK_HA,
};

struct flink_choice {
	enum flink_source source;
	const char *path;      /* borrowed; NULL: empty */
	int64_t checkpoint_id; /* FLINK_HA; 0 = not known */
};

/* `argument`: the restore argument, NULL = none. */
void flink_choose(const struct facts *facts, const char *job_id, const char *argument,
		  struct flink_choice *ret_choice);

/* True when Flink, started with this job id, will do what was decided; else *ret_why (owned by the
 * caller) is one sentence. `argument`: as above. */
bool flink_obeys(const struct facts *facts, const struct decision *decision, const char *job_id,
		 const char *argument, char **ret_why);

/* True when a job of this id has left any trace: such an id must never be given to a new launch,
 * because its HA data would win, and its checkpoints would be in the way. The 6 digits of it in a
 * savepoint's name are enough. */
bool flink_id_is_used(const struct journal *journal, const struct facts *facts, const char *job_id);

#endif
