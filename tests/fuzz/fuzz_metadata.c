/*
 * Any bytes as a _metadata file: refused or read, and the same whether they come at once with their
 * length known or in small pieces; never more files or operators than bytes.
 */
#include <stdlib.h>
#include <string.h>

#include "format/metadata.h"
#include "must.h"

struct pieces {
	const uint8_t *at, *end;
};

static int read_piece(void *ctx, void *buf, size_t len, size_t *ret_len, struct err *err)
{
	struct pieces *pieces = ctx;
	size_t left = (size_t)(pieces->end - pieces->at);
	size_t part = left < 7 ? left : 7;

	(void)err;
	*ret_len = part < len ? part : len;
	if (*ret_len)
		memcpy(buf, pieces->at, *ret_len);
	pieces->at += *ret_len;
	return 0;
}

static void compare(const struct metadata *a, const struct metadata *b)
{
	struct buf left = BUF_INIT, right = BUF_INIT;

	must(a->header.version == b->header.version);
	must(a->tail.inline_bytes == b->tail.inline_bytes);
	must(a->tail.flavour == b->tail.flavour);
	must(a->operator_count == b->operator_count);
	must(a->file_count == b->file_count);
	must(a->size_bytes == b->size_bytes && a->size_bytes >= 0);
	for (size_t i = 0; i < a->file_count; i++) {
		must(!strcmp(metadata_file(a, i, &left).path, metadata_file(b, i, &right).path));
		must(a->files[i].size_bytes == b->files[i].size_bytes);
		must(a->files[i].size_bytes >= -1);
	}
	buf_release(&left);
	buf_release(&right);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	struct pieces pieces = {data, data + size_bytes};
	struct source *whole = source_new_bytes(data, size_bytes);
	struct source *slow = source_new(read_piece, &pieces, -1);
	struct metadata first = {0}, second = {0};
	struct metadata_header header;
	struct err err = {0};
	int rc = metadata_load(whole, &first, &err);

	must(rc == metadata_load(slow, &second, NULL));
	/* ERR_CONFIG: too new, not damaged */
	must(rc == 0 || err.kind == ERR_FORMAT ||
	     (err.kind == ERR_CONFIG && data[4] < 0x80 && strstr(err.msg, "newer")));
	if (!rc) {
		must(!metadata_peek(data, size_bytes, &header, NULL));
		must(first.operator_count <= size_bytes && first.file_count <= size_bytes);
		must(first.tail.inline_bytes <= (int64_t)size_bytes);
		compare(&first, &second);
	}
	metadata_release(&first);
	metadata_release(&second);
	source_free(whole);
	source_free(slow);
	return 0;
}
