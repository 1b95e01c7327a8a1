/* setup_overlap - are two directories of this application one, whatever they are called? */
#ifndef DREY_RUN_SETUP_OVERLAP_H
#define DREY_RUN_SETUP_OVERLAP_H

#include "run/config/setup.h"

/* What must be changed (core/overlap.h); NULL: nothing. The caller frees. Looks at local directories, so it may
 * block; one that cannot be looked at is left out. */
char *setup_overlap(const struct setup *setup);

#endif
