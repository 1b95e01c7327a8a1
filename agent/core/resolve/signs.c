#include "core/resolve/signs.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"

const char *const signs_words[] = {"none", "unreadable", "alive", "ended", NULL};

static bool is_of(const struct candidate *c, const char *job_id)
{
	return c->snapshot.kind == SNAPSHOT_CHECKPOINT && !strcmp(c->snapshot.job_id, job_id);
}

/* The id of the last checkpoint that the job has begun, according to its HA map; 0 = not known. */
static int64_t begun_in_ha(const struct candidate *c, const char *job_id)
{
	return c->in_ha && c->ha_counter > 0 && !strcmp(c->ha_job_id, job_id) ? c->ha_counter - 1
									      : 0;
}

int64_t signs_before(const struct facts *facts, const char *job_id)
{
	int64_t newest = 0;

	for (size_t i = 0; i < facts->candidate_count; i++) {
		const struct candidate *c = &facts->candidates[i];
		int64_t id = begun_in_ha(c, job_id);

		if (is_of(c, job_id) && c->snapshot.checkpoint_id > id)
			id = c->snapshot.checkpoint_id;
		if (id > newest)
			newest = id;
	}
	return newest;
}

static int64_t floor_id(const struct launch *launch)
{
	int64_t id = launch->restore_checkpoint_id;

	if (launch->checkpoints_before > id)
		id = launch->checkpoints_before;
	return launch->last_checkpoint_id > id ? launch->last_checkpoint_id : id;
}

/* The newest of this launch. */
struct newest {
	const struct candidate *completed, *unread;
	int64_t begun;
};

static void signs_take(struct newest *newest, const struct candidate *c, const char *job_id,
		       int64_t floor)
{
	int64_t id = c->snapshot.checkpoint_id, begun = begun_in_ha(c, job_id);

	if (begun > floor && begun > newest->begun)
		newest->begun = begun;
	if (!is_of(c, job_id) || id <= floor)
		return;
	if (c->integrity == INTEGRITY_UNREADABLE && !c->in_ha)
		newest->unread = c;
	else if (!facts_was_completed(c))
		newest->begun = id > newest->begun ? id : newest->begun;
	else if (!newest->completed || id > newest->completed->snapshot.checkpoint_id)
		newest->completed = c;
}

static void say_completed(const struct snapshot *seen, struct signs *to)
{
	char when[CLOCK_TEXT_BYTES] = "";

	if (seen->completed_unix_ms > 0)
		clock_rfc3339(seen->completed_unix_ms / 1000 * 1000, when);
	snprintf(to->text, sizeof(to->text),
		 "checkpoint %" PRId64 " of job %s was completed%s%s in %s", seen->checkpoint_id,
		 seen->job_id, *when ? " at " : "", when, seen->path);
}

/* The sources that could show a sign. */
static const char *unread_source(const struct facts *facts)
{
	static const enum source_kind shows[] = {SOURCE_HA, SOURCE_CHECKPOINTS, SOURCE_LINEAGE,
						 SOURCE_RESULTS};

	for (size_t i = 0; i < ARRAY_LEN(shows); i++) {
		const struct source_fact *source = &facts->sources[shows[i]];

		if (source->state == SOURCE_UNREADABLE)
			return source->detail ? source->detail : source_kind_name(shows[i]);
	}
	return NULL;
}

static void say_ended(const struct facts *facts, struct signs *to)
{
	static const char *const words[] = {[JOB_END_NONE] = "",
					    [JOB_END_FINISHED] = "has finished",
					    [JOB_END_STOPPED] = "was stopped",
					    [JOB_END_CANCELED] = "was cancelled",
					    [JOB_END_FAILED] = "has failed",
					    [JOB_END_UNKNOWN] = "has ended"};

	to->verdict = SIGNS_ENDED;
	to->failed = facts->ended == JOB_END_FAILED;
	snprintf(to->text, sizeof(to->text), "Flink has recorded that job %s %s", facts->ended_job,
		 words[facts->ended]);
}

void signs_read(const struct launch *launch, const struct facts *facts, struct signs *ret_signs)
{
	struct newest newest = {0};
	const char *unread;

	*ret_signs = (struct signs){.verdict = SIGNS_NONE};
	if (facts->ended != JOB_END_NONE && !strcmp(facts->ended_job, launch->job_id)) {
		say_ended(facts, ret_signs);
		return;
	}
	for (size_t i = 0; i < facts->candidate_count; i++)
		signs_take(&newest, &facts->candidates[i], launch->job_id, floor_id(launch));
	ret_signs->newest_id = newest.begun;
	if (newest.completed && newest.completed->snapshot.checkpoint_id > newest.begun)
		ret_signs->newest_id = newest.completed->snapshot.checkpoint_id;
	unread = newest.unread ? newest.unread->detail : unread_source(facts);
	if (newest.completed) {
		ret_signs->verdict = SIGNS_ALIVE;
		say_completed(&newest.completed->snapshot, ret_signs);
	} else if (newest.begun) {
		ret_signs->verdict = SIGNS_ALIVE;
		snprintf(ret_signs->text, sizeof(ret_signs->text),
			 "checkpoint %" PRId64 " of job %s was begun", newest.begun,
			 launch->job_id);
	} else if (newest.unread || unread) {
		ret_signs->verdict = SIGNS_UNREADABLE;
		snprintf(ret_signs->text, sizeof(ret_signs->text), "%s",
			 unread ? unread : "no detail");
	}
}
