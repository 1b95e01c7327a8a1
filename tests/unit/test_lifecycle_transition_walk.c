/*
 * The owner in transitions, by random walks: both jobs, their gates, the candidate, people and new agents do what they could
 * do. Whatever comes, the life cycle must not contradict itself (life.h checks each step), and:
 *
 *   - an order of a gate has a number of its own, which only grows in a launch, and comes after the write that it
 *     rests on, and never for a job that is being stopped;
 *   - the job is granted only when it has ended, and with a cut only behind it;
 *   - a job that starts again from before the cut does so when the candidate's has ended;
 *   - with a cut in force no savepoint is taken but that of the stop.
 *
 * WALKS and SEED may be set in the environment.
 */
#include <stdlib.h>

#include "transition_life.h"

#define STEPS 220

struct walk {
	struct life life; /* first */
	struct rng rng;
	/* the job here: its Flink lives, its gates have this watermark; what they have held back */
	bool alive, finished;
	int64_t watermark, withheld, checkpoint_id;
	struct gate_snapshot snapshots[GATE_SNAPSHOTS];
	size_t snapshot_count;
	/* the candidate */
	bool green_runs, green_lost;
	enum shadow_state shadow;
	int64_t green_watermark;
	char named[40];
	/* the orders of the launch that was told last */
	char told_id[JOB_ID_BYTES];
	struct gate_order order;
	int granted, replayed, aborted, done;
};

static bool odds(struct walk *w, int per_mille)
{
	return (int)rng_below(&w->rng, 1000) < per_mille;
}

/* ---- what is checked ---- */

static void check_order(struct walk *w)
{
	struct life *l = &w->life;
	const struct gate_order *now = &l->life.gate.order;

	if (!took(l, EFFECT_GATE))
		return;
	CHECK(!(l->life.operation.step != STEP_NONE &&
		l->life.journal.operation.kind == OPERATION_STOP));
	CHECK_INT(l->life.requested, ==, l->life.acknowledged);
	if (!strcmp(w->told_id, l->life.gate.told_id))
		CHECK(now->number > w->order.number ||
		      (now->number == w->order.number && now->word == w->order.word &&
		       now->toggle_unix_ms == w->order.toggle_unix_ms));
	snprintf(w->told_id, sizeof(w->told_id), "%s", l->life.gate.told_id);
	w->order = *now;
	l->count[EFFECT_GATE] = 0;
}

/* The newest snapshot that counts as committed, or the one of the stop. */
static bool is_behind(const struct walk *w, int64_t cut)
{
	for (size_t i = 0; i < w->snapshot_count; i++)
		if (w->snapshots[i].min_watermark_unix_ms >= cut)
			return true;
	return false;
}

static void check_grant(struct walk *w)
{
	struct life *l = &w->life;
	int64_t cut = transition_in(l)->toggle_unix_ms;

	if (transition_of(handover_of(l)) != TRANSITION_GRANTED)
		return;
	CHECK(w->finished || !w->alive);
	if (cut)
		CHECK(is_behind(w, cut));
	w->granted++;
}

static void check_launch(struct walk *w)
{
	struct life *l = &w->life;
	const struct launch *launch = journal_launch(&l->life.journal);

	if (!took(l, EFFECT_LAUNCH))
		return;
	if (launch->request_token && !strncmp(launch->request_token, "replay-", 7)) {
		CHECK(!w->green_runs);
		w->replayed++;
	}
	l->count[EFFECT_LAUNCH] = 0;
}

static void check_work(struct walk *w)
{
	struct life *l = &w->life;
	enum transition_state state = transition_of(handover_of(l));

	if (took(l, EFFECT_TRIGGER) && transition_is_cut(state))
		CHECK_INT(l->life.journal.operation.kind, ==, OPERATION_STOP);
	l->count[EFFECT_TRIGGER] = 0;
}

