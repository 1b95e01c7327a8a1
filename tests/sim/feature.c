/*
 * The features of the world: volumes and HA data from a backup, other directories, and so on.
 *
 * A feature draws from its own stream of random numbers, and only in histories that have it. So
 * `--world none` gives the same histories as before there were features, and a failure can be
 * investigated with one feature less.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "tests/sim/sim.h"

static const char *const names[FEATURE_COUNT] = {
	[FEATURE_ROLLBACK] = "rollback", [FEATURE_MOVED] = "moved",
	[FEATURE_LINES] = "lines",       [FEATURE_RIVALS] = "rivals",
	[FEATURE_SPARE] = "spare",       [FEATURE_STALL] = "stall",
	[FEATURE_HANDOVER] = "handover", [FEATURE_CHECKPOINT] = "checkpoint",
	[FEATURE_STOPS] = "stops",       [FEATURE_RESCALE] = "rescale",
	[FEATURE_LEASE] = "lease",       [FEATURE_BLUEGREEN] = "bluegreen",
	[FEATURE_LIES] = "lies",         [FEATURE_SILENT] = "silent",
};

/* hand-overs, lies and transitions are worlds of their own */
#define ALL ((1U << FEATURE_HANDOVER) - 1)

bool features_parse(const char *text, unsigned *ret_features)
{
	unsigned features = 0;

	if (!strcmp(text, "all")) {
		*ret_features = ALL;
		return true;
	}
	while (*text && strcmp(text, "none") != 0) {
		size_t len = strcspn(text, ",");
		int i = 0;

		while (i < FEATURE_COUNT &&
		       (strlen(names[i]) != len || strncmp(names[i], text, len) != 0))
			i++;
		if (i == FEATURE_COUNT)
			return false;
		features |= 1U << i;
		text += len + (text[len] == ',');
	}
	*ret_features = features;
	return true;
}

bool has(const struct world *w, enum feature feature)
{
	return w->features & (1U << feature);
}

int64_t luck_below(struct world *w, int64_t bound)
{
	return stream_between(&w->luck, 0, bound - 1);
}

int64_t luck_between(struct world *w, int64_t low, int64_t high)
{
	return stream_between(&w->luck, low, high);
}

bool luck(struct world *w, int per_mille)
{
	return stream_odds(&w->luck, per_mille);
}

/*
 * Two pods without a common lock: the one that takes over waits until the other one must have noticed.
 * Fencing is strict in half of the histories: then the other one is also cut off now and then, and kills its
 * Flink without seeing the journal.
 */
static void draw_rivals(struct world *w)
{
	bool strict = luck(w, 500);

	if (!w->apart)
		return;
	w->config->takeover_ms = 35 * SECOND_MS;
	w->config->journal_check_ms = (strict ? 6 : 30) * SECOND_MS;
	w->config->lease_ms = strict ? 30 * SECOND_MS : 0;
	w->cut_ms = strict ? luck_between(w, 1, 15) * MINUTE_MS : 0;
}

/* What follows when a stop has failed for good. */
static void draw_stops(struct world *w, unsigned features)
{
	if (!(features & (1U << FEATURE_STOPS)) || w->seed % 3 == 0)
		return;
	w->features |= 1U << FEATURE_STOPS;
	w->config->on_stop_failure =
		w->seed % 3 == 1 ? STOP_FAILURE_KEEP_RUNNING : STOP_FAILURE_LAST_STATE;
	w->config->stop_retries = (int64_t)(w->seed / 3 % 3);
}

bool stop_may_be_left_out(const struct world *w, const struct launch *launch)
{
	return w->config->on_stop_failure == STOP_FAILURE_LAST_STATE && launch->proven_unix_ms &&
	       w->config->policy.restore != POLICY_SAVEPOINT;
}

static void draw_checkpoints(struct world *w, unsigned features)
{
	if (!(features & (1U << FEATURE_CHECKPOINT)) || w->seed % 2)
		return;
	w->features |= 1U << FEATURE_CHECKPOINT;
	checkpoint_draw(w);
}

