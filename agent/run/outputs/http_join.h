/*
 * http_join - what drey tells the TaskManagers: GET /join?generation=G, and
 * GET /readyz?generation=G. What is answered is decided in core/handover/join.h.
 */
#ifndef DREY_RUN_HTTP_JOIN_H
#define DREY_RUN_HTTP_JOIN_H

#include <stdbool.h>

#include "run/outputs/http_server.h"

struct driver;

void http_join_answer(const struct driver *driver, const char *query, struct http_reply *reply);

/* True: the query names a generation (or is malformed), and this was the answer. */
bool http_join_ready(const struct driver *driver, const char *query, struct http_reply *reply);

#endif
