#include "core/journal/journal_adopt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/texts.h"
#include "core/handover/transition.h"
#include "core/job_id.h"
#include "core/journal/journal_fields.h"

void journal_reserve(struct journal *journal, int64_t first, int64_t numbers)
{
	struct transition *transition = &journal->handover.transition;

	if (!journal->id_space || transition->numbers)
		return;
	transition->first_number = first;
	transition->numbers = numbers;
}

bool journal_is_candidates(const struct journal *journal, const char *job_id)
{
	const struct handover *handover = &journal->handover;
	const struct transition *transition = &handover->transition;
	char id[JOB_ID_BYTES];

	if (!*job_id || transition_of(handover) == TRANSITION_NONE)
		return false;
	if (!strncmp(handover->job_id, job_id, strlen(job_id)))
		return true;
	for (int64_t i = 0; journal->id_space && i < transition->numbers; i++) {
		job_id_name(journal->id_space, transition->first_number + i, id);
		if (!strncmp(id, job_id, strlen(job_id)))
			return true;
	}
	return false;
}

/* ---- the seed ---- */

#define CLEAR(table, member) record_release(&(table), &mine->member)
#define CLEAR_LIST(table, list, counter)                                                           \
	do {                                                                                       \
		record_list_remove(&(table), mine->list, &mine->counter, 0, mine->counter);        \
		free(mine->list);                                                                  \
		mine->list = NULL;                                                                 \
	} while (0)

/* What the owner is doing, and what was done for it, is not the candidate's. */
static void forget_doings(struct journal *mine)
{
	CLEAR(operation_table, operation);
	CLEAR(operation_result_table, last_operation);
	mine->checkpoint = (struct checkpoint_operation){0};
	CLEAR(rescaled_table, rescaled);
	CLEAR(outcome_table, outcome);
	CLEAR(state_loss_table, loss);
	CLEAR_LIST(savepoint_request_table, savepoint_requests, savepoint_request_count);
	CLEAR_LIST(checkpoint_request_table, checkpoint_requests, checkpoint_request_count);
	CLEAR_LIST(log_table, log, log_count);
	texts_trim(mine->writers, &mine->writer_count, 0);
	xstrset(&mine->writer, NULL);
	xstrset(&mine->disposing, NULL);
	xstrset(&mine->lease_id, NULL);
	mine->lease_longest_ms = 0;
	xstrset(&mine->phase, NULL);
	journal_set_error(mine, NULL, 0);
	mine->failure_count = 0;
	mine->failures_alike = 0;
	mine->parallelism_launch = 0;
	mine->sequence = 0;
}

/* It runs the job, from the seed; what else is wanted is the owner's business. */
static void set_intent(struct journal *mine, const struct transition *transition,
		       bool allow_non_restored, int64_t now_unix_ms)
{
	struct intent *intent = &mine->intent;
	char *savepoint_nonce = xstrdup(intent->savepoint_nonce);
	char *restart_nonce = xstrdup(intent->restart_nonce);

	CLEAR(intent_table, intent);
	intent->savepoint_nonce = savepoint_nonce;
	intent->restart_nonce = restart_nonce;
	xstrset(&mine->savepoint_nonce_done, savepoint_nonce);
	xstrset(&mine->restart_nonce_done, restart_nonce);
	intent->restore = (struct restore_request){.kind = RESTORE_PATH,
						   .token = xstrdup(transition->id),
						   .path = xstrdup(transition->seed.path),
						   .allow_non_restored = allow_non_restored,
						   .asked_unix_ms = now_unix_ms};
}

static void close_launch(struct launch *launch, int64_t now_unix_ms)
{
	if (!launch->ended_unix_ms) {
		launch->ended_unix_ms = now_unix_ms;
		launch->wait_status = -1;
	}
	launch->job_ended = launch->end_known = true;
}

void journal_seed(const struct journal *main, bool allow_non_restored, int64_t now_unix_ms,
		  struct journal *ret_mine)
{
	struct journal *mine = ret_mine;
	const struct transition *transition = &main->handover.transition;
	struct launch *last;

	record_copy(&journal_table, main, mine);
	mine->origin = NULL;
	forget_doings(mine);
	set_intent(mine, transition, allow_non_restored, now_unix_ms);
	party_set(&mine->owner, &main->handover.to);
	if (transition->numbers)
		mine->id_next = transition->first_number;
	last = journal_launch(mine);
	/* the owner's job lives, and is none that this one could continue or would have to wait for */
	if (last) {
		close_launch(last, now_unix_ms);
		last->wait_status = 0;
	}
}

bool journal_is_seeded(const struct journal *mine, const struct handover *handover)
{
	const char *id = handover->transition.id;

	return id && xstrsame(id, handover->id) &&
	       (xstris(mine->intent.restore.token, id) || journal_is_consumed(mine, id));
}

