/*
 * The promise, over every combination of a generated space: what the journal says x how the sources
 * were read x what lies in storage x the policy; and each of these with one of the combinations of what
 * Flink's HA has x generation x foreign policy x adopted or not x age limit x operation in flight, in
 * turn. The rules are written here once more, from the outside and by hand (`living`, `known`), not
 * computed as resolve() computes them.
 */
#include <stdarg.h>

#include "resolve_world.h"

/* What may lie in storage. Every slot is one place, in one of the states below or absent. */
enum slot {
	A10,       /* checkpoint 10 of job A */
	A20,       /* checkpoint 20 of job A */
	B13,       /* savepoint 13 of job B; its id is not known before it was looked at */
	B14,       /* checkpoint 14 of job B */
	FOREIGN99, /* checkpoint 99 of somebody else */
	INITIAL,   /* the initial savepoint, id 5 */
	SLOTS,
};

enum content {
	ABSENT,
	COMPLETE,
	DAMAGED,
	INCOMPLETE,
	UNREADABLE,
	TOO_NEW,
	HIDDEN_COMPLETE, /* unchecked until it is asked for */
	HIDDEN_DAMAGED,
	CONTENTS,
};

static const struct {
	const char *path, *job_id;
	enum snapshot_kind kind;
	enum source_kind source;
	int64_t id;
	unsigned contents; /* bit set of enum content */
} slots[SLOTS] = {
	[A10] = {"file:/cp/" JOB_A "/chk-10", JOB_A, SNAPSHOT_CHECKPOINT, SOURCE_CHECKPOINTS, 10,
		 0xff},
	[A20] = {"file:/cp/" JOB_A "/chk-20", JOB_A, SNAPSHOT_CHECKPOINT, SOURCE_CHECKPOINTS, 20,
		 0xff},
	[B13] = {"file:/sp/savepoint-bbbbbb-000000000013", "bbbbbb", SNAPSHOT_SAVEPOINT,
		 SOURCE_SAVEPOINTS, 13, 0xff},
	[B14] = {"file:/cp/" JOB_B "/chk-14", JOB_B, SNAPSHOT_CHECKPOINT, SOURCE_CHECKPOINTS, 14,
		 0xff},
	[FOREIGN99] = {"file:/cp/" JOB_FOREIGN "/chk-99", JOB_FOREIGN, SNAPSHOT_CHECKPOINT,
		       SOURCE_CHECKPOINTS, 99, 1 << ABSENT | 1 << COMPLETE | 1 << DAMAGED},
	[INITIAL] = {"file:/initial", "", SNAPSHOT_SAVEPOINT, SOURCE_INITIAL, 5,
		     1 << ABSENT | 1 << COMPLETE | 1 << DAMAGED | 1 << UNREADABLE},
};

#define BIT(slot) (1u << (slot))

/* What the journal says, and what follows from it for the candidates. */
struct story {
	const char *name;
	void (*tell)(struct world *w);
	bool parked;
	bool binds_generation; /* another one is not parked */
	bool no_journal;       /* nothing is known of the past */
	unsigned living;       /* slots on the living branch */
	unsigned kept;         /* the same, while nothing tells that the last launch came to run */
	int64_t known;         /* newest id known to have been completed there */
	int64_t known_saved;   /* the same, of savepoints */
	bool has_state;        /* an empty start would lose something */
	int requested;         /* slot that a request names; REQUEST_EMPTY, REQUEST_NONE */
	bool fresh;            /* the request was not carried out before */
	unsigned void_if;      /* a request that was carried out ends when one of these is there */
	bool initial_allowed;  /* no launch was ever proven */
	int origin;            /* slot that the last launch was started from; -1 = none */
	unsigned foreign;      /* slots of jobs that no launch in the journal had */
	bool last_is_b;        /* the last launch is that of job B */
};

#define REQUEST_NONE  (-1)
#define REQUEST_EMPTY (-2)

static void never_ran_story(struct world *w)
{
	(void)w;
}

static void unproven_empty(struct world *w)
{
	ran(w, JOB_A, NULL, 0);
}

static void intended_empty(struct world *w)
{
	/* of another job: whatever lies there was not made by it */
	intended(w, JOB_C, NULL, 0);
}

static void proven(struct world *w)
{
	proved(w, JOB_A, NULL, 0, 10);
	proved(w, JOB_B, slots[A10].path, 10, 14);
}

static void unproven_from(struct world *w)
{
	proved(w, JOB_A, NULL, 0, 20);
	ran(w, JOB_B, slots[A10].path, 10);
}

static void unproven_but_seen(struct world *w)
{
	unproven_from(w);
	journal_launch(&w->journal)->verified_unix_ms = 1;
}

static void abandoned(struct world *w)
{
	proved(w, JOB_A, NULL, 0, 20);
	proved(w, JOB_B, slots[A10].path, 10, 14);
}

static void back_to_first(struct world *w)
{
	abandoned(w);
	ran(w, JOB_C, slots[A20].path, 20);
}

