/*
 * http_page - the page at / (core/web), and the pages of the runbook that it links to.
 */
#ifndef DREY_RUN_HTTP_PAGE_H
#define DREY_RUN_HTTP_PAGE_H

#include "run/outputs/http_server.h"

#define HTTP_RUNBOOK "/runbook/" /* the word of a cause follows */

struct driver;

/* Also while drey starts: then it says so. */
void http_page_answer(const struct driver *driver, const char *query, struct http_reply *reply);

/* The page of this cause as text; 404 if there is none. */
void http_page_runbook(const char *word, struct http_reply *reply);

#endif
