/*
 * journal_adopt - the journal of a candidate whose job runs beside the owner's (transition.h). Pure.
 *
 * Such a candidate may not write the application's journal, and its job needs one: what was intended
 * and what became of it has to outlive its agent. So it has a journal of its own, which begins as a
 * copy of the owner's (the seed), with an order to start from one savepoint and from nothing else.
 * When the job is granted to it, what has happened there since is added to the application's journal
 * (the adoption), and from then on that is its journal.
 */
#ifndef DREY_CORE_JOURNAL_ADOPT_H
#define DREY_CORE_JOURNAL_ADOPT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/journal/journal.h"

/* Set `numbers` numbered job ids from `first` on aside for the candidate; the owner draws none of them.
 * Nothing happens if ids are not numbered, or that was done for this transition. */
void journal_reserve(struct journal *journal, int64_t first, int64_t numbers);

/* Is it, or may it be, one of the job that the candidate runs in the transition that is on record? */
bool journal_is_candidates(const struct journal *journal, const char *job_id);

/*
 * The journal of the candidate that `main` names, for a start from the seed of its transition: it runs
 * the job, has no other wish, nothing in flight, and no failed attempt. `main` must be in a
 * transition that has a seed. *ret_mine is initialised; the caller releases it.
 */
void journal_seed(const struct journal *main, bool allow_non_restored, int64_t now_unix_ms,
		  struct journal *ret_mine);

/* Was it seeded for this hand-over? An agent that comes back goes on with it then. */
bool journal_is_seeded(const struct journal *mine, const struct handover *handover);

/*
 * Add to `main`, which grants the job to the writer of `mine`, all that `mine` has more: launches with
 * the next numbers, snapshots, tokens. What people want stays as `main` has it; what has failed, and
 * how the job has ended, is as in `mine`. The last launch of `main` before that has ended. The state of
 * the hand-over is left to the caller. Adopting the same once more changes nothing.
 *
 * False: `mine` is of another hand-over; nothing is changed.
 */
bool journal_adopt(struct journal *main, const struct journal *mine, int64_t now_unix_ms);

#endif