static void from_foreign(struct world *w)
{
	abandoned(w);
	ran(w, JOB_C, slots[FOREIGN99].path, 99);
}

static void unproven_from_initial(struct world *w)
{
	ran(w, JOB_A, slots[INITIAL].path, 5);
}

static void suspended(struct world *w)
{
	proven(w);
	w->journal.intent.state = DESIRED_SUSPENDED;
}

static void cancelled(struct world *w)
{
	proven(w);
	w->journal.intent.state = DESIRED_CANCELLED;
}

static void do_not_restart(struct world *w)
{
	proven(w);
	w->journal.intent.do_not_restart = true;
	request(w, RESTORE_EMPTY, NULL, "t1");
}

static void finished(struct world *w)
{
	proven(w);
	w->journal.outcome.kind = OUTCOME_FINISHED;
}

static void failed(struct world *w)
{
	proven(w);
	w->journal.outcome.kind = OUTCOME_FAILED;
}

static void mismatch(struct world *w)
{
	proven(w);
	w->journal.outcome.kind = OUTCOME_RESTORE_MISMATCH;
}

static void empty_requested(struct world *w)
{
	proven(w);
	request(w, RESTORE_EMPTY, NULL, "t1");
}

static void empty_consumed(struct world *w)
{
	proven(w);
	request(w, RESTORE_EMPTY, NULL, "t1");
	journal_consume(&w->journal, "t1");
}

static void empty_unproven(struct world *w)
{
	proved(w, JOB_A, NULL, 0, 10);
	ran(w, JOB_B, NULL, 0);
	request(w, RESTORE_EMPTY, NULL, "t1");
	carried_out(w);
}

static void path_requested(struct world *w)
{
	proven(w);
	request(w, RESTORE_PATH, slots[FOREIGN99].path, "t1");
}

static void path_consumed(struct world *w)
{
	proven(w);
	request(w, RESTORE_PATH, slots[A10].path, "t1");
	journal_consume(&w->journal, "t1");
}

static void path_unproven(struct world *w)
{
	proved(w, JOB_A, NULL, 0, 20);
	intended(w, JOB_B, slots[A10].path, 10);
	request(w, RESTORE_PATH, slots[A10].path, "t1");
	carried_out(w);
}

#define AFTER_PROVEN                                                                               \
	.living = BIT(A10) | BIT(B13) | BIT(B14), .known = 14, .has_state = true,                  \
	.foreign = BIT(FOREIGN99), .last_is_b = true
#define NO_REQUEST .requested = REQUEST_NONE, .origin = -1

static const struct story stories[] = {
	{"never ran", never_ran_story, NO_REQUEST, .no_journal = true, .initial_allowed = true,
	 .living = ~BIT(INITIAL)},
	{"intended, empty", intended_empty, NO_REQUEST, .no_journal = true, .initial_allowed = true,
	 .living = ~BIT(INITIAL)},
	{"unproven, empty", unproven_empty, NO_REQUEST, .initial_allowed = true,
	 .living = BIT(A10) | BIT(A20), .foreign = BIT(B13) | BIT(B14) | BIT(FOREIGN99)},
	{"proven", proven, .requested = REQUEST_NONE, AFTER_PROVEN, .origin = A10},
	{"unproven from a restore point", unproven_from, .requested = REQUEST_NONE,
	 .living = BIT(A10) | BIT(B13) | BIT(B14), .kept = BIT(A20), .known = 10, .known_saved = 10,
	 .has_state = true, .origin = A10, .foreign = BIT(FOREIGN99), .last_is_b = true},
	{"unproven, but seen to run", unproven_but_seen, .requested = REQUEST_NONE,
	 .living = BIT(A10) | BIT(B13) | BIT(B14), .known = 10, .known_saved = 10,
	 .has_state = true, .origin = A10, .foreign = BIT(FOREIGN99), .last_is_b = true},
	{"abandoned branch", abandoned, .requested = REQUEST_NONE, AFTER_PROVEN, .known_saved = 10,
	 .origin = A10},
	{"back to the first branch", back_to_first, .requested = REQUEST_NONE,
	 .living = BIT(A10) | BIT(A20), .known = 20, .known_saved = 20, .has_state = true,
	 .origin = A20, .foreign = BIT(FOREIGN99)},
	{"from a foreign one", from_foreign, .requested = REQUEST_NONE, .living = BIT(FOREIGN99),
	 .known = 99, .known_saved = 99, .has_state = true, .origin = FOREIGN99},
	{"unproven from initial", unproven_from_initial, .requested = REQUEST_NONE,
	 .living = BIT(A10) | BIT(A20) | BIT(INITIAL), .known = 5, .known_saved = 5,
	 .has_state = true, .initial_allowed = true, .origin = INITIAL,
	 .foreign = BIT(B13) | BIT(B14) | BIT(FOREIGN99)},
	{"suspended", suspended, NO_REQUEST, .parked = true},
	{"cancelled", cancelled, NO_REQUEST, .parked = true},
	{"do-not-restart", do_not_restart, NO_REQUEST, .parked = true},
	{"finished", finished, NO_REQUEST, .parked = true},
	{"failed", failed, .requested = REQUEST_NONE, AFTER_PROVEN, .origin = A10, .parked = true,
	 .binds_generation = true},
	{"mismatch", mismatch, NO_REQUEST, .parked = true},
	{"empty start requested", empty_requested, AFTER_PROVEN, .requested = REQUEST_EMPTY,
	 .fresh = true, .origin = A10},
	{"empty start consumed", empty_consumed, AFTER_PROVEN, .requested = REQUEST_NONE,
	 .origin = A10},
	{"empty start not proven", empty_unproven, .requested = REQUEST_EMPTY, .has_state = true,
	 .living = BIT(B13) | BIT(B14), .void_if = BIT(B13) | BIT(B14), .origin = -1,
	 .foreign = BIT(FOREIGN99), .last_is_b = true},
	{"path requested", path_requested, AFTER_PROVEN, .requested = FOREIGN99, .fresh = true,
	 .origin = A10},
	{"path consumed", path_consumed, AFTER_PROVEN, .requested = REQUEST_NONE, .origin = A10},
	{"path not proven", path_unproven, .requested = A10, .has_state = true,
	 .living = BIT(A10) | BIT(B13) | BIT(B14), .known = 10, .known_saved = 10,
	 .void_if = BIT(B13) | BIT(B14), .origin = A10, .foreign = BIT(FOREIGN99),
	 .last_is_b = true},
};

