/* setup_overlap - are two directories of this application one, whatever they are called? */
#ifndef DREY_RUN_SETUP_OVERLAP_H
#define DREY_RUN_SETUP_OVERLAP_H

#include "core/journal/journal.h"
#include "run/config/setup.h"

/*
 * 1: *ret_why says what must be changed (core/overlap.h); the caller frees it. 0: none. -1: not known, because a
 * directory cannot be looked at. With a journal, also the directories that the last launch was given, and the one
 * in which its newest checkpoint is: the code of a job may set its own. Looks at local directories, so it may
 * block.
 */
int setup_overlap(const struct setup *setup, const struct journal *journal, char **ret_why,
		  struct err *err);

#endif
