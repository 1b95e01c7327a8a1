/*
 * The tables of the life cycle: every combination of facts is decided by one row, each row decides some, and each sentence
 * is that of one row. They are the tables between the two marks in docs/reference/lifecycle.md:
 *
 *   make docs-lifecycle        rewrites them (DREY_RENEW_DOCS=1 does the same here)
 */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "core/lifecycle/lifecycle_asks.h"
#include "core/lifecycle/lifecycle_pursue.h"
#include "core/lifecycle/lifecycle_stopping.h"
#include "doc_file.h"

#define DOC   "docs/reference/lifecycle.md"
#define BEGIN "<!-- rows: begin (make docs-lifecycle) -->\n"
#define END   "<!-- rows: end -->\n"

#define MOST_ROWS  64
#define MOST_FACTS 16 /* that one table asks */

static const struct life_table *const tables[] = {&idle_table, &running_table, &stopping_table};

/* ---- every combination */

static uint64_t asked_by_row(const struct life_row *row)
{
	uint64_t asked = 0;

	for (size_t i = 0; i < ROW_FACTS && row->all[i]; i++)
		asked |= fact_bit(row->all[i]);
	return asked;
}

static uint64_t asked_by(const struct life_table *table)
{
	uint64_t asked = 0;

	for (size_t i = 0; i < table->row_count; i++)
		asked |= asked_by_row(&table->rows[i]);
	return asked;
}

static size_t list_facts(uint64_t asked, enum fact list[MOST_FACTS])
{
	size_t count = 0;

	for (int fact = FACT_NONE + 1; fact < FACT_COUNT; fact++)
		if ((asked & fact_bit((enum fact)fact)) && CHECK(count < MOST_FACTS))
			list[count++] = (enum fact)fact;
	return count;
}

/* What stands in the way of an activity, and is asked by no row, stands in its way as one. */
static void walk_blocked(const struct life_table *table, enum activity blocked,
			 bool reached[MOST_ROWS])
{
	enum fact list[MOST_FACTS];
	uint64_t asked = asked_by(table);
	size_t count = list_facts(asked, list);

	for (uint64_t way = 0; way < UINT64_C(1) << count; way++) {
		uint64_t facts = activity_waits_for(blocked) & ~asked;

		for (size_t i = 0; i < count; i++)
			facts |= way >> i & 1 ? fact_bit(list[i]) : 0;
		reached[table_row(table, facts) - table->rows] = true;
	}
}

static void walk(const struct life_table *table)
{
	bool reached[MOST_ROWS] = {false};

	for (int i = 0; i < ACTIVITIES; i++)
		walk_blocked(table, (enum activity)i, reached);
	for (size_t i = 0; i < table->row_count; i++)
		if (!CHECK(reached[i]))
			tap_note("%s: row %zu never decides, because one above always does",
				 table->title, i + 1);
}

TEST(each_combination_of_facts_is_decided_and_each_row_decides_some)
{
	for (size_t t = 0; t < ARRAY_LEN(tables); t++) {
		const struct life_table *table = tables[t];
		const struct life_row *last = &table->rows[table->row_count - 1];

		if (!CHECK(table->row_count > 0 && table->row_count <= MOST_ROWS) ||
		    !CHECK(!asked_by_row(last) && last->begins == BEGIN_ANYTHING))
			tap_note("%s: the last row must ask nothing", table->title);
		else
			walk(table);
	}
}

/* ---- words */

static void check_sentence(const struct life_table *table, size_t row)
{
	const char *why = table->rows[row].why;

	for (size_t i = 0; why && i < row; i++)
		if (!CHECK(!xstrsame(why, table->rows[i].why)))
			tap_note("%s: rows %zu and %zu say the same", table->title, i + 1, row + 1);
	CHECK(!why || *why);
}

TEST(each_sentence_is_of_one_row)
{
	for (size_t t = 0; t < ARRAY_LEN(tables); t++)
		for (size_t i = 0; i < tables[t]->row_count; i++)
			check_sentence(tables[t], i);
}

TEST(each_way_is_one_of_some_row_and_has_a_clause)
{
	for (size_t t = 0; t < ARRAY_LEN(tables); t++)
		for (size_t way = 0; way < tables[t]->way_count; way++) {
			bool used = false;

			for (size_t i = 0; i < tables[t]->row_count; i++)
				used = used || tables[t]->rows[i].way == (int)way;
			CHECK(used);
			CHECK(tables[t]->ways[way] && *tables[t]->ways[way]);
		}
}

