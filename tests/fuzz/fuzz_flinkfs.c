/* Any bytes as what the JVM that reads Flink's file systems sends. What is accepted keeps its promises. */
#include <string.h>

#include "must.h"
#include "store/flinkfs/flinkfs_wire.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t len_bytes);

static bool is_inside(const char *at, size_t len, const char *begin, size_t all)
{
	return !len || (at >= begin && at + len <= begin + all);
}

static void judge_item(const struct flinkfs_item *item, enum flinkfs_names names, const char *begin,
		       size_t all)
{
	must(strchr("fdau", item->state) != NULL && item->size_bytes >= 0);
	must(is_inside(item->name, item->name_len, begin, all));
	must(is_inside(item->extra, item->extra_len, begin, all));
	/* an item is never absent by its kind */
	must((item->state == 'u') == (item->kind != ERR_NONE) && item->kind != ERR_ABSENT);
	must((item->name_len == 0) == (names == FLINKFS_NAMES_NONE));
	must(!item->name_len || !memchr(item->name, '\0', item->name_len));
	if (names == FLINKFS_NAMES_ONE)
		must(!memchr(item->name, '/', item->name_len));
}

static void as_items(const char *bytes, size_t len_bytes, enum flinkfs_names names)
{
	const char *begin = bytes;
	size_t all = len_bytes, before = len_bytes;
	struct flinkfs_item item;
	struct err err = {0};
	int more;

	while ((more = flinkfs_item_next(&bytes, &len_bytes, names, &item, &err)) > 0) {
		must(len_bytes < before && bytes + len_bytes == begin + all);
		before = len_bytes;
		judge_item(&item, names, begin, all);
	}
	must(more == 0 ? len_bytes == 0 : err.kind == ERR_FORMAT && err.msg[0]);
}

static void as_frame(const char *bytes, size_t len_bytes)
{
	struct flinkfs_frame frame;
	struct err err = {0};

	if (flinkfs_frame_parse(bytes, len_bytes, &frame, &err) < 0) {
		must(err.kind == ERR_FORMAT && err.msg[0]);
		return;
	}
	must(strchr("hibde", frame.type) != NULL && frame.type);
	must(is_inside(frame.bytes, frame.len_bytes, bytes, len_bytes));
	must(frame.items >= 0);
	must((frame.type == 'e') == (frame.kind != ERR_NONE));
	if (frame.type == 'i')
		for (enum flinkfs_names names = FLINKFS_NAMES_NONE; names <= FLINKFS_NAMES_PATH;
		     names++)
			as_items(frame.bytes, frame.len_bytes, names);
}

/* A stream of frames, as it comes through the pipe. */
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t len_bytes)
{
	const char *at = (const char *)data;
	uint32_t len;

	while (len_bytes >= FLINKFS_HEAD && flinkfs_frame_length(at, &len, NULL) == 0) {
		must(len > 0 && len <= FLINKFS_FRAME_MAX);
		at += FLINKFS_HEAD;
		len_bytes -= FLINKFS_HEAD;
		if (len > len_bytes)
			len = (uint32_t)len_bytes;
		as_frame(at, len);
		at += len;
		len_bytes -= len;
	}
	return 0;
}
