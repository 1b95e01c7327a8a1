/*
 * What an agent does with gates of FLIP-504 (agent/run/handover/flip_part.c): one look at a time, first at Flink, then at the
 * ConfigMap, which is made to say what follows from the journal by comparison with what was read. What it says is known when
 * the answer has come; the write on its way may land without its agent.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "tests/sim/bluegreen.h"

#define LOOK_MS   1000
#define REST_MS   30000
#define AGAIN_MS  2000
#define ROUNDS    8
#define CHOSEN_MS 2000
#define LATE_MS   5000

static struct bg_agent *agent_of(struct bg_world *w, int side)
{
	return &w->sides[side].pod.agent;
}

/* ---- what the ConfigMap is to say ---- */

static bool candidate_has_ended(const struct bg_world *w, int side)
{
	const struct bg_agent *agent = &w->sides[side].pod.agent;
	const struct bg_record *seen = &agent->seen;
	bool mine = xstrsame(seen->id, agent->journal.handover.id);

	return bg_lock_is_free(w, !side, agent->born_ms) ||
	       (mine && seen->state == SHADOW_WITHDRAWN && !seen->jvm);
}

static bool same_aim(const struct bg_aim *a, const struct bg_aim *b)
{
	return a->writes == b->writes && a->state == b->state && !strcmp(a->id, b->id) &&
	       flip_same_keys(&a->keys, &b->keys) && a->cut_recorded == b->cut_recorded;
}

/* While the journal is being written the last one counts. */
static void aim(struct bg_world *w, int side)
{
	struct bg_agent *agent = agent_of(w, side);
	const struct handover *handover = &agent->journal.handover;
	enum transition_state state = transition_of(handover);
	bool on = transition_is_under_way(state);
	struct bg_aim now = {0};

	if (agent->writing)
		return;
	if (agent->owns) {
		now = (struct bg_aim){.writes = true,
				      .keys = flip_keys(handover, (enum side)side,
							candidate_has_ended(w, side),
							w->policy.lead_ms),
				      .state = state,
				      .cut_recorded = on && handover->transition.toggle_unix_ms};
		snprintf(now.id, sizeof(now.id), "%s", on ? handover->id : "");
	}
	if (same_aim(&now, &agent->flip.aim))
		return;
	agent->flip.aim = now;
	agent->flip.confirmed = false;
	agent->flip.look.next_ms = w->now_ms;
}

/* ---- a look ---- */

static int64_t step_ms(struct bg_world *w)
{
	return w->now_ms + 20 + bg_below(w, bg_chance(w, 20) ? 4000 : 200);
}

static void begins(struct bg_world *w, int side)
{
	struct bg_agent *agent = agent_of(w, side);
	struct bg_flip *flip = &agent->flip;
	const struct bg_job *job = &w->sides[side].job;
	const char *id = agent->journal.handover.id;
	bool shadow = !agent->owns && *w->sides[side].seeded;

	if (!flip->aim.writes && !shadow)
		return;
	flip->look = (struct bg_look){.step = BG_LOOK_FLINK,
				      .ms = step_ms(w),
				      .begun_ms = w->now_ms,
				      .aim = flip->aim,
				      .at_unix_ms = BG_TIME_ORIGIN + w->now_ms +
						    w->sides[side].pod.clock_ms};
	if (job->alive && (shadow || *flip->aim.id))
		flip->look.launch = job->launch;
	snprintf(flip->look.id, sizeof(flip->look.id), "%s", shadow && id ? id : flip->aim.id);
}

static size_t checkpoints(const struct bg_world *w, int side,
			  struct flip_checkpoint list[FLIP_CHECKPOINTS])
{
	const struct bg_pod *pod = &w->sides[side].pod;
	size_t count = 0;

	for (int i = w->snap_count - 1; i >= 0 && count < FLIP_CHECKPOINTS; i--) {
		const struct bg_snap *snap = &w->snaps[i];

		if (snap->side != side || snap->launch != w->sides[side].job.launch)
			continue;
		list[count++] = (struct flip_checkpoint){
			.id = snap->id,
			.trigger_unix_ms = BG_TIME_ORIGIN + snap->begun_ms + pod->clock_ms,
			.completed = snap->complete,
			.discarded = snap->complete && snap->deleted};
	}
	return count;
}

