/*
 * 10,000 histories of an application: launches that crash, are cancelled, go back, continue or are
 * never proven, with checkpoints that share files; beside it another application, which may have taken
 * over files of ours. What gc decides is compared with what the history itself knows, and deleted up to
 * a random file.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/gc/gc.h"
#include "core/resolve/resolve.h"
#include "core/rng.h"
#include "tests/unit/tap.h"

#define HISTORIES 10000
#define MINUTE    INT64_C(60000)
#define MAX_JOBS  24
#define MAX_SNAPS 400
#define MAX_FILES 3000
#define MAX_REFS  24

#define UUID_FORM "%08d-0000-4000-8000-%012d"

enum { IN_CHK, IN_SHARED, IN_TASKOWNED };

struct file {
	int job, where;
	int64_t chk, unix_ms;
	bool exists;
};

struct snap {
	int job;
	int64_t id, unix_ms;
	bool savepoint, exists;
	int refs[MAX_REFS], ref_count;
};

struct history {
	struct rng rng;
	int64_t now_ms, next_id;
	char ids[MAX_JOBS][JOB_ID_BYTES];
	bool foreign[MAX_JOBS]; /* the journal does not know it */
	int job_count;
	struct snap snaps[MAX_SNAPS];
	int snap_count;
	struct file files[MAX_FILES];
	int file_count;
	struct journal journal;
	int64_t keep;
};

static bool chance(struct history *h, int of)
{
	return rng_below(&h->rng, of) == 0;
}

static void path_of(const struct history *h, const struct snap *s, char *ret, size_t size)
{
	if (s->savepoint)
		snprintf(ret, size, "file:/sp/savepoint-%.6s-%012d", h->ids[s->job], (int)s->id);
	else
		snprintf(ret, size, "file:/ck/%s/chk-%d", h->ids[s->job], (int)s->id);
}

static void name_of(const struct history *h, int file, char *ret, size_t size)
{
	const struct file *f = &h->files[file];

	if (f->where == IN_CHK)
		snprintf(ret, size, "chk-%d/" UUID_FORM, (int)f->chk, file, file);
	else
		snprintf(ret, size, "%s/" UUID_FORM, f->where == IN_SHARED ? "shared" : "taskowned",
			 file, file);
}

/* ---- what happens ---- */

static int new_job(struct history *h)
{
	rng_hex_id(&h->rng, h->ids[h->job_count]);
	return h->job_count++;
}

static int new_file(struct history *h, int job, int where, int64_t chk)
{
	if (h->file_count == MAX_FILES)
		return -1;
	h->files[h->file_count] = (struct file){job, where, chk, h->now_ms, true};
	return h->file_count++;
}

static void refer(struct snap *s, int file)
{
	if (file >= 0 && s->ref_count < MAX_REFS)
		s->refs[s->ref_count++] = file;
}

/* A snapshot of the job, on the base of another one (NULL: full). */
static struct snap *take(struct history *h, int job, const struct snap *base, bool savepoint)
{
	struct snap *s = &h->snaps[h->snap_count];

	if (h->snap_count == MAX_SNAPS)
		return NULL;
	h->now_ms += (1 + rng_below(&h->rng, 30)) * MINUTE;
	*s = (struct snap){.job = job, .id = h->next_id++, .savepoint = savepoint, .exists = true};
	s->unix_ms = h->now_ms;
	for (int i = 0; base && !savepoint && i < base->ref_count; i++)
		if (h->files[base->refs[i]].where != IN_CHK && !chance(h, 4))
			refer(s, base->refs[i]);
	/* the files of a savepoint are in its own directory, which is not modelled */
	for (int n = (int)rng_below(&h->rng, 3); n > 0 && !savepoint; n--)
		refer(s, new_file(h, job, chance(h, 4) ? IN_TASKOWNED : IN_SHARED, 0));
	if (!savepoint && chance(h, 2))
		refer(s, new_file(h, job, IN_CHK, s->id));
	/* unless it is one that Flink does not write today */
	if (savepoint && base && chance(h, 5))
		for (int i = 0; i < base->ref_count; i++)
			refer(s, base->refs[i]);
	h->snap_count++;
	return s;
}

