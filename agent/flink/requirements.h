/*
 * requirements - how many subtasks each vertex of a running job may have, with Flink's adaptive
 * scheduler (1.18 and later): GET and PUT /jobs/:id/resource-requirements.
 *
 * Flink keeps them with the job id, and rescales the job itself: after its cooldown, and as far as there
 * are slots. What is read is always all vertices, and so must be what is written.
 *
 * Life cycle: flink_rest_requirements() -> read -> flink_requirements_release().
 */
#ifndef DREY_FLINK_REQUIREMENTS_H
#define DREY_FLINK_REQUIREMENTS_H

#include "flink/rest.h"

struct flink_requirement {
	char *id, *name;  /* of the vertex */
	char *slot_group; /* id of its slot sharing group; NULL = Flink has not told */
	int64_t parallelism, max_parallelism; /* max: -1 = Flink has not told */
	int64_t lower, upper;
};

struct flink_requirements {
	struct flink_requirement *list;
	size_t count;
};

/* In the order of the job's graph. ERR_CONFIG: Flink runs the job with another scheduler, which has no
 * such bounds. timeout_ms: of each of two requests. */
enum flink_answer flink_rest_requirements(const struct flink_rest *rest, const char *job_id,
					  int64_t timeout_ms,
					  struct flink_requirements *ret_requirements,
					  struct err *err);
void flink_requirements_release(struct flink_requirements *requirements); /* zeroed is allowed */

/* body: {"<vertex id>": {"parallelism": {"lowerBound": n, "upperBound": n}}, ...}. ERR_CONFIG: Flink
 * refuses it. After a timeout it may or may not have arrived; repeating is safe. */
enum flink_answer flink_rest_set_requirements(const struct flink_rest *rest, const char *job_id,
					      const char *body, int64_t timeout_ms,
					      struct err *err);

#endif
