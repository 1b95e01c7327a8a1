/*
 * What drey is shown of the stores, of Flink's HA data and of its statistics while a lie is told.
 */
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

int64_t lie_metadata_bytes(const struct world *w, int snap, int64_t bytes)
{
	return bytes - (is_about(w, LIE_DAMAGED, snap) || is_about(w, LIE_WRONG_METADATA, snap));
}

static void judge_lie(struct candidate *c, enum integrity integrity, const char *detail)
{
	c->integrity = integrity;
	xstrset(&c->detail, detail);
}

bool lie_judges(struct world *w, struct candidate *c, int index)
{
	cleanup_free char *another = NULL;
	int64_t id = 0;

	/* what does not exist is said to be absent anyway */
	if (index < 0 || !snap_usable(&w->storage.snaps[index]))
		return false;
	switch (lie_reads(w, index, &id)) {
	case LIE_TRUTH:
		return false;
	case LIE_SAYS_GONE:
		judge_lie(c, INTEGRITY_INCOMPLETE, "no _metadata");
		return true;
	case LIE_SAYS_DAMAGED:
		judge_lie(c, INTEGRITY_DAMAGED, "_metadata is damaged");
		break;
	case LIE_SAYS_OTHER:
		another = facts_is_of_another(c, id);
		if (!another) /* nothing says what it should be */
			return false;
		if (c->recorded_id)
			c->snapshot.checkpoint_id = c->recorded_id;
		judge_lie(c, INTEGRITY_DAMAGED, another);
		break;
	}
	w->storage.snaps[index].slandered = true;
	return true;
}

/* ---- what is veiled ---- */

void lie_gathered(struct world *w, const struct facts *facts)
{
	for (int i = 0; i < w->storage.count; i++) {
		struct snap *snap = &w->storage.snaps[i];

		if (!snap->left_out || !snap->complete || snap->deleted)
			continue;
		snap->veiled = !snap->numbered.recorded && !snap->named.recorded &&
			       !facts_find(facts, snap->path);
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

bool lie_hides_end(struct world *w)
{
	const struct launch *launch = journal_open_launch(&w->agent->life.journal);
	int index = launch ? truth_find(w, launch->job_id) : -1;

	return find_lie(w, LIE_HIDDEN_END) && index >= 0 &&
	       w->truth.launches[index].end != JOB_END_NONE;
}
