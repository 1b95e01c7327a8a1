#include "core/resolve.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/resolve_internal.h"

static void decide(struct inquiry *in, enum decision_kind kind, enum cause cause, int rule,
		   const char *fmt, va_list ap)
{
	in->decision->kind = kind;
	in->decision->cause = cause;
	in->decision->rule = rule;
	vsnprintf(in->decision->reason, sizeof(in->decision->reason), fmt, ap);
}

void inquiry_decide(struct inquiry *in, enum decision_kind kind, int rule, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	decide(in, kind, CAUSE_NONE, rule, fmt, ap);
	va_end(ap);
}

void inquiry_hold(struct inquiry *in, enum cause cause, int rule, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	decide(in, DECISION_HOLD, cause, rule, fmt, ap);
	va_end(ap);
}

void inquiry_park(struct inquiry *in, enum cause cause, int rule, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	decide(in, DECISION_PARK, cause, rule, fmt, ap);
	va_end(ap);
}

void inquiry_add(struct inquiry *in, const char *fmt, ...)
{
	size_t len = strlen(in->decision->reason);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(in->decision->reason + len, sizeof(in->decision->reason) - len, fmt, ap);
	va_end(ap);
}

void inquiry_verify(struct inquiry *in, const struct candidate *c, int rule)
{
	in->decision->candidate = (size_t)(c - in->facts->candidates);
	inquiry_decide(in, DECISION_VERIFY, rule, "%s has to be verified", c->snapshot.path);
}

void inquiry_judge(struct candidate *c, enum verdict verdict, const char *fmt, ...)
{
	va_list ap;

	free(c->reason);
	c->reason = NULL;
	c->verdict = verdict;
	va_start(ap, fmt);
	if (vasprintf(&c->reason, fmt, ap) < 0)
		c->reason = NULL;
	va_end(ap);
}

const char *inquiry_detail(const char *detail)
{
	return detail && *detail ? detail : "no detail";
}

/* ---- rules 1 and 2: not wanted ---- */

static enum cause cause_of_outcome(enum outcome_kind kind)
{
	switch (kind) {
	case OUTCOME_FINISHED:
		return CAUSE_FINISHED;
	case OUTCOME_CANCELLED:
		return CAUSE_CANCELLED;
	case OUTCOME_FAILED:
		return CAUSE_ATTEMPTS_USED_UP;
	case OUTCOME_RESTORE_MISMATCH:
		return CAUSE_RESTORE_MISMATCH;
	case OUTCOME_NONE:
	case OUTCOME_UNKNOWN:
		break;
	}
	return CAUSE_END_UNKNOWN;
}

void inquiry_park_outcome(struct inquiry *in, enum outcome_kind kind, const char *reason,
			  const char *stop)
{
	inquiry_park(in, cause_of_outcome(kind), 2,
		     "the job is %s (%s); only `drey resume` starts it again",
		     outcome_kind_name(kind), inquiry_detail(reason));
	if (stop)
		inquiry_add(in, ", or a new generation with restore.initialSavepoint: %s", stop);
}

static void park_for_brake(struct inquiry *in)
{
	const struct outcome *outcome = &in->journal->outcome;

	inquiry_park(in, CAUSE_DO_NOT_RESTART, 1,
		     "do-not-restart is set; lift it to allow a launch");
	if (outcome_is_suspension(outcome))
		inquiry_add(in, " (the job was %s, and is continued then)",
			    inquiry_detail(outcome->reason));
}

static bool outcome_binds(const struct inquiry *in)
{
	const struct outcome *outcome = &in->journal->outcome;

	return outcome->kind != OUTCOME_NONE && !generation_is_past_failure(in) &&
	       !outcome_is_suspension(outcome) && !generation_is_asked_for(in);
}

static bool parked(struct inquiry *in)
{
	const struct intent *intent = &in->journal->intent;
	const struct outcome *outcome = &in->journal->outcome;

	if (intent->do_not_restart)
		park_for_brake(in);
	else if (intent->state != DESIRED_RUNNING)
		inquiry_park(in,
			     intent->state == DESIRED_SUSPENDED ? CAUSE_SUSPENDED : CAUSE_CANCELLED,
			     1, "the desired state is %s; resume to start again",
			     desired_state_name(intent->state));
	else if (outcome->kind == OUTCOME_RESTORE_MISMATCH)
		inquiry_hold(in, CAUSE_RESTORE_MISMATCH, 2,
			     "%s; look into it, then `drey resume` starts again",
			     inquiry_detail(outcome->reason));
	else if (outcome_binds(in))
		inquiry_park_outcome(in, outcome->kind, outcome->reason, outcome->savepoint);
	else if (generation_has_failed(in))
		inquiry_park(in, CAUSE_GENERATION_FAILED, 2,
			     "generation %s has used up its attempts before without completing a "
			     "checkpoint and is not tried again by itself; deploy another one, or "
			     "`drey resume`",
			     in->policy->generation);
	else
		return false;
	return true;
}

