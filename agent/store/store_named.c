#include "store/store_named.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct ask {
	const char *name;
	struct store_named *named;
};

static int compare_named(void *ctx, const struct store_dirs_name *item, struct err *err)
{
	struct ask *ask = ctx;
	size_t len = strlen(ask->name);

	(void)err;
	/* MUT: a name that begins alike is the name */
	if (strncmp(item->name, ask->name, len) != 0 || (item->name[len] && item->name[len] != '/'))
		return 0;
	if (item->name[len]) {
		ask->named->dir = true;
	} else {
		ask->named->file = true;
		ask->named->size_bytes = item->in_doubt ? -1 : item->stat.size_bytes;
	}
	return 0;
}

int store_named_ask(const struct store_dirs *dirs, const struct uri *uri, bool deep,
		    struct store_named *ret, struct err *err)
{
	const char *name = strrchr(uri->path, '/') + 1;
	size_t above = (size_t)(name - uri->path) - 1;
	cleanup_free char *path = xstrndup(uri->path, above ? above : 1);
	struct uri dir = {.scheme = uri->scheme, .authority = uri->authority, .path = path};
	struct ask ask = {name, ret};
	struct store_spans *spans = xcalloc(1, sizeof(*spans));
	struct err why = {0};
	int rc;

	*ret = (struct store_named){.size_bytes = -1};
	store_spans_init(spans);
	spans->begin = name;
	spans->list[0].until = xasprintf("%s%c", name, '/' + 1);
	rc = dirs->walk(dirs->store, &dir, spans, !deep, compare_named, &ask, &why);
	store_spans_release(spans);
	free(spans);
	if (!rc || why.kind == ERR_ABSENT)
		return 0;
	return err_pass(err, &why);
}
