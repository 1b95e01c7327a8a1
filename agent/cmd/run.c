#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/log.h"
#include "cmd/commands.h"
#include "run/config/setup.h"
#include "run/driver.h"
#include "run/init_link.h"
#include "run/outputs/termination.h"
#include "run/sandbox.h"

static const struct cli_option options[] = {CLI_CONFIG, CLI_END};

/* Without a configuration: to the default path of Kubernetes. Not needed at a shell. */
static void last_words(const char *error)
{
	struct termination_last none = {.cause = CAUSE_CONFIGURATION_REFUSED};
	cleanup_buf struct buf text = BUF_INIT;

	if (!getenv(LINK_ENV))
		return;
	termination_text(&none, NULL, error, &text);
	(void)termination_write(TERMINATION_DEFAULT, &text, NULL); /* it is on stderr as well */
}

static int run_run(const struct cli *cli)
{
	cleanup_setup struct setup setup = {0};
	struct err err = {0}, open = {0};
	struct log *log;
	int status;

	(void)sandbox_enter(&open); /* before it reads a secret */
	if (setup_load(cli_config_path(cli), &setup, &err) < 0) {
		last_words(err.msg);
		return cli_fail(cli, CLI_USAGE, "%s", err.msg);
	}
	log = log_new(STDERR_FILENO, (enum log_format)setup.config.log.format,
		      (enum log_level)setup.config.log.level);
	log_set_context(log, "application", setup.config.application);
	if (open.kind != ERR_NONE)
		log_warn(log, "the agent is less shut than it should be", LOG_ERR(&open));
	status = driver_run(&setup, log, &err);
	log_free(log);
	if (status == CLI_OK || status == DRIVER_AGAIN)
		return status;
	return cli_fail(cli, status, "%s", err.msg);
}

const struct cli_command cmd_run = {
	.name = "run",
	.summary = "supervise the application (started by drey-init)",
	.description =
		"Decides what the job starts from, starts Flink, verifies what Flink has restored, takes\n"
		"savepoints, and carries out the requests of the other commands. Always started by\n"
		"drey-init, which restarts this process when it dies; Flink keeps running meanwhile.\n",
	.options = options,
	.statuses =
		"0  the container ends, or drey-init requested the exit\n"
		"75 the job was handed over to another pod; drey-init starts this program again,\n"
		"   which stands by\n"
		"2  wrong usage or configuration, damaged journal, state directory in use,\n"
		"   storage or Flink not found, port in use: nothing was changed\n",
	.example = "drey-init --agent -- drey run --config drey.yaml\n",
	.run = run_run,
};
