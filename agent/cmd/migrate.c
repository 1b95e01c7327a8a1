/*
 * drey migrate: what it is, for help, manual and completions. The work is done by drey-migrate (migrate/), a program of its
 * own: it is needed once in the life of an application, on the machine of a person, and no image has it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/mem.h"
#include "cmd/commands.h"

#define PROGRAM "drey-migrate"

/* What was given, as words again. */
static void add_options(const struct cli *cli, char **argv, int *count)
{
	const struct cli_option *option = cli->command->options;

	for (int i = 0; option[i].name; i++) {
		/* -o implies it, and excludes it */
		bool implied = !strcmp(option[i].name, "json") && cli_value(cli, "output");

		if (cli->values[i] && !implied)
			argv[(*count)++] = option[i].argument ? xasprintf("--%s=%s", option[i].name,
									  cli->values[i])
							      : xasprintf("--%s", option[i].name);
	}
}

static int migrate_run(const struct cli *cli)
{
	char *argv[CLI_MAX_OPTIONS + 4] = {xstrdup(PROGRAM)};
	cleanup_free char *dir = fs_program_dir(NULL);
	cleanup_free char *beside = dir ? xasprintf("%s/" PROGRAM, dir) : NULL;
	int count = 1, sys;

	add_options(cli, argv, &count);
	argv[count++] = xstrdup("--");
	argv[count++] = xstrdup(cli->args[0]);
	if (beside)
		execv(beside, argv);
	execvp(PROGRAM, argv);
	sys = errno;
	while (count)
		free(argv[--count]);
	if (sys == ENOENT)
		return cli_fail(cli, CLI_FAILED,
				PROGRAM
				" is neither beside drey nor in $PATH: no image has it; "
				"run `drey migrate` on your own machine, from a release of drey");
	return cli_fail(cli, CLI_FAILED, "%s: %s", beside ? beside : PROGRAM, strerror(sys));
}

static const struct cli_option options[] = {
	{"name", 'n', "NAME", "NAME or NAMESPACE/NAME of the object, if several have a job", false},
	{"state-uri", 's', "URI",
	 "state.uri of the values: where the new application stores its\n"
	 "state (default: beside the old checkpoints)",
	 false},
	CLI_JSON,
	CLI_END,
};

const struct cli_command cmd_migrate = {
	.name = "migrate",
	.arguments = "FILE",
	.min_args = 1,
	.max_args = 1,
	.summary = "turn a FlinkDeployment into values of the chart",
	.description =
		"Reads objects of the Apache Flink Kubernetes Operator from the YAML or JSON in FILE\n"
		"(\"-\": standard input), and prints a values.yaml for drey's chart: of the only\n"
		"FlinkDeployment or FlinkBlueGreenDeployment with a job, or of the one that --name\n"
		"names. Lists on standard error what has to be decided, what has no counterpart, what\n"
		"was mapped, and what is not needed: no field is left out silently. Changes nothing,\n"
		"and talks to no cluster.\n",
	.options = options,
	.statuses = "0  the values were printed; read what has to be decided\n"
		    "1  the file could not be read, or drey-migrate is not installed\n"
		    "2  wrong usage, or no values can be made of the file; it says why\n",
	.example = "kubectl get flinkdeployment orders -o yaml | drey migrate - >values.yaml\n",
	.run = migrate_run,
};
