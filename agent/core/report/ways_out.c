#include "core/report/ways_out.h"

#include <stdbool.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "base/visible.h"
#include "core/report/runbook.h"
#include "core/report/runbook_ways.h"

#define SHELL_SAFE "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789%+,-./:=@_"
#define PATH_WORD  "PATH"
#define FROM_PATH  "--from PATH"

/* What stands for names in the ways out of the runbook, which must not be those of any application. The release of Helm (RELEASE)
 * is not known here. */
#define NAME_WORD       "NAME"
#define CONTROL_WORD    "NAME-drey-control"
#define DEPLOYMENT_WORD "NAME-jobmanager"

#define PRIVATE_PLANES 0xf0000 /* of Unicode: no font has them */

struct ways {
	const struct json *doc;
	const struct ways_out_facts *facts;
	const char
		*offered; /* the snapshot that the decision proposes to start from; NULL = none */
	int64_t offered_unix_ms;
};

/* Does a reader see it as it is, on one line? Only such a text may be offered for copying. */
static bool is_plain(const char *text)
{
	size_t left = strlen(text);

	while (left) {
		size_t bytes = utf8_char_bytes(text, left);
		uint32_t code = bytes ? utf8_code_point(text, bytes) : 0;

		if (!bytes || visible_is_harmful(code) || code >= PRIVATE_PLANES)
			return false;
		text += bytes;
		left -= bytes;
	}
	return true;
}

static void add_word(struct buf *to, const char *word)
{
	if (*word && strspn(word, SHELL_SAFE) == strlen(word)) {
		buf_addstr(to, word);
		return;
	}
	buf_addch(to, '\'');
	for (; *word; word++) {
		if (*word == '\'')
			buf_addstr(to, "'\\''");
		else
			buf_addch(to, *word);
	}
	buf_addch(to, '\'');
}

static void add_namespace(const struct ways *ways, struct buf *to)
{
	if (!ways->facts->namespace)
		return;
	buf_addstr(to, "-n ");
	add_word(to, ways->facts->namespace);
	buf_addch(to, ' ');
}

/* ---- drey ---- */

static void add_arguments(const struct ways *ways, struct buf *to, const char *text, size_t length)
{
	for (size_t i = 0; i < length;) {
		bool is_path = length - i >= strlen(PATH_WORD) && (!i || text[i - 1] == ' ') &&
			       !strncmp(text + i, PATH_WORD, strlen(PATH_WORD));

		if (is_path && ways->offered && is_plain(ways->offered)) {
			add_word(to, ways->offered);
			i += strlen(PATH_WORD);
		} else {
			buf_addch(to, text[i++]);
		}
	}
}

/* `drey ...` as it is run from a terminal. In the owner's Pod where the way says so. */
static char *drey_command(const struct ways *ways, const char *text, size_t length, bool at_owner)
{
	const char *owner = json_str(json_get(ways->doc, "owner"), "pod");
	const char *pod = at_owner ? owner : ways->facts->pod;
	cleanup_buf struct buf to = BUF_INIT;

	if (at_owner && !owner)
		return NULL;
	if (pod) {
		buf_addstr(&to, "kubectl exec ");
		add_namespace(ways, &to);
		add_word(&to, pod);
		buf_addstr(&to, " -- ");
	}
	add_arguments(ways, &to, text, length);
	if (ways->facts->config_file) {
		buf_addstr(&to, " --config ");
		add_word(&to, ways->facts->config_file);
	}
	return buf_steal(&to);
}

/* ---- kubectl, helm ---- */

/* What the word stands for; NULL: not known here. */
static const char *name_here(const struct ways *ways, const char *text, size_t *ret_bytes)
{
	if (!strncmp(text, CONTROL_WORD, *ret_bytes = strlen(CONTROL_WORD)))
		return json_str(json_get(ways->doc, "control"), "configMap");
	if (!strncmp(text, DEPLOYMENT_WORD, *ret_bytes = strlen(DEPLOYMENT_WORD)))
		return ways->facts->deployment;
	*ret_bytes = strlen(NAME_WORD);
	return json_str(ways->doc, "application");
}

/* With the names of this application; NULL: one of them is not known, or it names nothing. */
static char *tool_command(const struct ways *ways, const char *text, size_t length)
{
	cleanup_buf struct buf to = BUF_INIT;
	size_t names = 0, tool = strcspn(text, " ") + 1;

	buf_add(&to, text, tool);
	add_namespace(ways, &to);
	for (size_t i = tool; i < length;) {
		const char *name;
		size_t bytes;

		if (strncmp(text + i, NAME_WORD, strlen(NAME_WORD)) != 0) {
			buf_addch(&to, text[i++]);
			continue;
		}
		name = name_here(ways, text + i, &bytes);
		if (!name || !is_plain(name))
			return NULL;
		add_word(&to, name);
		names++;
		i += bytes;
	}
	return names ? buf_steal(&to) : NULL;
}

/* ---- which of them can be pasted ---- */

static bool begins(const char *text, size_t length, const char *with)
{
	return length >= strlen(with) && !strncmp(text, with, strlen(with));
}

static bool has(const char *text, size_t length, const char *part)
{
	return memmem(text, length, part, strlen(part)) != NULL;
}

