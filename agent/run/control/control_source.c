#include "run/control/control_source.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

void control_source_take(struct control_source *source, const struct control_wish *wish,
			 bool absent)
{
	control_wish_release(&source->wish);
	control_wish_copy(&source->wish, wish);
	source->known = true;
	source->absent = absent;
	if (absent) {
		source->seen = false;
	} else if (!source->seen && !wish->bad.kind) {
		source->seen = true;
		xstrset(&source->standing, wish->restore.token);
	}
}

void control_source_release(struct control_source *source)
{
	control_wish_release(&source->wish);
	free(source->standing);
	*source = (struct control_source){0};
}

bool control_source_is_standing(const struct control_source *source,
				const struct control_wish *wish)
{
	return source->standing && wish->restore.token &&
	       !strcmp(source->standing, wish->restore.token);
}

bool control_used_has(const char *used, const char *token)
{
	size_t len = strlen(token);

	for (const char *at = used; at && *at; at += strspn(at, " ")) {
		size_t word = strcspn(at, " ");

		if (word == len && !strncmp(at, token, len))
			return true;
		at += word;
	}
	return false;
}

static size_t count_words(const char *text)
{
	size_t count = 0;

	for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
		count++;
		text += strcspn(text, " ");
	}
	return count;
}

char *control_used_add(const char *used, const char *token)
{
	const char *kept = used ? used + strspn(used, " ") : "";

	for (size_t count = count_words(kept); count >= CONTROL_USED_MAX; count--) {
		kept += strcspn(kept, " ");
		kept += strspn(kept, " ");
	}
	return xasprintf("%s%s%s", kept, *kept ? " " : "", token);
}
