/* The slots that a new version needs, and those that there will be. */
#include "cmd/check_slots.h"

#include <stdlib.h>

#include "base/mem.h"
#include "tap.h"

struct world {
	struct journal journal;
	struct flink_conf conf;
};

static void world_begin(struct world *w, int64_t slots, int64_t task_managers)
{
	struct launch *launch;

	*w = (struct world){0};
	journal_init(&w->journal, "orders");
	launch = journal_add_launch(&w->journal);
	launch->slots = slots;
	launch->task_managers = task_managers;
}

static void check_says(struct world *w, int64_t needed, int64_t task_managers, const char *want)
{
	cleanup_free char *got = check_slots(needed, task_managers, &w->conf, &w->journal);

	if (want)
		CHECK_HAS(got, want);
	else
		CHECK_STR(got, NULL);
}

static void world_end(struct world *w)
{
	journal_release(&w->journal);
	flink_conf_release(&w->conf);
}

TEST(without_the_new_versions_own_those_count_that_run_now)
{
	struct world w;

	world_begin(&w, 4, 2);
	check_says(&w, 4, 0, "enough: it needs 4, and there are 4");
	check_says(
		&w, 5, 0,
		"too few: it needs 5 slots, and there are 4 (2 TaskManagers); the job will not run until");
	check_says(&w, 5, 4,
		   "there are 4 (4 TaskManagers)"); /* with one each, as is Flink's default */
	check_says(&w, 5, 5, "enough: it needs 5, and there are 5");
	flink_conf_set(&w.conf, "taskmanager.numberOfTaskSlots", "3");
	check_says(&w, 5, 1, "there are 3 (1 TaskManager)");
	check_says(&w, 5, 0, "there are 4 (2 TaskManagers)");
	world_end(&w);
}

TEST(what_is_not_known_says_nothing)
{
	struct world w;

	world_begin(&w, 0, 0);
	check_says(&w, 4, 0, NULL);
	check_says(&w, 0, 2, NULL);
	flink_conf_set(&w.conf, "taskmanager.numberOfTaskSlots", "many");
	check_says(&w, 4, 2, NULL);
	world_end(&w);
}

TEST(the_scheduler_decides_what_too_few_slots_mean)
{
	struct world w;

	world_begin(&w, 4, 2);
	flink_conf_set(&w.conf, "jobmanager.scheduler", "Adaptive");
	check_says(&w, 8, 0, "the job will run with fewer subtasks until there are more");
	w.journal.parallelism.all = 3;
	check_says(&w, 8, 0, "not compared: another parallelism is in force");
	flink_conf_set(&w.conf, "scheduler-mode", "REACTIVE");
	check_says(&w, 8, 0, NULL);
	world_end(&w);
}
