/* More than one ConfigMap: a list page by page, all of it or nothing; and many by name. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/percent.h"
#include "kube/configmap.h"
#include "kube/kube_call.h"

enum { RESTARTS = 2, LEAST_LIMIT = 1 };

struct listing {
	struct kube *kube;
	const char *label_selector;
	struct json *pages;       /* array of arrays of maps */
	size_t count, text_bytes; /* of all pages */
	int limit;                /* reduced when a page is too large */
	char *continue_;          /* NULL: at the beginning, or at the end */
};

static char *page_path(const struct listing *list)
{
	cleanup_free char *collection = configmap_collection(kube_namespace(list->kube));
	struct buf path = BUF_INIT;

	buf_addf(&path, "%s?limit=%d", collection, list->limit);
	if (list->label_selector) {
		buf_addstr(&path, "&labelSelector=");
		percent_encode(&path, list->label_selector, false);
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

	if (!kind || strcmp(kind, "ConfigMapList") != 0)
		return err_set(err, ERR_FORMAT, 0, "not a ConfigMapList but a %.60s",
			       kind ? kind : "object without a kind");
	if (json_need_array(object, "items", &items, err) ||
	    json_need_object(object, "metadata", &metadata, err) ||
	    json_opt_str(metadata, "continue", &next, err) < 0)
		return -1;
	list->count += json_len(items);
	if (list->count > CONFIGMAP_LIST_MAX)
		return err_set(err, ERR_FORMAT, 0, "more than %d ConfigMaps", CONFIGMAP_LIST_MAX);
	list->text_bytes += text_bytes(items);
	if (list->text_bytes > CONFIGMAP_LIST_MAX_BYTES)
		return err_set(err, ERR_FORMAT, 0, "ConfigMaps of more than %u bytes in total",
			       CONFIGMAP_LIST_MAX_BYTES);
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
		if (err)
			*err = why;
		return -1;
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

static int decode_all(const struct json *pages, struct configmap *maps, size_t count,
		      struct err *err)
{
	const struct json *page, *item;
	size_t i = 0;

	json_each (page, pages)
		json_each (item, page)
			if (i < count && configmap_decode(item, NULL, &maps[i++], err))
				return err_wrap(err, "list ConfigMaps");
	return 0;
}

int configmap_list(struct kube *kube, const char *label_selector,
		   int (*each)(void *ctx, const struct configmap *map, struct err *err), void *ctx,
		   struct err *err)
{
	struct listing list = {
		.kube = kube, .label_selector = label_selector, .limit = CONFIGMAP_LIST_LIMIT};
	struct configmap *maps = NULL;
	int rc = read_all(&list, err);

	if (!rc) {
		maps = xcalloc(list.count + 1, sizeof(*maps));
		rc = decode_all(list.pages, maps, list.count, err);
	}
	json_free(list.pages);
	free(list.continue_);
	for (size_t i = 0; maps && i < list.count; i++) {
		if (!rc)
			rc = each(ctx, &maps[i], err) < 0 ? -1 : 0;
		configmap_release(&maps[i]);
	}
	free(maps);
	return rc;
}

/* ---- by name ---- */

struct by_name {
	const char *const *names, *const *paths;
	int (*each)(void *ctx, size_t index, struct configmap *map, const struct err *why,
		    struct err *err);
	void *ctx;
};

static int take_one(void *ctx, size_t index, struct kube_answer *answer, const struct err *why,
		    struct err *err)
{
	struct by_name *by_name = ctx;
	cleanup_configmap struct configmap map = {0};
	struct err wrong = {0};

	if (!why && configmap_decode(answer->object, by_name->names[index], &map, &wrong)) {
		err_wrap(&wrong, "GET %s: the answer", by_name->paths[index]);
		why = &wrong;
	}
	return by_name->each(by_name->ctx, index, why ? NULL : &map, why, err);
}

int configmap_get_many(struct kube *kube, const char *const *names, size_t count,
		       int (*each)(void *ctx, size_t index, struct configmap *map,
				   const struct err *why, struct err *err),
		       void *ctx, struct err *err)
{
	char **paths = xcalloc(count + 1, sizeof(*paths));
	struct by_name by_name = {names, (const char *const *)paths, each, ctx};
	int rc = 0;

	for (size_t i = 0; i < count && !rc; i++) {
		paths[i] = kube_call_path(kube, CONFIGMAP_API, CONFIGMAP_KINDS, names[i], "", err);
		rc = paths[i] ? 0 : -1;
	}
	if (!rc)
		rc = kube_get_many(kube, by_name.paths, count, 0, take_one, &by_name, err);
	for (size_t i = 0; i < count; i++)
		free(paths[i]);
	free(paths);
	return rc;
}
