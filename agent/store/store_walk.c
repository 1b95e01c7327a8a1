#include "store/store_walk.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/packed.h"

const struct store_walk_limits store_walk_limits = {
	.pages = 100000, .names = 50000000, .ms = 60 * 60 * 1000};

/* ---- names ---- */

/* Files and folded directories come in order, mostly each for themselves: so none comes twice, and
 * pages end. */
static struct buf *last_of(const struct store_walk *walk, struct store_span *span, bool is_prefix)
{
	return is_prefix && !walk->one_order ? &span->last_dir : &span->last_file;
}

static int check_order(struct buf *last, const char *name, struct err *err)
{
	if (last->len_bytes && strcmp(name, last->data) <= 0)
		return err_set(err, ERR_FORMAT, 0, "'%.200s' comes after '%.200s': out of order",
			       name, last->data);
	buf_clear(last);
	buf_addstr(last, name);
	return 0;
}

/* A name that is not after the beginning of its span. */
static int judge_early(struct store_walk *walk, const struct store_span *span, const char *name,
		       struct err *err)
{
	/* with a delimiter a prefix is repeated if names in it come after the beginning */
	if (!span->is_cut)
		return 0;
	if (walk->honoured)
		return err_set(err, ERR_FORMAT, 0,
			       "'%.200s' was not requested, only what comes after '%.200s'", name,
			       buf_str(&span->after));
	walk->ignored = true;
	return 1;
}

/* The page before, once more: the store ignores where to begin. */
static bool is_repeated(struct store_walk *walk, const struct store_span *span, const char *name)
{
	if (!span->by_name || walk->honoured || strcmp(name, buf_str(&span->from)) > 0)
		return false;
	walk->repeats = true;
	return true;
}

/* A page that was to show that nothing is left has names: so there is something to join. */
static bool is_unjoined(struct store_walk *walk, const struct store_span *span)
{
	/* MUT: a page that was to be the end is believed to join the one before it */
	walk->unjoined = span->ends;
	return walk->unjoined;
}

static void set_name(struct buf *to, const char *name)
{
	buf_clear(to);
	buf_addstr(to, name);
}

static void note_least(struct buf *least, const char *name)
{
	if (!least->len_bytes || strcmp(name, least->data) < 0)
		set_name(least, name);
}

/* Two readings by tokens must have the same names, in whatever order. */
static void note_sum(struct store_walk *walk, bool is_prefix, const char *name)
{
	const struct store_walk_bound *bound = walk->bound;

	if (walk->honoured || (bound && (strcmp(name, bound->after) <= 0 ||
					 (bound->until && strcmp(name, bound->until) > 0))))
		return;
	walk->sums[is_prefix] += packed_hash(1, name, strlen(name));
}

/* Up to the name that must come again, all was passed on. */
static bool was_passed_on(struct store_span *span, const char *name)
{
	int order = span->expects.len_bytes ? strcmp(name, span->expects.data) : 1;

	if (!order)
		buf_clear(&span->expects);
	return !order || (order < 0 && !span->reached.len_bytes);
}

static int pass_on(struct store_walk *walk, struct store_span *span, struct store_dirs_name *item,
		   struct err *err)
{
	int rc;

	note_sum(walk, item->is_prefix, item->name);
	if (!span->first.len_bytes)
		buf_addstr(&span->first, item->name);
	note_least(&span->least, item->name);
	if (strcmp(item->name, buf_str(&span->reached)) > 0) {
		set_name(&span->before, buf_str(&span->reached));
		set_name(&span->reached, item->name);
	} else if (strcmp(item->name, buf_str(&span->before)) > 0) {
		set_name(&span->before, item->name);
	}
	if (item->is_hidden)
		return 0;
	rc = walk->fn(walk->ctx, item, err);
	walk->ended = rc > 0;
	return rc;
}

int store_walk_name(struct store_walk *walk, size_t index, const char *name,
		    struct store_dirs_name *item, struct err *err)
{
	struct store_span *span = &walk->spans->list[index];
	size_t prefix = walk->prefix.len_bytes;
	struct buf *last = last_of(walk, span, item->is_prefix);

	if (strncmp(name, store_walk_prefix(walk), walk->asked.len_bytes) != 0)
		return err_set(err, ERR_FORMAT, 0,
			       "'%.200s' does not start with the requested prefix", name);
	item->name = name + prefix;
	item->span = index;
	walk->any = true;
	/* MUT: a page that has only the directory itself again is progress */
	if (*item->name || !span->marked)
		walk->names++;
	span->marked = span->marked || !*item->name;
	if (!*item->name || was_passed_on(span, item->name))
		return 0;
	if (is_repeated(walk, span, item->name) || is_unjoined(walk, span))
		return 1;
	if (!last->len_bytes && strcmp(item->name, buf_str(&span->after)) <= 0)
		return judge_early(walk, span, item->name, err);
	if (check_order(last, item->name, err))
		return -1;
	if (span->until && strcmp(item->name, span->until) > 0) {
		walk->passed = true;
		note_least(&span->beyond, item->name);
		return 0;
	}
	return pass_on(walk, span, item, err);
}

