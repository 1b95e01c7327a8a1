#include "cmd/cli.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "run/config/config.h"

static const struct cli_option help_option = {"help", 'h', NULL, "print this help", false};

static int option_count(const struct cli_command *command)
{
	int count = 0;

	while (command->options && command->options[count].name)
		count++;
	return count;
}

static int option_find(const struct cli_command *command, const char *name, size_t len)
{
	for (int i = 0; i < option_count(command); i++)
		if (strlen(command->options[i].name) == len &&
		    strncmp(command->options[i].name, name, len) == 0)
			return i;
	return -1;
}

static int option_find_letter(const struct cli_command *command, char letter)
{
	for (int i = 0; letter && i < option_count(command); i++)
		if (command->options[i].letter == letter)
			return i;
	return -1;
}

static int option_index(const struct cli *cli, const char *name)
{
	int index = option_find(cli->command, name, strlen(name));

	if (index < 0) {
		fprintf(stderr, "drey: bug: %s has no option --%s\n", cli->command->name, name);
		abort();
	}
	return index;
}

const char *cli_value(const struct cli *cli, const char *name)
{
	return cli->values[option_index(cli, name)];
}

size_t cli_values(const struct cli *cli, const char *name, const char *ret_values[CLI_MAX_REPEATS])
{
	int index = option_index(cli, name);
	size_t count = 0;

	for (int i = 0; i < cli->repeat_count; i++)
		if (cli->repeats[i].option == index)
			ret_values[count++] = cli->repeats[i].value;
	return count;
}

bool cli_has(const struct cli *cli, const char *name)
{
	return cli_value(cli, name) != NULL;
}

int cli_fail(const struct cli *cli, int status, const char *fmt, ...)
{
	va_list args;

	fprintf(cli->err, "drey %s: ", cli->command->name);
	va_start(args, fmt);
	vfprintf(cli->err, fmt, args);
	va_end(args);
	fputc('\n', cli->err);
	return status;
}

int cli_timeout(const struct cli *cli, int64_t fallback_ms, int64_t *ret_ms, struct err *err)
{
	const char *text = cli_value(cli, "timeout");

	if (!text) {
		*ret_ms = fallback_ms;
		return 0;
	}
	if (clock_parse_duration(text, ret_ms, err) < 0)
		return err_wrap(err, "--timeout");
	return 0;
}

const char *cli_config_path(const struct cli *cli)
{
	const char *path = cli_value(cli, "config");
	const char *from_env = getenv(CONFIG_ENV);

	if (path)
		return path;
	return from_env && *from_env ? from_env : CONFIG_DEFAULT_FILE;
}

int cli_config(const struct cli *cli, struct config *ret_config, struct err *err)
{
	const char *path = cli_config_path(cli);
	struct err why = {0};

	if (config_load(path, ret_config, &why) == 0)
		return 0;
	if (why.kind == ERR_ABSENT)
		return err_set(
			err, ERR_CONFIG, 0,
			"configuration file %s not found; pass --config FILE or set $" CONFIG_ENV,
			path);
	return err_set(err, why.kind, 0, "%s", why.msg);
}

/* Prints text; all lines after the first start at `column`. */
static void print_indented(FILE *out, const char *text, int column)
{
	for (; *text; text++) {
		fputc(*text, out);
		if (*text == '\n' && text[1])
			fprintf(out, "%*s", column, "");
	}
}

static void print_option(FILE *out, const struct cli_option *option)
{
	char left[64];

	snprintf(left, sizeof(left), "%c%c%s --%s%s%s", option->letter ? '-' : ' ',
		 option->letter ? option->letter : ' ', option->letter ? "," : " ", option->name,
		 option->argument ? " " : "", option->argument ? option->argument : "");
	fprintf(out, "  %-26s  ", left);
	print_indented(out, option->help, 30);
	fputc('\n', out);
}

void cli_help(const struct cli_command *command, FILE *out)
{
	fprintf(out, "drey %s - %s\n\nUsage: drey %s", command->name, command->summary,
		command->name);
	for (int i = 0; i < option_count(command); i++)
		fprintf(out, " [--%s%s%s]%s", command->options[i].name,
			command->options[i].argument ? " " : "",
			command->options[i].argument ? command->options[i].argument : "",
			command->options[i].repeat ? "..." : "");
	if (command->arguments)
		fprintf(out, " %s", command->arguments);
	fprintf(out, "\n\n%s\nOptions:\n", command->description);
	for (int i = 0; i < option_count(command); i++)
		print_option(out, &command->options[i]);
	print_option(out, &help_option);
	fputs("\nExit status:\n  ", out);
	print_indented(out, command->statuses, 2);
	if (command->example) {
		fputs("\nExample:\n  ", out);
		print_indented(out, command->example, 2);
	}
}

