/*
 * GATE_KEYS: the gates of FLIP-504 (core/handover/flip.h). The owner's ConfigMap says what follows from the journal;
 * what it says, and what Flink shows of the gates, are events. A candidate only looks at its own gates.
 *
 * One look at a time: first Flink, then the ConfigMap, so that what Flink shows is not newer than the cut.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log_seldom.h"
#include "base/mem.h"
#include "core/handover/flip_track.h"
#include "core/lifecycle/lifecycle_gate_keys.h"
#include "flink/checkpoints.h"
#include "flink/gate_watermarks.h"
#include "kube/configmap_watch.h"
#include "kube/kube_lane.h"
#include "run/driver_internal.h"
#include "run/handover/flip_map.h"
#include "run/part.h"

#define LOOK_MS          1000  /* in a transition */
#define REST_MS          30000 /* at rest: for what the watch has missed */
#define AGAIN_MS         2000  /* after an error */
#define WAITS_MS         500   /* a launch waits for another agent's write */
#define FLINK_TIMEOUT_MS 5000
#define PATIENCE_MS      500

/* What a look is about. */
struct flip_aim {
	bool writes; /* the keys are this agent's to write */
	struct flip_keys keys;
	char *transition; /* NULL = at rest */
	enum transition_state state;
	bool cut_recorded;
};

struct gate_keys_part {
	struct driver *driver;
	struct kube_lane kube;
	struct kube_watch *watch;
	struct loop_timer *timer;
	struct flip_track track;
	struct flip_aim aim; /* as of now */
	bool looking, again;
	bool looks; /* at Flink, too */
	/* what the last look of this aim has found */
	bool confirmed;
	struct flip_reading seen; /* of the last look that has read it */
	bool seen_ok;
	struct err err;    /* of the last look; ERR_NONE = it has read the map */
	int64_t asked;     /* number of the gate that waits */
	int64_t looked_at; /* ... and was asked before the last look began */
	/* the map; Flink; no operator of that name */
	struct log_seldom trouble, flink_trouble, nameless;
};

struct look {
	struct driver *driver;
	struct flip_aim aim;
	bool reads;
	int64_t asked;
	/* Flink */
	char launch_id[JOB_ID_BYTES]; /* "" = it is not asked */
	char *transition;             /* of the report */
	int64_t at_unix_ms;
	struct flink_gate gate;
	struct flip_checkpoint *checkpoints;
	size_t checkpoint_count;
	bool flink_ok;
	struct err flink_err;
	/* the map */
	struct kube *kube;
	struct flip_reading reading;
	int result;
	struct err err;
};

/* ---- aims ---- */

static void aim_release(struct flip_aim *aim)
{
	free(aim->transition);
	*aim = (struct flip_aim){0};
}

static struct flip_aim aim_copy(const struct flip_aim *from)
{
	struct flip_aim aim = *from;

	aim.transition = xstrdup(from->transition);
	return aim;
}

static bool aim_is(const struct flip_aim *a, const struct flip_aim *b)
{
	return a->writes == b->writes && a->state == b->state &&
	       xstrsame(a->transition, b->transition) && flip_same_keys(&a->keys, &b->keys) &&
	       a->cut_recorded == b->cut_recorded;
}

/* False: it is as it was. While the journal is being written the last one counts. */
static bool aim_now(struct gate_keys_part *part)
{
	struct keys_wanted wanted;
	struct flip_aim aim = {0};
	enum keys_turn turn = lifecycle_wants_keys(&part->driver->life, &wanted);

	if (turn == KEYS_LATER)
		return false;
	if (turn == KEYS_MINE)
		aim = (struct flip_aim){.writes = true,
					.keys = flip_keys(wanted.handover, wanted.owner_side,
							  wanted.ended, wanted.lead_ms),
					.transition = (char *)(uintptr_t)wanted.transition,
					.state = wanted.state,
					.cut_recorded = wanted.cut_recorded};
	if (aim_is(&aim, &part->aim))
		return false;
	aim = aim_copy(&aim);
	aim_release(&part->aim);
	part->aim = aim;
	part->confirmed = false;
	return true;
}

/* ---- a look: Flink ---- */

static void look_free(struct look *look)
{
	aim_release(&look->aim);
	free(look->transition);
	flink_gate_release(&look->gate);
	free(look->checkpoints);
	flip_reading_release(&look->reading);
	free(look);
}