bool store_walk_by_name(const struct store_walk *walk, size_t index)
{
	const struct store_span *span = &walk->spans->list[index];

	/* MUT: a page begins where the token of the page before says */
	return span->reached.len_bytes && !span->empty && !span->peeks && !walk->by_token;
}

const char *store_walk_from(const struct store_walk *walk, size_t index)
{
	return buf_str(&walk->spans->list[index].from);
}

int store_walk_most(const struct store_walk *walk, size_t index)
{
	const struct store_span *span = &walk->spans->list[index];

	if (span->peeks)
		return 1;
	return walk->bound && !span->pages ? walk->most_names : 0;
}

const char *store_walk_prefix(const struct store_walk *walk)
{
	return buf_str(&walk->asked);
}

char *store_walk_after(const struct store_walk *walk, size_t index)
{
	const struct buf *after = &walk->spans->list[index].after;

	if (!after->len_bytes)
		return xstrdup("");
	return xasprintf("%s%s", buf_str(&walk->prefix), after->data);
}

/* ---- pages ---- */

static size_t count_calls(void *ctx)
{
	const struct store_walk *walk = ctx;

	return walk->open_count;
}

static int prepare_page(void *ctx, size_t call, struct store_call *ret_call, struct err *err)
{
	struct store_walk *walk = ctx;

	walk->reading = walk->open[call];
	return walk->prepare(walk, walk->reading, ret_call, err);
}

static void join_next(struct store_span *span)
{
	set_name(&span->expects, buf_str(&span->reached));
	set_name(&span->from, buf_str(&span->before));
}

/* How the next page shows that it joins this one. It begins before the last name, if this one has more; else that would be
 * this page again: then a token shows the next name, and by its name it must come again. */
static void plan_join(const struct store_walk *walk, struct store_span *span)
{
	bool more = walk->names > 1 && span->before.len_bytes;

	span->ends = false;
	set_name(&span->from, buf_str(&span->reached));
	if (span->peeks) {
		span->peeks = false;
		join_next(span);
	} else if (more && (walk->says_more || walk->names >= STORE_WALK_PROOF)) {
		/* MUT: a page is believed to join the one before it */
		join_next(span);
	} else if (more) {
		span->ends = true;
	} else {
		/* MUT: a page of one name is believed to join the one before it */
		span->peeks = span->token != NULL;
	}
}

/* Another request for this span, and perhaps for new ones? */
static enum store_verdict go_on(struct store_walk *walk, size_t index, bool more)
{
	struct store_span *span = &walk->spans->list[index];

	if ((span->is_cut && (span->last_file.len_bytes || span->last_dir.len_bytes)) ||
	    (span->by_name && walk->names))
		walk->honoured = true;
	span->empty = walk->names ? 0 : span->empty + 1;
	if (!more || walk->passed) {
		span->done = true;
		return STORE_DONE;
	}
	if (walk->names && !walk->by_token)
		plan_join(walk, span);
	if (walk->names >= walk->store->ops->list_page) {
		size_t count = walk->spans->count;

		store_spans_cut(walk->spans, index, buf_str(&span->reached));
		for (; count < walk->spans->count; count++)
			walk->open[walk->open_count++] = count;
	}
	return STORE_MORE;
}

/* What was returned before has come again, so nothing is left out between. An empty page is followed by another one; by
 * tokens, all pages from the first one on are read again before it comes. */
static int check_joins(const struct store_walk *walk, const struct store_span *span, bool more,
		       struct err *err)
{
	/* MUT: a listing that is read again by tokens must have on its first page what was reached before */
	if (more && walk->by_token)
		return 0;
	if (!span->expects.len_bytes || (more && !walk->names))
		return 0;
	return err_set(err, ERR_CONTRADICTED, 0,
		       "'%.200s' was listed, but is left out of what comes after '%.200s'",
		       span->expects.data,
		       buf_str(span->from.len_bytes ? &span->from : &span->after));
}

static void note_end(struct store_walk *walk, size_t index)
{
	const struct buf *reached = &walk->spans->list[index].reached;
	uint64_t end = packed_hash(1, buf_str(reached), reached->len_bytes);

	buf_add(&walk->ends, &end, sizeof(end));
}

static void read_by_token(struct store_walk *walk, size_t index)
{
	note_end(walk, index);
	walk->repeats = walk->unjoined = false;
	walk->by_token = true;
	walk->spans->whole = true;
	for (size_t i = 0; i < walk->spans->count; i++)
		buf_clear(&walk->spans->list[i].expects);
}

