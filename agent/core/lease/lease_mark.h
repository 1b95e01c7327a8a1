/*
 * lease_mark - what an agent leaves in the state directory about its last writes of the lease object
 * (lease.h), so that the next agent there can prove that the claim in the object is its own.
 *
 * The proof is one that no copy carries: the names of the last writes, which the copy of a journal does
 * not have, and the place where they were made: the running kernel, the Pod, and the directory itself
 * (device and inode). A directory that was copied, restored on another machine or mounted in another Pod
 * is another place. And the object: what was written to one proves nothing about another. JSON, format 1; a plain value.
 */
#ifndef DREY_CORE_LEASE_MARK_H
#define DREY_CORE_LEASE_MARK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "core/lease/lease_claim.h"

#define LEASE_MARK_WRITES    8 /* as many may be under way, or have arrived late */
#define LEASE_MARK_MAX_BYTES 4096
#define LEASE_PLACE_BYTES    256

struct lease_mark {
	int64_t sequence; /* the highest that was in the object; 0 = none */
	char writes[LEASE_MARK_WRITES][LEASE_ID_BYTES]; /* the newest first; "" = none */
	char uri[LEASE_URI_BYTES]; /* of the object; "" = by an earlier drey, or not known */
};

void lease_mark_add(struct lease_mark *mark, const char *write);
void lease_mark_saw(struct lease_mark *mark, int64_t sequence);
/* Another one has written: none of these proves anything any more. */
void lease_mark_forget(struct lease_mark *mark);
bool lease_mark_has(const struct lease_mark *mark, const char *write);

/* ERR_FORMAT, and ERR_CONFIG for a mark that was made at another place (or for no known place, ""). */
int lease_mark_parse(const char *text, size_t len_bytes, const char *place,
		     struct lease_mark *ret_mark, struct err *err);
void lease_mark_print(const struct lease_mark *mark, const char *place, struct buf *text);

#endif
