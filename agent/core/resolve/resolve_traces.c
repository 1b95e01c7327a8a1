/*
 * Rule 8: the journal knows of no launch that ran, and there is no snapshot to say otherwise; but a launch
 * leaves more behind (struct trace). A bounded job that has finished has no checkpoints any more: only
 * Flink's record of its end tells that it must not run again.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "core/resolve/resolve_internal.h"

#define SAID_AT_MOST 3

/* The directories are shared: what others leave there is none of ours. */
static bool is_of_others(const struct policy *policy, const struct trace *trace)
{
	return policy->foreign == FOREIGN_IGNORE && !trace->surely_ours;
}

/* The initial savepoint is newer: the application was taken over from what has left it. */
static bool is_before_initial(const struct facts *facts, const struct trace *trace)
{
	for (size_t i = 0; i < facts->candidate_count; i++) {
		const struct candidate *c = &facts->candidates[i];

		if (candidate_is_initial(c) && trace->unix_ms &&
		    c->snapshot.completed_unix_ms > trace->unix_ms)
			return true;
	}
	return false;
}

bool resolve_trace(const struct journal *journal, const struct facts *facts,
		   const struct policy *policy, const struct trace *trace, const char **ret_why)
{
	if (*trace->name && journal_knows_job(journal, trace->name))
		*ret_why = "of a launch that the journal knows";
	else if (is_of_others(policy, trace))
		*ret_why = "restore.foreign is ignore: another application may have left it";
	else if (is_before_initial(facts, trace))
		*ret_why = "older than the initial savepoint";
	else if (policy->adopt)
		*ret_why = "there is deliberately no journal";
	else
		*ret_why = NULL;
	if (*ret_why)
		return false;
	*ret_why = "of a launch that the journal does not know";
	return true;
}

/* Of a launch that the journal does not know. */
static bool trace_counts(const struct inquiry *in, const struct trace *trace)
{
	const char *why;

	return resolve_trace(in->journal, in->facts, in->policy, trace, &why);
}

/* Is the journal to be judged by traces? Not if there is deliberately none. */
static bool is_asked(const struct inquiry *in)
{
	return !in->policy->adopt && inquiry_never_ran(in);
}

static const struct trace *newest_result(const struct inquiry *in)
{
	const struct trace *newest = NULL;

	for (size_t i = 0; i < in->facts->trace_count; i++) {
		const struct trace *trace = &in->facts->traces[i];

		if (trace->kind == TRACE_RESULT && trace_counts(in, trace) &&
		    (!newest || trace->unix_ms > newest->unix_ms))
			newest = trace;
	}
	return newest;
}

/* Something else shows that a job was there later: a snapshot, or a map that Flink deletes at its end. */
static bool is_outdated(const struct inquiry *in, const struct trace *result)
{
	for (size_t i = 0; i < in->facts->candidate_count; i++) {
		const struct candidate *c = &in->facts->candidates[i];

		if (candidate_is_initial(c) || c->integrity == INTEGRITY_INCOMPLETE ||
		    !strcmp(c->snapshot.job_id, result->name))
			continue;
		if (!c->snapshot.completed_unix_ms ||
		    c->snapshot.completed_unix_ms > result->unix_ms)
			return true;
	}
	for (size_t i = 0; i < in->facts->trace_count; i++) {
		const struct trace *trace = &in->facts->traces[i];

		if (trace->kind == TRACE_HA && strcmp(trace->name, result->name) != 0 &&
		    trace_counts(in, trace))
			return true;
	}
	return false;
}

static void say_date(struct inquiry *in, int64_t unix_ms)
{
	char text[CLOCK_TEXT_BYTES];

	/* beyond the year 9999 it has no date */
	if (unix_ms > 0 && strstr(clock_minute(unix_ms, text), "UTC"))
		inquiry_add(in, " of %s", text);
}

/* Flink has recorded that it finished, or has a record that cannot be read: c's own job, or one of after c. */
static bool may_have_finished(const struct inquiry *in, const struct trace *trace,
			      const struct candidate *c)
{
	const char *id = c->snapshot.job_id;
	bool other_end = trace->end == JOB_END_STOPPED || trace->end == JOB_END_CANCELED ||
			 trace->end == JOB_END_FAILED;

	/* MUT: a record of the end that cannot be read permits an adoption */
	if (trace->kind != TRACE_RESULT || other_end || !trace_counts(in, trace))
		return false;
	/* MUT: what is adopted may be older than a job that has finished */
	return (*id && !strncmp(trace->name, id, strlen(id))) || !trace->unix_ms ||
	       trace->unix_ms > c->snapshot.completed_unix_ms;
}

