/*
 * The owner's agent, and the journal: facts in, moves out, as the life cycle will do it. What follows from
 * a state is done again until it is true, so that an agent that comes back goes on.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "tests/sim/bluegreen.h"

#define SILENT_MS     (30 * BG_SECOND)
#define STOP_AGAIN_MS (2 * BG_SECOND)
#define RELAUNCHES    6
#define LOOKS         3

void bg_journal_copy(struct bg_journal *to, const struct bg_journal *from)
{
	struct handover old = to->handover;

	*to = *from;
	record_copy(&handover_table, &from->handover, &to->handover);
	handover_release(&old);
}

static enum transition_state state_of(const struct bg_agent *agent)
{
	return transition_of(&agent->journal.handover);
}

/* ---- writes ---- */

static struct bg_journal *begin_write(struct bg_world *w, int side)
{
	struct bg_agent *agent = &w->sides[side].pod.agent;

	bg_journal_copy(&agent->next, &agent->journal);
	agent->next.sequence++;
	agent->next.writer_uid = w->sides[side].pod.uid;
	bg_writes(w, side);
	agent->writing = true;
	agent->landed = false;
	agent->land_ms = w->now_ms + 1 + bg_below(w, bg_chance(w, 50) ? 6000 : 400);
	agent->answer_ms = agent->land_ms + bg_below(w, bg_chance(w, 50) ? 4000 : 200);
	return &agent->next;
}

void bg_land(struct bg_world *w, int side)
{
	struct bg_agent *agent = &w->sides[side].pod.agent;
	struct bg_journal before = {0};

	if (!agent->writing || agent->landed || w->now_ms < agent->land_ms)
		return;
	agent->landed = true;
	if (w->store.sequence + 1 != agent->next.sequence)
		return;
	/* who only takes it over reads it right before; its owner makes it anew */
	if (w->store_lost && !agent->owns)
		return;
	bg_store_is_back(w);
	bg_journal_copy(&before, &w->store);
	bg_journal_copy(&w->store, &agent->next);
	bg_say(w, "journal %d by pod %d: %s, %s: %s", (int)w->store.sequence, w->store.writer_uid,
	       w->store.handover.id ? w->store.handover.id : "-",
	       transition_state_name(transition_of(&w->store.handover)),
	       w->store.handover.why ? w->store.handover.why : "-");
	bg_stored(w, &before, w->store.writer_uid);
	handover_release(&before.handover);
}

/* The answer has come, or was lost and the journal was read: what is stored is what counts. */
static void answered(struct bg_world *w, int side)
{
	struct bg_pod *pod = &w->sides[side].pod;
	struct bg_agent *agent = &pod->agent;
	enum transition_state before = state_of(agent);

	bg_land(w, side);
	if (!agent->landed || w->now_ms < agent->answer_ms)
		return;
	agent->writing = false;
	bg_journal_copy(&agent->journal, &w->store);
	/* the one that has taken it is another process: it knows nothing of the looks before */
	if (!agent->owns)
		agent->flip = (struct bg_flip){0};
	/* one that was granted it, and has not adopted it yet, does not */
	agent->owns = agent->journal.owner_side == side && agent->journal.owner_uid == pod->uid &&
		      state_of(agent) != TRANSITION_GRANTED;
	if (state_of(agent) != before) {
		agent->state_ms = w->now_ms;
		agent->settled_ms = 0;
		agent->stop_failures = 0;
		agent->gives_up = false;
	}
}

/* ---- what it knows ---- */

