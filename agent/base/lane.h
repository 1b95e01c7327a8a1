/*
 * lane - one worker thread with a queue, so that slow work (storage, journal, HTTP) never blocks
 * the main loop. Jobs of one lane run one after another, in the order of submission.
 *
 *   lane_submit(lane, list_checkpoints, checkpoints_listed, job);
 *     list_checkpoints(job)          on the lane's thread; may block; touches nothing but *job
 *     checkpoints_listed(job, true)  later, on the loop's thread; owns *job again
 *
 * Life cycle: lane_new() -> lane_submit()... -> lane_free(). All functions are for the loop's
 * thread. The worker blocks all signals. No job, no wake-up.
 */
#ifndef DREY_BASE_LANE_H
#define DREY_BASE_LANE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/loop.h"

struct lane;

typedef void lane_work_fn(void *arg);
/* ran is false if lane_free() removed the job from the queue before it started. */
typedef void lane_done_fn(void *arg, bool ran);

/* `name` (up to 15 bytes) is the thread's name in ps and gdb. NULL on failure. */
struct lane *lane_new(struct loop *loop, const char *name, struct err *err);

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
