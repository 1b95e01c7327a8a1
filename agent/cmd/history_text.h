/*
 * history_text - the launches of an application, from its journal: what each started from and why, how long
 * it ran, how it ended, and who had asked for it. Pure.
 *
 * The document: {application, launches [{number, jobId, generation, flinkVersion, requestToken, writer,
 * restorePoint, intendedUnixMs, startedUnixMs, verifiedUnixMs, provenUnixMs, endedUnixMs, waitStatus,
 * mismatched, neverStarted, lastCheckpoint, why}], transitions [{unixMs, text}]}, oldest first.
 */
#ifndef DREY_CMD_HISTORY_TEXT_H
#define DREY_CMD_HISTORY_TEXT_H

#include <stdint.h>

#include "cmd/shown.h"
#include "cmd/term.h"
#include "core/journal/journal.h"

struct history_layout {
	struct term term;
	int64_t now_unix_ms;
	size_t launches;    /* how many of the newest */
	size_t transitions; /* how many of the newest */
	bool wide;          /* also who decided it, and its newest checkpoint */
};

/* Append the newest launches, newest first, and the newest transitions. */
void history_text(const struct journal *journal, const struct history_layout *layout,
		  struct shown *ret_text);

/* The caller frees with json_free(). */
struct json *history_document(const struct journal *journal);

#endif