/* NULL: it is incomplete, or for another place ("`drey suspend` there"). The caller frees. */
static char *command_of(const struct ways *ways, const char *text, size_t length, const char *rest,
			bool at_owner)
{
	static const char from[] = "--from";

	if (has(text, length, "...") || !strncmp(rest, " there", 6) ||
	    (length > strlen(from) && !strncmp(text + length - strlen(from), from, strlen(from))))
		return NULL;
	if (begins(text, length, "drey "))
		return drey_command(ways, text, length, at_owner);
	if (ways->facts->pod && (begins(text, length, "kubectl ") || begins(text, length, "helm ")))
		return tool_command(ways, text, length);
	return NULL;
}

static void delete_pod(const struct ways *ways, struct json *list)
{
	cleanup_buf struct buf to = BUF_INIT;

	if (!ways->facts->pod)
		return;
	buf_addstr(&to, "kubectl ");
	add_namespace(ways, &to);
	buf_addstr(&to, "delete pod ");
	add_word(&to, ways->facts->pod);
	json_add_str(list, NULL, buf_str(&to));
}

static void add_commands(const struct ways *ways, const struct runbook_way *way, struct json *list)
{
	const char *end = way->text + way->text_bytes, *at = way->text;
	bool at_owner = has(way->text, way->text_bytes, "in the owner's Pod");

	while ((at = memchr(at, '`', (size_t)(end - at)))) {
		const char *close = memchr(at + 1, '`', (size_t)(end - at - 1));
		cleanup_free char *command = NULL;

		if (!close)
			break;
		command = command_of(ways, at + 1, (size_t)(close - at - 1), close + 1, at_owner);
		if (command)
			json_add_str(list, NULL, command);
		at = close + 1;
	}
	/* not where something must be done before */
	if (begins(way->text, way->text_bytes, "delete the Pod") ||
	    begins(way->text, way->text_bytes, "delete this Pod") ||
	    has(way->text, way->text_bytes, "on Kubernetes delete the Pod"))
		delete_pod(ways, list);
}

/* ---- what a way out loses ---- */

/* The newest state that is known to have existed. */
static int64_t newest_unix_ms(const struct json *doc)
{
	int64_t checkpoint = json_i64_or(json_get(doc, "lastCheckpoint"), "completedUnixMs", 0);
	int64_t savepoint = json_i64_or(json_get(doc, "lastSavepoint"), "completedUnixMs", 0);

	return checkpoint > savepoint ? checkpoint : savepoint;
}

/* "nothing", "nothing: why"; but not "nothing, but ..." and "nothing; if ...". */
static bool loses_nothing(const struct runbook_way *way)
{
	static const char word[] = "nothing";
	size_t length = sizeof(word) - 1;

	return begins(way->loses, way->loses_bytes, word) &&
	       (way->loses_bytes == length || way->loses[length] == ':');
}

/* From the snapshot that is offered to the newest one that there was; 0 = not known, or nothing. */
static int64_t lost_ms(const struct ways *ways, const struct runbook_way *way)
{
	int64_t newest = newest_unix_ms(ways->doc);

	if (!has(way->text, way->text_bytes, FROM_PATH) || loses_nothing(way) || !ways->offered ||
	    ways->offered_unix_ms <= 0 || newest <= ways->offered_unix_ms)
		return 0;
	return newest - ways->offered_unix_ms;
}

/* ---- all of it ---- */

/* What the last decision proposes to start from. */
static void find_offered(struct ways *ways)
{
	const struct json *each;

	json_each (each, json_get(json_get(ways->doc, "decision"), "candidates"))
		if (json_bool_or(each, "offered", false)) {
			ways->offered = json_str(each, "path");
			ways->offered_unix_ms = json_i64_or(each, "completedUnixMs", 0);
			return;
		}
}

static void add_part(struct json *to, const char *name, const char *text, size_t len_bytes)
{
	cleanup_free char *part = xstrndup(text, len_bytes);

	json_add_str(to, name, len_bytes ? part : NULL);
}

static void add_way(const struct ways *ways, const struct runbook_way *way, struct json *list)
{
	struct json *to = json_add_object(list, NULL);

	add_part(to, "text", way->text, way->text_bytes);
	add_commands(ways, way, json_add_array(to, "commands"));
	add_part(to, "loses", way->loses, way->loses_bytes);
	json_add_bool(to, "losesNothing", loses_nothing(way));
	json_add_known(to, "lostMs", lost_ms(ways, way), 1);
	json_add_bool(to, "choosePath",
		      !ways->offered && has(way->text, way->text_bytes, FROM_PATH));
}

void status_add_runbook(struct json *doc, const struct ways_out_facts *facts)
{
	const char *cause = json_str(doc, "cause"), *sentence;
	const struct embedded *page = cause ? runbook_find(cause) : NULL;
	struct ways ways = {.doc = doc, .facts = facts};
	struct runbook_way way = {0};
	struct json *to, *list;
	size_t length = 0;

	if (!page) {
		json_add_null(doc, "runbook");
		return;
	}
	find_offered(&ways);
	to = json_object();
	json_add_str(to, "page", page->name);
	sentence = runbook_sentence(page, &length);
	add_part(to, "means", sentence, length);
	list = json_add_array(to, "ways");
	while (runbook_next_way(page->text, &way))
		add_way(&ways, &way, list);
	json_add(doc, "runbook", to);
}
