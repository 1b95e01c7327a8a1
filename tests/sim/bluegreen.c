/* The world of the transitions: time, the pods of a Deployment, people, accidents. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/lifecycle/failover.h"
#include "tests/sim/bluegreen.h"
#include "tests/sim/sim.h"

#define HORIZON_MS (400 * BG_SECOND)
#define CALM_MS    (200 * BG_SECOND)
#define DRAIN_MS   (60 * BG_SECOND)
#define STUCK_MS   (100 * BG_SECOND)

int64_t bg_below(struct bg_world *w, int64_t bound)
{
	return bound > 0 ? rng_below(&w->rng, bound) : 0;
}

bool bg_odds(struct bg_world *w, int per_mille)
{
	return bg_below(w, 1000) < per_mille;
}

bool bg_chance(struct bg_world *w, int per_mille)
{
	return !w->calm && bg_odds(w, per_mille);
}

void bg_say(struct bg_world *w, const char *fmt, ...)
{
	va_list ap;

	if (!w->verbose)
		return;
	printf("%8.1f  ", (double)w->now_ms / 1000);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
}

void bg_fail(struct bg_world *w, const char *fmt, ...)
{
	va_list ap;

	if (*w->failure)
		return;
	va_start(ap, fmt);
	vsnprintf(w->failure, sizeof(w->failure), fmt, ap);
	va_end(ap);
	bg_say(w, "FAILED: %s", w->failure);
}

/* ---- the configuration of a history ---- */

static int64_t a_clock(struct bg_world *w)
{
	return w->clocks_ms ? rng_below(&w->more, 2 * w->clocks_ms + 1) - w->clocks_ms : 0;
}

static void draw_policy(struct bg_world *w)
{
	struct transition_policy *policy = &w->policy;

	*policy = (struct transition_policy){
		.gate = bg_odds(w, 100) ? TRANSITION_GATE_NONE : TRANSITION_GATE_DREY,
		.after_cut = bg_odds(w, 700) ? AFTER_CUT_REPLAY : AFTER_CUT_FORWARD,
		.manual = bg_odds(w, 200),
		.idle_passes = bg_odds(w, 300),
		.lead_ms = bg_odds(w, 300) ? 0 : bg_below(w, 8000),
		.align_ms = bg_odds(w, 200) ? 5000 : 0,
		.tries = 1 + bg_below(w, 3),
	};
	if (bg_odds(w, 100)) /* drey promote --at */
		policy->at_unix_ms = BG_TIME_ORIGIN + bg_below(w, CALM_MS);
	w->caught_up_ms = 1000 + bg_below(w, 6000);
	w->settle_ms = bg_below(w, 3000);
	w->prepare_ms = 60 * BG_SECOND;
	w->arm_ms = (5 + bg_below(w, 20)) * BG_SECOND;
	w->deadline_ms = (20 + bg_below(w, 60)) * BG_SECOND;
}

static void draw(struct bg_world *w)
{
	bool quiet = bg_odds(w, 250); /* nothing fails: then what is doubled is exactly reported */

	w->splits = 1 + (int)bg_below(w, BG_SPLITS);
	w->record_ms = 400 + (int)bg_below(w, 800);
	w->records = (int)(HORIZON_MS / w->record_ms);
	w->disorder_ms = (int)bg_below(w, 3000);
	w->late_per_mille = bg_odds(w, 300) ? 5 : 0;
	if (bg_odds(w, 200)) {
		w->idle_from_ms = bg_below(w, CALM_MS);
		w->idle_to_ms = w->idle_from_ms + 5000 + bg_below(w, 30000);
	}
	draw_policy(w);
	w->agent_dies = quiet || bg_odds(w, 300) ? 0 : (int)bg_below(w, 400);
	w->job_fails = quiet || bg_odds(w, 300) ? 0 : (int)bg_below(w, 400);
	w->jvm_dies = quiet || bg_odds(w, 300) ? 0 : (int)bg_below(w, 200);
	w->pod_dies = quiet || bg_odds(w, 400) ? 0 : (int)bg_below(w, 150);
	w->person = quiet ? 0 : (int)bg_below(w, 200);
	w->save_fails = quiet ? 0 : (int)bg_below(w, 300);
	w->end_ms = HORIZON_MS;
	w->calm_ms = CALM_MS;
}

/* An hour apart, and in some histories records have the times of these clocks. Two that nearly agree are left out: then
 * as much is lost or doubled as they differ. */
