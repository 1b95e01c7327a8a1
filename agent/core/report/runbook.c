#include "core/report/runbook.h"

#include <string.h>

const struct embedded *runbook_find(const char *cause)
{
	for (const struct embedded *page = runbook_pages; page->name; page++)
		if (!strcasecmp(page->name, cause))
			return page;
	return NULL;
}

const char *runbook_sentence(const struct embedded *page, size_t *ret_len_bytes)
{
	const char *begin = strstr(page->text, "\n\n");

	begin = begin ? begin + 2 : page->text;
	*ret_len_bytes = strcspn(begin, "\n");
	return begin;
}
