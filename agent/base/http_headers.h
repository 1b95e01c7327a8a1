/* http_headers - what the header lines of an answer say. Used by http_call.c; the rest of its functions are in http.h. */
#ifndef DREY_BASE_HTTP_HEADERS_H
#define DREY_BASE_HTTP_HEADERS_H

#include "base/http.h"

/* Fill content_type, date_unix_ms and retry_after_ms from the headers of a response in which they are "" and -1.
 * retry_after_ms is at most a day. */
void http_headers_read(struct http_response *response);

#endif