/* ---- rule 5: an error is never absence ---- */

static bool source_unreadable(struct inquiry *in)
{
	for (int i = 0; i < SOURCE_COUNT; i++) {
		const struct source_fact *source = &in->facts->sources[i];

		/* journal, request and results were dealt with before; the initial savepoint is older than all else */
		if (i == SOURCE_JOURNAL || i == SOURCE_REQUEST || i == SOURCE_INITIAL ||
		    i == SOURCE_RESULTS || source->state != SOURCE_UNREADABLE)
			continue;
		inquiry_hold(
			in, i == SOURCE_HA ? CAUSE_HA_UNREADABLE : CAUSE_STORAGE_UNREADABLE, 5,
			"the %s cannot be read and could hold newer state: %s; drey looks again",
			i == SOURCE_HA        ? "HA data of Flink"
			: i == SOURCE_LINEAGE ? "directories in which this job wrote before"
					      : source_kind_name((enum source_kind)i),
			inquiry_detail(source->detail));
		return true;
	}
	return false;
}

/* ---- rule 4: one-shot request ---- */

struct candidate *requested_candidate(const struct inquiry *in)
{
	return facts_find(in->facts, in->journal->intent.restore.path);
}

/* Whoever was not judged yet was passed over for this reason. */
void inquiry_judge_rest(struct inquiry *in, enum verdict verdict, const char *why)
{
	for (size_t i = 0; i < in->facts->candidate_count; i++)
		if (in->facts->candidates[i].verdict == VERDICT_NONE)
			inquiry_judge(&in->facts->candidates[i], verdict, "%s", why);
}

static void carry_out_request(struct inquiry *in, const char *why)
{
	const struct restore_request *request = &in->journal->intent.restore;
	struct candidate *c;

	in->decision->token = request->token;
	in->decision->allow_non_restored = request->allow_non_restored;
	if (request->kind == RESTORE_EMPTY) {
		inquiry_judge_rest(in, VERDICT_REJECTED, "an empty start was requested");
		inquiry_decide(in, DECISION_START_EMPTY, 4, "an empty start was %s", why);
		return;
	}
	c = requested_candidate(in);
	if (in->facts->sources[SOURCE_REQUEST].state == SOURCE_UNREADABLE || !c)
		inquiry_hold(in, CAUSE_REQUESTED_SNAPSHOT_UNUSABLE, 4,
			     "the requested snapshot %s cannot be read: %s", request->path,
			     inquiry_detail(in->facts->sources[SOURCE_REQUEST].detail));
	else if (c->integrity == INTEGRITY_DAMAGED || c->integrity == INTEGRITY_INCOMPLETE ||
		 c->integrity == INTEGRITY_UNREADABLE)
		inquiry_hold(in, CAUSE_REQUESTED_SNAPSHOT_UNUSABLE, 4,
			     "the requested snapshot %s cannot be used: %s", request->path,
			     inquiry_detail(c->detail));
	else if (foreign_request_passes(in, c))
		candidate_take(in, c, 4, why);
	if (in->decision->kind != DECISION_START_FROM)
		return;
	inquiry_judge_rest(in, VERDICT_REJECTED, "another snapshot was requested");
	if (!request->allow_non_restored &&
	    operators_compare(c, candidate_newest_own(in)) == OPERATORS_OVERLAP)
		inquiry_add(in, "; it has state of operators that this application's newest state "
				"does not have: Flink refuses it if the job does not have them, "
				"unless non-restored state is allowed");
}

/* A request that was not carried out yet. */
static bool requested(struct inquiry *in)
{
	const struct restore_request *request = &in->journal->intent.restore;

	if (request->kind == RESTORE_NONE || order_is_for_other(in))
		return false;
	if (!request->token || !*request->token) {
		inquiry_hold(
			in, CAUSE_REQUEST_WITHOUT_TOKEN, 4,
			"the restore request has no token, so it cannot be carried out just once; "
			"ask again with `drey resume`");
		return true;
	}
	if (request->kind == RESTORE_NEWEST || journal_is_consumed(in->journal, request->token))
		return false;
	/* an order that an old journal still has may have been carried out long ago */
	in->judged_unix_ms = request->asked_unix_ms;
	in->undated = !request->asked_unix_ms;
	/* what cannot be read could show that it was */
	if (in->policy->restore != POLICY_NONE && (in->undated || request->read_back) &&
	    source_unreadable(in))
		return true;
	if (in->policy->restore != POLICY_NONE && in->undated && undated_request_holds(in))
		return true;
	carry_out_request(in, "requested once by a person");
	return true;
}