static void look(struct bg_world *w, int side)
{
	struct bg_agent *agent = &w->sides[side].pod.agent;
	const struct bg_job *job = &w->sides[side].job;

	if (bg_odds(w, 300)) {
		/* one that was only found may be of a pod that is gone */
		if (agent->seen.beat && agent->seen.beat != w->map.beat)
			agent->seen_ms = w->now_ms;
		agent->seen = w->map;
	}
	if (bg_has_flip(w)) { /* what it has counted stays */
		if (!xstrsame(agent->flip.report_id, agent->journal.handover.id))
			agent->report = gate_report_none;
		if (!job->alive)
			agent->report.running = 0;
	} else if (bg_odds(w, 400)) { /* of this launch; what it has counted stays */
		agent->report = job->report;
		agent->report.running = job->alive ? job->report.running : 0;
	}
	if (!agent->journal.trigger || agent->journal.work != WORK_RUNNING || !bg_odds(w, 400))
		return;
	if (job->op_trigger != agent->journal.trigger)
		return;
	agent->journal.work = job->op_state;
	agent->journal.made = job->op_snap;
	if (job->op_state != WORK_FAILED)
		return;
	agent->stop_again_ms = w->now_ms + STOP_AGAIN_MS;
	agent->stop_failures++;
}

/* The operation of the state has an end, also when its Flink has none. */
static void settle(struct bg_world *w, int side)
{
	struct bg_agent *agent = &w->sides[side].pod.agent;
	struct bg_journal *journal = &agent->journal;
	struct bg_job *job = &w->sides[side].job;

	if (journal->op == BG_OP_NONE || journal->work != WORK_RUNNING)
		return;
	if (job->running && job->op_trigger != journal->trigger)
		bg_post(w, side, journal->op, journal->trigger);
	/* of a job that finished there is no doubt; of one that died, its sinks may not know */
	else if (!job->alive && job->op_trigger == journal->trigger && !job->finished)
		journal->work = WORK_FAILED;
}

/* Each beat is one look; without gates the candidate says it itself. */
static bool has_caught_up(struct bg_world *w, struct bg_agent *agent)
{
	const struct bg_record *seen = &agent->seen;

	if (seen->state == SHADOW_CAUGHT_UP)
		return true;
	if (!gate_is_near(&agent->report, &seen->gate, w->caught_up_ms))
		agent->near = 0;
	else if (seen->beat != agent->near_beat)
		agent->near++;
	agent->near_beat = seen->beat;
	return agent->near >= LOOKS;
}

static bool is_fresh(const struct bg_world *w, const struct bg_agent *agent)
{
	return agent->seen_ms && w->now_ms - agent->seen_ms <= SILENT_MS;
}

static void fill_candidate(struct bg_world *w, int side, struct transition_facts *facts)
{
	struct bg_agent *agent = &w->sides[side].pod.agent;
	const struct handover *handover = &agent->journal.handover;
	const struct bg_record *seen = &agent->seen;
	static const struct gate_report none;
	char uid[16];
	bool named, mine;

	snprintf(uid, sizeof(uid), "u%d", seen->uid);
	named = party_is(&handover->to, uid);
	mine = named && xstrsame(seen->id, handover->id);
	if (!is_fresh(w, agent)) { /* nothing is known, or it is silent */
		facts->gone = w->now_ms - agent->born_ms > SILENT_MS;
		facts->ended = bg_lock_is_free(w, !side, agent->born_ms);
		facts->candidate_gate = &none;
		return;
	}
	facts->prepared = mine && seen->state == SHADOW_PREPARED;
	facts->shadowing = mine && seen->state == SHADOW_RUNNING;
	if (facts->shadowing || (mine && seen->state == SHADOW_CAUGHT_UP)) {
		facts->caught_up = has_caught_up(w, agent);
		facts->ahead = gate_is_ahead(&agent->report, &seen->gate, w->caught_up_ms);
	}
	facts->failed = mine && seen->state == SHADOW_FAILED;
	facts->gone = !named || (mine && seen->state == SHADOW_WITHDRAWN);
	facts->ended = (mine && seen->state == SHADOW_WITHDRAWN && !seen->jvm) ||
		       bg_lock_is_free(w, !side, agent->born_ms);
	facts->follows = !named && handover->to.template &&
			 seen->generation == atoi(handover->to.template + 1);
	facts->candidate_gate = &seen->gate;
}

