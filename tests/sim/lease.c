/*
 * The lease object: another installation shares it. That one comes and goes, each time as a copy of our namespace (the same
 * id, mostly the same name) or as itself; the leases of either last 20, 30 or 60 s; its clock began at another moment, and is up
 * to 5 % faster or slower. The store is away now and then, answers are lost, a person deletes the object, or puts an older one
 * back with its bucket, or the bucket is copied (bucket.c); who may run the job is decided by the real core (core/lease), at both sides. What the other
 * installation does with the job is not modelled: it leaves nothing in storage. No Flink of ours may live while the other one
 * holds the lease.
 *
 * Only in histories with FEATURE_LEASE.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tests/sim/sim.h"

#define DURATION_MS (30 * SECOND_MS)
#define TIMEOUT_MS  (5 * SECOND_MS)
#define OTHER       "ffffffffffffffffffffffffffffffff"

static int64_t mono(const struct world *w)
{
	return w->now_ms + MONOTONIC_BASE_MS;
}

static bool is_ours(const struct world *w, const struct lease_asker *asker)
{
	return asker != &w->lease.other && asker != &w->lease.third;
}

/* Where the other installation is, time began at another moment, and passes at another speed. */
static int64_t clock_of(const struct world *w, const struct lease_asker *asker)
{
	if (is_ours(w, asker))
		return mono(w);
	return w->lease.other_clock_ms + w->now_ms * w->lease.other_permille / 1000;
}

/* ---- the store ---- */

static void serve(struct world *w, struct lease_asker *asker)
{
	struct lease_object *object = bucket_object(w, asker);
	bool as_required =
		asker->act == LEASE_CREATE
			? !object->exists
			: object->exists && !strcmp(object->claim.write, asker->lease.etag);

	if (!w->calm && w->now_ms < w->lease.away_until_ms[!is_ours(w, asker)]) {
		asker->answer = LEASE_ANSWER_ERROR;
		return;
	}
	asker->answer = LEASE_ANSWER_OK;
	if (asker->act == LEASE_READ) {
		asker->claim = object->claim;
		if (!object->exists)
			asker->answer = LEASE_ANSWER_ABSENT;
	} else if (!as_required) {
		asker->answer = LEASE_ANSWER_CONFLICT;
	} else {
		bucket_judge_write(w, asker);
		if (object->exists && luck(w, 250))
			object->old = object->claim;
		object->claim = asker->lease.sent;
		object->exists = true;
		object->copied = false;
	}
	snprintf(asker->etag, sizeof(asker->etag), "%s", object->claim.write);
	if (!w->calm && luck(w, 20)) /* the answer is lost */
		asker->answer = LEASE_ANSWER_ERROR;
}

/* ---- who asks: our agent, or the other installation ---- */

static void ask(struct world *w, struct lease_asker *asker, enum item_kind kind, enum scope scope)
{
	int64_t wait_ms = 0;

	char write[LEASE_ID_BYTES];

	rng_hex_id(&w->luck, write);
	asker->act = lease_next(&asker->lease, write, clock_of(w, asker));
	if (asker->act == LEASE_REST) {
		wait_ms = lease_wake_ms(&asker->lease) - clock_of(w, asker);
		wait_ms += is_ours(w, asker) ? 0 : wait_ms / 10; /* a slow one */
	} else {
		serve(w, asker);
		wait_ms =
			asker->answer == LEASE_ANSWER_ERROR ? TIMEOUT_MS : luck_between(w, 2, 200);
	}
	plan(w, wait_ms > 0 ? wait_ms : 0, kind, scope)->a = (int64_t)++asker->token;
}

static void take_answer(struct world *w, struct lease_asker *asker)
{
	struct lease *lease = &asker->lease;

	if (!lease->busy)
		return;
	if (asker->act == LEASE_READ)
		lease_was_read(lease, asker->answer, asker->etag, &asker->claim, "no answer",
			       clock_of(w, asker));
	else
		lease_was_written(lease, asker->answer, asker->etag, "no answer",
				  clock_of(w, asker));
}

static void begin(struct world *w, struct lease_asker *asker, struct lease_self self)
{
	char session[LEASE_ID_BYTES];

	rng_hex_id(&w->luck, session);
	self.session = session;
	if (!w->buckets.other_is_old || asker != &w->lease.other)
		self.uri = bucket_uri(asker->bucket);
	lease_init(&asker->lease, &self);
	asker->begun = true;
}

