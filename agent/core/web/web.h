/*
 * web - the page at /: one HTML document that says why a job does not run, since when, and what each way out loses.
 *
 * Pure: from the status document (status.h, with status_history.h) to text. Everything in it is complete without
 * JavaScript; the script only fetches the same page again and replaces what has changed. The page has no form and no
 * link to another origin, and web_policy() lets the browser load and run nothing but its own style and script.
 *
 * The document may come from anywhere: members that are missing or of a wrong type are left out, every text is escaped
 * (html.h), and long ones are cut.
 */
#ifndef DREY_CORE_WEB_H
#define DREY_CORE_WEB_H

#include <stdint.h>

#include "base/buf.h"

struct json;

/* What the document does not have. Borrowed; NULL: not known. */
struct web_facts {
	int64_t now_unix_ms;
	const char *version;         /* of drey */
	const char *application;     /* its name, while there is no document */
	const char *pod, *namespace; /* that drey runs in; outside Kubernetes NULL */
	const char *deployment;      /* that the pod belongs to */
	const char *config_file;     /* that a command needs; NULL: it finds it without help */
};

/* Append the page. status: NULL while drey has not read its journal. */
void web_render(const struct json *status, const struct web_facts *facts, struct buf *to);

/* Append the value of the header Content-Security-Policy. */
void web_policy(struct buf *to);

#endif