static bool is_late(const struct bg_world *w, const struct bg_agent *agent)
{
	int64_t for_ms = w->now_ms - agent->state_ms;
	enum transition_state state = state_of(agent);

	if (state == TRANSITION_OFFERED)
		return for_ms > w->prepare_ms;
	if (state == TRANSITION_ARMING)
		return for_ms > w->arm_ms;
	return state != TRANSITION_ABORTING && for_ms > w->deadline_ms;
}

/* The gates' counts of the savepoint of the stop. */
static bool stopped_behind(const struct bg_agent *agent, const struct transition_facts *facts)
{
	const struct gate_snapshot *made;

	if (facts->work != WORK_DONE)
		return false;
	made = gate_snapshot_of(&agent->report, facts->made.checkpoint_id);
	return made &&
	       made->min_watermark_unix_ms >= agent->journal.handover.transition.toggle_unix_ms;
}

static void fill_own(struct bg_world *w, int side, struct transition_facts *facts)
{
	struct bg_agent *agent = &w->sides[side].pod.agent;
	const struct bg_job *job = &w->sides[side].job;
	const struct bg_journal *journal = &agent->journal;
	const struct transition *transition = &journal->handover.transition;
	const struct gate_snapshot *clean = gate_clean(&agent->report);
	static char made[16], from[16];
	bool behind =
		gate_is_behind(&agent->report, transition->toggle_unix_ms, w->policy.idle_passes);

	facts->runs = job->running;
	facts->ended_badly = !job->alive && !job->finished &&
			     (agent->relaunches > RELAUNCHES || agent->gives_up);
	facts->stop_failures = agent->stop_failures;
	facts->work = journal->op == BG_OP_NONE ? WORK_NONE : journal->work;
	/* it is tried again after a while, unless its Flink has ended */
	if (facts->work == WORK_FAILED && w->now_ms < agent->stop_again_ms &&
	    journal->op == BG_OP_STOP && job->alive)
		facts->work = WORK_RUNNING;
	if (facts->work == WORK_DONE) {
		snprintf(made, sizeof(made), "%d", journal->made);
		facts->made = (struct transition_point){made, w->snaps[journal->made].id};
	}
	facts->made_behind = stopped_behind(agent, facts);
	/* its report may come a moment later */
	if (facts->work != WORK_DONE)
		agent->done_ms = w->now_ms;
	else if (journal->op == BG_OP_STOP && !facts->made_behind && !bg_has_flip(w) &&
		 w->now_ms < agent->done_ms + 3 * BG_SECOND)
		facts->work = WORK_RUNNING;
	facts->gate = &agent->report;
	/* id and place in the list differ by one */
	if (clean && !w->snaps[clean->checkpoint_id - 1].deleted) {
		snprintf(from, sizeof(from), "%d", (int)clean->checkpoint_id - 1);
		facts->clean = (struct transition_point){from, clean->checkpoint_id};
	}
	agent->settled_ms = !behind ? 0 : agent->settled_ms ? agent->settled_ms : w->now_ms;
	facts->settled = behind && w->now_ms - agent->settled_ms >= w->settle_ms;
	facts->lives = job->alive;
	facts->replaying = transition->id && !strcmp(job->replays, transition->id);
	facts->replay_missing =
		transition->replay.path && w->snaps[atoi(transition->replay.path)].deleted;
	facts->late = is_late(w, agent);
	facts->parks = w->parks;
	facts->brake = w->brake;
	facts->promoted = w->promoted;
	facts->abort = w->abort;
	facts->replaced = journal->handover.to.template &&
			  w->wanted_generation != atoi(journal->handover.to.template + 1);
}

/* ---- what it does ---- */

static void set_party(struct party *party, int side, int uid, int generation)
{
	party_release(party);
	party->pod = xasprintf("p%d", uid);
	party->uid = xasprintf("u%d", uid);
	party->template = xasprintf("g%d/c/h", generation);
	party->side = (enum side)side;
}

