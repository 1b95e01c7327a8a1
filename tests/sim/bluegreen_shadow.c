/* An agent that is not the owner: it reads the journal, and runs its job in the shadow. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "tests/sim/bluegreen.h"

#define RELAUNCHES 4

/* ---- what it knows ---- */

static bool read_journal(struct bg_world *w, int side)
{
	struct bg_agent *agent = &w->sides[side].pod.agent;

	if (w->store_lost || (agent->has_read && !bg_odds(w, 300)))
		return false;
	if (!xstrsame(agent->journal.handover.id, w->store.handover.id)) {
		*agent->shadows = '\0';
		agent->begun = agent->told = false;
	}
	bg_journal_copy(&agent->journal, &w->store);
	agent->has_read = true;
	agent->read_ms = w->now_ms;
	return true;
}

static bool is_free(const struct bg_world *w, int side)
{
	return bg_lock_is_free(w, side, w->sides[side].pod.agent.born_ms);
}

static bool agent_is_reserve(const struct bg_world *w, int side)
{
	return w->store.handover.from.side == (enum side)side;
}

static bool is_mine(const struct bg_world *w, int side)
{
	const struct bg_pod *pod = &w->sides[side].pod;
	const struct handover *handover = &pod->agent.journal.handover;
	char uid[16];

	snprintf(uid, sizeof(uid), "u%d", pod->uid);
	if (party_is(&handover->to, uid))
		return true;
	/* the pod that it was granted to is gone: one of its template goes on, or after a while any that is
	 * wanted */
	if (handover->state != HANDOVER_GRANTED || agent_is_reserve(w, side))
		return false;
	return is_free(w, side) && (atoi(handover->to.template + 1) == pod->generation ||
				    w->now_ms >= w->changed_ms + 2 * BG_LOCK_MS);
}

static void fill(struct bg_world *w, int side, struct shadow_facts *facts)
{
	struct bg_side *here = &w->sides[side];
	struct bg_agent *agent = &here->pod.agent;
	const struct bg_job *job = &here->job;
	const struct handover *handover = &agent->journal.handover;

	facts->named = is_mine(w, side);
	facts->prepared = w->now_ms >= agent->prepared_ms && agent->record_known;
	facts->seeded = handover->id && (!strcmp(here->seeded, handover->id) ||
					 !strcmp(agent->shadows, handover->id));
	facts->begun = agent->begun;
	facts->runs = facts->seeded && job->running;
	facts->failed = facts->seeded && agent->relaunches > RELAUNCHES && !job->alive;
	/* without gates nothing shows how far it is, except for the time that it has run */
	facts->near = w->policy.gate == TRANSITION_GATE_NONE && job->running &&
		      w->now_ms - job->run_ms >= w->caught_up_ms;
}

/* ---- its own journal ---- */

/* The life cycle has it in memory, and writes it before each launch and after what happens. */
static void keep_own(struct bg_world *w, int side)
{
	struct bg_side *here = &w->sides[side];
	struct bg_agent *agent = &here->pod.agent;
	const char *id = agent->journal.handover.id;

	if (*agent->shadows && id && !strcmp(agent->shadows, id) && bg_odds(w, 10))
		memcpy(here->seeded, agent->shadows, sizeof(here->seeded));
}

/* What the agent before has said in the record of this pod. */
static bool says_begun(const struct bg_world *w, int side)
{
	const struct bg_pod *pod = &w->sides[side].pod;
	const struct handover *handover = &pod->agent.journal.handover;

	return transition_of(handover) == TRANSITION_SEEDED && w->map.uid == pod->uid &&
	       xstrsame(w->map.id, handover->id) && w->map.state != SHADOW_PREPARED;
}

/* ---- what it does ---- */

