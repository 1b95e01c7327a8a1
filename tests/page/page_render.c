/*
 * page_render - the page of a status document: for the tests with a browser.
 *
 *   web_render [--pod NAME] <STATUS.json >PAGE.html       at the time `nowUnixMs` of the document, else at 0
 *   web_render --policy                                   the header Content-Security-Policy
 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "core/web/web.h"

#define MAX_BYTES ((size_t)1 << 20)

int main(int argc, char **argv)
{
	struct web_facts facts = {.version = "0.9.0", .application = "orders"};
	cleanup_buf struct buf in = BUF_INIT, out = BUF_INIT;
	cleanup_json struct json *status = NULL;
	struct err err = {0};
	int ch;

	if (argc == 2 && !strcmp(argv[1], "--policy")) {
		web_policy(&out);
		return puts(buf_str(&out)) < 0;
	}
	if (argc == 3 && !strcmp(argv[1], "--pod")) {
		facts.pod = argv[2];
		facts.namespace = "shop";
		facts.deployment = "orders-jobmanager";
	} else if (argc != 1) {
		return 2;
	}
	while ((ch = getchar()) != EOF && in.len_bytes < MAX_BYTES)
		buf_addch(&in, (char)ch);
	status = json_parse(buf_str(&in), in.len_bytes, MAX_BYTES, &err);
	if (!status) {
		fprintf(stderr, "page_render: %s\n", err.msg);
		return 1;
	}
	facts.now_unix_ms = json_i64_or(status, "nowUnixMs", 0);
	web_render(json_kind(status) == JSON_OBJECT ? status : NULL, &facts, &out);
	return fwrite(buf_str(&out), 1, out.len_bytes, stdout) != out.len_bytes;
}
