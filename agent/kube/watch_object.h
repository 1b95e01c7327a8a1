/*
 * watch_object - what is known of an object that is watched: from lists and events of the API server
 * to "it has changed". Pure.
 *
 * Life cycle: a zeroed struct with path and name -> watch_object_list(), watch_object_event()... ->
 * watch_object_release().
 *
 * Of an object with a generation only that counts, and that its deletion has begun; its status does
 * not. Of other objects each version counts.
 */
#ifndef DREY_KUBE_WATCH_OBJECT_H
#define DREY_KUBE_WATCH_OBJECT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/json.h"

struct watch_object {
	char *path;        /* "COLLECTION?fieldSelector=metadata.name%3DNAME" */
	char *name;        /* of the one object of that collection */
	char *version;     /* to watch from; NULL: list first */
	char *mark;        /* what it was seen as, "" absent; NULL: never seen */
	bool taken_back;   /* the last event: the server has ended the watch with an error */
	int64_t pause_ms;  /* what it asked for in that event; -1 */
	bool keeps;        /* the object itself is of interest, too */
	struct json *kept; /* as it was in the newest list or event; NULL: absent, or !keeps */
};

/* Both take one answer into account. *ret_changed is set if the object is another one than before.
 * -1: ERR_FORMAT, or, of an event, the error that the server reports with it. */
int watch_object_list(struct watch_object *object, const struct json *list, bool *ret_changed,
		      struct err *err);
int watch_object_event(struct watch_object *object, const struct json *event, bool *ret_changed,
		       struct err *err);

void watch_object_release(struct watch_object *object); /* zeroed is allowed */

#endif
