#include "base/log.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/json.h"
#include "base/mem.h"
#include "tap.h"

/* A log that writes into a pipe, and the last that was read from it. */
struct rig {
	int fds[2];
	struct log *log;
	char text[3 * LOG_LINE_BYTES];
};

static struct rig rig_new(enum log_format format)
{
	struct rig rig = {{-1, -1}, NULL, ""};

	if (pipe(rig.fds))
		abort();
	rig.log = log_new(rig.fds[1], format, LOG_INFO);
	return rig;
}

static void rig_free(struct rig *rig)
{
	log_free(rig->log);
	close(rig->fds[0]);
	close(rig->fds[1]);
}
#define cleanup_rig __attribute__((cleanup(rig_free)))

static const char *lines(struct rig *rig)
{
	ssize_t got = 0;

	fcntl(rig->fds[0], F_SETFL, O_NONBLOCK);
	got = read(rig->fds[0], rig->text, sizeof(rig->text) - 1);
	rig->text[got > 0 ? got : 0] = '\0';
	return rig->text;
}

static struct json *one_document(const char *text)
{
	const char *end = strchr(text, '\n');

	CHECK(end && end[1] == '\0');
	return end ? json_parse(text, (size_t)(end - text), LOG_LINE_BYTES, NULL) : NULL;
}

TEST(writes_one_json_object_a_line)
{
	cleanup_rig struct rig rig = rig_new(LOG_AUTO);
	cleanup_json struct json *doc = NULL;

	log_set_context(rig.log, "app", "orders");
	log_info(rig.log, "savepoint completed", LOG_STR("path", "file:///a"),
		 LOG_I64("size_bytes", INT64_MAX), LOG_BOOL("verified", true),
		 LOG_STR("none", NULL));
	doc = one_document(lines(&rig));
	CHECK_STR(json_str(doc, "level"), "info");
	CHECK_STR(json_str(doc, "msg"), "savepoint completed");
	CHECK_STR(json_str(doc, "path"), "file:///a");
	CHECK_STR(json_str(doc, "app"), "orders");
	CHECK_INT(json_i64_or(doc, "size_bytes", 0), ==, INT64_MAX);
	CHECK(json_bool_or(doc, "verified", false));
	CHECK(json_get(doc, "none") && json_kind(json_get(doc, "none")) == JSON_NULL);
	CHECK_INT(strlen(json_str(doc, "time") ? json_str(doc, "time") : ""), ==, 24);
}

TEST(a_text_line_is_short_and_quotes_what_needs_it)
{
	cleanup_rig struct rig rig = rig_new(LOG_TEXT);

	log_set_context(rig.log, "app", "orders");
	log_warn(rig.log, "cannot \x1b[31m", LOG_STR("a", "plain"), LOG_STR("b", "two words"),
		 LOG_STR("c", ""), LOG_I64("n", -1));
	CHECK_HAS(lines(&rig), " warn  cannot \\u001b[31m a=plain b=\"two words\" c=\"\" n=-1\n");
	CHECK(!strstr(rig.text, "orders"));
}

TEST(a_line_cannot_be_forged)
{
	cleanup_rig struct rig rig = rig_new(LOG_JSON);
	cleanup_json struct json *doc = NULL;

	log_error(rig.log, "failed", LOG_STR("why", "x\n{\"level\":\"info\"}\r\x1b[2J\xff"));
	doc = one_document(lines(&rig));
	CHECK_STR(json_str(doc, "why"), "x\n{\"level\":\"info\"}\r\x1b[2J\xEF\xBF\xBD");
	CHECK(!strchr(rig.text, '\x1b'));
}

TEST(a_long_line_is_cut_but_stays_valid)
{
	cleanup_rig struct rig rig = rig_new(LOG_JSON);
	cleanup_json struct json *doc = NULL;
	char large[20000];

	large[0] = 'x'; /* so that an even cut is inside a character */
	for (size_t i = 1; i < sizeof(large) - 2; i += 2)
		memcpy(large + i, "\xc3\xa4", 2);
	large[sizeof(large) - 1] = '\0';
	log_info(rig.log, "large", LOG_STR("one", large), LOG_STR("two", large),
		 LOG_STR("three", "short"));
	CHECK_INT(strlen(lines(&rig)), <=, LOG_LINE_BYTES);
	CHECK_INT(strlen(rig.text), >, LOG_LINE_BYTES / 4);
	CHECK(!strstr(rig.text, "\xEF\xBF\xBD"));
	doc = one_document(rig.text);
	CHECK(json_bool_or(doc, "cut", false));
	CHECK_STR(json_str(doc, "three"), "short");
}

TEST(levels_below_the_chosen_one_are_not_written)
{
	cleanup_rig struct rig rig = rig_new(LOG_JSON);

	log_debug(rig.log, "quiet");
	CHECK_STR(lines(&rig), "");
	log_debug(NULL, "nobody");
}

TEST(an_error_has_its_text_and_kind)
{
	cleanup_rig struct rig rig = rig_new(LOG_JSON);
	struct err err = {0};

	err_set(&err, ERR_BUSY, 0, "port 8081 is taken");
	log_error(rig.log, "cannot start", LOG_ERR(&err));
	CHECK_HAS(lines(&rig), "\"error\":\"port 8081 is taken\",\"error_kind\":\"busy\"");
}

TEST(a_reader_that_sleeps_costs_lines_not_time)
{
	cleanup_rig struct rig rig = rig_new(LOG_JSON);
	char text[1000];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	alarm(20); /* a write that blocks ends the test */
	for (int i = 0; i < 200; i++)
		log_info(rig.log, "flood", LOG_STR("text", text));
	alarm(0);
	/* the shared description was left as it was */
	CHECK(!(fcntl(rig.fds[1], F_GETFL) & O_NONBLOCK));
	while (*lines(&rig))
		;
	log_info(rig.log, "after");
	CHECK_HAS(lines(&rig), "\"dropped\":1");
	log_info(rig.log, "later");
	CHECK(!strstr(lines(&rig), "dropped"));
}

TEST(a_socket_that_nobody_reads_does_not_block)
{
	char text[LOG_LINE_BYTES] = "";
	int fds[2];
	struct log *log;

	CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), ==, 0);
	log = log_new(fds[1], LOG_JSON, LOG_INFO);
	alarm(20);
	for (int i = 0; i < 20000; i++)
		log_info(log, "flood", LOG_STR("text", "0123456789012345678901234567890123456789"));
	alarm(0);
	while (recv(fds[0], text, sizeof(text) - 1, MSG_DONTWAIT) > 0)
		;
	log_info(log, "after");
	CHECK_INT(recv(fds[0], text, sizeof(text) - 1, MSG_DONTWAIT), >, 0);
	CHECK_HAS(text, "\"dropped\":");
	close(fds[0]);
	log_info(log, "no reader is left");
	log_free(log);
	close(fds[1]);
}

int main(int argc, char **argv)
{
	signal(SIGPIPE, SIG_IGN);
	return tap_main(argc, argv);
}
