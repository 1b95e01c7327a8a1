/*
 * status - the one document that says how the application is: `drey status --json`, /status, the
 * custom resource's status and the termination message are all this.
 */
#ifndef DREY_CORE_STATUS_H
#define DREY_CORE_STATUS_H

#include "base/buf.h"
#include "core/conditions.h"
#include "core/lifecycle.h"

struct json;

/* Build the document; the caller frees it with json_free(). conditions: as they were updated for
 * now_unix_ms; NULL: judged as if nothing had been before. now_unix_ms: for ages. */
struct json *status_document(const struct lifecycle *life, const struct conditions *conditions,
			     int64_t now_unix_ms);

/*
 * Append what of a document is worth to be written where every write costs something: two documents
 * with the same digest tell the same. Left out is what changes by itself with time and with every
 * write; without `routine` also the newest checkpoint, of which there is one after the other.
 */
void status_digest(const struct json *document, bool routine, struct buf *ret_text);

#endif
