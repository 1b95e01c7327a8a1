/* Any bytes as a page of a listing and as Keystone's answer. What is accepted keeps its promises. */
#include <stdlib.h>
#include <string.h>

#include "format/swift_json.h"
#include "must.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t len_bytes);

static int on_entry(void *ctx, const struct swift_json_entry *entry, struct err *err)
{
	int *count = ctx;

	(void)err;
	(*count)++;
	must(entry->name && entry->name[0]);
	if (entry->is_subdir)
		must(!entry->is_directory && !entry->size_in_doubt);
	else
		must(entry->size_bytes >= 0);
	if (entry->is_directory || entry->size_in_doubt)
		must(entry->size_bytes == 0 && entry->is_directory != entry->size_in_doubt);
	return 0;
}

static void as_listing(const char *text, size_t len_bytes)
{
	struct err err = {0};
	int count = 0, rc = swift_json_listing(text, len_bytes, on_entry, &count, &err);

	if (rc >= 0)
		must(rc == count && err.kind == ERR_NONE);
	else
		must(rc == -1 && err.kind == ERR_FORMAT && err.msg[0]);
}

static void as_token(const char *text, size_t len_bytes, const char *region)
{
	struct swift_json_token token = {NULL, -1};
	struct err err = {0};

	if (!swift_json_token(text, len_bytes, region, &token, &err)) {
		must(token.storage_url != NULL);
		must(!token.storage_url[0] ||
		     token.storage_url[strlen(token.storage_url) - 1] != '/');
	} else {
		must((err.kind == ERR_FORMAT || err.kind == ERR_CONFIG) && err.msg[0]);
		must(!token.storage_url);
	}
	free(token.storage_url);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t len_bytes)
{
	as_listing((const char *)data, len_bytes);
	as_token((const char *)data, len_bytes, NULL);
	as_token((const char *)data, len_bytes, "RegionOne");
	return 0;
}
