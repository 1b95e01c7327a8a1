#include <string.h>

#include "base/mem.h"
#include "core/web/web_internal.h"

#define SHELL_SAFE "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789%+,-./:=@_"
#define PATH_WORD  "PATH"

/* What stands for names in the ways out of the runbook, which must not be those of any application. The release of Helm (RELEASE)
 * is not known here. */
#define NAME_WORD       "NAME"
#define CONTROL_WORD    "NAME-drey-control"
#define DEPLOYMENT_WORD "NAME-jobmanager"

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

static void add_namespace(const struct web *page, struct buf *to)
{
	if (!page->facts->namespace)
		return;
	buf_addstr(to, "-n ");
	add_word(to, page->facts->namespace);
	buf_addch(to, ' ');
}

/* ---- drey ---- */

static void add_arguments(const struct web *page, struct buf *to, const char *text, size_t length)
{
	for (size_t i = 0; i < length;) {
		bool is_path = length - i >= strlen(PATH_WORD) && (!i || text[i - 1] == ' ') &&
			       !strncmp(text + i, PATH_WORD, strlen(PATH_WORD));

		if (is_path && page->offered && html_is_plain(page->offered)) {
			add_word(to, page->offered);
			i += strlen(PATH_WORD);
		} else {
			buf_addch(to, text[i++]);
		}
	}
}

/* `drey ...` as it is run from a terminal. In the owner's Pod where the way says so. */
static char *drey_command(const struct web *page, const char *text, size_t length, bool at_owner)
{
	const char *owner = json_str(json_get(page->status, "owner"), "pod");
	const char *pod = at_owner ? owner : page->facts->pod;
	cleanup_buf struct buf to = BUF_INIT;

	if (at_owner && !owner)
		return NULL;
	if (pod) {
		buf_addstr(&to, "kubectl exec ");
		add_namespace(page, &to);
		add_word(&to, pod);
		buf_addstr(&to, " -- ");
	}
	add_arguments(page, &to, text, length);
	if (page->facts->config_file) {
		buf_addstr(&to, " --config ");
		add_word(&to, page->facts->config_file);
	}
	return buf_steal(&to);
}

/* ---- kubectl, helm ---- */

/* What the word stands for; NULL: not known here. */
static const char *name_here(const struct web *page, const char *text, size_t *ret_bytes)
{
	if (!strncmp(text, CONTROL_WORD, *ret_bytes = strlen(CONTROL_WORD)))
		return json_str(json_get(page->status, "control"), "configMap");
	if (!strncmp(text, DEPLOYMENT_WORD, *ret_bytes = strlen(DEPLOYMENT_WORD)))
		return page->facts->deployment;
	*ret_bytes = strlen(NAME_WORD);
	return json_str(page->status, "application");
}

/* With the names of this application; NULL: one of them is not known, or it names nothing. */
static char *tool_command(const struct web *page, const char *text, size_t length)
{
	cleanup_buf struct buf to = BUF_INIT;
	size_t names = 0, tool = strcspn(text, " ") + 1;

	buf_add(&to, text, tool);
	add_namespace(page, &to);
	for (size_t i = tool; i < length;) {
		const char *name;
		size_t bytes;

		if (strncmp(text + i, NAME_WORD, strlen(NAME_WORD)) != 0) {
			buf_addch(&to, text[i++]);
			continue;
		}
		name = name_here(page, text + i, &bytes);
		if (!name || !html_is_plain(name))
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
static char *command_of(const struct web *page, const char *text, size_t length, const char *rest,
			bool at_owner)
{
	static const char from[] = "--from";

	if (has(text, length, "...") || !strncmp(rest, " there", 6) ||
	    (length > strlen(from) && !strncmp(text + length - strlen(from), from, strlen(from))))
		return NULL;
	if (begins(text, length, "drey "))
		return drey_command(page, text, length, at_owner);
	if (page->facts->pod && (begins(text, length, "kubectl ") || begins(text, length, "helm ")))
		return tool_command(page, text, length);
	return NULL;
}

void web_command(const struct web *page, const char *command)
{
	buf_addstr(page->out, "<div class=\"cmd\"><code dir=\"ltr\">");
	html_text(page->out, command);
	buf_addstr(page->out,
		   "</code><button type=\"button\" class=\"copy\">Copy</button></div>\n");
}

static void delete_pod(const struct web *page)
{
	cleanup_buf struct buf to = BUF_INIT;

	if (!page->facts->pod)
		return;
	buf_addstr(&to, "kubectl ");
	add_namespace(page, &to);
	buf_addstr(&to, "delete pod ");
	add_word(&to, page->facts->pod);
	web_command(page, buf_str(&to));
}

void web_commands(const struct web *page, const char *way, size_t len_bytes)
{
	const char *end = way + len_bytes, *at = way;
	bool at_owner = has(way, len_bytes, "in the owner's Pod");

	while ((at = memchr(at, '`', (size_t)(end - at)))) {
		const char *close = memchr(at + 1, '`', (size_t)(end - at - 1));
		cleanup_free char *command = NULL;

		if (!close)
			break;
		command = command_of(page, at + 1, (size_t)(close - at - 1), close + 1, at_owner);
		if (command)
			web_command(page, command);
		at = close + 1;
	}
	/* not where something must be done before */
	if (begins(way, len_bytes, "delete the Pod") || begins(way, len_bytes, "delete this Pod") ||
	    has(way, len_bytes, "on Kubernetes delete the Pod"))
		delete_pod(page);
}
