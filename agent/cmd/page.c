#include "cmd/page.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cmd/wrap.h"

#define MOST_COLUMNS 8

struct page {
	const struct term *term;
	struct shown *to;
	struct buf block;             /* a paragraph or a list item, as one line */
	size_t indent;                /* of its later lines */
	char heads[MOST_COLUMNS][64]; /* of the table that is being read */
	bool in_table, in_code;
};

static bool begins_with(const char *text, const char *start)
{
	return !strncmp(text, start, strlen(start));
}

/* [text](target) -> text; **strong** -> strong. */
static void add_inline(const char *text, size_t len, struct buf *to)
{
	const char *end = text + len;
	bool in_code = false;

	for (; text < end; text++) {
		const char *close = *text == '[' ? memchr(text, ']', (size_t)(end - text)) : NULL;

		in_code ^= *text == '`';
		if (!in_code && close && close + 1 < end && close[1] == '(') {
			const char *target = memchr(close, ')', (size_t)(end - close));

			add_inline(text + 1, (size_t)(close - text - 1), to);
			text = target ? target : close;
		} else if (!in_code && begins_with(text, "**")) {
			text++;
		} else {
			buf_addch(to, *text);
		}
	}
}

/* Only now: a link may begin on one line and end on the next one. */
static void page_flush(struct page *page)
{
	cleanup_buf struct buf text = BUF_INIT;

	if (!page->block.len_bytes)
		return;
	add_inline(buf_str(&page->block), page->block.len_bytes, &text);
	wrap_add(buf_str(&text), 0, page->indent, (size_t)page->term->width, page->to);
	shown_addf(page->to, "\n");
	buf_clear(&page->block);
	page->indent = 0;
}

static void add_heading(struct page *page, const char *line, size_t len)
{
	cleanup_buf struct buf text = BUF_INIT;
	size_t level = strspn(line, "# ");

	add_inline(line + level, len - level, &text);
	shown_begin(page->to, page->term, TERM_BOLD);
	shown_addf(page->to, "%s", buf_str(&text));
	shown_end(page->to, page->term, TERM_BOLD);
	shown_addf(page->to, "\n");
}

static void add_cell(struct page *page, int column, const char *text, size_t len)
{
	if (column)
		buf_addf(&page->block, "    %s: ", page->heads[column]);
	else
		buf_addstr(&page->block, "* ");
	buf_add(&page->block, text, len);
	page->indent = column ? 6 : 2;
	page_flush(page);
}

/* "| a | b |": the first row has the heads, the second one only lines. */
static void add_row(struct page *page, const char *line, size_t len)
{
	const char *at = line + 1, *end = line + len;
	bool heads = !page->in_table;

	page_flush(page);
	page->in_table = true;
	if (begins_with(line, "|--"))
		return;
	for (int column = 0; at < end && column < MOST_COLUMNS; column++) {
		const char *bar = memchr(at, '|', (size_t)(end - at));
		size_t size;

		bar = bar ? bar : end;
		while (at < bar && *at == ' ')
			at++;
		size = (size_t)(bar - at);
		while (size && at[size - 1] == ' ')
			size--;
		if (!heads)
			add_cell(page, column, at, size);
		else
			snprintf(page->heads[column], sizeof(page->heads[column]), "%.*s",
				 (int)size, at);
		at = bar + 1;
	}
}

/* The length of the marker of a list item, with the spaces in front and behind; 0: it is none. */
static size_t marker(const char *line)
{
	size_t in = strspn(line, " "), digits = strspn(line + in, "0123456789");

	if (begins_with(line + in, "* ") || begins_with(line + in, "- "))
		return in + 2;
	return digits && begins_with(line + in + digits, ". ") ? in + digits + 2 : 0;
}

static void add_text(struct page *page, const char *line, size_t len)
{
	size_t item = marker(line);

	if (item) {
		page_flush(page);
		page->indent = item;
		buf_add(&page->block, line, item);
	} else {
		item = strspn(line, " ");
		if (page->block.len_bytes)
			buf_addch(&page->block, ' ');
	}
	buf_add(&page->block, line + item, len - item);
}

static void page_add_line(struct page *page, const char *line, size_t len)
{
	bool row = *line == '|' && !page->in_code;

	if (!row)
		page->in_table = false;
	if (begins_with(line + strspn(line, " "), "```")) {
		page_flush(page);
		page->in_code = !page->in_code;
	} else if (page->in_code) {
		shown_addf(page->to, "    %.*s\n", (int)len, line);
	} else if (row) {
		add_row(page, line, len);
	} else if (*line == '#') {
		page_flush(page);
		add_heading(page, line, len);
	} else if (!len) {
		page_flush(page);
		shown_addf(page->to, "\n");
	} else {
		add_text(page, line, len);
	}
}

void page_add(const char *markdown, const struct term *term, struct shown *ret_text)
{
	struct page page = {.term = term, .to = ret_text};

	while (*markdown) {
		size_t len = strcspn(markdown, "\n");

		page_add_line(&page, markdown, len);
		markdown += len;
		markdown += *markdown == '\n';
	}
	page_flush(&page);
	buf_release(&page.block);
}
