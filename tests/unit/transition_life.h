/*
 * transition_life - the owner in a transition: "old" runs the job at blue, "new" beside it at green
 * (handover_life.h). The gates of both are played by the test.
 */
#ifndef DREY_TESTS_TRANSITION_LIFE_H
#define DREY_TESTS_TRANSITION_LIFE_H

#include "core/lifecycle/lifecycle.h"
#include "handover_life.h"

#define T0          INT64_C(1700000000000) /* event time that was seen when the seed is taken */
#define LEAD_MS     30000
#define SETTLE_MS   10000
#define DEADLINE_MS 1800000
#define SAVEPOINT_2 "file:/sp/savepoint-2"

static inline const struct transition *transition_in(struct life *l)
{
	return &handover_of(l)->transition;
}

static inline void blue_green_config(struct life *l, const struct party *me, const char *generation)
{
	surge_config(l, me, generation);
	l->config.handover.mode = HANDOVER_BLUE_GREEN;
	l->config.handover.blue_green = (struct blue_green){
		.policy = {.lead_ms = LEAD_MS, .tries = 2},
		.caught_up_ms = 10000,
		.settle_ms = SETTLE_MS,
		.deadline_ms = DEADLINE_MS,
	};
	l->config.id_space = "app";
	l->config.id_count = 200;
}

/* ---- what is reported */

/* Two subtasks that run, and have taken the order that they were told last. */
static inline struct gate_report acked(struct life *l, int64_t watermark_ms)
{
	return (struct gate_report){.known = true,
				    .order = l->life.gate.order,
				    .subtasks = 2,
				    .running = 2,
				    .acked = 2,
				    .min_watermark_unix_ms = watermark_ms,
				    .max_seen_unix_ms = watermark_ms + 1000};
}

static inline void add_snapshot(struct gate_report *report, int64_t id, int64_t watermark_ms)
{
	memmove(&report->snapshots[1], &report->snapshots[0],
		(GATE_SNAPSHOTS - 1) * sizeof(report->snapshots[0]));
	report->snapshots[0] = (struct gate_snapshot){.checkpoint_id = id,
						      .confirmed = true,
						      .min_watermark_unix_ms = watermark_ms,
						      .active_watermark_unix_ms = watermark_ms};
	report->snapshot_count++;
}

static inline void reported_of(struct life *l, const char *transition, bool ended,
			       const struct gate_report *report)
{
	cleanup_free char *id = xstrdup(transition);
	struct event e = {.type = EVENT_GATE,
			  .gate = {.launch_id = job_of(l), .transition = id, .ended = ended}};

	e.gate.report = *report;
	step(l, &e);
}

static inline void reported(struct life *l, const struct gate_report *report)
{
	reported_of(l, handover_of(l)->id, false, report);
}

/* The candidate's job; NULL: its gates have not reported. */
static inline void shadows_as(struct life *l, const struct party *who, enum candidate_state state,
			      const struct candidate_shadow *shadow, bool lock_is_free)
{
	static int64_t beat;
	struct event e = {.type = EVENT_CANDIDATE};

	e.candidate.present = true;
	e.candidate.party = *who;
	e.candidate.state = state;
	e.candidate.wanted = WANTED_YES;
	e.candidate.beat = 1000 + ++beat;
	e.candidate.lock_is_free = lock_is_free;
	e.candidate.shadow = *shadow;
	step(l, &e);
}

static inline void shadows(struct life *l, enum shadow_state state, const struct gate_report *gate)
{
	cleanup_free char *id = xstrdup(handover_of(l)->id);
	struct candidate_shadow shadow = {.transition = id, .state = state};

	if (gate)
		shadow.gate = *gate;
	shadows_as(l, &new_pod, CANDIDATE_PREPARED, &shadow, false);
}

static inline void candidate_ended(struct life *l)
{
	cleanup_free char *id = xstrdup(handover_of(l)->id);
	struct candidate_shadow shadow = {
		.transition = id, .state = SHADOW_WITHDRAWN, .ended = true};

	shadows_as(l, &new_pod, CANDIDATE_PREPARED, &shadow, false);
}

static inline struct gate_report green(struct life *l, int64_t watermark_ms)
{
	struct transition_policy policy = l->config.handover.blue_green.policy;
	struct gate_report report = acked(l, watermark_ms);

	report.order = transition_candidate_order(handover_of(l), &policy);
	return report;
}

#define CHECK_TRANSITION(l, state_)                                                                \
	CHECK_STR(transition_state_name(transition_of(handover_of(l))),                            \
		  transition_state_name(state_))

/* ---- ways to a state */