bool lease_holds(struct world *w, const struct lease_asker *asker)
{
	bool lives = asker == &w->lease.other   ? w->lease.other_lives
		     : asker == &w->lease.third ? w->lease.third_lives
						: asker->begun;

	return lives && lease_is_held(&asker->lease, clock_of(w, asker));
}

/* An earlier journal of ours has it, for an application that is not meant to run, and was lost. Only a person can know that. */
static void help(struct world *w)
{
	const struct lease *ours = &w->agent->lease.lease;

	if (!w->calm)
		return;
	bucket_help(w);
	if (w->lease.other_lives || w->lease.third_lives || !lease_is_parked_elsewhere(ours))
		return;
	say(w, "a person deletes the lease object");
	bucket_object(w, &w->agent->lease)->exists = false;
}

/* ---- our agent ---- */

static struct lease_mark *our_mark(struct world *w)
{
	return &w->pods[w->pod].lease_mark;
}

/* The mark is there before what it stands for is sent. */
static void ask_ours(struct world *w)
{
	ask(w, &w->agent->lease, ITEM_LEASE, SCOPE_AGENT);
	*our_mark(w) = w->agent->lease.lease.mark;
}

/* False: the agent has died of it. */
static bool remember(struct world *w, struct lease_asker *ours)
{
	struct event event = {.type = EVENT_LEASE, .lease = {.longest_ms = ours->lease.longest_ms}};
	uint64_t epoch = w->epochs[SCOPE_AGENT];

	int64_t known_ms = w->agent->life.journal.lease_longest_ms;

	if (event.lease.longest_ms != (known_ms ? known_ms : w->config->object_lease_ms))
		agent_step(w, &event);
	return w->agent->alive && epoch == w->epochs[SCOPE_AGENT];
}

static void our_turn(struct world *w)
{
	struct lease_asker *ours = &w->agent->lease;
	int64_t before_ms = ours->lease.held_ms;
	struct event event = {.type = EVENT_LEASE};

	take_answer(w, ours);
	help(w);
	if (!remember(w, ours))
		return;
	event.lease.sent_ms = ours->lease.held_ms;
	event.lease.why = "another installation holds the lease";
	if (ours->was_held ? !ours->lease.held_ms || ours->lease.held_ms != before_ms
			   : ours->lease.held_ms != 0) {
		uint64_t epoch = w->epochs[SCOPE_AGENT];

		ours->was_held = ours->lease.held_ms != 0;
		agent_step(w, &event);
		if (!w->agent->alive || epoch != w->epochs[SCOPE_AGENT])
			return;
	}
	if (!w->agent->life.fenced && !ours->lease.busy) /* the step may have asked */
		ask_ours(w);
}

void lease_agent_begins(struct world *w)
{
	struct journal *journal = &w->agent->life.journal;

	w->agent->lease.bucket = w->buckets.ours;
	begin(w, &w->agent->lease,
	      (struct lease_self){.holder = journal->lease_id,
				  .name = "east",
				  .duration_ms = w->config->object_lease_ms,
				  .longest_ms = journal->lease_longest_ms,
				  .mark = our_mark(w)});
	ask_ours(w);
}

/* Who is not meant to run the job says so in the object. */
void lease_agent_stepped(struct world *w)
{
	struct lease_asker *ours = &w->agent->lease;
	struct decision decision;

	if (!ours->begun || w->agent->life.fenced)
		return;
	lease_set_parked(&ours->lease,
			 resolve_parked(&w->agent->life.journal, &w->config->policy, &decision));
	if (!ours->lease.busy && lease_wake_ms(&ours->lease) <= mono(w))
		ask_ours(w);
}

/* Its Flink has ended: it gives the lease back, if the store answers at once. */
void lease_agent_exits(struct world *w)
{
	struct lease_asker *ours = &w->agent->lease;
	char write[LEASE_ID_BYTES];

	if (!ours->begun || w->flink->alive || ours->lease.busy)
		return;
	rng_hex_id(&w->luck, write);
	lease_leave(&ours->lease);
	ours->act = lease_next(&ours->lease, write, mono(w));
	*our_mark(w) = ours->lease.mark;
	if (ours->act == LEASE_REST)
		return;
	serve(w, ours);
	take_answer(w, ours);
}

bool lease_lets(struct world *w, const struct effect *effect)
{
	struct item *item;

	if ((effect->type != EFFECT_OBSERVE && effect->type != EFFECT_LAUNCH) ||
	    lease_lets_launch(&w->agent->lease.lease, mono(w)))
		return true;
	item = plan(w, 0, ITEM_LEASE_REFUSED, SCOPE_AGENT);
	item->a = effect->type;
	if (effect->type == EFFECT_LAUNCH)
		memcpy(item->id, journal_launch(&w->agent->life.journal)->job_id, JOB_ID_BYTES);
	return false;
}

