/*
 * map_mark - the annotations by which a ConfigMap of drey is told from one that somebody else has put in its place.
 *
 * RBAC cannot bind `create` to names: an account of the same namespace may create a map of any name, with any content,
 * label and annotation. It may not choose the uid of what it creates, because the API server does, and it may not
 * change it afterwards. So:
 *   drey.dev/made-by: chart  an empty map is one in which nothing was written yet. Anybody can say that of a map that
 *                            they create; but an empty map is harmless.
 *   drey.dev/uid: UID        the uid of this very object: what is in it was written by somebody who may change it.
 *                            drey puts it there with its first write, a person who has restored a map by hand.
 *
 * A map that was deleted and made anew, from a copy too, has another uid: its mark is OTHER.
 *
 * What replaces the whole object by what the chart renders (`helm upgrade --force`, `kubectl replace`) takes the content away, and
 * drey.dev/uid with it: what is left looks as it was made. So drey applies drey.dev/made-by as well, which is there already: the
 * API server records that, and keeps the record (configmap_apply()). An empty map with it was written before; one that has
 * its own drey.dev/uid still was emptied by somebody who has changed only the content, and means it.
 */
#ifndef DREY_KUBE_MAP_MARK_H
#define DREY_KUBE_MAP_MARK_H

#include <stdbool.h>

#include "base/err.h"
#include "base/json.h"
#include "kube/configmap.h"

#define MAP_MARK_MADE    "drey.dev/made-by"
#define MAP_MARK_MADE_BY "chart"
#define MAP_MARK_UID     "drey.dev/uid"

enum map_mark {
	MAP_MARK_NONE,  /* no uid */
	MAP_MARK_OWN,   /* its own */
	MAP_MARK_OTHER, /* that of another object */
};

enum map_mark map_mark_of(const struct configmap *map);

/* Is it one of ours, that somebody or something has made or left without content? */
bool map_mark_says_empty(const struct configmap *map);

/* One of these without content: was it written before, and has lost that without anybody having meant it? */
bool map_mark_was_emptied(const struct configmap *map);

/* The metadata of one that was listed, without content: made by the chart, and nothing was written to it yet? */
bool map_mark_is_fresh(const struct json *metadata);

/* Into the metadata of a patch: this is the object with this uid. */
void map_mark_add(struct json *metadata, const char *uid);

/* What is applied once it has content, so that a PUT of the whole map does not make it look new; with `used` false, what takes
 * that back. The caller owns it. */
struct json *map_mark_witness(const char *name, const char *uid, const char *resource_version,
			      bool used);

/* It is empty, and was not before, because of `why` ("was replaced"): ERR_RETRY, because a drey that runs writes it
 * again, with the ways out. */
int map_mark_refuse_emptied(const struct configmap *map, const char *place, const char *why,
			    struct err *err);

/* It does not exist, and drey does not create it: ERR_RETRY with the way out. `place`: "ConfigMap shop/orders-x". */
int map_mark_refuse_missing(const char *place, struct err *err);

/* Its content is not to be believed, because of `why` ("was made anew"): ERR_CONFIG with the ways out. */
int map_mark_refuse_foreign(const struct configmap *map, const char *place, const char *why,
			    struct err *err);

#endif
