/* What is told of a hand-over, once for each state; what is kept of it: times, ends, and that the job was returned. */
#include "handover_life.h"

/* What was told since the last call. */
#define CHECK_TOLD(l, words)                                                                       \
	do {                                                                                       \
		CHECK_STR((l)->told, words);                                                       \
		forget(l);                                                                         \
	} while (0)

/* To the same agent, that its pod has taken the job and that it runs there. */
static void taken_by_new(struct life *l)
{
	agent_of(l, &new_pod, "g2");
	claims(l, CLAIM_TAKE, NULL);
	CHECK_HANDOVER(l, HANDOVER_TAKEN);
}

static void runs_there(struct life *l)
{
	observed(l, DECISION_START_FROM, SAVEPOINT_1, 50, NULL);
	started(l);
	viewed(l, job_restored(JOB_RUNNING, 50, SAVEPOINT_1));
}

/* It was taken, and did not run there. */
static void returned_begin(struct life *l)
{
	granted_begin(l);
	taken_by_new(l);
	reserve_beats(l);
	observed(l, DECISION_START_FROM, SAVEPOINT_1, 50, NULL);
	started(l);
	forget(l);
	exited(l, EXITED(1));
	for (int i = 0; i < 3 && handover_of(l)->state == HANDOVER_TAKEN; i++)
		pass(l, 1000);
	CHECK_HANDOVER(l, HANDOVER_RETURNED);
}

/* The old pod has it again. */
static void back_begin(struct life *l)
{
	returned_begin(l);
	agent_of(l, &old_pod, "g1");
	claims(l, CLAIM_BACK, NULL);
	observed(l, DECISION_START_FROM, SAVEPOINT_1, 50, NULL);
	forget(l);
}

/* ---- told ---- */

LIFE_TEST_FROM(owner_begin, each_state_up_to_done_is_told_once)
{
	beats(l, CANDIDATE_PREPARING);
	CHECK_TOLD(l, "");
	beats(l, CANDIDATE_PREPARING);
	CHECK_TOLD(l, "handover:offered");
	beats(l, CANDIDATE_PREPARING);
	CHECK_TOLD(l, "");
	beats(l, CANDIDATE_PREPARED);
	CHECK_TOLD(l, "prepared");
	beats(l, CANDIDATE_PREPARED);
	CHECK_TOLD(l, "");
	answers(l);
	CHECK_TOLD(l, "handover:stopping phase:Stopping");
	stop_saved(l);
	CHECK_TOLD(l, "");
	viewed(l, job_in(JOB_FINISHED));
	CHECK_HAS(l->told, "handover:granted");
	taken_by_new(l);
	CHECK_HAS(l->told, "handover:taken");
	forget(l);
	runs_there(l);
	CHECK_HAS(l->told, "handover:done");
	forget(l);
	pass(l, 60000);
	CHECK_TOLD(l, "");
}

LIFE_TEST_FROM(offered_begin, that_it_is_prepared_is_told_once_for_each_offer)
{
	beats(l, CANDIDATE_PREPARED);
	CHECK_HAS(l->notes, "new is prepared");
	CHECK_TOLD(l, "prepared");
	beats(l, CANDIDATE_PREPARING); /* its JVM has died */
	beats(l, CANDIDATE_PREPARED);
	CHECK_TOLD(l, "");
	restart_agent(l);
	claims(l, CLAIM_OWN, NULL);
	forget(l);
	beats(l, CANDIDATE_PREPARED);
	beats(l, CANDIDATE_PREPARED);
	CHECK(!strstr(l->told, "prepared"));
}

LIFE_TEST_FROM(offered_begin, another_pod_that_is_prepared_is_not_the_one)
{
	seen(l, &third_pod, CANDIDATE_PREPARED, false, WANTED_YES, 0);
	CHECK(!strstr(l->told, "prepared"));
	CHECK(!lifecycle_is_prepared(&l->life));
}

