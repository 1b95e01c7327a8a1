/*
 * gate_files - the two files by which drey and the gates of one job speak (core/handover/gate_file.h),
 * on a lane of their own: order.json is written until it is there, report.json is read for as long as
 * a transition is under way.
 *
 * At rest nothing wakes up. A write that fails is logged and tried again, and so is an order that the gates
 * ignore, because another process has changed the file; a report that is damaged, or of another launch, says
 * nothing: what the last one said stays.
 *
 * Life cycle: gate_files_open() -> gate_files_tell() ... -> gate_files_close(). For the loop's thread.
 */
#ifndef DREY_RUN_GATE_FILES_H
#define DREY_RUN_GATE_FILES_H

#include "base/lane.h"
#include "base/log.h"
#include "base/loop.h"
#include "core/handover/gate_file.h"

struct gate_files;

/* A report that says something else than the last one; borrowed. */
typedef void gate_reported_fn(void *arg, const char *launch_id,
			      const struct gate_file_report *report);

struct gate_files_config {
	struct loop *loop;
	struct workers *workers;
	struct log *log;
	const char *state_directory; /* borrowed */
	gate_reported_fn *reported;
	void *arg;
};

struct gate_files *gate_files_open(const struct gate_files_config *config);
void gate_files_close(struct gate_files *files); /* NULL is allowed; no callback after that */

/* What the gates of this launch go by from now on; transition: id of the hand-over, NULL at rest. The same once
 * more is written once. */
void gate_files_tell(struct gate_files *files, const struct gate_file_job *job,
		     const char *transition, const struct gate_order *order);

/* The directory of the two files, which a launch passes to its job; the caller frees. */
char *gate_files_directory(const char *state_directory);

#endif