/* What Flink's HA has under the id of job B. */
enum ha {
	HA_NOT_USED,
	HA_EMPTY, /* a map without an entry */
	HA_DENIED,
	HA_B14,        /* an entry that could be recovered */
	HA_B14_HIDDEN, /* the same, known only after a look */
	HA_B14_BROKEN,
	HA_A10, /* what B was started from */
	HA_STATES,
};

/* The operation that was in flight when Flink was gone. */
enum flight {
	FLIGHT_NONE,
	FLIGHT_B, /* a stop of B: B13 is its savepoint */
	FLIGHT_C, /* a stop of C, which has left nothing */
	FLIGHTS,
};

#define OLD_ID 13 /* with the age limit, this and all before is too old */

/* One point of the space. */
struct point {
	const struct story *story;
	enum content content[SLOTS];
	int unreadable; /* enum source_kind, -1 = none */
	enum restore_policy policy;
	enum foreign_policy foreign;
	bool adopt, aged, same_generation;
	enum ha ha;
	enum flight flight;
};

static bool is_parked(const struct point *p)
{
	return p->story->parked && (p->same_generation || !p->story->binds_generation);
}

static int ha_slot(const struct point *p)
{
	switch (p->ha) {
	case HA_B14:
	case HA_B14_HIDDEN:
	case HA_B14_BROKEN:
		return B14;
	case HA_A10:
		return A10;
	default:
		return -1;
	}
}

/* What its HA data name and is not there was there once. */
static enum content content_at(const struct point *p, int slot)
{
	return p->content[slot] == ABSENT && ha_slot(p) == slot ? INCOMPLETE : p->content[slot];
}

static long long cases, violations;

static void violated(const struct point *p, const struct decision *d, const char *path,
		     const char *promise)
{
	char what[200] = "";

	if (++violations > 10)
		return;
	for (int i = 0; i < SLOTS; i++)
		snprintf(what + strlen(what), sizeof(what) - strlen(what), " %d", p->content[i]);
	tap_note(
		"%s: story '%s', slots%s, unreadable %d, policy %d, foreign %d, adopt %d, aged %d, "
		"generation %d, ha %d, flight %d -> %s %s, rule %d: %s",
		promise, p->story->name, what, p->unreadable, p->policy, p->foreign, p->adopt,
		p->aged, p->same_generation, p->ha, p->flight, decision_kind_name(d->kind),
		path ? path : "", d->rule, d->reason);
}

static bool content_is(enum content content, enum content known, enum content hidden)
{
	return content == known || content == hidden;
}

static bool is_complete(enum content content)
{
	return content_is(content, COMPLETE, HIDDEN_COMPLETE);
}

static bool is_damaged(enum content content)
{
	return content_is(content, DAMAGED, HIDDEN_DAMAGED);
}

/* ---- the facts of a point ---- */

/* Candidates borrow their paths: nothing but the reasons is allocated. */
struct scene {
	struct candidate list[SLOTS];
	struct facts facts;
	char path[SLOTS][64];
	struct place_fact savepoints;
};

static const enum integrity integrity_of[CONTENTS] = {
	[COMPLETE] = INTEGRITY_COMPLETE,        [DAMAGED] = INTEGRITY_DAMAGED,
	[INCOMPLETE] = INTEGRITY_INCOMPLETE,    [UNREADABLE] = INTEGRITY_UNREADABLE,
	[TOO_NEW] = INTEGRITY_COMPLETE,         [HIDDEN_COMPLETE] = INTEGRITY_UNCHECKED,
	[HIDDEN_DAMAGED] = INTEGRITY_UNCHECKED,
};

