#include "core/journal/journal.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"

void journal_init(struct journal *journal, const char *application)
{
	*journal = (struct journal){.application = xstrdup(application)};
}

static void launch_release(struct launch *launch)
{
	free(launch->job_result_path);
	free(launch->application_result_path);
	free(launch->generation);
	free(launch->flink_version);
	free(launch->checkpoint_dir);
	free(launch->savepoint_dir);
	free(launch->ha_cluster_id);
	free(launch->request_token);
	free(launch->writer);
	free(launch->restore_path);
	free(launch->last_checkpoint_path);
	*launch = (struct launch){0};
}

void operation_release(struct operation *operation)
{
	free(operation->nonce);
	free(operation->path);
	free(operation->directory);
	*operation = (struct operation){0};
}

const char *operation_directory(const struct operation *operation)
{
	return operation->directory ? operation->directory : operation->path;
}

void operation_result_release(struct operation_result *result)
{
	free(result->nonce);
	free(result->location);
	free(result->error);
	*result = (struct operation_result){0};
}

void outcome_release(struct outcome *outcome)
{
	free(outcome->reason);
	free(outcome->savepoint);
	*outcome = (struct outcome){0};
}

static void intent_release(struct intent *intent)
{
	free(intent->savepoint_nonce);
	free(intent->restart_nonce);
	free(intent->restore.token);
	free(intent->restore.path);
	free(intent->restore.generation);
	*intent = (struct intent){0};
}

static void strings_release(char **strings, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(strings[i]);
	free(strings);
}

void journal_release(struct journal *journal)
{
	if (!journal)
		return;
	free(journal->application);
	free(journal->writer);
	strings_release(journal->writers, journal->writer_count);
	free(journal->disposing);
	free(journal->phase);
	free(journal->id_space);
	intent_release(&journal->intent);
	free(journal->savepoint_nonce_done);
	free(journal->restart_nonce_done);
	for (size_t i = 0; i < journal->launch_count; i++)
		launch_release(&journal->launches[i]);
	free(journal->launches);
	strings_release(journal->former_jobs, journal->former_job_count);
	for (size_t i = 0; i < journal->snapshot_count; i++)
		snapshot_release(&journal->snapshots[i]);
	free(journal->snapshots);
	operation_release(&journal->operation);
	operation_result_release(&journal->last_operation);
	for (size_t i = 0; i < journal->savepoint_request_count; i++)
		savepoint_request_release(&journal->savepoint_requests[i]);
	free(journal->savepoint_requests);
	outcome_release(&journal->outcome);
	free(journal->last_error);
	strings_release(journal->consumed, journal->consumed_count);
	strings_release(journal->failed_generations, journal->failed_generation_count);
	for (size_t i = 0; i < journal->log_count; i++)
		free(journal->log[i].text);
	free(journal->log);
	json_free(journal->origin);
	*journal = (struct journal){0};
}

struct launch *journal_launch(struct journal *journal)
{
	return journal->launch_count ? &journal->launches[journal->launch_count - 1] : NULL;
}