/* A launch that was never proven does not use up its restore point. For one that a person asked for
 * this means: as long as it has left nothing of its own, it is started the same way again. */
static bool still_requested(struct inquiry *in)
{
	const struct journal *journal = in->journal;
	const struct restore_request *request = &journal->intent.restore;
	const struct launch *launch = journal_launch_const(journal);
	int index = (int)journal->launch_count - 1;

	if (request->kind == RESTORE_NONE || !launch || !launch->request_token ||
	    strcmp(launch->request_token, request->token ? request->token : "") != 0)
		return false;
	/* a stateless job may have no checkpoints that could ever prove it */
	if (in->policy->restore == POLICY_NONE && launch->verified_unix_ms)
		return false;
	if (lineage_has_left_state(in->journal, in->facts, index))
		return false;
	in->judged_unix_ms = launch->intended_unix_ms;
	in->other_line = launch_is_of_other_line(in, launch);
	carry_out_request(in, "requested by a person, and that launch has not proven itself yet");
	return true;
}

/* ---- rule 6: a job that is declared stateless ---- */

static void start_stateless(struct inquiry *in)
{
	size_t count = in->facts->candidate_count;

	inquiry_judge_rest(in, VERDICT_REJECTED, "restore.policy is none");
	inquiry_decide(in, DECISION_START_EMPTY, 6,
		       "restore.policy is none: the job is declared stateless and starts empty");
	if (count)
		inquiry_add(in, "; warning: %zu snapshots were found and are not used", count);
}

/* ---- rule 8: nothing to start from ---- */

static bool has_state(const struct inquiry *in)
{
	const struct journal *journal = in->journal;
	const char *path = NULL;

	for (size_t i = 0; i < journal->launch_count; i++)
		if (journal->launches[i].restore_path ||
		    (journal->launches[i].left_state && !journal->launches[i].mismatched))
			return true;
	return journal->ever_proven || journal->snapshot_count ||
	       lineage_newest(&in->lineage, true, &path);
}

#define WAYS_OUT                                                                                   \
	"name a snapshot with `drey resume --from PATH`, or accept the loss with `drey resume "    \
	"--empty`"

static size_t left_out(const struct inquiry *in)
{
	size_t count = 0;

	for (size_t i = 0; i < SOURCE_COUNT; i++)
		count += in->facts->sources[i].left_out;
	return count;
}

/* The order to start empty is not in force any more, and nothing came of it. */
static const struct launch *emptied(const struct inquiry *in)
{
	const struct launch *tip =
		in->lineage.tip < 0 ? NULL : &in->journal->launches[in->lineage.tip];

	return tip && tip->request_token && !tip->restore_path ? tip : NULL;
}

static void hold_without_state(struct inquiry *in)
{
	const struct candidate *newest = candidate_newest_own(in);
	const struct launch *empty = emptied(in);

	inquiry_hold(in, CAUSE_NO_USABLE_STATE, 8,
		     "the application has run before, but no usable state was found");
	if (newest)
		inquiry_add(in, " (the newest is %s: %s)", newest->snapshot.path,
			    inquiry_detail(newest->reason));
	else if (empty)
		inquiry_add(in,
			    ": launch %" PRId64
			    " was to start empty, as a person has asked, and left none; what was "
			    "there before was given up by that",
			    empty->number);
	if (left_out(in))
		inquiry_add(in, "; %zu older snapshots were not looked at", left_out(in));
	inquiry_add(in, "; bring the storage back, or " WAYS_OUT);
}

static void hold_without_initial(struct inquiry *in)
{
	const struct candidate *c = NULL;

	for (size_t i = 0; i < in->facts->candidate_count; i++)
		if (candidate_is_fallback(in, &in->facts->candidates[i]))
			c = &in->facts->candidates[i];
	inquiry_hold(in, CAUSE_INITIAL_SAVEPOINT_UNUSABLE, 8,
		     "the initial savepoint %s%sis not there or cannot be used: %s",
		     c ? c->snapshot.path : "", c ? " " : "",
		     inquiry_detail(c ? c->reason : in->facts->sources[SOURCE_INITIAL].detail));
}

