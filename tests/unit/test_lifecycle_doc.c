#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "core/lifecycle/lifecycle.h"
#include "doc_file.h"

/* Names are a row of their own in a table: "| `name` |". */
static void check_row(const struct buf *doc, const char *name)
{
	char row[64];

	snprintf(row, sizeof(row), "\n| `%s` |", name);
	if (!CHECK(strstr(buf_str(doc), row) != NULL))
		tap_note("docs/reference/lifecycle.md has no row for %s", name);
}

TEST(the_document_has_every_phase_event_effect_and_notice)
{
	struct buf doc = BUF_INIT;

	doc_read("docs/reference/lifecycle.md", &doc);
	for (int i = 0; i < PHASE_COUNT; i++)
		check_row(&doc, phase_name((enum phase)i));
	for (int i = 0; i < EVENT_COUNT; i++)
		check_row(&doc, event_type_name((enum event_type)i));
	for (int i = 0; i <= EFFECT_GATE; i++)
		check_row(&doc, effect_type_name((enum effect_type)i));
	for (int i = 0; i < NOTICE_COUNT; i++)
		check_row(&doc, notice_type_name((enum notice_type)i));
	buf_release(&doc);
}

TEST(the_document_says_what_happens_in_every_phase)
{
	struct buf doc = BUF_INIT;
	const char *part;

	doc_read("docs/reference/lifecycle.md", &doc);
	part = strstr(buf_str(&doc), "## What happens in each phase");
	for (int i = 0; i < PHASE_COUNT && CHECK(part != NULL); i++) {
		const char *line = part;
		bool found = false;

		/* a line in bold that names the phase, and a table below it */
		while ((line = strstr(line, "\n**`"))) {
			char title[200];

			snprintf(title, sizeof(title), "%.*s", (int)strcspn(line + 1, "\n"),
				 line + 1);
			found = found || strstr(title, phase_name((enum phase)i));
			line++;
		}
		if (!CHECK(found))
			tap_note("docs/reference/lifecycle.md does not say what happens in %s",
				 phase_name((enum phase)i));
	}
	buf_release(&doc);
}
