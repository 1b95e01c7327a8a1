/*
 * gc_confirm - asks for the _metadata of checkpoints that the listings do not have, by name: a second witness, for one
 * name that a listing leaves out must not make garbage of a checkpoint. Used by run/gc only. Read-only. Blocks.
 *
 * What is there, and is not listed, is a contradiction; what cannot be read is unreadable. In both cases
 * nothing is deleted.
 */
#ifndef DREY_RUN_GC_CONFIRM_H
#define DREY_RUN_GC_CONFIRM_H

#include "run/gc/gc_look.h"

/* gc_unfinished(): of dead jobs, so none is completed meanwhile. */
void gc_confirm_unfinished(struct gc_look *look);

/* gc_near() in the directories that are listed, at most GC_NEAR_PER_JOB requests for each job. A checkpoint that is there may
 * have been completed after the listing: so this does gc_look_again(), and asks once more for what that has not found. */
void gc_confirm_near(struct gc_look *look);

#endif
