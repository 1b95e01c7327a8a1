/*
 * status_offline - the status document from the stored journal, for use without a connection to drey,
 * or when none is running: the state at the last write.
 */
#ifndef DREY_CMD_STATUS_OFFLINE_H
#define DREY_CMD_STATUS_OFFLINE_H

#include "base/err.h"
#include "base/json.h"
#include "run/config/config.h"

struct journal;

/* The status document of a journal, of which it takes over the content. `reason` NULL: that of its phase, as it was
 * recorded. The caller frees. Pure, but for the clock. */
struct json *status_of_journal(struct journal *journal, const char *reason);

/* The caller frees *ret_document. ERR_ABSENT: there is no journal. Other errors: as saved_journal_read(). */
int status_offline(const struct config *config, struct json **ret_document, struct err *err);

#endif
