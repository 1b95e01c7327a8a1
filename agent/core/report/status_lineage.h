/*
 * status_lineage - the launches and the pauses between them, as they are drawn: when each began and ended, what it
 * came from, what of it was abandoned. Pure: from the status document, so that who draws it decides nothing.
 */
#ifndef DREY_CORE_STATUS_LINEAGE_H
#define DREY_CORE_STATUS_LINEAGE_H

#include <stdint.h>

#define LINEAGE_LAUNCHES 20 /* older ones are only in `launches` */
#define LINEAGE_PAUSES   64

struct json;

/* Add `lineage`, from `launches`, `snapshots` and `transitions`; what is wrong in them is left out. */
void status_add_lineage(struct json *doc, int64_t now_unix_ms);

#endif
