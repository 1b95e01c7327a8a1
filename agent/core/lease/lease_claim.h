/*
 * lease_claim - the content of the lease object (lease.h): who may run the application. JSON, format 1.
 *
 * Read strictly: an object that is damaged, of a later format or of another application is an error, and is
 * never overwritten. Unknown members are ignored. The claim is a plain value.
 */
#ifndef DREY_CORE_LEASE_CLAIM_H
#define DREY_CORE_LEASE_CLAIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

#define LEASE_ID_BYTES        33 /* 32 hex digits */
#define LEASE_NAME_BYTES      128
#define LEASE_URI_BYTES       1152 /* a bucket and a key of S3, and the scheme */
#define LEASE_CLAIM_MAX_BYTES 4096 /* of the object */
#define LEASE_MIN_MS          INT64_C(10000)
#define LEASE_MAX_MS          INT64_C(3600000)
#define LEASE_SEQUENCE_MAX    (INT64_C(1) << 52)

struct lease_claim {
	char holder[LEASE_ID_BYTES];  /* of an installation: one journal, and each copy of it */
	char session[LEASE_ID_BYTES]; /* of one agent */
	char write[LEASE_ID_BYTES];   /* of this write, drawn for it; "" = of an earlier drey */
	int64_t sequence;             /* +1 with each write of any installation */
	int64_t duration_ms;          /* the holder ends its Flink so long after its last write */
	bool parked;                  /* the application is not meant to run */
	bool ended; /* the writer's Flink has ended, and its container ends: none of its runs */
	char name[LEASE_NAME_BYTES]; /* of the holder, for people */
	char uri[LEASE_URI_BYTES]; /* of the object that it was written to; "" = by an earlier drey */
	int64_t written_unix_ms;   /* by its clock, for people: no decision depends on it */
};

/* ERR_FORMAT, and ERR_CONFIG for one of another application. */
int lease_claim_parse(const char *text, size_t len_bytes, const char *application,
		      struct lease_claim *ret_claim, struct err *err);

void lease_claim_print(const struct lease_claim *claim, const char *application, struct buf *text);

#endif
