/*
 * What `drey status` prints, compared with tests/golden/status: each document there at several widths,
 * with and without colour. `make golden` writes what is printed now.
 */
#include <inttypes.h>
#include <string.h>

#include "base/fs.h"
#include "base/json.h"
#include "base/mem.h"
#include "cmd/status_text.h"
#include "tests/unit/golden.h"
#include "tests/unit/tap.h"

#define NOW INT64_C(1795662720000) /* 2026-11-26 03:12:00 UTC */

static const char *const names[] = {"running", "holding",   "waiting", "suspended",
				    "failed",  "candidate", "hostile", "fresh"};
static const struct {
	const char *name;
	struct status_layout layout;
} layouts[] = {
	{"80", {.term = {.width = 80}, .now_unix_ms = NOW}},
	{"80.colour", {.term = {.width = 80, .colour = true}, .now_unix_ms = NOW}},
	{"160", {.term = {.width = 160}, .now_unix_ms = NOW}},
	{"160.colour", {.term = {.width = 160, .colour = true}, .now_unix_ms = NOW}},
	{"20", {.term = {.width = 20}, .now_unix_ms = NOW}},
	{"file", {.term = {0}, .now_unix_ms = NOW}},
	{"wide", {.term = {.width = 160}, .wide = true, .now_unix_ms = NOW}},
};

static struct json *read_document(const char *name)
{
	cleanup_free char *path = xasprintf("tests/golden/status/%s.json", name);
	cleanup_buf struct buf text = BUF_INIT;
	struct json *doc;

	CHECK(fs_read(path, 1 << 20, &text, NULL) == 0);
	doc = json_parse(buf_str(&text), text.len_bytes, 1 << 20, NULL);
	CHECK(doc != NULL);
	return doc;
}

TEST(the_status_looks_as_it_is_kept)
{
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		cleanup_json struct json *doc = read_document(names[i]);
		struct status_view view;

		status_view_read(doc, &view);
		for (size_t k = 0; k < ARRAY_LEN(layouts); k++) {
			cleanup_shown struct shown text = {0};
			cleanup_free char *file =
				xasprintf("status/%s.%s.txt", names[i], layouts[k].name);

			status_text(&view, &layouts[k].layout, &text);
			golden_check(file, shown_str(&text));
		}
	}
}

/* Whatever a job is called and Flink says: no escape, no control character, no broken UTF-8. */
TEST(nothing_in_a_document_reaches_the_terminal)
{
	cleanup_json struct json *doc = read_document("hostile");
	struct status_view view;

	status_view_read(doc, &view);
	for (size_t k = 0; k < ARRAY_LEN(layouts); k++) {
		cleanup_shown struct shown text = {0};

		status_text(&view, &layouts[k].layout, &text);
		CHECK(!strstr(shown_str(&text), "\x1b[2J"));
		CHECK(!strstr(shown_str(&text), "\x1b]"));
		CHECK(!strstr(shown_str(&text), "\xe2\x80\xae"));
		CHECK(!strchr(shown_str(&text), '\r') && !strchr(shown_str(&text), '\a'));
		CHECK_HAS(shown_str(&text), "\\x1b");
		/* a forged row would stand at the beginning of a line */
		CHECK(!strstr(shown_str(&text), "\n  desired        forged"));
	}
}

TEST(the_phase_has_its_colour)
{
	static const struct {
		const char *doc;
		enum term_colour colour;
	} rows[] = {
		{"{\"phase\":\"Running\"}", TERM_GREEN},
		{"{\"phase\":\"Running\",\"conditions\":[{\"type\":\"Ready\",\"status\":\"False\"}]}",
		 TERM_YELLOW},
		{"{\"phase\":\"Holding\"}", TERM_RED},
		{"{\"phase\":\"Failed\"}", TERM_RED},
		{"{\"phase\":\"Finished\"}", TERM_GREEN},
		{"{\"phase\":\"Suspended\"}", TERM_CYAN},
		{"{\"phase\":\"Cancelled\"}", TERM_CYAN},
		{"{\"phase\":\"Launching\"}", TERM_YELLOW},
		{"{\"phase\":\"Standby\"}", TERM_GREEN},
		{"{\"phase\":\"\\u001b[5m\"}", TERM_YELLOW},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		cleanup_json struct json *doc =
			json_parse(rows[i].doc, strlen(rows[i].doc), 4096, NULL);
		struct status_view view;

		status_view_read(doc, &view);
		CHECK_INT(status_colour(&view), ==, rows[i].colour);
	}
}