bool lease_explains_kill(const struct world *w)
{
	const struct lifecycle *life = &w->agent->life;

	return life->cause == CAUSE_LEASE_ELSEWHERE ||
	       (life->cause == CAUSE_LEASE_UNREADABLE &&
		mono(w) >= life->leased_ms + w->config->object_lease_ms - 5 * SECOND_MS);
}

/* ---- the other installation, and accidents ---- */

static int64_t a_length(struct world *w)
{
	return luck(w, 250) ? 2 * DURATION_MS : luck(w, 250) ? 2 * DURATION_MS / 3 : DURATION_MS;
}

void lease_begins(struct world *w)
{
	w->config->object_lease_ms = a_length(w);
	w->lease.other_length_ms = a_length(w);
	w->lease.other_clock_ms = luck_between(w, 1, 1000 * MINUTE_MS);
	w->lease.other_permille = luck_between(w, 950, 1050);
	w->lease.other_ms = luck_between(w, 1, 10) * MINUTE_MS;
	w->lease.away_ms = luck_between(w, 1, 10) * MINUTE_MS;
	for (int i = 0; i < PODS; i++)
		w->pods[i].config.object_lease_ms = w->config->object_lease_ms;
	bucket_begins(w);
	plan(w, luck_below(w, 2 * w->lease.other_ms), ITEM_LEASE_OTHER_LIFE, SCOPE_WORLD);
	plan(w, luck_below(w, 2 * w->lease.away_ms), ITEM_LEASE_AWAY, SCOPE_WORLD);
}

/* It is lost, and its Flink with it; or it is there again. */
static void other_life(struct world *w)
{
	w->lease.other_lives = !w->lease.other_lives && !w->calm;
	say(w, "the other installation %s", w->lease.other_lives ? "is there" : "is lost");
	if (w->lease.other_lives) {
		const struct journal *ours = w->agent->alive ? &w->agent->life.journal : NULL;
		bool is_copy = ours && luck(w, 300);

		bucket_of_other(w);

		/* the copy of a namespace has the journal, and mostly the name, and nothing of the state directory */
		if (is_copy && ours->lease_longest_ms > w->lease.other.longest_ms)
			w->lease.other.longest_ms = ours->lease_longest_ms;
		begin(w, &w->lease.other,
		      (struct lease_self){.holder = is_copy ? ours->lease_id : OTHER,
					  .name = is_copy && luck(w, 700) ? "east" : "west",
					  .duration_ms = w->lease.other_length_ms,
					  .longest_ms = w->lease.other.longest_ms});
		ask(w, &w->lease.other, ITEM_LEASE_OTHER, SCOPE_WORLD);
	}
	if (!w->calm)
		plan(w, 1 + luck_below(w, 2 * w->lease.other_ms), ITEM_LEASE_OTHER_LIFE,
		     SCOPE_WORLD);
}

void lease_third_begins(struct world *w)
{
	const struct journal *ours = &w->agent->life.journal;

	begin(w, &w->lease.third,
	      (struct lease_self){.holder = ours->lease_id,
				  .name = stream_odds(&w->buckets.rng, 700) ? "east" : "north",
				  .duration_ms = w->lease.other_length_ms,
				  .longest_ms = ours->lease_longest_ms});
	ask(w, &w->lease.third, ITEM_LEASE_THIRD, SCOPE_WORLD);
}

/* For one of them, or for both. */
static void go_away(struct world *w)
{
	int64_t until_ms = w->now_ms + luck_between(w, 1, luck(w, 500) ? 20 : 300) * SECOND_MS;
	bool ours = luck(w, 800), theirs = !ours || luck(w, 300);

	if (ours)
		w->lease.away_until_ms[0] = until_ms;
	if (theirs)
		w->lease.away_until_ms[1] = until_ms;
	say(w, "the lease cannot be reached from%s%s for a while", ours ? " here" : "",
	    theirs ? " there" : "");
}

static bool has_seen_it(const struct lease_object *object, const struct lease_asker *asker)
{
	return asker->lease.mark.sequence >= object->claim.sequence &&
	       asker->lease.longest_ms >= object->claim.duration_ms &&
	       asker->lease.longest_ms >= object->old.duration_ms;
}

