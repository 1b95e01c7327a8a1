/*
 * relaunch - the command line of the last JVM (flink/jvm_read.h): read while the job runs, compared
 * before a launch, and used instead of Flink's scripts (core/relaunch.h). A part of the driver; these
 * functions are for the part that launches.
 */
#ifndef DREY_RUN_RELAUNCH_H
#define DREY_RUN_RELAUNCH_H

#include <stdbool.h>

#include "flink/launch.h"

struct driver;

/* May the launch that is being executed leave Flink's scripts out? Then *exec, the ordinary one, is
 * replaced. Logs which way it is, if there is something to say. */
bool driver_relaunch(struct driver *driver, struct flink_exec *exec);

/* What the launch is made of (jvm_fingerprint()), for driver_spare_offer(); NULL: it is not by the line
 * of the last JVM. `direct`: what driver_relaunch() has said of it. */
const char *driver_relaunch_made_of(const struct driver *driver, bool direct);

/* drey-init was asked for it; `direct`: without the scripts, or into a spare JVM. */
void driver_relaunch_begins(struct driver *driver, bool direct);

/* A message of drey-init says that Flink has ended. True: it does not count as a failed attempt, because
 * it was started without scripts and its REST API never answered. */
bool driver_relaunch_ends(struct driver *driver);

#endif
