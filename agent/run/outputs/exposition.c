#include "run/outputs/exposition.h"

#include <inttypes.h>
#include <string.h>

#include "base/visible.h"

void exposition_family(struct buf *text, const char *name, const char *type, const char *help)
{
	buf_addf(text, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

void exposition_label(struct buf *text, const char *label, const char *value)
{
	cleanup_buf struct buf visible = BUF_INIT;

	/* a newline has an escape of the format itself */
	for (size_t len; value && *value; value += len + (value[len] == '\n')) {
		len = strcspn(value, "\n");
		visible_addf(&visible, "%.*s", (int)len, value);
		if (value[len])
			buf_addch(&visible, '\n');
	}
	buf_addf(text, "%s=\"", label);
	for (const char *at = buf_str(&visible); *at; at++) {
		if (*at == '\n') {
			buf_addstr(text, "\\n");
			continue;
		}
		if (*at == '\\' || *at == '"')
			buf_addch(text, '\\');
		buf_addch(text, *at);
	}
	buf_addch(text, '"');
}

void exposition_number(struct buf *text, const char *name, const char *type, const char *help,
		       int64_t value)
{
	exposition_family(text, name, type, help);
	buf_addf(text, "%s %" PRId64 "\n", name, value);
}

void exposition_labelled(struct buf *text, const char *name, const char *label, const char *value,
			 int64_t sample)
{
	buf_addf(text, "%s{", name);
	exposition_label(text, label, value);
	buf_addf(text, "} %" PRId64 "\n", sample);
}

void exposition_known(struct buf *text, const char *name, const char *help, bool is_known,
		      int64_t value)
{
	exposition_family(text, name, "gauge", help);
	if (is_known)
		buf_addf(text, "%s %" PRId64 "\n", name, value);
}

void exposition_seconds(struct buf *text, const char *name, const char *help, bool is_known,
			int64_t value_ms)
{
	exposition_family(text, name, "gauge", help);
	if (is_known && value_ms >= 0)
		buf_addf(text, "%s %" PRId64 ".%03d\n", name, value_ms / 1000,
			 (int)(value_ms % 1000));
}
