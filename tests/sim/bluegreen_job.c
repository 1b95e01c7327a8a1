/* The job of a side: it reads records, checkpoints, fails over; and what of its output is committed. */
#include <string.h>

#include "tests/sim/bluegreen.h"

#define CATCH_UP 12 /* records of a split in a tick */
#define RETAINED 3

/* ---- the records: the same ones for both jobs ---- */

static uint64_t mix(uint64_t x)
{
	x ^= x >> 33;
	x *= 0xff51afd7ed558ccdULL;
	x ^= x >> 33;
	x *= 0xc4ceb9fe1a85ec53ULL;
	return x ^ x >> 33;
}

int64_t bg_due_ms(const struct bg_world *w, int split, int record)
{
	int64_t due_ms = (int64_t)record * w->record_ms + split * 37;

	/* a split without records for a while: they come later, all at once */
	if (!split && due_ms >= w->idle_from_ms && due_ms < w->idle_to_ms)
		return w->idle_to_ms;
	return due_ms;
}

int64_t bg_time_of(const struct bg_world *w, int split, int record)
{
	uint64_t random = mix((uint64_t)split * 1000003 + (uint64_t)record + 17);
	int64_t time = BG_TIME_ORIGIN + bg_due_ms(w, split, record) -
		       (int64_t)(random % (uint64_t)(w->disorder_ms + 1));

	if ((int)(random >> 40 & 1023) < w->late_per_mille)
		time -= w->disorder_ms + 4000;
	return time;
}

/* ---- what is committed ---- */

static void commit(struct bg_world *w, int side, size_t upto)
{
	struct bg_job *job = &w->sides[side].job;

	for (size_t i = 0; i < upto; i++) {
		struct bg_out *out = &job->outs[i];

		if (out->committed || out->aborted)
			continue;
		out->committed = true;
		w->count[out->split][out->record]++;
	}
}

/* What is not part of the snapshot: it is undone, or will be written again. */
static void roll_back(struct bg_world *w, int side, size_t upto)
{
	struct bg_job *job = &w->sides[side].job;

	for (size_t i = upto; i < job->out_count; i++) {
		struct bg_out *out = &job->outs[i];

		if (!out->committed) {
			out->aborted = true;
			continue;
		}
		if (!w->again[out->split][out->record] && !w->store.handover.transition.replay.path)
			bg_fail(w, "side %d goes back behind what it has committed", side);
		w->again[out->split][out->record] = true;
	}
}

/* ---- snapshots ---- */

int bg_newest(const struct bg_world *w, int side)
{
	const struct bg_job *job = &w->sides[side].job;

	for (int i = w->snap_count - 1; i >= 0; i--) {
		const struct bg_snap *snap = &w->snaps[i];

		if (snap->side == side && snap->epoch == job->epoch && snap->complete &&
		    !snap->deleted && !snap->left)
			return i;
	}
	return -1;
}

static int take(struct bg_world *w, int side, bool savepoint, bool stop)
{
	struct bg_job *job = &w->sides[side].job;
	struct bg_snap *snap;

	if (w->snap_count == BG_SNAPS)
		return -1;
	snap = &w->snaps[w->snap_count];
	*snap = (struct bg_snap){.side = side,
				 .epoch = job->epoch,
				 .id = w->snap_count + 1,
				 .launch = job->launch,
				 .begun_ms = w->now_ms,
				 .savepoint = savepoint,
				 .stop = stop,
				 .outs = job->out_count};
	for (int s = 0; s < w->splits; s++) {
		snap->position[s] = job->tasks[s].position;
		snap->watermark[s] = job->tasks[s].watermark;
		snap->held_max[s] = job->tasks[s].held_max;
		snap->withheld[s] = job->tasks[s].withheld;
	}
	return w->snap_count++;
}

static void retain(struct bg_world *w, int side)
{
	int kept = 0;

	for (int i = w->snap_count - 1; i >= 0; i--) {
		struct bg_snap *snap = &w->snaps[i];

		if (snap->side == side && snap->epoch == w->sides[side].job.epoch &&
		    !snap->savepoint && snap->complete && !snap->deleted && ++kept > RETAINED)
			snap->deleted = true;
	}
}

/* ---- life and death ---- */

