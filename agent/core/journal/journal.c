#include "core/journal/journal.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/texts.h"
#include "core/journal/journal_fields.h"

void journal_init(struct journal *journal, const char *application)
{
	*journal = (struct journal){.application = xstrdup(application)};
}

const char *operation_directory(const struct operation *operation)
{
	return operation->directory ? operation->directory : operation->path;
}

void journal_release(struct journal *journal)
{
	if (!journal)
		return;
	json_free(journal->origin);
	record_release(&journal_table, journal);
}

struct launch *journal_launch(struct journal *journal)
{
	return journal->launch_count ? &journal->launches[journal->launch_count - 1] : NULL;
}

const struct launch *journal_launch_const(const struct journal *journal)
{
	return journal->launch_count ? &journal->launches[journal->launch_count - 1] : NULL;
}

const struct launch *journal_version_before(const struct journal *journal,
					    const struct launch *launch)
{
	bool same = launch > journal->launches && launch->generation &&
		    xstrsame((launch - 1)->generation, launch->generation);

	return same ? launch - 1 : NULL;
}

const struct effective *journal_settings(const struct journal *journal)
{
	const struct launch *last = journal_launch_const(journal);

	for (const struct launch *launch = last; launch;
	     launch = journal_version_before(journal, launch))
		if (launch->effective.known)
			return &launch->effective;
	return &last->effective;
}

const struct launch *journal_open_launch(const struct journal *journal)
{
	for (size_t i = journal->launch_count; i-- > 0;) {
		const struct launch *launch = &journal->launches[i];

		if (!launch->never_started)
			return launch->end_known || !launch->job_result_path ? NULL : launch;
	}
	return NULL;
}

void launch_name_results(struct launch *launch, const char *dir)
{
	if (!dir)
		return;
	launch->job_result_path =
		xasprintf("%s/%s", dir, *launch->launch_id ? launch->launch_id : launch->job_id);
	if (*launch->application_id)
		launch->application_result_path =
			xasprintf("%s/application-%s", dir, launch->application_id);
}

struct launch *journal_add_launch(struct journal *journal)
{
	const struct launch *last = journal_launch_const(journal);
	int64_t number = last ? last->number + 1 : 1;
	struct launch *launch;

	journal->launches = xreallocarray(journal->launches, journal->launch_count + 1,
					  sizeof(*journal->launches));
	launch = &journal->launches[journal->launch_count++];
	*launch = (struct launch){.number = number};
	return launch;
}

struct launch *journal_renew_launch(struct journal *journal)
{
	struct launch *launch = journal_launch(journal);
	int64_t number = launch->number + 1;

	record_release(&launch_table, launch);
	launch->number = number;
	return launch;
}

const struct snapshot *journal_snapshot(const struct journal *journal, const char *path)
{
	for (size_t i = 0; i < journal->snapshot_count; i++)
		if (snapshot_same_path(journal->snapshots[i].path, path))
			return &journal->snapshots[i];
	return NULL;
}

int64_t journal_completed_unix_ms(const struct journal *journal, const struct snapshot *snapshot)
{
	const struct snapshot *known;

	if (snapshot->completed_unix_ms)
		return snapshot->completed_unix_ms;
	known = journal_snapshot(journal, snapshot->path);
	if (known)
		return known->completed_unix_ms;
	for (size_t i = 0; i < journal->launch_count; i++)
		if (snapshot_same_path(journal->launches[i].last_checkpoint_path, snapshot->path))
			return journal->launches[i].last_checkpoint_unix_ms;
	return 0;
}

const struct snapshot *journal_last_savepoint(const struct journal *journal)
{
	for (size_t i = journal->snapshot_count; i-- > 0;)
		if (journal->snapshots[i].kind == SNAPSHOT_SAVEPOINT)
			return &journal->snapshots[i];
	return NULL;
}

const struct launch *journal_last_checkpointed(const struct journal *journal)
{
	for (size_t i = journal->launch_count; i-- > 0;)
		if (journal->launches[i].last_checkpoint_id)
			return &journal->launches[i];
	return NULL;
}

enum side journal_output_side(const struct journal *journal, const struct snapshot *from)
{
	const struct launch *last = journal_launch_const(journal);

	for (size_t i = journal->launch_count; from && *from->job_id && i-- > 0;)
		/* MUT: a job that goes back to an older snapshot has the sinks of the newest one */
		if (!strncmp(journal->launches[i].job_id, from->job_id, strlen(from->job_id)))
			return journal->launches[i].output_side;
	return last ? last->output_side : SIDE_BLUE;
}

void journal_remove_snapshot(struct journal *journal, const char *path)
{
	for (size_t i = 0; i < journal->snapshot_count; i++) {
		if (strcmp(journal->snapshots[i].path, path))
			continue;
		record_list_remove(&snapshot_table, journal->snapshots, &journal->snapshot_count, i,
				   1);
		return;
	}
}