/* VERBOSE=1: what the life cycle says. */
static void show(struct walk *w)
{
	if (getenv("VERBOSE"))
		printf("# %d ms\n%s", (int)w->life.now_ms, w->life.notes);
	w->life.notes[0] = 0;
}

static void check(struct walk *w)
{
	show(w);
	check_order(w);
	check_launch(w);
	check_work(w);
}

/* ---- the job here ---- */

static void forget_counts(struct walk *w)
{
	w->snapshot_count = 0;
	w->withheld = 0;
}

static void take_snapshot(struct walk *w, int64_t id)
{
	memmove(&w->snapshots[1], &w->snapshots[0], (GATE_SNAPSHOTS - 1) * sizeof(w->snapshots[0]));
	w->snapshots[0] = (struct gate_snapshot){.checkpoint_id = id,
						 .confirmed = true,
						 .withheld_above = w->withheld,
						 .min_watermark_unix_ms = w->watermark};
	w->snapshot_count += w->snapshot_count < GATE_SNAPSHOTS;
}

static void gates_report(struct walk *w, bool ended)
{
	struct life *l = &w->life;
	struct gate_report report = acked(l, w->watermark);

	if (odds(w, 150))
		report.acked = 1;
	if (odds(w, 50))
		report.idle = 1;
	report.withheld_above = w->withheld;
	memcpy(report.snapshots, w->snapshots, sizeof(report.snapshots));
	report.snapshot_count = w->snapshot_count;
	report.known = !ended;
	reported_of(l, l->life.gate.told, ended, &report);
}

static void job_goes_on(struct walk *w)
{
	int64_t cut = transition_in(&w->life)->toggle_unix_ms;

	w->watermark += (int64_t)rng_below(&w->rng, 12000);
	if (w->order.word == GATE_ARM_BLUE && w->watermark >= cut)
		w->withheld += (int64_t)rng_below(&w->rng, 3);
	if (odds(w, 500))
		take_snapshot(w, ++w->checkpoint_id);
	gates_report(w, false);
}

/* Its tasks have failed, and it is where its last checkpoint was. */
static void job_falls_back(struct walk *w)
{
	struct view view = job_in(JOB_RESTARTING);

	if (w->snapshot_count) {
		w->watermark = w->snapshots[0].min_watermark_unix_ms;
		w->withheld = w->snapshots[0].withheld_above;
	}
	viewed(&w->life, view);
	gates_report(w, false);
}

static void job_shown(struct walk *w)
{
	struct life *l = &w->life;
	const struct launch *launch = journal_launch(&l->life.journal);
	struct view view = job_in(w->finished ? JOB_FINISHED : JOB_RUNNING);

	if (launch->restore_path) {
		view.restored = true;
		view.restored_path = launch->restore_path;
		view.restored_id = launch->restore_checkpoint_id;
	}
	if (w->snapshot_count) {
		view.completed_id = w->snapshots[0].checkpoint_id;
		view.completed_path = CHK(1);
	}
	viewed(l, view);
}

static void flink_ends(struct walk *w)
{
	if (w->life.life.launch_step != LAUNCH_LIVE)
		return;
	w->alive = false;
	exited(&w->life, w->finished ? EXITED(0) : KILLED(9));
}

static void answer_operation(struct walk *w)
{
	struct life *l = &w->life;
	bool stop = l->life.journal.operation.kind == OPERATION_STOP;
	cleanup_free char *path = NULL;

	if (l->life.operation.step == STEP_INSPECTING && l->life.stop_location) {
		path = xstrdup(l->life.stop_location);
		inspected_as(l, path, w->checkpoint_id);
		return;
	}
	if (l->life.operation.step != STEP_TRIGGERING && l->life.operation.step != STEP_POLLING &&
	    l->life.operation.step != STEP_WRITING)
		return;
	if (!l->life.operation.accepted_ms) {
		operation(l, STATUS_ACCEPTED, NULL, NULL);
		return;
	}
	if (odds(w, 200)) {
		operation(l, STATUS_FAILED, NULL, "a task has declined");
		return;
	}
	take_snapshot(w, ++w->checkpoint_id);
	w->finished |= stop;
	path = xasprintf("file:/sp/savepoint-%d", (int)w->checkpoint_id);
	if (stop)
		gates_report(w, true);
	operation(l, STATUS_COMPLETED, path, NULL);
}