static void add(struct scene *scene, const struct point *p, int slot)
{
	struct candidate *c = &scene->list[scene->facts.candidate_count++];
	enum content content = content_at(p, slot);
	bool nameless = slots[slot].kind == SNAPSHOT_SAVEPOINT;

	*c = (struct candidate){.source = slots[slot].source, .integrity = integrity_of[content]};
	c->snapshot.path = (char *)slots[slot].path;
	c->snapshot.kind = slots[slot].kind;
	snprintf(c->snapshot.job_id, JOB_ID_BYTES, "%s", slots[slot].job_id);
	c->metadata_version = content == TOO_NEW ? 6 : 4;
	if (!nameless || content == COMPLETE || content == TOO_NEW || content == DAMAGED)
		c->snapshot.checkpoint_id = slots[slot].id;
	c->snapshot.completed_unix_ms = 1000 * slots[slot].id;
	if (ha_slot(p) != slot)
		return;
	if (p->content[slot] == ABSENT)
		c->source = SOURCE_HA;
	c->snapshot.checkpoint_id = slots[slot].id; /* the key has it */
	facts_mark_ha(c, JOB_B, JOB_B);
	c->recovery = p->ha == HA_B14_BROKEN   ? INTEGRITY_DAMAGED
		      : p->ha == HA_B14_HIDDEN ? INTEGRITY_UNCHECKED
					       : INTEGRITY_COMPLETE;
}

/* `turn` shuffles the order in which things were found. */
static void set_scene(struct scene *scene, const struct point *p, int turn)
{
	memset(&scene->facts, 0, sizeof(scene->facts));
	scene->facts.candidates = scene->list;
	scene->facts.max_metadata_version = 5;
	for (int i = 0; i < SLOTS; i++) {
		int slot = turn & 1 ? (SLOTS - 1 - i + turn) % SLOTS : (i + turn) % SLOTS;

		if (content_at(p, slot) != ABSENT)
			add(scene, p, slot);
	}
	scene->facts.now_unix_ms = 600000;
	scene->facts.sources[SOURCE_HA].state = p->ha == HA_NOT_USED ? SOURCE_NOT_CONFIGURED
						: p->ha == HA_DENIED ? SOURCE_UNREADABLE
								     : SOURCE_PRESENT;
	for (int i = SOURCE_JOURNAL; i <= SOURCE_SAVEPOINTS; i++)
		if (i != SOURCE_HA)
			scene->facts.sources[i].state =
				i == p->unreadable ? SOURCE_UNREADABLE : SOURCE_PRESENT;
	scene->savepoints =
		(struct place_fact){.source = SOURCE_SAVEPOINTS,
				    .kind = SNAPSHOT_SAVEPOINT,
				    .dir = (char *)"file:/sp",
				    .state = scene->facts.sources[SOURCE_SAVEPOINTS].state};
	scene->facts.places = &scene->savepoints;
	scene->facts.place_count = 1;
	if (p->content[INITIAL] != ABSENT)
		scene->facts.sources[SOURCE_INITIAL].state =
			p->content[INITIAL] == UNREADABLE ? SOURCE_UNREADABLE : SOURCE_PRESENT;
	if (p->story->requested >= 0)
		scene->facts.sources[SOURCE_REQUEST].state = SOURCE_PRESENT;
}

/* ---- heads that are read when they matter ---- */

static int slot_of(const struct candidate *c)
{
	for (int i = 0; i < SLOTS; i++)
		if (c->snapshot.path == slots[i].path)
			return i;
	return -1;
}

/* As the listing shows it: a savepoint without what is in its _metadata. */
static void hide_heads(struct scene *scene, const struct point *p)
{
	for (size_t i = 0; i < scene->facts.candidate_count; i++) {
		struct candidate *c = &scene->list[i];

		if (c->snapshot.kind != SNAPSHOT_SAVEPOINT || c->source != SOURCE_SAVEPOINTS ||
		    c->in_ha || p->content[slot_of(c)] == INCOMPLETE)
			continue;
		c->unread = true;
		c->integrity = INTEGRITY_UNCHECKED;
		c->snapshot.checkpoint_id = 0;
		c->metadata_version = 0;
	}
}

static void read_head(struct candidate *c, const struct point *p)
{
	enum content content = p->content[slot_of(c)];

	c->unread = c->wanted = false;
	c->integrity = integrity_of[content];
	c->metadata_version = content == TOO_NEW ? 6 : 4;
	if (content == COMPLETE || content == TOO_NEW || content == DAMAGED)
		c->snapshot.checkpoint_id = slots[slot_of(c)].id;
}

/* True when that answers the question: heads were requested, or the whole and the head says all. */
static bool read_heads(struct scene *scene, const struct point *p, size_t asked)
{
	struct candidate *c = &scene->list[asked];

	if (!c->wanted) {
		if (!c->unread)
			return false;
		read_head(c, p);
		return c->integrity != INTEGRITY_UNCHECKED;
	}
	for (size_t i = 0; i < scene->facts.candidate_count; i++)
		if (scene->list[i].wanted)
			read_head(&scene->list[i], p);
	return true;
}

