/*
 * Savepoints whose _metadata is read only when their checkpoint id matters: the decision is the one
 * that is made when all of them are read, in histories at random, and how few that are.
 */
#include "resolve_world.h"

#include <stdlib.h>

enum { HISTORIES = 40000, SNAPSHOTS = 14, LAUNCHES = 5 };

/* ---- what is hidden, and is found by reading ---- */

struct truth {
	int64_t id[64];
	enum integrity head[64]; /* UNCHECKED: it can be read */
	enum integrity whole[64];
	int read; /* heads */
};

static void hide(struct world *w, struct truth *truth, bool lazy)
{
	for (size_t i = 0; i < w->facts.candidate_count; i++) {
		struct candidate *c = &w->facts.candidates[i];

		truth->id[i] = c->snapshot.checkpoint_id;
		if (c->source != SOURCE_SAVEPOINTS)
			continue;
		c->integrity = INTEGRITY_UNCHECKED;
		c->snapshot.checkpoint_id = 0;
		c->unread = true;
		if (lazy)
			continue;
		c->unread = false;
		c->integrity = truth->head[i];
		if (truth->head[i] == INTEGRITY_UNCHECKED)
			c->snapshot.checkpoint_id = truth->id[i];
	}
}

static void answer(struct world *w, struct truth *truth)
{
	struct candidate *asked = &w->facts.candidates[w->decision.candidate];
	size_t index = w->decision.candidate;

	if (!asked->wanted) {
		if (asked->in_ha && !asked->recovery)
			asked->recovery = INTEGRITY_COMPLETE;
		if (asked->integrity != INTEGRITY_UNCHECKED)
			return;
		asked->unread = false;
		asked->integrity = truth->head[index] ? truth->head[index] : truth->whole[index];
		if (!truth->head[index])
			asked->snapshot.checkpoint_id = truth->id[index];
		return;
	}
	for (size_t i = 0; i < w->facts.candidate_count; i++) {
		struct candidate *c = &w->facts.candidates[i];

		if (!c->wanted)
			continue;
		CHECK(c->unread);
		truth->read++;
		c->unread = c->wanted = false;
		c->integrity = truth->head[i];
		if (!truth->head[i])
			c->snapshot.checkpoint_id = truth->id[i];
	}
}

static bool settle(struct world *w, struct truth *truth)
{
	for (int rounds = 0; rounds < 200; rounds++) {
		resolve(&w->journal, &w->facts, &w->policy, &w->decision);
		if (w->decision.kind != DECISION_VERIFY)
			return true;
		answer(w, truth);
	}
	return false;
}

/* ---- histories ---- */

static uint64_t seed;

static unsigned draw(unsigned below)
{
	uint64_t x = seed += UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return (unsigned)((x ^ (x >> 31)) % below);
}

static void job_name(int n, char *ret)
{
	memset(ret, 'a' + n, JOB_ID_BYTES - 1);
	ret[JOB_ID_BYTES - 1] = '\0';
}

static struct candidate *add_savepoint(struct world *w, struct truth *truth, int job, int64_t id)
{
	char name[JOB_ID_BYTES];
	struct candidate *c;
	size_t index;

	job_name(job, name);
	c = found_savepoint(w, name, id * 100 + (int64_t)w->facts.candidate_count);
	c->snapshot.checkpoint_id = id;
	/* dates say little about ids, and some are equal */
	c->snapshot.completed_unix_ms = 1000 * (draw(3) ? id + draw(4) : 1 + draw(20));
	index = (size_t)(c - w->facts.candidates);
	truth->head[index] = draw(8)   ? INTEGRITY_UNCHECKED
			     : draw(2) ? INTEGRITY_DAMAGED
				       : INTEGRITY_INCOMPLETE;
	truth->whole[index] = draw(4) ? INTEGRITY_COMPLETE : INTEGRITY_DAMAGED;
	return c;
}

/* Each launch starts from a snapshot of an earlier one, not always the newest. */
static void add_launches(struct world *w, int count)
{
	int64_t from = 0;

	for (int i = 0; i < count; i++) {
		char name[JOB_ID_BYTES], former[JOB_ID_BYTES];
		cleanup_free char *path = NULL;

		job_name(i, name);
		if (i) {
			job_name((int)draw((unsigned)i), former);
			from += draw(6);
			path = draw(2) ? xasprintf("file:/cp/%s/chk-%d", former, (int)from)
				       : xasprintf("file:/sp/savepoint-%.6s-%012d", former,
						   (int)from);
		}
		if (draw(4))
			proved(w, name, path, i ? from : 0, from + draw(3));
		else
			ran(w, name, path, i ? from : 0);
	}
}

