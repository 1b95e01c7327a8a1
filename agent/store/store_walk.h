/*
 * store_walk - reads a listing in spans (store_spans.h), several pages at once; used by the object
 * stores only.
 *
 * The store prepares the request for a page and reads the answer; here is what all stores have in
 * common: which names were requested, where a span begins and ends, when it is cut, and that one
 * broken page voids the whole.
 *
 * A store that ignores where to begin (no `start-after`) is found out by the first page of the first
 * cut: nothing of it has been passed on by then, the cuts are undone, and the listing continues as
 * one span; and by the second page of a listing that is not cut, which is then the first one again. Once a
 * page has shown that the store honours it, a name before the beginning is a lie.
 *
 * A store that leaves names out behind the name where a page is to begin would hide them without a trace, so no
 * page is believed to join the one before it: it begins before the last name that was returned, which must come
 * again. After a page of a single name that would be the same page: the next name is asked for by a token, and must come
 * again by name. A store without tokens that never says whether there is more (Swift) proves it only where there was more.
 * Behind a cut, whose name need not exist, the first name must be the one that the span below it has seen beyond its end.
 *
 * A store that ignores where to begin is read by its tokens, and then once more with pages that end elsewhere, which must
 * have the same names. If it ignores how many names a page is to have, too, its listing of several pages is not readable.
 */
#ifndef DREY_STORE_STORE_WALK_H
#define DREY_STORE_STORE_WALK_H

#include "store/store_dirs.h"
#include "store/store_http.h"

/* Pages that are read at once: they are kept in memory. */
#define STORE_WALK_IN_FLIGHT 8

/* Pages without a name in a row, each with another one behind it; more is no listing. */
#define STORE_WALK_EMPTY 100

/* Names of a page from which on the next one proves that it joins it, even if it may be the last: one request in so many. */
#define STORE_WALK_PROOF 100

/*
 * Where a listing is no longer believed to end. Its names grow from page to page, and pages without names are counted
 * (STORE_WALK_EMPTY), but a server can invent greater names for ever. Far beyond what Flink leaves behind.
 */
struct store_walk_limits {
	unsigned pages;
	int64_t names, ms;
};
extern const struct store_walk_limits store_walk_limits;

/* What the second of two readings by tokens is compared by. */
struct store_walk_bound {
	const char *after, *until; /* the names that count; until NULL: no end */
	/* hashes of the names with which the pages of the first reading ended */
	const struct buf *ends;
};

struct store_walk {
	/* set by the store: */
	struct http *http;
	struct store *store;
	const struct uri *dir;
	struct store_spans *spans;
	bool delimited;
	bool one_order; /* files and folded directories come in one order, not in one for each */
	bool says_more; /* a page says whether there is another one; or that was found out */
	store_dirs_fn fn;
	void *ctx;
	/* The next page of span `index`; store_walk_prefix() and store_walk_after() say what. */
	int (*prepare)(struct store_walk *walk, size_t index, struct store_call *ret_call,
		       struct err *err);
	/* The answer: each of its names goes to store_walk_name(). STORE_DONE: it was read.
	 * *ret_more: there may be names behind it. */
	enum store_verdict (*read)(struct store_walk *walk, size_t index,
				   const struct http_response *response, bool *ret_more,
				   struct err *err);
	/* The answer to the first request of span `index`, if it was fetched before: true, and *ret is the caller's. NULL:
	 * it never was. */
	bool (*ahead)(struct store_walk *walk, size_t index, struct http_response *ret);
	/* its own: */
	struct buf prefix; /* "dir/", "" for the whole store */
	struct buf asked; /* the same with what names must begin like: the prefix of the requests */
	size_t open[STORE_SPANS_MAX], open_count;
	size_t reading; /* the span whose request was made, or answer read, last */
	bool any;       /* the directory exists: a name starts with the prefix */
	int names;      /* of this page, so far */
	bool passed;    /* a name of this page is behind the end of its span */
	bool honoured;  /* the store begins where it is told to */
	bool ended;     /* by fn */
	bool ignored;   /* the opposite of honoured */
	bool by_token;  /* it ignores where to begin: its tokens say where the next page does */
	bool unjoined; /* this page has names, and was not asked for so that it shows that it joins */
	uint64_t sums[2];            /* of the hashes of all names, and of all folded directories */
	unsigned pages;              /* that were read, of all spans */
	int64_t all_names, began_ms; /* of these pages; when the first one was asked for */
	int first_names;             /* of the first page */
	struct buf ends;             /* of the pages by tokens: hashes of their last names */
	/* The second reading: */
	const struct store_walk_bound *bound; /* NULL: it is the first */
	int most_names;                       /* of its first page; 0: as many as the store likes */
	bool repeats; /* this page is the one before, so that was found out */
};

/* Walk all spans that are not done. 0 also where fn has ended it. */
int store_walk_all(struct store_walk *walk, struct err *err);

/* For `read`: a whole name and what is known about it; item->name is set here. Returns what the
 * function of a page returns: 0, 1 to skip the rest of the page, or -1. */
int store_walk_name(struct store_walk *walk, size_t index, const char *name,
		    struct store_dirs_name *item, struct err *err);

/* For `prepare` of a store that has tokens, too: does the next page begin after store_walk_from()? Else by its
 * token, if it has one: no page had names so far, or the last one had none. */
bool store_walk_by_name(const struct store_walk *walk, size_t index);

/* For `prepare`: the name below the directory after which the next page begins: the last one that was returned, or
 * the one before it. Borrowed. */
const char *store_walk_from(const struct store_walk *walk, size_t index);

/* For `prepare` of a store that has tokens: how many names the page may have at most; 0: as many as the store likes. */
int store_walk_most(const struct store_walk *walk, size_t index);

/* For `prepare`: what the names of the answer begin with. Borrowed. */
const char *store_walk_prefix(const struct store_walk *walk);

/* For `prepare`: the name, with its prefix, after which the span continues; "" at the beginning.
 * The caller frees it. */
char *store_walk_after(const struct store_walk *walk, size_t index);

#endif
