#include "base/texts.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

bool texts_have(char *const *texts, size_t count, const char *text)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(texts[i], text))
			return true;
	return false;
}

void texts_add(char ***texts, size_t *count, const char *text)
{
	if (texts_have(*texts, *count, text))
		return;
	*texts = xreallocarray(*texts, *count + 1, sizeof(**texts));
	(*texts)[(*count)++] = xstrdup(text);
}

void texts_trim(char **texts, size_t *count, size_t max)
{
	size_t drop = *count > max ? *count - max : 0;

	for (size_t i = 0; i < drop; i++)
		free(texts[i]);
	*count -= drop;
	if (drop)
		memmove(texts, texts + drop, *count * sizeof(*texts));
}

void texts_free(char **texts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(texts[i]);
	free(texts);
}