static void observe_storage(struct walk *w)
{
	struct life *l = &w->life;
	const struct restore_request *restore = &l->life.journal.intent.restore;
	bool request = restore->kind == RESTORE_PATH && restore->token &&
		       !journal_is_consumed(&l->life.journal, restore->token);
	cleanup_free char *path = request ? xstrdup(restore->path) : xstrdup(CHK(1));
	cleanup_free char *token = request ? xstrdup(restore->token) : NULL;

	if (!l->life.observing)
		return;
	if (l->life.operation.step == STEP_SETTLING && odds(w, 400))
		observed_settled(l, DECISION_HOLD, SETTLEMENT_FAILED, NULL);
	else if (l->life.operation.step == STEP_SETTLING)
		observed_settled(l, DECISION_START_FROM, SETTLEMENT_MADE, SAVEPOINT_1);
	else
		observed(l, DECISION_START_FROM, path, 1, token);
}

static void launch_goes_on(struct walk *w)
{
	struct life *l = &w->life;

	if (l->life.launch_step != LAUNCH_STARTING)
		return;
	started(l);
	w->alive = true;
	w->finished = false;
	if (!w->snapshot_count)
		forget_counts(w);
	gates_report(w, false);
}

/* ---- the candidate ---- */

static void candidate_acts(struct walk *w)
{
	struct life *l = &w->life;
	enum transition_state state = transition_of(handover_of(l));
	const char *id = handover_of(l)->id ? handover_of(l)->id : "";

	if (strcmp(w->named, id) != 0) {
		snprintf(w->named, sizeof(w->named), "%s", id);
		w->shadow = SHADOW_PREPARED;
		w->green_runs = false;
	}
	if (state == TRANSITION_ABORTING && transition_in(l)->opened && odds(w, 600)) {
		w->green_runs = false;
		w->shadow = SHADOW_WITHDRAWN;
	} else if (state == TRANSITION_SEEDED && !w->green_runs && odds(w, 600)) {
		w->green_runs = true;
		w->shadow = SHADOW_RUNNING;
		w->green_watermark = T0;
	} else if (w->green_runs && odds(w, 10)) {
		w->shadow = SHADOW_FAILED;
	}
	if (w->green_runs)
		w->green_watermark = w->watermark - (int64_t)rng_below(&w->rng, 9000);
}

static void candidate_tells(struct walk *w)
{
	struct life *l = &w->life;
	struct gate_report report = green(l, w->green_watermark);
	struct candidate_shadow shadow = {.transition = w->named,
					  .state = w->shadow,
					  .ended = !w->green_runs && w->shadow == SHADOW_WITHDRAWN};

	candidate_acts(w);
	if (w->green_lost)
		return;
	shadow.transition = *w->named ? w->named : NULL;
	shadow.state = w->shadow;
	shadow.ended = !w->green_runs && w->shadow == SHADOW_WITHDRAWN;
	if (w->green_runs) {
		if (odds(w, 60) && report.order.word == GATE_ARM_GREEN) {
			report.acked--;
			report.refused = 1;
		}
		shadow.gate = report;
	}
	shadows_as(l, &new_pod, CANDIDATE_PREPARED, &shadow, !w->green_runs && odds(w, 300));
}

/* ---- people, and agents ---- */

