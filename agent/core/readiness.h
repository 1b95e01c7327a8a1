/*
 * readiness - do the tasks of the job run? And the sentence for people when they do not. Pure.
 *
 * Flink calls a job RUNNING from the moment it is scheduled, and keeps calling it so while it waits for
 * slots. So the tasks are what counts: the job runs when all of them do. Flink's own restarts take
 * seconds and are none of anybody's business, so tasks may be missing for a while (READINESS_GRACE_MS),
 * counted from the last look at which all of them ran. There is no such grace when Flink has not a single
 * TaskManager: nothing comes back before one does.
 *
 * The condition Ready is judged in conditions.h; /readyz, `drey status`, the metrics and the custom
 * resource repeat what it says.
 */
#ifndef DREY_CORE_READINESS_H
#define DREY_CORE_READINESS_H

#include <stdbool.h>
#include <stddef.h>

#include "core/lifecycle.h"

/* With a look every 5 s (poll.tasks) it is noticed within 10 s that the tasks do not run, and a restart
 * of up to 4 s is not. */
#define READINESS_GRACE_MS 9000

/* All tasks of the live launch run, or have not been missing for long. */
bool readiness_tasks_run(const struct lifecycle *life);

/* Tasks are missing, and not because they restore their state: Flink waits for slots, for its lease, or
 * between two restarts. */
bool readiness_waits(const struct lifecycle *life);

/* ... for slots: what Flink has is not enough. Nothing but TaskManagers helps. */
bool readiness_waits_for_slots(const struct lifecycle *life);

/* "0 of 12 tasks run: 0 TaskManagers, 0 of 12 slots; kubectl get pods -l ...". */
void readiness_sentence(const struct lifecycle *life, char *text, size_t size_bytes);

#endif
