/*
 * The names of a launch: its job id, and the launch id that its result store is named by. A name is
 * used once. Random names are new by their length. Numbered job ids (job_id.h) are few, so each is drawn
 * at random among those of which nothing is left: no launch of the journal, no HA map, no result, no
 * directory and no savepoint. Where nothing is left of a former one, it can be drawn again.
 */
#include "core/lifecycle/lifecycle_ids.h"

#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "core/ha_names.h"
#include "core/job_id.h"
#include "core/journal/journal_adopt.h"
#include "core/journal/journal_copy.h"
#include "core/lifecycle/lifecycle_effects.h"
#include "core/lifecycle/lifecycle_state.h"
#include "core/resolve/flink_choice.h"

#define DRAWS 100

/* A hand-over draws its ids while the job runs, when storage is not read: so many are kept for that. */
#define FREE_IDS 32

/* Given to the candidate of a hand-over, which may be using it. */
static bool is_given_away(const struct lifecycle *life, const char *job_id)
{
	const struct journal *journal = &life->journal;

	return !life->config->handover.shadow && (!strcmp(journal->handover.job_id, job_id) ||
						  journal_is_candidates(journal, job_id));
}

static bool is_free(const struct lifecycle *life, const struct facts *facts, const char *job_id)
{
	/* MUT: a number that has left traces is used again */
	return !flink_id_is_used(&life->journal, facts, job_id) && !is_given_away(life, job_id);
}

/* Traces in a directory that is not configured any more are not seen. */
static bool has_stayed(const struct lifecycle *life)
{
	const struct lifecycle_config *config = life->config;

	for (size_t i = 0; i < life->journal.launch_count; i++) {
		const struct launch *launch = &life->journal.launches[i];

		if (!xstrsame(launch->checkpoint_dir, config->listed_checkpoint_dir) ||
		    !xstrsame(launch->savepoint_dir, config->listed_savepoint_dir))
			return false;
	}
	return true;
}

static int64_t count_free(const struct lifecycle *life)
{
	const struct facts nothing = {0};
	char job_id[JOB_ID_BYTES];
	int64_t count = 0;

	for (int64_t n = 0; n < life->config->id_count && count < FREE_IDS; n++) {
		job_id_name(life->config->id_space, n, job_id);
		count += is_free(life, &nothing, job_id);
	}
	return count;
}

/* The journal forgets former ids of which nothing is left. */
static void take_back(struct lifecycle *life, const struct facts *facts)
{
	struct journal *journal = &life->journal;
	struct journal known = *journal;
	char job_id[JOB_ID_BYTES];

	known.former_job_count = 0;
	for (int64_t n = 0; n < life->config->id_count; n++) {
		job_id_name(life->config->id_space, n, job_id);
		if (!flink_id_is_used(&known, facts, job_id))
			journal_remove_former_job(journal, job_id);
	}
}

bool *job_ids_decided(struct lifecycle *life, const struct facts *facts)
{
	const struct lifecycle_config *config = life->config;
	bool *read = NULL;

	if (!config->id_space)
		return NULL;
	if (facts->sources[SOURCE_HA].state != SOURCE_NOT_CONFIGURED)
		read = ha_names_read(&life->journal, config->id_space, config->id_count);
	if (facts->names_read && has_stayed(life) && count_free(life) < FREE_IDS)
		take_back(life, facts);
	return read;
}

/* A job in the shadow has the numbers that were set aside for it, and no others. */
static bool is_in_range(const struct lifecycle *life, int64_t number)
{
	const struct transition *transition = &life->journal.handover.transition;

	return !life->config->handover.shadow || !transition->numbers ||
	       (number >= transition->first_number &&
		number < transition->first_number + transition->numbers);
}

/* Free as far as was read, but its HA map was not. */
static bool is_one_unread(const struct lifecycle *life, const struct facts *facts, const bool *read)
{
	char job_id[JOB_ID_BYTES];

	for (int64_t n = 0; read && n < life->config->id_count; n++) {
		job_id_name(life->config->id_space, n, job_id);
		if (!read[n] && is_in_range(life, n) && is_free(life, facts, job_id))
			return true;
	}
	return false;
}

