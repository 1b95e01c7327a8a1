#include "core/trace/life_trace.h"

static void add_value(const struct json *node, struct buf *text)
{
	const struct json *child;
	size_t before;

	switch (json_kind(node)) {
	case JSON_STRING:
		buf_addf(text, "=%s", json_text(node));
		break;
	case JSON_NUMBER:
		buf_addf(text, "=%s", json_number(node));
		break;
	case JSON_ARRAY:
		buf_addf(text, "=%zu", json_len(node));
		break;
	case JSON_OBJECT:
		buf_addstr(text, "(");
		before = text->len_bytes;
		json_each (child, node)
			life_trace_text(child, text->len_bytes > before ? " " : "", text);
		buf_addstr(text, ")");
		break;
	default:
		break;
	}
}

void life_trace_text(const struct json *member, const char *before, struct buf *text)
{
	bool empty = json_kind(member) == JSON_NULL ||
		     (json_kind(member) == JSON_BOOL && !json_is_true(member)) ||
		     (json_text(member) && !*json_text(member)) ||
		     (json_kind(member) == JSON_ARRAY && !json_len(member));

	if (empty)
		return;
	buf_addf(text, "%s%s", before, json_name(member));
	add_value(member, text);
}

void life_trace_event_text(const struct json *event, struct buf *text)
{
	const struct json *member = json_first(event);
	const char *type = json_str(event, "type");

	buf_addstr(text, type ? type : "?");
	for (member = json_next(member); member; member = json_next(member))
		life_trace_text(member, " ", text);
}
