/*
 * bucket - the bucket of the lease object is copied under another name, with the lease object in it, and an
 * installation is configured with the copy: the other one, a third one from a copy of our namespace, or ours, whose
 * storage is then what was copied. A replication may copy the object again, over the one that is in use there.
 *
 * Only in histories with FEATURE_LEASE, and in half of them. Draws from a stream of its own.
 */
#ifndef DREY_TESTS_BUCKET_H
#define DREY_TESTS_BUCKET_H

#include <stdbool.h>
#include <stdint.h>

#include "core/lease/lease.h"
#include "core/rng.h"

struct world;
struct item;
struct lease_asker;

#define BUCKETS 2 /* the original, and the copy */

struct lease_object {
	struct lease_claim claim;
	struct lease_claim old; /* an earlier one, which a person may put back */
	bool exists;
	bool copied; /* it came with its bucket, says so, and nobody has written it since */
};

struct buckets {
	struct rng rng;
	int64_t mean_ms;   /* between two accidents; 0 = there are none */
	bool copied;       /* there is a copy */
	int ours;          /* which one our installation is configured with */
	bool other_is_old; /* the other installation is drey 0.2.0: it writes and knows no URI */
};

const char *bucket_uri(int bucket);
void bucket_begins(struct world *w);
void bucket_item(struct world *w, const struct item *item);
void bucket_of_other(struct world *w); /* it is back: with which one? */
struct lease_object *bucket_object(struct world *w, const struct lease_asker *asker);
/* A person has found that the job has ended where the object is from, and deletes it. */
void bucket_help(struct world *w);
/* oracles: a write that is as required; a refusal; never two in one bucket */
void bucket_judge_write(struct world *w, const struct lease_asker *asker);
void bucket_judge_refusal(struct world *w, bool says_copied, const char *why);
void bucket_one_job(struct world *w);

#endif