static void restore(struct bg_world *w, int side, int from)
{
	struct bg_job *job = &w->sides[side].job;
	const struct bg_snap *snap = from >= 0 ? &w->snaps[from] : NULL;
	bool own = snap && snap->side == side && snap->epoch == job->epoch;

	for (int s = 0; s < w->splits; s++) {
		struct bg_task *task = &job->tasks[s];

		*task = (struct bg_task){.watermark = GATE_NO_TIME,
					 .max_seen = GATE_NO_TIME,
					 .held_max = GATE_NO_TIME,
					 .last_ms = w->now_ms};
		if (!snap)
			continue;
		task->position = snap->position[s];
		if (!w->stamps) /* else it is of another clock */
			task->watermark = snap->watermark[s];
		/* what the other side's gates had counted is not this one's */
		if (own) {
			task->held_max = snap->held_max[s];
			task->withheld = snap->withheld[s];
		}
	}
	roll_back(w, side, own ? snap->outs : 0);
	if (own)
		commit(w, side, snap->outs);
	/* those of the branch that was left */
	for (int i = own ? from + 1 : 0; i < w->snap_count; i++)
		if (w->snaps[i].side == side && w->snaps[i].epoch == job->epoch) {
			w->snaps[i].deleted |= !w->snaps[i].savepoint;
			w->snaps[i].left = true;
		}
	job->open_snap = job->done_snap = -1;
	job->complete_ms = job->confirm_ms = 0;
	job->checkpoint_ms = w->now_ms + 1000 + bg_below(w, 8000);
	bg_gate_reset(w, side);
	bg_flip_reset(w, side);
}

void bg_job_start(struct bg_world *w, int side, int snap, bool new_epoch)
{
	struct bg_job *job = &w->sides[side].job;

	if (new_epoch) {
		job->epoch = w->epoch_next++;
		job->out_count = 0;
	}
	if (snap >= 0 && w->snaps[snap].deleted)
		bg_fail(w, "side %d is to start from snapshot %d, which was deleted", side, snap);
	bg_say(w, "side %d: the job starts from snapshot %d", side, snap);
	bg_starts(w, side);
	job->alive = true;
	job->clock_ms = w->sides[side].pod.clock_ms;
	job->launch = ++w->launch_next;
	job->shown = (struct bg_shown){0};
	job->finished = job->running = false;
	job->from = snap;
	*job->replays = '\0';
	job->op = BG_OP_NONE;
	job->op_trigger = 0;
	job->op_state = WORK_NONE;
	job->run_ms = w->now_ms + 500 + bg_below(w, 4000);
	job->report = (struct gate_report){0};
	restore(w, side, snap);
}

void bg_job_end(struct bg_world *w, int side, const char *why)
{
	struct bg_job *job = &w->sides[side].job;

	if (!job->alive)
		return;
	bg_say(w, "side %d: the job's process ends: %s", side, why);
	job->alive = job->running = false;
	job->ended_ms = w->now_ms;
	/* what was not part of a checkpoint is lost; the rest is committed by the next start */
	for (size_t i = 0; i < job->out_count; i++)
		if (!job->outs[i].committed &&
		    (bg_newest(w, side) < 0 || i >= w->snaps[bg_newest(w, side)].outs))
			job->outs[i].aborted = true;
}

void bg_job_fail_over(struct bg_world *w, int side)
{
	struct bg_job *job = &w->sides[side].job;
	int newest;

	if (!job->running)
		return;
	/* by itself, Flink passes savepoints over, except for the one that it was started from */
	for (newest = w->snap_count - 1; newest >= 0; newest--)
		if (w->snaps[newest].side == side && w->snaps[newest].epoch == job->epoch &&
		    w->snaps[newest].complete && !w->snaps[newest].deleted &&
		    !w->snaps[newest].savepoint)
			break;
	if (newest < job->from)
		newest = job->from;
	bg_say(w, "side %d: the job fails over to snapshot %d", side, newest);
	job->running = false;
	job->run_ms = w->now_ms + 300 + bg_below(w, 3000);
	/* a savepoint that is not recorded yet counts as failed, too */
	if (job->op_state == WORK_RUNNING || job->op == BG_OP_SAVE)
		job->op_state = WORK_FAILED;
	restore(w, side, newest);
}

/* ---- operations ---- */

void bg_post(struct bg_world *w, int side, enum bg_op op, int64_t trigger)
{
	struct bg_job *job = &w->sides[side].job;

	if (!job->running || (job->op != BG_OP_NONE && job->op_trigger == trigger))
		return;
	job->op = op;
	job->op_trigger = trigger;
	job->op_state = WORK_RUNNING;
	job->op_ms = w->now_ms + 200 + bg_below(w, 2500);
	job->op_snap = -1;
	if (bg_chance(w, w->save_fails)) {
		job->op_state = WORK_FAILED;
		bg_say(w, "side %d: the %s fails", side, op == BG_OP_STOP ? "stop" : "savepoint");
	}
}

static void finish(struct bg_world *w, int side)
{
	struct bg_job *job = &w->sides[side].job;

	commit(w, side, w->snaps[job->op_snap].outs);
	w->snaps[job->op_snap].confirmed = true;
	job->op_state = WORK_DONE;
	job->finished = true;
	if (!bg_chance(w, 100))
		bg_gate_report(w, side);
	job->alive = job->running = false;
	job->ended_ms = w->now_ms;
	bg_say(w, "side %d: the job has finished with snapshot %d", side, job->op_snap);
}

