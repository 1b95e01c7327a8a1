#include "run/gc/gc_refs.h"

#include "base/mem.h"
#include "core/snapshot.h"
#include "store/content.h"
#include "store/snapshots.h"

struct gc_refs {
	int64_t checkpoint_id; /* 0 = any */
	gc_refs_fn *fn;
	void *ctx;
};

static int on_header(void *ctx, const struct metadata_header *header, struct err *err)
{
	const struct gc_refs *refs = ctx;
	cleanup_free char *why = snapshot_is_of_another(refs->checkpoint_id, header->checkpoint_id);

	/* MUT: the _metadata of another checkpoint says what this one refers to */
	if (why)
		return err_set(err, ERR_FORMAT, 0, "%s", why);
	return 0;
}

static int on_file(void *ctx, const struct metadata_file *file, struct err *err)
{
	const struct gc_refs *refs = ctx;

	(void)err;
	refs->fn(refs->ctx, file);
	return 0;
}

int gc_refs_read(struct stores *stores, const char *path, int64_t checkpoint_id, gc_refs_fn *fn,
		 void *ctx, struct err *err)
{
	struct gc_refs refs = {checkpoint_id, fn, ctx};
	const struct metadata_visitor visitor = {
		.ctx = &refs, .header = on_header, .file = on_file};
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
