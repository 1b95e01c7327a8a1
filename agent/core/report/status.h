/*
 * status - the one document that shows the application's state: `drey status --json`, /status, the
 * custom resource's status and the termination message are all this.
 */
#ifndef DREY_CORE_STATUS_H
#define DREY_CORE_STATUS_H

#include "base/buf.h"
#include "core/lifecycle/lifecycle.h"
#include "core/report/conditions.h"

struct json;

/* Build the document; the caller frees it with json_free(). conditions: as updated for now_unix_ms;
 * NULL: judged without any history. now_unix_ms: for ages. */
struct json *status_document(const struct lifecycle *life, const struct conditions *conditions,
			     int64_t now_unix_ms);

/*
 * Append the part of a document that is worth writing where every write is expensive: two documents
 * with the same digest say the same. What changes with time or with every write is left out;
 * without `routine` also the newest checkpoint and the spare, which change often.
 */
void status_digest(const struct json *document, bool routine, struct buf *ret_text);

#endif
