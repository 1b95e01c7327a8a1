#include "core/report/runbook.h"

#include <string.h>

const struct runbook_page *runbook_find(const char *cause)
{
	for (const struct runbook_page *page = runbook_pages; page->cause; page++)
		if (!strcasecmp(page->cause, cause))
			return page;
	return NULL;
}

const char *runbook_sentence(const struct runbook_page *page, size_t *ret_len_bytes)
{
	const char *begin = strstr(page->text, "\n\n");

	begin = begin ? begin + 2 : page->text;
	*ret_len_bytes = strcspn(begin, "\n");
	return begin;
}