static int usage(const struct cli_command *command, FILE *err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static int usage(const struct cli_command *command, FILE *err, const char *fmt, ...)
{
	va_list args;

	fprintf(err, "drey %s: ", command->name);
	va_start(args, fmt);
	vfprintf(err, fmt, args);
	va_end(args);
	fprintf(err, "; see `drey %s --help`\n", command->name);
	return CLI_USAGE;
}

/* argv[*at] is an option; *at moves to its last word. */
static int parse_option(struct cli *cli, int argc, char **argv, int *at)
{
	const struct cli_command *command = cli->command;
	const char *word = argv[*at];
	bool is_long = word[1] == '-';
	size_t len = strcspn(word, "=");
	const char *value = word[len] ? word + len + 1 : NULL;
	int index = is_long    ? option_find(command, word + 2, len - 2)
		    : len == 2 ? option_find_letter(command, word[1])
			       : -1;

	if (index < 0)
		return usage(command, cli->err, "unknown option %.*s", (int)len, word);
	if (cli->values[index] && !command->options[index].repeat)
		return usage(command, cli->err, "%.*s may be given only once", (int)len, word);
	if (!command->options[index].argument) {
		if (value)
			return usage(command, cli->err, "%.*s takes no value", (int)len, word);
		cli->values[index] = "";
		return CLI_OK;
	}
	if (!value && *at + 1 < argc)
		value = argv[++*at];
	if (!value || !*value)
		return usage(command, cli->err, "%.*s needs a value (%s)", (int)len, word,
			     command->options[index].argument);
	if (command->options[index].repeat && cli->repeat_count == CLI_MAX_REPEATS)
		return usage(command, cli->err, "options that may be repeated: at most %d in all",
			     CLI_MAX_REPEATS);
	if (command->options[index].repeat) {
		cli->repeats[cli->repeat_count].option = index;
		cli->repeats[cli->repeat_count++].value = value;
	}
	if (!cli->values[index])
		cli->values[index] = value;
	return CLI_OK;
}

int cli_parse(const struct cli_command *command, int argc, char **argv, FILE *out, FILE *err,
	      struct cli *ret_cli)
{
	struct cli cli = {.command = command, .out = out, .err = err};
	bool options = true;

	if (option_count(command) > CLI_MAX_OPTIONS || command->max_args > CLI_MAX_ARGS)
		abort();
	for (int i = 0; i < argc; i++) {
		const char *word = argv[i];

		if (options && strcmp(word, "--") == 0) {
			options = false;
		} else if (options && word[0] == '-' && word[1]) {
			if (parse_option(&cli, argc, argv, &i) != CLI_OK)
				return CLI_USAGE;
		} else if (cli.arg_count < command->max_args) {
			cli.args[cli.arg_count++] = word;
		} else {
			return usage(command, err, "unexpected argument '%s'", word);
		}
	}
	if (cli.arg_count < command->min_args)
		return usage(command, err, "%s is missing", command->arguments);
	*ret_cli = cli;
	return CLI_OK;
}

static void print_overview(const struct cli_command *const *commands, FILE *out)
{
	fputs("drey - supervises an Apache Flink application: starts it from the right state, once\n\n"
	      "Usage: drey COMMAND [OPTIONS]\n\nCommands:\n",
	      out);
	for (; *commands; commands++)
		fprintf(out, "  %-16s %s\n", (*commands)->name, (*commands)->summary);
	fputs("\nRun `drey COMMAND --help` for details.\n", out);
}

static const struct cli_command *command_find(const struct cli_command *const *commands,
					      const char *name)
{
	for (; *commands; commands++)
		if (strcmp((*commands)->name, name) == 0)
			return *commands;
	return NULL;
}

static bool wants_help(int argc, char **argv)
{
	for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
			return true;
	return false;
}

static int dispatch(const struct cli_command *const *commands, int argc, char **argv, FILE *out,
		    FILE *err)
{
	const char *name = argc > 1 ? argv[1] : NULL;
	const struct cli_command *command;
	bool help = false;
	struct cli cli;

	if (!name) {
		print_overview(commands, err);
		return CLI_USAGE;
	}
	if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0)
		name = "version";
	if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
		if (argc < 3) {
			print_overview(commands, out);
			return CLI_OK;
		}
		name = argv[2];
		help = true;
	}
	command = command_find(commands, name);
	if (!command) {
		fprintf(err, "drey: unknown command '%s'; see `drey --help`\n", name);
		return CLI_USAGE;
	}
	if (help || wants_help(argc - 2, argv + 2)) {
		cli_help(command, out);
		return CLI_OK;
	}
	if (cli_parse(command, argc - 2, argv + 2, out, err, &cli) != CLI_OK)
		return CLI_USAGE;
	return command->run(&cli);
}

int cli_main(const struct cli_command *const *commands, int argc, char **argv, FILE *out, FILE *err)
{
	int status = dispatch(commands, argc, argv, out, err);

	if (fflush(out) != 0 || ferror(out)) {
		fputs("drey: cannot write the output\n", err);
		return status == CLI_OK ? CLI_FAILED : status;
	}
	return status;
}
