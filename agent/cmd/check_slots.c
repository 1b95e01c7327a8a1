#include "cmd/check_slots.h"

#include <inttypes.h>
#include <stdlib.h>
#include <strings.h>

#include "base/mem.h"
#include "core/slots.h"

static bool conf_is(const struct flink_conf *conf, const char *key, const char *value)
{
	const char *text = flink_conf_get(conf, key);

	return text && !strcasecmp(text, value);
}

/* 0: it is not a number. */
static int64_t slots_each(const struct flink_conf *conf)
{
	const char *text = flink_conf_get(conf, "taskmanager.numberOfTaskSlots");

	return text ? strtoll(text, NULL, 10) : 1; /* Flink's default */
}

char *check_slots(int64_t needed, int64_t task_managers, const struct flink_conf *conf,
		  const struct journal *journal)
{
	const struct launch *last = journal_launch_const(journal);
	int64_t managers = task_managers ? task_managers : last ? last->task_managers : 0;
	int64_t total = task_managers ? task_managers * slots_each(conf) : last ? last->slots : 0;
	bool adaptive = conf_is(conf, "jobmanager.scheduler", "adaptive");
	cleanup_free char *few = NULL;

	if (!needed || total <= 0 || conf_is(conf, "scheduler-mode", "reactive"))
		return NULL;
	if (adaptive && !parallelism_is_empty(&journal->parallelism))
		return xstrdup("not compared: another parallelism is in force (drey rescale)");
	few = slots_short(needed, total, managers);
	if (!few)
		return xasprintf("enough: it needs %" PRId64 ", and there are %" PRId64, needed,
				 total);
	return xasprintf(
		"too few: %s; %s until there are more: add TaskManagers in the same step, or lower the parallelism of the job",
		few, adaptive ? "the job will run with fewer subtasks" : "the job will not run");
}
