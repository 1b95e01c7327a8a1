/*
 * cli - from argv to a command: options, --help, messages, exit statuses. All commands use it.
 *
 * A command is one constant struct cli_command in its own file, listed in commands.h and in the
 * table of main.c. It gets a parsed struct cli, writes its result to cli->out and everything else
 * (progress, errors) to cli->err, and returns an exit status.
 */
#ifndef DREY_CMD_CLI_H
#define DREY_CMD_CLI_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "cmd/out.h"

struct config;

#define CLI_MAX_OPTIONS 16
#define CLI_MAX_ARGS    256 /* the command line of a JVM is one argument for each of its words */
#define CLI_MAX_REPEATS 64

/* Exit statuses of all commands, so that scripts need one table. README.md has it too. */
enum cli_exit {
	CLI_OK = 0,      /* done, Running, complete, would launch */
	CLI_FAILED = 1,  /* attempted and failed; status: between two states */
	CLI_USAGE = 2,   /* wrong usage or configuration; nothing was changed */
	CLI_PARKED = 3,  /* the application does not run, as desired */
	CLI_HELD = 4,    /* drey holds: it may not start, and reports why */
	CLI_ABSENT = 5,  /* no running drey found, or it did not respond */
	CLI_TIMEOUT = 6, /* timed out; the request remains in force */
};

struct cli_option {
	const char *name;     /* "timeout" is --timeout */
	char letter;          /* 'c' is -c; 0 = none */
	const char *argument; /* "DURATION"; NULL = a flag */
	const char *help;     /* lines after the first are indented by cli_help() */
	bool repeat;          /* may be given more than once: cli_values() */
};

struct cli;

struct cli_command {
	const char *program; /* how the program was called: "kubectl drey"; NULL = drey */
	const char *name;
	const char *arguments; /* as in the synopsis: "PATH", "on|off"; NULL = none */
	int min_args, max_args;
	const char *summary;              /* half a line */
	const char *description;          /* paragraphs, each line ended by \n */
	const struct cli_option *options; /* up to .name == NULL; --help is added */
	const char *statuses;             /* lines "0  meaning\n" */
	const char *example;              /* lines */
	int (*run)(const struct cli *cli);
	/* where cli_config() gets the configuration; NULL = the file named by --config */
	int (*config)(const struct cli *cli, struct config *ret_config, struct err *err);
};

struct cli {
	const struct cli_command *command;
	struct out out, err;
	const char *values[CLI_MAX_OPTIONS]; /* by index in options; NULL = not given, "" = flag */
	const char *args[CLI_MAX_ARGS + 1];  /* NULL-terminated */
	int arg_count;
	struct {
		int option; /* index */
		const char *value;
	} repeats[CLI_MAX_REPEATS]; /* every value of the options that may be repeated */
	int repeat_count;
	bool help; /* -h was given among bundled letters */
};

/* Options that several commands have. */
#define CLI_CONFIG                                                                                 \
	{                                                                                          \
		"config", 'c', "FILE",                                                             \
			"configuration file (default $DREY_CONFIG, then /etc/drey/drey.yaml)",     \
			false                                                                      \
	}
#define CLI_JSON                                                                                   \
	{"json", 0, NULL, "print one JSON document", false},                                       \
	{                                                                                          \
		"output", 'o', "FORMAT", "print one document as json or yaml", false               \
	}
/* -o wide, too: the command prints more for people then. */
#define CLI_JSON_WIDE                                                                              \
	{"json", 0, NULL, "print one JSON document", false},                                       \
	{                                                                                          \
		"output", 'o', "FORMAT", CLI_OUTPUT_WIDE, false                                    \
	}
#define CLI_OUTPUT_WIDE "print one document as json or yaml, or more as text: wide"
#define CLI_DRY_RUN                                                                                \
	{                                                                                          \
		"dry-run", 0, NULL, "print what would be requested, and change nothing", false     \
	}
#define CLI_YES                                                                                    \
	{                                                                                          \
		"yes", 'y', NULL, "do not ask on a terminal", false                                \
	}
#define CLI_WAIT                                                                                   \
	{"timeout", 't', "DURATION", "maximum time to wait, for example 90s (default 10min)",      \
	 false},                                                                                   \
		{"no-wait", 0, NULL, "return as soon as the request is durable", false},           \
		CLI_DRY_RUN
#define CLI_END                                                                                    \
	{                                                                                          \
		NULL, 0, NULL, NULL, false                                                         \
	}

/*
 * The whole program: find the command in the NULL-terminated table, parse, run. Handles
 * `drey --help`, `drey help COMMAND`, `drey COMMAND --help`, `drey --version`, `drey -c FILE COMMAND`. Returns the exit
 * status; output that cannot be written is CLI_FAILED.
 */
int cli_main(const struct cli_command *const *commands, int argc, char **argv, FILE *out,
	     FILE *err);

/*
 * Parse the words after the command's name. CLI_OK, or CLI_USAGE with a message on `err`. Words
 * stay borrowed from argv. Options may come before and after arguments; "--" ends them; an option
 * given twice is rejected. Letters may be bundled ("-ec FILE", "-cFILE"). A slip of the pen is answered
 * with the nearest option. With -o json or yaml, cli_has(cli, "json") is true, too.
 */
int cli_parse(const struct cli_command *command, int argc, char **argv, struct out out,
	      struct out err, struct cli *ret_cli);

void cli_help(const struct cli_command *command, struct out out);

/* The value of an option; NULL when not given. The name must be in the command's table. */
const char *cli_value(const struct cli *cli, const char *name);
bool cli_has(const struct cli *cli, const char *name);

/* All values of an option that may be repeated, in order; borrowed. Returns how many. */
size_t cli_values(const struct cli *cli, const char *name, const char *ret_values[CLI_MAX_REPEATS]);

/* --timeout in ms, or fallback_ms. ERR_CONFIG. */
int cli_timeout(const struct cli *cli, int64_t fallback_ms, int64_t *ret_ms, struct err *err);

/* "drey", or what the program was called. */
const char *cli_program(const struct cli_command *command);

/*
 * "drey COMMAND: MESSAGE" on cli->err; what comes from outside is an argument, and made harmless (out.h).
 * Returns status, so that `return cli_fail(...)` works.
 */
int cli_fail(const struct cli *cli, int status, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* cli_config() has failed: its message, and the exit status. */
int cli_config_fail(const struct cli *cli, const struct err *err);

/* The file named by --config, $DREY_CONFIG (ignored if empty) or the default. Borrowed. */
const char *cli_config_path(const struct cli *cli);

/* Load the configuration named by --config, $DREY_CONFIG or the default; or as the command says. */
int cli_config(const struct cli *cli, struct config *ret_config, struct err *err);

#endif
