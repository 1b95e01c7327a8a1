/*
 * progress - what a command waits for: on a terminal one line, rewritten in place, with the time and with
 * what Flink says of the snapshot that it takes; elsewhere a line whenever drey says something else.
 *
 * Life cycle: progress_new() -> progress_show() after each status -> progress_free() before anything else
 * is printed. It asks Flink itself (cmd/status_vertices.h does, too), with a limit of PROGRESS_ASK_MS; the
 * agent is not asked for it, and what Flink does not answer is left out.
 */
#ifndef DREY_CMD_PROGRESS_H
#define DREY_CMD_PROGRESS_H

#include "base/buf.h"
#include "cmd/cli.h"
#include "cmd/status_view.h"

#define PROGRESS_ASK_MS   1000
#define PROGRESS_QUIET_MS 2000 /* shorter waits are not reported */

struct progress; /* opaque */

/* `what`: "the savepoint". Both are borrowed until progress_free(). */
struct progress *progress_new(const struct cli *cli, const char *what);

/* `now` is what the command waits for, NULL: phase and reason; `lost`: drey does not respond. */
void progress_show(struct progress *progress, const struct status_view *view, const char *now,
		   bool lost);

void progress_free(struct progress *progress); /* NULL is allowed */

/* ---- the line; pure ---- */

struct progress_facts {
	const char *command, *what; /* "suspend", "phase Suspended" */
	const char *doing;          /* harmless or not: "Stopping: stop (suspend) in progress" */
	int64_t elapsed_ms;
	int64_t acknowledged, subtasks; /* of the snapshot in progress; subtasks 0 = not known */
	int64_t size_bytes;             /* 0 = not known */
};

/* Append the line, cut to `width` columns (0: whole), without a newline. */
void progress_line(const struct progress_facts *facts, size_t width, struct shown *ret_line);

#endif