static bool is_any_unreadable(const struct point *p)
{
	for (int i = 0; i < SLOTS; i++)
		if (slots[i].kind == SNAPSHOT_SAVEPOINT && p->content[i] == UNREADABLE)
			return true;
	return false;
}

static void strike_scene(struct scene *scene)
{
	for (size_t i = 0; i < scene->facts.candidate_count; i++) {
		free(scene->list[i].reason);
		scene->list[i].reason = NULL;
	}
}

/* Ask until there is a decision; the rounds that it took. */
static int settle(struct world *w, struct scene *scene, const struct point *p, struct decision *d)
{
	struct policy policy = {.restore = p->policy,
				.adopt = p->adopt,
				.foreign = p->foreign,
				.max_age_ms = p->aged ? 600000 - 1000 * OLD_ID - 500 : 0,
				.generation = p->same_generation ? "g1" : "g2",
				.flink_version = "2.3.0"};
	int rounds = 0;

	do {
		struct candidate *c;

		resolve(&w->journal, &scene->facts, &policy, d);
		rounds++;
		if (d->kind != DECISION_VERIFY)
			break;
		c = &scene->list[d->candidate];
		if (read_heads(scene, p, d->candidate))
			continue;
		if (c->integrity != INTEGRITY_UNCHECKED &&
		    !(c->in_ha && c->recovery == INTEGRITY_UNCHECKED))
			return 100; /* asked for what is known */
		if (c->in_ha && c->recovery == INTEGRITY_UNCHECKED)
			c->recovery = INTEGRITY_COMPLETE;
		if (c->integrity != INTEGRITY_UNCHECKED)
			continue;
		c->snapshot.checkpoint_id = slots[slot_of(c)].id;
		c->integrity = p->content[slot_of(c)] == HIDDEN_COMPLETE ? INTEGRITY_COMPLETE
									 : INTEGRITY_DAMAGED;
	} while (rounds < 100);
	return rounds;
}

/* ---- the promise ---- */

/* Does the policy let this slot count? */
static bool counts(const struct point *p, int slot)
{
	return p->policy == POLICY_LATEST || slots[slot].kind == SNAPSHOT_SAVEPOINT ||
	       slot == p->story->origin;
}

static bool is_left(const struct point *p, int slot)
{
	return p->content[slot] != ABSENT && p->content[slot] != INCOMPLETE;
}

static bool living(const struct point *p, int slot)
{
	bool b_left_nothing = ha_slot(p) < 0 && !is_left(p, B13) && !is_left(p, B14);
	unsigned slots_living = p->story->living | (b_left_nothing ? p->story->kept : 0);

	return (slots_living & BIT(slot)) && (!p->story->no_journal || p->adopt);
}

static bool unreadable(const struct point *p)
{
	return p->unreadable >= 0 || p->ha == HA_DENIED;
}

/* Nobody can tell whether the operation has left a savepoint. */
static bool flight_is_open(const struct point *p)
{
	if (p->flight == FLIGHT_NONE || p->unreadable == SOURCE_JOURNAL)
		return false;
	return p->unreadable == SOURCE_SAVEPOINTS ||
	       (p->flight == FLIGHT_B && p->content[B13] == UNREADABLE);
}

/* Something that is none of ours is newer than all that is, and may be what was lost: also when it is
 * damaged, because then there was newer state. */
static bool foreign_is_newer(const struct point *p)
{
	int64_t own = 0, other = 0;

	for (int i = 0; i < SLOTS; i++) {
		enum content content = content_at(p, i);

		if (content == ABSENT || (content == INCOMPLETE && ha_slot(p) != i))
			continue;
		if (living(p, i) && content != INCOMPLETE && slots[i].id > own)
			own = slots[i].id;
		/* what Flink's own HA has is ours, whoever else writes here */
		if (p->foreign == FOREIGN_IGNORE && ha_slot(p) != i)
			continue;
		if ((p->story->foreign & BIT(i)) && slots[i].id > other)
			other = slots[i].id;
	}
	return other > own;
}

/* Flink's HA has job B, which the journal does not know: it was started from A10, and that is all. */
static bool unknown_went_back(const struct point *p)
{
	return p->ha == HA_A10 && (p->story->foreign & BIT(B14)) && !is_left(p, B13) &&
	       !is_left(p, B14);
}

/* The journal knows of nothing, and there is something. */
static bool journal_is_lost(const struct point *p)
{
	if (!p->story->no_journal || p->adopt)
		return false;
	for (int i = 0; i < INITIAL; i++)
		if (content_at(p, i) != ABSENT && (p->foreign != FOREIGN_IGNORE || ha_slot(p) == i))
			return true;
	return false;
}

/* The request is the only thing that counts. */
static bool request_rules(const struct point *p)
{
	if (p->story->requested == REQUEST_NONE)
		return false;
	if (p->story->fresh)
		return p->unreadable != SOURCE_JOURNAL;
	for (int i = 0; i < SLOTS; i++)
		if ((p->story->void_if & BIT(i)) && content_at(p, i) != ABSENT &&
		    (content_at(p, i) != INCOMPLETE || ha_slot(p) == i))
			return false;
	return p->unreadable != SOURCE_JOURNAL && (p->policy == POLICY_NONE || !unreadable(p));
}

