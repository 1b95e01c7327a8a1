#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/percent.h"
#include "base/query.h"
#include "cmd/commands.h"
#include "cmd/join_ask.h"
#include "cmd/join_child.h"
#include "cmd/join_java.h"
#include "cmd/join_probe.h"
#include "cmd/join_wanted.h"
#include "core/handover/join_watch.h"
#include "flink/launch.h"

#define READY_FILE   "/tmp/drey-join-ready"
#define DEFAULT_PORT 8085
#define MAX_SIGNALS  64

static const struct cli_option options[] = {
	{"service", 's', "HOST",
	 "name or address of the dreys; all its addresses are\n"
	 "asked. May be repeated",
	 true},
	{"port", 'p', "PORT", "of the dreys (default 8085)", false},
	{"generation", 'g', "TEXT", "of this TaskManager", false},
	{"resource-id", 0, "ID",
	 "taskmanager.resource-id (default\n"
	 "GENERATION-$POD_NAME)",
	 false},
	{"class-archive", 0, "FILE",
	 "of the TaskManager's JVM; auto (that of the image,\n"
	 "the default) or none",
	 false},
	{"ready", 0, NULL, "probe: does the job of this generation run?", false},
	{"file", 0, "FILE", "says that it has run (default\n" READY_FILE ")", false},
	CLI_END,
};

static void wanted_release(struct join_wanted *wanted)
{
	free(wanted->target);
	free(wanted->resource_id);
}

static int parse_port(const char *text, int *ret_port)
{
	char *end;
	long port;

	if (!text) {
		*ret_port = DEFAULT_PORT;
		return 0;
	}
	port = strtol(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || port < 1 || port > 65535)
		return -1;
	*ret_port = (int)port;
	return 0;
}

static char *make_target(const char *path, const char *generation)
{
	struct buf target = BUF_INIT;

	buf_addf(&target, "%s?generation=", path);
	percent_encode(&target, generation, false);
	return buf_steal(&target);
}

static char *make_resource_id(const struct cli *cli, const char *generation)
{
	const char *id = cli_value(cli, "resource-id"), *pod = getenv("POD_NAME");

	if (id)
		return xstrdup(id);
	return pod && *pod ? xasprintf("%s-%s", generation, pod) : NULL;
}

/* CLI_OK, or CLI_USAGE with a message. Release in both cases. */
static int read_wanted(const struct cli *cli, struct join_wanted *wanted)
{
	bool ready = cli_has(cli, "ready");

	wanted->service_count = cli_values(cli, "service", wanted->services);
	wanted->generation = cli_value(cli, "generation");
	wanted->class_archive = cli_value(cli, "class-archive") ? cli_value(cli, "class-archive")
								: CLASS_ARCHIVE_AUTO;
	wanted->file = cli_value(cli, "file") ? cli_value(cli, "file") : READY_FILE;
	if (!wanted->service_count || !wanted->generation)
		return cli_fail(cli, CLI_USAGE, "pass --service HOST and --generation GENERATION");
	if (strlen(wanted->generation) >= QUERY_VALUE_BYTES)
		return cli_fail(cli, CLI_USAGE, "--generation has more than %d bytes",
				QUERY_VALUE_BYTES - 1);
	if (parse_port(cli_value(cli, "port"), &wanted->port) < 0)
		return cli_fail(cli, CLI_USAGE, "--port must be a number from 1 to 65535, not '%s'",
				cli_value(cli, "port"));
	if (ready == (cli->arg_count > 0))
		return cli_fail(cli, CLI_USAGE,
				ready ? "--ready takes no command"
				      : "pass the command of the TaskManager: drey join ... -- "
					"COMMAND ARG...");
	wanted->target = make_target(ready ? "/readyz" : "/join", wanted->generation);
	wanted->resource_id = make_resource_id(cli, wanted->generation);
	if (!ready && !wanted->resource_id)
		return cli_fail(cli, CLI_USAGE, "POD_NAME is not set; pass --resource-id ID");
	return CLI_OK;
}

/* ---- drey join ---- */

struct join {
	const struct cli *cli;
	const struct join_wanted *wanted;
	struct loop *loop;
	struct log *log;
	struct join_ask *ask;
	struct join_java java;
	struct join_watch watch;
	struct join_round round;
	struct loop_timer *timer;
	struct loop_signal *on_child, *signals[MAX_SIGNALS];
	int signal_count;
	pid_t child; /* 0 = none */
	int exit_status;
};

static void join_take(struct join *join, const struct join_event *event);