TEST(a_phase_lasts_since_its_first_transition_in_a_row)
{
#define AT(ms, text) "{\"unixMs\":" #ms ",\"text\":\"" text "\"}"
	static const struct {
		const char *transitions;
		int64_t since;
	} rows[] = {
		{"[]", 0},
		{"[" AT(1, "Launching: x") "," AT(2, "Running: x") "]", 2},
		{"[" AT(1, "Running: a") "," AT(2, "Holding: x") "," AT(3, "Running: b") "," AT(
			 4, "Running: c") "]",
		 3},
		{"[" AT(1, "Running: a") "," AT(2, "skipped: s3://a, it is older") "]", 1},
		{"[" AT(1, "Running: a") "," AT(2, "no colon") "," AT(3, "Running: b") "]", 1},
		{"[" AT(1, "Running: a") "," AT(2, "Stopping: b") "]", 0},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		cleanup_free char *text = xasprintf("{\"phase\":\"Running\",\"transitions\":%s}",
						    rows[i].transitions);
		cleanup_json struct json *doc = json_parse(text, strlen(text), 4096, NULL);
		struct status_view view;

		status_view_read(doc, &view);
		CHECK_INT(view.phase_unix_ms, ==, rows[i].since);
	}
}

TEST(the_first_line_dates_what_its_reason_is_about)
{
	static const struct {
		const char *phase, *ready, *head;
	} rows[] = {
		{"Running", "False",
		 "(10 min), not ready since 03:11 UTC (54 s): 0 of 2 tasks run"},
		{"Running", "True", "(10 min): 0 of 2 tasks run"},
		{"Stopping", "False", "(10 min): 0 of 2 tasks run"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		cleanup_free char *text = xasprintf(
			"{\"application\":\"orders\",\"phase\":\"%s\",\"reason\":\"0 of 2 tasks run\","
			"\"conditions\":[{\"type\":\"Ready\",\"status\":\"%s\",\"lastTransitionTime\":\"2026-11-26T03:11:06.000Z\"}],"
			"\"transitions\":[{\"unixMs\":%" PRId64 ",\"text\":\"%s: x\"}]}",
			rows[i].phase, rows[i].ready, NOW - 600000, rows[i].phase);
		cleanup_json struct json *doc = json_parse(text, strlen(text), 1 << 20, NULL);
		const struct status_layout layout = {.term = {0}, .now_unix_ms = NOW};
		cleanup_shown struct shown to = {0};
		struct status_view view;

		status_view_read(doc, &view);
		status_text(&view, &layout, &to);
		CHECK_HAS(shown_str(&to), rows[i].head);
	}
}

int main(int argc, char **argv)
{
	return tap_main(argc, argv);
}

TEST(lost_state_has_a_row_until_it_is_settled)
{
	static const char text_of[] =
		"{\"application\":\"orders\",\"phase\":\"Running\",\"stateLoss\":{\"lost\":{\"path\":\"file:/cp/chk-8\"},"
		"\"reason\":\"shared/1 is missing\",\"totalMs\":182000,\"launch\":7,\"unixMs\":1795662600000}}";
	cleanup_json struct json *doc = json_parse(text_of, strlen(text_of), 1 << 20, NULL);
	const struct status_layout layout = {.term = {0}, .now_unix_ms = NOW};
	cleanup_shown struct shown text = {0};
	struct status_view view;

	status_view_read(doc, &view);
	status_text(&view, &layout, &text);
	CHECK_HAS(shown_str(&text), "state lost");
	CHECK_HAS(
		shown_str(&text),
		"3 min 2 s, up to file:/cp/chk-8, 2 min ago: shared/1 is missing; `drey acknowledge`");
}

/* A custom resource says what its writer wants. */
TEST(no_sum_of_a_document_overflows)
{
	static const char text_of[] =
		"{\"application\":\"orders\",\"phase\":\"Running\",\"scale\":["
		"{\"kind\":\"Deployment\",\"name\":\"a\",\"replicas\":0,\"recorded\":9223372036854775807},"
		"{\"kind\":\"Deployment\",\"name\":\"b\",\"replicas\":0,\"recorded\":9223372036854775807}]}";
	cleanup_json struct json *doc = json_parse(text_of, strlen(text_of), 1 << 20, NULL);
	struct status_view view;

	status_view_read(doc, &view);
	CHECK_INT(view.scale_objects, ==, 2);
	CHECK_INT(view.scale_back, ==, INT64_MAX);
}