static bool is_referred(const struct history *h, int file)
{
	for (int i = 0; i < h->snap_count; i++)
		for (int k = 0; h->snaps[i].exists && k < h->snaps[i].ref_count; k++)
			if (h->snaps[i].refs[k] == file)
				return true;
	return false;
}

/* Flink discards it, with the files that nothing else has. */
static void discard(struct history *h, struct snap *s)
{
	s->exists = false;
	for (int i = 0; i < s->ref_count; i++)
		if (!is_referred(h, s->refs[i]))
			h->files[s->refs[i]].exists = false;
}

/* Returns its newest checkpoint; NULL: it has completed none. */
static struct snap *run_job(struct history *h, int job, const struct snap *from, bool claim,
			    bool keeps)
{
	struct snap *last = NULL, *before = NULL;
	int count = chance(h, 5) ? 0 : 1 + (int)rng_below(&h->rng, 4);

	for (int i = 0; i < count; i++) {
		const struct snap *base = last ? last : claim ? from : NULL;
		struct snap *next = take(h, job, base, false);

		if (!next)
			break;
		if (before && !keeps)
			discard(h, before);
		before = last;
		last = next;
		if (chance(h, 4))
			take(h, job, last, true);
		if (chance(h, 3)) { /* a checkpoint is aborted */
			new_file(h, job, IN_CHK, h->next_id++);
			new_file(h, job, IN_SHARED, 0);
		}
	}
	return last;
}

static struct snap *any_snap(struct history *h, bool ours)
{
	for (int tries = 0; h->snap_count && tries < 20; tries++) {
		struct snap *s = &h->snaps[rng_below(&h->rng, h->snap_count)];

		if (s->exists && (!ours || !h->foreign[s->job]))
			return s;
	}
	return NULL;
}

static void neighbour(struct history *h)
{
	int job = new_job(h);
	struct snap *from = chance(h, 2) ? any_snap(h, false) : NULL;

	h->foreign[job] = true;
	run_job(h, job, from, chance(h, 2), true);
}

static void launch(struct history *h, struct snap **newest)
{
	const struct launch *before = journal_launch_const(&h->journal);
	bool continues = before && *newest && !(*newest)->savepoint && chance(h, 6);
	int job = continues ? (*newest)->job : new_job(h);
	struct snap *from = *newest, *last;
	struct launch *l;
	char path[100];

	if (chance(h, 8))
		from = any_snap(h, true); /* a person goes back */
	if (continues)
		from = *newest;
	h->now_ms += MINUTE;
	l = journal_add_launch(&h->journal);
	memcpy(l->job_id, h->ids[job], JOB_ID_BYTES);
	l->checkpoint_dir = xstrdup("file:/ck");
	l->savepoint_dir = xstrdup("file:/sp");
	l->intended_unix_ms = h->now_ms;
	if (from) {
		path_of(h, from, path, sizeof(path));
		l->restore_path = xstrdup(path);
		l->restore_kind = from->savepoint ? SNAPSHOT_SAVEPOINT : SNAPSHOT_CHECKPOINT;
		l->restore_checkpoint_id = from->id;
		if (from != *newest)
			l->request_token = xasprintf("t%d", (int)l->number);
	}
	if (chance(h, 12)) {
		l->never_started = true;
		return;
	}
	l->started_unix_ms = l->verified_unix_ms = h->now_ms + 1;
	last = run_job(h, job, from, chance(h, 2), chance(h, 2));
	if (!last)
		return;
	l->proven_unix_ms = l->intended_unix_ms + 2;
	l->last_checkpoint_id = last->id;
	path_of(h, last, path, sizeof(path));
	l->last_checkpoint_path = xstrdup(path);
	h->journal.ever_proven = true;
	*newest = last;
	if (chance(h, 4) && (last = take(h, job, last, true))) { /* stopped with a savepoint */
		struct snapshot s = {.path = path,
				     .kind = SNAPSHOT_SAVEPOINT,
				     .checkpoint_id = last->id,
				     .completed_unix_ms = last->unix_ms,
				     .verified = true};

		path_of(h, last, path, sizeof(path));
		memcpy(s.job_id, l->job_id, JOB_ID_BYTES);
		journal_add_snapshot(&h->journal, &s);
		for (int i = 0; i < h->snap_count; i++)
			if (h->snaps[i].job == job && !h->snaps[i].savepoint && chance(h, 2))
				discard(h, &h->snaps[i]);
		*newest = last;
	}
	l->job_ended = l->end_known = true;
}

