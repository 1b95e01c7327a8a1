/*
 * Generations: everything that makes the job what it is. A new one is deployed by a person and has
 * its own attempts; one that has failed for good is not retried automatically.
 */
#include <string.h>

#include "base/mem.h"
#include "core/resolve/resolve_internal.h"

static bool is_other(const char *a, const char *b)
{
	return a && b && strcmp(a, b) != 0;
}

bool generation_is_past_failure(const struct inquiry *in)
{
	const struct launch *launch = journal_launch_const(in->journal);

	return in->journal->outcome.kind == OUTCOME_FAILED && launch && in->policy &&
	       is_other(launch->generation, in->policy->generation);
}

bool generation_has_failed(const struct inquiry *in)
{
	return in->policy && journal_is_failed_generation(in->journal, in->policy->generation);
}

/* Made by launch `index`, and the newest known snapshot of it. */
static bool is_newest_of(const struct journal *journal, int index, const char *path)
{
	const struct launch *launch = &journal->launches[index];
	const struct snapshot *named = journal_snapshot(journal, path);
	int64_t id = named ? named->checkpoint_id : 0;

	if (!id || named->kind != SNAPSHOT_SAVEPOINT || lineage_maker(journal, named) != index ||
	    launch->last_checkpoint_id >= id)
		return false;
	for (size_t i = 0; i < journal->snapshot_count; i++) {
		const struct snapshot *s = &journal->snapshots[i];

		if (s != named && lineage_maker(journal, s) == index &&
		    (s->checkpoint_id >= id || !s->checkpoint_id))
			return false;
	}
	return true;
}

/* The launch itself must have made it: the values may name what it was started from all the
 * time. */
bool generation_names_newest(const struct inquiry *in, int index, const char *stop)
{
	const char *path = in->policy ? in->policy->initial_savepoint : NULL;

	if (!path || index < 0 ||
	    !is_other(in->journal->launches[index].generation, in->policy->generation))
		return false;
	return stop ? snapshot_same_path(stop, path) : is_newest_of(in->journal, index, path);
}

bool generation_is_asked_for(const struct inquiry *in)
{
	const struct journal *journal = in->journal;
	const struct outcome *outcome = &journal->outcome;
	int index = (int)journal->launch_count - 1;

	if (outcome->kind != OUTCOME_CANCELLED && outcome->kind != OUTCOME_FINISHED &&
	    outcome->kind != OUTCOME_UNKNOWN)
		return false;
	while (*outcome->job_id && index >= 0 &&
	       strcmp(journal->launches[index].job_id, outcome->job_id) != 0)
		index--;
	return generation_names_newest(in, index, outcome->savepoint);
}

/* The length of the line "2.3" in "2.3.0"; 0 = it has none. */
static size_t line_length(const char *version)
{
	size_t major = version ? strspn(version, "0123456789") : 0, minor;

	if (!major || version[major] != '.')
		return 0;
	minor = strspn(version + major + 1, "0123456789");
	return minor ? major + 1 + minor : 0;
}

static bool is_of_line(const char *version, const char *line)
{
	size_t len = line_length(line);

	return len && line_length(version) == len && strncmp(version, line, len) == 0;
}

bool launch_is_of_other_line(const struct inquiry *in, const struct launch *launch)
{
	return line_length(launch->flink_version) && line_length(in->policy->flink_version) &&
	       !is_of_line(launch->flink_version, in->policy->flink_version);
}

/* For a snapshot that no launch of the journal made, only the Flink versions that it was given to
 * are known: a person took the risk for those alone. NULL = it was given to one of our line, or to
 * none. */
static const char *given_to(const struct inquiry *in, const struct candidate *c)
{
	const char *theirs = NULL;

	for (size_t i = 0; i < in->journal->launch_count; i++) {
		const struct launch *launch = &in->journal->launches[i];

		if (!snapshot_same_path(launch->restore_path, c->snapshot.path))
			continue;
		if (is_of_line(launch->flink_version, in->policy->flink_version))
			return NULL;
		theirs = launch->flink_version;
	}
	return theirs;
}

const char *generation_other_line(const struct inquiry *in, const struct candidate *c)
{
	const char *ours = in->policy->flink_version, *theirs;
	int maker = lineage_maker(in->journal, &c->snapshot);

	/* a person chose what the configuration names, for this Flink as well */
	if (c->snapshot.kind == SNAPSHOT_SAVEPOINT || !line_length(ours) ||
	    (maker < 0 && (c->source == SOURCE_INITIAL || c->snapshot.origin == ORIGIN_INITIAL)))
		return NULL;
	theirs = maker < 0 ? given_to(in, c) : in->journal->launches[maker].flink_version;
	return line_length(theirs) && !is_of_line(theirs, ours) ? theirs : NULL;
}

bool order_is_for_other(const struct inquiry *in)
{
	return is_other(in->journal->intent.restore.generation, in->policy->generation);
}

/* The last launch carried it out and has left nothing yet: the next launch repeats it. */
static bool is_still_permitted(const struct inquiry *in)
{
	const struct launch *launch = journal_launch_const(in->journal);

	return launch && launch->allow_non_restored && !launch->request_token &&
	       xstrsame(launch->generation, in->policy->generation) &&
	       !lineage_has_left_state(in->journal, in->facts, (int)in->journal->launch_count - 1);
}

void order_permits(struct inquiry *in)
{
	const struct restore_request *request = &in->journal->intent.restore;

	if (request->kind != RESTORE_NEWEST || order_is_for_other(in))
		return;
	if (!journal_is_consumed(in->journal, request->token))
		in->decision->permit = request->token;
	in->decision->allow_non_restored = in->decision->permit || is_still_permitted(in);
}

const struct candidate *generation_unread(const struct inquiry *in)
{
	if (!in->policy->stateless_upgrade || !in->policy->generation)
		return NULL;
	for (size_t i = 0; i < in->facts->candidate_count; i++) {
		const struct candidate *c = &in->facts->candidates[i];
		int maker = c->integrity == INTEGRITY_UNREADABLE
				    ? lineage_maker(in->journal, &c->snapshot)
				    : -1;
		const struct launch *launch = maker >= 0 ? &in->journal->launches[maker] : NULL;

		if (launch && launch->generation && !launch->left_state &&
		    !is_other(launch->generation, in->policy->generation))
			return c;
	}
	return NULL;
}

bool generation_starts_empty(const struct inquiry *in)
{
	const struct journal *journal = in->journal;
	bool ran = false;

	if (!in->policy->stateless_upgrade || !in->policy->generation)
		return false;
	for (int i = (int)journal->launch_count - 1; i >= 0; i--) {
		const struct launch *launch = &journal->launches[i];

		if (!launch->started_unix_ms && !lineage_has_left_state(journal, in->facts, i))
			continue; /* it never ran */
		if (!launch->generation)
			return false; /* unknown whether it was another one */
		if (is_other(launch->generation, in->policy->generation))
			return true;
		/* MUT: a stateless upgrade forgets what its own generation left */
		if (launch->restore_path || lineage_has_left_state(journal, in->facts, i))
			return false;
		ran = true;
	}
	/* Is this the first generation? No, if an earlier job was proven, or if there were launches before these, all of
	 * which started empty: only launches of a generation before have left the journal since. */
	/* MUT: after many failed launches an upgrade is not stateless any more */
	return ran && (journal->ever_proven || journal->launches[0].number > 1);
}
