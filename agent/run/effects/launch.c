#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "flink/held.h"
#include "run/config/setup_side.h"
#include "run/driver_internal.h"
#include "run/effects/launch_build.h"
#include "run/effects/leavings.h"
#include "run/effects/relaunch.h"
#include "run/part.h"

/* What makes a start fast, or why it takes longer than it could. */
static void say_jvm(struct driver *driver, const struct launch_jvm *jvm)
{
	const struct class_archive *archive = &jvm->archive;

	if (archive->use == CLASS_ARCHIVE_USED)
		log_info(driver->log, "Flink loads its classes from the class archive",
			 LOG_STR("file", archive->file));
	else if (archive->use == CLASS_ARCHIVE_REFUSED)
		log_warn(driver->log, "Flink starts without the class archive",
			 LOG_STR("file", archive->file), LOG_STR("reason", archive->why));
	if (jvm->options.why_not_c1)
		log_info(driver->log, "Flink starts without drey's choice of compilers",
			 LOG_STR("reason", jvm->options.why_not_c1));
}

/* exec may be replaced by one that leaves Flink's scripts out. */
static int send_launch(struct driver *driver, struct flink_exec *exec, struct err *err)
{
	bool direct = driver_relaunch(driver, exec);
	const struct launch *launch = journal_launch(&driver->life.journal);
	struct init_link_launch sent = {
		.job_id = launch->job_id,
		.number = launch->number,
		.argv = exec->argv,
		.env = exec->env,
		.lock_fd = driver->flink_lock_fd,
	};

	driver_spare_offer(driver, driver_relaunch_made_of(driver, direct), &sent);
	if (init_link_launch(driver->link, &sent, err) < 0)
		return -1;
	driver->flink_is_ours = true;
	driver_relaunch_begins(driver, direct || sent.spare);
	return 0;
}

/* flink.lock is ours: no launch before this one lives. */
static int start_flink(struct driver *driver, const struct launch *launch, struct launch_jvm *jvm,
		       struct err *err)
{
	cleanup_flink_exec struct flink_exec exec = {0};
	int result = -1;

	driver_leavings_make(driver, launch);
	if (setup_check_port(driver->setup, err) == 0 &&
	    launch_build(driver->setup, launch, &exec, jvm, err) == 0)
		result = send_launch(driver, &exec, err);
	/* after the request, which does not wait for it; and with the lock */
	driver_leavings_remove(driver, launch);
	return result;
}

/* ---- one that waits in main() ---- */

struct let_go {
	struct driver *driver;
	char job_id[JOB_ID_BYTES];
};

static void tell_started(void *arg)
{
	struct let_go *let_go = arg;

	driver_step(let_go->driver, &(struct event){.type = EVENT_STARTED,
						    .process = {.launch_id = let_go->job_id}});
	free(let_go);
}

/* It may have been let go before, by an agent that died after that: the same file is the same word. */
static void let_main_go(struct driver *driver, const struct launch *launch)
{
	cleanup_free char *file = held_file(driver->setup->config.state_directory, launch->job_id);
	const struct setup_gate_keys keys = setup_gate_keys(driver->setup, launch->output_side);
	const struct held_go go = {.go = true,
				   .path = launch->restore_path,
				   .allow_non_restored = launch->allow_non_restored,
				   .side = setup_output_side(driver->setup, launch->output_side),
				   .gate_key = keys.held_key,
				   .gate_side = keys.side};
	struct let_go *let_go;
	struct err err = {0};

	if (held_go(file, &go, &err) < 0) {
		driver_refuse(driver, EFFECT_LAUNCH, CAUSE_NONE, err.msg);
		return;
	}
	log_info(driver->log, "main() is let go", LOG_STR("jobId", launch->job_id),
		 LOG_STR("from", launch->restore_path ? launch->restore_path : "nothing"));
	driver->flink_is_ours = true;
	let_go = xcalloc(1, sizeof(*let_go));
	let_go->driver = driver;
	memcpy(let_go->job_id, launch->job_id, JOB_ID_BYTES);
	loop_post(driver->loop, tell_started, let_go);
}

static void effect_launch(struct driver *driver)
{
	const struct launch *launch = journal_launch(&driver->life.journal);
	cleanup_launch_jvm struct launch_jvm jvm = {0};
	struct err err = {0};

	/* MUT: a drey that was fenced in the meantime launches */
	if (driver->life.fenced) { /* since it has waited */
		driver_refuse(driver, EFFECT_LAUNCH, CAUSE_JOURNAL_TAKEN,
			      "another drey has the journal");
		return;
	}
	/* MUT: a drey-init without leases gets one */
	if ((driver->setup->life.lease_ms || driver->setup->life.object_lease_ms) &&
	    !driver->init_takes_lease) {
		driver_refuse(
			driver, EFFECT_LAUNCH, CAUSE_JOURNAL_UNREADABLE,
			"this drey-init is too old for a lease (fencing: strict, lease.uri): use the drey-init of the same version as drey");
		return;
	}
	if (launch->held) {
		let_main_go(driver, launch);
		return;
	}
	if (driver_take_flink_lock(driver, &err) < 0 || start_flink(driver, launch, &jvm, &err) < 0)
		driver_refuse(driver, EFFECT_LAUNCH, CAUSE_NONE, err.msg);
	else
		say_jvm(driver, &jvm);
	if (driver->flink_lock_fd >= 0) /* drey-init and Flink keep theirs */
		/* MUT: drey keeps flink.lock */
		close(driver->flink_lock_fd);
	driver->flink_lock_fd = -1;
}

static void effect_signal(struct driver *driver, const struct effect *effect)
{
	struct err err = {0};

	if (init_link_signal(driver->link, effect->id, effect->signo, effect->group, &err) < 0)
		log_error(driver->log, "cannot signal Flink", LOG_ERR(&err));
}

static void effect_lease(struct driver *driver, const struct effect *effect)
{
	struct err err = {0};

	if (driver->init_takes_lease && init_link_lease(driver->link, effect->until_ms, &err) < 0)
		log_error(driver->log, "cannot extend the lease at drey-init", LOG_ERR(&err));
}

static void effect_stop_ack(struct driver *driver)
{
	struct err err = {0};

	if (init_link_stop_ack(driver->link, &err) < 0)
		log_error(driver->log, "cannot answer drey-init", LOG_ERR(&err));
}

static void effect_exit(struct driver *driver, const struct effect *effect)
{
	struct err err = {0};

	if (init_link_exit(driver->link, effect->status, &err) < 0)
		log_error(driver->log, "cannot tell drey-init to exit", LOG_ERR(&err));
	driver_stop(driver, 0);
}

static void launch_execute(struct driver *driver, const struct effect *effect)
{
	switch (effect->type) {
	case EFFECT_LAUNCH:
		effect_launch(driver);
		break;
	case EFFECT_SIGNAL:
		effect_signal(driver, effect);
		break;
	case EFFECT_LEASE:
		effect_lease(driver, effect);
		break;
	case EFFECT_STOP_ACK:
		effect_stop_ack(driver);
		break;
	case EFFECT_EXIT:
		effect_exit(driver, effect);
		break;
	default:
		break;
	}
}

const struct part part_launch = {.name = "launch", .execute = launch_execute};
