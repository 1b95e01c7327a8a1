/*
 * gate_file - the two files by which drey and the gates of one launch of a job speak ("The files of
 * the gate" in docs/reference/formats.md): the text of order.json, and what report.json says. Pure.
 * It is in core, and not in format, because it adds up all gates of the job as gate.h reads them.
 *
 * Life cycle: gate_file_order() -> write it; read -> gate_file_parse() -> gate_file_release().
 *
 * A report is taken as a whole or refused; one that is refused says nothing about the gates, and the
 * reader keeps what the last one said. Members that this drey does not know are ignored.
 */
#ifndef DREY_CORE_GATE_FILE_H
#define DREY_CORE_GATE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "core/handover/gate.h"
#include "core/handover/side.h"

#define GATE_FILE_MAX_BYTES   (1 << 20)
#define GATE_FILE_MAX_GATES   64
#define GATE_FILE_MAX_WIDTH   32768                    /* subtasks of a gate: Flink's own limit */
#define GATE_FILE_LISTED      256                      /* of them with an entry of their own */
#define GATE_FILE_SNAPSHOTS   16                       /* of a gate */
#define GATE_FILE_MAX_NUMBER  ((INT64_C(1) << 53) - 1) /* of any number in the files */
#define GATE_FILE_INSTANCE_SZ 17

/* Whose files they are. */
struct gate_file_job {
	const char *launch; /* the id of the job; borrowed */
	enum side side;
};

/*
 * Append the text of order.json with its last newline. `transition`: the id of the hand-over, for which
 * the gates count; NULL: at rest, which also makes them forget what they have counted. The same order must
 * be given with the same transition: a gate ignores another content under a number that it knows. ERR_FORMAT,
 * and nothing is appended: the gates would refuse it.
 */
int gate_file_order(const struct gate_file_job *job, const char *transition,
		    const struct gate_order *order, struct buf *buf, struct err *err);

struct gate_file_report {
	/*
	 * The sum of all gates of the job. Its order has GATE_CLOSED and the number 0 while the gates wait for
	 * their first one. `known` is false after the last report of an instance, and until each gate has
	 * subtasks.
	 *
	 * `withheld_above` is all that was held back, here and in the snapshots: what the owner's gates held
	 * back above a cut that was given up is below the next one. `passed_below` has late records only if
	 * the word lets them pass.
	 * Snapshots are those that each gate has, and that Flink has completed.
	 */
	struct gate_report report;
	bool ended; /* the last one of this instance */
	/* of the coordinator: another one has started anew, from what its job has restored */
	char instance[GATE_FILE_INSTANCE_SZ];
	int64_t written_unix_ms;
	/* owned; NULL if there is none */
	char *transition;  /* of the order */
	char *ignored;     /* why order.json does not count */
	char *why_refused; /* the reason of one subtask */
};

/*
 * Read report.json. The caller releases *ret_report. ERR_BUSY: it is of another launch or side, as one is
 * that an earlier launch has left. ERR_CONFIG: a drey-gate.jar that is newer than this drey has written it.
 * ERR_FORMAT: it is damaged, or contradicts itself.
 */
int gate_file_parse(const struct gate_file_job *job, const char *text, size_t len_bytes,
		    struct gate_file_report *ret_report, struct err *err);

void gate_file_release(struct gate_file_report *report);

#endif
