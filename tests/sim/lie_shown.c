/*
 * What drey is shown of the stores, of Flink's HA data and of its statistics while a lie is told.
 */
#include <signal.h>
#include <string.h>

#include "base/mem.h"
#include "tests/sim/sim.h"

static const struct lie *find_lie(const struct world *w, enum lie_kind kind)
{
	for (int i = 0; i < LIES_AT_ONCE; i++)
		if (w->lies.now[i].told && w->lies.now[i].kind == kind)
			return &w->lies.now[i];
	return NULL;
}

static int slot_of(const struct world *w, const struct lie *lie)
{
	return (int)(lie - w->lies.now);
}

/* ---- listings ---- */

/* An old one: of before the lie. NULL: they are not old. */
static const struct lie *stale_listing(const struct world *w)
{
	const struct lie *lie = find_lie(w, LIE_STALE_LISTING);

	return lie ? lie : find_lie(w, LIE_STALE_STORE);
}

/* All from the target on, in the order of their making, and a third of the others, always the same. */
static bool is_cut(const struct lie *cut, int snap)
{
	uint64_t mixed = (cut->salt ^ (uint64_t)snap) * UINT64_C(0x9e3779b97f4a7c15);

	return snap >= cut->target || (mixed >> 60) % 3 == 0;
}

bool lie_lists(struct world *w, int index)
{
	struct snap *snap = &w->storage.snaps[index];
	const struct lie *stale = stale_listing(w), *cut = find_lie(w, LIE_CUT_LISTING),
			 *other = find_lie(w, LIE_OTHER_LISTING);
	bool shown = stale ? snap->was_there[slot_of(w, stale)] : !snap->deleted;

	if ((cut && is_cut(cut, index)) || (other && other->which % 2 == (int)snap->kind))
		shown = false;
	if (!shown && !snap->deleted)
		snap->left_out = true;
	return shown;
}

bool lie_lists_metadata(struct world *w, int index)
{
	struct snap *snap = &w->storage.snaps[index];
	const struct lie *stale = stale_listing(w);
	bool shown = stale ? snap->was_complete[slot_of(w, stale)] : snap->complete;

	if (!shown && snap->complete && !snap->deleted)
		snap->left_out = true;
	return shown;
}

/* ---- files ---- */

static bool is_about(const struct world *w, enum lie_kind kind, int snap)
{
	const struct lie *lie = find_lie(w, kind);

	return lie && lie->target == snap;
}

enum lie_answer lie_reads(struct world *w, int index, int64_t *ret_id)
{
	const struct lie *older = find_lie(w, LIE_OLDER_ANSWER);
	const struct lie *wrong = find_lie(w, LIE_WRONG_METADATA);

	if (!older)
		older = find_lie(w, LIE_STALE_STORE);
	if (is_about(w, LIE_GONE, index) ||
	    (older && !w->storage.snaps[index].was_complete[slot_of(w, older)]))
		return LIE_SAYS_GONE;
	if (is_about(w, LIE_DAMAGED, index))
		return LIE_SAYS_DAMAGED;
	if (wrong && wrong->target == index) {
		*ret_id = w->storage.snaps[index].id +
			  (wrong->which % 2 ? 1 : -1) * (1 + wrong->which / 2);
		if (*ret_id > 0)
			return LIE_SAYS_OTHER;
	}
	return LIE_TRUTH;
}

int64_t lie_metadata_bytes(struct world *w, int snap, int64_t bytes)
{
	if (!is_about(w, LIE_DAMAGED, snap) && !is_about(w, LIE_WRONG_METADATA, snap))
		return bytes;
	w->storage.snaps[snap].slandered = true;
	return bytes - 1;
}

static void judge_lie(struct candidate *c, enum integrity integrity, const char *detail)
{
	c->integrity = integrity;
	xstrset(&c->detail, detail);
}

/* The _metadata of another snapshot counts as its own. */
static bool believe(struct candidate *c, int64_t id)
{
	c->snapshot.checkpoint_id = id;
	c->snapshot.verified = true;
	c->integrity = INTEGRITY_COMPLETE;
	return true;
}