static void tell_report(struct bg_world *w, int side, bool cut_seen)
{
	struct bg_agent *agent = agent_of(w, side);
	const struct bg_look *look = &agent->flip.look;
	struct flip_checkpoint list[FLIP_CHECKPOINTS];
	char launch[JOB_ID_BYTES];
	struct flip_look seen = {.at_unix_ms = look->at_unix_ms,
				 .start_unix_ms = BG_TIME_ORIGIN + look->shown.start_ms +
						  w->sides[side].pod.clock_ms,
				 .subtasks = w->splits,
				 .running = look->shown.running,
				 .watermarks = look->shown.watermarks,
				 .watermark_count = (size_t)w->splits,
				 .checkpoints = list,
				 .checkpoint_count = checkpoints(w, side, list),
				 .cut_seen = cut_seen};

	snprintf(launch, sizeof(launch), "%d", look->launch);
	flip_track_add(&agent->flip.track, launch, &seen, &agent->report);
	memcpy(agent->flip.report_id, look->id, sizeof(look->id));
}

static int64_t seen_there(const struct bg_agent *agent)
{
	const struct bg_record *seen = &agent->seen;
	bool mine = xstrsame(seen->id, agent->journal.handover.id);

	return mine && seen->gate.known ? seen->gate.max_seen_unix_ms : GATE_NO_TIME;
}

/* Not while a job has yet to show how far it is. */
static void judge(struct bg_agent *agent, int64_t toggle)
{
	struct bg_flip *flip = &agent->flip;
	int64_t here = agent->report.known ? agent->report.max_seen_unix_ms : GATE_NO_TIME;
	int64_t there = seen_there(agent);

	flip->past = toggle && (here >= toggle || there >= toggle);
	if (flip->past || (here != GATE_NO_TIME && there != GATE_NO_TIME && agent->seen_ms &&
			   flip->beat != agent->seen.beat))
		flip->judged = true;
}

static void tell_map(struct bg_agent *agent, const struct flip_values *values, int64_t now_ms,
		     int splits)
{
	struct bg_flip *flip = &agent->flip;
	const struct bg_look *look = &flip->look;
	int64_t toggle = flip_toggle(values);
	enum transition_state known =
		flip_is_written(&look->aim.keys, values) ? look->aim.state : TRANSITION_NONE;
	bool anew = flip->toggle != toggle || strcmp(flip->known_id, look->aim.id) != 0;

	if (anew) {
		flip->since_ms = now_ms;
		flip->beat = agent->seen.beat;
		flip->judged = flip->past = false;
	}
	if (anew || flip->known_state != known)
		flip->written_ms = now_ms;
	flip->same_ms = now_ms;
	if (!flip->judged && look->flink_ok)
		judge(agent, toggle);
	flip->toggle = toggle;
	memcpy(flip->known_id, look->aim.id, sizeof(flip->known_id));
	flip->known_state = known;
	flip->gate = (struct gate_keys_shown){.stage = flip_stage(values)};
	if (!look->flink_ok)
		return;
	flip->gate.subtasks = splits;
	flip->gate.behind =
		toggle ? flip_behind(look->shown.watermarks, (size_t)splits, toggle) : 0;
	flip->gate.gauges = look->shown.gauges;
	flip->gate.gauges_over = look->shown.over;
}

static void ends(struct bg_world *w, int side)
{
	struct bg_agent *agent = agent_of(w, side);
	struct bg_flip *flip = &agent->flip;
	struct bg_look *look = &flip->look;
	struct flip_values values = bg_flip_values(&look->map);
	bool cut_seen = look->aim.cut_recorded || !look->map_ok || flip_toggle(&values);

	look->step = BG_LOOK_NONE;
	look->next_ms = w->now_ms + (!look->map_ok && look->aim.writes ? AGAIN_MS
				     : *look->id                       ? LOOK_MS
								       : REST_MS);
	flip->looked_ms = look->begun_ms;
	flip->confirmed = look->aim.writes && look->map_ok && same_aim(&look->aim, &flip->aim) &&
			  flip_is_written(&flip->aim.keys, &values);
	if (look->flink_ok)
		tell_report(w, side, cut_seen);
	if (look->aim.writes && look->map_ok)
		tell_map(agent, &values, w->now_ms, w->splits);
}

static void shows_flink(struct bg_world *w, int side)
{
	struct bg_look *look = &agent_of(w, side)->flip.look;
	const struct bg_job *job = &w->sides[side].job;

	look->flink_ok =
		look->launch && job->alive && job->launch == look->launch && !bg_chance(w, 30);
	if (look->flink_ok) {
		look->shown = job->shown;
		/* the graph says at once that they do not run */
		if (!job->running)
			look->shown.running = 0;
	}
	if (!look->aim.writes) {
		ends(w, side);
		return;
	}
	look->step = BG_LOOK_READ;
	look->ms = step_ms(w);
}

static size_t changes_of(const struct bg_look *look, struct flip_change list[FLIP_KEYS])
{
	struct flip_values values = bg_flip_values(&look->map);

	return flip_changes(&look->aim.keys, &values, list);
}

