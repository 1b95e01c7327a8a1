/*
 * web - the page at /: why a job does not run, since when, and what each way out loses.
 *
 * It is one static document (page.html) with style and script. The script reads the status document and shows all of
 * it. What is made here is the plain summary in it, for the moment before that, and for a browser without scripts: phase,
 * cause, reason, since when, the ways out with their commands, errors, the newest state, the last launch. The page has
 * no form and no link to another origin, and web_policy() lets the browser load and run nothing but its own style and
 * scripts.
 *
 * Pure. The document may come from anywhere: members that are missing or of a wrong type are left out, every text is
 * escaped (html.h), and long ones are cut.
 */
#ifndef DREY_CORE_WEB_H
#define DREY_CORE_WEB_H

#include <stdint.h>

#include "base/buf.h"

struct json;

/* What there is without a document. Borrowed; NULL: not known. */
struct web_facts {
	int64_t now_unix_ms;
	const char *version;     /* of drey */
	const char *application; /* its name, while there is no document */
	const char *pod;         /* that drey runs in; outside Kubernetes NULL */
};

/* Append the page. status: with what driver_status_full() adds; NULL while drey has not read its journal. */
void web_render(const struct json *status, const struct web_facts *facts, struct buf *to);

/* Append the value of the header Content-Security-Policy. */
void web_policy(struct buf *to);

#endif