static void offer(struct bg_world *w, int side)
{
	struct bg_agent *agent = &w->sides[side].pod.agent;
	const struct bg_record *seen = &agent->seen;
	struct bg_journal *next;
	struct handover *handover;
	bool again;

	if (!is_fresh(w, agent) || seen->generation != w->wanted_generation ||
	    seen->generation == agent->journal.owner_generation || w->brake || w->parks ||
	    seen->state == SHADOW_WITHDRAWN || seen->jvm ||
	    seen->generation == agent->journal.refused_generation || !w->sides[side].job.running ||
	    w->calm_ms < w->now_ms)
		return;
	next = begin_write(w, side);
	handover = &next->handover;
	again = handover->to.template && atoi(handover->to.template + 1) == seen->generation &&
		handover->state != HANDOVER_DONE;
	handover_renew(handover, again);
	handover->tries = again ? agent->journal.handover.tries : 0;
	handover->id = xasprintf("h%d", (int)next->sequence);
	set_party(&handover->from, side, w->sides[side].pod.uid, next->owner_generation);
	set_party(&handover->to, !side, seen->uid, seen->generation);
	transition_begin(handover, next->sequence);
	handover->transition.output_side = (enum side) !side;
	next->op = BG_OP_NONE;
	next->trigger = 0;
}

static void begin_operation(struct bg_world *w, struct bg_journal *next, enum bg_op op)
{
	next->op = op;
	next->trigger = (int64_t)(rng_next(&w->rng) >> 20) + 1;
	next->work = WORK_RUNNING;
	next->made = -1;
}

static void write_move(struct bg_world *w, int side, const struct transition_move *move,
		       const struct transition_facts *facts)
{
	struct bg_agent *agent = &w->sides[side].pod.agent;
	struct bg_journal *next = begin_write(w, side);
	struct handover *handover = &next->handover;

	transition_apply(handover, move, facts, &w->policy);
	if (move->act == ACT_SAVE)
		begin_operation(w, next, BG_OP_SAVE);
	else if (move->act == ACT_STOP)
		begin_operation(w, next, BG_OP_STOP);
	else if (move->act == ACT_GO_ON ||
		 handover->transition.state != agent->journal.handover.transition.state)
		next->op = BG_OP_NONE;
	if (move->act == ACT_NAME)
		set_party(&handover->to, !side, agent->seen.uid, agent->seen.generation);
	if (handover->transition.state == TRANSITION_GRANTED) {
		next->owner_side = !side;
		next->owner_uid = atoi(handover->to.uid + 1);
		next->owner_generation = atoi(handover->to.template + 1);
	}
	if (handover->state == HANDOVER_REFUSED)
		next->refused_generation = atoi(handover->to.template + 1);
}

static void transit(struct bg_world *w, int side)
{
	struct bg_agent *agent = &w->sides[side].pod.agent;
	struct transition_facts facts = {0};
	struct transition_move move;
	struct bg_job *job = &w->sides[side].job;

	fill_candidate(w, side, &facts);
	fill_own(w, side, &facts);
	bg_look_know(w, side, &facts);
	if (!transition_owner(&agent->journal.handover, &facts, &w->policy, &move))
		return;
	if (move.act == ACT_END) {
		agent->gives_up = true;
		bg_kills(w, side);
		bg_job_end(w, side, "it is ended without a savepoint");
		return;
	}
	if (move.act == ACT_RESTART) { /* nothing is written: it is done until it is true */
		if (!bg_look_lets_start(w, side))
			return;
		if (w->sides[!side].job.alive)
			bg_fail(w, "the job starts again while the candidate's writes");
		w->replayed++;
		agent->gives_up = false;
		bg_job_start(w, side, atoi(agent->journal.handover.transition.replay.path), false);
		snprintf(job->replays, sizeof(job->replays), "%s",
			 agent->journal.handover.transition.id);
		return;
	}
	write_move(w, side, &move, &facts);
}

