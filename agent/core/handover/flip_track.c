#include "core/handover/flip_track.h"

#include <stdio.h>
#include <string.h>

/* Flink answers from a copy of its graph that is up to 3 s old. */
#define SETTLES_MS 4000

static int64_t least(const struct flip_look *look)
{
	int64_t min = GATE_NO_TIME;

	for (size_t i = 0; i < look->watermark_count; i++) {
		int64_t watermark = look->watermarks[i];

		if (watermark != GATE_NO_TIME && (min == GATE_NO_TIME || watermark < min))
			min = watermark;
	}
	return min;
}

static int64_t most(const struct flip_look *look)
{
	int64_t max = GATE_NO_TIME;

	for (size_t i = 0; i < look->watermark_count; i++)
		if (look->watermarks[i] > max)
			max = look->watermarks[i];
	return max;
}

/* Subtasks without a watermark. */
static int without(const struct flip_look *look)
{
	int count = look->subtasks - (int)look->watermark_count;

	for (size_t i = 0; i < look->watermark_count; i++)
		count += look->watermarks[i] == GATE_NO_TIME;
	return count > 0 ? count : 0;
}

static int idle(const struct flip_look *look)
{
	int count = without(look);

	return count < look->running ? count : look->running;
}

int flip_behind(const int64_t *watermarks, size_t count, int64_t toggle_unix_ms)
{
	int behind = 0;

	for (size_t i = 0; i < count; i++)
		behind += watermarks[i] != GATE_NO_TIME && watermarks[i] >= toggle_unix_ms;
	return behind;
}

/* ---- checkpoints ---- */

/* What every subtask had at the last look before this checkpoint. */
static void bound(struct flip_track *track, size_t at)
{
	size_t looks = track->look_count < FLIP_LOOKS ? track->look_count : FLIP_LOOKS;
	int64_t trigger_unix_ms = track->checkpoints[at].seen.trigger_unix_ms, newest = -1;

	track->checkpoints[at].watermark_unix_ms = GATE_NO_TIME;
	for (size_t i = 0; i < looks; i++) {
		/* MUT: a checkpoint has what was seen after it had begun */
		if (track->looks[i].at_unix_ms > trigger_unix_ms)
			continue;
		if (track->looks[i].at_unix_ms <= newest)
			continue;
		newest = track->looks[i].at_unix_ms;
		track->checkpoints[at].watermark_unix_ms = track->looks[i].watermark_unix_ms;
		track->checkpoints[at].start_unix_ms = track->looks[i].start_unix_ms;
	}
}

/* The oldest one makes room. */
static size_t add_checkpoint(struct flip_track *track, const struct flip_checkpoint *seen)
{
	size_t at = track->checkpoint_count;

	if (at == FLIP_CHECKPOINTS) {
		memmove(&track->checkpoints[0], &track->checkpoints[1],
			(FLIP_CHECKPOINTS - 1) * sizeof(track->checkpoints[0]));
		at--;
	} else {
		track->checkpoint_count++;
	}
	memset(&track->checkpoints[at], 0, sizeof(track->checkpoints[at]));
	track->checkpoints[at].seen.id = seen->id;
	track->checkpoints[at].seen.trigger_unix_ms = seen->trigger_unix_ms;
	bound(track, at);
	return at;
}

static size_t find_checkpoint(const struct flip_track *track, int64_t id)
{
	size_t at = 0;

	while (at < track->checkpoint_count && track->checkpoints[at].seen.id != id)
		at++;
	return at;
}

static bool is_older(const struct flip_track *track, int64_t id)
{
	return track->checkpoint_count == FLIP_CHECKPOINTS && id < track->checkpoints[0].seen.id;
}

static void see_checkpoint(struct flip_track *track, const struct flip_checkpoint *seen,
			   const struct flip_look *look)
{
	size_t at = find_checkpoint(track, seen->id);
	bool first;

	if (at == track->checkpoint_count) {
		if (is_older(track, seen->id))
			return;
		at = add_checkpoint(track, seen);
	}
	first = seen->completed && !track->checkpoints[at].seen.completed;
	if (first) {
		track->checkpoints[at].clean = !look->cut_seen;
		track->checkpoints[at].complete_unix_ms = look->at_unix_ms;
	}
	track->checkpoints[at].seen.completed |= seen->completed;
	track->checkpoints[at].seen.discarded |= seen->discarded;
}

