/*
 * Any text as the stack trace of a Java exception: what is shown of it stands in it, and is as short as it is said to
 * be.
 */
#include <string.h>

#include "base/mem.h"
#include "flink/trace.h"
#include "must.h"

/* A line of the text, or its beginning with "...". */
static void check_piece(const char *text, const char *piece)
{
	size_t len = piece ? strlen(piece) : 0;

	if (!piece)
		return;
	must(len && len <= TRACE_LINE_MAX_BYTES + 3 && !strpbrk(piece, "\r\n"));
	if (!strstr(text, piece)) {
		cleanup_free char *beginning = xstrndup(piece, len - 3);

		must(len > 3 && !strcmp(piece + len - 3, "...") && strstr(text, beginning));
	}
}

static void check_class(const char *text, const char *class_name)
{
	const char *dot;

	check_piece(text, class_name);
	if (!class_name || strlen(class_name) >= TRACE_LINE_MAX_BYTES)
		return;
	dot = strrchr(class_name, '.');
	must(dot && dot > class_name && dot[1]);
	must(!strpbrk(class_name, " :\t"));
	must(trace_mentions(text, class_name) && trace_mentions(text, dot + 1));
}

static void check_shorter(const char *text)
{
	cleanup_free char *shorter = trace_shorten(text);
	size_t frames = 0;

	must(strlen(shorter) <= TRACE_TEXT_MAX_BYTES);
	for (const char *line = shorter; *line; line += strcspn(line, "\n") + 1) {
		size_t len = strcspn(line, "\n");

		must(len && len <= TRACE_LINE_MAX_BYTES + 3 && line[len] == '\n');
		frames = *line == '\t' || *line == ' ' ? frames + 1 : 0;
		must(frames <= 3);
	}
}

static void check_saved(const char *text)
{
	cleanup_free char *path = trace_saved_path(text), *told = NULL;

	if (!path)
		return;
	must(*path && !strchr(path, '\n'));
	told = xasprintf("A savepoint has been created at: %s, but the corresponding job", path);
	must(strstr(text, told) != NULL);
}

static void check_java(const char *text)
{
	cleanup_free char *sentence = NULL;
	struct trace trace;

	trace_parse(text, &trace);
	check_class(text, trace.class_name);
	check_class(text, trace.cause_class);
	check_piece(text, trace.message);
	check_piece(text, trace.cause_message);
	sentence = trace_sentence(&trace);
	must(sentence && !strpbrk(sentence, "\r\n"));
	must(strlen(sentence) <= 4 * (TRACE_LINE_MAX_BYTES + 3) + 8);
	check_shorter(text);
	check_saved(text);
	trace_release(&trace);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	cleanup_free char *text = xstrndup((const char *)data, size_bytes);

	check_java(text);
	return 0;
}
