/* observe_directory: is a directory there to be listed, and is what is said to be absent? */
#include "base/mem.h"
#include "run/observe/observe_internal.h"
#include "store/store.h"
#include "store/uri.h"

static int nothing(void *ctx, const struct store_entry *entry, struct err *err)
{
	(void)ctx;
	(void)entry;
	(void)err;
	return 1; /* the first entry is enough to know that it can be listed */
}

/* On a file system the directory above tells a directory that was never made from a volume that is not
 * there. */
static int say_missing(struct store *store, const char *uri, struct err *err)
{
	cleanup_free char *parent = uri_parent(uri);
	struct err why = {0};

	if (store_list(store, parent, nothing, NULL, &why) < 0 && why.kind == ERR_ABSENT)
		return err_set(
			err, ERR_RETRY, 0,
			"the directory %s does not exist, and neither does its parent %s: mount its volume",
			uri, parent);
	return err_set(
		err, ERR_RETRY, 0,
		"the directory %s does not exist: mount its volume, or, if this is the first start, create it",
		uri);
}

static int note_any(void *ctx, const struct store_entry *entry, struct err *err)
{
	bool *any = ctx;

	(void)entry;
	(void)err;
	*any = true;
	return 1;
}

/* As store_is_listed(), for one who may not list the directory above. */
static int lists_anything(struct store *store, const char *uri, struct err *err)
{
	struct err why = {0};
	bool any = false;

	if (store_list(store, uri, note_any, &any, &why) == 0 || why.kind == ERR_ABSENT)
		return any;
	return err_pass(err, &why);
}

int observe_confirm_absent(struct store *store, const char *uri, struct err *err)
{
	struct err why = {0};
	int listed;

	listed = store_is_listed(store, uri, &why);
	if (listed < 0 && why.kind == ERR_DENIED)
		listed = lists_anything(store, uri, &why);
	if (listed > 0)
		err_set(&why, ERR_CONTRADICTED, 0, "%s is listed, but was not found", uri);
	if (listed && err)
		*err = why;
	return listed ? -1 : 0;
}

int observe_directory(const struct store_config *storage, const char *uri, struct err *err)
{
	struct store *store = NULL;
	struct err why = {0};
	int result;

	if (store_open(storage, uri, &store, err) < 0)
		return -1;
	result = store_list(store, uri, nothing, NULL, &why);
	/* An object store has no directories: nothing with this prefix is simply nothing. */
	if (result < 0 && why.kind == ERR_ABSENT && store_list_page(store) > 1)
		result = 0;
	if (result < 0 && why.kind == ERR_ABSENT)
		result = say_missing(store, uri, err);
	else if (result < 0 && err)
		*err = why;
	store_close(store);
	return result;
}