static void settle(struct flip_track *track, const struct flip_look *look)
{
	for (size_t i = 0; i < track->checkpoint_count; i++) {
		if (track->checkpoints[i].settled ||
		    look->at_unix_ms < track->checkpoints[i].seen.trigger_unix_ms + SETTLES_MS)
			continue;
		track->checkpoints[i].settled = true;
		/* MUT: a checkpoint after a failover has what was seen before it */
		if (track->checkpoints[i].start_unix_ms != look->start_unix_ms)
			track->checkpoints[i].watermark_unix_ms = GATE_NO_TIME;
	}
}

/* The most that its subtasks can have had: by the times of Flink, none has started since it was triggered. */
static void limit(struct flip_track *track, const struct flip_look *look)
{
	for (size_t i = 0; i < track->checkpoint_count; i++) {
		bool complete = track->checkpoints[i].seen.completed;

		if (track->checkpoints[i].seen_unix_ms)
			continue;
		/* MUT: what is shown after a failover limits a checkpoint of before */
		if (look->running < look->subtasks ||
		    look->start_unix_ms >= track->checkpoints[i].seen.trigger_unix_ms) {
			track->checkpoints[i].restarted = true;
			continue;
		}
		/* MUT: what Flink has shown before a checkpoint limits it */
		if (!complete ||
		    look->at_unix_ms < track->checkpoints[i].complete_unix_ms + SETTLES_MS)
			continue;
		/* the records after its last watermark do not show: one that is later does */
		track->checkpoints[i].seen_unix_ms = most(look) > 0 ? most(look) + 1 : 1;
	}
}

/* ---- the report ---- */

/* Newest first, by id. */
static size_t next_below(const struct flip_track *track, int64_t id)
{
	size_t found = track->checkpoint_count;

	for (size_t i = 0; i < track->checkpoint_count; i++) {
		int64_t here = track->checkpoints[i].seen.id;

		if (!track->checkpoints[i].seen.completed || !track->checkpoints[i].settled ||
		    here >= id)
			continue;
		if (found == track->checkpoint_count || here > track->checkpoints[found].seen.id)
			found = i;
	}
	return found;
}

/* What was committed with it the next one shows: its subtasks were told before. */
static bool is_confirmed(const struct flip_track *track, int64_t id)
{
	for (size_t i = 0; i < track->checkpoint_count; i++)
		if (track->checkpoints[i].seen.completed && track->checkpoints[i].seen.id > id)
			return true;
	return false;
}

static void report_checkpoints(const struct flip_track *track, struct gate_report *report)
{
	size_t at = next_below(track, INT64_MAX);

	while (at < track->checkpoint_count && report->snapshot_count < GATE_SNAPSHOTS) {
		int64_t id = track->checkpoints[at].seen.id;
		bool usable =
			track->checkpoints[at].clean && !track->checkpoints[at].seen.discarded;

		report->snapshots[report->snapshot_count++] = (struct gate_snapshot){
			.checkpoint_id = id,
			.confirmed = is_confirmed(track, id),
			.withheld_above = !usable,
			.min_watermark_unix_ms = track->checkpoints[at].watermark_unix_ms,
			.active_watermark_unix_ms = track->checkpoints[at].watermark_unix_ms,
			.seen_unix_ms = track->checkpoints[at].seen_unix_ms,
			.restarted = track->checkpoints[at].restarted};
		at = next_below(track, id);
	}
}

void flip_track_add(struct flip_track *track, const char *launch_id, const struct flip_look *look,
		    struct gate_report *ret_report)
{
	size_t at;

	if (strcmp(track->launch_id, launch_id) != 0) {
		memset(track, 0, sizeof(*track));
		snprintf(track->launch_id, sizeof(track->launch_id), "%s", launch_id);
	}
	for (size_t i = look->checkpoint_count; i-- > 0;)
		see_checkpoint(track, &look->checkpoints[i], look);
	at = track->look_count++ % FLIP_LOOKS;
	track->looks[at].at_unix_ms = look->at_unix_ms;
	track->looks[at].start_unix_ms = look->start_unix_ms;
	track->looks[at].watermark_unix_ms = without(look) ? GATE_NO_TIME : least(look);
	settle(track, look);
	limit(track, look);
	*ret_report = (struct gate_report){.known = look->subtasks > 0,
					   .subtasks = look->subtasks,
					   .running = look->running,
					   /* of those that run */
					   .idle = idle(look),
					   .min_watermark_unix_ms = least(look),
					   .max_seen_unix_ms = most(look)};
	report_checkpoints(track, ret_report);
}
