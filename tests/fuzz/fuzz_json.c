/* Whatever the strict parser accepts prints, parses again and prints the same. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t len_bytes);

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t len_bytes)
{
	struct err err = {0};
	cleanup_json struct json *doc = json_parse((const char *)data, len_bytes, 1 << 20, &err);
	cleanup_json struct json *again = NULL, *pretty = NULL;
	cleanup_buf struct buf first = BUF_INIT, second = BUF_INIT, third = BUF_INIT;

	if (!doc) {
		if (err.kind != ERR_FORMAT || !err.msg[0])
			abort();
		return 0;
	}
	json_print(doc, &first);
	again = json_parse(first.data, first.len_bytes, first.len_bytes, &err);
	if (!again)
		abort();
	json_merge_unknown(again, doc);
	json_print(again, &second);
	if (strcmp(buf_str(&first), buf_str(&second)) != 0)
		abort();
	json_print_pretty(doc, &third);
	pretty = json_parse(third.data, third.len_bytes, third.len_bytes, &err);
	if (!pretty)
		abort();
	return 0;
}
