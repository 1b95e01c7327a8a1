/* What `drey history` prints of kept journals, compared with tests/golden/history. */
#include <string.h>

#include "base/fs.h"
#include "base/json.h"
#include "base/mem.h"
#include "cmd/history_text.h"
#include "tests/unit/golden.h"
#include "tests/unit/tap.h"

#define NOW INT64_C(1795662720000) /* 2026-11-26 03:12:00 UTC */

static const struct history_layout at_80 = {.term = {.width = 80, .colour = true},
					    .now_unix_ms = NOW,
					    .launches = 10,
					    .transitions = 10};
static const struct history_layout at_160 = {
	.term = {.width = 160}, .now_unix_ms = NOW, .launches = 3, .transitions = 2};
static const struct history_layout wide = {
	.now_unix_ms = NOW, .launches = 3, .transitions = 2, .wide = true};

static void read_journal(const char *name, struct journal *journal)
{
	cleanup_free char *path = xasprintf("tests/fixtures/journal/0.1.0-%s.json", name);
	cleanup_buf struct buf text = BUF_INIT;

	CHECK(fs_read(path, 1 << 20, &text, NULL) == 0);
	CHECK(journal_decode(buf_str(&text), text.len_bytes, journal, NULL) == 0);
}

TEST(the_history_looks_as_it_is_kept)
{
	static const char *const names[] = {"fresh", "failed", "many-launches", "restore-mismatch"};

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		cleanup_shown struct shown narrow = {0}, broad = {0}, more = {0};
		cleanup_free char *file_80 = xasprintf("history/%s.80.txt", names[i]);
		cleanup_free char *file_160 = xasprintf("history/%s.160.txt", names[i]);
		cleanup_free char *file_wide = xasprintf("history/%s.wide.txt", names[i]);
		struct journal journal;

		read_journal(names[i], &journal);
		history_text(&journal, &at_80, &narrow);
		golden_check(file_80, shown_str(&narrow));
		history_text(&journal, &at_160, &broad);
		golden_check(file_160, shown_str(&broad));
		history_text(&journal, &wide, &more);
		golden_check(file_wide, shown_str(&more));
		journal_release(&journal);
	}
}

TEST(the_document_says_why)
{
	cleanup_json struct json *doc = NULL;
	const struct json *last;
	struct journal journal;

	read_journal("failed", &journal);
	doc = history_document(&journal);
	last = json_at(json_get(doc, "launches"), journal.launch_count - 1);
	CHECK_INT(json_i64_or(last, "number", 0), ==, 5);
	CHECK_HAS(json_str(last, "why"), "rule 6: newest usable state");
	CHECK_HAS(json_str(json_get(last, "restorePoint"), "path"), "savepoint-37f5ba");
	CHECK_INT(json_len(json_get(doc, "transitions")), ==, journal.log_count);
	/* the log keeps the last 50 lines only */
	journal_release(&journal);
	json_free(doc);
	read_journal("many-launches", &journal);
	doc = history_document(&journal);
	CHECK(json_str(json_at(json_get(doc, "launches"), 0), "why") == NULL);
	journal_release(&journal);
}

TEST(a_hostile_journal_harms_no_terminal)
{
	cleanup_shown struct shown text = {0};
	struct journal journal;

	journal_init(&journal, "orders");
	journal_add_log(&journal, NOW, "Holding: \x1b[2J\n  launch 9       forged");
	history_text(&journal, &at_80, &text);
	CHECK(!strchr(shown_str(&text), '\x1b'));
	CHECK(!strstr(shown_str(&text), "\n  launch 9"));
	CHECK_HAS(shown_str(&text), "launches       none\n");
	journal_release(&journal);
}

int main(int argc, char **argv)
{
	return tap_main(argc, argv);
}
