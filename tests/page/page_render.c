/*
 * page_render - the page for the tests with a browser, and the status that its script reads.
 *
 *   page_render --pod POD <STATUS.json >PAGE.html         at the time `nowUnixMs` of the document, else at 0
 *   page_render --status POD <STATUS.json >FULL.json      with what drey adds: since when, ways out, lineage
 *   page_render --policy                                  the header Content-Security-Policy
 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "core/report/status_lineage.h"
#include "core/report/transitions.h"
#include "core/report/ways_out.h"
#include "core/web/web.h"

#define MAX_BYTES ((size_t)1 << 20)

/* As driver_status_full() does. */
static void complete(struct json *status, const char *pod, int64_t now_unix_ms)
{
	const struct ways_out_facts facts = {
		.pod = pod, .namespace = "shop", .deployment = "orders-jobmanager"};
	struct json *agent;

	json_remove(status, "nowUnixMs");
	status_add_since(status, now_unix_ms);
	status_add_lineage(status, now_unix_ms);
	agent = json_add_object(status, "agent");
	json_add_str(agent, "version", "0.9.0");
	json_add_str(agent, "pod", pod);
	status_add_runbook(status, &facts);
}

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
	if (argc != 3 || (strcmp(argv[1], "--pod") != 0 && strcmp(argv[1], "--status") != 0))
		return 2;
	facts.pod = argv[2];
	while ((ch = getchar()) != EOF && in.len_bytes < MAX_BYTES)
		buf_addch(&in, (char)ch);
	status = json_parse(buf_str(&in), in.len_bytes, MAX_BYTES, &err);
	if (!status) {
		fprintf(stderr, "page_render: %s\n", err.msg);
		return 1;
	}
	facts.now_unix_ms = json_i64_or(status, "nowUnixMs", 0);
	if (json_kind(status) == JSON_OBJECT)
		complete(status, facts.pod, facts.now_unix_ms);
	if (!strcmp(argv[1], "--status"))
		json_print(status, &out);
	else
		web_render(json_kind(status) == JSON_OBJECT ? status : NULL, &facts, &out);
	return fwrite(buf_str(&out), 1, out.len_bytes, stdout) != out.len_bytes;
}
