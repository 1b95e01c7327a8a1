#include "core/resolve/flink_choice.h"

#include <inttypes.h>
#include <string.h>

#include "base/mem.h"

#define SAVEPOINT_DIGITS 6 /* of the job id, in the name of a savepoint */

void flink_choose(const struct facts *facts, const char *job_id, const char *argument,
		  struct flink_choice *ret_choice)
{
	*ret_choice = (struct flink_choice){.source = argument ? FLINK_ARGUMENT : FLINK_EMPTY,
					    .path = argument};
	for (size_t i = 0; i < facts->candidate_count; i++) {
		const struct candidate *c = &facts->candidates[i];

		if (!c->in_ha || c->ha_former || strcmp(c->ha_job_id, job_id) != 0 ||
		    (ret_choice->source == FLINK_HA &&
		     c->snapshot.checkpoint_id <= ret_choice->checkpoint_id))
			continue;
		ret_choice->source = FLINK_HA;
		ret_choice->path = c->snapshot.path;
		ret_choice->checkpoint_id = c->snapshot.checkpoint_id;
	}
}

bool flink_obeys(const struct facts *facts, const struct decision *decision, const char *job_id,
		 const char *argument, char **ret_why)
{
	const char *decided = NULL;
	enum flink_source source = FLINK_EMPTY;
	struct flink_choice choice;

	flink_choose(facts, job_id, argument, &choice);
	if (decision->kind != DECISION_START_EMPTY) {
		source = decision->kind == DECISION_CONTINUE ? FLINK_HA : FLINK_ARGUMENT;
		decided = facts->candidates[decision->candidate].snapshot.path;
	}
	if (choice.source == source && (!decided || snapshot_same_path(choice.path, decided)))
		return true;
	*ret_why = xasprintf("Flink would start job %s %s%s%s, but the decision is %s%s", job_id,
			     choice.path ? "from " : "empty", choice.path ? choice.path : "",
			     choice.source == FLINK_HA ? " (its own HA data)" : "",
			     decided ? "from " : "empty", decided ? decided : "");
	return false;
}

static bool same_job(const char *job_id, const char *other)
{
	return *other && !strncmp(job_id, other, SAVEPOINT_DIGITS);
}

bool flink_id_is_used(const struct journal *journal, const struct facts *facts, const char *job_id)
{
	for (size_t i = 0; i < journal->launch_count; i++)
		if (same_job(job_id, journal->launches[i].job_id))
			return true;
	for (size_t i = 0; i < journal->former_job_count; i++)
		if (same_job(job_id, journal->former_jobs[i]))
			return true;
	for (size_t i = 0; i < journal->snapshot_count; i++)
		if (same_job(job_id, journal->snapshots[i].job_id))
			return true;
	for (size_t i = 0; i < facts->candidate_count; i++)
		if (same_job(job_id, facts->candidates[i].snapshot.job_id) ||
		    same_job(job_id, facts->candidates[i].ha_job_id))
			return true;
	for (size_t i = 0; i < facts->job_count; i++)
		if (!strcmp(job_id, facts->jobs[i]))
			return true;
	return false;
}