/* A variable of the environment, because the start scripts of an image pass that on. */
static pid_t start_child(struct join *join, bool rehearse, struct err *err)
{
	const struct cli *cli = join->cli;
	const char *id = join->watch.cluster_id;
	cleanup_free char *cluster = xasprintf("kubernetes.cluster-id=%s", id);
	cleanup_free char *ha = xasprintf("high-availability.cluster-id=%s", id);
	cleanup_free char *resource =
		xasprintf("taskmanager.resource-id=%s", join->wanted->resource_id);
	const char *more[] = {"-D", cluster, "-D", ha, "-D", resource};
	size_t count = (size_t)cli->arg_count + join->java.options.count;
	const char **argv = xcalloc(count + ARRAY_LEN(more) + 1, sizeof(*argv));
	pid_t pid;

	count = join_java_add(&join->java, cli->args, (size_t)cli->arg_count, argv);
	memcpy(argv + count, more, sizeof(more));
	if (rehearse)
		setenv(FLINK_REHEARSE, "1", 1);
	else
		unsetenv(FLINK_REHEARSE);
	pid = join_child_start((char *const *)argv, err);
	free(argv);
	return pid;
}

static void start(struct join *join, bool rehearse)
{
	struct err err = {0};
	pid_t pid = start_child(join, rehearse, &err);

	if (pid > 0) {
		join->child = pid;
		return;
	}
	log_error(join->log, "TaskManager cannot be started", LOG_ERR(&err));
	join_take(join, &(struct join_event){.type = JOIN_EVENT_ENDED, .exit_status = CLI_FAILED});
}

static void join_begin_round(struct join *join)
{
	join->round = (struct join_round){0};
	snprintf(join->round.current, sizeof(join->round.current), "%s", join->watch.cluster_id);
	join_ask_begin(join->ask);
}

static void say(const struct join *join, const struct join_effects *effects)
{
	log_any(join->log, effects->warn ? LOG_WARN : LOG_INFO, effects->say,
		LOG_STR("generation", join->wanted->generation),
		LOG_STR("detail", effects->detail));
}

/* Step the machine and do what it says. */
static void join_take(struct join *join, const struct join_event *event)
{
	int64_t now_ms = clock_mono_ms(), wake_ms;
	struct join_effects effects;

	join_watch_step(&join->watch, event, now_ms, &effects);
	if (effects.say)
		say(join, &effects);
	if (join->child && event->type == JOIN_EVENT_ENDED) {
		join_child_reap(join->child, effects.sweep);
		join->child = 0;
	}
	if (effects.start)
		start(join, effects.rehearse);
	if (effects.signo && join->child)
		join_child_signal(join->child, effects.signo);
	if (effects.ask)
		join_begin_round(join);
	if (effects.exit) {
		join->exit_status = effects.exit_status;
		loop_stop(join->loop);
	}
	wake_ms = join_watch_wake_ms(&join->watch);
	if (wake_ms == JOIN_WATCH_NEVER)
		loop_timer_stop(join->timer);
	else
		loop_timer_set(join->timer, wake_ms - now_ms);
}

static void on_timer(void *arg)
{
	join_take(arg, &(struct join_event){.type = JOIN_EVENT_TICK});
}

static void on_answer(void *arg, const char *from, const struct http_get_answer *answer,
		      const struct err *why)
{
	struct join *join = arg;
	struct join_reply reply;
	struct err err = {0};

	if (answer && join_read(answer->status, answer->body, answer->body_len_bytes,
				join->wanted->generation, &reply, &err) == 0) {
		join_round_answer(&join->round, &reply);
		return;
	}
	if (!answer)
		err = *why;
	err_wrap(&err, "%s", from);
	join_round_failed(&join->round, err.msg);
}

static void on_round_end(void *arg)
{
	struct join *join = arg;

	join_take(join, &(struct join_event){.type = JOIN_EVENT_ROUND, .round = &join->round});
}

static void on_signal(void *arg, int signo)
{
	join_take(arg, &(struct join_event){.type = JOIN_EVENT_SIGNAL, .signo = signo});
}

static void on_child(void *arg, int signo)
{
	struct join *join = arg;
	struct join_event event = {.type = JOIN_EVENT_ENDED};

	(void)signo;
	if (join->child && join_child_ended(join->child, &event.exit_status))
		join_take(join, &event);
}

/* What drey-init sends on, but not what is the kernel's answer to a fault. */
static bool is_sent_on(int signo)
{
	static const int others[] = {SIGKILL, SIGSTOP, SIGSEGV, SIGBUS,  SIGFPE,  SIGILL, SIGTRAP,
				     SIGSYS,  SIGABRT, SIGCHLD, SIGPIPE, SIGTTIN, SIGTTOU};

	if (signo > SIGSYS && signo < SIGRTMIN) /* those of the C library */
		return false;
	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		if (signo == others[i])
			return false;
	return true;
}

