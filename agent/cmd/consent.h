/*
 * consent - before something is changed: --dry-run, and the question of the commands that lose something.
 */
#ifndef DREY_CMD_CONSENT_H
#define DREY_CMD_CONSENT_H

#include <stdbool.h>

#include "cmd/cli.h"

/* --dry-run was given; false for a command without that option. */
bool consent_dry_run(const struct cli *cli);

/* With --dry-run: a line on cli->out, "dry run: would WOULD; nothing was changed". Returns CLI_OK. */
int consent_would(const struct cli *cli, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Ask "QUESTION [y/N]" where a person sits: standard input and cli->err are terminals, and --yes was not
 * given. CLI_OK: yes, or there is no person to ask (scripts work as before). CLI_FAILED with a message: no.
 */
int consent_ask(const struct cli *cli, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Of drey abort and kubectl drey abort. */
#define CONSENT_ABORT                                                                              \
	"Give the transition up? After the cut this version starts again from before it, and writes records twice."

/* Does this answer mean yes? Pure. */
bool consent_is_yes(const char *answer);

#endif