/* The oldest launches leave the journal; of some of them it does not even know the id. */
static void forget(struct history *h)
{
	while (h->journal.launch_count > 2 && chance(h, 4)) {
		struct launch *l = &h->journal.launches[0];
		int job = 0;

		while (strcmp(h->ids[job], l->job_id) != 0)
			job++;
		if (journal_is_former_job(&h->journal, l->job_id) || !chance(h, 3))
			journal_add_former_job(&h->journal, l->job_id);
		free(l->job_result_path);
		free(l->checkpoint_dir);
		free(l->savepoint_dir);
		free(l->restore_path);
		free(l->request_token);
		free(l->last_checkpoint_path);
		memmove(l, l + 1, (h->journal.launch_count - 1) * sizeof(*l));
		h->journal.launch_count--;
	}
	for (int i = 0; i < h->job_count; i++)
		h->foreign[i] = !journal_knows_job(&h->journal, h->ids[i]);
}

static void history_begin(struct history *h, uint64_t seed)
{
	struct snap *newest = NULL;
	int launches;

	memset(h, 0, sizeof(*h));
	rng_seed(&h->rng, seed);
	journal_init(&h->journal, "app");
	h->now_ms = INT64_C(1000000) * MINUTE;
	h->next_id = 1;
	h->keep = rng_below(&h->rng, 4);
	launches = 1 + (int)rng_below(&h->rng, 12);
	for (int i = 0; i < launches; i++) {
		launch(h, &newest);
		if (chance(h, 3) && h->job_count < MAX_JOBS - 2)
			neighbour(h);
		h->now_ms += rng_below(&h->rng, 3000) * MINUTE;
	}
	forget(h);
	if (chance(h, 10) && h->snap_count) { /* a file is lost */
		const struct snap *s = any_snap(h, false);

		if (s && s->ref_count)
			h->files[s->refs[0]].exists = false;
	}
	h->now_ms += rng_below(&h->rng, 3) * 60 * MINUTE;
}

/* ---- what gc sees ---- */

static bool is_complete(const struct history *h, const struct snap *s)
{
	for (int i = 0; i < s->ref_count; i++)
		if (!h->files[s->refs[i]].exists)
			return false;
	return true;
}

static void add_snaps(const struct history *h, struct gc *gc)
{
	for (int i = 0; i < h->snap_count; i++) {
		const struct snap *s = &h->snaps[i];
		char path[100];
		struct gc_snapshot g = {
			.path = path,
			.kind = s->savepoint ? SNAPSHOT_SAVEPOINT : SNAPSHOT_CHECKPOINT,
			.checkpoint_id = s->savepoint ? 0 : s->id,
			.unix_ms = s->unix_ms,
		};

		if (!s->exists)
			continue;
		path_of(h, s, path, sizeof(path));
		snprintf(g.job_id, sizeof(g.job_id), "%.*s", s->savepoint ? 6 : 32, h->ids[s->job]);
		gc_add_snapshot(gc, &g);
	}
}

static const struct snap *snap_of(const struct history *h, const char *path)
{
	char own[100];

	for (int i = 0; i < h->snap_count; i++) {
		path_of(h, &h->snaps[i], own, sizeof(own));
		if (!strcmp(own, path))
			return &h->snaps[i];
	}
	return NULL;
}

