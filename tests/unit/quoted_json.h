/*
 * quoted_json - a document in a test: JSON with ' for ".
 */
#ifndef DREY_TESTS_QUOTED_JSON_H
#define DREY_TESTS_QUOTED_JSON_H

#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "tap.h"

/* The caller frees with json_free(); NULL: it is none, and the test has failed. */
static inline struct json *quoted_json(const char *quoted)
{
	cleanup_free char *text = xstrdup(quoted);
	struct err err = {0};
	struct json *doc;

	for (char *at = text; (at = strchr(at, '\''));)
		*at = '"';
	doc = json_parse(text, strlen(text), 1 << 20, &err);
	if (!CHECK(doc != NULL))
		tap_note("%s", err.msg);
	return doc;
}

#endif
