/*
 * What Flink's REST API shows of the job: its state, its savepoints, and the checkpoint statistics, which Flink caches.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/sim/sim.h"

/* rest.cache.checkpoint-statistics.timeout */
#define REST_CACHE_MS 3000

int flink_reported_restore(const struct world *w)
{
	return w->now_ms >= w->flink->statistics_ms ? w->flink->restored
						    : w->flink->restored_before;
}

const char *rest_path(const struct world *w, int snap, char *buffer, size_t size_bytes)
{
	static const char scheme[] = "file:";
	const char *path = w->storage.snaps[snap].path;
	size_t len = strlen(path);

	/* for each answer to a poll: snprintf() would be the most of it */
	if (strlen(scheme) + len >= size_bytes)
		abort();
	memcpy(buffer, scheme, strlen(scheme));
	memcpy(buffer + strlen(scheme), path, len + 1);
	return buffer;
}

/* Flink remembers only the last ones. */
static void show_savepoints(struct world *w, struct view_slot *slot)
{
	for (int i = w->storage.count - 1; i >= 0 && slot->view.savepoint_count < VIEW_SAVEPOINTS;
	     i--) {
		const struct snap *snap = &w->storage.snaps[i];
		size_t next = slot->view.savepoint_count;

		if (snap->launch != w->flink->launch || snap->kind != SNAPSHOT_SAVEPOINT ||
		    !snap->complete)
			continue;
		slot->savepoints[next] = (struct seen_savepoint){
			.id = snap->id,
			.path = rest_path(w, i, slot->savepoint_paths[next],
					  sizeof(slot->savepoint_paths[next])),
			.completed_unix_ms = snap->completed_unix_ms,
			.stop = snap->stop};
		slot->view.savepoint_count++;
		slot->told[slot->told_count++] = i;
	}
	slot->view.savepoints = slot->savepoints;
}

static void show_statistics(struct world *w, struct view_slot *slot)
{
	struct flink *flink = w->flink;
	struct view *view = &slot->view;

	if (flink->cached_ms < 0 || w->now_ms >= flink->cached_ms + REST_CACHE_MS) {
		flink->cached_ms = w->now_ms;
		flink->cached_restored = flink_reported_restore(w);
		flink->cached_completed = has(w, FEATURE_LIES) ? lie_completed(w, flink->completed)
							       : flink->completed;
	}
	view->statistics_known = true;
	if (has(w, FEATURE_STALL))
		view->plan = (struct checkpoint_plan){.known = true,
						      .interval_ms = flink->checkpoint_interval_ms};
	if (has(w, FEATURE_LIES))
		view->effective = lie_effective(w);
	show_savepoints(w, slot);
	if (flink->cached_restored >= 0) {
		view->restored = true;
		view->restored_id = w->storage.snaps[flink->cached_restored].id;
		view->restored_path = rest_path(w, flink->cached_restored, slot->restored_path,
						sizeof(slot->restored_path));
	}
	if (flink->cached_completed >= 0) {
		const struct snap *snap = &w->storage.snaps[flink->cached_completed];

		slot->told[slot->told_count++] = flink->cached_completed;
		view->completed_id = snap->id;
		view->completed_unix_ms = snap->completed_unix_ms;
		view->completed_path = rest_path(w, flink->cached_completed, slot->completed_path,
						 sizeof(slot->completed_path));
	}
}

void flink_view_cleanup(struct world *w, struct view_slot *slot)
{
	const struct flink *flink = w->flink;
	bool over = flink->alive && job_state_is_final(flink->state);

	slot->view = (struct view){.cleanup = CLEANUP_PENDING};
	slot->told_count = 0;
	if (over && (flink->cleanup == CLEANUP_UNKNOWN || w->now_ms >= flink->clean_ms))
		slot->view.cleanup = flink->cleanup;
}

void flink_view(struct world *w, const char *job_id, struct view_slot *slot)
{
	const struct flink *flink = w->flink;
	struct view *view = &slot->view;

	*view = (struct view){.reachable = false, .mute = true};
	slot->told_count = 0;
	if (!flink_answers(w) || chance(w, w->chaos.poll_lost))
		return;
	view->reachable = true;
	view->job_present = flink->job_present && !flink_is_held(flink) &&
			    !strcmp(w->truth.launches[flink->launch].job_id, job_id);
	if (!view->job_present)
		return;
	view->state = flink->state;
	view->job_unix_ms = flink->job_unix_ms;
	view->tasks_missing = flink->tasks_lost;
	view->cluster = (struct cluster){.tasks_known = true,
					 .slots_known = true,
					 .tasks_total = 4,
					 .tasks_running = flink->tasks_lost ? 0 : 4,
					 .tasks_waiting = flink->tasks_lost ? 4 : 0,
					 .task_managers = flink->tasks_lost ? 0 : 2,
					 .slots_total = flink->tasks_lost ? 0 : 4};
	if (flink->state == JOB_FAILED || flink->state == JOB_RESTARTING)
		view->failure = flink->failure;
	if (flink->state != JOB_INITIALIZING && !chance(w, w->chaos.poll_lost / 2))
		show_statistics(w, slot);
}
