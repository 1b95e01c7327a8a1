/*
 * lane - a queue of slow work (storage, journal, HTTP), so that it never blocks the main loop. Jobs of
 * one lane run one after another, in the order of submission; a job that hangs delays only its own
 * lane.
 *
 *   lane_submit(lane, list_checkpoints, checkpoints_listed, job);
 *     list_checkpoints(job)          on a worker thread; may block; touches nothing but *job
 *     checkpoints_listed(job, true)  later, on the loop's thread; owns *job again
 *
 * All lanes share the workers. At rest there is one, which does the short jobs of all lanes in a row,
 * so that polls that fall together wake one thread. When a lane has waited LANE_TURN_MS for it, another
 * worker does its job; more than two end when they have nothing to do. A lane has at most one worker.
 *
 * Life cycle: workers_new() -> lane_new() -> lane_submit()... -> lane_free() -> workers_free(). All
 * functions are for the loop's thread. Workers block all signals. No job, no wake-up.
 */
#ifndef DREY_BASE_LANE_H
#define DREY_BASE_LANE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/loop.h"

#define LANE_TURN_MS 5

struct workers;
struct lane;

struct workers *workers_new(struct loop *loop, struct err *err); /* NULL on failure */
/* After its lanes. The thread of an abandoned job is not waited for. NULL is allowed. */
void workers_free(struct workers *workers);

typedef void lane_work_fn(void *arg);
/* ran is false if lane_free() removed the job from the queue before it started. */
typedef void lane_done_fn(void *arg, bool ran);

/* `name` (up to 15 bytes) is the name in ps and gdb of the thread that does its job. */
struct lane *lane_new(struct workers *workers, const char *name);

/* done(arg, ...) is called exactly once for every job, except for one that lane_free() abandons. */
void lane_submit(struct lane *lane, lane_work_fn *work, lane_done_fn *done, void *arg);

size_t lane_queued(const struct lane *lane); /* waiting, without the running one */

/*
 * End the lane: the running job gets up to wait_ms and done(arg, true), queued jobs get done(arg,
 * false), all before this returns. A job still running after wait_ms is abandoned with its arg and
 * its thread (which ends when the job returns): false then.
 */
bool lane_free(struct lane *lane, int64_t wait_ms); /* NULL is allowed */

#endif
