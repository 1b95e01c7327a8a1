/* docs/architecture.md has the rules in the order in which resolve() asks them. */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "core/resolve/resolve.h"
#include "doc_file.h"

static void add_table(struct buf *text, bool veto, const char *title)
{
	const char *question;
	enum rule rule;

	buf_addf(text, "| rule | %s |\n|---|---|\n", title);
	for (size_t i = 0; resolve_row(veto, i, &rule, &question); i++)
		buf_addf(text, "| %d | %s |\n", (int)rule, question);
}

TEST(the_document_has_the_rules_in_their_order)
{
	struct buf doc = BUF_INIT, table = BUF_INIT;

	if (!doc_read("docs/architecture.md", &doc))
		return;
	for (int veto = 0; veto < 2; veto++) {
		table.len_bytes = 0;
		add_table(&table, veto,
			  veto ? "turns a start into a hold" : "the first that is true decides");
		if (!CHECK(strstr(buf_str(&doc), buf_str(&table)) != NULL))
			tap_note("docs/architecture.md has to have:\n%s", buf_str(&table));
	}
	buf_release(&table);
	buf_release(&doc);
}

TEST(a_row_that_is_not_there_leaves_the_results_alone)
{
	const char *question = "q";
	enum rule rule = RULE_NONE;

	CHECK(!resolve_row(false, 1000, &rule, &question));
	CHECK(!resolve_row(true, 1000, &rule, &question));
	CHECK_INT(rule, ==, RULE_NONE);
	CHECK_STR(question, "q");
}