static void keep_checkpoints(struct look *look, const struct flink_checkpoints *from)
{
	look->checkpoints = xcalloc(from->history_count + 1, sizeof(*look->checkpoints));
	for (size_t i = 0; i < from->history_count; i++) {
		const struct flink_checkpoint *seen = &from->history[i];

		if (seen->status == FLINK_CHECKPOINT_FAILED)
			continue;
		look->checkpoints[look->checkpoint_count++] = (struct flip_checkpoint){
			.id = seen->id,
			.trigger_unix_ms = seen->trigger_unix_ms,
			.completed = seen->status == FLINK_CHECKPOINT_COMPLETED,
			.discarded = seen->discarded};
	}
}

static void flink_work(void *arg)
{
	struct look *look = arg;
	const struct setup *setup = look->driver->setup;
	struct flink_checkpoints checkpoints = {0};

	look->at_unix_ms = clock_unix_ms();
	if (flink_rest_gate(&setup->rest, look->launch_id, setup->config.blue_green.gate_name,
			    FLINK_TIMEOUT_MS, &look->gate, &look->flink_err) != FLINK_OK ||
	    flink_rest_checkpoints(&setup->rest, look->launch_id, FLINK_TIMEOUT_MS, &checkpoints,
				   NULL, &look->flink_err) != FLINK_OK)
		return;
	keep_checkpoints(look, &checkpoints);
	flink_checkpoints_release(&checkpoints);
	look->flink_ok = true;
}

/* ---- a look: the map ---- */

static void map_work(void *arg)
{
	struct look *look = arg;
	const struct setup *setup = look->driver->setup;

	if (look->aim.writes)
		look->result =
			flip_map_write(look->kube, setup->handover.gate_map,
				       setup->kube.create_maps ? setup->config.application : NULL,
				       &look->aim.keys, &look->reading, &look->err);
	else
		look->result = flip_map_read(look->kube, setup->handover.gate_map, &look->reading,
					     &look->err);
}

static void say_flink(struct gate_keys_part *part, const struct look *look)
{
	const char *name = part->driver->setup->config.blue_green.gate_name;
	struct log *log = part->driver->log;
	enum err_kind kind = look->flink_ok ? ERR_NONE : look->flink_err.kind;
	bool expected = kind == ERR_RETRY || kind == ERR_ABSENT;
	bool nameless = look->flink_ok && !look->gate.subtasks;
	int64_t now_ms = clock_mono_ms();

	if (!expected &&
	    log_seldom_due(&part->flink_trouble, kind ? look->flink_err.msg : NULL, now_ms))
		log_warn(log, "Flink does not show the gates of the job",
			 LOG_ERR(&look->flink_err));
	if (log_seldom_due(&part->nameless, nameless ? name : NULL, now_ms))
		log_warn(log,
			 "no vertex of the job has an operator of the name in blueGreen.gateName",
			 LOG_STR("name", name));
}

static void tell_report(struct gate_keys_part *part, const struct look *look, bool cut_seen)
{
	struct flip_look seen = {.at_unix_ms = look->at_unix_ms,
				 .start_unix_ms = look->gate.start_unix_ms,
				 .subtasks = look->gate.subtasks,
				 .running = look->gate.running,
				 .watermarks = look->gate.watermarks,
				 .watermark_count = (size_t)look->gate.subtasks,
				 .checkpoints = look->checkpoints,
				 .checkpoint_count = look->checkpoint_count,
				 .cut_seen = cut_seen};
	struct event event = {
		.type = EVENT_GATE,
		.gate = {.launch_id = look->launch_id, .transition = look->transition}};

	flip_track_add(&part->track, look->launch_id, &seen, &event.gate.report);
	driver_step(part->driver, &event);
}

