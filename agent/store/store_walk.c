#include "store/store_walk.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

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
	if (!span->by_name || walk->honoured || strcmp(name, buf_str(&span->reached)) > 0)
		return false;
	walk->repeats = true;
	return true;
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
	if (is_repeated(walk, span, item->name))
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
	return span->reached.len_bytes && !span->empty && !walk->by_token;
}

const char *store_walk_from(const struct store_walk *walk, size_t index)
{
	const struct store_span *span = &walk->spans->list[index];

	return buf_str(span->expects.len_bytes ? &span->from : &span->reached);
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
	/* MUT: a page is believed to join the one before it */
	if (walk->names >= STORE_WALK_PROOF && !walk->by_token) {
		set_name(&span->expects, buf_str(&span->reached));
		set_name(&span->from, buf_str(&span->before));
	}
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

static void read_by_token(struct store_walk *walk)
{
	walk->repeats = false;
	walk->by_token = true;
	walk->spans->whole = true;
	for (size_t i = 0; i < walk->spans->count; i++)
		buf_clear(&walk->spans->list[i].expects);
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
	if (walk->ended || walk->ignored)
		return STORE_FAILED; /* the other pages are not waited for */
	if (walk->repeats) {
		read_by_token(walk);
		return STORE_MORE;
	}
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
		span->marked = false;
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

/* ---- cuts ---- */

/* As far as both are known: a folded directory stands for all that is in it. */
static bool is_same_name(const char *a, const char *b)
{
	size_t len = strcspn(a, "/");

	if (!strcmp(a, b))
		return true;
	return a[len] && !strncmp(a, b, len + 1) && (!a[len + 1] || !b[len + 1]);
}

static const struct store_span *span_below(const struct store_spans *spans, const char *cut)
{
	for (size_t i = 0; i < spans->count; i++)
		if (spans->list[i].until && !strcmp(spans->list[i].until, cut))
			return &spans->list[i];
	return NULL;
}

/* Is what comes after a cut what the span below it has seen there? */
static int check_cut(const struct store_span *lower, const struct store_span *upper,
		     struct err *err)
{
	const char *seen = buf_str(&lower->beyond);
	const char *begins = buf_str(upper->least.len_bytes ? &upper->least : &upper->beyond);
	const char *cut = upper->first.data;

	/* MUT: nothing is left out behind a cut */
	if (is_same_name(seen, begins))
		return 0;
	if (*begins && (!*seen || strcmp(begins, seen) < 0))
		return err_set(err, ERR_CONTRADICTED, 0,
			       "'%.200s' is listed after '%.200s', but not after '%.200s'", begins,
			       cut, buf_str(&lower->before));
	return err_set(err, ERR_CONTRADICTED, 0,
		       "'%.200s' was listed, but is left out of what comes after '%.200s'", seen,
		       cut);
}

/* When all spans are done. */
static int check_cuts(struct store_walk *walk, struct err *err)
{
	const struct store_spans *spans = walk->spans;

	for (size_t i = 1; i < spans->count; i++) {
		const struct store_span *lower = span_below(spans, spans->list[i].first.data);

		walk->reading = i;
		if (lower && check_cut(lower, &spans->list[i], err))
			return -1;
	}
	return 0;
}

static int fail(const struct store_walk *walk, const struct err *why, struct err *err)
{
	const struct store_span *span = &walk->spans->list[walk->reading];
	const struct uri *dir = walk->dir;
	bool later = walk->reading > 0;

	if (err)
		*err = *why;
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

int store_walk_all(struct store_walk *walk, struct err *err)
{
	static const struct store_http_ops ops = {
		.prepare = prepare_page, .judge = judge_page, .count = count_calls};
	struct err why = {0};
	int rc;

	buf_clear(&walk->prefix);
	if (walk->dir->path[1])
		buf_addf(&walk->prefix, "%s/", walk->dir->path + 1);
	buf_clear(&walk->asked);
	buf_addf(&walk->asked, "%s%s", buf_str(&walk->prefix),
		 walk->spans->begin ? walk->spans->begin : "");
	do {
		begin(walk);
		rc = read_ahead(walk, &why);
		if (!rc && walk->open_count)
			rc = store_http_many(walk->http, &ops, walk, walk->open_count,
					     STORE_WALK_IN_FLIGHT, &why);
		note_reached(walk->spans);
		if (walk->ignored)
			store_spans_undo(walk->spans);
	} while (walk->ignored);
	if (!rc && !walk->ended)
		rc = check_cuts(walk, &why);
	buf_release(&walk->prefix);
	buf_release(&walk->asked);
	return rc && !walk->ended ? fail(walk, &why, err) : 0;
}
