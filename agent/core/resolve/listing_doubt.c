#include "core/resolve/listing_doubt.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/resolve/lineage_dirs.h"

#define JOB_DIGITS       (JOB_ID_BYTES - 1)
#define SAVEPOINT_DIGITS 6
#define SAVEPOINT_RANDOM 12
#define HEX              "0123456789abcdef"

static bool is_checkpoint(const char *name)
{
	size_t digits = strncmp(name, "chk-", 4) ? 0 : strspn(name + 4, "0123456789");

	return digits && !name[4 + digits];
}

/* "savepoint-<6 digits>-<12 digits>" */
static bool is_savepoint(const char *name)
{
	static const char prefix[] = "savepoint-";
	const char *job = name + sizeof(prefix) - 1;

	return !strncmp(name, prefix, sizeof(prefix) - 1) && strspn(job, HEX) == SAVEPOINT_DIGITS &&
	       job[SAVEPOINT_DIGITS] == '-' &&
	       strspn(job + SAVEPOINT_DIGITS + 1, HEX) == SAVEPOINT_RANDOM &&
	       !job[SAVEPOINT_DIGITS + 1 + SAVEPOINT_RANDOM];
}

static bool knows_job(const struct journal *journal, const char *begin, size_t digits)
{
	char id[JOB_ID_BYTES] = "";

	memcpy(id, begin, digits);
	for (size_t i = 0; i < journal->launch_count; i++)
		if (!strncmp(journal->launches[i].job_id, id, digits))
			return true;
	return journal_is_former_job(journal, id);
}

/* Cut off the last name of the path, and return it; "" when there is only one. */
static const char *take_name(char *path)
{
	char *end = path + strlen(path), *name;

	while (end > path && end[-1] == '/')
		*--end = '\0';
	name = strrchr(path, '/');
	if (!name || name == path)
		return "";
	*name = '\0';
	return name + 1;
}

/* Would a listing of `dir` have shown it? */
static bool is_shown_by(const struct journal *journal, const struct place_fact *place,
			const char *path)
{
	cleanup_free char *dir = xstrdup(path);
	const char *name = take_name(dir), *job;

	if (!strcmp(name, "_metadata"))
		name = take_name(dir);
	if (place->kind == SNAPSHOT_SAVEPOINT)
		return is_savepoint(name) &&
		       knows_job(journal, name + strlen("savepoint-"), SAVEPOINT_DIGITS) &&
		       snapshot_same_path(dir, place->dir);
	if (!is_checkpoint(name))
		return false;
	/* a job may write without a directory of its own */
	if (snapshot_same_path(dir, place->dir))
		return true;
	job = take_name(dir);
	return strlen(job) == JOB_DIGITS && knows_job(journal, job, JOB_DIGITS) &&
	       snapshot_same_path(dir, place->dir);
}

/* It was found by its name alone, damaged or not. */
static bool was_found(const struct candidate *c)
{
	return !facts_is_listed(c->source) &&
	       (c->metadata_version || c->integrity == INTEGRITY_DAMAGED);
}

/* It could not be asked for by its name: a listing without it may be right, or not. */
static bool may_be_there(const struct candidate *c)
{
	/* MUT: what cannot be read contradicts no listing */
	return !facts_is_listed(c->source) && c->integrity == INTEGRITY_UNREADABLE;
}

/* `unread`: why it could not be asked for; NULL: it is there. */
static void doubt(struct facts *facts, struct place_fact *place, const char *path,
		  const char *unread)
{
	cleanup_free char *why =
		unread ? xasprintf("the listing of %s may leave out %s: %s", place->dir, path,
				   unread)
		       : xasprintf(
				 "the listing of %s leaves out %s, which exists: it may leave out newer ones",
				 place->dir, path);

	place->state = SOURCE_UNREADABLE;
	xstrset(&place->detail, why);
	facts_set_source(facts, place->source, SOURCE_UNREADABLE, why);
}