LIFE_TEST_FROM(offered_begin, an_offer_that_is_given_up_and_one_that_is_refused_are_told)
{
	seen(l, &new_pod, CANDIDATE_WITHDRAWN, false, WANTED_NO, 0);
	CHECK_TOLD(l, "handover:none");
	CHECK_INT(handover_of(l)->ends.none, ==, 1);
	beats(l, CANDIDATE_PREPARING);
	beats(l, CANDIDATE_PREPARING);
	CHECK_TOLD(l, "handover:offered");
	pass(l, 299000);
	beats(l, CANDIDATE_PREPARING);
	pass(l, 1000);
	CHECK_TOLD(l, "handover:refused");
	CHECK_INT(handover_of(l)->ends.refused, ==, 1);
	control(l, CONTROL_NEW_START, (struct intent){0});
	CHECK(!strstr(l->told, "handover:none")); /* a person knows it */
	CHECK_INT(handover_of(l)->ends.none, ==, 1);
}

LIFE_TEST_FROM(offered_begin, what_the_candidate_says_is_the_reason)
{
	says(l, CANDIDATE_FAILED, "main() threw");
	CHECK_STR(handover_of(l)->why, "the new version cannot be prepared: main() threw");
	CHECK_HAS(l->last_notice, "to new: the new version cannot be prepared: main() threw");
	says(l, CANDIDATE_PREPARING, "it waits for its TaskManagers");
	says(l, CANDIDATE_PREPARING, "it waits for its TaskManagers");
	CHECK_HANDOVER(l, HANDOVER_OFFERED);
	pass(l, 299000);
	says(l, CANDIDATE_PREPARING, "it waits for its TaskManagers");
	pass(l, 1000);
	CHECK_HANDOVER(l, HANDOVER_REFUSED);
	CHECK_STR(
		handover_of(l)->why,
		"the candidate was not prepared within handover.prepareDeadline: it waits for its TaskManagers; resume, or another version, allows it again");
}

LIFE_TEST_FROM(offered_begin, what_the_candidate_says_is_cut)
{
	char words[1000];

	memset(words, 'x', sizeof(words) - 1);
	words[sizeof(words) - 1] = 0;
	says(l, CANDIDATE_FAILED, words);
	CHECK_INT((int)strlen(handover_of(l)->why), ==, 34 + 2 + 300);
}

LIFE_TEST_FROM(returned_begin, that_it_was_returned_is_told_with_the_reason)
{
	CHECK_HAS(l->told, "handover:returned");
	CHECK_STR(handover_of(l)->returned, handover_of(l)->why);
	CHECK(handover_of(l)->returned && *handover_of(l)->returned);
	CHECK_INT(handover_of(l)->returned_unix_ms, ==, handover_of(l)->state_unix_ms);
	CHECK_INT(handover_of(l)->ends.returned, ==, 1);
	CHECK_INT(handover_of(l)->ends.done, ==, 0);
	agent_of(l, &old_pod, "g1"); /* it was told, and is not again */
	claims(l, CLAIM_BACK, NULL);
	CHECK(!strstr(l->told, "handover"));
	CHECK_INT(handover_of(l)->ends.returned, ==, 1);
}

/* ---- kept ---- */

LIFE_TEST_FROM(owner_begin, the_times_of_its_parts_are_on_record)
{
	struct handover *handover = handover_of(l);

	beats(l, CANDIDATE_PREPARING);
	beats(l, CANDIDATE_PREPARING);
	pass(l, 4000);
	beats(l, CANDIDATE_PREPARED);
	CHECK_INT(handover->prepared_unix_ms - handover->started_unix_ms, ==, 4000);
	pass(l, 1000);
	answers(l);
	CHECK_INT(handover->stopping_unix_ms - handover->prepared_unix_ms, ==, 1000);
	stop_saved(l);
	l->now_ms += 300;
	viewed(l, job_in(JOB_FINISHED));
	CHECK_INT(handover->granted_unix_ms - handover->stopping_unix_ms, ==, 300);
	l->now_ms += 200;
	taken_by_new(l);
	handover = handover_of(l);
	CHECK_INT(handover->taken_unix_ms - handover->granted_unix_ms, ==, 200);
	CHECK_INT(handover->done_unix_ms, ==, 0);
	l->now_ms += 1500;
	runs_there(l);
	CHECK_INT(handover->done_unix_ms - handover->taken_unix_ms, ==, 1500);
	CHECK_INT(handover->ends.done, ==, 1);
	CHECK_STR(handover->returned, NULL);
}