static inline void gated_begin(struct life *l)
{
	life_begin(l);
	blue_green_config(l, &old_pod, "g1");
	owns(l);
}

static inline void t_offered_begin(struct life *l)
{
	struct gate_report report;

	gated_begin(l);
	beats(l, CANDIDATE_PREPARING);
	forget(l);
	beats(l, CANDIDATE_PREPARING);
	CHECK_TRANSITION(l, TRANSITION_OFFERED);
	report = acked(l, T0 - 1000);
	reported(l, &report);
}

static inline void t_seeding_begin(struct life *l)
{
	t_offered_begin(l);
	shadows(l, SHADOW_PREPARED, NULL);
	CHECK_TRANSITION(l, TRANSITION_SEEDING);
}

static inline void t_seeded_begin(struct life *l)
{
	t_seeding_begin(l);
	stop_saved(l);
	CHECK_TRANSITION(l, TRANSITION_SEEDED);
}

static inline void t_shadow_begin(struct life *l)
{
	t_seeded_begin(l);
	shadows(l, SHADOW_RUNNING, NULL);
	CHECK_TRANSITION(l, TRANSITION_SHADOW);
}

/* All that was seen at the seed is committed. */
static inline void t_committed(struct life *l)
{
	struct gate_report report = acked(l, T0 + 5000);

	add_snapshot(&report, 60, T0 + 1000);
	reported(l, &report);
}

static inline void t_near(struct life *l)
{
	struct gate_report report = green(l, T0);

	for (int i = 0; i < 3; i++)
		shadows(l, SHADOW_RUNNING, &report);
}

static inline void t_arming_begin(struct life *l)
{
	t_shadow_begin(l);
	t_committed(l);
	t_near(l);
	CHECK_TRANSITION(l, TRANSITION_ARMING);
}

static inline void t_armed_begin(struct life *l)
{
	struct gate_report report;

	t_arming_begin(l);
	report = green(l, T0);
	shadows(l, SHADOW_RUNNING, &report);
	CHECK_TRANSITION(l, TRANSITION_ARMED);
}

/* The gates here go by the cut, with this watermark. */
static inline void t_here(struct life *l, int64_t watermark_ms, int64_t withheld)
{
	struct gate_report report = acked(l, watermark_ms);

	report.withheld_above = withheld;
	add_snapshot(&report, 60, T0 + 1000);
	reported(l, &report);
}

static inline void t_crossing_begin(struct life *l)
{
	t_armed_begin(l);
	t_here(l, T0 + 6000, 0);
	CHECK_TRANSITION(l, TRANSITION_CROSSING);
}

static inline void t_ending_begin(struct life *l)
{
	t_crossing_begin(l);
	forget(l);
	t_here(l, transition_in(l)->toggle_unix_ms, 3);
	shadows(l, SHADOW_RUNNING, NULL);
	pass(l, SETTLE_MS);
	CHECK_TRANSITION(l, TRANSITION_ENDING);
}

static inline void inspected_as(struct life *l, const char *path, int64_t id)
{
	struct event e = {.type = EVENT_INSPECTED,
			  .inspected = {.path = path,
					.readable = true,
					.complete = true,
					.checkpoint_id = id,
					.size_bytes = 1000,
					.file_count = 3}};

	step(l, &e);
}

/* The stop has succeeded with the savepoint 70, which its gates had at this watermark, or those with records at the
 * other one. */
static inline void t_stopped_idle(struct life *l, int64_t watermark_ms, int64_t active_ms)
{
	struct gate_report report;

	operation(l, STATUS_ACCEPTED, NULL, NULL);
	operation(l, STATUS_COMPLETED, SAVEPOINT_2, NULL);
	inspected_as(l, SAVEPOINT_2, 70);
	viewed(l, job_in(JOB_FINISHED));
	report = acked(l, watermark_ms);
	report.withheld_above = 3;
	add_snapshot(&report, 70, watermark_ms);
	report.snapshots[0].active_watermark_unix_ms = active_ms;
	reported_of(l, handover_of(l)->id, true, &report);
}

static inline void t_stopped(struct life *l, int64_t watermark_ms)
{
	t_stopped_idle(l, watermark_ms, watermark_ms);
}

/* Given up after the cut: here nothing is told yet. */
static inline void t_aborting_begin(struct life *l)
{
	t_crossing_begin(l);
	t_here(l, T0 + 8000, 5);
	step(l, &(struct event){.type = EVENT_CONTROL,
				.control = {.fields = CONTROL_ABORT, .abort_nonce = "a0"}});
	CHECK_TRANSITION(l, TRANSITION_ABORTING);
}

#endif
