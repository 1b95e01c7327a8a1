/*
 * The tables of a pod that stands by: every combination of facts is decided by one row, and each row decides some. They are
 * the tables between the two marks in docs/reference/handover.md:
 *
 *   make docs-lifecycle        rewrites them (DREY_RENEW_DOCS=1 does the same here)
 *
 * What each row does and says is tested where it is done: test_standby, test_standby_shadow, test_standby_prepare.
 */
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "core/handover/standby_rows.h"
#include "doc_file.h"

#define BEGIN "<!-- rows: begin (make docs-lifecycle) -->\n"
#define END   "<!-- rows: end -->\n"

#define MOST_ROWS 32

static const struct stand_table *const tables[] = {&standby_table, &standby_shadow_table};

/* ---- every combination ---- */

static unsigned asked_by_row(const struct stand_row *row)
{
	unsigned asked = 0;

	for (size_t i = 0; i < STAND_ROW_FACTS && row->all[i]; i++)
		asked |= 1U << row->all[i];
	return asked;
}

static unsigned asked_by(const struct stand_table *table)
{
	unsigned asked = 0;

	for (size_t i = 0; i < table->row_count; i++)
		asked |= asked_by_row(&table->rows[i]);
	return asked;
}

static void walk(const struct stand_table *table)
{
	unsigned asked = asked_by(table), facts = 0;
	bool reached[MOST_ROWS] = {false};

	do { /* all subsets of what is asked */
		reached[stand_row(table, facts) - table->rows] = true;
		facts = (facts - asked) & asked;
	} while (facts);
	for (size_t i = 0; i < table->row_count; i++)
		if (!CHECK(reached[i]))
			tap_note("%s: row %zu never decides, because one above always does",
				 table->title, i + 1);
}

TEST(each_combination_of_facts_is_decided_and_each_row_decides_some)
{
	for (size_t t = 0; t < ARRAY_LEN(tables); t++) {
		const struct stand_table *table = tables[t];

		if (!CHECK(table->row_count > 0 && table->row_count <= MOST_ROWS) ||
		    !CHECK(!asked_by_row(&table->rows[table->row_count - 1])))
			tap_note("%s: the last row must ask nothing", table->title);
		else
			walk(table);
	}
}

TEST(each_fact_has_a_clause_of_its_own_and_decides_something)
{
	unsigned asked = 0;

	for (size_t t = 0; t < ARRAY_LEN(tables); t++)
		asked |= asked_by(tables[t]);
	for (int fact = STAND_ALWAYS + 1; fact < STAND_FACTS; fact++) {
		const char *says = stand_fact_says((enum stand_fact)fact);

		if (!CHECK(says && *says) || !CHECK(asked >> fact & 1))
			tap_note("fact %d", fact);
		for (int other = STAND_ALWAYS + 1; other < fact; other++)
			CHECK(!xstrsame(says, stand_fact_says((enum stand_fact)other)));
	}
	CHECK(!stand_fact_says(STAND_ALWAYS));
	CHECK(!stand_fact_says(STAND_FACTS));
}

TEST(each_thing_to_do_is_that_of_some_row_and_has_a_clause)
{
	for (size_t t = 0; t < ARRAY_LEN(tables); t++)
		for (size_t what = 0; what < tables[t]->what_count; what++) {
			bool used = false;

			for (size_t i = 0; i < tables[t]->row_count; i++)
				used = used || tables[t]->rows[i].what == (int)what;
			CHECK(used);
			CHECK(tables[t]->whats[what] && *tables[t]->whats[what]);
		}
}

/* ---- the document ---- */

static void add_row(struct buf *out, const struct stand_table *table, const struct stand_row *row)
{
	buf_addstr(out, "| ");
	for (size_t i = 0; i < STAND_ROW_FACTS && row->all[i]; i++)
		buf_addf(out, "%s%s", i ? "; " : "", stand_fact_says(row->all[i]));
	buf_addf(out, "%s | %s | ", row->all[0] ? "" : "otherwise", table->whats[row->what]);
	if (row->cause)
		buf_addf(out, "`%s`: %s%s |\n", cause_name(row->cause),
			 row->why ? row->why : "why it has its role", row->says ? " ..." : "");
	else
		buf_addf(out, "%s |\n", row->why ? row->why : "-");
}

static void add_table(struct buf *out, const struct stand_table *table)
{
	buf_addf(out,
		 "\n### %s\n\n| The first row that is true decides | It does | It says |\n"
		 "|---|---|---|\n",
		 table->title);
	for (size_t i = 0; i < table->row_count; i++)
		add_row(out, table, &table->rows[i]);
}

static void check_page(const char *page, const struct stand_table *const *list, size_t count)
{
	cleanup_buf struct buf text = BUF_INIT;

	for (size_t t = 0; t < count; t++)
		add_table(&text, list[t]);
	buf_addstr(&text, "\n");
	doc_check_tables(page, BEGIN, END, &text);
}

TEST(the_documents_have_the_tables_of_the_code)
{
	check_page("docs/reference/handover.md", tables, 1);
	check_page("docs/development/transition.md", tables + 1, 1);
}