/* As with a journal that knows of no numbered ids: all maps are read now. */
static void read_all_maps(struct lifecycle *life)
{
	xstrset(&life->journal.id_space, NULL);
	life->own->ids_looked = true;
}

static bool is_unknown_trace(const struct lifecycle *life, const struct facts *facts,
			     const char *job_id)
{
	const struct journal *journal = &life->journal;

	if (journal_knows_job(journal, job_id) || is_given_away(life, job_id))
		return false;
	for (size_t i = 0; i < facts->job_count; i++)
		if (!strcmp(facts->jobs[i], job_id))
			return true;
	return false;
}

/* A launch that the journal does not know may have left the newest state in its HA map. */
bool job_ids_look_first(struct lifecycle *life, const struct facts *facts, const bool *read)
{
	bool unknown = false, unread = false;
	char job_id[JOB_ID_BYTES];

	if (!read || life->own->ids_looked || transition_of(&life->journal.handover))
		return false;
	for (int64_t n = 0; n < life->config->id_count; n++) {
		job_id_name(life->config->id_space, n, job_id);
		unread |= !read[n];
		unknown |= is_unknown_trace(life, facts, job_id);
	}
	/* MUT: a trace of an unknown job does not make drey read all HA maps */
	if (!unknown || !unread)
		return false;
	read_all_maps(life);
	enter(life, PHASE_RESOLVING,
	      "a job id has left traces that the journal does not know of: the HA maps of all of them are read first");
	life->retry_ms = life->now_ms;
	return true;
}

void job_ids_chosen(struct lifecycle *life)
{
	const struct lifecycle_config *config = life->config;

	if (!life->own->ids_looked || life->journal.id_space || !config->id_count)
		return;
	/* a launch that continues has drawn none */
	life->journal.id_next = rng_below(&life->rng, config->id_count);
	xstrset(&life->journal.id_space, config->id_space);
}

static char *say_unread(const char *what, const struct source_fact *source)
{
	return xasprintf(
		"no job id is certain to be unused, since %s cannot be read (%s): make it readable, or set another kubernetes.salt and change the Role in the same way",
		what, source->detail ? source->detail : "no detail");
}

/* What the new job would find beside its own: Flink's HA data of that id, checkpoints in its directory, savepoints. */
char *job_ids_unread(const struct lifecycle *life, const struct facts *facts, enum cause *ret_cause)
{
	static const enum source_kind kinds[] = {SOURCE_CHECKPOINTS, SOURCE_SAVEPOINTS};

	if (!life->config->id_space)
		return NULL;
	*ret_cause = CAUSE_HA_UNREADABLE;
	/* MUT: a job id is drawn although HA maps were not read */
	if (facts->ha_unread)
		return say_unread("Flink's HA data", &facts->sources[SOURCE_HA]);
	*ret_cause = CAUSE_STORAGE_UNREADABLE;
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		/* MUT: a job id is drawn whose traces were not read */
		if (facts->sources[kinds[i]].state == SOURCE_UNREADABLE)
			return say_unread(source_kind_name(kinds[i]), &facts->sources[kinds[i]]);
	*ret_cause = CAUSE_JOB_IDS_USED_UP;
	return NULL;
}

bool job_ids_look_on(struct lifecycle *life, const struct facts *facts, const bool *read)
{
	/* the numbers that a transition has set aside are those of this space */
	if (!is_one_unread(life, facts, read) || transition_of(&life->journal.handover))
		return false;
	read_all_maps(life);
	enter(life, PHASE_RESOLVING,
	      "the next job ids have left traces that the journal does not know of: the HA maps of all of them are read first");
	life->retry_ms = life->now_ms + life->config->hold_retry_first_ms;
	return true;
}

/* Where the next search begins: known before the launch that makes use of it, so that a journal from a
 * backup knows which HA map to look at (run/ha/ha_read.h). */