static void reads(struct bg_world *w, int side)
{
	struct bg_look *look = &agent_of(w, side)->flip.look;
	struct flip_change list[FLIP_KEYS];

	look->map = w->flip;
	look->map_ok = !bg_chance(w, 20);
	if (!look->map_ok || !changes_of(look, list)) {
		ends(w, side);
		return;
	}
	look->step = BG_LOOK_WRITE;
	look->ms = step_ms(w);
}

/* False: another one was faster. */
static bool lands(struct bg_world *w, int side)
{
	struct bg_look *look = &agent_of(w, side)->flip.look;
	struct flip_change list[FLIP_KEYS];
	size_t count = changes_of(look, list);

	if (look->map.version != w->flip.version)
		return false;
	for (size_t i = 0; i < count; i++)
		snprintf(w->flip.text[list[i].key], sizeof(w->flip.text[0]), "%s", list[i].value);
	w->flip.by_drey = ++w->flip.version;
	bg_say(w, "the agent of side %d: %s, first %s, %s, cut %s", side, w->flip.text[FLIP_ACTIVE],
	       w->flip.text[FLIP_FIRST], w->flip.text[FLIP_STAGE],
	       *w->flip.text[FLIP_WATERMARK_TOGGLE] ? w->flip.text[FLIP_WATERMARK_TOGGLE] : "-");
	return true;
}

static void puts_keys(struct bg_world *w, int side)
{
	struct bg_look *look = &agent_of(w, side)->flip.look;

	if (lands(w, side)) {
		look->map = w->flip;
		look->map_ok = !bg_chance(w, 20); /* the answer is lost */
		ends(w, side);
	} else if (++look->rounds == ROUNDS) {
		look->map_ok = false;
		ends(w, side);
	} else {
		look->step = BG_LOOK_READ;
		look->ms = step_ms(w);
	}
}

void bg_look_tick(struct bg_world *w, int side)
{
	struct bg_look *look = &agent_of(w, side)->flip.look;

	if (!bg_has_flip(w))
		return;
	aim(w, side);
	/* the watch */
	if (look->step == BG_LOOK_NONE && look->map.version != w->flip.version && bg_odds(w, 200))
		look->next_ms = w->now_ms;
	if (look->step == BG_LOOK_NONE) {
		if (w->now_ms >= look->next_ms)
			begins(w, side);
		return;
	}
	if (w->now_ms < look->ms)
		return;
	if (look->step == BG_LOOK_FLINK)
		shows_flink(w, side);
	else if (look->step == BG_LOOK_READ)
		reads(w, side);
	else
		puts_keys(w, side);
}

void bg_look_dies(struct bg_world *w, int side)
{
	if (bg_has_flip(w) && agent_of(w, side)->flip.look.step == BG_LOOK_WRITE && bg_odds(w, 500))
		lands(w, side);
}

/* ---- what follows from it ---- */

bool bg_look_lets_start(struct bg_world *w, int side)
{
	struct bg_flip *flip = &agent_of(w, side)->flip;
	struct flip_values values = bg_flip_values(&w->flip);

	if (!bg_has_flip(w))
		return true;
	if (!agent_of(w, side)->owns)
		return flip_shuts(&values, (enum side)side);
	if (!flip->asked_ms) {
		flip->asked_ms = w->now_ms;
		flip->look.next_ms = w->now_ms;
	}
	if (!flip->confirmed || flip->looked_ms < flip->asked_ms)
		return false;
	flip->asked_ms = 0;
	return true;
}

static int64_t chosen(const struct bg_agent *agent)
{
	const struct bg_flip *flip = &agent->flip;

	if (transition_of(&agent->journal.handover) == TRANSITION_ABORTING ||
	    (flip->judged && flip->same_ms >= flip->since_ms + CHOSEN_MS))
		return flip->toggle;
	return 0;
}

void bg_look_know(struct bg_world *w, int side, struct transition_facts *facts)
{
	struct bg_agent *agent = agent_of(w, side);
	const struct bg_flip *flip = &agent->flip;
	const struct handover *handover = &agent->journal.handover;
	int64_t toggle = handover->transition.toggle_unix_ms;

	if (!bg_has_flip(w) || !xstrsame(flip->known_id, handover->id))
		return;
	facts->chosen_unix_ms = chosen(agent);
	facts->chosen_past = flip->past;
	/* a cut may come late when it is given up */
	facts->keys_written = flip->known_state == transition_of(handover) &&
			      (flip->known_state != TRANSITION_ABORTING ||
			       flip->same_ms >= flip->written_ms + LATE_MS);
	facts->keys_crossed = toggle && flip->toggle == toggle && flip_has_crossed(&flip->gate);
}