static void add_rest(struct world *w, int launches)
{
	char name[JOB_ID_BYTES];

	job_name((int)draw((unsigned)launches + 1), name);
	if (!draw(3))
		found_checkpoint(w, name, 1 + draw(25));
	job_name(launches ? launches - 1 : 0, name);
	if (!draw(3))
		in_ha(w, found_checkpoint(w, name, 1 + draw(20)), name);
	if (!draw(3))
		same_as_ever(w);
	if (!draw(6))
		request(w, RESTORE_PATH, w->facts.candidates[0].snapshot.path, "t1");
	if (draw(2)) /* its age is unknown */
		w->journal.intent.restore.asked_unix_ms = 0;
	if (!draw(6)) {
		w->journal.operation = (struct operation){.kind = OPERATION_SAVEPOINT,
							  .started_unix_ms = 1000 * draw(15)};
		memcpy(w->journal.operation.job_id, name, JOB_ID_BYTES);
	}
	w->policy.foreign = draw(2) ? FOREIGN_HOLD : FOREIGN_IGNORE;
	w->policy.restore = draw(4) ? POLICY_LATEST : POLICY_SAVEPOINT;
	w->policy.adopt = draw(2);
	w->facts.now_unix_ms = 100000;
}

static void make(struct world *w, struct truth *truth, uint64_t number, bool lazy)
{
	int launches, count;

	begin(w);
	*truth = (struct truth){0};
	seed = number * 1000003;
	launches = (int)draw(LAUNCHES);
	add_launches(w, launches);
	count = 1 + (int)draw(SNAPSHOTS);
	for (int i = 0; i < count; i++)
		/* those of one more job are foreign, where there is a lineage */
		add_savepoint(w, truth, (int)draw((unsigned)launches + (draw(6) ? 1 : 2)) % 7,
			      1 + draw(18));
	add_rest(w, launches);
	hide(w, truth, lazy);
}

static const char *path_of(const struct world *w, size_t index)
{
	return index == NO_CANDIDATE ? "-" : w->facts.candidates[index].snapshot.path;
}

static bool is_same(const struct world *a, const struct world *b)
{
	const struct decision *x = &a->decision, *y = &b->decision;
	bool from = x->kind == DECISION_START_FROM || x->kind == DECISION_CONTINUE;

	return x->kind == y->kind && x->cause == y->cause && x->rule == y->rule &&
	       x->settlement == y->settlement &&
	       !strcmp(path_of(a, x->settled), path_of(b, y->settled)) &&
	       (!from || !strcmp(path_of(a, x->candidate), path_of(b, y->candidate)));
}

TEST(the_decision_is_that_with_all_savepoints_read)
{
	static struct truth whole_truth, truth;
	int different = 0, starts = 0, read = 0, all = 0;

	for (uint64_t i = 1; i <= HISTORIES && different < 5; i++) {
		struct world whole, w;

		make(&whole, &whole_truth, i, false);
		make(&w, &truth, i, true);
		CHECK(settle(&whole, &whole_truth));
		CHECK(settle(&w, &truth));
		starts += decision_starts(&w.decision);
		read += truth.read;
		for (size_t k = 0; k < w.facts.candidate_count; k++)
			all += w.facts.candidates[k].source == SOURCE_SAVEPOINTS;
		if (!is_same(&whole, &w)) {
			different++;
			tap_note("%ju: all read: %s: %s", (uintmax_t)i,
				 decision_kind_name(whole.decision.kind), whole.decision.reason);
			tap_note("but: %s: %s", decision_kind_name(w.decision.kind),
				 w.decision.reason);
		}
		end(&whole);
		end(&w);
	}
	CHECK_INT(different, ==, 0);
	CHECK_INT(starts, >, HISTORIES / 20);
	CHECK_INT(read, <, all);
	tap_note("%d starts; %d of %d heads were read", starts, read, all);
}

/* ---- how few ---- */

TEST(no_head_is_read_where_each_job_has_one_savepoint)
{
	static struct truth truth;
	struct world w;

	begin(&w);
	w.policy.adopt = true;
	truth = (struct truth){0};
	for (int i = 0; i < 20; i++) {
		char name[JOB_ID_BYTES];

		job_name(i, name);
		truth.whole[i] = INTEGRITY_COMPLETE;
		found_savepoint(&w, name, i + 1);
	}
	hide(&w, &truth, true);
	CHECK(settle(&w, &truth));
	CHECK_STR(chosen(&w), "file:/sp/savepoint-tttttt-000000000020");
	CHECK_INT(truth.read, ==, 0);
	end(&w);
}

TEST(the_savepoints_of_a_former_launch_are_not_read)
{
	static struct truth truth;
	struct world w;

	begin(&w);
	truth = (struct truth){0};
	proved(&w, JOB_A, NULL, 0, 20);
	proved(&w, JOB_B, "file:/cp/" JOB_A "/chk-20", 20, 23);
	for (int i = 0; i < 20; i++)
		found_savepoint(&w, JOB_A, i + 1);
	found_savepoint(&w, JOB_B, 22);
	found_checkpoint(&w, JOB_B, 23);
	for (int i = 0; i < 22; i++)
		truth.whole[i] = INTEGRITY_COMPLETE;
	hide(&w, &truth, true);
	CHECK(settle(&w, &truth));
	CHECK_STR(chosen(&w), "file:/cp/" JOB_B "/chk-23");
	CHECK_INT(truth.read, ==, 1); /* that of B */
	end(&w);
}