static void draw_clocks(struct bg_world *w)
{
	if (rng_below(&w->more, 1000) >= 500)
		return;
	w->clocks_ms = (2 + rng_below(&w->more, 89)) * 60 * BG_SECOND;
	for (int side = 0; side < BG_SIDES; side++)
		w->sides[side].clock_ms = a_clock(w);
	w->stamps = w->policy.gate != TRANSITION_GATE_NONE && rng_below(&w->more, 1000) < 300 &&
		    llabs(w->sides[0].clock_ms - w->sides[1].clock_ms) > 600 * BG_SECOND;
}

/* In a third of the histories somebody deletes journals. */
static void draw_journals(struct bg_world *w)
{
	if (rng_below(&w->more, 1000) < 333)
		w->journal_lost = 1 + (int)rng_below(&w->more, 40);
}

/* Gates of FLIP-504 in a quarter of the histories: no aligned cut, none that a person names, and a lead. */
static void draw_flip(struct bg_world *w)
{
	if (rng_below(&w->more, 1000) >= 250)
		return;
	w->policy.gate = TRANSITION_GATE_FLIP;
	w->policy.align_ms = w->policy.at_unix_ms = 0;
	w->policy.lead_ms = (10 + rng_below(&w->more, 10)) * BG_SECOND;
	w->caught_up_ms = w->policy.lead_ms / 3;
	w->deadline_ms += w->policy.lead_ms;
	for (int side = 0; side < BG_SIDES; side++)
		w->flip_first[side] = rng_below(&w->more, 2) == 0;
	w->flip_mute = rng_below(&w->more, 1000) < 100;
}

/* ---- pods ---- */

/* By its leader lock: Flink dates it by the clock of its node, the API server by its own. */
bool bg_lock_is_free(const struct bg_world *w, int side, int64_t watched_ms)
{
	const struct bg_job *job = &w->sides[side].job;
	int64_t renewed_ms = job->alive ? w->now_ms : job->ended_ms;
	int64_t from_ms = renewed_ms > watched_ms ? renewed_ms : watched_ms;
	struct failover_lock lock = {.present = true,
				     .recorded = true,
				     .understood = true,
				     .holder = (char *)"it",
				     .renew_unix_ms = BG_TIME_ORIGIN + renewed_ms + job->clock_ms,
				     .changed_unix_ms = BG_TIME_ORIGIN + renewed_ms,
				     .duration_ms = BG_LOCK_MS - 2 * BG_SECOND};
	char *why = NULL;
	bool is_free = failover_lock_is_free(&lock, BG_TIME_ORIGIN + w->now_ms,
					     job->alive ? 0 : w->now_ms - from_ms, &why);

	free(why);
	return is_free;
}

static void make_pod(struct bg_world *w, int side, int generation)
{
	struct bg_pod *pod = &w->sides[side].pod;

	bg_agent_dies(w, side, "its pod is replaced");
	*pod = (struct bg_pod){.exists = true,
			       .uid = ++w->uid_next,
			       .generation = generation,
			       .born_ms = w->now_ms,
			       .clock_ms = w->stamps ? w->sides[side].clock_ms : a_clock(w),
			       .bad = generation > 1 && generation % 5 == 3};
	pod->agent.finish_id = -1;
	pod->agent.back_ms = w->now_ms + 200 + bg_below(w, 4000);
	bg_say(w, "pod %d of generation %d, side %d%s", pod->uid, generation, side,
	       pod->bad ? ", bad" : "");
}

static void end_pod(struct bg_world *w, int side, const char *why)
{
	struct bg_pod *pod = &w->sides[side].pod;

	if (!pod->exists)
		return;
	bg_say(w, "pod %d ends: %s", pod->uid, why);
	bg_agent_dies(w, side, why);
	bg_job_end(w, side, why);
	pod->exists = false;
	pod->back_ms = w->now_ms + 500 + bg_below(w, 15 * BG_SECOND);
	w->sides[side].job.has_file = false; /* a volume of the pod */
}

static bool is_reserve(const struct bg_world *w, int side)
{
	enum transition_state state = transition_of(&w->store.handover);

	return side != w->store.owner_side &&
	       (state == TRANSITION_GRANTED || state == TRANSITION_TAKEN);
}

/* The controller: a pod of the owner's version at its side, one of the wanted version at the other. */
static void deploy(struct bg_world *w)
{
	int owner = w->store.owner_side;
	struct bg_pod *mine = &w->sides[owner].pod, *other = &w->sides[!owner].pod;
	bool rolls = w->wanted_generation != w->store.owner_generation;

	if (!mine->exists && w->now_ms >= mine->back_ms)
		make_pod(w, owner, w->store.owner_generation);
	if (is_reserve(w, !owner))
		return;
	if (other->exists && (!rolls || other->generation != w->wanted_generation)) {
		end_pod(w, !owner,
			rolls ? "another version is wanted" : "it is not wanted any more");
		return;
	}
	if (!other->exists && rolls && w->now_ms >= other->back_ms)
		make_pod(w, !owner, w->wanted_generation);
}

