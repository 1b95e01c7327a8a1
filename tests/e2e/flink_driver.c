/*
 * flink_driver - the Flink room of drey on the command line, for test_flink_rest.sh.
 *
 *   flink_driver rest URL CALL [ARG...]     one call; prints ok|not-yet|absent|error and what came
 *   flink_driver launch VERSION JOB_ID STORE RESTORE|- -- COMMAND... [-- ARG...]
 *                                           the command line that drey would start, NUL-separated
 *   flink_driver version COMMAND...         the version that is found without starting anything
 *   flink_driver settings DIR VERSION       checkpoint directory, REST port, heartbeat timeout
 *   flink_driver exit STATUS                what the exit status means
 *   flink_driver read DREY_YAML DIR         DIR/argv, DIR/env: what drey would start, NUL-separated; DIR/read: what it has
 *                                           read of Flink's configuration and added to it, "key=value" lines
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "flink/checkpoints.h"
#include "flink/conf.h"
#include "flink/exit_status.h"
#include "flink/operation.h"
#include "run/effects/launch_build.h"

#define TIMEOUT_MS 10000

extern char **environ;

static int usage(void)
{
	fprintf(stderr, "see the head of tests/e2e/flink_driver.c\n");
	return 2;
}

static void print_operation(const struct flink_operation *operation)
{
	static const char *const states[] = {"in-progress", "completed", "failed"};

	printf("%s", states[operation->state]);
	if (operation->location)
		printf(" %s", operation->location);
	if (operation->job_unknown)
		printf(" job-unknown");
	if (operation->failure)
		printf(" %s", operation->failure);
}

static void print_checkpoints(const struct flink_checkpoints *checkpoints)
{
	printf("completed=%lld",
	       (long long)(checkpoints->latest_completed ? checkpoints->latest_completed->id : 0));
	if (checkpoints->restored.present)
		printf(" restored=%lld savepoint=%d path=%s", (long long)checkpoints->restored.id,
		       checkpoints->restored.is_savepoint, checkpoints->restored.path);
}

/* The calls about one job. Prints the result after the class, through *out. */
static enum flink_answer call_job(const struct flink_rest *rest, char **arg, struct err *err)
{
	struct flink_savepoint_request request = {
		.job_id = arg[1],
		.trigger_id = arg[2],
		.target_directory = arg[2] ? arg[3] : NULL,
	};
	enum flink_answer answer = FLINK_ERROR;

	if (strcmp(arg[0], "state") == 0) {
		enum flink_job_state state;

		answer = flink_rest_job_state(rest, arg[1], TIMEOUT_MS, &state, err);
		if (answer == FLINK_OK)
			printf("ok %s", flink_job_state_name(state));
	} else if (strcmp(arg[0], "checkpoints") == 0) {
		struct flink_checkpoints checkpoints = {0};

		answer = flink_rest_checkpoints(rest, arg[1], TIMEOUT_MS, &checkpoints, NULL, err);
		if (answer == FLINK_OK) {
			printf("ok ");
			print_checkpoints(&checkpoints);
		}
		flink_checkpoints_release(&checkpoints);
	} else if (strcmp(arg[0], "exception") == 0) {
		struct flink_exception exception = {0};

		answer = flink_rest_exception(rest, arg[1], TIMEOUT_MS, &exception, err);
		if (answer == FLINK_OK)
			printf("ok %s", exception.present ? exception.sentence : "none");
		flink_exception_release(&exception);
	} else if (strcmp(arg[0], "cancel") == 0) {
		bool ended;

		answer = flink_rest_cancel(rest, arg[1], TIMEOUT_MS, &ended, err);
		if (answer == FLINK_OK)
			printf("ok %s", ended ? "ended" : "accepted");
	} else if (strcmp(arg[0], "savepoint") == 0 || strcmp(arg[0], "stop") == 0) {
		answer = arg[0][1] == 'a' ? flink_rest_savepoint(rest, &request, TIMEOUT_MS, err)
					  : flink_rest_stop(rest, &request, TIMEOUT_MS, err);
		if (answer == FLINK_OK)
			printf("ok accepted");
	} else {
		err_set(err, ERR_CONFIG, 0, "no call '%s'", arg[0]);
	}
	return answer;
}