/* Has a page of the first reading ended here, too? */
static bool ends_alike(const struct store_walk *walk, const struct buf *reached)
{
	uint64_t end = packed_hash(1, buf_str(reached), reached->len_bytes);
	const struct buf *ends = walk->bound->ends;
	bool alike = false;

	for (size_t i = 0; i < ends->len_bytes; i += sizeof(end))
		alike = alike || !memcmp(ends->data + i, &end, sizeof(end));
	return alike;
}

/* Pages by tokens prove nothing about what is between them. So all is read twice, and the second time the first page has
 * half as many names: all pages then end elsewhere. */
static int check_length(struct store_walk *walk, size_t index, bool more, struct err *err)
{
	int most = store_walk_most(walk, index);
	bool alike = most && walk->names > most;

	if (walk->bound && more)
		alike = alike || ends_alike(walk, &walk->spans->list[index].reached);
	else if (!walk->bound && walk->by_token)
		note_end(walk, index);
	/* MUT: a page may have more names than were asked for */
	if (alike)
		return err_set(
			err, ERR_CONTRADICTED, 0,
			"the store decides where a page begins, and how long it is: nothing shows that it leaves nothing out between pages");
	return 0;
}

/* Another page, although there were so many? */
static int check_limits(const struct store_walk *walk, bool more, struct err *err)
{
	const struct store_walk_limits *limits =
		walk->store->limits ? walk->store->limits : &store_walk_limits;
	int64_t took_ms = clock_mono_ms() - walk->began_ms;

	if (!more || (walk->pages < limits->pages && walk->all_names < limits->names &&
		      took_ms < limits->ms))
		return 0;
	return err_set(err, ERR_FORMAT, 0,
		       "the listing has no end: %u pages with %" PRId64 " names in %" PRId64
		       " s, and there is another one (at most %u, %" PRId64 ", %" PRId64 " s)",
		       walk->pages, walk->all_names, took_ms / 1000, limits->pages, limits->names,
		       limits->ms / 1000);
}

static enum store_verdict judge_page(void *ctx, size_t call, const struct http_response *response,
				     struct err *err)
{
	struct store_walk *walk = ctx;
	size_t index = walk->open[call];
	bool more = false;
	enum store_verdict verdict;

	walk->reading = index;
	walk->passed = false;
	walk->names = 0;
	verdict = walk->read(walk, index, response, &more, err);
	if (verdict != STORE_DONE)
		return verdict;
	if (!walk->pages++)
		walk->first_names = walk->names;
	walk->all_names += walk->names;
	if (walk->ended || walk->ignored)
		return STORE_FAILED; /* the other pages are not waited for */
	if (check_limits(walk, more && !walk->passed, err))
		return STORE_FAILED;
	if (walk->repeats) {
		read_by_token(walk, index);
		return STORE_MORE;
	}
	if (walk->unjoined) {
		walk->unjoined = walk->spans->list[index].ends = false;
		walk->says_more = true;
		join_next(&walk->spans->list[index]);
		return STORE_MORE;
	}
	if (check_length(walk, index, more, err))
		return STORE_FAILED;
	if (check_joins(walk, &walk->spans->list[index], more, err))
		return STORE_FAILED;
	if (walk->spans->list[index].empty == STORE_WALK_EMPTY) {
		err_set(err, ERR_FORMAT, 0, "%d pages without a name, and there is another one",
			STORE_WALK_EMPTY);
		return STORE_FAILED;
	}
	walk->spans->list[index].pages++;
	return go_on(walk, index, more);
}

/* ---- all ---- */

static void begin(struct store_walk *walk)
{
	walk->open_count = 0;
	walk->ended = walk->ignored = false;
	for (size_t i = 0; i < walk->spans->count; i++) {
		struct store_span *span = &walk->spans->list[i];

		if (span->done)
			continue;
		walk->open[walk->open_count++] = i;
		buf_clear(&span->last_file);
		buf_clear(&span->last_dir);
		buf_clear(&span->reached);
		buf_clear(&span->before);
		buf_clear(&span->from);
		span->empty = 0;
		span->marked = span->peeks = span->ends = false;
		free(span->token);
		span->token = NULL;
	}
}

/* From here the spans continue: also one that is done, if the cuts are undone. */
static void note_reached(struct store_spans *spans)
{
	for (size_t i = 0; i < spans->count; i++) {
		struct store_span *span = &spans->list[i];

		if (!span->reached.len_bytes)
			continue;
		buf_clear(&span->expects);
		if (span->before.len_bytes)
			set_name(&span->expects, span->reached.data);
		set_name(&span->after,
			 buf_str(span->before.len_bytes ? &span->before : &span->reached));
		span->is_cut = false;
	}
}