static void upgrade(struct bg_world *w)
{
	enum transition_state state = transition_of(&w->store.handover);

	if (w->calm || state == TRANSITION_GRANTED || state == TRANSITION_TAKEN ||
	    !bg_odds(w, w->wanted_generation == w->store.owner_generation ? 8 : 1))
		return;
	w->wanted_generation++;
	bg_say(w, "user: generation %d is wanted", w->wanted_generation);
}

/* ---- journals that somebody deletes ---- */

static bool more_odds(struct bg_world *w, int per_mille)
{
	return rng_below(&w->more, 1000) < per_mille;
}

void bg_lose_own(struct bg_world *w, int side, int per_mille)
{
	struct bg_side *here = &w->sides[side];

	if (w->calm || !w->journal_lost || !*here->seeded || !more_odds(w, per_mille))
		return;
	bg_say(w, "side %d: the journal of the job in the shadow is deleted", side);
	*here->seeded = '\0';
	here->doomed = more_odds(w, 700);
}

static void lose_store(struct bg_world *w, int per_mille)
{
	int owner = w->store.owner_side;

	if (w->calm || !w->journal_lost || w->store_lost || !more_odds(w, per_mille))
		return;
	bg_say(w, "the application's journal is deleted");
	w->store_lost = true;
	w->sides[owner].doomed = more_odds(w, 300);
}

void bg_lose_journals(struct bg_world *w, int per_mille)
{
	bg_lose_own(w, !w->store.owner_side, per_mille);
	lose_store(w, per_mille);
}

void bg_store_is_back(struct bg_world *w)
{
	if (!w->store_lost)
		return;
	bg_say(w, "the application's journal is there again");
	w->store_lost = false;
	w->restored_ms = w->now_ms;
}

/* What is lost with the agents that knew it comes from a person, who has a copy. */
static void restore_journals(struct bg_world *w)
{
	const struct handover *handover = &w->store.handover;
	int owner = w->store.owner_side;
	struct bg_side *granted = &w->sides[owner];
	/* the owner writes it again with what comes next; if that waits for who has lost his own, there is only the copy */
	bool stuck = w->now_ms > w->calm_ms + STUCK_MS;

	if (w->store_lost && more_odds(w, stuck ? 50 : w->sides[owner].pod.agent.owns ? 2 : 5))
		bg_store_is_back(w);
	if (transition_of(handover) == TRANSITION_GRANTED && !*granted->seeded &&
	    !*granted->pod.agent.shadows && xstrsame(granted->begun, handover->id) &&
	    more_odds(w, 5)) {
		bg_say(w, "a person restores the journal of the job that was granted");
		memcpy(granted->seeded, granted->begun, sizeof(granted->seeded));
	}
}

/* ---- accidents and people ---- */

static bool accident(struct bg_world *w, int per_100000)
{
	return !w->calm && bg_below(w, 100000) < per_100000;
}

static void accidents(struct bg_world *w)
{
	for (int side = 0; side < BG_SIDES; side++) {
		if (accident(w, w->agent_dies) || w->sides[side].doomed)
			bg_agent_dies(w, side, "an accident");
		w->sides[side].doomed = false;
		if (accident(w, w->job_fails))
			bg_job_fail_over(w, side);
		if (accident(w, w->jvm_dies))
			bg_job_end(w, side, "an accident");
		if (accident(w, w->pod_dies))
			end_pod(w, side, "an accident");
	}
	if (!w->journal_lost)
		return;
	bg_lose_journals(w, rng_below(&w->more, 100) < w->journal_lost ? 10 : 0);
	restore_journals(w);
}

static void people(struct bg_world *w)
{
	if (w->policy.manual && bg_odds(w, 10))
		w->promoted = true;
	if (accident(w, w->person))
		w->parks = !w->parks;
	if (accident(w, w->person))
		w->brake = !w->brake;
	if (accident(w, w->person / 4)) {
		w->abort = transition_of(&w->store.handover) != TRANSITION_NONE;
		bg_say(w, "user: drey abort");
	}
	if (transition_of(&w->store.handover) == TRANSITION_NONE ||
	    transition_of(&w->store.handover) == TRANSITION_DONE)
		w->abort = false;
	if (!w->calm)
		return;
	w->parks = w->brake = false;
	for (int side = 0; side < BG_SIDES; side++) {
		w->sides[side].pod.bad = false;
		w->sides[side].job.poison_ms = 0;
		if (w->sides[side].job.run_ms == INT64_MAX)
			w->sides[side].job.run_ms = w->now_ms;
		if (bg_odds(w, 20)) /* drey resume */
			w->sides[side].pod.agent.relaunches = 0;
	}
	w->promoted = true;
	/* what waits for a person gets one */
	if (w->policy.after_cut == AFTER_CUT_FORWARD && w->now_ms > w->calm_ms + STUCK_MS &&
	    transition_is_cut(transition_of(&w->store.handover)))
		w->abort = true;
}

