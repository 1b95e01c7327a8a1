#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "format/s3_xml.h"
#include "store/s3/s3_store.h"
#include "store/store_named.h"
#include "store/store_walk.h"

/* ---- one page ---- */

/* Where the page begins. Not at the token of the page before, as long as that had names: a token may stand
 * for a name that the page did not return, and what lies between is lost (MinIO of summer 2025 skips a name
 * with each page that began at a name that does not exist). */
static char *page_after(const struct store_walk *walk, size_t index)
{
	const struct store_span *span = &walk->spans->list[index];
	char *name;

	if (!store_walk_by_name(walk, index))
		return span->token ? xstrdup("") : store_walk_after(walk, index);
	name = xasprintf("%s%s", buf_str(&walk->prefix), store_walk_from(walk, index));
	if (name[strlen(name) - 1] == '/') /* a folded directory: after all that is in it */
		name[strlen(name) - 1] = '/' + 1;
	return name;
}

static void build_query(const struct store_walk *walk, size_t index, struct buf *query)
{
	struct store_span *span = &walk->spans->list[index];
	cleanup_free char *after = page_after(walk, index);
	const struct s3_page_ask ask = {.prefix = store_walk_prefix(walk),
					.token = *after ? NULL : span->token,
					.after = after,
					.delimited = walk->delimited,
					.most = store_walk_most(walk, index)};

	s3_list_query(&ask, query);
	xstrset(&span->asked, ask.token || !*after ? NULL : after);
}

static int prepare_page(struct store_walk *walk, size_t index, struct store_call *ret_call,
			struct err *err)
{
	cleanup_buf struct buf query = BUF_INIT;
	struct s3_ask ask = {.method = "GET", .key = "", .max_bytes = S3_PAGE_MAX_BYTES};

	walk->spans->list[index].by_name = store_walk_by_name(walk, index);
	build_query(walk, index, &query);
	ask.query = buf_str(&query);
	return s3_prepare((struct s3_store *)walk->store, &ask, ret_call, err);
}

struct page {
	struct store_walk *walk;
	size_t span;
};

static int on_entry(void *ctx, const struct s3_xml_entry *entry, struct err *err)
{
	const struct page *page = ctx;
	struct store_walk *walk = page->walk;
	struct store_dirs_name item = {.is_prefix = entry->is_prefix};
	size_t len = strlen(entry->key), prefix = walk->prefix.len_bytes;

	if (entry->is_prefix && (!walk->delimited || entry->key[len - 1] != '/'))
		return err_set(err, ERR_FORMAT, 0, "'%s' is not a requested prefix", entry->key);
	if (walk->delimited && len >= prefix &&
	    strcspn(entry->key + prefix, "/") + entry->is_prefix != len - prefix)
		return err_set(err, ERR_FORMAT, 0, "'%s' is below the requested directory",
			       entry->key);
	item.stat = (struct store_stat){.size_bytes = entry->size_bytes,
					.mtime_unix_ms = entry->mtime_unix_ms,
					.archived = entry->archived};
	return store_walk_name(walk, page->span, entry->key, &item, err);
}

static int take_token(struct store_span *span, struct s3_xml_page *page, struct err *err)
{
	bool again = !span->by_name && page->next_token && span->token &&
		     !strcmp(page->next_token, span->token);

	free(span->token);
	span->token = page->next_token;
	page->next_token = NULL;
	if (again)
		return err_set(err, ERR_FORMAT, 0, "the next page is the same one again");
	return 0;
}

/* Is it the answer to this question? One of a cache that ignores the query may be about another directory,
 * and if it has no names, nothing else shows that. */
static int check_echo(const struct store_walk *walk, size_t index, const struct s3_xml_page *page,
		      struct err *err)
{
	const struct store_span *span = &walk->spans->list[index];
	const char *prefix = store_walk_prefix(walk), *after = span->asked ? span->asked : "";

	/* MUT: a listing of another prefix is believed */
	if (!s3_xml_says(page->prefix, page->prefix_decoded, prefix))
		return err_set(err, ERR_CONTRADICTED, 0,
			       "'%.200s' was requested, but the answer is about '%.200s'", prefix,
			       page->prefix);
	/* MUT: an empty listing need not say of what it is */
	if (*prefix && !page->count && !(page->prefix && *page->prefix))
		return err_set(err, ERR_CONTRADICTED, 0,
			       "the answer has no names, and does not say what it is about");
	if (!s3_xml_says(page->delimiter, page->delimiter_decoded, walk->delimited ? "/" : ""))
		return err_set(err, ERR_CONTRADICTED, 0,
			       "the answer is about another delimiter: '%.20s'", page->delimiter);
	/* A server may translate the one into the other (versitygw), so only what was asked for is compared. */
	if (span->token && !span->asked) {
		/* MUT: the page of another token is believed */
		if (!s3_xml_says(page->token, NULL, span->token))
			return err_set(err, ERR_CONTRADICTED, 0,
				       "the answer is the page of another token: '%.200s'",
				       page->token);
		return 0;
	}
	/* MUT: a page that begins elsewhere is believed */
	if (!s3_xml_says(page->start_after, page->start_after_decoded, after))
		return err_set(
			err, ERR_CONTRADICTED, 0,
			"what comes after '%.200s' was requested, but the answer is about what comes after '%.200s'",
			after, page->start_after);
	return 0;
}

