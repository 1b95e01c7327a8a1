#include "tests/sim/bucket.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "tests/sim/sim.h"

#define COPY 1 /* the bucket that is a copy */

static bool odds_of(struct world *w, int per_mille)
{
	return stream_odds(&w->buckets.rng, per_mille);
}

const char *bucket_uri(int bucket)
{
	return bucket == COPY ? "s3://copy/lease.json" : "s3://bucket/lease.json";
}

struct lease_object *bucket_object(struct world *w, const struct lease_asker *asker)
{
	return &w->lease.objects[asker->bucket];
}

static void plan_next(struct world *w)
{
	plan(w, stream_between(&w->buckets.rng, 1, 2 * w->buckets.mean_ms), ITEM_BUCKET,
	     SCOPE_WORLD);
}

void bucket_begins(struct world *w)
{
	struct buckets *buckets = &w->buckets;

	rng_seed(&buckets->rng, w->seed ^ UINT64_C(0xb0c4e7b0c4e7));
	if (odds_of(w, 500))
		return;
	buckets->mean_ms = stream_between(&buckets->rng, 1, 8) * MINUTE_MS;
	buckets->other_is_old = odds_of(w, 150);
	plan_next(w);
}

/* ---- what happens to a bucket ---- */

static bool anybody_holds(struct world *w, int bucket)
{
	const struct lease_asker *askers[PODS + 2] = {&w->lease.other, &w->lease.third};

	for (int i = 0; i < PODS; i++)
		askers[2 + i] = &w->pods[i].agent.lease;
	for (size_t i = 0; i < ARRAY_LEN(askers); i++)
		if (askers[i]->bucket == bucket && lease_holds(w, askers[i]))
			return true;
	return false;
}

/* The first time with all that is in it; later only with the lease object, where the copy is in use. An earlier drey does not see
 * that it is a copy, so a longer claim that lies under it is lost to it: not beside a holder. */
static void copy(struct world *w)
{
	const struct lease_object *from = &w->lease.objects[0];

	if (!from->exists || (w->buckets.other_is_old && anybody_holds(w, COPY)))
		return;
	say(w, "the bucket is copied, with its lease object");
	if (w->buckets.ours != COPY)
		volumes_back_up(w);
	w->lease.objects[COPY] = (struct lease_object){
		.claim = from->claim, .exists = true, .copied = from->claim.uri[0]};
	w->buckets.copied = true;
	w->figures->buckets++;
}

/* A longer claim than its readers know may lie under the copy: not while somebody holds it. */
static void delete_copy(struct world *w)
{
	struct lease_object *object = &w->lease.objects[COPY];

	if (!object->copied || !object->exists || anybody_holds(w, COPY))
		return;
	say(w, "a person deletes the lease object of the copied bucket");
	*object = (struct lease_object){0};
}

void bucket_help(struct world *w)
{
	/* the job has ended where the bucket is that was copied, as drey asks for; who else waits for the copy does not matter */
	if (lease_is_copied(&w->agent->lease.lease) && !anybody_holds(w, 0))
		delete_copy(w);
}

/* ---- who is configured with it ---- */

void bucket_of_other(struct world *w)
{
	if (!w->buckets.mean_ms)
		return;
	w->lease.other.bucket = w->buckets.copied && odds_of(w, 400) ? COPY : 0;
	say(w, "it has %s", bucket_uri(w->lease.other.bucket));
}

static void third(struct world *w)
{
	if (w->lease.third_lives) {
		w->lease.third_lives = false;
		say(w, "the third installation is lost");
	} else if (w->buckets.copied && w->agent->alive && w->agent->life.journal.lease_id) {
		w->lease.third_lives = true;
		w->lease.third.bucket = COPY;
		say(w, "a copy of our namespace has %s", bucket_uri(COPY));
		lease_third_begins(w);
	}
}

/* Its storage is what was copied, and what it had made since is not there. Its state directory is the same. */
static void move_ours(struct world *w)
{
	int pod = w->pod;

	if (!w->buckets.copied || w->buckets.ours == COPY || has(w, FEATURE_MOVED) ||
	    has(w, FEATURE_ROLLBACK))
		return;
	for (int i = 0; i < PODS; i++) {
		world_enter(w, i);
		container_die(w, "it gets the copied bucket");
	}
	w->buckets.ours = COPY;
	say(w, "our installation has %s", bucket_uri(COPY));
	volumes_put_back(w);
	world_enter(w, pod);
}

static void enter_alive(struct world *w)
{
	for (int i = 0; i < PODS; i++)
		if (w->pods[i].agent.alive) {
			world_enter(w, i);
			return;
		}
}

void bucket_item(struct world *w, const struct item *item)
{
	int64_t which = stream_between(&w->buckets.rng, 0, 9);

	(void)item;
	if (w->calm) {
		w->lease.third_lives = false;
		return;
	}
	enter_alive(w);
	if (which < 4)
		copy(w);
	else if (which < 6)
		third(w);
	else if (which < 7)
		move_ours(w);
	else
		delete_copy(w);
	plan_next(w);
}

/* ---- oracles ---- */

void bucket_judge_write(struct world *w, const struct lease_asker *asker)
{
	bool knows = asker != &w->lease.other || !w->buckets.other_is_old;

	if (knows && bucket_object(w, asker)->copied && !lease_holds(w, asker))
		fail(w, "a lease object that was copied with its bucket is taken");
}

/* It waits for a person, who must learn that. */
void bucket_judge_refusal(struct world *w, bool says_copied, const char *why)
{
	const struct lease *lease = &w->agent->lease.lease;
	const struct lease_object *object = bucket_object(w, &w->agent->lease);
	bool is_read = lease->seen == LEASE_ANSWER_OK && object->exists &&
		       !strcmp(lease->etag, object->claim.write);

	if (is_read && object->copied && !lease_holds(w, &w->agent->lease) &&
	    (!says_copied || !strstr(why, object->claim.uri)))
		fail(w, "the lease object is a copy, and all that is said is: %s", why);
}

void bucket_one_job(struct world *w)
{
	int running[BUCKETS] = {0};

	for (int i = 0; i < PODS; i++)
		running[w->buckets.ours] |= w->pods[i].flink.alive;
	running[w->lease.other.bucket] += lease_holds(w, &w->lease.other);
	running[w->lease.third.bucket] += lease_holds(w, &w->lease.third);
	for (int i = 0; i < BUCKETS; i++)
		if (running[i] > 1)
			fail(w, "a Flink lives, and another installation holds the lease of %s",
			     bucket_uri(i));
}
