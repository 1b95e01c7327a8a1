#include "cmd/remote_transition.h"

#include <stdio.h>

#include "base/mem.h"
#include "core/handover/transition.h"
#include "tap.h"

static struct journal journal;
static struct wish_request request;
static const char *text;

/* A journal with a transition in this state; NONE: with none. */
static void begin(enum transition_state state)
{
	journal_init(&journal, "orders");
	request = (struct wish_request){0};
	if (state == TRANSITION_NONE)
		return;
	xstrset(&journal.handover.id, "h2-1");
	xstrset(&journal.handover.transition.id, "h2-1");
	journal.handover.transition.state = state;
	journal.handover.state = transition_outside(state);
}

static enum wish_step judge(void)
{
	text = NULL;
	return remote_wish_judge(&journal, &request, &text);
}

static enum wish_step judge_in(enum transition_state state, bool abort)
{
	enum wish_step step;

	begin(state);
	request.abort = abort;
	step = judge();
	journal_release(&journal);
	return step;
}

TEST(without_a_transition_nothing_is_asked_for)
{
	static const enum transition_state over[] = {TRANSITION_NONE, TRANSITION_DONE,
						     TRANSITION_REFUSED};

	for (size_t i = 0; i < ARRAY_LEN(over); i++) {
		CHECK_INT(judge_in(over[i], false), ==, WISH_REFUSED);
		CHECK_STR(text, "no blue/green transition is under way");
		CHECK_INT(judge_in(over[i], true), ==, WISH_REFUSED);
		CHECK_STR(text, "no blue/green transition is under way");
	}
}

TEST(it_is_promoted_up_to_the_cut)
{
	for (int i = TRANSITION_OFFERED; i < TRANSITION_STATES; i++)
		CHECK_INT(judge_in(i, false), ==, i <= TRANSITION_SHADOW ? WISH_ASK : WISH_REFUSED);
	judge_in(TRANSITION_ARMED, false);
	CHECK_HAS(text, "the cut was chosen already");
}

TEST(it_is_given_up_until_the_job_is_granted)
{
	for (int i = TRANSITION_OFFERED; i < TRANSITION_STATES; i++)
		CHECK_INT(judge_in(i, true), ==, i <= TRANSITION_ENDING ? WISH_ASK : WISH_REFUSED);
	judge_in(TRANSITION_TAKEN, true);
	CHECK_HAS(text, "only goes forward");
	judge_in(TRANSITION_ABORTING, true);
	CHECK_HAS(text, "already");
}

TEST(what_was_asked_for_is_done_when_drey_has_read_it)
{
	begin(TRANSITION_SHADOW);
	request.nonce = "n1";
	CHECK_INT(judge(), ==, WISH_WAIT);
	journal.handover.transition.promoted = true; /* by another person */
	CHECK_INT(judge(), ==, WISH_WAIT);
	journal_consume(&journal, "n1");
	CHECK_INT(judge(), ==, WISH_DONE);
	journal.handover.transition.state = TRANSITION_ARMING;
	CHECK_INT(judge(), ==, WISH_DONE);
	request.abort = true;
	CHECK_INT(judge(), ==, WISH_REFUSED); /* that one was not for this */
	journal.handover.transition.aborted = true;
	journal.handover.transition.state = TRANSITION_ABORTING;
	CHECK_INT(judge(), ==, WISH_DONE);
	journal_release(&journal);
}

TEST(what_drey_has_read_and_not_carried_out_is_said)
{
	begin(TRANSITION_ARMED);
	request.nonce = "n1";
	journal_consume(&journal, "n1");
	CHECK_INT(judge(), ==, WISH_REFUSED);
	CHECK_HAS(text, "the cut was chosen already");
	journal.handover.transition.state = TRANSITION_SHADOW;
	CHECK_INT(judge(), ==, WISH_REFUSED);
	CHECK_HAS(text, "another transition");
	journal_release(&journal);
}

TEST(a_cut_in_the_past_is_not_promoted_by_what_another_person_has_said)
{
	begin(TRANSITION_SHADOW);
	request = (struct wish_request){.nonce = "n1", .at_unix_ms = 5000};
	journal_consume(&journal, "n1");
	CHECK_INT(judge(), ==, WISH_REFUSED);
	CHECK_HAS(text, "--at is in the past");
	journal.handover.transition.promoted = true;
	CHECK_INT(judge(), ==, WISH_REFUSED);
	journal.handover.transition.at_unix_ms = 5000;
	CHECK_INT(judge(), ==, WISH_DONE);
	journal_release(&journal);
}

TEST(lost_state_is_acknowledged_when_drey_has_read_it)
{
	begin(TRANSITION_NONE);
	request.acknowledge = true;
	CHECK_INT(judge(), ==, WISH_REFUSED);
	CHECK_HAS(text, "no state was lost");
	journal.loss.unix_ms = 1;
	CHECK_INT(judge(), ==, WISH_ASK);
	request.nonce = "n1";
	CHECK_INT(judge(), ==, WISH_WAIT);
	journal.loss.unix_ms = 0; /* settled by a savepoint meanwhile */
	CHECK_INT(judge(), ==, WISH_WAIT);
	journal_consume(&journal, "n1");
	CHECK_INT(judge(), ==, WISH_DONE);
	journal_release(&journal);
}
