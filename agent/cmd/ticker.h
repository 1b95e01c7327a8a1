/*
 * ticker - signs of life of a command that reads storage: on a terminal, after TICKER_MS and then
 * every TICKER_MS, one line on cli->err that says what is going on and for how long. In a script
 * nobody waits, and nothing is said.
 *
 * Life cycle: ticker_new() -> ticker_say()... -> ticker_free() before the result is printed. The
 * lines come from a thread of its own, so that a store which never answers does not silence it.
 */
#ifndef DREY_CMD_TICKER_H
#define DREY_CMD_TICKER_H

#include "cmd/cli.h"

#define TICKER_MS 2000

struct ticker; /* opaque */

/* NULL when cli->err is no terminal; all functions take that. */
struct ticker *ticker_new(const struct cli *cli);

/* What is going on from now on: "reading the checkpoints". Any thread. */
void ticker_say(struct ticker *ticker, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

void ticker_free(struct ticker *ticker);

#endif