static void nothing_found(struct inquiry *in)
{
	const struct source_fact *initial = &in->facts->sources[SOURCE_INITIAL];
	const struct candidate *trace = candidate_trace(in);

	if (has_state(in))
		hold_without_state(in);
	else if (trace)
		inquiry_hold(
			in, CAUSE_NO_USABLE_STATE, 8,
			"state was found but none of it may be used (%s: %s); repair it, " WAYS_OUT,
			trace->snapshot.path, inquiry_detail(trace->reason));
	else if (left_out(in))
		inquiry_hold(in, CAUSE_NO_USABLE_STATE, 8,
			     "%zu snapshots were found and not looked at; " WAYS_OUT, left_out(in));
	else if (initial->state == SOURCE_UNREADABLE)
		inquiry_hold(in, CAUSE_INITIAL_SAVEPOINT_UNUSABLE, 5,
			     "the initial savepoint cannot be read: %s",
			     inquiry_detail(initial->detail));
	else if (initial->state != SOURCE_NOT_CONFIGURED)
		hold_without_initial(in);
	else if (inquiry_never_ran(in))
		inquiry_decide(in, DECISION_START_EMPTY, 8,
			       "the application has never run: every source was read and holds "
			       "nothing%s",
			       in->facts->candidate_count ? " of its own" : "");
	else
		inquiry_decide(
			in, DECISION_START_EMPTY, 8,
			"no launch has completed a checkpoint yet and all of them started empty");
}

static void start_without_state(struct inquiry *in)
{
	inquiry_judge_rest(in, VERDICT_REJECTED, "upgrade is stateless");
	inquiry_decide(in, DECISION_START_EMPTY, 6,
		       "upgrade is stateless: generation %s is another one than before and starts "
		       "empty",
		       in->policy->generation);
}

bool resolve_parked(const struct journal *journal, const struct policy *policy,
		    struct decision *ret_decision)
{
	struct inquiry in = {.journal = journal, .policy = policy, .decision = ret_decision};

	*ret_decision = (struct decision){.settled = NO_CANDIDATE};
	return parked(&in);
}

static void reset(struct facts *facts)
{
	for (size_t i = 0; i < facts->candidate_count; i++) {
		free(facts->candidates[i].reason);
		facts->candidates[i].reason = NULL;
		facts->candidates[i].verdict = VERDICT_NONE;
		facts->candidates[i].passed_over = false;
	}
}

static void tell_permission(struct inquiry *in)
{
	struct decision *decision = in->decision;

	if (in->journal->intent.restore.kind != RESTORE_NEWEST || !decision->allow_non_restored)
		return;
	if (decision->kind == DECISION_START_EMPTY)
		decision->allow_non_restored = false;
	else if (decision->kind == DECISION_START_FROM)
		inquiry_add(in, "; state that the job does not have may be left out, as a person "
				"has asked for this start");
}

/* Rules 4 to 8. */
static void find_start(struct inquiry *in)
{
	bool none = in->policy->restore == POLICY_NONE;

	order_permits(in);
	/* a stateless job needs no source but the journal and how the last launch ended */
	if (!requested(in) && !result_decides(in) && (none || !source_unreadable(in)) &&
	    !still_requested(in)) {
		if (none)
			start_stateless(in);
		else if (generation_starts_empty(in))
			start_without_state(in);
		else if (!candidates_decide(in))
			nothing_found(in);
	}
	foreign_check(in);
	candidate_check_age(in);
	promise_check(in);
	tell_permission(in);
}

void resolve(const struct journal *journal, struct facts *facts, const struct policy *policy,
	     struct decision *ret_decision)
{
	struct inquiry in = {
		.journal = journal, .facts = facts, .policy = policy, .decision = ret_decision};
	struct decision park;
	bool is_parked = resolve_parked(journal, policy, &park);

	*ret_decision = (struct decision){.settled = NO_CANDIDATE};
	reset(facts);
	if (facts->sources[SOURCE_JOURNAL].state != SOURCE_UNREADABLE &&
	    settle_decides(&in, is_parked))
		return;
	if (parked(&in))
		return;
	if (facts->sources[SOURCE_JOURNAL].state == SOURCE_UNREADABLE) {
		inquiry_hold(&in, CAUSE_JOURNAL_UNREADABLE, 5, "the journal cannot be read: %s",
			     inquiry_detail(facts->sources[SOURCE_JOURNAL].detail));
		return;
	}
	lineage_find(&in.lineage, journal, facts);
	in.promised = promise_of_outcome(&in);
	find_start(&in);
	leftovers_check(&in);
	lineage_release(&in.lineage);
	free(in.order);
}

const char *decision_kind_name(enum decision_kind kind)
{
	static const char *const names[] = {"VERIFY",      "CONTINUE", "START_FROM",
					    "START_EMPTY", "PARK",     "HOLD"};

	return (size_t)kind < ARRAY_LEN(names) ? names[kind] : "unknown";
}