bool trace_forbids_adoption(struct inquiry *in, const struct candidate *c)
{
	for (size_t i = 0; i < in->facts->trace_count; i++) {
		const struct trace *trace = &in->facts->traces[i];

		if (!may_have_finished(in, trace, c))
			continue;
		inquiry_hold(
			in, CAUSE_JOURNAL_LOST, RULE_NOTHING,
			"the journal has no launch that ran, and restore.adopt is newest, but drey does not take %s: ",
			c->snapshot.path);
		inquiry_add(in,
			    trace->end == JOB_END_FINISHED
				    ? "Flink has recorded that job %s finished"
				    : "Flink's record of how job %s ended cannot be read",
			    trace->name);
		say_date(in, trace->unix_ms);
		inquiry_add(
			in,
			" (%s); use `drey resume --from PATH` to start from one, or `drey resume --empty`",
			trace->path);
		return true;
	}
	return false;
}

bool finished_trace_decides(struct inquiry *in)
{
	const struct trace *result;
	struct decision *decision = in->decision;

	if (in->policy->adopt_lost != ADOPT_NEWEST || !is_asked(in) ||
	    in->facts->results_listed.state == SOURCE_UNREADABLE)
		return false;
	result = newest_result(in);
	/* MUT: a job that has finished is run again when its journal is lost */
	if (!result || result->end != JOB_END_FINISHED || is_outdated(in, result))
		return false;
	decision->outcome = OUTCOME_FINISHED;
	snprintf(decision->outcome_reason, sizeof(decision->outcome_reason),
		 "the journal is lost, and Flink has recorded that job %s finished: %s",
		 result->name, result->path);
	inquiry_park_outcome(in, OUTCOME_FINISHED, decision->outcome_reason, NULL);
	return true;
}

static void say_trace(struct inquiry *in, const struct trace *trace)
{
	static const char *const what[TRACE_COUNT] = {
		[TRACE_HA] = "the HA map",
		[TRACE_ID] = "a directory or savepoint",
		[TRACE_RESULT] = "Flink's record of the end",
	};

	inquiry_add(in, "%s of job %s", what[trace->kind], trace->name);
	say_date(in, trace->unix_ms);
	if (trace->says)
		inquiry_add(in, ": %s", trace->says);
	inquiry_add(in, " (%s)", trace->path);
}

static void say_traces(struct inquiry *in)
{
	size_t count = 0;

	/* the last kinds say most */
	for (int kind = TRACE_COUNT - 1; kind >= 0; kind--)
		for (size_t i = 0; i < in->facts->trace_count; i++) {
			const struct trace *trace = &in->facts->traces[i];

			if ((int)trace->kind != kind || !trace_counts(in, trace))
				continue;
			if (count++ >= SAID_AT_MOST)
				continue;
			inquiry_add(in, "%s", count > 1 ? "; " : "");
			say_trace(in, trace);
		}
	if (count > SAID_AT_MOST)
		inquiry_add(in, "; and %zu more", count - SAID_AT_MOST);
}

static bool have_traces(const struct inquiry *in)
{
	for (size_t i = 0; i < in->facts->trace_count; i++)
		if (trace_counts(in, &in->facts->traces[i]))
			return true;
	return false;
}

static bool unread_results_hold(struct inquiry *in)
{
	if (in->facts->results_listed.state != SOURCE_UNREADABLE)
		return false;
	inquiry_hold(
		in, CAUSE_STORAGE_UNREADABLE, RULE_UNREADABLE,
		"the journal has no launch, and Flink's records of how jobs ended cannot be read: %s; drey retries",
		inquiry_detail(in->facts->results_listed.detail));
	return true;
}

/* A snapshot is what a launch that finished later began from, or not; without one, any launch came later. */
static bool may_have_come_after(const struct inquiry *in, const struct candidate *wanted)
{
	if (!wanted)
		return have_traces(in);
	for (size_t i = 0; i < in->facts->trace_count; i++)
		if (may_have_finished(in, &in->facts->traces[i], wanted))
			return true;
	return false;
}

bool traces_hold_request(struct inquiry *in)
{
	const struct restore_request *request = &in->journal->intent.restore;
	const struct candidate *wanted =
		request->kind == RESTORE_PATH ? requested_candidate(in) : NULL;

	if (!is_asked(in) || (request->kind == RESTORE_PATH && !wanted))
		return false;
	if (unread_results_hold(in))
		return true;
	/* MUT: an old request runs a job again that has finished */
	if (!may_have_come_after(in, wanted))
		return false;
	inquiry_hold(in, CAUSE_REQUEST_MAY_BE_OLD, RULE_REQUEST,
		     REQUEST_MAY_BE_OLD "this application has left traces: ", request->token);
	say_traces(in);
	inquiry_add(in, REQUEST_WAYS_OUT);
	return true;
}

bool traces_decide(struct inquiry *in)
{
	if (!is_asked(in) || adopt_applies(in))
		return false;
	if (unread_results_hold(in))
		return true;
	if (!have_traces(in))
		return false;
	inquiry_hold(in, CAUSE_JOURNAL_LOST, RULE_NOTHING,
		     "the journal has no launch that ran, but this application has left traces: ");
	say_traces(in);
	inquiry_add(
		in,
		": the journal may be lost; use `drey resume --from PATH` or `drey resume --empty`");
	return true;
}
