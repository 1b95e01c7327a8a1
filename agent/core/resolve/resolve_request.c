/*
 * Rule 4: a person has requested an empty start, or a start from exactly this snapshot.
 */
#include <string.h>

#include "base/mem.h"
#include "core/resolve/resolve_internal.h"

static void carry_out_request(struct inquiry *in, const char *why)
{
	const struct restore_request *request = &in->journal->intent.restore;
	struct candidate *c;

	in->decision->token = request->token;
	in->decision->allow_non_restored = request->allow_non_restored;
	if (request->kind == RESTORE_EMPTY) {
		inquiry_judge_rest(in, VERDICT_REJECTED, "an empty start was requested");
		inquiry_decide(in, DECISION_START_EMPTY, RULE_REQUEST, "an empty start was %s",
			       why);
		return;
	}
	c = requested_candidate(in);
	if (in->facts->sources[SOURCE_REQUEST].state == SOURCE_UNREADABLE || !c)
		inquiry_hold(in, CAUSE_REQUESTED_SNAPSHOT_UNUSABLE, RULE_REQUEST,
			     "the requested snapshot %s cannot be read: %s", request->path,
			     inquiry_detail(in->facts->sources[SOURCE_REQUEST].detail));
	else if (c->integrity == INTEGRITY_DAMAGED || c->integrity == INTEGRITY_INCOMPLETE ||
		 c->integrity == INTEGRITY_UNREADABLE)
		inquiry_hold(in, CAUSE_REQUESTED_SNAPSHOT_UNUSABLE, RULE_REQUEST,
			     "the requested snapshot %s cannot be used: %s", request->path,
			     inquiry_detail(c->detail));
	else if (foreign_request_passes(in, c))
		candidate_take(in, c, RULE_REQUEST, why);
	if (in->decision->kind != DECISION_START_FROM)
		return;
	inquiry_judge_rest(in, VERDICT_REJECTED, "another snapshot was requested");
	if (!request->allow_non_restored &&
	    operators_compare(c, candidate_newest_own(in)) == OPERATORS_OVERLAP)
		inquiry_add(
			in,
			"; it has state of operators that are missing from this application's newest state: if the job does not have them, Flink rejects it unless non-restored state is allowed");
}

/* A request that has not been carried out yet. */
bool request_decides(struct inquiry *in)
{
	const struct restore_request *request = &in->journal->intent.restore;

	if (request->kind == RESTORE_NONE || order_is_for_other(in))
		return false;
	if (!request->token || !*request->token) {
		inquiry_hold(
			in, CAUSE_REQUEST_WITHOUT_TOKEN, RULE_REQUEST,
			"the restore request has no token, so it cannot be carried out exactly once; use `drey resume`");
		return true;
	}
	if (request->kind == RESTORE_NEWEST || journal_is_consumed(in->journal, request->token))
		return false;
	/* an old journal may have a request that was carried out long ago */
	/* MUT: a request in an old journal abandons newer state */
	in->judged_unix_ms = request->asked_unix_ms;
	in->undated = !request->asked_unix_ms;
	/* what the journal's copy knows to be carried out is known before anything else is judged */
	if (in->undated && in->policy->adopt_lost == ADOPT_NEWEST && copy_decides(in))
		return true;
	/* an unreadable source could show that it was */
	if (in->policy->restore != POLICY_NONE && (in->undated || request->read_back) &&
	    source_is_unreadable(in))
		return true;
	if (in->policy->restore != POLICY_NONE && in->undated &&
	    (undated_request_holds(in) || traces_hold_request(in)))
		return true;
	if ((in->undated || copy_is_past(in, in->judged_unix_ms)) && copy_decides(in))
		return true;
	carry_out_request(in, "requested");
	return true;
}

/* One of the launches for this request has left state. Not only the last one: that may never have begun, because a listing
 * hid what the one before it had left. */
static bool request_has_left_state(const struct inquiry *in, const char *token)
{
	const struct journal *journal = in->journal;

	for (size_t i = 0; i < journal->launch_count; i++)
		if (xstris(journal->launches[i].request_token, token) &&
		    lineage_has_left_state(journal, in->facts, (int)i))
			return true;
	return false;
}

/* A launch that was never proven does not consume its restore point. A requested one is therefore
 * repeated in the same way as long as it has left no state of its own. */
bool repeated_request_decides(struct inquiry *in)
{
	const struct journal *journal = in->journal;
	const struct restore_request *request = &journal->intent.restore;
	const struct launch *launch = journal_launch_const(journal);

	if (request->kind == RESTORE_NONE || !launch || !launch->request_token ||
	    strcmp(launch->request_token, request->token ? request->token : "") != 0)
		return false;
	/* a stateless job may have no checkpoints to prove it */
	if (in->policy->restore == POLICY_NONE && launch->verified_unix_ms)
		return false;
	if (request_has_left_state(in, launch->request_token))
		return false;
	/* MUT: a repeated request abandons newer state */
	in->judged_unix_ms = launch->intended_unix_ms;
	in->other_line = launch_is_of_other_line(in, launch);
	carry_out_request(in, "requested; the launch for it is not proven yet");
	return true;
}
