/* Each deadline of the life cycle has one row that says what is done then, and the next one is found. */
#include <ctype.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "core/lifecycle/lifecycle_timers.h"
#include "doc_file.h"

#define NOW_MS  1000
#define DUE_MS  5000
#define HEADERS 3

/* Those that have members of the type due_time. A name of a struct inside is not read: names are compared by their end. */
static const char *const headers[HEADERS] = {"agent/core/lifecycle/lifecycle.h",
					     "agent/core/lifecycle/hang.h",
					     "agent/core/lifecycle/transition_progress.h"};

static bool ends_with(const char *text, const char *end, size_t end_len)
{
	size_t len = strlen(text);

	return len >= end_len && !strncmp(text + len - end_len, end, end_len) &&
	       (len == end_len || text[len - end_len - 1] == '.');
}

static size_t count_rows(struct lifecycle *life, const char *member, size_t len)
{
	due_time *deadline;
	const char *name;
	size_t count = 0;

	for (size_t i = 0; timers_row(i, life, &name, &deadline); i++)
		count += !member || ends_with(name, member, len);
	return count;
}

/* The names of one declaration, up to its semicolon; comments between them are passed over. */
static size_t check_declaration(struct lifecycle *life, const char *at)
{
	size_t count = 0;

	while (*at && *at != ';') {
		size_t len = 0;

		if (!strncmp(at, "/*", 2)) {
			at = strstr(at, "*/") + 2;
			continue;
		}
		while (isalnum((unsigned char)at[len]) || at[len] == '_')
			len++;
		if (len && !CHECK(count_rows(life, at, len) > 0))
			tap_note("%.*s has no row in lifecycle_timers.c", (int)len, at);
		count += len > 0;
		at += len ? len : 1;
	}
	return count;
}

TEST(each_member_that_is_a_deadline_has_a_row_and_each_row_a_member)
{
	struct lifecycle life = {.now_ms = NOW_MS};
	size_t members = 0;

	for (size_t i = 0; i < HEADERS; i++) {
		cleanup_buf struct buf text = BUF_INIT;
		const char *at;

		if (!doc_read(headers[i], &text))
			return;
		for (at = buf_str(&text); (at = strstr(at, "\tdue_time ")); at++)
			members += check_declaration(&life, at + strlen("\tdue_time "));
	}
	CHECK_INT(members, ==, count_rows(&life, NULL, 0));
}

static void begin(struct lifecycle *life, const struct lifecycle_config *config)
{
	struct rng rng = {.state = {1}};
	struct journal journal;

	journal_init(&journal, "app");
	lifecycle_init(life, config, &journal, &rng);
	life->now_ms = NOW_MS;
}

static bool always_wakes(const char *name)
{
	return strcmp(name, "savepoint_ms") != 0 && strcmp(name, "full_checkpoint_ms") != 0;
}

TEST(each_of_them_is_what_drey_is_woken_up_for)
{
	const struct lifecycle_config config = {.journal_check_ms = 30000};
	struct lifecycle life;
	due_time *deadline;
	const char *name;

	begin(&life, &config);
	CHECK_INT(lifecycle_deadline_ms(&life), ==, -1);
	for (size_t i = 0; timers_row(i, &life, &name, &deadline); i++) {
		*deadline = DUE_MS;
		/* what may not begin now is no reason: nothing runs here */
		if (!CHECK_INT(lifecycle_deadline_ms(&life), ==, always_wakes(name) ? DUE_MS : -1))
			tap_note("%s", name);
		*deadline = 0;
	}
	lifecycle_release(&life);
}

static void set_all(struct lifecycle *life, int64_t at_ms)
{
	due_time *deadline;
	const char *name;

	for (size_t i = 0; timers_row(i, life, &name, &deadline); i++)
		*deadline = at_ms;
}

TEST(no_deadline_has_two_rows_and_the_earliest_counts)
{
	const struct lifecycle_config config = {.journal_check_ms = 30000};
	struct lifecycle life;
	due_time *deadline, *other;
	const char *name;

	begin(&life, &config);
	for (size_t i = 0; timers_row(i, &life, &name, &deadline); i++) {
		for (size_t k = 0; k < i; k++)
			CHECK(timers_row(k, &life, &name, &other) && other != deadline);
		set_all(&life, DUE_MS + 1);
		*deadline = DUE_MS;
		timers_row(i, &life, &name, &deadline);
		CHECK_INT(lifecycle_deadline_ms(&life), ==, DUE_MS + !always_wakes(name));
	}
	lifecycle_release(&life);
}
