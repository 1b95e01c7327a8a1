/*
 * ha_names - the numbered job ids (job_id.h) whose HA maps are read before a decision. Reading all of them
 * would take a request each. Pure.
 */
#ifndef DREY_CORE_HA_NAMES_H
#define DREY_CORE_HA_NAMES_H

#include <stdbool.h>

#include "core/journal/journal.h"

/* Job ids that no launch of the journal has, whose maps are read anyway: those that the next launches look
 * at first. A journal restored from a backup does not know that they were used. */
#define HA_READ_AHEAD 2

/*
 * By number: is the map of this id read? Those of the journal's launches, that of a hand-over, and HA_READ_AHEAD
 * more from journal->id_next on; all of them if there is no journal (NULL), or one that knows of no launch with
 * numbered ids: the next one may be any of them. Only a name that was read may be given to a launch: Flink would
 * continue with what its map has. The caller frees.
 */
bool *ha_names_read(const struct journal *journal, const char *id_space, int64_t id_count);

#endif