bool lie_judges(struct world *w, struct candidate *c, int index)
{
	cleanup_free char *another = NULL;
	int64_t id = 0;

	/* what does not exist is said to be absent anyway */
	if (index < 0 || !snap_usable(&w->storage.snaps[index]))
		return false;
	switch (lie_reads(w, index, &id)) {
	case LIE_TRUTH: /* a lie may have ended since the listing */
		w->storage.snaps[index].slandered = w->storage.snaps[index].misread = false;
		return false;
	case LIE_SAYS_GONE:
		/* gone by listing and file alike, but on record: a start from before it must name it, or something newer */
		w->storage.snaps[index].slandered = w->storage.snaps[index].left_out;
		judge_lie(c, INTEGRITY_INCOMPLETE, "no _metadata");
		return true;
	case LIE_SAYS_DAMAGED:
		judge_lie(c, INTEGRITY_DAMAGED, "_metadata is damaged");
		break;
	case LIE_SAYS_OTHER:
		another = facts_is_of_another(c, id);
		if (!another && !c->recorded_id && !c->snapshot.checkpoint_id)
			return false; /* nothing says what it should be */
		if (!another) {
			w->storage.snaps[index].misread = true;
			return believe(c, id);
		}
		if (c->recorded_id)
			c->snapshot.checkpoint_id = c->recorded_id;
		judge_lie(c, INTEGRITY_DAMAGED, another);
		break;
	}
	w->storage.snaps[index].slandered = true;
	return true;
}

/* ---- what is veiled ---- */

static bool copy_names(const struct facts *facts, const struct snap *snap)
{
	const char *newest = facts->copy ? journal_copy_newest(facts->copy) : NULL;

	return newest && snapshot_same_path(newest, snap->path);
}

static bool is_found(const struct facts *facts, const struct snap *snap)
{
	const struct candidate *c = facts_find(facts, snap->path);

	return c && c->integrity != INTEGRITY_INCOMPLETE;
}

void lie_gathered(struct world *w, const struct facts *facts)
{
	w->lies.old_maps = find_lie(w, LIE_STALE_HA) || find_lie(w, LIE_HIDDEN_HA);
	for (int i = 0; i < w->storage.count; i++) {
		struct snap *snap = &w->storage.snaps[i];

		if (!snap->left_out || !snap->complete || snap->deleted)
			continue;
		snap->veiled = !snap->numbered.recorded && !snap->named.recorded &&
			       !is_found(facts, snap) && !copy_names(facts, snap);
		snap->unseen = snap->unseen || snap->veiled;
	}
}

/* ---- Flink ---- */

const struct ha_map *lie_ha(struct world *w, int launch)
{
	static const struct ha_map none;
	const struct truth_launch *truth = &w->truth.launches[launch];

	if (find_lie(w, LIE_HIDDEN_HA))
		return &none;
	return find_lie(w, LIE_STALE_HA) ? &truth->ha_then : &truth->ha;
}

int lie_completed(struct world *w, int completed)
{
	const struct lies *lies = &w->lies;

	if (!find_lie(w, LIE_OLDER_REST) || lies->shown_launch != w->flink->launch ||
	    rng_below(&w->lies.rng, 2))
		return completed;
	return lies->shown;
}

bool lie_hides_end_of(const struct world *w, int launch)
{
	return find_lie(w, LIE_HIDDEN_END) && w->truth.launches[launch].end != JOB_END_NONE;
}

bool lie_hides_end(struct world *w)
{
	const struct launch *launch = journal_open_launch(&w->agent->life.journal);
	int index = launch ? truth_find(w, launch->job_id) : -1;

	return index >= 0 && lie_hides_end_of(w, index);
}

/* ---- the code of the job ---- */

bool lie_sets_deletion(const struct world *w)
{
	const struct lie *code = find_lie(w, LIE_CODE);

	return code && code->which % 4 > 1;
}

struct effective lie_effective(const struct world *w)
{
	return (struct effective){.known = true,
				  .interval_ms = w->flink->checkpoint_interval_ms,
				  .externalized = w->flink->deletes ? EXTERNALIZED_DELETE
								    : EXTERNALIZED_RETAIN,
				  .storage = CHECKPOINT_STORAGE_FILES,
				  .backend = STATE_BACKEND_HASHMAP};
}

/* With high availability the store keeps them when Flink shuts down; a cancel deletes them anyway. */
void lie_job_ends(struct world *w)
{
	if (!w->flink->deletes)
		return;
	for (int i = 0; i < w->storage.count; i++) {
		struct snap *snap = &w->storage.snaps[i];

		if (snap->launch != w->flink->launch || snap->kind != SNAPSHOT_CHECKPOINT ||
		    snap->deleted || !snap->complete)
			continue;
		say(w, "Flink deletes %s", snap->path);
		snap->deleted = true;
		w->truth.loss = true;
	}
}

void lie_judge_signal(struct world *w, const struct effect *effect)
{
	const struct flink *flink = w->flink;
	const struct launch *launch = journal_launch_const(&w->agent->life.journal);

	if (effect->signo != SIGTERM || !flink->alive || !flink->deletes || w->ha ||
	    !flink->job_present || flink->terminating || job_state_is_final(flink->state) ||
	    flink->completed < 0 || !launch || !launch->effective.known)
		return;
	fail(w, "a signal lets Flink delete %s", w->storage.snaps[flink->completed].path);
}
