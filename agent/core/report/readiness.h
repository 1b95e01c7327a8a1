/*
 * readiness - are the tasks of the job running? And the sentence for people if they are not. Pure.
 *
 * Flink calls a job RUNNING from the moment it is scheduled, and keeps calling it so while it waits
 * for slots. So the tasks count: the job runs when all of them run. Flink's own restarts take
 * seconds and are not reported, so tasks may be missing for a while (READINESS_GRACE_MS), counted
 * from the last poll that saw all of them running. There is no such grace when Flink has no
 * TaskManager at all: nothing recovers without one.
 *
 * The condition Ready is judged in conditions.h; /readyz, `drey status`, the metrics and the custom
 * resource repeat what it says.
 */
#ifndef DREY_CORE_READINESS_H
#define DREY_CORE_READINESS_H

#include <stdbool.h>
#include <stddef.h>

#include "core/lifecycle/lifecycle.h"

/* With a poll every 5 s (poll.tasks), missing tasks are noticed within 10 s, and a restart of up to
 * 4 s is not reported. */
#define READINESS_GRACE_MS 9000

/* All tasks of the live launch are running, or have not been missing for long. */
bool readiness_tasks_run(const struct lifecycle *life);

/* Tasks are missing, and not because they restore their state: Flink waits for slots, for its
 * lease, or between restarts. */
bool readiness_waits(const struct lifecycle *life);

/* ... for slots: Flink has too few. Only TaskManagers help. */
bool readiness_waits_for_slots(const struct lifecycle *life);

/* "0 of 12 tasks run: no TaskManager is registered (0 of 12 slots); kubectl get pods -l ...". */
void readiness_sentence(const struct lifecycle *life, char *text, size_t size_bytes);

#endif
