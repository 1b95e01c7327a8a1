#include "run/effects/relaunch.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "core/relaunch.h"
#include "flink/command.h"
#include "flink/jvm_process.h"
#include "flink/jvm_read.h"
#include "run/driver_internal.h"
#include "run/effects/launch_build.h"
#include "run/part.h"

/* A few hundred files are looked at, in a few milliseconds; a disk that hangs must not delay a start. */
#define PATIENCE_MS 50

struct relauncher {
	struct driver *driver;
	struct lane *lane;
	struct loop_timer *patience;
	struct relaunch core;
	struct jvm_origin origin; /* with core.made_of only */
	int64_t read_launch;      /* number of the launch whose JVM was last read */
	bool reading;
	/* of the launch that waits at the gate */
	int64_t gate_number, asked_ms;
	bool waiting, now_known;
	char now[SHA256_HEX_BYTES];
};

/* ---- what the launches have in common ---- */

/* The launch on record with an identity that all launches share. */
static int build_shape(const struct setup *setup, const struct launch *launch,
		       struct flink_exec *ret_shape, struct err *err)
{
	static const char no_path[] = "x:/";
	struct launch same = {.ha_cluster_id = launch->ha_cluster_id};

	memset(same.job_id, '0', JOB_ID_BYTES - 1);
	if (*launch->application_id)
		memset(same.application_id, '0', sizeof(same.application_id) - 1);
	same.job_result_path = launch->job_result_path ? (char *)(uintptr_t)no_path : NULL;
	same.application_result_path =
		launch->application_result_path ? (char *)(uintptr_t)no_path : NULL;
	return launch_build(setup, &same, ret_shape, NULL, err);
}

static enum relaunch_why why_not_direct(const struct driver *driver)
{
	const struct relauncher *relauncher = driver->relauncher;
	const struct config *config = &driver->setup->config;
	const char *const *command = (const char *const *)config->flink.command;
	const struct relaunch_outside outside = {
		.configured = config->flink.relaunch == RELAUNCH_BY_LINE,
		.has_java = command_java(command) > 0,
		.has_script = command_is_script(command),
		.now = relauncher->now_known ? relauncher->now : NULL};

	return relaunch_why(&relauncher->core, &outside);
}

/* ---- reading the line of a JVM that runs ---- */

/* For the others: a line is of use only if a launch may be by it. */
static void show_line(struct relauncher *relauncher)
{
	struct driver *driver = relauncher->driver;
	enum relaunch_why why = why_not_direct(driver);

	driver->jvm = (struct jvm_seen){.looked = true};
	if (!relauncher->core.made_of[0] || why == RELAUNCH_OFF || why == RELAUNCH_OWN_SCRIPT)
		return;
	driver->jvm.line = &relauncher->origin.line;
	driver->jvm.fingerprint = relauncher->origin.fingerprint;
}

struct read_job {
	struct relauncher *relauncher;
	struct flink_exec launched, shape;
	char *home;
	bool adopted;
	struct jvm_launch launch;
	struct jvm_origin origin;
	int result;
	struct err err;
};

static void read_job_free(struct read_job *job)
{
	flink_exec_release(&job->launched);
	flink_exec_release(&job->shape);
	free(job->home);
	free(job);
}

static void jvm_read_work(void *arg)
{
	struct read_job *job = arg;

	job->result = 0;
	/* the agent that launched it has read the configuration later than drey-init began */
	if (job->adopted)
		job->result =
			jvm_process_forked(getppid(), &job->launch.file_before_unix_ms, &job->err);
	if (job->result == 0)
		job->result = jvm_read(&job->launch, &job->origin, &job->err);
}

static void jvm_read_done(void *arg, bool ran)
{
	struct read_job *job = arg;
	struct relauncher *relauncher = job->relauncher;

	relauncher->reading = false;
	if (ran && job->result == 0) {
		jvm_origin_release(&relauncher->origin);
		relauncher->origin = job->origin;
		relaunch_learns(&relauncher->core, job->origin.fingerprint);
	} else if (ran) {
		relaunch_learns(&relauncher->core, NULL);
		log_info(
			relauncher->driver->log,
			"the next launch is made by flink.command: the command line of this JVM cannot be used again",
			LOG_STR("reason", job->err.msg));
	}
	read_job_free(job);
	if (!ran)
		return;
	show_line(relauncher);
	driver_again(relauncher->driver);
}

