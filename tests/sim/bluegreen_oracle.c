/*
 * What must be true of a transition: each record is written once, or as often as the transition says; who
 * writes the journal may do so; and an end that was recorded stays an end.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "tests/sim/bluegreen.h"

#define OPEN_WITHIN_MS (20 * BG_SECOND)
#define SEEN_MS        (10 * BG_SECOND)

/* The outputs of a job that was given up: what the owner's writes as well is no surprise. */
static void give_up(struct bg_world *w, int side)
{
	struct bg_job *job = &w->sides[side].job;

	for (size_t i = 0; i < job->out_count; i++) {
		const struct bg_out *out = &job->outs[i];

		if (!out->committed)
			continue;
		w->count[out->split][out->record]--;
		w->given_up[out->split][out->record]++;
	}
	job->out_count = 0;
}

static void seed_is_kept(struct bg_world *w)
{
	const struct handover *handover = &w->store.handover;

	/* the owner's retention, at any time: all savepoints but those that are kept, as what its job was started from */
	for (int i = 0; i < w->snap_count; i++) {
		char path[16];

		snprintf(path, sizeof(path), "%d", i);
		if (w->snaps[i].savepoint && w->snaps[i].complete &&
		    i != bg_newest(w, w->store.owner_side) &&
		    i != w->sides[w->store.owner_side].job.from &&
		    !transition_keeps(handover, path) &&
		    transition_of(handover) > TRANSITION_SEEDED)
			w->snaps[i].deleted = true;
	}
}

void bg_stored(struct bg_world *w, const struct bg_journal *before, int uid)
{
	const struct handover *handover = &w->store.handover;
	enum transition_state was = transition_of(&before->handover);
	enum transition_state now = transition_of(handover);
	bool succeeds = before->owner_side == w->store.owner_side; /* that one is gone */

	if (before->owner_uid && uid != before->owner_uid && !succeeds && was != TRANSITION_GRANTED)
		bg_fail(w, "pod %d writes the journal of pod %d", uid, before->owner_uid);
	if (was == now)
		return;
	w->changed_ms = w->now_ms;
	bg_lose_journals(w, 30);
	if (now == TRANSITION_GRANTED) {
		snprintf(w->ended_id, sizeof(w->ended_id), "%s", handover->id);
		w->ended_side = before->owner_side;
	}
	if (now == TRANSITION_DONE) {
		w->done++;
		w->reported += handover->transition.above + handover->transition.below;
	}
	w->refused += now == TRANSITION_REFUSED;
	/* what has restarted since shows nothing of it */
	if (now == TRANSITION_CROSSING && w->past_cut &&
	    w->past_cut == handover->transition.toggle_unix_ms &&
	    w->past_ms > w->sides[0].job.run_ms && w->past_ms > w->sides[1].job.run_ms)
		bg_fail(w, "the records are divided at a cut in the past");
	if (w->stamps && now >= TRANSITION_ARMING && now <= TRANSITION_TAKEN)
		bg_fail(w, "a cut is chosen between clocks that differ");
	if (was == TRANSITION_ABORTING && w->sides[!w->store.owner_side].job.alive)
		bg_fail(w, "a transition is over, and the candidate's job runs");
	if (was == TRANSITION_ABORTING &&
	    (now == TRANSITION_NONE || handover->state != HANDOVER_OFFERED)) {
		w->aborted++;
		w->abort = false;
		give_up(w, !w->store.owner_side);
	}
	seed_is_kept(w);
}

/* ---- what repeats ---- */

/* As drey's own limits: of a side, whatever agents it has had. */
static const struct {
	const char *what;
	int most;
	int64_t within_ms;
} limits[] = {
	{"starts of Flink", BG_STARTS_SOON, 5 * BG_SECOND},
	{"starts of Flink", BG_TIMES, 60 * BG_SECOND},
	{"writes of the journal", BG_TIMES, 5 * BG_SECOND},
};

static void repeats(struct bg_world *w, struct bg_times *times, size_t first, size_t limit_count)
{
	memmove(times->ms + 1, times->ms, sizeof(times->ms) - sizeof(times->ms[0]));
	times->ms[0] = w->now_ms + 1;
	for (size_t i = first; i < first + limit_count; i++) {
		int64_t before_ms = times->ms[limits[i].most];

		if (before_ms && w->now_ms + 1 - before_ms < limits[i].within_ms)
			bg_fail(w, "%s without a pause: more than %d in %d s", limits[i].what,
				limits[i].most, (int)(limits[i].within_ms / BG_SECOND));
	}
}

void bg_starts(struct bg_world *w, int side)
{
	struct bg_job *job = &w->sides[side].job;
	const struct bg_agent *agent = &w->sides[side].pod.agent;

	job->start_ms = w->now_ms;
	job->start_sequence = agent->journal.sequence;
	job->start_born_ms = agent->born_ms;
	repeats(w, &w->sides[side].starts, 0, 2);
}

bool bg_start_is_due(const struct bg_world *w, int side)
{
	const struct bg_times *starts = &w->sides[side].starts;

	for (size_t i = 0; i < 2; i++) {
		int64_t before_ms = starts->ms[limits[i].most - 1];

		if (before_ms && w->now_ms + 1 - before_ms < limits[i].within_ms)
			return false;
	}
	return true;
}

