/*
 * A savepoint that is disposed of: something else must hold what it holds.
 */
#include "tests/sim/sim.h"

/* What the last decision could not know of has been written down since: the next one knows it. */
static bool has_recorded_later(const struct world *w, int snap)
{
	const struct snap *disposed = &w->storage.snaps[snap];

	for (int i = 0; i < w->storage.count; i++) {
		const struct snap *later = &w->storage.snaps[i];

		if (later->launch == disposed->launch && later->id > disposed->id &&
		    later->kind == SNAPSHOT_SAVEPOINT && later->named.recorded &&
		    snap_usable(later) && !later->slandered)
			return true;
	}
	return false;
}

/* A snapshot that is disposed of must not be needed: not the newest, and not one that the job would go back to. */
void oracle_dispose(struct world *w, int snap)
{
	const struct flink *flink = w->flink;

	if (w->storage.snaps[snap].outside)
		fail(w, "%s was requested from outside drey, and is disposed of",
		     w->storage.snaps[snap].path);
	if (snap == oracle_newest(w, truth_head(w)) && !has_recorded_later(w, snap))
		fail(w, "%s is the newest state, and is disposed of", w->storage.snaps[snap].path);
	if (flink->alive && ha_names(w, flink->launch, snap))
		fail(w, "Flink's HA still has %s, which is disposed of",
		     w->storage.snaps[snap].path);
	if (flink->restored == snap && flink->completed < 0)
		fail(w, "%s is all that the job could go back to, and is disposed of",
		     w->storage.snaps[snap].path);
}