static int watch_signals(struct join *join, struct err *err)
{
	join->on_child = loop_signal_new(join->loop, SIGCHLD, on_child, join, err);
	if (!join->on_child)
		return -1;
	for (int signo = 1; signo <= MAX_SIGNALS; signo++) {
		struct loop_signal *watch;

		if (!is_sent_on(signo))
			continue;
		watch = loop_signal_new(join->loop, signo, on_signal, join, err);
		if (!watch)
			return err_wrap(err, "signal %d", signo);
		join->signals[join->signal_count++] = watch;
	}
	return 0;
}

static int join_open(struct join *join, struct err *err)
{
	struct join_ask_call call = {on_answer, on_round_end, join};
	const struct join_wanted *wanted = join->wanted;

	if (unlink(wanted->file) < 0 && errno != ENOENT)
		return err_set(err, err_kind_of_errno(errno), errno, "remove %s", wanted->file);
	join->loop = loop_new(err);
	if (!join->loop || watch_signals(join, err) < 0)
		return -1;
	join->timer = loop_timer_new(join->loop, on_timer, join);
	join->log = log_new(STDERR_FILENO, LOG_AUTO, LOG_INFO);
	join_java_choose(wanted->class_archive, join->cli->args, join->log, &join->java);
	join->ask = join_ask_new(join->loop, wanted->services, wanted->service_count, wanted->port,
				 wanted->target, JOIN_ANSWER_BYTES, &call, err);
	return join->ask ? 0 : -1;
}

static void join_close(struct join *join)
{
	join_ask_free(join->ask);
	join_java_release(&join->java);
	log_free(join->log);
	if (join->loop)
		loop_timer_free(join->timer);
	for (int i = 0; i < join->signal_count; i++)
		loop_signal_free(join->signals[i]);
	loop_signal_free(join->on_child);
	loop_free(join->loop);
}

static int join_command_run(const struct cli *cli, const struct join_wanted *wanted)
{
	struct join join = {.cli = cli, .wanted = wanted};
	struct err err = {0};

	mem_keep_little();
	if (join_open(&join, &err) == 0) {
		join_watch_init(&join.watch, clock_mono_ms());
		join_take(&join, &(struct join_event){.type = JOIN_EVENT_TICK});
		(void)loop_run(join.loop, &err);
	}
	join_close(&join);
	if (err.kind)
		return cli_fail(cli, CLI_FAILED, "%s", err.msg);
	return join.exit_status;
}

static int join_run(const struct cli *cli)
{
	struct join_wanted wanted = {0};
	int status = read_wanted(cli, &wanted);

	if (status == CLI_OK)
		status = cli_has(cli, "ready") ? join_probe_run(cli, &wanted)
					       : join_command_run(cli, &wanted);
	wanted_release(&wanted);
	return status;
}

const struct cli_command cmd_join = {
	.name = "join",
	.arguments = "COMMAND [ARG]...",
	.max_args = CLI_MAX_ARGS,
	.summary = "run a TaskManager at the JobManager of its generation",
	.description =
		"Asks all dreys of the service which cluster id a TaskManager of this generation has to\n"
		"join, waits until one of them says it, and runs COMMAND with three more arguments:\n"
		"-D kubernetes.cluster-id=ID -D high-availability.cluster-id=ID\n"
		"-D taskmanager.resource-id=ID. It stays the parent of COMMAND, passes signals on, and exits\n"
		"with its status. While COMMAND runs it keeps asking. It ends COMMAND and waits again when\n"
		"only dreys of another generation have answered for 10 s, or when its generation has another\n"
		"cluster id. An address that does not answer proves nothing: COMMAND keeps running.\n"
		"--ready is for a probe: has the job of this generation run here since drey join was started?\n",
	.options = options,
	.statuses =
		"0-255    that of COMMAND; 128 + N: signal N ended it, or ended drey join before\n"
		"         COMMAND was started\n"
		"0        --ready: the job runs, or has run\n"
		"1        --ready: it does not; drey join itself failed\n"
		"2        wrong usage\n"
		"126, 127 COMMAND cannot be executed, or was not found\n",
	.example =
		"drey-init --remap 143 -- drey join --service orders-jobmanager --generation 7 -- \\\n"
		"  taskmanager.sh start-foreground\n",
	.run = join_run,
};