LIFE_TEST_FROM(back_begin, that_it_was_returned_stays_over_the_next_offer_to_the_version)
{
	char *why = xstrdup(handover_of(l)->returned);

	CHECK(why != NULL);
	started(l);
	viewed(l, job_restored(JOB_RUNNING, 50, SAVEPOINT_1));
	CHECK_PHASE(l, PHASE_RUNNING);
	beats(l, CANDIDATE_PREPARING);
	beats(l, CANDIDATE_PREPARING);
	CHECK_HANDOVER(l, HANDOVER_OFFERED);
	CHECK_STR(handover_of(l)->returned, why);
	CHECK_INT(handover_of(l)->ends.returned, ==, 1);
	CHECK_INT(handover_of(l)->granted_unix_ms, ==, 0); /* of the one before */
	candidate_gone(l);
	CHECK_HANDOVER(l, HANDOVER_NONE);
	CHECK_STR(handover_of(l)->returned, why);
	seen(l, &third_pod, CANDIDATE_PREPARING, false, WANTED_YES, 0);
	seen(l, &third_pod, CANDIDATE_PREPARING, false, WANTED_YES, 0);
	CHECK_HANDOVER(l, HANDOVER_OFFERED);
	CHECK_STR(handover_of(l)->returned, NULL); /* another version has no history */
	CHECK_INT(handover_of(l)->ends.returned, ==, 1);
	free(why);
}

LIFE_TEST_FROM(back_begin, a_person_clears_it)
{
	int64_t sequence = l->life.acknowledged;

	CHECK(handover_of(l)->returned != NULL);
	do_not_restart(l, false);
	CHECK(handover_of(l)->returned != NULL);
	control(l, CONTROL_NEW_START, (struct intent){0});
	CHECK_STR(handover_of(l)->returned, NULL);
	CHECK_INT(handover_of(l)->returned_unix_ms, ==, 0);
	CHECK_INT(l->life.acknowledged, >, sequence);
	CHECK_INT(handover_of(l)->tries, ==, 1); /* that is no other version */
}

LIFE_TEST_FROM(back_begin, success_of_the_version_clears_it)
{
	struct handover *handover = handover_of(l);

	handover->state = HANDOVER_DONE;
	handover_keep(handover, HANDOVER_TAKEN, 7);
	CHECK_STR(handover->returned, NULL);
	CHECK_INT(handover->done_unix_ms, ==, 7);
	handover->state = HANDOVER_RETURNED; /* in the probation */
	handover_keep(handover, HANDOVER_DONE, 8);
	CHECK_STR(handover->returned, handover->why);
}

LIFE_TEST_FROM(granted_begin, a_pod_that_has_given_the_journal_away_knows_it)
{
	CHECK_STR(role_name(lifecycle_role(&l->life)), "reserve");
	taken_by_new(l);
	CHECK_STR(role_name(lifecycle_role(&l->life)), "owner");
}

LIFE_TEST_FROM(granted_begin, without_a_deadline_none_is_shown)
{
	taken_by_new(l);
	CHECK_INT(handover_of(l)->deadline_unix_ms, ==, handover_of(l)->state_unix_ms + 180000);
	do_not_restart(l, true);
	observed(l, DECISION_PARK, NULL, 0, NULL);
	CHECK_INT(handover_of(l)->deadline_unix_ms, ==, 0);
	do_not_restart(l, false);
	CHECK_INT(handover_of(l)->deadline_unix_ms, >, UNIX_START);
}