static void operate(struct bg_world *w, int side)
{
	struct bg_job *job = &w->sides[side].job;

	if (job->op_state != WORK_RUNNING || job->op == BG_OP_NONE || w->now_ms < job->op_ms)
		return;
	if (job->op_snap < 0) { /* the barrier; of a stop, nothing is processed after it */
		job->op_snap = take(w, side, true, job->op == BG_OP_STOP);
		job->op_ms = w->now_ms + 100 + bg_below(w, 1500);
		if (job->op_snap < 0)
			job->op_state = WORK_FAILED;
		else if (job->op == BG_OP_STOP)
			bg_judge_stop(w, side, &w->snaps[job->op_snap]);
		return;
	}
	if (!w->snaps[job->op_snap].complete) {
		w->snaps[job->op_snap].complete = true;
		job->op_ms = w->now_ms + bg_below(w, 400);
		if (job->op == BG_OP_SAVE)
			job->op_state = WORK_DONE;
		/* complete, and its sinks are not told */
		else if (bg_chance(w, 40))
			bg_job_end(w, side, "right after its stop savepoint was complete");
		return;
	}
	finish(w, side);
}

/* ---- processing ---- */

static void checkpoint(struct bg_world *w, int side)
{
	struct bg_job *job = &w->sides[side].job;

	if (job->confirm_ms && w->now_ms >= job->confirm_ms) {
		commit(w, side, w->snaps[job->done_snap].outs);
		w->snaps[job->done_snap].confirmed = true;
		job->confirm_ms = 0;
	}
	if (job->complete_ms && w->now_ms >= job->complete_ms) {
		job->complete_ms = 0;
		if (!bg_chance(w, 100)) {
			job->done_snap = job->open_snap;
			w->snaps[job->done_snap].complete = true;
			job->confirm_ms = w->now_ms + 1 + bg_below(w, 500);
			retain(w, side);
		}
	}
	if (w->now_ms < job->checkpoint_ms || job->complete_ms || job->confirm_ms)
		return;
	job->open_snap = take(w, side, false, false);
	job->checkpoint_ms = w->now_ms + 2000 + bg_below(w, 8000);
	if (job->open_snap >= 0)
		job->complete_ms = w->now_ms + 100 + bg_below(w, 2000);
}

static bool stops(const struct bg_job *job)
{
	return job->op == BG_OP_STOP && job->op_state == WORK_RUNNING && job->op_snap >= 0;
}

/* By the record, or by the clock where it is read. */
static int64_t time_here(const struct bg_world *w, int side, int split, int record)
{
	int64_t time = bg_time_of(w, split, record);

	if (!w->stamps)
		return time;
	return w->now_ms + w->sides[side].clock_ms + time - bg_due_ms(w, split, record);
}

static void process(struct bg_world *w, int side, int split)
{
	struct bg_job *job = &w->sides[side].job;
	struct bg_task *task = &job->tasks[split];

	for (int i = 0; i < CATCH_UP && task->position < w->records &&
			bg_due_ms(w, split, task->position) <= w->now_ms;
	     i++) {
		int record = task->position++;
		int64_t time = time_here(w, side, split, record);
		bool late = task->watermark != GATE_NO_TIME && time <= task->watermark;

		if (late)
			w->is_late[split][record] = true;
		task->last_ms = w->now_ms;
		if (time > task->max_seen)
			task->max_seen = time;
		if (bg_gate_takes(w, side, split, record, time)) {
			if (job->out_count == BG_OUTS) {
				bg_fail(w, "too many outputs for the model");
				return;
			}
			job->outs[job->out_count++] =
				(struct bg_out){.split = split,
						.record = record,
						.time = time,
						.late = late && task->order.word == GATE_FINISH};
		}
		if (time - w->disorder_ms - 1 > task->watermark)
			task->watermark = time - w->disorder_ms - 1;
	}
	/* the end of the stream */
	if (task->position == w->records)
		task->watermark = INT64_MAX / 2;
}

void bg_job_tick(struct bg_world *w, int side)
{
	struct bg_job *job = &w->sides[side].job;

	if (!job->alive)
		return;
	if (!job->running) {
		/* a gate that has no order waits, and is told the last one before its first record */
		job->running = w->now_ms >= job->run_ms && job->has_file;
		if (job->running) {
			bg_gate_reset(w, side);
			bg_flip_reset(w, side);
		}
		return;
	}
	if (!stops(job))
		for (int s = 0; s < w->splits; s++)
			if (!bg_odds(w, 100)) /* a busy thread */
				process(w, side, s);
	operate(w, side);
	if (job->running && !stops(job))
		checkpoint(w, side);
	if (job->poison_ms && w->now_ms >= job->poison_ms && bg_odds(w, 200))
		bg_job_end(w, side, "its version is bad");
}
