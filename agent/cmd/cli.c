#include "cmd/cli.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/distance.h"
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
		out_put(cli->err, "drey: bug: %s has no option --%s\n", cli->command->name, name);
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

const char *cli_program(const struct cli_command *command)
{
	return command && command->program ? command->program : "drey";
}

int cli_fail(const struct cli *cli, int status, const char *fmt, ...)
{
	va_list args;

	out_put(cli->err, "%s %s: ", cli_program(cli->command), cli->command->name);
	va_start(args, fmt);
	out_vput(cli->err, fmt, args);
	va_end(args);
	out_put(cli->err, "\n");
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

/* What a command takes from elsewhere may be missing or denied; a file is the caller's mistake. */
int cli_config_fail(const struct cli *cli, const struct err *err)
{
	return cli_fail(cli,
			cli->command->config && err->kind != ERR_CONFIG ? CLI_ABSENT : CLI_USAGE,
			"%s", err->msg);
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
	const char *path;
	struct err why = {0};

	if (cli->command->config)
		return cli->command->config(cli, ret_config, err);
	path = cli_config_path(cli);
	if (config_load(path, ret_config, &why) == 0)
		return 0;
	if (why.kind == ERR_ABSENT)
		return err_set(
			err, ERR_CONFIG, 0,
			"configuration file %s not found; pass --config FILE or set $" CONFIG_ENV,
			path);
	return err_set(err, why.kind, 0, "%s", why.msg);
}

/* Prints a text of a command's table; all lines after the first start at `column`. */
static void print_indented(struct out out, const char *text, int column)
{
	while (*text) {
		size_t len = strcspn(text, "\n");

		out_put(out, "%.*s", (int)len, text);
		text += len;
		if (*text && *++text)
			out_put(out, "\n%*s", column, "");
		else if (len && text[-1] == '\n')
			out_put(out, "\n");
	}
}

static void print_option(struct out out, const struct cli_option *option)
{
	char left[64];

	snprintf(left, sizeof(left), "%c%c%s --%s%s%s", option->letter ? '-' : ' ',
		 option->letter ? option->letter : ' ', option->letter ? "," : " ", option->name,
		 option->argument ? " " : "", option->argument ? option->argument : "");
	out_put(out, "  %-26s  ", left);
	print_indented(out, option->help, 30);
	out_put(out, "\n");
}

void cli_help(const struct cli_command *command, struct out out)
{
	const char *program = cli_program(command);

	out_put(out, "%s %s - %s\n\nUsage: %s %s", program, command->name, command->summary,
		program, command->name);
	for (int i = 0; i < option_count(command); i++)
		out_put(out, " [--%s%s%s]%s", command->options[i].name,
			command->options[i].argument ? " " : "",
			command->options[i].argument ? command->options[i].argument : "",
			command->options[i].repeat ? "..." : "");
	if (command->arguments)
		out_put(out, " %s", command->arguments);
	out_put(out, "\n\n");
	print_indented(out, command->description, 0);
	out_put(out, "\nOptions:\n");
	for (int i = 0; i < option_count(command); i++)
		print_option(out, &command->options[i]);
	print_option(out, &help_option);
	out_put(out, "\nExit status:\n  ");
	print_indented(out, command->statuses, 2);
	if (command->example) {
		out_put(out, "\nExample:\n  ");
		print_indented(out, command->example, 2);
	}
}

static int usage(const struct cli_command *command, struct out err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static int usage(const struct cli_command *command, struct out err, const char *fmt, ...)
{
	va_list args;

	out_put(err, "%s %s: ", cli_program(command), command->name);
	va_start(args, fmt);
	out_vput(err, fmt, args);
	va_end(args);
	out_put(err, "; see `%s %s --help`\n", cli_program(command), command->name);
	return CLI_USAGE;
}

static int unknown_option(const struct cli *cli, const char *word, size_t len)
{
	const struct cli_command *command = cli->command;
	const char *names[CLI_MAX_OPTIONS + 2], *nearest = NULL;
	cleanup_free char *name = xstrndup(word, len);
	int count = option_count(command);

	for (int i = 0; i < count; i++)
		names[i] = command->options[i].name;
	names[count] = help_option.name;
	names[count + 1] = NULL;
	if (!strncmp(name, "--", 2))
		nearest = distance_nearest(name + 2, names);
	if (nearest)
		return usage(command, cli->err, "unknown option %s; did you mean --%s?", name,
			     nearest);
	return usage(command, cli->err, "unknown option %s", name);
}

/* The option `index`, written as `word`; `value` NULL: the next word, if it needs one. */
static int take_option(struct cli *cli, int index, const char *word, const char *value, int argc,
		       char **argv, int *at)
{
	const struct cli_command *command = cli->command;
	const struct cli_option *option = &command->options[index];

	if (cli->values[index] && !option->repeat)
		return usage(command, cli->err, "%s may be given only once", word);
	if (!option->argument) {
		if (value)
			return usage(command, cli->err, "%s takes no value", word);
		cli->values[index] = "";
		return CLI_OK;
	}
	if (!value && *at + 1 < argc)
		value = argv[++*at];
	if (!value || !*value)
		return usage(command, cli->err, "%s needs a value (%s)", word, option->argument);
	if (option->repeat && cli->repeat_count == CLI_MAX_REPEATS)
		return usage(command, cli->err, "options that may be repeated: at most %d in all",
			     CLI_MAX_REPEATS);
	if (option->repeat) {
		cli->repeats[cli->repeat_count].option = index;
		cli->repeats[cli->repeat_count++].value = value;
	}
	if (!cli->values[index])
		cli->values[index] = value;
	return CLI_OK;
}

/* "-ec", "-cFILE", "-c=FILE": flags, and at the end one with a value. */
static int parse_letters(struct cli *cli, int argc, char **argv, int *at)
{
	for (const char *letter = argv[*at] + 1; *letter; letter++) {
		int index = option_find_letter(cli->command, *letter);
		char word[3] = {'-', *letter, '\0'};
		bool flag = index >= 0 && !cli->command->options[index].argument;
		const char *value = flag && letter[1] != '=' ? NULL : letter + 1;

		if (index < 0 && *letter == help_option.letter) {
			cli->help = true;
			continue;
		}
		if (index < 0)
			return unknown_option(cli, word, 2);
		if (value && !*value)
			value = NULL;
		if (value && *value == '=')
			value++;
		if (take_option(cli, index, word, value, argc, argv, at) != CLI_OK)
			return CLI_USAGE;
		if (!flag)
			break;
	}
	return CLI_OK;
}

/* argv[*at] is an option; *at moves to its last word. */
static int parse_option(struct cli *cli, int argc, char **argv, int *at)
{
	const char *word = argv[*at];
	size_t len = strcspn(word, "=");
	cleanup_free char *name = xstrndup(word, len);
	int index;

	if (word[1] != '-')
		return parse_letters(cli, argc, argv, at);
	index = option_find(cli->command, word + 2, len - 2);
	if (index < 0)
		return unknown_option(cli, word, len);
	return take_option(cli, index, name, word[len] ? word + len + 1 : NULL, argc, argv, at);
}

/* -o FORMAT: json and yaml are documents, as --json is. */
static int check_output(struct cli *cli)
{
	int output = option_find(cli->command, "output", strlen("output"));
	int json = option_find(cli->command, "json", strlen("json"));
	const char *format = output < 0 ? NULL : cli->values[output];
	bool wide = format && !strcmp(cli->command->options[output].help, CLI_OUTPUT_WIDE);

	if (!format)
		return CLI_OK;
	if (cli->values[json])
		return usage(cli->command, cli->err, "--json and --output exclude each other");
	if (!strcmp(format, "json") || !strcmp(format, "yaml"))
		cli->values[json] = "";
	else if (!wide || strcmp(format, "wide") != 0)
		return usage(cli->command, cli->err, "--output %s: expected json%s", format,
			     wide ? ", yaml or wide" : " or yaml");
	return CLI_OK;
}

int cli_parse(const struct cli_command *command, int argc, char **argv, struct out out,
	      struct out err, struct cli *ret_cli)
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
	if (check_output(&cli) != CLI_OK)
		return CLI_USAGE;
	if (cli.arg_count < command->min_args && !cli.help)
		return usage(command, err, "%s is missing", command->arguments);
	*ret_cli = cli;
	return CLI_OK;
}

static void print_overview(const struct cli_command *const *commands, struct out out)
{
	const char *program = cli_program(*commands);

	out_put(out, "%s - %s\n\nUsage: %s COMMAND [OPTIONS]\n\nCommands:\n", program,
		(*commands)->program
			? "the Apache Flink applications of a cluster that drey supervises"
			: "supervises an Apache Flink application: starts it from the right state, once",
		program);
	for (; *commands; commands++)
		out_put(out, "  %-16s %s\n", (*commands)->name, (*commands)->summary);
	out_put(out, "\nRun `%s COMMAND --help` for details.\n", program);
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

static int unknown_command(const struct cli_command *const *commands, const char *name,
			   struct out err)
{
	const char *names[64] = {NULL}, *nearest;
	cleanup_buf struct buf text = BUF_INIT;

	for (size_t i = 0; commands[i] && i + 1 < ARRAY_LEN(names); i++)
		names[i] = commands[i]->name;
	nearest = distance_nearest(name, names);
	if (nearest)
		out_put(err, "%s: unknown command '%s'; did you mean '%s'?\n",
			cli_program(*commands), name, nearest);
	else
		out_put(err, "%s: unknown command '%s'; see `%s --help`\n", cli_program(*commands),
			name, cli_program(*commands));
	return CLI_USAGE;
}

static int run_command(const struct cli_command *command, int argc, char **argv, struct out out,
		       struct out err)
{
	struct cli cli = {0};

	if (wants_help(argc, argv)) {
		cli_help(command, out);
		return CLI_OK;
	}
	if (cli_parse(command, argc, argv, out, err, &cli) != CLI_OK)
		return CLI_USAGE;
	if (cli.help) {
		cli_help(command, out);
		return CLI_OK;
	}
	return command->run(&cli);
}

/* "-c FILE", "-cFILE", "--config FILE" or "--config=FILE": how many words; 0: it is not this option. */
static int words_of(const char *word, const char *shorter, const char *longer)
{
	size_t len = strlen(longer);

	if ((shorter && !strcmp(word, shorter)) || !strcmp(word, longer))
		return 2;
	return (shorter && !strncmp(word, shorter, strlen(shorter))) ||
	       (!strncmp(word, longer, len) && word[len] == '=');
}

/* `drey -c FILE status`: how many words of options for every command stand in front of it. */
static int words_before(const struct cli_command *const *commands, int argc, char **argv)
{
	static const char *const own[][2] = {{"-c", "--config"}, {NULL, NULL}};
	static const char *const others[][2] = {
		{"-n", "--namespace"}, {NULL, "--context"}, {NULL, "--kubeconfig"}, {NULL, NULL}};
	const char *const(*options)[2] = (*commands)->program ? others : own;
	int at = 1;

	while (at < argc) {
		int words = 0;

		for (int i = 0; options[i][1] && !words; i++)
			words = words_of(argv[at], options[i][0], options[i][1]);
		if (!words)
			break;
		at += words;
	}
	return at - 1;
}

static int dispatch(const struct cli_command *const *commands, int argc, char **argv,
		    struct out out, struct out err)
{
	int before = words_before(commands, argc, argv);
	const char *name = 1 + before < argc ? argv[1 + before] : NULL;
	const struct cli_command *command;
	bool help = false;

	if (!name) {
		print_overview(commands, err);
		return CLI_USAGE;
	}
	if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0)
		name = "version";
	if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
		if (argc < 3 + before) {
			print_overview(commands, out);
			return CLI_OK;
		}
		name = argv[2 + before];
		help = true;
	}
	command = command_find(commands, name);
	if (!command)
		return unknown_command(commands, name, err);
	if (help) {
		cli_help(command, out);
		return CLI_OK;
	}
	/* the words in front of the command's name follow it */
	memmove(argv + 2, argv + 1, (size_t)before * sizeof(*argv));
	return run_command(command, argc - 2, argv + 2, out, err);
}

int cli_main(const struct cli_command *const *commands, int argc, char **argv, FILE *out, FILE *err)
{
	int status = dispatch(commands, argc, argv, out_of(out), out_of(err));

	if (out_flush(out_of(out)) < 0) {
		out_put(out_of(err), "%s: cannot write the output\n", cli_program(*commands));
		return status == CLI_OK ? CLI_FAILED : status;
	}
	return status;
}