/* Flink numbers the checkpoints and the savepoints of a job together. */
static int64_t newest_savepoint(const struct facts *facts, const char *job_id)
{
	int64_t newest = 0;

	for (size_t i = 0; i < facts->candidate_count; i++) {
		const struct snapshot *s = &facts->candidates[i].snapshot;

		if (s->kind == SNAPSHOT_SAVEPOINT && s->checkpoint_id > newest &&
		    !strcmp(s->job_id, job_id))
			newest = s->checkpoint_id;
	}
	return newest;
}

bool listing_covers(const struct facts *facts, const struct snapshot *snapshot)
{
	cleanup_free char *above = xstrdup(snapshot->path);
	cleanup_free char *dir = NULL;
	const struct place_fact *place;

	take_name(above);
	if (snapshot->kind == SNAPSHOT_CHECKPOINT)
		dir = lineage_dir_of_checkpoint(snapshot->path, snapshot->job_id);
	place = facts_place(facts, snapshot->kind, dir ? dir : above);
	return place && (place->state == SOURCE_PRESENT || place->state == SOURCE_ABSENT);
}

static char *numbered(const char *dir, int64_t after, int64_t or_after)
{
	return xasprintf("%s/chk-%" PRId64, dir, (after > or_after ? after : or_after) + 1);
}

char *listing_next(const struct facts *facts, const char *job_id)
{
	const struct candidate *newest = NULL;
	cleanup_free char *dir = NULL;

	for (size_t i = 0; i < facts->candidate_count; i++) {
		const struct candidate *c = &facts->candidates[i];

		if (c->snapshot.kind == SNAPSHOT_CHECKPOINT && c->snapshot.checkpoint_id &&
		    !strcmp(c->snapshot.job_id, job_id) &&
		    (!newest || c->snapshot.checkpoint_id > newest->snapshot.checkpoint_id))
			newest = c;
	}
	if (!newest)
		return NULL;
	dir = xstrdup(newest->snapshot.path);
	if (!is_checkpoint(take_name(dir)))
		return NULL;
	return numbered(dir, newest->snapshot.checkpoint_id, newest_savepoint(facts, job_id));
}

char *listing_first(const struct journal *journal, const char *checkpoint_dir)
{
	const struct launch *launch = journal_launch_const(journal);
	const char *dir =
		launch && launch->checkpoint_dir ? launch->checkpoint_dir : checkpoint_dir;
	cleanup_free char *jobs = NULL;
	int64_t savepoint = 0;

	if (!launch || launch->never_started || !dir ||
	    (launch->restore_path && !launch->restore_checkpoint_id))
		return NULL;
	for (size_t i = 0; i < journal->snapshot_count; i++)
		if (journal->snapshots[i].checkpoint_id > savepoint &&
		    !strcmp(journal->snapshots[i].job_id, launch->job_id))
			savepoint = journal->snapshots[i].checkpoint_id;
	jobs = xasprintf("%s%s%s", dir, dir[strlen(dir) - 1] == '/' ? "" : "/", launch->job_id);
	return numbered(jobs, launch->restore_checkpoint_id, savepoint);
}

void listing_leaves_out(struct facts *facts, const char *path, const char *unread)
{
	for (size_t i = 0; i < facts->place_count; i++) {
		struct place_fact *place = &facts->places[i];

		if (place->kind == SNAPSHOT_CHECKPOINT && place->state != SOURCE_UNREADABLE &&
		    snapshot_is_under(path, place->dir))
			doubt(facts, place, path, unread);
	}
}

void listing_doubt(const struct journal *journal, struct facts *facts)
{
	for (size_t i = 0; i < facts->candidate_count; i++) {
		const struct candidate *c = &facts->candidates[i];

		const char *unread = was_found(c) ? NULL : c->detail ? c->detail : "not readable";

		if (!was_found(c) && !may_be_there(c))
			continue;
		for (size_t k = 0; k < facts->place_count; k++) {
			struct place_fact *place = &facts->places[k];

			if (place->state != SOURCE_UNREADABLE &&
			    !facts->sources[place->source].left_out &&
			    is_shown_by(journal, place, c->snapshot.path))
				doubt(facts, place, c->snapshot.path, unread);
		}
	}
}
