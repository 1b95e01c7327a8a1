#include "kube/kube_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/percent.h"

enum { RESTARTS = 2, LEAST_LIMIT = 1 };

struct listing {
	struct kube *kube;
	const struct kube_list *list;
	struct json *pages;       /* array of arrays of objects */
	size_t count, text_bytes; /* of all pages */
	int limit;                /* reduced when a page is too large */
	char *continue_;          /* NULL: at the beginning, or at the end */
};

static char *page_path(const struct listing *list)
{
	struct buf path = BUF_INIT;

	buf_addf(&path, "%s?limit=%d", list->list->collection, list->limit);
	if (list->list->label_selector) {
		buf_addstr(&path, "&labelSelector=");
		percent_encode(&path, list->list->label_selector, false);
	}
	if (list->continue_) {
		buf_addstr(&path, "&continue=");
		percent_encode(&path, list->continue_, false);
	}
	return buf_steal(&path);
}

/* Approximately the memory that it needs. */
static size_t text_bytes(const struct json *node)
{
	const char *text = json_text(node), *name = json_name(node);
	const struct json *child;
	size_t sum = (text ? strlen(text) : 0) + (name ? strlen(name) : 0);

	json_each (child, node)
		sum += text_bytes(child);
	return sum;
}

static int take_page(struct listing *list, const struct json *object, struct err *err)
{
	const struct json *items, *metadata = NULL;
	const char *kind = json_str(object, "kind"), *next = NULL;

	if (!kind || strcmp(kind, list->list->kind) != 0)
		return err_set(err, ERR_FORMAT, 0, "not a %s but a %.60s", list->list->kind,
			       kind ? kind : "object without a kind");
	if (json_need_array(object, "items", &items, err) ||
	    json_need_object(object, "metadata", &metadata, err) ||
	    json_opt_str(metadata, "continue", &next, err) < 0)
		return -1;
	list->count += json_len(items);
	if (list->count > list->list->max_items)
		return err_set(err, ERR_FORMAT, 0, "more than %zu objects", list->list->max_items);
	list->text_bytes += text_bytes(items);
	if (list->text_bytes > list->list->max_bytes)
		return err_set(err, ERR_FORMAT, 0, "objects of more than %zu bytes in total",
			       list->list->max_bytes);
	if (next && *next && !json_len(items))
		return err_set(err, ERR_FORMAT, 0, "an empty page that announces more");
	json_add(list->pages, NULL, json_copy(items));
	xstrset(&list->continue_, next && *next ? next : NULL);
	return 0;
}

/* One page. 1: there are more, 0: this was the last. *ret_expired: start again. */
static int read_page(struct listing *list, bool *ret_expired, struct err *err)
{
	cleanup_free char *path = page_path(list);
	cleanup_kube_answer struct kube_answer answer = {0};
	struct kube_request request = {.path = path};
	struct err why = {0};

	if (kube_do(list->kube, &request, &answer, &why)) {
		if (why.kind == ERR_FORMAT && why.sys == EFBIG && list->limit > LEAST_LIMIT) {
			list->limit = list->limit / 4 > LEAST_LIMIT ? list->limit / 4 : LEAST_LIMIT;
			return 1;
		}
		*ret_expired = answer.status == 410;
		if (list->list->unknown)
			*list->list->unknown = answer.path_unknown;
		return err_pass(err, &why);
	}
	if (take_page(list, answer.object, err))
		return err_wrap(err, "GET %s: the answer", path);
	return list->continue_ ? 1 : 0;
}

static void begin_anew(struct listing *list)
{
	json_free(list->pages);
	list->pages = json_array();
	list->count = list->text_bytes = 0;
	xstrset(&list->continue_, NULL);
}

static int read_all(struct listing *list, struct err *err)
{
	for (int restarts = 0;; restarts++) {
		bool expired = false;
		int rc;

		begin_anew(list);
		while ((rc = read_page(list, &expired, err)) > 0)
			;
		if (!rc || !expired || restarts == RESTARTS)
			return rc;
	}
}

int kube_list(struct kube *kube, const struct kube_list *list,
	      int (*each)(void *ctx, const struct json *item, struct err *err), void *ctx,
	      struct err *err)
{
	struct listing listing = {.kube = kube, .list = list, .limit = list->limit};
	const struct json *page, *item;
	int rc = read_all(&listing, err);

	json_each (page, listing.pages)
		json_each (item, page)
			if (!rc)
				rc = each(ctx, item, err) < 0 ? -1 : 0;
	json_free(listing.pages);
	free(listing.continue_);
	return rc;
}
