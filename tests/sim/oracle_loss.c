/*
 * State that is lost: a launch that starts from before damaged snapshots must say so, and lose no more than
 * it may.
 */
#include <inttypes.h>

#include "base/mem.h"
#include "core/resolve/loss.h"
#include "tests/sim/sim.h"

/* The newest of the branch that was completed, is damaged now, and is newer than `base`; -1 = none. */
static int newest_damaged(const struct world *w, int head, int base)
{
	int64_t limit = INT64_MAX;
	int newest = -1;

	while (head >= 0) {
		int origin = w->truth.launches[head].base;

		for (int i = 0; i < w->storage.count; i++) {
			const struct snap *snap = &w->storage.snaps[i];

			if (snap->launch == head && !snap->veiled && !oracle_cannot_see(w, snap) &&
			    snap->id <= limit && snap->complete && !snap->deleted &&
			    (snap->metadata_damaged || snap->file_missing || snap->slandered) &&
			    snap->id > w->storage.snaps[base].id &&
			    (newest < 0 || snap->id > w->storage.snaps[newest].id) &&
			    (snap->kind == SNAPSHOT_SAVEPOINT ||
			     w->config->policy.restore == POLICY_LATEST))
				newest = i;
		}
		/* the ids of a job that restored something else do not go on from those of its argument */
		if (origin < 0 || w->truth.launches[head].wrong)
			break;
		limit = w->storage.snaps[origin].id;
		head = w->storage.snaps[origin].launch;
	}
	return newest;
}

/* Is the record of the loss that of this launch, or of one before it that was started from the same? */
static bool is_its_loss(const struct journal *journal, const struct launch *launch)
{
	for (size_t i = 0; i < journal->launch_count; i++)
		if (journal->launches[i].number == journal->loss.launch)
			return xstrsame(journal->launches[i].restore_path, launch->restore_path);
	return false;
}

/* Does the record of the loss name it, or something newer? Where a lie has called it damaged, that of this launch. */
static bool names_lost(const struct world *w, const struct launch *launch, int lost)
{
	const struct state_loss *loss = &w->store.image->journal.loss;
	const struct snap *snap = &w->storage.snaps[lost];

	if (!snap->slandered)
		return loss->unix_ms;
	return loss->unix_ms && is_its_loss(&w->store.image->journal, launch) &&
	       (loss->lost_checkpoint_id >= snap->id || !loss->lost_checkpoint_id);
}

bool oracle_loss_covers(const struct world *w, int snap)
{
	const struct state_loss *loss = &w->store.image->journal.loss;
	const struct launch *launch = journal_launch_const(&w->store.image->journal);

	return loss->unix_ms && launch && loss->launch == launch->number &&
	       loss->lost_checkpoint_id > w->storage.snaps[snap].id;
}

/* A damaged one whose number is not on record has its time only. That says nothing where a clock was set, and the contrary where
 * a savepoint that began before it was complete after it (86513662: another one took it, while drey's was in flight). */
static bool is_undated(const struct world *w, int lost, int base)
{
	const struct snap *snap = &w->storage.snaps[lost];

	return !snap->numbered.recorded &&
	       (w->truth.clock_set ||
		snap->completed_unix_ms < w->storage.snaps[base].completed_unix_ms);
}

void oracle_loss(struct world *w, const struct launch *launch, int base)
{
	const struct journal *stored = &w->store.image->journal;
	const struct state_loss *loss = &stored->loss;
	int64_t limit_ms = loss_limit_ms(&w->config->policy.max_loss, stored);
	int lost;

	/* that of this launch; what it acknowledged meanwhile is gone */
	if (loss->launch == launch->number && loss_is_too_much(loss->ms, limit_ms))
		fail(w, "launch %" PRId64 " loses %" PRId64 " ms, more than %" PRId64 " ms",
		     launch->number, loss->ms, limit_ms);
	lost = base >= 0 ? newest_damaged(w, truth_head(w), base) : -1;
	if (lost >= 0 && is_undated(w, lost, base))
		return;
	if (lost >= 0 && !names_lost(w, launch, lost))
		fail(w, "a start from %s, and nothing says that %s is lost",
		     w->storage.snaps[base].path, w->storage.snaps[lost].path);
}

bool oracle_gave_up(const struct world *w, int base, int newest)
{
	const struct journal *journal = &w->store.image->journal;
	const struct launch *launch = journal_launch_const(journal);

	return base >= 0 && newest >= 0 && launch && journal->loss.unix_ms &&
	       journal->loss.launch != launch->number && is_its_loss(journal, launch) &&
	       journal->loss.lost_checkpoint_id >= w->storage.snaps[newest].id;
}

bool oracle_took_for_good(const struct world *w, int head, int base)
{
	const struct journal *journal = &w->store.image->journal;
	const struct launch *launch = journal_launch_const(&w->agent->life.journal);
	const struct snap *snap = base >= 0 ? &w->storage.snaps[base] : NULL;
	/* without a journal and without its copy nothing tells what that job had restored (80625965) */
	bool adopted = launch && launch->adopted;

	if (!snap || snap->launch < head || !snap->of_wrong || !snap_usable(snap) ||
	    !w->truth.journal_changed || (oracle_newest(w, head) >= 0 && !adopted))
		return false;
	for (size_t i = 0; i < journal->launch_count; i++)
		if (truth_is_record(w, &journal->launches[i], snap->launch))
			return false;
	return true;
}

bool oracle_continues_as_shown(const struct world *w, int index, int base)
{
	int newest = oracle_newest(w, truth_head(w));
	const struct snap *snap = newest >= 0 ? &w->storage.snaps[newest] : NULL;

	return !lie_leaves_whole(&w->storage.snaps[base]) ||
	       (snap && snap->launch == index && snap->kind == SNAPSHOT_CHECKPOINT &&
		snap->id > w->storage.snaps[base].id);
}

bool oracle_lacks_files(const struct snap *snap)
{
	return snap->deleted || snap->file_missing;
}
