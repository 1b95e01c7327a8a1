/* docs/reference/handover.md has the rules by which a pod finds out who it is, in the order of the code. */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "core/handover/handover_role.h"
#include "doc_file.h"

#define DOC "docs/reference/handover.md" /* the tests run from the top of the tree */

static void add_roles(struct buf *text)
{
	size_t count;
	const struct role_rule *rules = handover_role_rules(&count);

	buf_addstr(text, "\n| The first that is true decides | This pod is | It owns by |\n"
			 "|---|---|---|\n");
	for (size_t i = 0; i < count; i++)
		buf_addf(text, "| %s | `%s` | %s%s%s |\n", rules[i].when, role_name(rules[i].role),
			 rules[i].claim ? "`" : "",
			 rules[i].claim ? claim_name(rules[i].claim) : "-",
			 rules[i].claim ? "`" : "");
	buf_addstr(text, "\n"); /* and no other row */
}

TEST(the_document_has_the_rules_of_the_roles_in_their_order)
{
	struct buf doc = BUF_INIT, table = BUF_INIT;

	doc_read(DOC, &doc);
	add_roles(&table);
	if (!CHECK(strstr(buf_str(&doc), buf_str(&table)) != NULL))
		tap_note(DOC " has to have:\n%s", buf_str(&table));
	buf_release(&table);
	buf_release(&doc);
}

/* Words are a row of their own in a table: "| `name` |". */
static void check_row(const struct buf *doc, const char *name)
{
	char row[64];

	snprintf(row, sizeof(row), "\n| `%s` |", name);
	if (!CHECK(strstr(buf_str(doc), row) != NULL))
		tap_note(DOC " has no row for %s", name);
}

TEST(the_document_explains_every_role_claim_and_state)
{
	struct buf doc = BUF_INIT;

	doc_read(DOC, &doc);
	for (int i = 0; i < ROLES; i++)
		check_row(&doc, role_name((enum role)i));
	for (int i = CLAIM_NONE + 1; i <= CLAIM_FORCE; i++)
		check_row(&doc, claim_name((enum claim)i));
	for (const char *const *word = handover_state_words; *word; word++)
		check_row(&doc, *word);
	buf_release(&doc);
}