static void add_trees(const struct history *h, struct gc *gc)
{
	for (int job = 0; job < h->job_count; job++) {
		cleanup_free char *dir = xasprintf("file:/ck/%s", h->ids[job]);
		char name[80];

		if (!gc_wants_job(&h->journal, h->ids[job]))
			continue;
		gc_add_tree(gc, GC_TREE_JOB, dir, h->ids[job]);
		for (int i = 0; i < h->file_count; i++)
			if (h->files[i].exists && h->files[i].job == job) {
				name_of(h, i, name, sizeof(name));
				gc_add_file(gc, name, 1 + i, h->files[i].unix_ms, false);
			}
		for (int i = 0; i < h->snap_count; i++)
			if (h->snaps[i].exists && h->snaps[i].job == job &&
			    !h->snaps[i].savepoint) {
				snprintf(name, sizeof(name), "chk-%d/_metadata",
					 (int)h->snaps[i].id);
				gc_add_file(gc, name, 1, h->snaps[i].unix_ms, false);
			}
	}
}

static void decide(const struct history *h, struct gc *gc)
{
	char name[80];
	int index;

	*gc = (struct gc){.now_unix_ms = h->now_ms, .policy = {60 * MINUTE, h->keep, 0}};
	add_snaps(h, gc);
	add_trees(h, gc);
	while ((index = gc_next_check(gc, &h->journal)) >= 0)
		gc->snapshots[index].check = is_complete(h, snap_of(h, gc->snapshots[index].path))
						     ? GC_CHECK_COMPLETE
						     : GC_CHECK_DAMAGED;
	gc_retain(gc, &h->journal);
	for (size_t i = 0; i < gc->snapshot_count; i++) {
		const struct snap *s = snap_of(h, gc->snapshots[i].path);

		if (!gc->snapshots[i].retained)
			continue;
		gc->snapshots[i].read = true;
		for (int k = 0; k < s->ref_count; k++) {
			name_of(h, s->refs[k], name, sizeof(name));
			gc_refer(gc, name);
		}
	}
	gc_judge(gc, &h->journal);
}

/* ---- what must be true ---- */

/* The number in "shared/00000012-..."; -1: a _metadata, and *ret_id is its checkpoint. */
static int parse(const char *name, int *ret_id)
{
	const char *last = strrchr(name, '/') + 1;

	*ret_id = atoi(name + 4);
	return *last != '_' ? atoi(last) : -1;
}

struct deletion {
	int job, file, chk; /* file -1: the _metadata of this checkpoint */
};

static int collect(const struct history *h, const struct gc *gc, struct deletion *ret)
{
	cleanup_buf struct buf text = BUF_INIT;
	int count = 0;

	for (int round = 0; round < 2; round++)
		for (size_t t = 0; t < gc->tree_count; t++)
			for (size_t i = 0; i < gc->trees[t].count; i++) {
				const struct gc_file *f = &gc->files[gc->trees[t].first + i];
				struct deletion *d = &ret[count];

				if (f->verdict != GC_DELETE || gc_goes_first(gc, f) != !round)
					continue;
				for (d->job = 0; strcmp(h->ids[d->job], gc->trees[t].job_id) != 0;)
					d->job++;
				d->file = parse(gc_name(gc, f, &text), &d->chk);
				count++;
			}
	return count;
}

static void carry_out(struct history *h, const struct deletion *d)
{
	if (d->file >= 0) {
		h->files[d->file].exists = false;
		return;
	}
	for (int i = 0; i < h->snap_count; i++)
		if (h->snaps[i].job == d->job && h->snaps[i].id == d->chk && !h->snaps[i].savepoint)
			h->snaps[i].exists = false;
}

static bool goes(const struct deletion *list, int count, const struct snap *s)
{
	for (int i = 0; i < count; i++)
		if (list[i].file < 0 && list[i].job == s->job && list[i].chk == s->id)
			return !s->savepoint;
	return false;
}

