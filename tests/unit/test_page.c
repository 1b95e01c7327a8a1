#include <string.h>

#include "base/mem.h"
#include "cmd/page.h"
#include "core/report/cause.h"
#include "core/report/runbook.h"
#include "tests/unit/tap.h"

static const struct term narrow = {.width = 20}, colour = {.width = 80, .colour = true};

TEST(markdown_becomes_lines)
{
	static const struct {
		const char *page, *want;
	} rows[] = {
		{"# Title\n\nOne sentence.\n", "Title\n\nOne sentence.\n"},
		{"a paragraph of\ntwo lines that is broken anew\n",
		 "a paragraph of two\nlines that is broken\nanew\n"},
		{"* one item that is\n  long\n* another\n",
		 "* one item that is\n  long\n* another\n"},
		{"1. first\n2. second that is too long\n",
		 "1. first\n2. second that is\n   too long\n"},
		{"```sh\na command that is longer than the width\n```\n",
		 "    a command that is longer than the width\n"},
		{"```sh\n| no table |\n[a](b)\n```\n", "    | no table |\n    [a](b)\n"},
		{"see [Other](Other.md) and `[not](a) link`, **strong**\n",
		 "see Other and\n`[not](a) link`,\nstrong\n"},
		{"| Way out | What it loses |\n|---|---|\n| fix it | nothing |\n| `a b` now | all |\n",
		 "* fix it\n    What it loses:\n      nothing\n* `a b` now\n    What it loses:\n      all\n"},
		{"", ""},
		{"no end", "no end\n"},
		{"[broken](link\n[too\n", "broken(link [too\n"},
		{"see [a\nlink](to.md) now\n", "see a link now\n"},
		{"* item\n  ```sh\n  code\n  ```\n", "* item\n      code\n"},
		{"|", ""},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		cleanup_shown struct shown text = {0};

		page_add(rows[i].page, &narrow, &text);
		CHECK_STR(shown_str(&text), rows[i].want);
	}
}

TEST(headings_are_bold_where_there_is_colour)
{
	cleanup_shown struct shown text = {0};

	page_add("## What it means\n", &colour, &text);
	CHECK_STR(shown_str(&text), "\x1b[1mWhat it means\x1b[0m\n");
}

/* What a person needs at night: each page has its headings, and no Markdown is left over. */
TEST(every_page_can_be_read)
{
	static const struct term wide = {.width = 100};

	for (const struct embedded *page = runbook_pages; page->name; page++) {
		cleanup_shown struct shown text = {0};

		page_add(page->text, &wide, &text);
		tap_note("%s", page->name);
		CHECK_HAS(shown_str(&text), "\nThe ways out\n");
		CHECK(!strstr(shown_str(&text), "]("));
		CHECK(!strstr(shown_str(&text), "|---"));
		CHECK(!strstr(shown_str(&text), "```"));
	}
}

int main(int argc, char **argv)
{
	return tap_main(argc, argv);
}
