#include "core/resolve/graph_fit.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* The operators of a job by id; one with two ids is in it twice. */
struct entry {
	const char *id;
	size_t job;
};

static int by_operator_id(const void *left, const void *right)
{
	return strcmp(((const struct entry *)left)->id, ((const struct entry *)right)->id);
}

/* For each operator of the snapshot the one of the job that takes its state; NULL = none. */
static const struct fit_operator **match(const struct fit_operator *state, size_t state_count,
					 const struct fit_operator *job, size_t job_count)
{
	const struct fit_operator **takes = xcalloc(state_count + 1, sizeof(const void *));
	cleanup_free struct entry *entries = xcalloc(2 * job_count + 1, sizeof(*entries));
	size_t count = 0;

	for (size_t i = 0; i < job_count; i++) {
		entries[count++] = (struct entry){job[i].id, i};
		if (job[i].user_id)
			entries[count++] = (struct entry){job[i].user_id, i};
	}
	qsort(entries, count, sizeof(*entries), by_operator_id);
	for (size_t i = 0; i < state_count; i++) {
		struct entry key = {.id = state[i].id};
		const struct entry *found =
			bsearch(&key, entries, count, sizeof(key), by_operator_id);

		takes[i] = found ? &job[found->job] : NULL;
	}
	return takes;
}

static void add_problem(struct graph_fit *fit, enum fit_kind kind, const struct fit_operator *state,
			const struct fit_operator *job)
{
	fit->problems[fit->count++] = (struct fit_problem){kind, state, job};
}

/* In the order in which Flink checks it. */
static void compare_pair(struct graph_fit *fit, const struct fit_operator *state,
			 const struct fit_operator *job)
{
	/* MUT: a job may be more parallel than its state */
	if (job->parallelism > state->max_parallelism)
		add_problem(fit, FIT_TOO_PARALLEL, state, job);
	/* MUT: another max parallelism fits */
	else if (job->max_parallelism > 0 && job->max_parallelism != state->max_parallelism)
		add_problem(fit, FIT_MAX_PARALLELISM, state, job);
}

static const struct fit_operator *same_name(const struct fit_operator *state,
					    const struct fit_operator *job, size_t job_count,
					    const bool *has)
{
	for (size_t i = 0; state->name && i < job_count; i++)
		if (!has[i] && job[i].name && !strcmp(job[i].name, state->name))
			return &job[i];
	return NULL;
}

void graph_fit_compare(const struct fit_operator *state, size_t state_count,
		       const struct fit_operator *job, size_t job_count, struct graph_fit *ret_fit)
{
	struct graph_fit fit = {.problems = xcalloc(state_count + 1, sizeof(*fit.problems))};
	cleanup_free const struct fit_operator **takes = match(state, state_count, job, job_count);
	cleanup_free bool *has = xcalloc(job_count + 1, sizeof(*has));

	for (size_t i = 0; i < state_count; i++)
		if (takes[i])
			has[takes[i] - job] = true;
	for (size_t i = 0; i < state_count; i++)
		/* MUT: state without an operator fits */
		if (state[i].has_state && !takes[i])
			add_problem(&fit, FIT_LEFT_OUT, &state[i],
				    same_name(&state[i], job, job_count, has));
	for (size_t i = 0; i < state_count; i++)
		if (takes[i])
			compare_pair(&fit, &state[i], takes[i]);
	for (size_t i = 0; i < job_count; i++)
		*(has[i] ? &fit.matched : &fit.added) += 1;
	*ret_fit = fit;
}

void graph_fit_release(struct graph_fit *fit)
{
	free(fit->problems);
	*fit = (struct graph_fit){0};
}

bool graph_fit_is_refused(const struct graph_fit *fit, bool allow_non_restored)
{
	for (size_t i = 0; i < fit->count; i++) {
		const struct fit_problem *problem = &fit->problems[i];

		if (problem->kind != FIT_LEFT_OUT)
			return true;
		/* MUT: with two sides any state may be left out */
		if (!allow_non_restored && !problem->state->stays)
			return true;
	}
	return false;
}

static void print_state(const struct fit_operator *op, const char *size, struct buf *text)
{
	if (op->name)
		buf_addf(text, "operator '%s' (", op->name);
	else
		buf_addstr(text, "operator (");
	if (op->uid)
		buf_addf(text, "uid '%s', ", op->uid);
	buf_addf(text, "id %s, %s of state) ", op->id, size);
}

static void print_left_out(const struct fit_problem *problem, struct buf *text)
{
	const char *other = problem->job ? problem->job->id : NULL;

	buf_addstr(text, "is not in the new job; ");
	if (!other)
		buf_addstr(
			text,
			"give an operator its uid, or request a restore with allowNonRestoredState");
	else if (problem->state->uid)
		buf_addf(text, "the operator of this name has another id, %s: give it the uid '%s'",
			 other, problem->state->uid);
	else
		buf_addf(
			text,
			"the operator of this name has another id, %s, because the job has changed around "
			"it: give it the old one by setUidHash(\"%s\")",
			other, problem->state->id);
}

void fit_problem_print(const struct fit_problem *problem, const char *size, struct buf *text)
{
	int64_t most = problem->state->max_parallelism;

	print_state(problem->state, size, text);
	if (problem->kind == FIT_LEFT_OUT) {
		print_left_out(problem, text);
		return;
	}
	buf_addf(text, "has state for max parallelism %" PRId64 ", and the new job ", most);
	if (problem->kind == FIT_MAX_PARALLELISM)
		buf_addf(text, "sets %" PRId64 ", which cannot be changed: set %" PRId64,
			 problem->job->max_parallelism, most);
	else
		buf_addf(text, "has parallelism %" PRId64 ": set %" PRId64 " or less",
			 problem->job->parallelism, most);
}
