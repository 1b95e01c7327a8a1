/*
 * driver - `drey run`: executes the effects of core/lifecycle in the real world and turns results
 * into events. It makes no decisions.
 *
 * One thread runs the loop and the state machine; whatever may block runs on a lane: the journal, the
 * storage, Flink's REST API. So a hanging disk or JobManager delays its own lane and nothing else.
 */
#ifndef DREY_RUN_DRIVER_H
#define DREY_RUN_DRIVER_H

#include "base/err.h"
#include "base/log.h"
#include "run/config/setup.h"

#define DRIVER_AGAIN 75 /* another pod owns the job now: the next agent stands by */

/*
 * Run until drey-init stops it. Returns the exit status of the agent: 0; DRIVER_AGAIN; or 2 with *err
 * set if it cannot start (nothing has been changed then). Everything is borrowed.
 */
int driver_run(const struct setup *setup, struct log *log, struct err *err);

#endif