/* How many launches after the one with this job have left something that can be restored. */
static int ways_back_after(const struct history *h, int job)
{
	int count = 0;

	for (size_t i = h->journal.launch_count; i-- > 0;) {
		const struct launch *l = &h->journal.launches[i];
		bool usable = false, again = false;

		if (!strcmp(l->job_id, h->ids[job]))
			return count;
		for (size_t k = i + 1; k < h->journal.launch_count; k++)
			again = again || !strcmp(h->journal.launches[k].job_id, l->job_id);
		for (int k = 0; k < h->snap_count; k++)
			usable = usable || (h->snaps[k].exists && is_complete(h, &h->snaps[k]) &&
					    !strcmp(h->ids[h->snaps[k].job], l->job_id));
		count += usable && !again;
	}
	return count;
}

/* The first broken promise, NULL = none. */
static const char *judge_plan(const struct history *h, const struct gc *gc,
			      const struct deletion *list, int count)
{
	const char *last = journal_launch_const(&h->journal)->job_id;

	if (gc->stop && count)
		return "something is deleted although it is stopped";
	for (int i = 0; i < count; i++) {
		if (h->foreign[list[i].job])
			return "something of another application is deleted";
		if (!strcmp(h->ids[list[i].job], last))
			return "something of the last launch is deleted";
		if (list[i].file >= 0 && h->files[list[i].file].where == IN_TASKOWNED)
			return "a file is deleted to which operators may refer in their own state";
	}
	for (int i = 0; i < h->snap_count; i++) {
		const struct snap *s = &h->snaps[i];

		if (!s->exists)
			continue;
		if (goes(list, count, s)) {
			if (ways_back_after(h, s->job) <= h->keep)
				return "a checkpoint is deleted that is needed as a way back";
			continue;
		}
		for (int k = 0; k < count; k++)
			for (int r = 0; r < s->ref_count; r++)
				if (list[k].file >= 0 && list[k].file == s->refs[r])
					return "a file of a snapshot that stays is deleted";
	}
	return NULL;
}

/* What is not deleted although nothing needs it. */
static const char *judge_rest(const struct history *h, const struct gc *gc)
{
	if (gc->stop)
		return NULL;
	for (int i = 0; i < h->file_count; i++) {
		const struct file *f = &h->files[i];
		bool active = false;

		if (!f->exists || f->where == IN_TASKOWNED || h->foreign[f->job] ||
		    is_referred(h, i) ||
		    !strcmp(h->ids[f->job], journal_launch_const(&h->journal)->job_id))
			continue;
		for (int k = 0; k < h->snap_count; k++)
			active = active || (f->where == IN_CHK && h->snaps[k].exists &&
					    h->snaps[k].job == f->job && h->snaps[k].id == f->chk);
		for (int k = 0; k < h->file_count; k++)
			active = active ||
				 (h->files[k].exists && h->files[k].job == f->job &&
				  h->files[k].unix_ms >
					  journal_launch_const(&h->journal)->proven_unix_ms);
		if (!active)
			return "garbage stays";
	}
	return NULL;
}

/* What a launch would start from if `damaged` of the newest launches had nothing usable. */
static void choose(const struct history *h, int damaged, char *ret, size_t size)
{
	struct policy policy = {0};
	struct facts facts = {0};
	struct decision decision;

	facts_set_source(&facts, SOURCE_JOURNAL, SOURCE_PRESENT, "journal");
	facts_set_source(&facts, SOURCE_CHECKPOINTS, SOURCE_PRESENT, "ck");
	facts_add_place(&facts, SOURCE_SAVEPOINTS, SNAPSHOT_SAVEPOINT, "file:/sp", SOURCE_PRESENT,
			"sp");
	facts.now_unix_ms = h->now_ms;
	for (int i = 0; i < h->snap_count; i++) {
		const struct snap *s = &h->snaps[i];
		struct snapshot snapshot = {
			.kind = s->savepoint ? SNAPSHOT_SAVEPOINT : SNAPSHOT_CHECKPOINT,
			.checkpoint_id = s->id,
			.completed_unix_ms = s->unix_ms,
			.size_bytes = -1,
			.file_count = -1,
		};
		struct candidate *c;
		char path[100];

		if (!s->exists)
			continue;
		path_of(h, s, path, sizeof(path));
		snapshot.path = path;
		snprintf(snapshot.job_id, sizeof(snapshot.job_id), "%.*s", s->savepoint ? 6 : 32,
			 h->ids[s->job]);
		c = facts_add(&facts, s->savepoint ? SOURCE_SAVEPOINTS : SOURCE_CHECKPOINTS,
			      &snapshot);
		c->integrity = is_complete(h, s) && ways_back_after(h, s->job) >= damaged
				       ? INTEGRITY_COMPLETE
				       : INTEGRITY_DAMAGED;
	}
	resolve(&h->journal, &facts, &policy, &decision);
	snprintf(ret, size, "%s %s", decision_kind_name(decision.kind),
		 decision.kind == DECISION_START_FROM
			 ? facts.candidates[decision.candidate].snapshot.path
			 : "");
	facts_release(&facts);
}

