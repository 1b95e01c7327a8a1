/*
 * web_internal - what the parts of the page share. Private to them.
 */
#ifndef DREY_CORE_WEB_INTERNAL_H
#define DREY_CORE_WEB_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/json.h"
#include "core/web/html.h"
#include "core/web/web.h"

#define WEB_TEXT_BYTES 1500 /* of one text; what is longer is in /status */
#define WEB_ROWS       64   /* of one table */

struct web {
	const struct json *status;
	const struct web_facts *facts;
	struct buf *out;
	const char *application, *phase, *cause;
	const char
		*offered; /* the snapshot that the decision proposes to start from; NULL = none */
	int64_t offered_unix_ms;
};

/* ---- web_text.c ---- */

/* A text of the document: escaped, cut, and apart from the direction of the text around it. */
void web_text(const struct web *page, const char *text);
/* The same, with `code` as code: a sentence of drey. */
void web_prose(const struct web *page, const char *text);
/* "03:12:04", with the date if that is another day (UTC); nothing for 0. */
void web_time(const struct web *page, int64_t unix_ms);
void web_clock(const struct web *page, int64_t unix_ms); /* without an element */
/* "14 min", "3 h 5 min" */
void web_duration(const struct web *page, int64_t ms);
/* The time, and how long ago that is. */
void web_since(const struct web *page, int64_t unix_ms);
/* "3.1 GB"; nothing below 0. */
void web_size(const struct web *page, int64_t bytes);
/* Markdown of one line: code, emphasis, links to other causes; others are only their text. */
void web_markdown(const struct web *page, const char *text, size_t len_bytes);
/* A path that can be copied. */
void web_path(const struct web *page, const char *path);
/* Milliseconds of a date of the document (RFC 3339); 0 = none. */
int64_t web_date(const struct json *object, const char *key);
/* The condition Ready of a job that runs and is not ready; NULL: it is ready, or the phase is another one, or an older drey has no
 * such condition. */
const struct json *web_unready(const struct web *page);
/* Begin and end a table that scrolls on its own, "ID-list"; the head is HTML. */
void web_table(const struct web *page, const char *id, const char *label, const char *head);
void web_table_end(const struct web *page);

/* ---- web_command.c ---- */

/* The commands of a way out, as people have to paste them here; each in a box of its own. */
void web_commands(const struct web *page, const char *way, size_t len_bytes);
/* One box, with this command. */
void web_command(const struct web *page, const char *command);

/* ---- the sections ---- */

void web_why(const struct web *page);      /* web_why.c */
void web_lineage(const struct web *page);  /* web_lineage.c */
void web_now(const struct web *page);      /* web_now.c */
void web_decision(const struct web *page); /* web_tables.c, like the rest */
void web_timeline(const struct web *page);
void web_conditions(const struct web *page);
void web_snapshots(const struct web *page);
void web_launches(const struct web *page);

#endif
