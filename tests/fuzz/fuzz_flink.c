/* Any bytes as a stack trace, as Flink's configuration in its three forms, as a version, a duration. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "flink/conf.h"
#include "flink/trace.h"
#include "must.h"

static void as_trace(const char *text)
{
	cleanup_free char *sentence = NULL, *small = trace_shorten(text),
			  *path = trace_saved_path(text);
	struct trace trace;

	trace_parse(text, &trace);
	sentence = trace_sentence(&trace);
	must(strlen(sentence) <= 4 * (TRACE_LINE_MAX_BYTES + 4) + 16);
	must(!strpbrk(sentence, "\r\n"));
	must(strlen(small) <= TRACE_TEXT_MAX_BYTES);
	must(!path || (*path && !strchr(path, '\n')));
	(void)trace_mentions(text, "FlinkJobNotFoundException");
	trace_release(&trace);
}

static void as_conf(const char *text, size_t len)
{
	static const char *const env[] = {"HOME=/root", "A=b", NULL};
	struct flink_conf lines = {0}, yaml = {0};
	struct flink_settings settings;

	flink_conf_add_lines(&lines, text, len);
	flink_conf_add_properties(&lines, text, env);
	(void)flink_conf_settings(&lines, &settings, NULL);
	if (flink_conf_add_yaml(&yaml, text, len, NULL) == 0)
		(void)flink_conf_settings(&yaml, &settings, NULL);
	for (size_t i = 0; i < lines.count; i++)
		must(lines.entries[i].key && lines.entries[i].value);
	flink_conf_release(&lines);
	flink_conf_release(&yaml);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	/* all of it, with NULs inside, and one behind it */
	cleanup_free char *text = xcalloc(size_bytes + 1, 1);
	struct flink_version version;
	int64_t ms;

	if (size_bytes)
		memcpy(text, data, size_bytes);

	as_trace(text);
	as_conf(text, size_bytes);
	if (flink_version_parse(text, &version, NULL) == 0)
		must(version.major > 0 && version.minor >= 0 && version.patch >= 0);
	if (flink_duration_parse(text, &ms, NULL) == 0)
		must(ms >= 0);
	return 0;
}