static void tell_map(struct gate_keys_part *part, const struct look *look,
		     const struct flip_values *values)
{
	int64_t toggle_unix_ms = flip_toggle(values);
	struct event event = {.type = EVENT_GATE_KEYS,
			      .gate_keys = {.transition = look->aim.transition,
					    .state = look->aim.state,
					    .toggle_unix_ms = toggle_unix_ms}};
	struct gate_keys_shown *shown = &event.gate_keys.shown;

	/* what was to be written is not there yet: a cut has to be recorded first */
	if (!flip_is_written(&look->aim.keys, values))
		event.gate_keys.state = TRANSITION_NONE;
	shown->stage = flip_stage(values);
	if (look->flink_ok) {
		shown->subtasks = look->gate.subtasks;
		shown->behind = toggle_unix_ms
					? flip_behind(look->gate.watermarks,
						      (size_t)look->gate.subtasks, toggle_unix_ms)
					: 0;
		shown->gauges = look->gate.gauges;
		shown->gauges_over = look->gate.gauges_over;
	}
	driver_step(part->driver, &event);
}

static void look_now(void *arg);

static int64_t next_ms(const struct gate_keys_part *part, const struct look *look)
{
	const struct driver *driver = part->driver;

	if (part->again)
		return 0;
	if (part->looked_at != part->asked)
		return 0;
	if (driver_in_shadow(driver) && driver->gates[GATE_LAUNCH].number == part->asked)
		return WAITS_MS;
	if (look->result < 0)
		return AGAIN_MS;
	return look->aim.transition || lifecycle_looks_at_gates(&driver->life) ? LOOK_MS : REST_MS;
}

/* Which is not absence: nothing is begun, and nothing ended, because of it. */
static void say_map(struct gate_keys_part *part, const struct look *look)
{
	const char *name = part->driver->setup->handover.gate_map;

	if (log_seldom_due(&part->trouble, look->err.kind ? look->err.msg : NULL, clock_mono_ms()))
		log_warn(
			part->driver->log,
			look->aim.writes
				? "the keys for the gates of the job cannot be written, and are tried again"
				: "the keys for the gates of the job cannot be read, and are tried again",
			LOG_STR("configMap", name), LOG_ERR(&look->err));
}

static void know_map(struct gate_keys_part *part, struct look *look)
{
	struct flip_reading before = part->seen;

	part->err = look->err;
	part->seen_ok = look->result == 0;
	part->looked_at = look->asked;
	if (!part->seen_ok)
		return;
	part->seen = look->reading;
	look->reading = before;
}

static void has_looked(struct gate_keys_part *part, struct look *look)
{
	struct flip_values values;
	bool cut_seen = look->aim.cut_recorded;

	part->looking = false;
	if (look->reads) {
		say_map(part, look);
		know_map(part, look);
	}
	values = flip_reading_values(&part->seen);
	part->confirmed = look->aim.writes && look->result == 0 && aim_is(&look->aim, &part->aim) &&
			  flip_is_written(&part->aim.keys, &values);
	loop_timer_set(part->timer, next_ms(part, look));
	if (*look->launch_id)
		say_flink(part, look);
	/* when the map could not be read, a cut may be there */
	cut_seen |= !look->reads || look->result < 0 || flip_toggle(&values) != 0;
	if (look->flink_ok)
		tell_report(part, look, cut_seen);
	if (look->aim.writes && look->result == 0)
		tell_map(part, look, &values);
	driver_again(part->driver);
}

static void map_done(void *arg, bool ran)
{
	struct look *look = arg;
	struct gate_keys_part *part = look->driver->gate_keys;

	if (part && ran && !look->driver->closing)
		has_looked(part, look);
	look_free(look);
}

static void flink_done(void *arg, bool ran)
{
	struct look *look = arg;
	struct gate_keys_part *part = look->driver->gate_keys;

	if (!part || !ran || look->driver->closing) {
		look_free(look);
		return;
	}
	if (look->reads) {
		lane_submit(part->kube.lane, map_work, map_done, look);
		return;
	}
	has_looked(part, look);
	look_free(look);
}

/* ---- when ---- */

static const char *transition_now(const struct gate_keys_part *part)
{
	return driver_in_shadow(part->driver) ? part->driver->life.journal.handover.id
					      : part->aim.transition;
}

