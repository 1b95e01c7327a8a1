/*
 * check_slots - the part of `drey check` that compares the slots that the new job needs with those that there will be. Too few are no
 * reason to refuse: TaskManagers may come in the same step.
 */
#ifndef DREY_CMD_CHECK_SLOTS_H
#define DREY_CMD_CHECK_SLOTS_H

#include "core/journal/journal.h"
#include "flink/conf.h"

/* What is to be said, as one sentence; NULL: nothing, because Flink's reactive mode takes as many slots as there are, or nothing is
 * known. needed: by the new job's own parallelism, 0 = not known. task_managers: of the new version, 0 = not known; then those count
 * that the journal has of the last launch. conf: Flink's configuration of the new version. The caller frees. */
char *check_slots(int64_t needed, int64_t task_managers, const struct flink_conf *conf,
		  const struct journal *journal);

#endif
