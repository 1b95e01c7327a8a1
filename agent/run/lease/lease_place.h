/*
 * lease_place - the mark of the lease object (core/lease/lease_mark.h) as a file of the state directory,
 * and the place that it is bound to.
 *
 * Not synced to the disk: it matters to the next agent on this running machine only.
 */
#ifndef DREY_RUN_LEASE_PLACE_H
#define DREY_RUN_LEASE_PLACE_H

#include "core/lease/lease_mark.h"

#define LEASE_MARK_NAME "lease.json"

/* The running kernel, the Pod (uid; NULL = not known) and the directory; "" = it cannot be told. */
void lease_place(const char *directory, const char *pod, char ret_place[LEASE_PLACE_BYTES]);

/* False: there is none, or it proves nothing here. */
bool lease_mark_load(const char *directory, const char *place, struct lease_mark *ret_mark);
/* Replaces it; a crash leaves the old one or the new one. */
int lease_mark_store(const char *directory, const char *place, const struct lease_mark *mark,
		     struct err *err);

#endif