const struct launch *journal_launch_const(const struct journal *journal)
{
	return journal->launch_count ? &journal->launches[journal->launch_count - 1] : NULL;
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

	launch_release(launch);
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

void journal_remove_snapshot(struct journal *journal, const char *path)
{
	for (size_t i = 0; i < journal->snapshot_count; i++) {
		if (strcmp(journal->snapshots[i].path, path))
			continue;
		snapshot_release(&journal->snapshots[i]);
		journal->snapshot_count--;
		memmove(&journal->snapshots[i], &journal->snapshots[i + 1],
			(journal->snapshot_count - i) * sizeof(*journal->snapshots));
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

void journal_add_log(struct journal *journal, int64_t unix_ms, const char *text)
{
	journal->log = xreallocarray(journal->log, journal->log_count + 1, sizeof(*journal->log));
	journal->log[journal->log_count++] =
		(struct log_entry){.unix_ms = unix_ms, .text = xstrdup(text)};
}

static bool strings_have(char *const *strings, size_t count, const char *text)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(strings[i], text))
			return true;
	return false;
}

static void strings_add(char ***strings, size_t *count, const char *text)
{
	if (strings_have(*strings, *count, text))
		return;
	*strings = xreallocarray(*strings, *count + 1, sizeof(**strings));
	(*strings)[(*count)++] = xstrdup(text);
}

void journal_add_writer(struct journal *journal, const char *writer)
{
	strings_add(&journal->writers, &journal->writer_count, writer);
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
			  strings_have(journal->writers, journal->writer_count, writer));
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

bool journal_is_backup(const struct journal *found, const struct journal *ours)
{
	if (found->sequence >= ours->sequence || !has_written(ours, found->writer) ||
	    !xstrsame(found->application, ours->application))
		return false;
	for (size_t i = 0; i < found->launch_count; i++)
		if (!has_launch(ours, &found->launches[i]))
			return false;
	return true;
}

void journal_consume(struct journal *journal, const char *token)
{
	strings_add(&journal->consumed, &journal->consumed_count, token);
}

bool journal_is_consumed(const struct journal *journal, const char *token)
{
	return strings_have(journal->consumed, journal->consumed_count, token);
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
	strings_add(&journal->former_jobs, &journal->former_job_count, job_id);
}

bool journal_is_former_job(const struct journal *journal, const char *job_id)
{
	for (size_t i = 0; *job_id && i < journal->former_job_count; i++)
		if (!strncmp(journal->former_jobs[i], job_id, strlen(job_id)))
			return true;
	return false;
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
	strings_add(&journal->failed_generations, &journal->failed_generation_count, generation);
}

static bool is_new(const char *nonce, const char *done)
{
	return nonce && *nonce && (!done || strcmp(nonce, done) != 0);
}

bool journal_restart_wanted(const struct journal *journal)
{
	return is_new(journal->intent.restart_nonce, journal->restart_nonce_done) &&
	       !journal->intent.do_not_restart;
}

bool journal_savepoint_nonce_is_new(const struct journal *journal)
{
	return is_new(journal->intent.savepoint_nonce, journal->savepoint_nonce_done);
}

bool journal_savepoint_wanted(const struct journal *journal)
{
	return journal_savepoint_waits(journal) || journal_savepoint_nonce_is_new(journal);
}

bool journal_is_failed_generation(const struct journal *journal, const char *generation)
{
	return generation && strings_have(journal->failed_generations,
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

static void strings_trim(char **strings, size_t *count, size_t max)
{
	size_t drop = surplus(*count, max);

	for (size_t i = 0; i < drop; i++)
		free(strings[i]);
	*count -= drop;
	if (drop)
		memmove(strings, strings + drop, *count * sizeof(*strings));
}

static void trim_launches(struct journal *journal, size_t max)
{
	size_t drop = surplus(journal->launch_count, max);

	for (size_t i = 0; i < drop; i++) {
		journal_add_former_job(journal, journal->launches[i].job_id);
		launch_release(&journal->launches[i]);
	}
	journal->launch_count -= drop;
	if (drop)
		memmove(journal->launches, journal->launches + drop,
			journal->launch_count * sizeof(*journal->launches));
}

static void trim_snapshots(struct journal *journal, size_t max)
{
	size_t drop = surplus(journal->snapshot_count, max);

	for (size_t i = 0; i < drop; i++)
		snapshot_release(&journal->snapshots[i]);
	journal->snapshot_count -= drop;
	if (drop)
		memmove(journal->snapshots, journal->snapshots + drop,
			journal->snapshot_count * sizeof(*journal->snapshots));
}

static void trim_log(struct journal *journal, size_t max)
{
	size_t drop = surplus(journal->log_count, max);

	for (size_t i = 0; i < drop; i++)
		free(journal->log[i].text);
	journal->log_count -= drop;
	if (drop)
		memmove(journal->log, journal->log + drop,
			journal->log_count * sizeof(*journal->log));
}

void journal_trim(struct journal *journal)
{
	trim_launches(journal, JOURNAL_MAX_LAUNCHES);
	strings_trim(journal->former_jobs, &journal->former_job_count, JOURNAL_MAX_FORMER);
	trim_snapshots(journal, JOURNAL_MAX_SNAPSHOTS);
	trim_log(journal, JOURNAL_MAX_LOG);
	strings_trim(journal->consumed, &journal->consumed_count, JOURNAL_MAX_TOKENS);
	strings_trim(journal->failed_generations, &journal->failed_generation_count,
		     JOURNAL_MAX_TOKENS);
	strings_trim(journal->writers, &journal->writer_count, JOURNAL_MAX_WRITERS);
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

const char *desired_state_name(enum desired_state state)
{
	static const char *const names[] = {"running", "suspended", "cancelled"};

	return (size_t)state < ARRAY_LEN(names) ? names[state] : "unknown";
}

const char *restore_request_kind_name(enum restore_request_kind kind)
{
	static const char *const names[] = {"none", "empty", "path", "newest"};

	return (size_t)kind < ARRAY_LEN(names) ? names[kind] : "unknown";
}

const char *operation_kind_name(enum operation_kind kind)
{
	static const char *const names[] = {"none", "savepoint", "stop", "cancel", "dispose"};

	return (size_t)kind < ARRAY_LEN(names) ? names[kind] : "unknown";
}

const char *operation_reason_name(enum operation_reason reason)
{
	static const char *const names[] = {"none",    "periodic",  "manual",
					    "suspend", "restart",   "terminate",
					    "cancel",  "retention", "upgrade"};

	return (size_t)reason < ARRAY_LEN(names) ? names[reason] : "unknown";
}

const char *outcome_kind_name(enum outcome_kind kind)
{
	static const char *const names[] = {"none",   "finished", "cancelled",
					    "failed", "unknown",  "restoreMismatch"};

	/* "unknown" is a real outcome, so a value out of range has a word of its own */
	return (size_t)kind < ARRAY_LEN(names) ? names[kind] : "invalid";
}