static enum store_verdict read_page(struct store_walk *walk, size_t index,
				    const struct http_response *response, bool *ret_more,
				    struct err *err)
{
	struct s3_store *s3 = (struct s3_store *)walk->store;
	struct s3_ask ask = {.method = "GET", .key = buf_str(&walk->prefix)};
	struct page reading = {walk, index};
	enum store_verdict verdict;
	struct s3_xml_page page = {0};
	int rc;

	if (response->status != 200) {
		verdict = s3_judge_failure(s3, &ask, response, err);
		if (err->kind == ERR_ABSENT)
			err->kind = ERR_FORMAT; /* only the bucket of a listing can be missing */
		return verdict;
	}
	if (s3_xml_list(buf_str(&response->body), response->body.len_bytes, on_entry, &reading,
			&page, err))
		return STORE_FAILED;
	rc = check_echo(walk, index, &page, err);
	if (!rc)
		rc = take_token(&walk->spans->list[index], &page, err);
	s3_xml_page_release(&page);
	if (rc)
		return STORE_FAILED;
	s3->bucket_seen = true;
	*ret_more = walk->spans->list[index].token != NULL;
	return STORE_DONE;
}

static bool take_ahead(struct store_walk *walk, size_t index, struct http_response *ret)
{
	cleanup_buf struct buf query = BUF_INIT;

	walk->spans->list[index].by_name = false;
	build_query(walk, index, &query);
	return s3_take_ahead((struct s3_store *)walk->store, buf_str(&query), ret);
}

/* ---- all pages ---- */

static int list_walk(struct store *store, const struct uri *dir, struct store_spans *spans,
		     bool delimited, store_dirs_fn fn, void *ctx, struct err *err)
{
	bool from_begin = spans->count == 1 && !spans->list[0].after.len_bytes;
	struct store_walk walk = {
		.http = ((struct s3_store *)store)->http,
		.store = store,
		.dir = dir,
		.spans = spans,
		.delimited = delimited,
		.says_more = true,
		.fn = fn,
		.ctx = ctx,
		.prepare = prepare_page,
		.read = read_page,
		.ahead = take_ahead,
	};

	if (store_walk_all(&walk, err))
		return -1;
	/* a bucket exists even without names */
	if (!walk.any && from_begin && dir->path[1])
		return err_set(err, ERR_ABSENT, 0, "no name starts with %s://%s%s/", dir->scheme,
			       dir->authority, dir->path);
	return 0;
}

int s3_list_dirs(struct store *store, const struct uri *uri, const char *leaf, store_dir_fn fn,
		 void *ctx, struct err *err)
{
	struct store_dirs dirs = {
		.store = store, .dir = uri, .leaf = leaf, .leaf_bytes = 1, .walk = list_walk};

	return store_dirs_list(&dirs, fn, ctx, err);
}

/* ---- one level ---- */

struct level {
	store_entry_fn fn;
	void *ctx;
};

static int on_name(void *ctx, const struct store_dirs_name *item, struct err *err)
{
	const struct level *level = ctx;
	cleanup_free char *name = xstrndup(item->name, strcspn(item->name, "/"));
	struct store_entry entry = {
		.name = name,
		.is_prefix = item->is_prefix,
		.stat = item->stat,
	};

	/* names that no URI can express */
	if (!*name || !strcmp(name, ".") || !strcmp(name, ".."))
		return 0;
	return level->fn(level->ctx, &entry, err);
}

int s3_list(struct store *store, const struct uri *uri, store_entry_fn fn, void *ctx,
	    struct err *err)
{
	struct level level = {fn, ctx};
	struct store_spans *spans = xcalloc(1, sizeof(*spans));
	int rc;

	store_spans_init(spans);
	rc = list_walk(store, uri, spans, true, on_name, &level, err);
	store_spans_release(spans);
	free(spans);
	return rc;
}

/* ---- all levels ---- */

int s3_list_tree(struct store *store, const struct uri *uri, store_leaf_fn fn, void *ctx,
		 struct err *err)
{
	struct store_dirs dirs = {.store = store, .dir = uri, .walk = list_walk};

	return store_dirs_leaves(&dirs, fn, ctx, err);
}

int s3_named(struct store *store, const struct uri *uri, bool deep, struct store_named *ret,
	     struct err *err)
{
	struct store_dirs dirs = {.store = store, .walk = list_walk};

	return store_named_ask(&dirs, uri, deep, ret, err);
}
