/*
 * What came of reading one snapshot: from a candidate, which is for a decision, to the event that the life cycle takes.
 */
#include "core/lifecycle/lifecycle.h"

/*
 * Flink has reported it as complete, or it was verified once: that its _metadata is not found is one answer
 * against that, and no damage. It is as if it could not be read: it stays on record, so no older start passes
 * it over. A review asks Flink whether it is still there, because checkpoints are deleted all the time.
 */
static bool was_read(const struct candidate *candidate, bool background)
{
	/* MUT: a savepoint that is not found once is damaged */
	if (candidate->integrity == INTEGRITY_INCOMPLETE && !background)
		return false;
	return candidate->integrity != INTEGRITY_UNREADABLE;
}

void inspection_says(const struct candidate *candidate, bool background, struct event *ret_event)
{
	const struct snapshot *snapshot = &candidate->snapshot;

	*ret_event = (struct event){
		.type = EVENT_INSPECTED,
		.inspected = {.path = snapshot->path,
			      .readable = was_read(candidate, background),
			      .complete = candidate->integrity == INTEGRITY_COMPLETE,
			      .checkpoint_id = snapshot->checkpoint_id,
			      .size_bytes = snapshot->size_bytes,
			      .file_count = snapshot->file_count,
			      .error = candidate->detail,
			      .background = background}};
}