void journal_add_snapshot(struct journal *journal, const struct snapshot *snapshot)
{
	struct snapshot copy;

	snapshot_copy(&copy, snapshot); /* before the old one is freed: it may be the same */
	journal_remove_snapshot(journal, copy.path);
	journal->snapshots = xreallocarray(journal->snapshots, journal->snapshot_count + 1,
					   sizeof(*journal->snapshots));
	journal->snapshots[journal->snapshot_count++] = copy;
}

void journal_set_error(struct journal *journal, const char *text, int64_t unix_ms)
{
	const struct launch *launch = journal_launch_const(journal);

	xstrset(&journal->last_error, text);
	journal->last_error_unix_ms = text ? unix_ms : 0;
	journal->last_error_launch = text && launch ? launch->number : 0;
}

void journal_add_failure(struct journal *journal, int64_t unix_ms)
{
	if (journal->failure_count == JOURNAL_MAX_FAILURES) {
		journal->failure_count--;
		memmove(journal->failures_unix_ms, journal->failures_unix_ms + 1,
			journal->failure_count * sizeof(journal->failures_unix_ms[0]));
	}
	journal->failures_unix_ms[journal->failure_count++] = unix_ms;
}

int journal_failures_since(const struct journal *journal, int64_t unix_ms)
{
	int count = 0;

	for (size_t i = 0; i < journal->failure_count; i++)
		count += journal->failures_unix_ms[i] > unix_ms;
	return count;
}

void journal_add_log(struct journal *journal, int64_t unix_ms, const char *text)
{
	journal->log = xreallocarray(journal->log, journal->log_count + 1, sizeof(*journal->log));
	journal->log[journal->log_count++] =
		(struct log_entry){.unix_ms = unix_ms, .text = xstrdup(text)};
}

void journal_add_writer(struct journal *journal, const char *writer)
{
	texts_add(&journal->writers, &journal->writer_count, writer);
}

void journal_take_over(struct journal *journal, const char *writer)
{
	if (journal->writer && strcmp(journal->writer, writer) != 0)
		journal_add_writer(journal, journal->writer);
	xstrset(&journal->writer, writer);
}

static bool has_written(const struct journal *journal, const char *writer)
{
	return writer && (xstrsame(journal->writer, writer) ||
			  texts_have(journal->writers, journal->writer_count, writer));
}

static bool has_launch(const struct journal *journal, const struct launch *launch)
{
	/* of those that were trimmed away only the job id is left */
	if (!journal->launch_count || launch->number < journal->launches[0].number)
		return journal_knows_job(journal, launch->job_id);
	for (size_t i = 0; i < journal->launch_count; i++) {
		const struct launch *known = &journal->launches[i];

		if (known->number == launch->number)
			return !strcmp(known->job_id, launch->job_id) &&
			       known->intended_unix_ms == launch->intended_unix_ms;
	}
	/* a void one, replaced by another */
	return launch->never_started;
}

bool journal_is_backup(const struct journal *found, const struct journal *ours, int64_t newest)
{
	if (found->sequence >= newest || !has_written(ours, found->writer) ||
	    !xstrsame(found->application, ours->application))
		return false;
	for (size_t i = 0; i < found->launch_count; i++)
		if (!has_launch(ours, &found->launches[i]))
			return false;
	return true;
}

void journal_consume(struct journal *journal, const char *token)
{
	texts_add(&journal->consumed, &journal->consumed_count, token);
}

bool journal_is_consumed(const struct journal *journal, const char *token)
{
	return texts_have(journal->consumed, journal->consumed_count, token);
}

/* A consumed one stays in the journal. */
static void withdraw_restore(struct journal *journal)
{
	struct restore_request *restore = &journal->intent.restore;

	if (restore->kind == RESTORE_NONE ||
	    (restore->token && journal_is_consumed(journal, restore->token)))
		return;
	free(restore->token);
	free(restore->path);
	free(restore->generation);
	*restore = (struct restore_request){0};
}

void journal_give_up_restore(struct journal *journal, const char *generation)
{
	struct restore_request *restore = &journal->intent.restore;
	bool is_ours = !restore->generation || xstrsame(restore->generation, generation);
	char *token;

	if (restore->token && journal_is_consumed(journal, restore->token))
		return;
	/* a file may have the request for months, and the next change beside it would bring it
	 * back, over everything started since */
	token = restore->token;
	restore->token = NULL;
	withdraw_restore(journal);
	if (token && *token && is_ours)
		journal_consume(journal, token);
	free(token);
}

void journal_withdraw_restore_of_others(struct journal *journal, const char *generation)
{
	const char *wanted = journal->intent.restore.generation;

	if (wanted && generation && strcmp(wanted, generation) != 0)
		withdraw_restore(journal);
}

void journal_add_former_job(struct journal *journal, const char *job_id)
{
	texts_add(&journal->former_jobs, &journal->former_job_count, job_id);
}

void journal_add_unknown_job(struct journal *journal, const char *job_id)
{
	texts_add(&journal->unknown_jobs, &journal->unknown_job_count, job_id);
	journal_add_former_job(journal, job_id);
}

