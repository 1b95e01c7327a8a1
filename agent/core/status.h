/*
 * status - the one document that says how the application is: `drey status --json`, /status, the
 * custom resource's status and the termination message are all this.
 */
#ifndef DREY_CORE_STATUS_H
#define DREY_CORE_STATUS_H

#include "core/lifecycle.h"

struct json;

/* Build the document; the caller frees it with json_free(). now_unix_ms: for ages. */
struct json *status_document(const struct lifecycle *life, int64_t now_unix_ms);

#endif