/* ---- the adoption ---- */

static size_t count_job(const struct journal *journal, size_t launch_count, const char *job_id)
{
	size_t count = 0;

	for (size_t i = 0; i < launch_count; i++)
		count += !strcmp(journal->launches[i].job_id, job_id);
	return count;
}

/* A job that was continued has several launches: as many of them are known as there are. */
static bool is_new(const struct journal *main, size_t main_count, const struct journal *mine,
		   size_t index)
{
	const char *job_id = mine->launches[index].job_id;
	size_t known = count_job(main, main_count, job_id);

	if (!known)
		return !journal_is_former_job(main, job_id);
	return count_job(mine, index, job_id) >= known;
}

static void add_launches(struct journal *main, const struct journal *mine, int64_t now_unix_ms)
{
	size_t before = main->launch_count;

	for (size_t i = 0; i < mine->launch_count; i++) {
		struct launch *launch;
		int64_t number;

		/* MUT: a launch that is known is adopted once more */
		if (!is_new(main, before, mine, i))
			continue;
		/* the owner's job has ended, or it would not have granted */
		if (main->launch_count == before && before)
			close_launch(&main->launches[before - 1], now_unix_ms);
		launch = journal_add_launch(main);
		number = launch->number;
		record_copy(&launch_table, &mine->launches[i], launch);
		/* MUT: an adopted launch keeps the number that the owner may have used */
		launch->number = number;
	}
}

static void add_texts(char ***list, size_t *count, char *const *from, size_t from_count)
{
	for (size_t i = 0; i < from_count; i++)
		texts_add(list, count, from[i]);
}

static bool has_line(const struct journal *journal, const struct log_entry *line)
{
	for (size_t i = 0; i < journal->log_count; i++)
		if (journal->log[i].unix_ms == line->unix_ms &&
		    xstrsame(journal->log[i].text, line->text))
			return true;
	return false;
}

static void add_lists(struct journal *main, const struct journal *mine)
{
	for (size_t i = 0; i < mine->snapshot_count; i++)
		if (!journal_snapshot(main, mine->snapshots[i].path))
			journal_add_snapshot(main, &mine->snapshots[i]);
	add_texts(&main->former_jobs, &main->former_job_count, mine->former_jobs,
		  mine->former_job_count);
	add_texts(&main->unknown_jobs, &main->unknown_job_count, mine->unknown_jobs,
		  mine->unknown_job_count);
	add_texts(&main->consumed, &main->consumed_count, mine->consumed, mine->consumed_count);
	add_texts(&main->failed_generations, &main->failed_generation_count,
		  mine->failed_generations, mine->failed_generation_count);
	if (mine->writer && !xstrsame(mine->writer, main->writer))
		journal_add_writer(main, mine->writer);
	for (size_t i = 0; i < mine->log_count; i++)
		if (!has_line(main, &mine->log[i]))
			journal_add_log(main, mine->log[i].unix_ms, mine->log[i].text);
}

/* The number in `main` of what was the last launch of `mine`; 0 = it is about another one. */
static int64_t number_in(const struct journal *main, const struct journal *mine, int64_t number)
{
	const struct launch *last = journal_launch_const(mine), *ours = journal_launch_const(main);

	return last && ours && last->number == number && !strcmp(last->job_id, ours->job_id)
		       ? ours->number
		       : 0;
}

/* How it has gone there is how it has gone. */
static void take_course(struct journal *main, const struct journal *mine)
{
	main->ever_proven |= mine->ever_proven;
	memcpy(main->failures_unix_ms, mine->failures_unix_ms, sizeof(main->failures_unix_ms));
	main->failure_count = mine->failure_count;
	main->failures_alike = mine->failures_alike;
	xstrset(&main->last_error, mine->last_error);
	main->last_error_unix_ms = mine->last_error_unix_ms;
	main->last_error_launch = number_in(main, mine, mine->last_error_launch);
	main->parallelism_launch = number_in(main, mine, mine->parallelism_launch);
	if (mine->full_checkpoint_unix_ms > main->full_checkpoint_unix_ms)
		main->full_checkpoint_unix_ms = mine->full_checkpoint_unix_ms;
	if (mine->outcome.kind == OUTCOME_NONE)
		return;
	outcome_release(&main->outcome);
	record_copy(&outcome_table, &mine->outcome, &main->outcome);
}

bool journal_adopt(struct journal *main, const struct journal *mine, int64_t now_unix_ms)
{
	if (!journal_is_seeded(mine, &main->handover))
		return false;
	add_launches(main, mine, now_unix_ms);
	add_lists(main, mine);
	take_course(main, mine);
	party_set(&main->owner, &main->handover.to);
	return true;
}