static void remove_text(char **texts, size_t *count, const char *text)
{
	size_t kept = 0;

	for (size_t i = 0; i < *count; i++) {
		if (!strcmp(texts[i], text))
			free(texts[i]);
		else
			texts[kept++] = texts[i];
	}
	*count = kept;
}

void journal_remove_former_job(struct journal *journal, const char *job_id)
{
	remove_text(journal->former_jobs, &journal->former_job_count, job_id);
	remove_text(journal->unknown_jobs, &journal->unknown_job_count, job_id);
}

static bool is_among(char *const *jobs, size_t count, const char *job_id)
{
	for (size_t i = 0; *job_id && i < count; i++)
		if (!strncmp(jobs[i], job_id, strlen(job_id)))
			return true;
	return false;
}

bool journal_is_former_job(const struct journal *journal, const char *job_id)
{
	return is_among(journal->former_jobs, journal->former_job_count, job_id);
}

bool journal_is_unknown_job(const struct journal *journal, const char *job_id)
{
	return is_among(journal->unknown_jobs, journal->unknown_job_count, job_id);
}

bool journal_knows_job(const struct journal *journal, const char *job_id)
{
	for (size_t i = 0; i < journal->launch_count; i++)
		if (!strcmp(journal->launches[i].job_id, job_id))
			return true;
	return journal_is_former_job(journal, job_id);
}

void journal_add_failed_generation(struct journal *journal, const char *generation)
{
	texts_add(&journal->failed_generations, &journal->failed_generation_count, generation);
}

bool journal_is_failed_generation(const struct journal *journal, const char *generation)
{
	return generation && texts_have(journal->failed_generations,
					journal->failed_generation_count, generation);
}

void journal_forgive_generation(struct journal *journal, const char *generation)
{
	size_t kept = 0;

	for (size_t i = 0; i < journal->failed_generation_count; i++) {
		char *failed = journal->failed_generations[i];

		if (generation && !strcmp(failed, generation))
			free(failed);
		else
			journal->failed_generations[kept++] = failed;
	}
	journal->failed_generation_count = kept;
}

/* How many of `count` must go from the front so that `max` stay. */
static size_t surplus(size_t count, size_t max)
{
	return count > max ? count - max : 0;
}

/* The newest stay whatever they were: the last attempts are what a person asks for. */
#define LAUNCHES_KEPT 16

bool launch_has_run(const struct launch *launch)
{
	return launch->verified_unix_ms || launch->left_state || launch->last_checkpoint_id;
}

/* Its end was observed, its job never ran, and it carried out no request. */
static bool is_forgettable(const struct launch *launch)
{
	return launch->ended_unix_ms && !launch_has_run(launch) && !launch->request_token &&
	       !launch->adopted && !launch->mismatched;
}

/* Attempts without an end must not push out the launch that has made the state. */
static size_t least_needed(const struct journal *journal)
{
	for (size_t i = 0; i + LAUNCHES_KEPT < journal->launch_count; i++)
		if (is_forgettable(&journal->launches[i]))
			return i;
	return 0;
}

static void trim_launches(struct journal *journal, size_t max)
{
	for (size_t drop = surplus(journal->launch_count, max); drop; drop--) {
		size_t at = least_needed(journal);

		journal_add_former_job(journal, journal->launches[at].job_id);
		record_list_remove(&launch_table, journal->launches, &journal->launch_count, at, 1);
	}
}

static void trim_snapshots(struct journal *journal, size_t max)
{
	record_list_remove(&snapshot_table, journal->snapshots, &journal->snapshot_count, 0,
			   surplus(journal->snapshot_count, max));
}

static void trim_log(struct journal *journal, size_t max)
{
	record_list_remove(&log_table, journal->log, &journal->log_count, 0,
			   surplus(journal->log_count, max));
}

void journal_trim(struct journal *journal)
{
	/* MUT: the journal keeps every launch */
	trim_launches(journal, JOURNAL_MAX_LAUNCHES);
	texts_trim(journal->former_jobs, &journal->former_job_count, JOURNAL_MAX_FORMER);
	texts_trim(journal->unknown_jobs, &journal->unknown_job_count, JOURNAL_MAX_FORMER);
	trim_snapshots(journal, JOURNAL_MAX_SNAPSHOTS);
	/* MUT: the journal keeps every line of its log */
	trim_log(journal, JOURNAL_MAX_LOG);
	texts_trim(journal->consumed, &journal->consumed_count, JOURNAL_MAX_TOKENS);
	texts_trim(journal->failed_generations, &journal->failed_generation_count,
		   JOURNAL_MAX_TOKENS);
	texts_trim(journal->writers, &journal->writer_count, JOURNAL_MAX_WRITERS);
}

bool journal_shrink(struct journal *journal)
{
	if (journal->log_count > JOURNAL_MIN_KEPT)
		trim_log(journal, journal->log_count / 2);
	else if (journal->snapshot_count > JOURNAL_MIN_KEPT)
		trim_snapshots(journal, journal->snapshot_count / 2);
	else if (journal->launch_count > JOURNAL_MIN_KEPT)
		trim_launches(journal, journal->launch_count / 2);
	else
		return false;
	return true;
}
