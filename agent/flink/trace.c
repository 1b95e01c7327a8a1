#include "flink/trace.h"

#include <ctype.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/utf8.h"

#define CAUSED_BY   "Caused by: "
#define FRAMES_KEPT 3 /* of each exception in a shortened trace */

/* Exceptions that only wrap another one. */
static const char *const wrappers[] = {
	"java.util.concurrent.CompletionException",
	"java.util.concurrent.ExecutionException",
	"org.apache.flink.util.SerializedThrowable",
	"org.apache.flink.runtime.rest.handler.RestHandlerException",
	"org.apache.flink.runtime.rest.NotFoundException",
};

/* A borrowed piece of text. */
struct piece {
	const char *at;
	size_t len;
};

static struct piece first_line(const char *text)
{
	return (struct piece){text, strcspn(text, "\r\n")};
}

/* The length of a full Java class name at the start of the piece, 0 if there is none: words of
 * letters, digits, '_' and '$' with at least one dot between them. */
static size_t class_len(struct piece line)
{
	bool dot = false, start = true;
	size_t i;

	for (i = 0; i < line.len; i++) {
		char ch = line.at[i];

		if (ch == '.' && !start) {
			dot = start = true;
		} else if (isalpha((unsigned char)ch) || ch == '_' || ch == '$' ||
			   (!start && isdigit((unsigned char)ch))) {
			start = false;
		} else {
			break;
		}
	}
	if (!dot || start)
		return 0;
	return i == line.len || line.at[i] == ':' ? i : 0;
}

static bool is_wrapper(struct piece name)
{
	for (size_t i = 0; i < ARRAY_LEN(wrappers); i++)
		if (strlen(wrappers[i]) == name.len && strncmp(name.at, wrappers[i], name.len) == 0)
			return true;
	return false;
}

/* Remove "class: " from the front of the line; the class is returned, empty if there is none. */
static struct piece take_class(struct piece *line)
{
	struct piece name = {line->at, class_len(*line)};

	if (name.len == 0)
		return name;
	line->at += name.len;
	line->len -= name.len;
	if (line->len && line->at[0] == ':') {
		line->at++;
		line->len--;
	}
	while (line->len && line->at[0] == ' ') {
		line->at++;
		line->len--;
	}
	return name;
}

/* "Wrapper: Wrapper: real.Exception: message" -> real.Exception and message. */
static void read_head(struct piece line, struct piece *ret_class, struct piece *ret_message)
{
	struct piece name = take_class(&line);

	while (name.len && is_wrapper(name) && line.len) {
		struct piece rest = line, next = take_class(&rest);

		if (next.len == 0)
			break;
		name = next;
		line = rest;
	}
	*ret_class = name;
	*ret_message = line;
}

static bool same(struct piece a, struct piece b)
{
	return a.len == b.len && (a.len == 0 || memcmp(a.at, b.at, a.len) == 0);
}

static char *copy(struct piece piece)
{
	if (piece.len == 0)
		return NULL;
	if (piece.len <= TRACE_LINE_MAX_BYTES)
		return xstrndup(piece.at, piece.len);
	return xasprintf("%.*s...", (int)utf8_cut(piece.at, TRACE_LINE_MAX_BYTES), piece.at);
}

static const char *next_line(const char *text)
{
	text += strcspn(text, "\n");
	return *text ? text + 1 : NULL;
}

/* Remove "Caused by: " from the front of the line, with the blanks before it; false: it is no such line. */
static bool take_cause(struct piece *line)
{
	struct piece rest = *line;

	while (rest.len && (rest.at[0] == ' ' || rest.at[0] == '\t')) {
		rest.at++;
		rest.len--;
	}
	if (rest.len <= strlen(CAUSED_BY) || strncmp(rest.at, CAUSED_BY, strlen(CAUSED_BY)) != 0)
		return false;
	*line = (struct piece){rest.at + strlen(CAUSED_BY), rest.len - strlen(CAUSED_BY)};
	return true;
}

