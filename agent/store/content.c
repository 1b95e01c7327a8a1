#include "store/content.h"

static int read_stream(void *ctx, void *buf, size_t len_bytes, size_t *ret_len_bytes,
		       struct err *err)
{
	struct content *content = ctx;
	int rc = store_read(content->stream, buf, len_bytes, ret_len_bytes, err);

	if (rc < 0)
		content->failed = true;
	return rc;
}

int content_open(struct content *content, struct store *store, const char *uri, struct err *err)
{
	*content = (struct content){0};
	if (store_read_open(store, uri, 0, &content->stream, err) < 0)
		return -1;
	content->size_bytes = store_read_size(content->stream);
	content->source = source_new(read_stream, content, content->size_bytes);
	return 0;
}

void content_close(struct content *content)
{
	if (!content->stream)
		return;
	source_free(content->source);
	store_read_close(content->stream);
	content->stream = NULL;
}

bool content_store_says_damage(const struct store *store, const struct err *err)
{
	/* a local directory at the path of a file */
	return err->kind == ERR_FORMAT && store_list_page(store) == 1;
}

bool content_is_damage(const struct content *content, const struct store *store,
		       const struct err *err)
{
	if (!content->stream || content->failed)
		return content_store_says_damage(store, err);
	return err->kind == ERR_FORMAT;
}