static const char *check_start_empty(const struct point *p)
{
	if (request_rules(p))
		return p->story->requested == REQUEST_EMPTY ? NULL : "empty instead of the request";
	if (p->policy == POLICY_NONE)
		return p->unreadable == SOURCE_JOURNAL ? "empty without having read the journal"
						       : NULL;
	if (unreadable(p) || p->content[INITIAL] == UNREADABLE)
		return "an error was taken for absence";
	if (journal_is_lost(p) || foreign_is_newer(p) || unknown_went_back(p))
		return "empty although what was found may be what was lost";
	if (p->story->has_state)
		return "empty although state was completed";
	for (int i = 0; i < SLOTS; i++)
		if (living(p, i) && content_at(p, i) != ABSENT &&
		    (content_at(p, i) != INCOMPLETE || p->story->no_journal || ha_slot(p) == i))
			return "empty although there are traces of state";
	return p->content[INITIAL] != ABSENT ? "empty although there is an initial savepoint"
					     : NULL;
}

/* Is there anything that forbids the initial savepoint? For a job that was started from it, it is like any other restore
 * point: one goes back to it past what is damaged, or does not count. */
static bool is_before_initial(const struct point *p, int slot)
{
	enum content content = content_at(p, slot);

	if (p->story->origin == INITIAL)
		return counts(p, slot) &&
		       (is_complete(content) || content == TOO_NEW || content == UNREADABLE);
	return content != ABSENT &&
	       (content != INCOMPLETE || p->story->no_journal || ha_slot(p) == slot);
}

/* The initial savepoint, while none of ours was ever proven. */
static const char *check_initial(const struct point *p)
{
	if (!p->story->initial_allowed)
		return "back to the initial savepoint";
	for (int i = 0; i < INITIAL; i++)
		if (living(p, i) && is_before_initial(p, i))
			return "the initial savepoint although there is something newer";
	return NULL;
}

/* What is known to have been completed is there, or proven lost. */
static bool loss_is_accounted_for(const struct point *p, int64_t id)
{
	int64_t known = p->policy == POLICY_LATEST ? p->story->known : p->story->known_saved;

	if (id >= known)
		return true;
	for (int i = 0; i < SLOTS; i++)
		if (living(p, i) && is_damaged(p->content[i]) && slots[i].id >= known)
			return true;
	return false;
}

static const char *check_start_from(const struct point *p, int slot)
{
	if (!is_complete(p->content[slot]))
		return "started from what is not complete";
	if (request_rules(p))
		return slot == p->story->requested ? NULL : "not what was requested";
	if (unreadable(p))
		return "started although a source cannot be read";
	if (p->policy == POLICY_NONE)
		return "a stateless job was started from a snapshot";
	if (journal_is_lost(p) || foreign_is_newer(p) || (slot != A10 && unknown_went_back(p)))
		return "started although something newer may be what was lost";
	if (p->aged && slots[slot].id <= OLD_ID)
		return "started from what is too old";
	if (slot == INITIAL)
		return check_initial(p);
	if (!living(p, slot))
		return "not of the living branch";
	if (!counts(p, slot))
		return "against the policy";
	for (int i = 0; i < INITIAL; i++) {
		if (!living(p, i) || !counts(p, i) || slots[i].id <= slots[slot].id)
			continue;
		if (is_complete(p->content[i]) || p->content[i] == TOO_NEW)
			return "something newer is there";
		if (p->content[i] == UNREADABLE)
			return "something that cannot be read may be newer";
	}
	return loss_is_accounted_for(p, slots[slot].id) ? NULL : "a known snapshot is missing";
}

/* Is what Flink's HA has of job B what its launch would go on from, under its own ids? */
static bool ha_is_newest(const struct point *p)
{
	int slot = ha_slot(p);

	if (slot < 0 || p->ha == HA_B14_BROKEN || !p->story->last_is_b || !p->same_generation ||
	    p->policy == POLICY_NONE || request_rules(p) || p->story->fresh || unreadable(p) ||
	    !living(p, slot) || !counts(p, slot) || foreign_is_newer(p) ||
	    slots[slot].id < p->story->known)
		return false;
	for (int i = 0; i < INITIAL; i++) {
		enum content content = content_at(p, i);

		/* what B has written and Flink never acknowledged does not count */
		if (i == B14 || !living(p, i) || !counts(p, i) || slots[i].id <= slots[slot].id)
			continue;
		if (is_complete(content) || content == TOO_NEW || content == UNREADABLE)
			return false;
	}
	/* what cannot be read and has no id in its name could be the newest of all */
	return !living(p, B13) || p->content[B13] != UNREADABLE;
}

static bool may_go_on(const struct point *p)
{
	return ha_is_newest(p) && !(p->aged && slots[ha_slot(p)].id <= OLD_ID);
}

