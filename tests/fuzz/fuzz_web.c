/*
 * The page of any status document, and of a real one with any text in it: it is HTML that drey makes, and nothing else
 * (html_check.h). And what is added to the document for its script: no command has a character that is not seen.
 */
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/visible.h"
#include "core/report/status_lineage.h"
#include "core/report/transitions.h"
#include "core/report/ways_out.h"
#include "core/web/web.h"
#include "must.h"
#include "tests/unit/html_check.h"

#define MAX_BYTES ((size_t)1 << 18)

#define NOW INT64_C(1795663574000)

static void check_commands(const struct json *status)
{
	const struct json *way, *each;

	json_each (way, json_get(json_get(status, "runbook"), "ways"))
		json_each (each, json_get(way, "commands")) {
			cleanup_buf struct buf seen = BUF_INIT;

			visible_add(json_text(each), &seen);
			must(!strcmp(buf_str(&seen), json_text(each)));
		}
}

static void complete(struct json *status)
{
	static const char *const added[] = {"nowUnixMs", "sinceUnixMs", "lineage", "runbook"};
	const struct ways_out_facts facts = {.pod = "p", .namespace = "n", .deployment = "d"};

	for (size_t i = 0; i < ARRAY_LEN(added); i++)
		json_remove(status, added[i]);
	status_add_since(status, NOW);
	status_add_lineage(status, NOW);
	status_add_runbook(status, &facts);
	check_commands(status);
}

static void render(struct json *status, const char *text)
{
	struct web_facts facts = {.now_unix_ms = NOW, .version = "1", .pod = text};
	cleanup_buf struct buf to = BUF_INIT;

	if (json_kind(status) == JSON_OBJECT)
		complete(status);
	web_render(status, &facts, &to);
	must(strlen(buf_str(&to)) == to.len_bytes);
	must(!html_check(buf_str(&to)));
}

static void add_launch(struct json *launches, int64_t number, const char *text)
{
	struct json *to = json_add_object(launches, NULL), *restore;

	json_add_i64(to, "number", number);
	json_add_i64(to, "startedUnixMs", 1795600000000 + number * 100000);
	json_add_i64(to, "endedUnixMs", 1795600050000 + number * 100000);
	json_add_i64(to, "restoredFromLaunch", number - 1);
	json_add_str(to, "end", text);
	json_add_str(to, "pod", text);
	json_add_str(to, "generation", text);
	restore = json_add_object(to, "restorePoint");
	json_add_str(restore, "kind", text);
	json_add_i64(restore, "completedUnixMs", 1795600030000 + (number - 1) * 100000);
}

/* Every text of the document is this one. */
static struct json *document_of(const char *text)
{
	static const char *const texts[] = {"application", "phase", "reason", "lastError", "role"};
	static const char *const lists[] = {"transitions", "conditions", "snapshots", "waiting"};
	struct json *doc = json_object(), *to;

	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		json_add_str(doc, texts[i], text);
	json_add_str(doc, "cause", *text == 'd' ? "DoNotRestart" : "NewestStateMissing");
	json_add_str(json_add_object(doc, "control"), "configMap", text);
	json_add_str(json_add_object(doc, "job"), "state", text);
	for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
		static const char *const members[] = {"text", "type", "status", "message",
						      "path", "kind", "origin", "completedAt",
						      "for",  "gate", "reason"};

		to = json_add_object(json_add_array(doc, lists[i]), NULL);
		json_add_i64(to, "launch", 1);
		for (size_t k = 0; k < ARRAY_LEN(members); k++)
			json_add_str(to, members[k], text);
	}
	to = json_add_array(doc, "launches");
	add_launch(to, 1, text);
	add_launch(to, 2, text);
	to = json_add_object(json_add_array(json_add_object(doc, "decision"), "candidates"), NULL);
	json_add_str(to, "path", text);
	json_add_bool(to, "offered", true);
	return doc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	cleanup_free char *text = xstrndup((const char *)data, size_bytes);
	cleanup_json struct json *any = NULL, *made = document_of(text);
	struct err err = {0};

	any = json_parse((const char *)data, size_bytes, MAX_BYTES, &err);
	if (any)
		render(any, "p");
	render(made, text);
	return 0;
}