/* Would a line be used: instead of the scripts, or for a spare JVM? */
static bool is_of_use(const struct driver *driver)
{
	const struct config *config = &driver->setup->config;

	return driver->spare || (config->flink.relaunch == RELAUNCH_BY_LINE &&
				 command_is_script((const char *const *)config->flink.command));
}

/* Is there a JVM that runs the job, was not read, and was not started by a line that is known? */
static bool read_is_due(const struct driver *driver)
{
	const struct relauncher *relauncher = driver->relauncher;
	const struct launch *launch = journal_launch_const(&driver->life.journal);

	return driver->alive && driver->life.phase == PHASE_RUNNING &&
	       driver->life.launch_step == LAUNCH_LIVE && driver->flink_pid > 0 && launch &&
	       launch->number != relauncher->read_launch && !relauncher->reading &&
	       /* the line of one that waited in main() would wait for a file that is there */
	       !launch->held && !relauncher->core.direct && is_of_use(driver);
}

static void relaunch_stepped(struct driver *driver)
{
	const struct config *config = &driver->setup->config;
	struct relauncher *relauncher = driver->relauncher;
	const struct launch *launch;
	struct read_job *job;
	struct err err = {0};

	if (!relauncher || !read_is_due(driver))
		return;
	launch = journal_launch_const(&driver->life.journal);
	relauncher->read_launch = launch->number;
	job = xcalloc(1, sizeof(*job));
	if (launch_build(driver->setup, launch, &job->launched, NULL, &err) < 0 ||
	    build_shape(driver->setup, launch, &job->shape, &err) < 0) {
		read_job_free(job);
		driver->jvm = (struct jvm_seen){.looked = true};
		return;
	}
	job->relauncher = relauncher;
	job->adopted = !driver->flink_is_ours;
	job->home = command_flink_home((const char *const *)config->flink.command,
				       (const char *const *)driver->setup->environment);
	job->launch = (struct jvm_launch){.pid = driver->flink_pid,
					  .started_unix_ms = driver->flink_since_unix_ms,
					  .launched = &job->launched,
					  .shape = &job->shape,
					  .flink_home = job->home,
					  .file = job->adopted ? driver->setup->config_file : NULL};
	relauncher->reading = true;
	lane_submit(relauncher->lane, jvm_read_work, jvm_read_done, job);
}

/* ---- before a launch ---- */

struct now_job {
	struct relauncher *relauncher;
	const struct jvm_origin *origin; /* stays while the job runs: one lane */
	struct flink_exec shape;
	int64_t gate_number;
	char now[SHA256_HEX_BYTES];
	int result;
};

static void now_work(void *arg)
{
	struct now_job *job = arg;

	job->result = jvm_fingerprint(job->origin, &job->shape, job->now, NULL);
}

static void now_done(void *arg, bool ran)
{
	struct now_job *job = arg;
	struct relauncher *relauncher = job->relauncher;
	bool current = ran && relauncher->waiting && relauncher->gate_number == job->gate_number;

	if (current) {
		relauncher->waiting = false;
		relauncher->now_known = job->result == 0;
		memcpy(relauncher->now, job->now, sizeof(relauncher->now));
	}
	flink_exec_release(&job->shape);
	free(job);
	if (current)
		driver_again(relauncher->driver);
}

static void patience_ends(void *arg)
{
	struct relauncher *relauncher = arg;

	relauncher->waiting = false;
	driver_again(relauncher->driver);
}

static void ask_now(struct relauncher *relauncher)
{
	struct driver *driver = relauncher->driver;
	struct now_job *job = xcalloc(1, sizeof(*job));

	job->relauncher = relauncher;
	job->origin = &relauncher->origin;
	job->gate_number = relauncher->gate_number;
	if (build_shape(driver->setup, journal_launch_const(&driver->life.journal), &job->shape,
			NULL) < 0) {
		free(job);
		return;
	}
	relauncher->waiting = true;
	relauncher->asked_ms = clock_mono_ms();
	loop_timer_set(relauncher->patience, PATIENCE_MS);
	lane_submit(relauncher->lane, now_work, now_done, job);
}

