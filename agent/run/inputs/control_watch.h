/*
 * control_watch - reads the control directory when it changes, on a lane.
 *
 * inotify watches the directory itself: its entries are links, and a watch on one of them would
 * work exactly once. If inotify instances are exhausted (they are counted per user on the whole
 * node), or inotify cannot see a change (a network file system), polling finds it; on a local file
 * system, where inotify sees everything, polling is rarer.
 *
 * Life cycle: control_watch_new() reads once, soon -> callbacks on the loop -> control_watch_free()
 * after the lane was freed. A change during a reading leads to one more reading.
 */
#ifndef DREY_RUN_CONTROL_WATCH_H
#define DREY_RUN_CONTROL_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/lane.h"
#include "base/loop.h"
#include "run/inputs/control_dir.h"

#define CONTROL_POLL_LOCAL 10   /* times poll_ms if inotify is enough */
#define CONTROL_SETTLE_MS  50   /* from the first sign of a change to the reading */
#define CONTROL_RETRY_MS   5000 /* after a failed reading; no later than the poll */

struct control_watch; /* opaque */

/* A reading. desired: borrowed for the call; NULL: it failed, see *why. */
typedef void control_watch_fn(void *arg, const struct desired *desired, const struct err *why);

/* path is borrowed. poll_ms: 0 = no poll, except when inotify does not work. Never fails. */
struct control_watch *control_watch_new(struct loop *loop, struct lane *lane, const char *path,
					int64_t poll_ms, control_watch_fn *fn, void *arg);
bool control_watch_has_inotify(const struct control_watch *watch);
bool control_watch_sees_all(const struct control_watch *watch); /* and on a local file system */
void control_watch_free(struct control_watch *watch);           /* NULL is allowed */

#endif