static void start(struct bg_world *w, int side, bool anew)
{
	struct bg_side *here = &w->sides[side];
	struct bg_agent *agent = &here->pod.agent;
	int newest = anew ? -1 : bg_newest(w, side);

	if (!anew && transition_of(&agent->journal.handover) == TRANSITION_ABORTING)
		return;
	if (here->job.alive || agent->relaunches > RELAUNCHES ||
	    (!anew && !bg_start_is_due(w, side)) ||
	    (!anew && w->now_ms < here->job.ended_ms + 500 + 700 * agent->relaunches) ||
	    !bg_look_lets_start(w, side))
		return;
	agent->relaunches += !anew;
	bg_job_start(w, side, newest >= 0 ? newest : here->seed, anew);
	if (here->pod.bad && bg_odds(w, 500))
		here->job.run_ms = INT64_MAX; /* it never runs */
	here->job.poison_ms = here->pod.bad ? w->now_ms + bg_below(w, 60 * BG_SECOND) : 0;
}

static void seed(struct bg_world *w, int side)
{
	struct bg_side *here = &w->sides[side];
	const struct handover *handover = &here->pod.agent.journal.handover;

	snprintf(here->pod.agent.shadows, sizeof(here->pod.agent.shadows), "%s", handover->id);
	if (!here->pod.agent.told || !bg_look_lets_start(w, side))
		return;
	if (xstrsame(here->begun, handover->id))
		bg_fail(w,
			"side %d: the job of %s begins once more: Flink's HA recovers the first one",
			side, handover->id);
	snprintf(here->begun, sizeof(here->begun), "%s", handover->id);
	snprintf(here->seeded, sizeof(here->seeded), "%s", handover->id);
	bg_lose_own(w, side, 100);
	here->seed = atoi(handover->transition.seed.path);
	here->pod.agent.relaunches = 0;
	start(w, side, true);
}

static void adopt(struct bg_world *w, int side)
{
	struct bg_pod *pod = &w->sides[side].pod;
	struct bg_agent *agent = &pod->agent;
	struct bg_journal *next = &agent->next;

	bg_journal_copy(next, &agent->journal);
	next->sequence++;
	next->writer_uid = pod->uid;
	next->owner_side = side;
	next->owner_uid = pod->uid;
	next->owner_generation = pod->generation;
	next->op = BG_OP_NONE;
	transition_take(&next->handover);
	free(next->handover.to.uid);
	next->handover.to.uid = xasprintf("u%d", pod->uid);
	agent->writing = true;
	agent->landed = false;
	agent->finish_id = -1;
	agent->land_ms = w->now_ms + 1 + bg_below(w, bg_chance(w, 50) ? 6000 : 400);
	agent->answer_ms = agent->land_ms + bg_below(w, bg_chance(w, 50) ? 4000 : 200);
}

/* The pod that was in its place is gone: the journal is taken over by its first write. */
static void succeed(struct bg_world *w, int side)
{
	struct bg_pod *pod = &w->sides[side].pod;
	struct bg_agent *agent = &pod->agent;
	struct party *own;

	if (!is_free(w, side) || transition_of(&agent->journal.handover) == TRANSITION_GRANTED)
		return;
	bg_journal_copy(&agent->next, &agent->journal);
	agent->next.sequence++;
	agent->next.writer_uid = agent->next.owner_uid = pod->uid;
	agent->next.owner_generation = pod->generation;
	own = agent->next.handover.to.side == (enum side)side ? &agent->next.handover.to
							      : &agent->next.handover.from;
	if (own->uid) {
		free(own->uid);
		own->uid = xasprintf("u%d", pod->uid);
	}
	agent->writing = true;
	agent->landed = false;
	agent->finish_id = -1;
	agent->state_ms = w->now_ms;
	agent->land_ms = agent->answer_ms = w->now_ms + 1 + bg_below(w, 400);
}