static void note_complete(const struct history *h, bool *ret)
{
	for (int i = 0; i < h->snap_count; i++)
		ret[i] = h->snaps[i].exists && is_complete(h, &h->snaps[i]);
}

/* What can be taken for a snapshot is one. */
static const char *judge_halves(const struct history *h, const bool *complete)
{
	for (int i = 0; i < h->snap_count; i++)
		if (complete[i] && h->snaps[i].exists && !is_complete(h, &h->snaps[i]))
			return "a snapshot has lost files, and has its _metadata";
	return NULL;
}

struct figures {
	int stopped, deletions, dropped, starts;
};

static const char *try_history(struct history *h, struct figures *figures)
{
	static struct deletion list[MAX_FILES + MAX_SNAPS];
	static bool complete[MAX_SNAPS];
	char before[2][200], after[200];
	const char *broken = NULL;

	for (int damaged = 0; damaged < 2; damaged++) {
		choose(h, damaged, before[damaged], sizeof(before[damaged]));
		figures->starts += !strncmp(before[damaged], "START_FROM", 10);
	}
	for (int round = 0; round < 3 && !broken; round++) {
		struct gc gc;
		int count, done;

		decide(h, &gc);
		count = collect(h, &gc, list);
		broken = judge_plan(h, &gc, list, count);
		if (!broken && round == 2 && count)
			broken = "something is left to delete after everything was deleted";
		figures->stopped += round == 0 && gc.stop;
		figures->deletions += round == 0 ? count : 0;
		for (int i = 0; i < count; i++)
			figures->dropped += list[i].file < 0;
		/* it is killed at any time; then it begins again */
		done = round ? count : (int)rng_below(&h->rng, count + 1);
		note_complete(h, complete);
		for (int i = 0; i < done; i++)
			carry_out(h, &list[i]);
		if (!broken)
			broken = judge_halves(h, complete);
		if (!broken && round)
			broken = judge_rest(h, &gc);
		for (int damaged = 0; damaged < (h->keep ? 2 : 1) && !broken; damaged++) {
			choose(h, damaged, after, sizeof(after));
			if (strcmp(before[damaged], after) != 0)
				broken = "a launch would start from something else";
		}
		gc_release(&gc);
	}
	return broken;
}

TEST(what_is_needed_stays_in_10000_histories)
{
	struct history *h = xcalloc(1, sizeof(*h));
	struct figures figures = {0};
	const char *broken = NULL;

	for (uint64_t seed = 1; seed <= HISTORIES && !broken; seed++) {
		history_begin(h, seed);
		broken = try_history(h, &figures);
		if (broken)
			tap_note("history %d: %s", (int)seed, broken);
		journal_release(&h->journal);
	}
	CHECK_STR(broken ? broken : "none", "none");
	tap_note("%d histories: %d stopped, %d deletions, %d of checkpoints, %d starts", HISTORIES,
		 figures.stopped, figures.deletions, figures.dropped, figures.starts);
	CHECK_INT(figures.stopped, <, HISTORIES / 2);
	CHECK_INT(figures.deletions, >, 5 * HISTORIES);
	CHECK_INT(figures.dropped, >, HISTORIES);
	CHECK_INT(figures.starts, >, HISTORIES / 2);
	free(h);
}

int main(int argc, char **argv)
{
	return tap_main(argc, argv);
}
