/*
 * handover_life - a life cycle with hand-overs, and the other pods that it sees.
 *
 * "old" is the owner, of generation g1 at blue; "new" is the candidate, of g2.
 */
#ifndef DREY_TESTS_HANDOVER_LIFE_H
#define DREY_TESTS_HANDOVER_LIFE_H

#include "life.h"

#define HELD_ID  "0123456789abcdef0123456789abcdef"
#define APP_ID   "fedcba9876543210fedcba9876543210"
#define GRACE_MS 120000

#define PARTY(name, text, at)                                                                      \
	{                                                                                          \
		(char *)(uintptr_t)(name), (char *)(uintptr_t)("u" name),                          \
			(char *)(uintptr_t)(text), at                                              \
	}

static const struct party old_pod = PARTY("old", "g1/c1/h1", SIDE_BLUE),
			  new_pod = PARTY("new", "g2/c1/h2", SIDE_GREEN),
			  same_pod = PARTY("same", "g1/c1/h3", SIDE_BLUE),
			  third_pod = PARTY("third", "g3/c1/h4", SIDE_BLUE);

static inline void surge_config(struct life *l, const struct party *me, const char *generation)
{
	l->config.generation = l->config.policy.generation = generation;
	l->config.handover = (struct handover_config){
		.mode = HANDOVER_SURGE,
		.me = *me,
		.prepare_ms = 300000,
		.stop_ms = 300000,
		.take_ms = 15000,
		.run_ms = 180000,
		.takeover_ms = 30000,
		.tries = 2,
		.return_on_failure = true,
	};
}

static inline struct handover *handover_of(struct life *l)
{
	return &l->life.journal.handover;
}

static inline void claims(struct life *l, enum claim claim, const char *held)
{
	struct event e = {.type = EVENT_HELLO, .hello = {.claim = claim, .held = held}};

	step(l, &e);
}

static inline int64_t next_beat(void)
{
	static int64_t beat;

	return ++beat;
}

/* A record of another pod, as it is read now; each is a beat. */
static inline void seen(struct life *l, const struct party *who, enum candidate_state state,
			bool reserve, enum wanted wanted, int64_t answer)
{
	struct event e = {.type = EVENT_CANDIDATE};

	e.candidate.present = true;
	e.candidate.place = reserve ? PLACE_RESERVE : PLACE_CANDIDATE;
	e.candidate.party = *who;
	e.candidate.state = state;
	e.candidate.wanted = wanted;
	e.candidate.beat = next_beat();
	e.candidate.answer = answer;
	step(l, &e);
}

static inline void beats(struct life *l, enum candidate_state state)
{
	seen(l, &new_pod, state, false, WANTED_YES, 0);
}

/* It is not prepared, and says why. */
static inline void says(struct life *l, enum candidate_state state, const char *why)
{
	struct event e = {.type = EVENT_CANDIDATE,
			  .candidate = {.present = true,
					.party = new_pod,
					.state = state,
					.wanted = WANTED_YES,
					.why = why,
					.beat = next_beat()}};

	step(l, &e);
}

static inline void answers(struct life *l)
{
	seen(l, &new_pod, CANDIDATE_PREPARED, false, WANTED_YES, handover_of(l)->asked);
}

static inline void candidate_gone(struct life *l)
{
	struct event e = {.type = EVENT_CANDIDATE};

	step(l, &e);
}

static inline void candidate_unreadable(struct life *l)
{
	struct event e = {.type = EVENT_CANDIDATE};

	e.candidate.unreadable = true;
	step(l, &e);
}

static inline void reserve_beats(struct life *l)
{
	seen(l, &old_pod, CANDIDATE_HANDED_OVER, true, WANTED_NO, 0);
}

/* ---- the journal as the other pod reads it ---- */

static inline void read_record(struct life *l, struct journal *journal)
{
	struct err err = {0};

	if (!CHECK(!journal_decode(l->durable_text.data, l->durable_text.len_bytes, journal, &err)))
		tap_note("%s", err.msg);
}

static inline void check_on_record(struct life *l, enum handover_state state, const char *owner)
{
	struct journal journal;

	read_record(l, &journal);
	CHECK_STR(handover_state_name(journal.handover.state), handover_state_name(state));
	CHECK_STR(journal.owner.pod, owner);
	journal_release(&journal);
}

/* ---- ways to a situation ---- */

/* The pod is the owner, and its job runs. */
static inline void owns(struct life *l)
{
	claims(l, CLAIM_OWN, NULL);
	launch_empty(l);
	viewed(l, job_in(JOB_RUNNING));
	prove(l, 1);
}

/* The job of "old" runs. */
static inline void owner_begin(struct life *l)
{
	life_begin(l);
	surge_config(l, &old_pod, "g1");
	owns(l);
	forget(l);
}

static inline void offered_begin(struct life *l)
{
	owner_begin(l);
	beats(l, CANDIDATE_PREPARING); /* it may be of a pod that is gone */
	beats(l, CANDIDATE_PREPARING);
	CHECK_INT(handover_of(l)->state, ==, HANDOVER_OFFERED);
	forget(l);
}

static inline void stopping_begin(struct life *l)
{
	offered_begin(l);
	beats(l, CANDIDATE_PREPARED);
	forget(l);
	answers(l);
	CHECK_INT(handover_of(l)->state, ==, HANDOVER_STOPPING);
}

/* The stop is as good as done: the next view shows that. */
static inline void stop_saved(struct life *l)
{
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	operation(l, STATUS_COMPLETED, SAVEPOINT_1, NULL);
	inspected(l, true, true);
}

static inline void granted_begin(struct life *l)
{
	stopping_begin(l);
	stop_saved(l);
	viewed(l, job_in(JOB_FINISHED));
	CHECK_INT(handover_of(l)->state, ==, HANDOVER_GRANTED);
}

/* The next agent, in another pod, has read what is on record. */
static inline void agent_of(struct life *l, const struct party *me, const char *generation)
{
	surge_config(l, me, generation);
	restart_agent(l);
}

/* "new" has the journal that "old" has granted; the offer has reserved these ids. */
static inline void take_begin_with(struct life *l, const char *held)
{
	struct handover *handover;

	granted_begin(l);
	handover = handover_of(l);
	snprintf(handover->job_id, JOB_ID_BYTES, "%s", HELD_ID);
	snprintf(handover->application_id, JOB_ID_BYTES, "%s", APP_ID);
	put_on_record(l);
	agent_of(l, &new_pod, "g2");
	l->config.application_ids = true;
	claims(l, CLAIM_TAKE, held);
}

static inline void take_begin(struct life *l)
{
	take_begin_with(l, HELD_ID);
	reserve_beats(l);
	forget(l);
}

static inline void cold_begin(struct life *l)
{
	take_begin_with(l, NULL);
	reserve_beats(l);
	forget(l);
}

static inline void starts(struct life *l)
{
	observed(l, DECISION_START_FROM, SAVEPOINT_1, 50, NULL);
}

static inline struct view restored(enum job_state state, int64_t id)
{
	struct view view = job_in(state);

	view.restored = true;
	view.restored_id = id;
	view.restored_path = SAVEPOINT_1;
	return view;
}

static inline void taken_begin(struct life *l)
{
	take_begin(l);
	starts(l);
	started(l);
	forget(l);
}

#define CHECK_HANDOVER(l, state_)                                                                  \
	CHECK_STR(handover_state_name(handover_of(l)->state), handover_state_name(state_))

#endif