/* Which of the enabled features this history has. */
void features_draw(struct world *w, unsigned features)
{
	static const int per_mille[FEATURE_COUNT] = {[FEATURE_ROLLBACK] = 150,
						     [FEATURE_MOVED] = 200,
						     [FEATURE_LINES] = 300,
						     [FEATURE_RIVALS] = 1000};

	rng_seed(&w->luck, ~w->seed);
	for (int i = 0; i < FEATURE_CHECKPOINT; i++)
		if (luck(w, per_mille[i]) && features & (1U << i))
			w->features |= 1U << i;
	/* draws nothing: without it the histories stay as they were */
	w->features |=
		features & (1U << FEATURE_SPARE | 1U << FEATURE_STALL | 1U << FEATURE_RESCALE |
			    1U << FEATURE_LEASE | 1U << FEATURE_SILENT | 1U << FEATURE_LIES);
	if (features & (1U << FEATURE_HANDOVER)) {
		w->features = 1U << FEATURE_HANDOVER;
		w->own_dir = -1;
		deployment_draw(w);
		draw_checkpoints(w, 1U << FEATURE_CHECKPOINT);
		draw_stops(w, 1U << FEATURE_STOPS);
		return;
	}
	draw_checkpoints(w, features);
	draw_stops(w, features);
	/* a job that continues in another directory leaves older checkpoints in the previous one: with a backup
	 * of the newer directory these would be the newest, and out of sight */
	if (has(w, FEATURE_MOVED))
		w->features &= ~(1U << FEATURE_ROLLBACK);
	if (has(w, FEATURE_RIVALS))
		draw_rivals(w);
	if (has(w, FEATURE_STALL)) {
		w->config->health.restart_after_ms = luck_between(w, 1, 5) * MINUTE_MS;
		w->config->max_attempts += w->config->max_attempts < 2;
	}
	if (has(w, FEATURE_SILENT)) {
		w->config->health.unreachable_after_ms = luck_between(w, 3, 10) * MINUTE_MS;
		w->config->attempts_for_ever = luck(w, 500);
	}
	w->other_scheduler = has(w, FEATURE_RESCALE) && luck(w, 100);
	w->own_dir = -1;
	if (has(w, FEATURE_LIES))
		lies_draw(w);
	if (!has(w, FEATURE_MOVED))
		return;
	/* if the journal is lost as well, drey cannot know of a directory that is no longer configured */
	w->chaos.journal_back_ms = w->chaos.journal_lost_ms = 0;
	w->config->id_space = NULL;
}

static void plan_feature(struct world *w, int64_t mean_ms, enum item_kind kind)
{
	plan(w, 1 + luck_below(w, 2 * mean_ms), kind, SCOPE_WORLD);
}

void features_begin(struct world *w)
{
	static const char *const places[] = {"pod-0", "pod-1"};

	for (int i = 0; i < 2 && has(w, FEATURE_RIVALS) && w->apart; i++)
		w->pods[i].config.place = places[i];
	if (has(w, FEATURE_LEASE))
		lease_begins(w);
	if (has(w, FEATURE_LIES))
		lies_begin(w);
	if (w->cut_ms)
		plan_feature(w, w->cut_ms, ITEM_CUT);
	if (has(w, FEATURE_ROLLBACK)) {
		w->rollback_ms = luck_between(w, 2, 30) * MINUTE_MS;
		plan_feature(w, w->rollback_ms / 2, ITEM_ROLLBACK_COPY);
		plan_feature(w, w->rollback_ms, ITEM_ROLLBACK);
	}
}

/* ---- directories ---- */

static void configure_dirs(struct world *w)
{
	const int *dirs = w->pods[w->pod].dirs;

	w->config->listed_checkpoint_dir =
		storage_dir(SNAPSHOT_CHECKPOINT, dirs[SNAPSHOT_CHECKPOINT]);
	w->config->savepoint_dir = w->config->listed_savepoint_dir =
		storage_dir(SNAPSHOT_SAVEPOINT, dirs[SNAPSHOT_SAVEPOINT]);
}

/* Two patch levels of one line, and another line. */
static const char *version_of(const char *generation)
{
	return !strcmp(generation, "g1") ? "2.3.0" : !strcmp(generation, "g2") ? "2.3.1" : "1.20.4";
}

void features_container(struct world *w)
{
	int *dirs = w->dirs;

	if (has(w, FEATURE_LINES) && w->config->generation)
		w->config->flink_version = w->config->policy.flink_version =
			version_of(w->config->generation);
	if (!has(w, FEATURE_MOVED))
		return;
	if (!w->calm && luck(w, 300))
		dirs[SNAPSHOT_CHECKPOINT] = (int)luck_below(w, DIRS);
	if (!w->calm && luck(w, 200))
		dirs[SNAPSHOT_SAVEPOINT] = (int)luck_below(w, DIRS);
	if (!w->calm && luck(w, 150))
		w->own_dir = (int)luck_below(w, DIRS + 1) - 1;
	/* the other pod keeps its configuration */
	memcpy(w->pods[w->pod].dirs, dirs, sizeof(w->dirs));
	configure_dirs(w);
	say(w, "checkpoints go to %s, savepoints to %s%s%s", w->config->listed_checkpoint_dir,
	    w->config->savepoint_dir, w->own_dir >= 0 ? ", but the job's code says " : "",
	    w->own_dir >= 0 ? storage_dir(SNAPSHOT_CHECKPOINT, w->own_dir) : "");
}

