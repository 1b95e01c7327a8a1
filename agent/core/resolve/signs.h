/*
 * signs - does a launch run, of which Flink's REST API says nothing? What storage and Flink's HA data show of its
 * job, from the facts that a decision would be made on. Pure.
 *
 * A checkpoint is a sign if it is newer than all that the job can have from before this launch: its restore point,
 * what an earlier process of the same job id has left, and the newest that was seen of it. One that is not newer than
 * the restore point is none: then Flink has restored something else (lineage.h).
 */
#ifndef DREY_CORE_SIGNS_H
#define DREY_CORE_SIGNS_H

#include <stdint.h>

#include "core/journal/journal.h"
#include "core/resolve/facts.h"

enum signs_verdict {
	SIGNS_NONE,       /* everything was read, and nothing of this launch is there */
	SIGNS_UNREADABLE, /* something was not, so it could be there */
	SIGNS_ALIVE, /* it has completed a checkpoint, or begun one: Flink does that only while all tasks run */
	SIGNS_ENDED, /* Flink has recorded the end of the job */
};

struct signs {
	enum signs_verdict verdict;
	bool failed;       /* ENDED: by a failure */
	int64_t newest_id; /* of the checkpoints of this launch that were completed or begun; 0 = none */
	char text[360]; /* what was seen, or why it was not readable: a clause; "" = NONE */
};

/* `launch`: the one that lives. */
void signs_read(const struct launch *launch, const struct facts *facts, struct signs *ret_signs);

/* The highest checkpoint id that an earlier process of this job may have used; 0 = none. */
int64_t signs_before(const struct facts *facts, const char *job_id);

extern const char *const signs_words[]; /* by verdict; NULL at the end */

#endif