static void look_now(void *arg)
{
	struct gate_keys_part *part = arg;
	struct driver *driver = part->driver;
	struct look *look;
	const char *launch_id;

	part->again = part->looking;
	if (part->looking || !driver->alive || driver->closing)
		return;
	launch_id = lifecycle_looks_at_gates(&driver->life);
	/* the keys are another agent's by now */
	if (!launch_id && !part->aim.writes && part->asked == part->looked_at &&
	    !driver_in_shadow(driver))
		return;
	look = xcalloc(1, sizeof(*look));
	look->driver = driver;
	look->kube = part->kube.kube;
	look->aim = aim_copy(&part->aim);
	look->asked = part->asked;
	look->reads = part->aim.writes || part->asked != part->looked_at || !part->seen_ok ||
		      (driver_in_shadow(driver) && !launch_id);
	part->looking = true;
	if (!launch_id) {
		lane_submit(part->kube.lane, map_work, map_done, look);
		return;
	}
	memcpy(look->launch_id, launch_id, JOB_ID_BYTES);
	look->transition = xstrdup(transition_now(part));
	lane_submit(driver->flink_lane, flink_work, flink_done, look);
}

/* ---- the part ---- */

static int flip_open(struct driver *driver, struct err *err)
{
	struct gate_keys_part *part;

	(void)err;
	if (!driver->setup->handover.gate_map)
		return 0;
	driver->gate_keys = part = xcalloc(1, sizeof(*part));
	part->driver = driver;
	part->kube = kube_lane_open(driver->workers, driver->setup->kube.client, "drey-flip");
	part->timer = loop_timer_new(driver->loop, look_now, part);
	return 0;
}

static void flip_alive(struct driver *driver, const struct part_start *start)
{
	const struct setup *setup = driver->setup;
	struct gate_keys_part *part = driver->gate_keys;
	struct err err = {0};

	(void)start;
	if (!part || driver_in_shadow(driver))
		return;
	part->watch = configmap_watch_new(driver->watches, setup->kube.config.namespace,
					  setup->handover.gate_map, look_now, part, &err);
	if (!part->watch)
		log_warn(driver->log, "the ConfigMap of the gates cannot be watched",
			 LOG_ERR(&err));
}

static void flip_stepped(struct driver *driver)
{
	struct gate_keys_part *part = driver->gate_keys;
	bool looks, begins;

	if (!part || !driver->alive || driver->closing)
		return;
	looks = lifecycle_looks_at_gates(&driver->life) != NULL;
	begins = looks && !part->looks;
	part->looks = looks;
	if ((aim_now(part) && part->aim.writes) || begins)
		look_now(part);
}

static enum gate_verdict candidate_may(struct driver *driver, struct gate *gate)
{
	struct flip_values values = flip_reading_values(&driver->gate_keys->seen);
	enum side side = driver->life.journal.handover.transition.output_side;

	if (driver->gate_keys->seen_ok && flip_shuts(&values, side))
		return GATE_PASSES;
	return gate_waits(gate, "the keys for the gates of the job", 0);
}

/* Read after it was asked for. */
static enum gate_verdict flip_may(struct driver *driver, enum gate_type type, struct gate *gate)
{
	struct gate_keys_part *part = driver->gate_keys;

	if (!part || type != GATE_LAUNCH)
		return GATE_PASSES;
	if (part->asked != gate->number) {
		part->asked = gate->number;
		look_now(part);
	}
	if (part->looked_at != gate->number)
		return gate_waits(gate, "the ConfigMap of the gates", 0);
	if (driver_in_shadow(driver))
		return candidate_may(driver, gate);
	if (part->confirmed)
		return GATE_PASSES;
	if (part->err.kind)
		return gate_refuses(
			gate, CAUSE_GATE_KEYS_UNWRITTEN,
			"the gates of the job need the ConfigMap %s, which cannot be written: %s",
			driver->setup->handover.gate_map, part->err.msg);
	return gate_waits(gate, "the keys for the gates of the job", 0);
}

static void flip_close(struct driver *driver)
{
	struct gate_keys_part *part = driver->gate_keys;

	if (!part)
		return;
	kube_watch_free(part->watch);
	loop_timer_free(part->timer);
	driver->gate_keys = NULL;
	kube_lane_close(&part->kube, PATIENCE_MS);
	aim_release(&part->aim);
	flip_reading_release(&part->seen);
	log_seldom_release(&part->trouble);
	log_seldom_release(&part->flink_trouble);
	log_seldom_release(&part->nameless);
	free(part);
}

const struct part part_gate_keys = {
	.name = "flip",
	.open = flip_open,
	.alive = flip_alive,
	.stepped = flip_stepped,
	.may = flip_may,
	.close = flip_close,
};
