/*
 * lifecycle_ids - the names of a launch, see lifecycle_ids.c. Part of the life cycle: for its other files.
 */
#ifndef DREY_CORE_LIFECYCLE_IDS_H
#define DREY_CORE_LIFECYCLE_IDS_H

#include "core/lifecycle/lifecycle.h"

/* A launch was decided although the copy knows of others: their ids are not drawn again. */
void copy_remember_jobs(struct journal *journal, const struct facts *facts);

/* A launch is decided on these facts: job ids of which nothing is left can be drawn again. The numbers that may be
 * drawn now, by number (core/ha_names.h; the caller frees); NULL = any. */
bool *job_ids_decided(struct lifecycle *life, const struct facts *facts);

/* A trace of a job id that the journal does not know: it may be from a backup. True: the HA maps of all ids are read, and it
 * is decided again, once. */
bool job_ids_look_first(struct lifecycle *life, const struct facts *facts, const bool *read);

/* The launch has its id: from now on the maps of a few are enough again. */
void job_ids_chosen(struct lifecycle *life);

/* Why no numbered id may be drawn: traces of it could be where nothing was read. NULL = it may; the caller frees. */
char *job_ids_unread(const struct lifecycle *life, const struct facts *facts,
		     enum cause *ret_cause);

/* None of these is free. True: others may be; their HA maps are read, and it is decided again. */
bool job_ids_look_on(struct lifecycle *life, const struct facts *facts, const bool *read);

/* Where `numbers` numbered ids begin that follow one another and that no launch has had; -1 = nowhere. */
int64_t find_free_numbers(const struct lifecycle *life, int64_t numbers);

/* An id that has left no trace. `read`: of job_ids_decided(). NULL, or why there is none; the caller frees. */
char *draw_job_id(struct lifecycle *life, const struct facts *facts, const bool *read,
		  char ret_job_id[JOB_ID_BYTES]);

/* A snapshot of it was seen, or reported by Flink: it may have been deleted by the next
 * observation, and must not count as never made then. */
void launch_has_left_state(struct lifecycle *life, struct launch *launch);

#endif
