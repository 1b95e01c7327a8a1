/*
 * control_watch - reads the control directory when it changes, on a lane.
 *
 * inotify watches the directory itself: what is in it are links, and a watch on one of them would
 * work exactly once. Where inotify has run out (its instances are counted per user on the whole
 * node) or cannot see a change (a network file system), the poll finds it; where it works and sees all, on
 * a local file system, the poll is rarer.
 *
 * Life cycle: control_watch_new() reads once, soon -> callbacks on the loop -> control_watch_free()
 * after the lane was freed. What comes while a reading is under way leads to one more.
 */
#ifndef DREY_RUN_CONTROL_WATCH_H
#define DREY_RUN_CONTROL_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/lane.h"
#include "base/loop.h"
#include "run/control/control_dir.h"

#define CONTROL_POLL_LOCAL 10   /* times poll_ms where inotify is enough */
#define CONTROL_SETTLE_MS  50   /* from the first sign of a change to the reading */
#define CONTROL_RETRY_MS   5000 /* after a reading that failed; no later than the poll */

struct control_watch; /* opaque */

/* A reading. desired: borrowed for the call; NULL when it failed, *why then says so. */
typedef void control_watch_fn(void *arg, const struct desired *desired, const struct err *why);

/* path is borrowed. poll_ms: 0 = no poll, except when inotify does not work. Never fails. */
struct control_watch *control_watch_new(struct loop *loop, struct lane *lane, const char *path,
					int64_t poll_ms, control_watch_fn *fn, void *arg);
bool control_watch_has_inotify(const struct control_watch *watch);
bool control_watch_sees_all(const struct control_watch *watch); /* and on a local file system */
void control_watch_free(struct control_watch *watch);           /* NULL is allowed */

#endif