void bg_writes(struct bg_world *w, int side)
{
	repeats(w, &w->sides[side].writes, 2, 1);
}

/* Its agent ends it, and knows nothing that it did not know when it started it. */
void bg_kills(struct bg_world *w, int side)
{
	const struct bg_job *job = &w->sides[side].job;
	const struct bg_agent *agent = &w->sides[side].pod.agent;

	if (job->alive && w->now_ms - job->start_ms < BG_VAIN_MS &&
	    agent->born_ms == job->start_born_ms && agent->journal.sequence == job->start_sequence)
		bg_fail(w, "side %d: a launch that must be killed at once", side);
}

static bool is_word(const struct bg_job *job, enum gate_word word, int splits)
{
	for (int s = 0; s < splits; s++)
		if (job->tasks[s].order.word != word)
			return false;
	return true;
}

/* It has to be behind the cut then, unless it has just failed over: that is seen some seconds later. */
void bg_judge_stop(struct bg_world *w, int side, const struct bg_snap *snap)
{
	int64_t toggle = w->store.handover.transition.toggle_unix_ms;
	bool failed_over = w->now_ms < w->sides[side].job.run_ms + SEEN_MS;

	if (!bg_has_flip(w) || side != w->store.owner_side ||
	    transition_of(&w->store.handover) != TRANSITION_ENDING)
		return;
	for (int s = 0; s < w->splits; s++) {
		if (snap->watermark[s] >= toggle)
			continue;
		if (!failed_over)
			bg_fail(w, "the job is stopped before the cut");
		for (int r = snap->position[s]; r < w->records && r < snap->position[s] + 200; r++)
			w->excused[s][r] |= bg_time_of(w, s, r) < toggle;
	}
}

/* A candidate says that it cannot go on: the owner does not wait for a deadline. */
static void gives_up(struct bg_world *w)
{
	const struct handover *handover = &w->store.handover;
	const struct bg_agent *agent = &w->sides[w->store.owner_side].pod.agent;
	enum transition_state state = transition_of(handover);
	bool waits = state >= TRANSITION_SEEDED && state <= TRANSITION_CROSSING &&
		     (w->policy.after_cut == AFTER_CUT_REPLAY || !transition_is_cut(state));
	bool said = w->map.state == SHADOW_FAILED && xstrsame(w->map.id, handover->id);

	if (!waits || !said || !agent->owns || w->store_lost)
		w->gives_up_ms = w->now_ms;
	else if (w->now_ms > w->gives_up_ms + OPEN_WITHIN_MS)
		bg_fail(w, "the candidate has failed, and the owner does not give up");
}

void bg_judge(struct bg_world *w)
{
	const struct handover *handover = &w->store.handover;
	const struct bg_job *owner = &w->sides[w->store.owner_side].job;
	enum transition_state state = transition_of(handover);

	gives_up(w);
	if (*w->ended_id && xstris(handover->id, w->ended_id) && w->sides[w->ended_side].job.alive)
		bg_fail(w, "side %d has ended in this transition, and runs again", w->ended_side);
	/* at rest everything passes: a job that is later restored from older state must not hold back */
	if ((state == TRANSITION_DONE || state == TRANSITION_NONE || state == TRANSITION_REFUSED) &&
	    owner->running && w->now_ms > owner->run_ms + OPEN_WITHIN_MS &&
	    w->sides[w->store.owner_side].pod.agent.owns &&
	    w->now_ms > w->sides[w->store.owner_side].pod.agent.born_ms + OPEN_WITHIN_MS &&
	    w->now_ms > w->changed_ms + OPEN_WITHIN_MS && !w->store_lost &&
	    w->now_ms > w->restored_ms + OPEN_WITHIN_MS && !is_word(owner, GATE_OPEN, w->splits))
		bg_fail(w, "no transition is under way, and the gates are not open");
}

/* ---- the end ---- */

void bg_judge_end(struct bg_world *w)
{
	enum transition_state state = transition_of(&w->store.handover);
	int64_t doubled = 0;

	if (state != TRANSITION_NONE && state != TRANSITION_DONE && state != TRANSITION_REFUSED)
		bg_fail(w, "the transition is %s, and does not end: %s",
			transition_state_name(state), w->store.handover.why);
	for (int s = 0; s < w->splits; s++)
		for (int r = 0; r < w->records; r++) {
			int count = w->count[s][r];

			if (w->is_late[s][r] || w->excused[s][r] || w->trampled)
				continue;
			if (!count && !w->given_up[s][r])
				bg_fail(w, "record %d of split %d (time %d) is lost", r, s,
					(int)(bg_time_of(w, s, r) - BG_TIME_ORIGIN));
			if (count > 1 && !w->again[s][r]) {
				doubled++;
				bg_say(w, "record %d of split %d (time %d) is doubled", r, s,
				       (int)(bg_time_of(w, s, r) - BG_TIME_ORIGIN));
			}
		}
	w->doubled += doubled;
	if (w->policy.gate != TRANSITION_GATE_NONE && doubled > w->reported)
		bg_fail(w, "%d records are written twice, and %d are reported", (int)doubled,
			(int)w->reported);
}
