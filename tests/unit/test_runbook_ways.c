#include "core/report/runbook_ways.h"

#include <string.h>

#include "base/mem.h"
#include "core/report/cause.h"
#include "core/report/runbook.h"
#include "tap.h"

TEST(every_page_names_its_ways_out)
{
	for (int i = CAUSE_NONE + 1; i < CAUSE_COUNT; i++) {
		const struct embedded *page = runbook_find(cause_name((enum cause)i));
		struct runbook_way way = {0};
		int ways = 0;

		while (page && runbook_next_way(page->text, &way)) {
			ways++;
			/* it is pasted: it must not name an application that there may be */
			CHECK(!memmem(way.text, way.text_bytes, "orders", 6));
			CHECK(way.text_bytes > 2 && !memchr(way.text, '|', way.text_bytes));
			CHECK(!memchr(way.loses, '|', way.loses_bytes) &&
			      !memchr(way.loses, '\n', way.loses_bytes));
		}
		CHECK_INT(ways, >=, 1);
	}
}

TEST(a_way_is_a_row_of_the_table)
{
	const struct embedded *page = runbook_find("NewestStateMissing");
	struct runbook_way way = {0};

	CHECK(runbook_next_way(page->text, &way));
	CHECK_INT(way.text_bytes, ==, strlen("restore it"));
	CHECK(!strncmp(way.text, "restore it", way.text_bytes));
	CHECK_INT(way.loses_bytes, ==, strlen("nothing"));
	CHECK(runbook_next_way(page->text, &way));
	CHECK(!strncmp(way.text, "`drey resume --from PATH`, with", 31));
	CHECK(!runbook_next_way(page->text, &way));
}

TEST(a_page_without_the_table_has_no_ways)
{
	static const char *const pages[] = {"# X\n\nOne.\n", "# X\n\n## The ways out\n",
					    "# X\n\n## The ways out\n\n|---|---|\n",
					    "# X\n\n## The ways out\n\n|---|---|\n| a\n",
					    "# X\n\n## The ways out\n\n|---|---|\ntext | a |\n"};

	for (size_t i = 0; i < ARRAY_LEN(pages); i++) {
		struct runbook_way way = {0};

		CHECK(!runbook_next_way(pages[i], &way));
	}
}
