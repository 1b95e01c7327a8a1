/* observe_ids: whose is a job id, and is the journal that should know it lost? */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "run/observe/observe_internal.h"

bool observe_is_lost(const struct observe_plan *plan)
{
	return plan->journal_state == SOURCE_ABSENT && !plan->job_id_count;
}

static int by_id(const void *left, const void *right)
{
	return strcmp(left, right);
}

void observe_sort_jobs(struct look *look)
{
	const struct observe_plan *plan = look->plan;

	look->jobs = xcalloc(plan->job_id_count + plan->name_count + plan->ha.count + 1,
			     sizeof(*look->jobs));
	for (size_t i = 0; i < plan->job_id_count; i++)
		memcpy(look->jobs[look->job_count++], plan->job_ids[i], JOB_ID_BYTES);
	for (size_t i = 0; i < plan->name_count; i++)
		memcpy(look->jobs[look->job_count++], plan->names[i], JOB_ID_BYTES);
	for (size_t i = 0; i < plan->ha.count; i++)
		if (*plan->ha.maps[i].job_id)
			memcpy(look->jobs[look->job_count++], plan->ha.maps[i].job_id,
			       JOB_ID_BYTES);
	qsort(look->jobs, look->job_count, sizeof(*look->jobs), by_id);
}

/* The first of the sorted ids that is not before `begin`. */
static size_t first_from(char (*ids)[JOB_ID_BYTES], size_t count, const char *begin)
{
	size_t low = 0, high = count, len = strlen(begin);

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strncmp(ids[middle], begin, len) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool observe_is_ours(const struct look *look, const char *job_id)
{
	const struct observe_plan *plan = look->plan;
	size_t at;

	if (!*job_id || (!plan->job_id_count && !plan->only_job_ids))
		return true;
	at = first_from(look->jobs, look->job_count, job_id);
	return at < look->job_count && !strncmp(look->jobs[at], job_id, strlen(job_id));
}

/* A numbered id that was used once, however long ago, and whether or not anything is left in its
 * directory. */
void observe_note_id(const struct look *look, const char *job_id)
{
	const struct observe_plan *plan = look->plan;
	size_t at = first_from(plan->names, plan->name_count, job_id);

	for (; *job_id && at < plan->name_count; at++) {
		if (strncmp(plan->names[at], job_id, strlen(job_id)) != 0)
			return;
		facts_add_job(look->facts, plan->names[at]);
	}
}

bool observe_is_numbered(const struct look *look, const char *job_id)
{
	const struct observe_plan *plan = look->plan;
	size_t at = first_from(plan->names, plan->name_count, job_id);

	return *job_id && at < plan->name_count &&
	       !strncmp(plan->names[at], job_id, strlen(job_id));
}