static void person(struct walk *w)
{
	static int nonce;
	struct life *l = &w->life;
	cleanup_free char *text = xasprintf("n%d", ++nonce);
	struct event e = {.type = EVENT_CONTROL};

	switch (rng_below(&w->rng, 5)) {
	case 0:
		e.control.fields = CONTROL_ABORT;
		e.control.abort_nonce = text;
		step(l, &e);
		break;
	case 1:
		e.control.fields = CONTROL_PROMOTE;
		e.control.promote_nonce = text;
		step(l, &e);
		break;
	case 2:
		desire(l, DESIRED_SUSPENDED);
		break;
	case 3:
		ask_savepoint(l, text);
		break;
	default:
		control(l, CONTROL_STATE | CONTROL_NEW_START,
			(struct intent){.state = DESIRED_RUNNING});
		break;
	}
}

static void new_agent(struct walk *w)
{
	struct life *l = &w->life;
	struct event e = {.type = EVENT_HELLO, .hello.claim = CLAIM_OWN};
	char job[JOB_ID_BYTES];
	bool started = l->life.launch_step == LAUNCH_LIVE;

	snprintf(job, sizeof(job), "%s", job_of(l));
	if (odds(w, 500))
		write_lands(l);
	restart_agent(l);
	if (started && w->alive && !strcmp(job, job_of(l)))
		e.hello.running = job;
	else if (started)
		w->alive = false;
	step(l, &e);
	w->told_id[0] = 0; /* the same once more */
}

/* Writes of the journal take their time now and then. */
static void writes_land(struct walk *w)
{
	struct life *l = &w->life;

	if (l->life.requested == l->life.acknowledged)
		l->hold_writes = odds(w, 300);
	else if (odds(w, 600))
		written(l);
}

static void one_step(struct walk *w)
{
	struct life *l = &w->life;

	writes_land(w);
	check(w);
	observe_storage(w);
	check(w);
	launch_goes_on(w);
	check(w);
	answer_operation(w);
	check(w);
	if (l->life.launch_step == LAUNCH_LIVE) {
		if (l->life.end_wanted && odds(w, 500))
			flink_ends(w);
		else if (odds(w, 700))
			job_shown(w);
		if (!w->finished && w->alive && odds(w, 600))
			job_goes_on(w);
		if (!w->finished && w->alive && odds(w, 20))
			job_falls_back(w);
		if (odds(w, 8))
			flink_ends(w);
	}
	check(w);
	candidate_tells(w);
	check(w);
	if (odds(w, 4))
		w->green_lost = !w->green_lost;
	if (odds(w, 10))
		person(w);
	check(w);
	if (!l->life.handover.giving && odds(w, 15)) /* of who has granted it, it is no owner */
		new_agent(w);
	check(w);
	pass(l, (int64_t)rng_below(&w->rng, odds(w, 100) ? 20000 : 2500));
	check(w);
}

static void walk(uint64_t seed, int *ret_granted, int *ret_replayed)
{
	struct walk w = {.watermark = T0 - 20000, .checkpoint_id = 1};
	struct life *l = &w.life;

	rng_seed(&w.rng, seed);
	gated_begin(l);
	l->config.handover.blue_green.deadline_ms = 300000;
	l->config.handover.blue_green.policy.after_cut =
		odds(&w, 300) ? AFTER_CUT_FORWARD : AFTER_CUT_REPLAY;
	w.alive = true;
	for (int i = 0; i < STEPS && !l->life.handover.giving; i++)
		one_step(&w);
	check_grant(&w);
	*ret_granted += w.granted;
	*ret_replayed += w.replayed;
	life_release(l);
}

TEST(whatever_comes_the_owner_keeps_its_promises)
{
	const char *walks_text = getenv("WALKS"), *seed_text = getenv("SEED");
	int walks = walks_text ? atoi(walks_text) : 400;
	uint64_t first = seed_text ? strtoull(seed_text, NULL, 10) : 1;
	int granted = 0, replayed = 0;

	for (int i = 0; i < walks; i++) {
		walk(first + (uint64_t)i, &granted, &replayed);
		if (walks == 1)
			tap_note("seed %d", (int)first);
	}
	tap_note("%d walks, %d granted, %d replayed", walks, granted, replayed);
	CHECK(walks < 100 || granted * 10 > walks);
	CHECK(walks < 100 || replayed > 0);
}
