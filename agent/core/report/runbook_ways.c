#include "core/report/runbook_ways.h"

#include <string.h>

static const char *next_line(const char *line)
{
	line += strcspn(line, "\n");
	return *line ? line + 1 : NULL;
}

/* The cell that begins here, without the spaces around it. Behind it: its bar, or the end of the line. */
static const char *read_cell(const char *at, const char **ret_text, size_t *ret_bytes)
{
	const char *end;

	at += strspn(at, " ");
	end = at + strcspn(at, "|\n");
	*ret_text = at;
	*ret_bytes = (size_t)(end - at);
	while (*ret_bytes && at[*ret_bytes - 1] == ' ')
		--*ret_bytes;
	return end;
}

static const char *first_row(const char *page)
{
	const char *heading = strstr(page, "\n## The ways out\n");
	const char *rule = heading ? strstr(heading, "\n|---|---|\n") : NULL;

	return rule ? next_line(rule + 1) : NULL;
}

bool runbook_next_way(const char *page, struct runbook_way *way)
{
	const char *line = way->text ? next_line(way->text) : first_row(page);
	const char *at;

	if (!line || *line != '|')
		return false;
	at = read_cell(line + 1, &way->text, &way->text_bytes);
	if (*at != '|')
		return false;
	read_cell(at + 1, &way->loses, &way->loses_bytes);
	return true;
}
