/*
 * kube_watch - wakes its owner soon after one object was changed, created or deleted. It may wake for
 * nothing, and it may be late (a lost connection, a server that refuses), so an owner that must know
 * also polls, slowly. For an object with a generation only changes of the generation and the beginning
 * of its deletion count, not its status.
 *
 * The owner reads the object, or takes it as the watch has seen it, which saves that request. What is
 * taken may be older than what was read elsewhere: good for news, not as the ground of a write.
 *
 * Life cycle: kube_watches_new() -> kube_watch_new() -> changed()... on the loop's thread ->
 * kube_watch_free() -> kube_watches_free(), within a second, whatever the server does. All watches
 * share one thread, which starts with the first of them; each has its own connection, so one that
 * hangs delays no other.
 *
 * Inside: list (one object, by fieldSelector, which a Role can allow by name), then watch from the
 * list's resourceVersion with bookmarks; when the server ends the watch, again from the last
 * version seen; when that version is too old (410) or anything else goes wrong, list again after a
 * growing pause (Retry-After counts). Silence of KUBE_WATCH_STALL_MS (bookmarks come every minute)
 * means a dead connection: watch again from the last version.
 *
 * Source: client-go tools/cache/reflector.go, tools/watch/retrywatcher.go.
 */
#ifndef DREY_KUBE_KUBE_WATCH_H
#define DREY_KUBE_KUBE_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/loop.h"
#include "kube/kube_client.h"

#define KUBE_WATCH_STALL_MS     150000
#define KUBE_WATCH_PAUSE_MS     800 /* after the first failure; doubles, with jitter */
#define KUBE_WATCH_PAUSE_MAX_MS 30000
/* The same after 401, 403, or a resource that is not installed: a server denies everything for a
 * moment after its start, but the denial may also be permanent. */
#define KUBE_WATCH_DENIED_MS     4000
#define KUBE_WATCH_DENIED_MAX_MS 300000
#define KUBE_WATCH_MAX_BYTES     (8u << 20) /* of one event */
#define KUBE_WATCH_LEAST_MS      1000       /* between the starts of two watches */
#define KUBE_WATCH_HEARD_MS      90000 /* kube_watch_holds(): as a bookmark comes every minute */

struct json;
struct kube_watches;
struct kube_watch;

struct kube_watches *kube_watches_new(struct kube_client *client, struct loop *loop);
void kube_watches_free(struct kube_watches *watches); /* after its watches; NULL is allowed */

struct kube_watch_target {
	const char *collection; /* "/api/v1/namespaces/x/configmaps" */
	const char *name;
	int64_t stall_ms; /* 0: KUBE_WATCH_STALL_MS */
	bool keeps;       /* for kube_watch_take() */
};

/* changed(ctx) runs on the loop's thread, once for any number of changes since its last run, and
 * for the first time when the object (or its absence) was first seen. Never after
 * kube_watch_free(). NULL on failure. Everything is copied. */
struct kube_watch *kube_watch_new(struct kube_watches *watches,
				  const struct kube_watch_target *target,
				  void (*changed)(void *ctx), void *ctx, struct err *err);

/* The object as it was seen last, of a watch that keeps it; the caller frees it. NULL: it was taken
 * already, or is absent: the owner must read to know which. From any thread. */
struct json *kube_watch_take(struct kube_watch *watch);

void kube_watch_free(struct kube_watch *watch); /* loop's thread; NULL is allowed */

/* For status and tests; from any thread. */
struct kube_watch_counts {
	int lists, watches;      /* requests begun */
	int events;              /* changes and bookmarks received */
	int failures;            /* since the last success, of list or watch */
	int64_t heard_ms;        /* when the server was heard last, monotonic */
	char why[ERR_MSG_BYTES]; /* of the last failure; "" */
};
struct kube_watch_counts kube_watch_counts(struct kube_watch *watch);

/* The object was seen, the watch is under way, and the server was heard lately: a change is noticed. */
bool kube_watch_holds(struct kube_watch *watch);

#endif