/* ---- volumes and HA data from a backup ---- */

enum { ROLLBACK_CHECKPOINTS = 1, ROLLBACK_SAVEPOINTS = 2, ROLLBACK_HA = 4 };

void volumes_back_up(struct world *w)
{
	for (int i = 0; i < w->storage.count; i++) {
		struct snap *snap = &w->storage.snaps[i];

		snap->copied = snap->complete && !snap->deleted;
		snap->copied_damaged = snap->metadata_damaged;
		snap->copied_missing = snap->file_missing;
	}
	for (int i = 0; i < w->truth.count; i++)
		w->truth.launches[i].ha_copy = w->truth.launches[i].ha;
	w->copied = true;
	say(w, "a backup is made of all volumes and of the HA data");
}

static void roll_back(struct world *w, enum snapshot_kind kind)
{
	for (int i = 0; i < w->storage.count; i++) {
		struct snap *snap = &w->storage.snaps[i];

		if (snap->kind != kind || snap->launch < 0)
			continue;
		snap->deleted = !snap->copied;
		snap->metadata_damaged = snap->copied && snap->copied_damaged;
		snap->file_missing = snap->copied && snap->copied_missing;
	}
}

void volumes_put_back(struct world *w)
{
	w->truth.loss = true;
	roll_back(w, SNAPSHOT_CHECKPOINT);
	roll_back(w, SNAPSHOT_SAVEPOINT);
}

/* Newer objects stay: restoring the backup deletes no object that it does not contain. */
static void roll_back_ha(struct world *w)
{
	for (int i = 0; i < w->truth.count; i++) {
		struct truth_launch *launch = &w->truth.launches[i];
		bool result = launch->ha.result;

		if (!launch->ha_copy.exists)
			continue;
		launch->ha = launch->ha_copy;
		launch->ha.result = result;
	}
}

static void rollback(struct world *w)
{
	unsigned which = (unsigned)luck_between(w, 1, w->ha ? 7 : 3);

	if (!w->copied)
		return;
	for (int i = 0; i < PODS; i++) {
		world_enter(w, i);
		container_die(w, "what it has stored is replaced by a backup");
	}
	say(w, "accident: back to the backup:%s%s%s",
	    which & ROLLBACK_CHECKPOINTS ? " checkpoints" : "",
	    which & ROLLBACK_SAVEPOINTS ? " savepoints" : "", which & ROLLBACK_HA ? " HA" : "");
	w->truth.loss = true;
	if (which & ROLLBACK_CHECKPOINTS)
		roll_back(w, SNAPSHOT_CHECKPOINT);
	if (which & ROLLBACK_SAVEPOINTS)
		roll_back(w, SNAPSHOT_SAVEPOINT);
	if (which & ROLLBACK_HA)
		roll_back_ha(w);
}

bool is_cut_off(const struct world *w)
{
	return !w->calm && w->now_ms < w->pods[w->pod].cut_until_ms;
}

static void cut_off(struct world *w)
{
	struct pod *pod = &w->pods[luck_below(w, 2)];
	int64_t takes_ms = luck_between(w, 1, luck(w, 500) ? 20 : 300) * SECOND_MS;

	pod->cut_until_ms = w->now_ms + takes_ms;
	say(w, "pod %d does not reach the journal for %d s", (int)(pod - w->pods),
	    (int)(takes_ms / SECOND_MS));
}

void feature_item(struct world *w, const struct item *item)
{
	if (w->calm)
		return;
	switch (item->kind) {
	case ITEM_ROLLBACK_COPY:
		volumes_back_up(w);
		plan_feature(w, w->rollback_ms / 2, ITEM_ROLLBACK_COPY);
		break;
	case ITEM_CUT:
		cut_off(w);
		plan_feature(w, w->cut_ms, ITEM_CUT);
		break;
	case ITEM_ROLLBACK:
		rollback(w);
		plan_feature(w, w->rollback_ms, ITEM_ROLLBACK);
		break;
	default:
		break;
	}
}