/* Holding is no way out when everything is as it should be: the newest slot that must be taken;
 * -1 = nothing can be said. */
static int must_start_from(const struct point *p)
{
	int best = -1;

	if (is_parked(p) || unreadable(p) || p->story->requested != REQUEST_NONE ||
	    p->policy == POLICY_NONE || flight_is_open(p) || journal_is_lost(p) ||
	    foreign_is_newer(p))
		return -1;
	for (int i = 0; i < INITIAL; i++) {
		if (!living(p, i) || !counts(p, i) || content_at(p, i) == ABSENT)
			continue;
		if (!is_complete(content_at(p, i)))
			return -1;
		if (best < 0 || slots[i].id > slots[best].id)
			best = i;
	}
	if (best != A10 && unknown_went_back(p))
		return -1;
	/* what cannot be read does not tell its id */
	if (p->story->origin == INITIAL && p->content[INITIAL] == UNREADABLE)
		return -1;
	if (best >= 0 && p->aged && slots[best].id <= OLD_ID)
		return -1;
	return best >= 0 && loss_is_accounted_for(p, slots[best].id) ? best : -1;
}

/* The operation in flight is dealt with first, whatever comes of the rest. */
static const char *check_settlement(const struct point *p, const struct scene *scene,
				    const struct decision *d)
{
	enum content content = p->content[B13];
	bool start = d->kind == DECISION_START_FROM || d->kind == DECISION_START_EMPTY ||
		     d->kind == DECISION_CONTINUE;
	bool made = p->flight == FLIGHT_B && (is_complete(content) || content == TOO_NEW);
	bool went_on = false; /* behind the savepoint */
	enum settlement expected = SETTLEMENT_NONE;

	for (size_t i = 0; i < scene->facts.candidate_count; i++)
		went_on |= slot_of(&scene->list[i]) == B14;
	if (p->flight != FLIGHT_NONE && p->unreadable != SOURCE_JOURNAL)
		expected = flight_is_open(p) ? SETTLEMENT_OPEN
			   : !made           ? SETTLEMENT_FAILED
			   : went_on         ? SETTLEMENT_PASSED
					     : SETTLEMENT_MADE;
	if (d->settlement != expected)
		return "the operation in flight was not settled as it should be";
	if (expected == SETTLEMENT_OPEN && start)
		return "started before the operation in flight was settled";
	if (made && expected != SETTLEMENT_OPEN && expected != SETTLEMENT_NONE &&
	    slot_of(&scene->list[d->settled]) != B13)
		return "another savepoint was taken for that of the operation";
	if (expected == SETTLEMENT_FAILED && d->settled != NO_CANDIDATE &&
	    !(p->flight == FLIGHT_B && is_damaged(content)))
		return "a failed operation has a savepoint";
	return NULL;
}

/* Everything is said about every candidate. */
static const char *check_verdicts(const struct scene *scene, bool from)
{
	int chosen_count = 0;

	for (size_t i = 0; i < scene->facts.candidate_count; i++) {
		const struct candidate *c = &scene->list[i];

		if (c->verdict == VERDICT_NONE || !c->reason || !*c->reason)
			return "a candidate without verdict or reason";
		chosen_count += c->verdict == VERDICT_CHOSEN;
	}
	return chosen_count == from ? NULL : "not exactly one is chosen";
}

static const char *check_decision(const struct point *p, const struct scene *scene,
				  const struct decision *d)
{
	bool goes_on = d->kind == DECISION_CONTINUE, from = d->kind == DECISION_START_FROM;
	bool start = from || goes_on || d->kind == DECISION_START_EMPTY;
	int must = must_start_from(p);
	const char *why = check_settlement(p, scene, d);

	if (!d->reason[0] || d->rule < 1 || d->rule > 8)
		return "no reason or no rule";
	if (start == (d->cause != CAUSE_NONE))
		return "a word for a standstill, and none for a start: it is not so";
	if (is_parked(p))
		return start ? "started although parked" : NULL;
	if (d->kind == DECISION_PARK)
		return "parked although wanted";
	if (why)
		return why;
	if (goes_on && (!may_go_on(p) || slot_of(&scene->list[d->candidate]) != ha_slot(p)))
		return "went on with a launch that may not";
	if (!goes_on && may_go_on(p) && must == ha_slot(p))
		return "did not go on with the launch although it may";
	if (p->policy == POLICY_NONE && !request_rules(p) && p->unreadable != SOURCE_JOURNAL &&
	    !flight_is_open(p) && d->kind != DECISION_START_EMPTY)
		return "a stateless job was not started";
	if (start && d->token && !request_rules(p))
		return "a request is used up that was not carried out";
	if (start && p->story->fresh && !d->token)
		return "a request was carried out and not used up";
	if (d->kind == DECISION_START_EMPTY)
		why = check_start_empty(p);
	if (from)
		why = check_start_from(p, slot_of(&scene->list[d->candidate]));
	if (!why && start)
		why = check_verdicts(scene, from || goes_on);
	if (!why && must >= 0 && !ha_is_newest(p) &&
	    (!from || slot_of(&scene->list[d->candidate]) != must))
		why = "held although the newest is there";
	return why;
}