static enum gate_verdict relaunch_may(struct driver *driver, enum gate_type type, struct gate *gate)
{
	struct relauncher *relauncher = driver->relauncher;

	if (type != GATE_LAUNCH || !relauncher)
		return GATE_PASSES;
	if (relauncher->gate_number != gate->number) {
		relauncher->gate_number = gate->number;
		relauncher->waiting = relauncher->now_known = false;
		if (relauncher->core.made_of[0] && !relauncher->reading)
			ask_now(relauncher);
	}
	return relauncher->waiting ? gate_waits(gate, "what Flink's scripts read",
						relauncher->asked_ms + PATIENCE_MS)
				   : GATE_PASSES;
}

static void say_why_not(struct driver *driver, enum relaunch_why why)
{
	const char *sentence = relaunch_why_sentence(why);

	if (sentence && !command_java((const char *const *)driver->setup->config.flink.command))
		log_info(driver->log, "Flink is started by its scripts",
			 LOG_STR("reason", sentence));
}

bool driver_relaunch(struct driver *driver, struct flink_exec *exec)
{
	struct flink_exec direct;
	enum relaunch_why why;

	if (!driver->relauncher)
		return false;
	why = why_not_direct(driver);
	if (why != RELAUNCH_WELL) {
		say_why_not(driver, why);
		return false;
	}
	jvm_line_join(&driver->relauncher->origin.line, exec, &direct);
	if (!init_link_fits(direct.packed_bytes, direct.argc + direct.envc)) {
		flink_exec_release(&direct);
		return false;
	}
	flink_exec_release(exec);
	*exec = direct;
	log_info(driver->log, "Flink is started by the command line of its last JVM");
	return true;
}

const char *driver_relaunch_made_of(const struct driver *driver, bool direct)
{
	const struct relauncher *relauncher = driver->relauncher;

	enum relaunch_why why;

	if (!relauncher || !relauncher->now_known)
		return NULL;
	why = why_not_direct(driver);
	return direct || why == RELAUNCH_NO_SCRIPTS || why == RELAUNCH_CHANGED ? relauncher->now
									       : NULL;
}

void driver_relaunch_begins(struct driver *driver, bool direct)
{
	if (!driver->relauncher)
		return;
	relaunch_begins(&driver->relauncher->core, direct);
	if (!direct) /* it has another line, which is read when the job runs */
		driver->jvm = (struct jvm_seen){0};
}

bool driver_relaunch_ends(struct driver *driver)
{
	return driver->relauncher && relaunch_ends(&driver->relauncher->core);
}

/* ---- the part ---- */

static void relaunch_event(struct driver *driver, const struct event *event)
{
	if (driver->relauncher && event->type == EVENT_VIEW && event->view.reachable)
		relaunch_answers(&driver->relauncher->core);
}

static int relaunch_open(struct driver *driver, struct err *err)
{
	struct relauncher *relauncher = xcalloc(1, sizeof(*relauncher));

	(void)err;
	relauncher->driver = driver;
	relauncher->lane = lane_new(driver->workers, "drey-relaunch");
	relauncher->patience = loop_timer_new(driver->loop, patience_ends, relauncher);
	driver->relauncher = relauncher;
	return 0;
}

static void relaunch_close(struct driver *driver)
{
	struct relauncher *relauncher = driver->relauncher;

	if (!relauncher)
		return;
	driver->relauncher = NULL;
	loop_timer_free(relauncher->patience);
	if (!lane_free(relauncher->lane, LANE_PATIENCE_MS))
		return; /* a job that hangs still reads the origin */
	jvm_origin_release(&relauncher->origin);
	free(relauncher);
}

const struct part part_relaunch = {
	.name = "relaunch",
	.open = relaunch_open,
	.event = relaunch_event,
	.may = relaunch_may,
	.stepped = relaunch_stepped,
	.close = relaunch_close,
};
