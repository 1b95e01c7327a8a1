/*
 * store_spans - a listing cut into parts that are read at the same time; used by the object stores
 * only. Pure: what has been read decides where to cut.
 *
 * A span is a part of the names below a directory: those after `after`, up to and including
 * `until`. The spans of a listing cover all names (or those that begin alike) with nothing between them: it begins as one span
 * without ends, and a cut only divides one, at a name that need not exist. So a cut at a bad place
 * costs a request, never a name. A cut contains no slash: all names of one directory are in one
 * span, as are the ends of a prefix into which a directory is folded.
 *
 * Snapshots have names like "savepoint-5b2c01-8c0f3e7d2a91": random hexadecimal digits. From how far
 * the first names reach follows how many there are. A span is cut only after a full page, and only
 * when several more pages are expected. Names without such digits are never cut.
 */
#ifndef DREY_STORE_STORE_SPANS_H
#define DREY_STORE_STORE_SPANS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

#define STORE_SPANS_MAX  64 /* in one listing */
#define STORE_SPANS_CUTS 15 /* of one span at a time */

struct store_span {
	struct buf
		after; /* all up to here (or to what it expects) was passed on; "" from the beginning */
	char *until; /* NULL: no end */
	bool done;   /* all of it was passed on */
	/* Of its pages so far. */
	struct buf first;    /* where it began: the name of the cut, or its first name */
	unsigned pages;      /* how many */
	unsigned generation; /* cuts that led to it */
	bool is_cut;         /* it begins at a cut, and no page has shown that this is understood */
	char *token;         /* of the next page, if the store has such tokens */
	struct buf reached;  /* the greatest name that was passed on */
	struct buf before;   /* the greatest one but that */
	struct buf expects;  /* this name was returned, and must come again: "" = none */
	struct buf from; /* its page begins after this one: the last name, or the one before it */
	char *asked; /* its page was requested after this name; NULL = by a token, or the first one */
	struct buf least;     /* its smallest name: what a cut must not have left out */
	struct buf beyond;    /* the smallest name behind its end that was returned */
	unsigned empty;       /* pages without a name in a row */
	bool marked;          /* an object stands for the directory itself: it comes first */
	bool by_name;         /* its page was requested by the greatest name, not by a token */
	bool peeks;           /* its next page is by a token, and has a single name */
	bool ends;            /* its next page should be empty: it begins after the last name */
	struct buf last_file; /* the last names, for the order */
	struct buf last_dir;
};

struct store_spans {
	struct store_span list[STORE_SPANS_MAX];
	size_t count;
	bool whole; /* never cut: the store ignores where to begin */
	/* Only names that begin like this are listed, and not cut; NULL: all. Borrowed. */
	const char *begin;
};

/* One span of everything. Release with store_spans_release(). */
void store_spans_init(struct store_spans *spans);
void store_spans_release(struct store_spans *spans);

/* After a full page of span `index`, the last name of which is `last`: cut what is left of it, if
 * that is worthwhile. New spans come last; the cut one keeps its beginning. */
void store_spans_cut(struct store_spans *spans, size_t index, const char *last);

/* When all spans are done: is what comes after each cut what the span below it has seen there? -1: *ret_span is the one that
 * leaves something out. */
int store_spans_check(const struct store_spans *spans, size_t *ret_span, struct err *err);

/* The store ignores where to begin: undo the cuts of span 0, the only one that was read. */
void store_spans_undo(struct store_spans *spans);

#endif
