/*
 * The record of a transition (transition.h): it begins with an offer, enters its states, and is dropped. What follows
 * in each state is lifecycle_transition.c.
 */
#include "core/lifecycle/lifecycle_transition_state.h"

#include "base/mem.h"
#include "core/job_id.h"
#include "core/journal/journal_adopt.h"
#include "core/lifecycle/lifecycle_handover_state.h"
#include "core/lifecycle/lifecycle_ids.h"
#include "core/lifecycle/lifecycle_transition_now.h"

#define MOST_IDS 16 /* job ids that are set aside for the candidate */

void transition_enters(struct lifecycle *life)
{
	life->transition = (struct transition_progress){.near = life->transition.near,
							.near_beat = life->transition.near_beat,
							.near_told = life->transition.near_told,
							.missing = life->transition.missing,
							.finish_id = -1};
	handover_arm(life);
}

/* As many as it may need, or as there are. */
static void reserve_numbers(struct lifecycle *life)
{
	int64_t wanted = life->config->max_attempts + 1, first = -1;

	wanted = wanted < MOST_IDS ? wanted : MOST_IDS;
	while (wanted > 0 && (first = find_free_numbers(life, wanted)) < 0)
		wanted--;
	if (first >= 0)
		journal_reserve(&life->journal, first, wanted);
}

void transition_offer(struct lifecycle *life)
{
	transition_begin(&life->journal.handover, life->journal.sequence);
	life->journal.handover.transition.output_side =
		side_other(journal_output_side(&life->journal, NULL));
	life->transition.near_told = false;
	reserve_numbers(life);
	transition_enters(life);
}

/* Those that a job that was given up may have used are known as this application's. */
void transition_keep_ids(struct lifecycle *life)
{
	struct journal *journal = &life->journal;
	const struct transition *transition = &journal->handover.transition;
	char id[JOB_ID_BYTES];

	if (*journal->handover.job_id)
		journal_add_former_job(journal, journal->handover.job_id);
	if (!transition->seed.path)
		return;
	for (int64_t i = 0; journal->id_space && i < transition->numbers; i++) {
		job_id_name(journal->id_space, transition->first_number + i, id);
		journal_add_former_job(journal, id);
	}
}

void transition_drop(struct lifecycle *life)
{
	if (transition_is_on(life))
		transition_keep_ids(life);
}