static enum flink_answer call(const struct flink_rest *rest, char **arg, struct err *err)
{
	struct flink_operation operation = {0};
	char trigger[FLINK_ID_CHARS + 1];
	struct flink_slots slots;
	enum flink_answer answer;

	if (strcmp(arg[0], "slots") == 0) {
		answer = flink_rest_slots(rest, TIMEOUT_MS, &slots, err);
		if (answer == FLINK_OK)
			printf("ok %d", slots.total);
		return answer;
	}
	if (!arg[1])
		return err_set(err, ERR_CONFIG, 0, "'%s' of what?", arg[0]), FLINK_ERROR;
	if (strcmp(arg[0], "dispose") == 0) {
		answer = flink_rest_dispose(rest, arg[1], TIMEOUT_MS, trigger, err);
		if (answer == FLINK_OK)
			printf("ok %s", trigger);
		return answer;
	}
	if (strcmp(arg[0], "disposal") != 0 && strcmp(arg[0], "operation") != 0)
		return call_job(rest, arg, err);
	answer = strcmp(arg[0], "disposal") == 0
			 ? flink_rest_disposal(rest, arg[1], TIMEOUT_MS, &operation, err)
			 : flink_rest_operation(rest, arg[1], arg[2], TIMEOUT_MS, &operation, err);
	if (answer == FLINK_OK) {
		printf("ok ");
		print_operation(&operation);
	}
	flink_operation_release(&operation);
	return answer;
}

static int do_rest(char **arg)
{
	static const char *const classes[] = {"ok", "not-yet", "absent", "error"};
	struct err err = {0};
	struct flink_rest rest = {.base_url = arg[0], .http = http_new(NULL, &err)};
	enum flink_answer answer;

	if (!rest.http) {
		fprintf(stderr, "%s\n", err.msg);
		return 2;
	}
	answer = call(&rest, arg + 1, &err);
	if (answer != FLINK_OK)
		printf("%s %s", classes[answer], err.msg);
	printf("\n");
	http_free(rest.http);
	return 0;
}

static int do_launch(char **arg)
{
	struct flink_launch launch = {.env = (const char *const *)environ};
	cleanup_free char *store = NULL, *applications = NULL;
	struct flink_exec exec = {0};
	struct err err = {0};
	char **end;

	if (!arg[0] || !arg[1] || !arg[2] || !arg[3] || !arg[4] || strcmp(arg[4], "--") != 0)
		return usage();
	for (end = arg + 5; *end && strcmp(*end, "--") != 0; end++)
		;
	if (*end) {
		*end = NULL;
		launch.program_args = (const char *const *)end + 1;
	}
	store = xasprintf("%s/jobs/%s", arg[2], arg[1]);
	applications = xasprintf("%s/applications/%s", arg[2], arg[1]);
	launch.command = (const char *const *)arg + 5;
	launch.job_id = launch.application_id = arg[1];
	launch.job_result_store = store;
	launch.application_result_store = applications;
	launch.restore_path = strcmp(arg[3], "-") == 0 ? NULL : arg[3];
	launch.job_class = "drey.ContinuityJob";
	launch.heartbeat_interval_ms = FLINK_HEARTBEAT_INTERVAL_MS;
	if (flink_version_parse(arg[0], &launch.version, &err) < 0 ||
	    flink_launch_build(&launch, &exec, &err) < 0) {
		fprintf(stderr, "%s\n", err.msg);
		return 2;
	}
	for (size_t i = 0; i < exec.argc; i++)
		fwrite(exec.argv[i], strlen(exec.argv[i]) + 1, 1, stdout);
	flink_exec_release(&exec);
	return 0;
}

