#include <string.h>

#include "base/mem.h"
#include "base/percent.h"
#include "format/s3_xml.h"
#include "store/s3/s3_store.h"
#include "store/s3/sigv4.h"
#include "store/store_dirs.h"

/* A thousand of the longest keys, encoded, need half of it. */
#define PAGE_MAX_BYTES ((size_t)8 << 20)

/* The keys of one directory, page by page. */
struct walk {
	struct s3_store *s3;
	struct buf prefix; /* "dir/", "" for the whole bucket */
	const char *after; /* relative; "" from the beginning */
	bool delimited;
	store_dirs_fn fn;
	void *ctx;

	struct buf query;
	char *token; /* of the next page; NULL first or last */
	struct buf page;
	size_t page_number;
	bool any;   /* the directory exists: a name starts with the prefix */
	bool ended; /* by fn */
	struct buf last_key, last_prefix;
};

/* ---- one page ---- */

static void add_parameter(struct buf *query, const char *name, const char *value)
{
	buf_addf(query, "%s%s=", query->len_bytes ? "&" : "", name);
	percent_encode(query, value, false);
}

static void build_query(struct walk *walk)
{
	buf_clear(&walk->query);
	if (walk->token)
		add_parameter(&walk->query, "continuation-token", walk->token);
	if (walk->delimited)
		add_parameter(&walk->query, "delimiter", "/");
	add_parameter(&walk->query, "encoding-type", "url");
	add_parameter(&walk->query, "list-type", "2");
	add_parameter(&walk->query, "prefix", buf_str(&walk->prefix));
	if (*walk->after && !walk->token) {
		cleanup_free char *start = xasprintf("%s%s", buf_str(&walk->prefix), walk->after);

		add_parameter(&walk->query, "start-after", start);
	}
}

static int s3_list_prepare(void *ctx, size_t index, struct store_call *ret_call, struct err *err)
{
	struct walk *walk = ctx;
	struct s3_ask ask = {
		.method = "GET",
		.key = "",
		.query = buf_str(&walk->query),
		.max_bytes = PAGE_MAX_BYTES,
	};

	(void)index;
	return s3_prepare(walk->s3, &ask, ret_call, err);
}

static enum store_verdict s3_list_judge(void *ctx, size_t index,
					const struct http_response *response, struct err *err)
{
	struct walk *walk = ctx;
	struct s3_ask ask = {.method = "GET", .key = buf_str(&walk->prefix)};
	enum store_verdict verdict;

	(void)index;
	if (response->status == 200) {
		/* read after the call ended: the callback may want to query the store */
		buf_clear(&walk->page);
		buf_add(&walk->page, response->body.data, response->body.len_bytes);
		return STORE_DONE;
	}
	verdict = s3_judge_failure(walk->s3, &ask, response, err);
	if (err->kind == ERR_ABSENT)
		err->kind = ERR_FORMAT; /* only the bucket of a listing can be missing */
	return verdict;
}

/* Names come in order, files and prefixes separately: so none comes twice, and pages end. */
static int check_order(struct buf *last, const char *name, struct err *err)
{
	if (last->len_bytes && strcmp(name, last->data) <= 0)
		return err_set(err, ERR_FORMAT, 0, "'%s' comes after '%s': out of order", name,
			       last->data);
	buf_clear(last);
	buf_addstr(last, name);
	return 0;
}

static int on_entry(void *ctx, const struct s3_xml_entry *entry, struct err *err)
{
	struct walk *walk = ctx;
	struct store_dirs_name item = {.is_prefix = entry->is_prefix};
	size_t len = strlen(entry->key), prefix = walk->prefix.len_bytes;
	int rc;

	if (len < prefix || (prefix && memcmp(entry->key, walk->prefix.data, prefix) != 0))
		return err_set(err, ERR_FORMAT, 0, "'%s' does not start with the requested prefix",
			       entry->key);
	item.name = entry->key + prefix;
	if (entry->is_prefix && (!walk->delimited || entry->key[len - 1] != '/'))
		return err_set(err, ERR_FORMAT, 0, "'%s' is not a requested prefix", entry->key);
	if (walk->delimited && strcspn(item.name, "/") + entry->is_prefix != len - prefix)
		return err_set(err, ERR_FORMAT, 0, "'%s' is below the requested directory",
			       entry->key);
	item.stat = (struct store_stat){entry->size_bytes, entry->mtime_unix_ms};
	walk->any = true;
	/* with a delimiter a prefix is repeated if names in it come after `after` */
	if (!*item.name || strcmp(item.name, walk->after) <= 0)
		return 0;
	if (check_order(entry->is_prefix ? &walk->last_prefix : &walk->last_key, item.name, err))
		return -1;
	rc = walk->fn(walk->ctx, &item, err);
	walk->ended = rc > 0;
	return rc;
}

static int read_page(struct walk *walk, struct err *err)
{
	static const struct store_http_ops ops = {s3_list_prepare, s3_list_judge, NULL};
	struct s3_xml_page page;

	build_query(walk);
	walk->page_number++;
	if (store_http_one(walk->s3->http, &ops, walk, err))
		return -1;
	if (s3_xml_list(buf_str(&walk->page), walk->page.len_bytes, on_entry, walk, &page, err))
		return -1;
	walk->s3->bucket_seen = true;
	if (page.next_token && walk->token && !strcmp(page.next_token, walk->token)) {
		free(page.next_token);
		return err_set(err, ERR_FORMAT, 0, "the next page is the same one again");
	}
	free(walk->token);
	walk->token = page.next_token;
	return 0;
}

/* ---- all pages ---- */

static int walk_pages(struct walk *walk, const struct uri *dir, struct err *err)
{
	struct err why = {0};

	do {
		if (read_page(walk, &why)) {
			if (err)
				*err = why;
			return err_wrap(err, "list %s://%s%s, page %zu", dir->scheme,
					dir->authority, dir->path, walk->page_number);
		}
	} while (walk->token && !walk->ended);
	/* a bucket exists even without names */
	if (!walk->any && !*walk->after && walk->prefix.len_bytes)
		return err_set(err, ERR_ABSENT, 0, "no name starts with %s://%s%s/", dir->scheme,
			       dir->authority, dir->path);
	return 0;
}

static int list_walk(struct store *store, const struct uri *dir, const char *after, bool delimited,
		     store_dirs_fn fn, void *ctx, struct err *err)
{
	struct walk walk = {
		.s3 = (struct s3_store *)store,
		.after = after,
		.delimited = delimited,
		.fn = fn,
		.ctx = ctx,
	};
	int rc;

	if (dir->path[1])
		buf_addf(&walk.prefix, "%s/", dir->path + 1);
	rc = walk_pages(&walk, dir, err);
	buf_release(&walk.prefix);
	buf_release(&walk.query);
	buf_release(&walk.page);
	buf_release(&walk.last_key);
	buf_release(&walk.last_prefix);
	free(walk.token);
	return rc;
}

int s3_list_dirs(struct store *store, const struct uri *uri, const char *leaf, store_dir_fn fn,
		 void *ctx, struct err *err)
{
	struct store_dirs dirs = {.store = store, .dir = uri, .leaf = leaf, .walk = list_walk};

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

	return list_walk(store, uri, "", true, on_name, &level, err);
}