/* Its Flink runs, unless the job has ended for the candidate. */
static void keep_running(struct bg_world *w, int side)
{
	struct bg_agent *agent = &w->sides[side].pod.agent;
	struct bg_job *job = &w->sides[side].job;
	enum transition_state state = state_of(agent);
	const struct transition *transition = &agent->journal.handover.transition;
	bool granted = state == TRANSITION_ENDING && agent->journal.op == BG_OP_STOP &&
		       (agent->journal.work == WORK_DONE || job->finished);

	if (job->running && w->now_ms > job->run_ms + 30 * BG_SECOND)
		agent->relaunches = 0;
	if (job->alive || granted || agent->gives_up || agent->relaunches > RELAUNCHES ||
	    (state == TRANSITION_ABORTING && transition->replay.path && !transition->replayed) ||
	    w->now_ms < job->ended_ms + 500 + 1000 * agent->relaunches)
		return;
	if (!bg_start_is_due(w, side) || !bg_look_lets_start(w, side))
		return;
	agent->relaunches++;
	bg_job_start(w, side, bg_newest(w, side) >= 0 ? bg_newest(w, side) : job->from, false);
}

static void give_order(struct bg_world *w, int side)
{
	const struct bg_agent *agent = &w->sides[side].pod.agent;
	const struct handover *handover = &agent->journal.handover;
	struct bg_job *job = &w->sides[side].job;
	bool was_candidate = handover->to.side == (enum side)side && handover->id &&
			     agent->journal.owner_side == side;

	job->file = was_candidate ? transition_candidate_order(handover, &w->policy)
				  : transition_owner_order(handover, &w->policy);
	job->has_file = true;
}

/* It has taken the job: when is the cut forgotten? */
static void complete(struct bg_world *w, int side)
{
	struct bg_agent *agent = &w->sides[side].pod.agent;
	const struct handover *handover = &agent->journal.handover;
	const struct transition_move done = {.state = TRANSITION_DONE, .why = "it runs here"};
	struct gate_order finish = transition_candidate_order(handover, &w->policy);
	const struct gate_report *report = &agent->report;
	struct transition_facts facts = {.gate = report, .candidate_gate = report};

	if (agent->finish_id < 0 &&
	    (bg_has_flip(w) ? report->known : gate_has_taken(report, &finish)))
		agent->finish_id = report->snapshot_count ? report->snapshots[0].checkpoint_id : 0;
	if (transition_is_done(handover, report, bg_newest(w, side) >= 0, agent->finish_id))
		write_move(w, side, &done, &facts);
}

void bg_owner_tick(struct bg_world *w, int side)
{
	struct bg_agent *agent = &w->sides[side].pod.agent;
	enum transition_state state;

	if (agent->writing) {
		answered(w, side);
		return;
	}
	if (!agent->owns)
		return;
	look(w, side);
	give_order(w, side);
	settle(w, side);
	keep_running(w, side);
	if (!bg_odds(w, 500))
		return;
	state = state_of(agent);
	if (state == TRANSITION_TAKEN)
		complete(w, side);
	else if (state == TRANSITION_NONE || state == TRANSITION_DONE ||
		 state == TRANSITION_REFUSED)
		offer(w, side);
	else
		transit(w, side);
}

void bg_agent_dies(struct bg_world *w, int side, const char *why)
{
	struct bg_agent *agent = &w->sides[side].pod.agent;

	if (!agent->alive)
		return;
	bg_say(w, "side %d: the agent dies: %s", side, why);
	/* a write on its way may arrive, or not */
	if (agent->writing && !agent->landed && bg_odds(w, 500)) {
		agent->land_ms = w->now_ms;
		bg_land(w, side);
	}
	bg_look_dies(w, side);
	handover_release(&agent->journal.handover);
	handover_release(&agent->next.handover);
	*agent = (struct bg_agent){.back_ms = w->now_ms + 100 + bg_below(w, 3000),
				   .finish_id = -1,
				   .adopt_sequence = -1};
}
