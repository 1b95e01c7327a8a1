/* The gates of a job: they are told an order one by one, acknowledge it, and report. */
#include <string.h>

#include "tests/sim/bluegreen.h"

#define IDLE_MS 5000

static bool same(const struct gate_order *a, const struct gate_order *b)
{
	return a->number == b->number && a->word == b->word &&
	       a->toggle_unix_ms == b->toggle_unix_ms;
}

static void take_order(struct bg_task *task, const struct gate_order *order, bool restarts)
{
	bool held = task->held_max >= order->toggle_unix_ms;
	bool behind = !restarts && task->watermark >= order->toggle_unix_ms;

	task->told_ms = 0;
	task->told = *order;
	task->refused = order->word == GATE_ARM_GREEN && (held || behind);
	task->acked = !task->refused;
	if (task->acked)
		task->order = *order;
}

/* A subtask is told before its first record, and has no watermark yet. One that must refuse holds everything
 * back. */
void bg_gate_reset(struct bg_world *w, int side)
{
	struct bg_job *job = &w->sides[side].job;

	for (int s = 0; s < w->splits; s++) {
		struct bg_task *task = &job->tasks[s];

		task->order = (struct gate_order){.word = GATE_CLOSED};
		task->acked = task->refused = false;
		task->told_ms = 0;
		if (job->has_file)
			take_order(task, &job->file, true);
	}
}

bool bg_gate_takes(struct bg_world *w, int side, int split, int record, int64_t time)
{
	struct bg_task *task = &w->sides[side].job.tasks[split];

	(void)record;
	if (bg_has_flip(w))
		return bg_flip_takes(w, side, split, time);
	if (gate_passes(&task->order, time, task->watermark))
		return true;
	if (time > task->held_max && task->order.word != GATE_ARM_BLUE)
		task->held_max = time;
	if (task->order.word == GATE_ARM_BLUE)
		task->withheld++;
	return false;
}

static void count_outs(const struct bg_job *job, struct gate_report *report)
{
	int64_t toggle = report->order.toggle_unix_ms;

	for (size_t i = 0; i < job->out_count && toggle; i++) {
		const struct bg_out *out = &job->outs[i];
		bool above = out->time >= toggle;

		if (out->aborted || out->late)
			continue;
		report->passed_above += above;
		report->passed_below += !above;
	}
}

static void add_snapshots(const struct bg_world *w, int side, struct gate_report *report)
{
	const struct bg_job *job = &w->sides[side].job;

	for (int i = w->snap_count - 1; i >= 0 && report->snapshot_count < GATE_SNAPSHOTS; i--) {
		const struct bg_snap *snap = &w->snaps[i];
		struct gate_snapshot *shown = &report->snapshots[report->snapshot_count];

		if (snap->side != side || snap->epoch != job->epoch || !snap->complete ||
		    snap->deleted || snap->left)
			continue;
		*shown = (struct gate_snapshot){.checkpoint_id = snap->id,
						.confirmed = snap->confirmed,
						.min_watermark_unix_ms = INT64_MAX};
		for (int s = 0; s < w->splits; s++) {
			shown->withheld_above += snap->withheld[s];
			if (snap->watermark[s] < shown->min_watermark_unix_ms)
				shown->min_watermark_unix_ms = snap->watermark[s];
		}
		report->snapshot_count++;
	}
}

void bg_gate_report(struct bg_world *w, int side)
{
	struct bg_job *job = &w->sides[side].job;
	struct gate_report report = {.known = true,
				     .order = job->file,
				     .subtasks = w->splits,
				     .running = job->running ? w->splits : 0,
				     .min_watermark_unix_ms = INT64_MAX,
				     .max_seen_unix_ms = GATE_NO_TIME};

	for (int s = 0; s < w->splits; s++) {
		const struct bg_task *task = &job->tasks[s];
		bool idle = w->now_ms - task->last_ms > IDLE_MS && task->position < w->records;

		report.acked += task->acked && same(&task->told, &job->file);
		report.refused += task->refused && same(&task->told, &job->file);
		report.withheld_above += task->withheld;
		report.idle += idle;
		if (!idle && task->watermark < report.min_watermark_unix_ms)
			report.min_watermark_unix_ms = task->watermark;
		if (task->max_seen > report.max_seen_unix_ms)
			report.max_seen_unix_ms = task->max_seen;
	}
	/* none has records: as far as a cut is concerned, they are told apart by `idle` */
	if (report.min_watermark_unix_ms == INT64_MAX && !job->file.toggle_unix_ms)
		report.min_watermark_unix_ms = GATE_NO_TIME;
	count_outs(job, &report);
	add_snapshots(w, side, &report);
	job->report = report;
}

void bg_gate_tick(struct bg_world *w, int side)
{
	struct bg_job *job = &w->sides[side].job;

	if (!job->alive || !job->has_file)
		return;
	for (int s = 0; s < w->splits && job->running; s++) {
		struct bg_task *task = &job->tasks[s];

		if (task->told_ms && w->now_ms >= task->told_ms)
			take_order(task, &task->told, false);
		if (!task->told_ms && !same(&task->told, &job->file)) {
			task->told = job->file;
			task->acked = task->refused = false;
			task->told_ms = w->now_ms + 1 + bg_below(w, bg_odds(w, 100) ? 6000 : 500);
		}
	}
	/* while an order is handed round, a report is about those who have it */
	if (bg_odds(w, 500))
		bg_gate_report(w, side);
}
