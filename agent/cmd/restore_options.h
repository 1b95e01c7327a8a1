/* restore_options - what a resume is to start from: the options of `drey resume` and `kubectl drey resume`. */
#ifndef DREY_CMD_RESTORE_OPTIONS_H
#define DREY_CMD_RESTORE_OPTIONS_H

#include "cmd/cli.h"
#include "core/journal/journal.h"

#define RESTORE_FROM_HELP                                                                          \
	"start from exactly this snapshot: a directory with _metadata,\nor its URI; used once"
#define RESTORE_OPTIONS(letter)                                                                                           \
	{"from", 'f', "PATH", RESTORE_FROM_HELP, false},                                                                  \
		{"empty", 0, NULL, "deliberately start without any state; used once", false},                             \
		{"allow-non-restored-state", letter, NULL,                                                                \
		 "leave out state of operators that the job no longer has, of the\nnewest state or of --from; used once", \
		 false},                                                                                                  \
		CLI_YES,                                                                                                  \
	{                                                                                                                 \
		"foreign", 0, NULL, "with --from: deliberately accept a snapshot of another job",                         \
			false                                                                                             \
	}

/* CLI_OK: the caller frees token and path; kind RESTORE_NONE: none of the options was given. CLI_USAGE with a
 * message: they contradict each other. CLI_FAILED: no token could be drawn. */
int restore_options(const struct cli *cli, struct restore_request *ret);

#endif
