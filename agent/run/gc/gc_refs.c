#include "run/gc/gc_refs.h"

#include "base/mem.h"
#include "store/content.h"
#include "store/snapshots.h"

struct gc_refs {
	gc_refs_fn *fn;
	void *ctx;
};

static int on_file(void *ctx, const struct metadata_file *file, struct err *err)
{
	const struct gc_refs *refs = ctx;

	(void)err;
	refs->fn(refs->ctx, file);
	return 0;
}

int gc_refs_read(struct stores *stores, const char *path, gc_refs_fn *fn, void *ctx,
		 struct err *err)
{
	struct gc_refs refs = {fn, ctx};
	const struct metadata_visitor visitor = {.ctx = &refs, .file = on_file};
	cleanup_free char *uri = snapshots_metadata_uri(path);
	struct store *store = stores_get(stores, uri, err);
	struct content content;
	int rc;

	if (!store)
		return -1;
	rc = content_open(&content, store, uri, err);
	if (rc == 0 && metadata_parse(content.source, &visitor, err) < 0) {
		rc = -1;
		if (err && err->kind == ERR_ABSENT)
			err->kind = ERR_RETRY; /* it was opened */
	}
	content_close(&content);
	return rc;
}
