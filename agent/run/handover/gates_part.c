/* GATE: the gates of the job here are told what they go by, and what they report is an event. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "run/config/setup_side.h"
#include "run/driver_internal.h"
#include "run/handover/gate_files.h"
#include "run/part.h"

static void reported(void *arg, const char *launch_id, const struct gate_file_report *report)
{
	struct event event = {.type = EVENT_GATE,
			      .gate = {.launch_id = launch_id,
				       .transition = report->transition,
				       .ended = report->ended,
				       .report = report->report}};

	driver_step(arg, &event);
}

static int gates_open(struct driver *driver, struct err *err)
{
	const struct gate_files_config config = {
		.loop = driver->loop,
		.workers = driver->workers,
		.log = driver->log,
		.state_directory = driver->setup->config.state_directory,
		.reported = reported,
		.arg = driver,
	};

	(void)err;
	if (setup_has_gates(driver->setup))
		driver->gate_files = gate_files_open(&config);
	return 0;
}

static void gates_execute(struct driver *driver, const struct effect *effect)
{
	const struct launch *launch = journal_launch_const(&driver->life.journal);
	struct gate_file_job job = {.launch = effect->id};

	if (effect->type != EFFECT_GATE || !driver->gate_files)
		return;
	job.side = launch->output_side;
	gate_files_tell(driver->gate_files, &job, effect->text, &effect->order);
}

static void gates_close(struct driver *driver)
{
	gate_files_close(driver->gate_files);
	driver->gate_files = NULL;
}

const struct part part_gates = {
	.name = "gates",
	.open = gates_open,
	.execute = gates_execute,
	.close = gates_close,
};