static void check_point(struct world *w, const struct point *p)
{
	static struct scene scene, other;
	struct decision d, again;
	int rounds, slot = -1, again_slot = -1;
	const char *why;

	set_scene(&scene, p, 0);
	rounds = settle(w, &scene, p, &d);
	why = check_decision(p, &scene, &d);
	if (d.kind == DECISION_START_FROM)
		slot = slot_of(&scene.list[d.candidate]);
	if (!why && rounds > (int)scene.facts.candidate_count + 1)
		why = "more questions than candidates";
	strike_scene(&scene);

	set_scene(&other, p, 1 + (int)(cases % (2 * SLOTS - 1)));
	settle(w, &other, p, &again);
	if (again.kind == DECISION_START_FROM)
		again_slot = slot_of(&other.list[again.candidate]);
	if (!why && (d.kind != again.kind || slot != again_slot))
		why = "the order of the candidates decides";
	strike_scene(&other);

	set_scene(&other, p, 0);
	hide_heads(&other, p);
	settle(w, &other, p, &again);
	again_slot = again.kind == DECISION_START_FROM ? slot_of(&other.list[again.candidate]) : -1;
	/* what was not read does not hold for being unreadable */
	if (!why && !(is_any_unreadable(p) && d.kind == DECISION_HOLD) &&
	    (d.kind != again.kind || slot != again_slot || d.cause != again.cause ||
	     d.rule != again.rule || d.settlement != again.settlement))
		why = "reading only the heads that matter decides otherwise";
	strike_scene(&other);
	cases++;
	if (why)
		violated(p, &d, slot < 0 ? NULL : slots[slot].path, why);
}

/* ---- the space ---- */

/* Tools that slow everything down see every n-th point only. */
static int stride(void)
{
	const char *preload = getenv("LD_PRELOAD");

#ifdef __SANITIZE_ADDRESS__
	return 11;
#endif
	return preload && strstr(preload, "vgpreload") ? 199 : 1;
}

static bool next_content(struct point *p)
{
	for (int i = 0; i < SLOTS; i++) {
		do
			p->content[i]++;
		while (p->content[i] < CONTENTS && !(slots[i].contents & BIT(p->content[i])));
		if (p->content[i] < CONTENTS)
			return true;
		p->content[i] = ABSENT;
	}
	return false;
}

/* The combinations of all else, one after the other. */
static void vary(struct point *p, long long number)
{
	unsigned n = (unsigned)(number * 2654435761u >> 7);

	p->foreign = n % 2 ? FOREIGN_HOLD : FOREIGN_IGNORE;
	p->adopt = p->story->no_journal && n / 2 % 2;
	p->aged = n / 4 % 4 == 0;
	p->same_generation = n / 16 % 4 != 0;
	p->ha = (enum ha)(n / 64 % HA_STATES);
	p->flight = (enum flight)(n / 448 % 4 % FLIGHTS); /* none twice as often */
	if (n / 1792 % 8 == 0)
		p->policy = POLICY_NONE;
}

static void set_flight(struct world *w, const struct point *p)
{
	struct operation *operation = &w->journal.operation;

	*operation = (struct operation){.kind = p->flight ? OPERATION_STOP : OPERATION_NONE,
					.reason = REASON_RESTART,
					.path = (char *)"file:/sp",
					.started_unix_ms = 12500};
	snprintf(operation->job_id, JOB_ID_BYTES, "%s", p->flight == FLIGHT_B ? JOB_B : JOB_C);
}

/* A source that cannot be read decides by itself: less of the space is enough there. */
static bool is_skipped(const struct point *p, long long number, int step)
{
	if (p->unreadable >= 0 || is_parked(p))
		step *= 13;
	return number % step != 0;
}

TEST(the_promise_holds_everywhere)
{
	static const int unreadable[] = {-1, SOURCE_JOURNAL, SOURCE_CHECKPOINTS, SOURCE_SAVEPOINTS};
	int step = stride();
	long long number = 0;
	struct world w;

	for (size_t s = 0; s < ARRAY_LEN(stories); s++) {
		struct point p = {.story = &stories[s]};

		begin(&w);
		stories[s].tell(&w);
		same_as_ever(&w);
		do
			for (size_t u = 0; u < ARRAY_LEN(unreadable); u++)
				for (int policy = POLICY_LATEST; policy <= POLICY_SAVEPOINT;
				     policy++) {
					p.unreadable = unreadable[u];
					p.policy = (enum restore_policy)policy;
					if (is_skipped(&p, number++, step))
						continue;
					vary(&p, number);
					set_flight(&w, &p);
					check_point(&w, &p);
				}
		while (next_content(&p));
		w.journal.operation = (struct operation){0};
		end(&w);
	}
	tap_note("%lld combinations", cases);
	CHECK_INT(violations, ==, 0);
	CHECK_INT(cases, >, 2000);
}