static void choose_next(struct lifecycle *life, int64_t drawn)
{
	const struct facts nothing = {0};
	int64_t count = life->config->id_count, next = drawn + 1;
	char job_id[JOB_ID_BYTES];

	/* MUT: numbers are given out one after another */
	if (!life->config->handover.shadow)
		next = rng_below(&life->rng, count);
	for (int64_t i = 0; i < count; i++) {
		life->journal.id_next = (next + i) % count;
		job_id_name(life->config->id_space, life->journal.id_next, job_id);
		if (life->config->handover.shadow ||
		    (life->journal.id_next != drawn && is_free(life, &nothing, job_id)))
			return;
	}
}

static char *draw_numbered(struct lifecycle *life, const struct facts *facts, const bool *read,
			   char ret_job_id[JOB_ID_BYTES])
{
	const struct lifecycle_config *config = life->config;
	struct journal *journal = &life->journal;
	char job_id[JOB_ID_BYTES];

	if (!xstrsame(journal->id_space, config->id_space) && config->id_count)
		journal->id_next = rng_below(&life->rng, config->id_count);
	for (int64_t i = 0; i < config->id_count; i++) {
		int64_t n = (journal->id_next % config->id_count + i) % config->id_count;

		job_id_name(config->id_space, n, job_id);
		/* MUT: a job id whose HA map was not read is given to a launch */
		if (read && !read[n])
			continue;
		if (!is_in_range(life, n) || !is_free(life, facts, job_id))
			continue;
		xstrset(&journal->id_space, config->id_space);
		choose_next(life, n);
		memcpy(ret_job_id, job_id, JOB_ID_BYTES);
		return NULL;
	}
	return xasprintf(
		"all %" PRId64
		" job ids in the Pod's Role have left traces; delete what dead launches have left with `drey gc`, or raise kubernetes.launches, or set another kubernetes.salt, and change the Role in the same way",
		config->id_count);
}

char *draw_job_id(struct lifecycle *life, const struct facts *facts, const bool *read,
		  char ret_job_id[JOB_ID_BYTES])
{
	char job_id[JOB_ID_BYTES];

	if (life->config->id_space)
		return draw_numbered(life, facts, read, ret_job_id);
	for (int i = 0; i < DRAWS; i++) {
		rng_hex_id(&life->rng, job_id);
		if (flink_id_is_used(&life->journal, facts, job_id))
			continue;
		memcpy(ret_job_id, job_id, JOB_ID_BYTES);
		return NULL;
	}
	return xstrdup("every generated job id is already in use");
}

int64_t find_free_numbers(const struct lifecycle *life, int64_t numbers)
{
	const struct facts nothing = {0};
	int64_t run = 0, count = life->config->id_count;
	char job_id[JOB_ID_BYTES];

	if (!life->config->id_space || !xstrsame(life->config->id_space, life->journal.id_space))
		return -1;
	for (int64_t i = 0; numbers > 0 && i < count + numbers; i++) {
		int64_t n = (life->journal.id_next + i) % count;

		job_id_name(life->config->id_space, n, job_id);
		if (!n) /* they follow one another without a turn */
			run = 0;
		run = is_free(life, &nothing, job_id) ? run + 1 : 0;
		if (run == numbers)
			return n - numbers + 1;
	}
	return -1;
}

void copy_remember_jobs(struct journal *journal, const struct facts *facts)
{
	const struct journal *copy = facts->copy ? &facts->copy->journal : NULL;

	for (size_t i = 0; copy && i < copy->former_job_count; i++)
		if (!journal_knows_job(journal, copy->former_jobs[i]))
			journal_add_former_job(journal, copy->former_jobs[i]);
	for (size_t i = 0; copy && i < copy->launch_count; i++)
		if (!journal_knows_job(journal, copy->launches[i].job_id))
			journal_add_unknown_job(journal, copy->launches[i].job_id);
}

void launch_has_left_state(struct lifecycle *life, struct launch *launch)
{
	if (launch->left_state)
		return;
	launch->left_state = true;
	life->want_write = true;
}
