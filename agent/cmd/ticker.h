/*
 * ticker - progress of a command that reads storage: on a terminal, after TICKER_MS and then every
 * TICKER_MS, one line on cli->err about what is being done and for how long. Silent in scripts.
 *
 * Life cycle: ticker_new() -> ticker_set()... -> ticker_free() before the result is printed. The
 * lines come from a separate thread, so that a store that never answers does not silence it.
 */
#ifndef DREY_CMD_TICKER_H
#define DREY_CMD_TICKER_H

#include "cmd/cli.h"

#define TICKER_MS 2000

struct ticker; /* opaque */

/* NULL if cli->err is not a terminal; all functions accept that. */
struct ticker *ticker_new(const struct cli *cli);

/* What is being done from now on: "reading the checkpoints". Any thread. */
void ticker_set(struct ticker *ticker, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

void ticker_free(struct ticker *ticker);

#endif
