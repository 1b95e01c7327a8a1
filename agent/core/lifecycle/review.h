/*
 * review - a checkpoint that nobody has read is a hope: the first one that completes after each restore is read
 * like the snapshot of a start (its _metadata, and whether every file is there), and then one now and then,
 * while the job runs and can still take a savepoint. Pure data; the deciding is in lifecycle_review.c.
 *
 * Nothing waits for it, and it waits for everything else.
 */
#ifndef DREY_CORE_REVIEW_H
#define DREY_CORE_REVIEW_H

#include <stdint.h>

struct review_config {
	int64_t interval_ms; /* between two; 0 = none at all */
	int64_t requests;    /* to an object store, in an hour on average; 0 = any number */
};

enum review_step {
	REVIEW_RESTS,
	REVIEW_READS, /* EFFECT_INSPECT is under way */
	/* it is not complete, but Flink may have deleted it since, for a newer one: it counts if the statistics
	 * of a poll that began after that still show it as the newest */
	REVIEW_CONFIRMS,
};

struct review {
	enum review_step step;
	int64_t id;
	char *error;      /* owned */
	int64_t since_ms; /* CONFIRMS: since then */
	int64_t due_ms;   /* not before this; 0 = not known yet */
	int misses;       /* in a row: deleted before there was a verdict */
};

/* How many requests reading a snapshot of so many files costs at most, unless its directories have far more
 * files than it refers to: one for each file or, for many, pages of a listing (store/verify_list.h). */
int64_t review_requests(int64_t file_count);

struct candidate;
struct event;

/* EVENT_INSPECTED: what came of reading the snapshot that INSPECT names. Borrows from the candidate. */
void inspection_says(const struct candidate *candidate, bool background, struct event *ret_event);

#endif