static void publish(struct bg_world *w, int side)
{
	const struct bg_side *here = &w->sides[side];
	const struct bg_agent *agent = &here->pod.agent;
	const char *id = agent->journal.handover.id;

	if (!bg_odds(w, 300))
		return;
	if (!agent->told && agent->shadow == SHADOW_PREPARED && says_begun(w, side)) {
		w->sides[side].pod.agent.begun = true;
		w->sides[side].pod.agent.shadow = SHADOW_STARTING;
		return;
	}
	w->sides[side].pod.agent.record_known = true;
	w->sides[side].pod.agent.told = agent->shadow != SHADOW_PREPARED;
	w->map = (struct bg_record){.uid = here->pod.uid,
				    .generation = here->pod.generation,
				    .state = agent->shadow,
				    .jvm = here->job.alive,
				    .gate = bg_has_flip(w)    ? agent->report
					    : here->job.alive ? here->job.report
							      : (struct gate_report){0},
				    .beat = ++w->map_beat};
	snprintf(w->map.id, sizeof(w->map.id), "%s", id ? id : "");
}

/* Its life cycle has the journal in memory, from its first look at it on. */
static void note_shadow(struct bg_world *w, int side, const struct shadow_move *move, bool seeded)
{
	struct bg_agent *agent = &w->sides[side].pod.agent;
	enum transition_state state = transition_of(&agent->journal.handover);

	if (seeded && state >= TRANSITION_SEEDED && state <= TRANSITION_ENDING)
		snprintf(agent->shadows, sizeof(agent->shadows), "%s", agent->journal.handover.id);
	keep_own(w, side);
	/* it is over: the agent ends, and the next one knows nothing */
	if (move->state == SHADOW_WITHDRAWN && !w->sides[side].job.alive)
		*agent->shadows = '\0';
}

static void act(struct bg_world *w, int side, const struct shadow_move *move, bool just_read)
{
	struct bg_side *here = &w->sides[side];

	switch (move->act) {
	case SHADOW_DO_SEED:
		if (just_read)
			seed(w, side);
		break;
	case SHADOW_DO_GO_ON:
		if (just_read && xstrsame(here->begun, here->pod.agent.journal.handover.id))
			start(w, side, false);
		else if (just_read) /* its journal is in memory, and nothing has begun yet */
			seed(w, side);
		break;
	case SHADOW_DO_KILL:
		bg_kills(w, side);
		if (bg_odds(w, 700)) /* it takes a moment */
			bg_job_end(w, side, "it is to end");
		break;
	case SHADOW_DO_ADOPT:
		if (just_read)
			adopt(w, side);
		break;
	default:
		break;
	}
}

void bg_shadow_tick(struct bg_world *w, int side)
{
	struct bg_side *here = &w->sides[side];
	struct bg_agent *agent = &here->pod.agent;
	bool just_read = read_journal(w, side);
	const struct handover *handover = &agent->journal.handover;
	struct shadow_facts facts = {0};
	struct shadow_move move;

	if (!agent->has_read) /* it cannot be read: nothing ends because of that, nor is anything said */
		return;
	if (agent->journal.owner_side == side && transition_of(handover) != TRANSITION_GRANTED) {
		if (agent->journal.owner_uid == here->pod.uid) {
			agent->owns = true;
			agent->state_ms = w->now_ms;
			agent->finish_id = -1;
		} else if (just_read && (agent->journal.owner_generation == here->pod.generation ||
					 w->now_ms >= w->changed_ms + 2 * BG_LOCK_MS)) {
			succeed(w, side);
		}
		return;
	}
	/* the reserve has nothing to do */
	if (handover->id && handover->from.side == (enum side)side &&
	    handover->state >= HANDOVER_GRANTED && handover->state <= HANDOVER_DONE)
		return;
	fill(w, side, &facts);
	transition_candidate(handover, &facts, agent->shadow, &move);
	agent->shadow = move.state;
	if (here->job.alive || facts.seeded) {
		here->job.file = transition_candidate_order(handover, &w->policy);
		here->job.has_file = true;
	}
	note_shadow(w, side, &move, facts.seeded);
	act(w, side, &move, just_read);
	/* after a kill that has worked, it prepares again */
	if (agent->shadow == SHADOW_WITHDRAWN && !here->job.alive && !facts.named)
		agent->shadow = SHADOW_PREPARED;
	publish(w, side);
}
