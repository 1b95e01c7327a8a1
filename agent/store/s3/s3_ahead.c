/* s3_ahead: first pages of listings that are made next, requested at the same time and kept until then. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/percent.h"
#include "store/s3/s3_store.h"
#include "store/store_walk.h"

/* An older one is not used: other listings took long in between. */
#define KEPT_MS 5000

struct s3_ahead {
	struct s3_store *s3;
	int64_t at_ms;
	size_t count;
	struct s3_ahead_page {
		char *query;
		struct buf body;
		bool got; /* it was answered, and not taken yet */
	} pages[STORE_AHEAD_MAX];
};

void s3_ahead_free(struct s3_ahead *ahead)
{
	if (!ahead)
		return;
	for (size_t i = 0; i < ahead->count; i++) {
		free(ahead->pages[i].query);
		buf_release(&ahead->pages[i].body);
	}
	free(ahead);
}

static void add_parameter(struct buf *query, const char *name, const char *value)
{
	buf_addf(query, "%s%s=", query->len_bytes ? "&" : "", name);
	percent_encode(query, value, false);
}

void s3_list_query(const struct s3_page_ask *ask, struct buf *query)
{
	if (ask->token)
		add_parameter(query, "continuation-token", ask->token);
	if (ask->delimited)
		add_parameter(query, "delimiter", "/");
	add_parameter(query, "encoding-type", "url");
	add_parameter(query, "list-type", "2");
	if (ask->most)
		buf_addf(query, "&max-keys=%d", ask->most);
	add_parameter(query, "prefix", ask->prefix);
	if (*ask->after && !ask->token)
		add_parameter(query, "start-after", ask->after);
}

static int ahead_prepare(void *ctx, size_t index, struct store_call *ret_call, struct err *err)
{
	struct s3_ahead *ahead = ctx;
	struct s3_ask ask = {.method = "GET",
			     .key = "",
			     .query = ahead->pages[index].query,
			     .max_bytes = S3_PAGE_MAX_BYTES};

	return s3_prepare(ahead->s3, &ask, ret_call, err);
}

/* A failure is not judged here: the listing asks again. */
static enum store_verdict ahead_judge(void *ctx, size_t index, const struct http_response *response,
				      struct err *err)
{
	static const struct s3_ask ask = {.method = "GET", .key = ""};
	struct s3_ahead *ahead = ctx;
	struct s3_ahead_page *page = &ahead->pages[index];

	/* MUT: an error that was fetched ahead is a page */
	if (response->status != 200)
		return s3_judge_failure(ahead->s3, &ask, response, err) == STORE_REPAIRED
			       ? STORE_REPAIRED
			       : STORE_DONE;
	buf_clear(&page->body);
	buf_add(&page->body, response->body.data, response->body.len_bytes);
	page->got = true;
	return STORE_DONE;
}

static int ahead_failed(void *ctx, size_t index, const struct err *why, struct err *err)
{
	(void)ctx;
	(void)index;
	(void)why;
	(void)err;
	return 0;
}

/* The query of the first page of a listing. NULL: of nothing that this store has. */
static char *query_of(struct s3_store *s3, const struct store_next *next)
{
	cleanup_buf struct buf prefix = BUF_INIT, query = BUF_INIT;
	cleanup_uri struct uri uri = {0};

	if (store_parse_for(&s3->base, next->uri, &uri, NULL))
		return NULL;
	buf_addstr(&prefix, uri.path + 1);
	if (!prefix.len_bytes)
		return NULL;
	if (next->kind != STORE_NEXT_IS_LISTED)
		buf_addch(&prefix, '/');
	s3_list_query(&(struct s3_page_ask){.prefix = buf_str(&prefix),
					    .after = "",
					    .delimited = next->kind != STORE_NEXT_DIRS},
		      &query);
	return buf_steal(&query);
}

void s3_fetch_ahead(struct store *store, const struct store_next *next, size_t count)
{
	static const struct store_http_ops ops = {.prepare = ahead_prepare,
						  .judge = ahead_judge,
						  .failed = ahead_failed,
						  .attempts = 1};
	struct s3_store *s3 = (struct s3_store *)store;
	struct s3_ahead *ahead = xcalloc(1, sizeof(*ahead));

	s3_ahead_free(s3->ahead);
	s3->ahead = ahead;
	ahead->s3 = s3;
	ahead->at_ms = clock_mono_ms();
	for (size_t i = 0; i < count && ahead->count < STORE_AHEAD_MAX; i++) {
		char *query = query_of(s3, &next[i]);

		if (query)
			ahead->pages[ahead->count++].query = query;
	}
	store_http_many(s3->http, &ops, ahead, ahead->count, STORE_WALK_IN_FLIGHT, NULL);
}

bool s3_take_ahead(struct s3_store *s3, const char *query, struct http_response *ret)
{
	struct s3_ahead *ahead = s3->ahead;

	if (!ahead || clock_mono_ms() - ahead->at_ms > KEPT_MS)
		return false;
	for (size_t i = 0; i < ahead->count; i++) {
		struct s3_ahead_page *page = &ahead->pages[i];

		/* MUT: the page of another listing is taken */
		if (!page->got || strcmp(page->query, query) != 0)
			continue;
		*ret = (struct http_response){
			.status = 200, .retry_after_ms = -1, .date_unix_ms = -1};
		buf_add(&ret->body, page->body.data, page->body.len_bytes);
		/* MUT: a page that was fetched ahead is used again */
		page->got = false;
		return true;
	}
	return false;
}
