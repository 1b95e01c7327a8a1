/*
 * rescale - what a request for another parallelism means for a running job: which vertices get which
 * bounds, and whether the job runs with them. Pure.
 *
 * Flink's adaptive scheduler has a lower and an upper bound for each vertex, and takes all of them in
 * one request: one that leaves out a vertex, or names one that the job does not have, is refused as
 * a whole. With fewer slots than the upper bounds need, the job runs with fewer subtasks.
 *
 * Life cycle: rescale_plan() -> read -> rescale_plan_release().
 *
 * Source: Flink's JobResourceRequirementsBody, Dispatcher.validateMaxParallelism() (1.18 to 2.3).
 */
#ifndef DREY_CORE_RESCALE_H
#define DREY_CORE_RESCALE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RESCALE_MAX_VERTICES    64    /* named in one request */
#define RESCALE_MAX_PARALLELISM 32768 /* Flink's own limit */
#define RESCALE_MAX_UID_BYTES   256

/* One that a person has named, by the uid of its first operator or by its id. */
struct vertex_parallelism {
	char *vertex;
	int64_t parallelism;
};

/* What a person wants. Owns its strings and the list. */
struct parallelism {
	char *nonce; /* names the request; NULL = there is none */
	bool reset;  /* what was wanted before is withdrawn, and nothing else is wanted */
	bool merge;  /* what was wanted before stays, except for these vertices */
	int64_t all; /* of every vertex that is not named; 0 = those stay as they are */
	struct vertex_parallelism *vertices;
	size_t vertex_count;
};

void parallelism_release(struct parallelism *wanted); /* zeroed is allowed; zeroed afterwards */
void parallelism_copy(struct parallelism *to,
		      const struct parallelism *from); /* *to is overwritten */
/* Add a vertex, or change its number. */
void parallelism_set(struct parallelism *wanted, const char *vertex, int64_t parallelism);
/* What is wanted after this request, when `before` was: without reset and merge. *to is overwritten. */
void parallelism_after(struct parallelism *to, const struct parallelism *before,
		       const struct parallelism *request);
/* The same numbers, whatever the nonces. */
bool parallelism_same(const struct parallelism *a, const struct parallelism *b);
bool parallelism_is_empty(const struct parallelism *wanted); /* no numbers */

/* One vertex of the running job, as Flink shows it. Borrowed. */
struct rescale_vertex {
	const char *id, *name;
	int64_t parallelism, max_parallelism;
	int64_t lower, upper;   /* its bounds; 0 = not known */
	const char *slot_group; /* id; NULL = not known */
};

enum rescale_verdict {
	RESCALE_APPLY,   /* Flink is to get these bounds */
	RESCALE_SAME,    /* it has them */
	RESCALE_REFUSED, /* it cannot get them */
};

struct rescale_bounds {
	int64_t lower, upper;
};

struct rescale_plan {
	enum rescale_verdict verdict;
	struct rescale_bounds *bounds; /* of each vertex, in their order */
	size_t count;
	/* REFUSED: why. Otherwise what is not as wanted: a vertex that the job does not have, or whose
	 * maximum is lower; NULL = all is. Owned. */
	char *why;
};

/* strict: what cannot be exactly as wanted is refused; else as much as possible is done, because
 * the job may have changed since a person asked. */
void rescale_plan(const struct parallelism *wanted, const struct rescale_vertex *vertices,
		  size_t count, bool strict, struct rescale_plan *ret_plan);
void rescale_plan_release(struct rescale_plan *plan);

/* The body of the request; the caller frees. */
char *rescale_body(const struct rescale_vertex *vertices, const struct rescale_bounds *bounds,
		   size_t count);

/* Which vertices do not run with their upper bound: "count: 2 of 4". NULL: none. The caller frees. */
char *rescale_missing(const struct rescale_vertex *vertices, size_t count);

/* So many slots the vertices need to run with their upper bounds. */
int64_t rescale_slots(const struct rescale_vertex *vertices, size_t count);

#endif
