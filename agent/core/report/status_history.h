/*
 * status_history - what the application has done, for people: earlier launches, more snapshots, and the last decision.
 *
 * Pure. It is part of the document that people and the page at / get (`drey status --json`, GET /status), and not of
 * the custom resource, which would be written more often and has a limit of its own.
 */
#ifndef DREY_CORE_STATUS_HISTORY_H
#define DREY_CORE_STATUS_HISTORY_H

#include "core/lifecycle/lifecycle.h"

#define HISTORY_SNAPSHOTS  50
#define HISTORY_CANDIDATES 50 /* of a decision, the best ones */

struct json;

/*
 * Add `launches` (all in the journal, oldest first), `decision` (decision_document(), copied; NULL: none yet) and
 * `retryInMs`; `snapshots` has the newest HISTORY_SNAPSHOTS.
 */
void status_add_history(struct json *doc, const struct lifecycle *life, const struct json *decision,
			int64_t now_unix_ms);

/* A decision with its sources and its best candidates; the names are those of `drey resolve --explain --json`. The
 * caller frees it with json_free(). */
struct json *decision_document(const struct facts *facts, const struct decision *decision,
			       int64_t now_unix_ms);

#endif