void trace_parse(const char *text, struct trace *ret_trace)
{
	struct piece head_class, head_message, cause_class = {0}, cause_message = {0};

	read_head(first_line(text), &head_class, &head_message);
	for (const char *at = text; at; at = next_line(at)) {
		struct piece line = first_line(at);

		if (take_cause(&line))
			read_head(line, &cause_class, &cause_message);
	}
	*ret_trace = (struct trace){
		.class_name = copy(head_class),
		.message = copy(head_message),
	};
	if (same(cause_class, head_class) && same(cause_message, head_message))
		return; /* a wrapper had the same text */
	ret_trace->cause_class = copy(cause_class);
	ret_trace->cause_message = copy(cause_message);
}

void trace_release(struct trace *trace)
{
	if (!trace)
		return;
	free(trace->class_name);
	free(trace->message);
	free(trace->cause_class);
	free(trace->cause_message);
	*trace = (struct trace){0};
}

static const char *simple_name(const char *class_name)
{
	const char *dot = strrchr(class_name, '.');

	return dot ? dot + 1 : class_name;
}

static void add_exception(struct buf *buf, const char *class_name, const char *message)
{
	if (class_name && message && is_wrapper((struct piece){class_name, strlen(class_name)}))
		class_name = NULL;
	if (class_name)
		buf_addstr(buf, simple_name(class_name));
	if (class_name && message)
		buf_addstr(buf, ": ");
	if (message)
		buf_addstr(buf, message);
}

char *trace_sentence(const struct trace *trace)
{
	struct buf buf = BUF_INIT;

	add_exception(&buf, trace->class_name, trace->message);
	if (trace->cause_class || trace->cause_message) {
		buf_addstr(&buf, " (");
		add_exception(&buf, trace->cause_class, trace->cause_message);
		buf_addch(&buf, ')');
	}
	return buf_steal(&buf);
}

char *trace_shorten(const char *text)
{
	struct buf buf = BUF_INIT;
	int frames = 0;

	for (const char *at = text; at; at = next_line(at)) {
		struct piece line = first_line(at);
		bool frame = line.len > 0 && (line.at[0] == '\t' || line.at[0] == ' ');
		bool cut = line.len > TRACE_LINE_MAX_BYTES;

		frames = frame ? frames + 1 : 0;
		if (line.len == 0 || frames > FRAMES_KEPT)
			continue;
		if (buf.len_bytes + TRACE_LINE_MAX_BYTES + 8 > TRACE_TEXT_MAX_BYTES)
			break;
		if (cut) {
			cleanup_free char *shorter = copy(line);
			buf_addstr(&buf, shorter);
		} else {
			buf_add(&buf, line.at, line.len);
		}
		buf_addch(&buf, '\n');
	}
	return buf_steal(&buf);
}

/* Is there the full or simple class name at this position, as a whole word? */
static bool names_class(struct piece name, const char *class_name)
{
	size_t len = strlen(class_name);

	if (name.len < len || strncmp(name.at + name.len - len, class_name, len) != 0)
		return false;
	return name.len == len || name.at[name.len - len - 1] == '.' ||
	       name.at[name.len - len - 1] == '$';
}

bool trace_mentions(const char *text, const char *class_name)
{
	for (const char *at = text; at; at = next_line(at)) {
		struct piece line = first_line(at), name;

		(void)take_cause(&line);
		while ((name = take_class(&line)).len)
			if (names_class(name, class_name))
				return true;
	}
	return false;
}

char *trace_saved_path(const char *text)
{
	static const char before[] = "A savepoint has been created at: ";
	static const char after[] = ", but the corresponding job";
	const char *begin = strstr(text, before), *end;

	if (!begin)
		return NULL;
	begin += sizeof(before) - 1;
	end = strstr(begin, after);
	if (!end || end == begin || memchr(begin, '\n', (size_t)(end - begin)))
		return NULL;
	return xstrndup(begin, (size_t)(end - begin));
}