static int do_version(char **arg)
{
	struct flink_version version;
	char text[FLINK_VERSION_TEXT_BYTES];
	struct err err = {0};

	if (flink_version_detect((const char *const *)arg, (const char *const *)environ, &version,
				 NULL, &err) < 0) {
		fprintf(stderr, "%s\n", err.msg);
		return 1;
	}
	printf("%s\n", flink_version_print(version, text));
	return 0;
}

static int do_settings(char **arg)
{
	struct flink_version version;
	struct flink_conf conf = {0};
	struct flink_settings settings;
	struct err err = {0};

	if (!arg[0] || !arg[1])
		return usage();
	if (flink_version_parse(arg[1], &version, &err) < 0 ||
	    flink_conf_load(arg[0], version, &conf, &err) < 0 ||
	    flink_conf_settings(&conf, &settings, &err) < 0) {
		fprintf(stderr, "%s\n", err.msg);
		flink_conf_release(&conf);
		return 1;
	}
	printf("%s %d %lld\n", settings.checkpoint_dir, settings.rest_port,
	       (long long)settings.heartbeat_timeout_ms);
	flink_conf_release(&conf);
	return 0;
}

static int put(const char *dir, const char *name, char **list)
{
	cleanup_free char *path = xasprintf("%s/%s", dir, name);
	FILE *file = fopen(path, "w");

	for (; file && *list; list++)
		fwrite(*list, strlen(*list) + 1, 1, file);
	return file ? fclose(file) : -1;
}

/* What stands on the command line comes last; there, the last of several wins. */
static int put_read(const char *dir, struct flink_conf *conf, char **argv)
{
	cleanup_free char *path = xasprintf("%s/read", dir);
	FILE *file = fopen(path, "w");

	/* behind it are the arguments of the program */
	for (char **word = argv; *word; word++)
		if (strcmp(*word, "--") == 0) {
			*word = NULL;
			break;
		}
	flink_conf_add_command(conf, (const char *const *)argv);
	for (size_t i = 0; file && i < conf->count; i++)
		fprintf(file, "%s=%s\n", conf->entries[i].key, conf->entries[i].value);
	return file ? fclose(file) : -1;
}

static int do_read(char **arg)
{
	struct launch launch = {.number = 1, .job_result_path = "file:///results"};
	struct flink_exec exec = {0};
	char **argv = NULL;
	struct setup setup;
	struct err err = {0};

	if (!arg[0] || !arg[1])
		return usage();
	memset(launch.job_id, 'a', JOB_ID_BYTES - 1);
	memset(launch.application_id, 'b', JOB_ID_BYTES - 1);
	launch.application_result_path = "file:///application-results";
	if (setup_load(arg[0], &setup, &err) < 0 ||
	    launch_build(&setup, &launch, &exec, NULL, &err) < 0) {
		fprintf(stderr, "%s\n", err.msg);
		return 2;
	}
	argv = xcalloc(exec.argc + 1, sizeof(*argv));
	memcpy(argv, exec.argv, exec.argc * sizeof(*argv));
	if (put(arg[1], "argv", exec.argv) < 0 || put(arg[1], "env", exec.env) < 0 ||
	    put_read(arg[1], &setup.flink_conf, argv) < 0) {
		perror(arg[1]);
		return 1;
	}
	free(argv);
	flink_exec_release(&exec);
	setup_release(&setup);
	return 0;
}

static int do_exit(char **arg)
{
	struct flink_exit exit;

	if (!arg[0])
		return usage();
	exit = flink_exit_explain(atoi(arg[0]) << 8, false);
	printf("%s: %s\n", flink_exit_kind_name(exit.kind), exit.sentence);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return usage();
	if (strcmp(argv[1], "rest") == 0 && argc >= 4)
		return do_rest(argv + 2);
	if (strcmp(argv[1], "launch") == 0)
		return do_launch(argv + 2);
	if (strcmp(argv[1], "version") == 0)
		return do_version(argv + 2);
	if (strcmp(argv[1], "settings") == 0)
		return do_settings(argv + 2);
	if (strcmp(argv[1], "read") == 0)
		return do_read(argv + 2);
	if (strcmp(argv[1], "exit") == 0)
		return do_exit(argv + 2);
	return usage();
}
