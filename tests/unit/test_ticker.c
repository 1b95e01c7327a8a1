#include "cmd/ticker.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "tap.h"

#define LIMIT_MS 60000

static const struct cli_command command = {.name = "verify"};

/* A terminal: what is written to cli.err is read from fd. */
struct terminal {
	int fd;
	struct cli cli;
	FILE *err;
	char heard[2048];
	size_t heard_bytes;
};

static bool terminal_open(struct terminal *terminal)
{
	char name[64];

	*terminal = (struct terminal){.cli.command = &command};
	terminal->fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (terminal->fd < 0 || grantpt(terminal->fd) < 0 || unlockpt(terminal->fd) < 0 ||
	    ptsname_r(terminal->fd, name, sizeof(name)) != 0 ||
	    !(terminal->err = fopen(name, "w"))) {
		tap_skip("no terminals here");
		return false;
	}
	terminal->cli.err = out_of(terminal->err);
	return true;
}

static void terminal_close(struct terminal *terminal)
{
	fclose(terminal->err);
	close(terminal->fd);
}

static bool hears(struct terminal *terminal, const char *text)
{
	struct pollfd fd = {terminal->fd, POLLIN, 0};

	while (!strstr(terminal->heard, text) && poll(&fd, 1, LIMIT_MS) == 1) {
		ssize_t got = read(terminal->fd, terminal->heard + terminal->heard_bytes,
				   sizeof(terminal->heard) - 1 - terminal->heard_bytes);

		if (got <= 0)
			return false;
		terminal->heard_bytes += (size_t)got;
	}
	return strstr(terminal->heard, text) != NULL;
}

TEST(a_terminal_hears_what_goes_on_and_for_how_long)
{
	struct terminal terminal;
	struct ticker *ticker;

	if (!terminal_open(&terminal))
		return;
	ticker = ticker_new(&terminal.cli);
	CHECK(ticker != NULL);
	ticker_set(ticker, "looking at %s", "s3://a/\033[2J");
	CHECK(hears(&terminal, "drey verify: looking at s3://a/\\x1b[2J ("));
	ticker_set(ticker, "reading");
	CHECK(hears(&terminal, "drey verify: reading ("));
	ticker_free(ticker);
	terminal_close(&terminal);
}

TEST(what_is_soon_done_says_nothing)
{
	struct terminal terminal;

	if (!terminal_open(&terminal))
		return;
	ticker_free(ticker_new(&terminal.cli));
	out_put(terminal.cli.err, "end");
	out_flush(terminal.cli.err);
	CHECK(hears(&terminal, "end"));
	CHECK_STR(terminal.heard, "end");
	terminal_close(&terminal);
}

TEST(a_script_hears_nothing)
{
	FILE *null = fopen("/dev/null", "w");
	struct cli cli = {.command = &command, .err = out_of(null)};
	struct ticker *ticker = ticker_new(&cli);

	CHECK(ticker == NULL);
	ticker_set(ticker, "reading");
	ticker_free(ticker);
	fclose(null);
}
