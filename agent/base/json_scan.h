/*
 * json_scan - the grammar of RFC 8259, checked before cJSON sees the text. Part of json.c.
 *
 * cJSON accepts more than JSON and turns numbers into doubles; so the text is checked here byte by
 * byte, and the position of every number is recorded, in document order, so that json.c can keep
 * its text.
 */
#ifndef DREY_BASE_JSON_SCAN_H
#define DREY_BASE_JSON_SCAN_H

#include <stddef.h>

#include "base/err.h"

struct json_span {
	size_t at, len_bytes;
};

struct json_numbers {
	struct json_span *spans;
	size_t count, cap;
};

/* Check one whole document. ERR_FORMAT "byte N: why" (N from 0). The caller frees numbers->spans,
 * also on failure. */
int json_scan(const char *text, size_t len_bytes, unsigned max_depth, struct json_numbers *numbers,
	      struct err *err);

#endif