TEST(each_fact_has_a_clause_of_its_own_and_decides_something)
{
	uint64_t asked = 0;

	for (size_t t = 0; t < ARRAY_LEN(tables); t++)
		asked |= asked_by(tables[t]);
	for (int i = BEGIN_ANYTHING + 1; i < ACTIVITIES; i++)
		asked |= activity_waits_for((enum activity)i);
	for (int fact = FACT_NONE + 1; fact < FACT_COUNT; fact++) {
		const char *says = fact_says((enum fact)fact);

		if (!CHECK(says && *says) || !CHECK(asked & fact_bit((enum fact)fact)))
			tap_note("fact %d", fact);
		for (int other = FACT_NONE + 1; other < fact; other++)
			CHECK(!xstrsame(says, fact_says((enum fact)other)));
	}
	CHECK(!fact_says(FACT_NONE));
	CHECK(!fact_says(FACT_COUNT));
}

TEST(each_activity_has_a_name_and_waits_for_the_end_of_another_operation)
{
	for (int i = BEGIN_ANYTHING + 1; i < ACTIVITIES; i++) {
		const char *name = activity_name((enum activity)i);

		CHECK(name && *name);
		CHECK(activity_waits_for((enum activity)i) & fact_bit(FACT_BUSY));
		for (int other = BEGIN_ANYTHING; other < i; other++)
			CHECK(!xstrsame(name, activity_name((enum activity)other)));
	}
}

/* ---- the document */

static void add_row(struct buf *out, const struct life_table *table, const struct life_row *row)
{
	buf_addstr(out, "| ");
	for (size_t i = 0; i < ROW_FACTS && row->all[i]; i++)
		buf_addf(out, "%s%s", i ? "; " : "", fact_says(row->all[i]));
	if (row->begins)
		buf_addf(out, "; nothing stands in the way of: %s", activity_name(row->begins));
	buf_addf(out, "%s | %s | %s |\n", row->all[0] ? "" : "otherwise", table->ways[row->way],
		 row->why ? row->why : "-");
}

static void add_table(struct buf *out, const struct life_table *table)
{
	buf_addf(out,
		 "\n### %s\n\n| The first row that is true decides | drey | It says |\n"
		 "|---|---|---|\n",
		 table->title);
	for (size_t i = 0; i < table->row_count; i++)
		add_row(out, table, &table->rows[i]);
}

TEST(each_request_has_a_row_with_all_that_can_come_of_it)
{
	for (size_t i = 0; i < ASKS; i++) {
		const struct ask_row *row = &ask_rows[i];
		bool polled = row->completed && row->failed && row->unknown && row->lost &&
			      row->late && row->adopt && row->written;

		if (!CHECK(row->what && (row->answered ? !row->completed : polled)))
			tap_note("row %zu of ask_rows[]", i + 1);
		for (size_t k = 0; k < i; k++)
			CHECK(!xstrsame(row->what, ask_rows[k].what));
	}
}

static void add_asks(struct buf *out)
{
	buf_addstr(
		out,
		"\n### What drey asks and awaits\n\n| It asks for | First in the journal | Effect | Answer | Deadline |\n"
		"|---|---|---|---|---|\n");
	for (size_t i = 0; i < ASKS; i++) {
		const struct ask_row *row = &ask_rows[i];

		buf_addf(out, "| %s | ", row->what);
		buf_addf(out, row->written ? "`%s` | " : "- | ", row->written);
		buf_addf(out, "`%s`", effect_type_name(row->send));
		if (!row->answered && row->poll != row->send)
			buf_addf(out, ", `%s`", effect_type_name(row->poll));
		buf_addf(out, " | `%s` | ", event_type_name(row->answer));
		if (row->within_ms)
			buf_addf(out, "%d s%s |\n", (int)(row->within_ms / 1000),
				 row->to_accept ? ", to be accepted" : "");
		else
			buf_addstr(out, "- |\n");
	}
}

static void add_waiting(struct buf *out, enum fact fact)
{
	bool any = false, all = true;
	size_t before = out->len_bytes;

	buf_addf(out, "| %s | ", fact_says(fact));
	for (int i = BEGIN_ANYTHING + 1; i < ACTIVITIES; i++)
		all = all && (activity_waits_for((enum activity)i) & fact_bit(fact));
	for (int i = BEGIN_ANYTHING + 1; i < ACTIVITIES && !all; i++)
		if (activity_waits_for((enum activity)i) & fact_bit(fact)) {
			buf_addf(out, "%s%s", any ? ", " : "", activity_name((enum activity)i));
			any = true;
		}
	buf_addf(out, "%s |\n", all ? "everything" : "");
	if (!any && !all)
		out->len_bytes = before;
}

static void add_activities(struct buf *out)
{
	buf_addstr(out, "\n### What may begin on the running job\n\n"
			"| While this is true | this does not begin |\n|---|---|\n");
	for (int fact = FACT_NONE + 1; fact < FACT_COUNT; fact++)
		add_waiting(out, (enum fact)fact);
}

TEST(the_document_has_the_tables_of_the_code)
{
	cleanup_buf struct buf text = BUF_INIT;

	add_activities(&text);
	for (size_t t = 0; t < ARRAY_LEN(tables); t++)
		add_table(&text, tables[t]);
	add_asks(&text);
	buf_addstr(&text, "\n");
	doc_check_tables(DOC, BEGIN, END, &text);
}