/* One that is not there now, and begins before the holder has written the object anew. */
static bool will_wait(const struct world *w, const struct lease_object *object)
{
	const struct lease_asker *other = &w->lease.other;
	int64_t length_ms = w->lease.other_length_ms, known_ms = length_ms;

	if (!w->lease.other_lives && other->longest_ms > known_ms)
		known_ms = other->longest_ms;
	if (object != &w->lease.objects[0] && !w->lease.third_lives) /* it knows no other length */
		known_ms = length_ms;
	/* one that says that nothing runs lets nobody wait */
	return known_ms >= object->claim.duration_ms && known_ms >= object->old.duration_ms &&
	       !object->old.ended;
}

static bool all_have_seen_it(struct world *w, const struct lease_object *object)
{
	const struct lease_asker *other = &w->lease.other, *third = &w->lease.third;
	bool other_is_here = w->lease.other_lives && bucket_object(w, other) == object;
	bool third_is_here = w->lease.third_lives && bucket_object(w, third) == object;

	return has_seen_it(object, &w->agent->lease) &&
	       (other_is_here ? has_seen_it(object, other) : will_wait(w, object)) &&
	       (!third_is_here || has_seen_it(object, third));
}

/* A person deletes the object, or puts an older one back. Who has not seen how long a claim lasts cannot know it, and
 * who has not seen the newer one does not know that it is old: so only what all have seen. */
static void tamper(struct world *w)
{
	struct lease_object *object = bucket_object(w, &w->agent->lease);

	if (w->calm || !object->exists || object->copied || !w->agent->alive ||
	    !w->agent->lease.begun || !all_have_seen_it(w, object))
		return;
	if (luck(w, 500)) {
		say(w, "a person deletes the lease object");
		object->exists = false;
	} else if (object->old.write[0]) {
		say(w, "a person puts an older lease object back");
		object->claim = object->old;
		object->copied = object->claim.uri[0] &&
				 strcmp(object->claim.uri, bucket_uri(w->agent->lease.bucket)) != 0;
	}
}

static void refused(struct world *w, const struct item *item)
{
	const struct lease *lease = &w->agent->lease.lease;
	bool copied = !lease_is_held(lease, mono(w)) && lease_is_copied(lease);
	struct event event = {
		.type = EVENT_REFUSED,
		.refused = {.effect = (enum effect_type)item->a,
			    .cause = copied ? CAUSE_LEASE_COPIED : CAUSE_LEASE_ELSEWHERE,
			    .launch_id = *item->id ? item->id : NULL}};
	cleanup_buf struct buf why = BUF_INIT;

	lease_print(lease, mono(w), &why);
	event.refused.why = buf_str(&why);
	bucket_judge_refusal(w, copied, buf_str(&why));
	agent_step(w, &event);
}

void lease_item(struct world *w, const struct item *item)
{
	switch (item->kind) {
	case ITEM_LEASE:
		if (w->agent->alive && (uint64_t)item->a == w->agent->lease.token)
			our_turn(w);
		break;
	case ITEM_LEASE_REFUSED:
		refused(w, item);
		break;
	case ITEM_LEASE_OTHER:
		if (!w->lease.other_lives || (uint64_t)item->a != w->lease.other.token)
			break;
		take_answer(w, &w->lease.other);
		w->lease.other.longest_ms = w->lease.other.lease.longest_ms;
		ask(w, &w->lease.other, ITEM_LEASE_OTHER, SCOPE_WORLD);
		break;
	case ITEM_LEASE_THIRD:
		if (!w->lease.third_lives || (uint64_t)item->a != w->lease.third.token)
			break;
		take_answer(w, &w->lease.third);
		ask(w, &w->lease.third, ITEM_LEASE_THIRD, SCOPE_WORLD);
		break;
	case ITEM_LEASE_OTHER_LIFE:
		if (!w->calm || w->lease.other_lives)
			other_life(w);
		break;
	default:
		if (luck(w, 200))
			tamper(w);
		else
			go_away(w);
		plan(w, 1 + luck_below(w, 2 * w->lease.away_ms), ITEM_LEASE_AWAY, SCOPE_WORLD);
		break;
	}
}

void lease_no_vain_launch(struct world *w)
{
	int64_t left_ms = w->init->lease_end_ms - w->now_ms;

	if (w->config->lease_ms && !w->init->lease_end_ms)
		fail(w, "a launch, and drey-init does not know until when");
	if (w->init->lease_end_ms && left_ms <= LEASE_HASTE_MS)
		fail(w,
		     "a launch that must be killed at once: %" PRId64 " ms before the lease ends",
		     left_ms);
}

void lease_one_job(struct world *w)
{
	bool held = lease_holds(w, &w->lease.other);

	bucket_one_job(w);
	w->figures->leases += held && !w->lease.other_held;
	w->lease.other_held = held;
}