static int fail(const struct store_walk *walk, const struct err *why, struct err *err)
{
	const struct store_span *span = &walk->spans->list[walk->reading];
	const struct uri *dir = walk->dir;
	bool later = walk->reading > 0;

	err_pass(err, why);
	return err_wrap(err, "list %s://%s%s, page %u%s%.200s%s", dir->scheme, dir->authority,
			dir->path, span->pages + 1, later ? " after '" : "",
			later ? buf_str(&span->after) : "", later ? "'" : "");
}

/* The first page of a listing that has just begun may be there already. */
static int read_ahead(struct store_walk *walk, struct err *err)
{
	struct http_response response = {0};
	enum store_verdict verdict;

	if (!walk->ahead || walk->open_count != 1 ||
	    walk->spans->list[walk->open[0]].after.len_bytes ||
	    !walk->ahead(walk, walk->open[0], &response))
		return 0;
	verdict = judge_page(walk, 0, &response, err);
	http_response_release(&response);
	if (verdict == STORE_DONE)
		walk->open_count = 0;
	return verdict == STORE_DONE || verdict == STORE_MORE ? 0 : -1;
}

static int walk_spans(struct store_walk *walk, struct err *err)
{
	static const struct store_http_ops ops = {
		.prepare = prepare_page, .judge = judge_page, .count = count_calls};
	int rc;

	do {
		/* MUT: a store that was found to ignore where to begin is asked by name again */
		walk->by_token = walk->spans->whole;
		begin(walk);
		rc = read_ahead(walk, err);
		if (!rc && walk->open_count)
			rc = store_http_many(walk->http, &ops, walk, walk->open_count,
					     STORE_WALK_IN_FLIGHT, err);
		note_reached(walk->spans);
		if (walk->ignored)
			store_spans_undo(walk->spans);
	} while (walk->ignored);
	return rc;
}

static int note_nothing(void *ctx, const struct store_dirs_name *item, struct err *err)
{
	(void)ctx;
	(void)item;
	(void)err;
	return 0;
}

/* The second reading. What fn has ended the first one with is the last that counts: then only of its kind. */
static int read_twice(const struct store_walk *first, const char *after, struct err *err)
{
	const struct store_span *span = &first->spans->list[0];
	struct store_spans *spans = xcalloc(1, sizeof(*spans));
	const struct store_walk_bound bound = {
		.after = after,
		.until = !first->ended
				 ? NULL
				 : buf_str(first->delimited ? &span->last_dir : &span->last_file),
		.ends = &first->ends,
	};
	struct store_walk walk = *first;
	bool same;
	int rc;

	store_spans_init(spans);
	spans->whole = true;
	spans->begin = first->spans->begin;
	spans->list[0].until = span->until ? xstrdup(span->until) : NULL;
	walk.spans = spans;
	walk.bound = &bound;
	walk.fn = note_nothing;
	walk.most_names = first->first_names / 2;
	walk.ahead = NULL;
	walk.sums[0] = walk.sums[1] = 0;
	walk.pages = 0;
	walk.all_names = 0;
	walk.began_ms = clock_mono_ms();
	walk.ends = (struct buf)BUF_INIT;
	rc = walk_spans(&walk, err);
	store_spans_release(spans);
	free(spans);
	same = walk.sums[first->delimited] == first->sums[first->delimited] &&
	       (first->ended || walk.sums[!first->delimited] == first->sums[!first->delimited]);
	/* MUT: two readings by tokens need not have the same names */
	if (!rc && !same)
		return err_set(
			err, ERR_CONTRADICTED, 0,
			"with pages of other lengths it has other names: some are left out where pages meet");
	return rc;
}

int store_walk_all(struct store_walk *walk, struct err *err)
{
	const struct store_span *first = &walk->spans->list[0];
	cleanup_free char *after = NULL;
	struct err why = {0};
	int rc;

	walk->began_ms = clock_mono_ms();
	buf_clear(&walk->prefix);
	if (walk->dir->path[1])
		buf_addf(&walk->prefix, "%s/", walk->dir->path + 1);
	buf_clear(&walk->asked);
	buf_addf(&walk->asked, "%s%s", buf_str(&walk->prefix),
		 walk->spans->begin ? walk->spans->begin : "");
	after = xstrdup(buf_str(first->expects.len_bytes ? &first->expects : &first->after));
	rc = walk_spans(walk, &why);
	if (!rc && !walk->ended)
		rc = store_spans_check(walk->spans, &walk->reading, &why);
	if (walk->by_token && walk->pages > 1 && (!rc || walk->ended)) {
		rc = read_twice(walk, after, &why);
		walk->ended = walk->ended && !rc;
	}
	buf_release(&walk->prefix);
	buf_release(&walk->asked);
	buf_release(&walk->ends);
	return rc && !walk->ended ? fail(walk, &why, err) : 0;
}