/* ---- time ---- */

static void agents(struct bg_world *w, int side)
{
	struct bg_pod *pod = &w->sides[side].pod;
	struct bg_agent *agent = &pod->agent;

	if (!pod->exists)
		return;
	if (!agent->alive) {
		if (w->now_ms < agent->back_ms)
			return;
		agent->alive = true;
		agent->finish_id = -1;
		agent->born_ms = w->now_ms;
		agent->prepared_ms = pod->born_ms + 3000 + (pod->uid * 977) % 7000;
	}
	bg_land(w, side);
	bg_look_tick(w, side);
	if (agent->writing || agent->owns)
		bg_owner_tick(w, side);
	else
		bg_shadow_tick(w, side);
}

static void tick(struct bg_world *w)
{
	int first = (int)bg_below(w, BG_SIDES);

	w->calm = w->now_ms >= w->calm_ms;
	upgrade(w);
	accidents(w);
	bg_flip_accidents(w);
	people(w);
	deploy(w);
	for (int i = 0; i < BG_SIDES && !*w->failure; i++) {
		int side = first ^ i;

		agents(w, side);
		bg_gate_tick(w, side);
		bg_flip_tick(w, side);
		bg_job_tick(w, side);
	}
	bg_judge(w);
	bg_flip_judge(w);
	w->now_ms += BG_TICK_MS;
}

static void begin(struct bg_world *w)
{
	w->uid_next = 0;
	w->store.owner_side = (int)bg_below(w, BG_SIDES);
	w->store.owner_generation = w->wanted_generation = 1;
	make_pod(w, w->store.owner_side, 1);
	w->store.owner_uid = w->sides[w->store.owner_side].pod.uid;
	for (int side = 0; side < BG_SIDES; side++)
		w->sides[side].job.from = w->sides[side].job.open_snap = -1;
	w->sides[w->store.owner_side].job.epoch = w->epoch_next++;
}

static bool is_drained(const struct bg_world *w)
{
	const struct bg_job *job = &w->sides[w->store.owner_side].job;
	int newest = bg_newest(w, w->store.owner_side);

	if (!job->running || newest < 0 || !w->snaps[newest].confirmed)
		return false;
	for (int s = 0; s < w->splits; s++)
		if (w->snaps[newest].position[s] < w->records)
			return false;
	return true;
}

static void add_flip(const struct bg_world *w, struct figures *figures)
{
	if (!bg_has_flip(w))
		return;
	figures->flip_done += (uint64_t)w->done;
	figures->flip_given_up += (uint64_t)w->aborted;
	figures->flip_replayed += (uint64_t)w->replayed;
	figures->flip_trampled += w->trampled;
	for (int s = 0; s < w->splits; s++)
		for (int r = 0; r < w->records; r++)
			figures->flip_excused += w->excused[s][r];
}

bool bluegreen_run(uint64_t seed, bool verbose, struct figures *figures, char ret_failure[600])
{
	struct bg_world *w = xcalloc(1, sizeof(*w));
	bool well;

	rng_seed(&w->rng, seed);
	w->verbose = verbose;
	draw(w);
	rng_seed(&w->more, seed ^ UINT64_C(0xb10eca11c10c5));
	draw_flip(w);
	draw_clocks(w);
	draw_journals(w);
	begin(w);
	while (w->now_ms < w->end_ms && !*w->failure)
		tick(w);
	while (w->now_ms < w->end_ms + DRAIN_MS && !*w->failure && !is_drained(w))
		tick(w);
	if (!*w->failure && !is_drained(w))
		bg_fail(w, "the job does not run in the end");
	if (!*w->failure)
		bg_judge_end(w);
	well = !*w->failure;
	snprintf(ret_failure, 600, "%s", w->failure);
	figures->transitions += (uint64_t)w->done;
	figures->given_up += (uint64_t)w->aborted;
	figures->replayed += (uint64_t)w->replayed;
	figures->refused += (uint64_t)w->refused;
	figures->doubled += (uint64_t)w->doubled;
	add_flip(w, figures);
	for (int side = 0; side < BG_SIDES; side++)
		bg_agent_dies(w, side, "the end");
	handover_release(&w->store.handover);
	free(w);
	return well;
}
