#include <string.h>

#include "base/mem.h"
#include "cmd/cli.h"
#include "run/config/config.h"
#include "tests/unit/tap.h"

/* What the command saw last. */
static struct {
	char *config, *timeout;
	bool json;
	int args;
	char *arg;
	int64_t timeout_ms;
	char *words; /* "a b " */
} seen;

static int run_probe(const struct cli *cli)
{
	const char *words[CLI_MAX_REPEATS];
	size_t count = cli_values(cli, "word", words);
	struct err err = {0};

	xstrset(&seen.words, "");
	for (size_t i = 0; i < count; i++) {
		char *longer = xasprintf("%s%s ", seen.words, words[i]);

		free(seen.words);
		seen.words = longer;
	}

	xstrset(&seen.config, cli_value(cli, "config"));
	xstrset(&seen.timeout, cli_value(cli, "timeout"));
	xstrset(&seen.arg, cli->arg_count ? cli->args[0] : NULL);
	seen.json = cli_has(cli, "json");
	seen.args = cli->arg_count;
	if (cli_timeout(cli, 7, &seen.timeout_ms, &err) < 0)
		return cli_fail(cli, CLI_USAGE, "%s", err.msg);
	out_put(cli->out, "ran\n");
	return CLI_HELD;
}

static const struct cli_option options[] = {CLI_CONFIG,
					    CLI_JSON,
					    CLI_WAIT,
					    {"word", 'w', "WORD", "as often as you like", true},
					    {"flag", 'f', NULL, "a flag", false},
					    CLI_END};
static const struct cli_command probe = {
	.name = "probe",
	.arguments = "PATH",
	.max_args = 1,
	.summary = "look",
	.description = "Looks.\n",
	.options = options,
	.statuses = "0  seen\n1  not seen\n",
	.example = "drey probe x\n",
	.run = run_probe,
};
static const struct cli_command strict = {
	.name = "strict",
	.arguments = "on|off",
	.min_args = 1,
	.max_args = 1,
	.summary = "wants one",
	.description = "Wants one.\n",
	.options = options,
	.statuses = "0  fine\n",
	.run = run_probe,
};
static const struct cli_command *const commands[] = {&probe, &strict, NULL};

static char *out_text, *err_text;

#define DREY(...) drey((const char *const[]){__VA_ARGS__, NULL})

/* Run the words, up to NULL; output is in out_text and err_text. */
static int drey(const char *const *words)
{
	char *argv[16] = {(char *)"drey"};
	size_t out_len, err_len;
	int argc = 1, status;
	FILE *out, *err;

	for (; *words; words++)
		argv[argc++] = (char *)*words;
	free(out_text);
	free(err_text);
	out_text = err_text = NULL;
	out = open_memstream(&out_text, &out_len);
	err = open_memstream(&err_text, &err_len);
	status = cli_main(commands, argc, argv, out, err);
	fclose(out);
	fclose(err);
	return status;
}

TEST(options_stand_before_and_behind_arguments)
{
	CHECK_INT(DREY("probe", "--config", "a.yaml", "x", "--json", "--timeout=5s"), ==, CLI_HELD);
	CHECK_STR(out_text, "ran\n");
	CHECK_STR(seen.config, "a.yaml");
	CHECK(seen.json);
	CHECK_INT(seen.timeout_ms, ==, 5000);
	CHECK_STR(seen.arg, "x");
	CHECK_INT(DREY("probe", "-c", "b.yaml"), ==, CLI_HELD);
	CHECK_STR(seen.config, "b.yaml");
	CHECK(!seen.json);
	CHECK_INT(seen.timeout_ms, ==, 7);
	CHECK_INT(seen.args, ==, 0);
}

TEST(two_dashes_end_the_options)
{
	CHECK_INT(DREY("probe", "--", "--json"), ==, CLI_HELD);
	CHECK_STR(seen.arg, "--json");
	CHECK(!seen.json);
	CHECK_INT(DREY("probe", "-"), ==, CLI_HELD);
	CHECK_STR(seen.arg, "-");
}

TEST(wrong_use_runs_nothing_and_says_where_help_is)
{
	CHECK_INT(DREY("probe", "--nope"), ==, CLI_USAGE);
	CHECK_STR(err_text, "drey probe: unknown option --nope; see `drey probe --help`\n");
	CHECK_STR(out_text, "");
	CHECK_INT(DREY("probe", "-x"), ==, CLI_USAGE);
	CHECK_INT(DREY("probe", "--json=yes"), ==, CLI_USAGE);
	CHECK_HAS(err_text, "--json takes no value");
	CHECK_INT(DREY("probe", "--config"), ==, CLI_USAGE);
	CHECK_HAS(err_text, "--config needs a value (FILE)");
	CHECK_INT(DREY("probe", "--config="), ==, CLI_USAGE);
	CHECK_INT(DREY("probe", "--json", "--json"), ==, CLI_USAGE);
	CHECK_HAS(err_text, "--json may be given only once");
	CHECK_INT(DREY("probe", "a", "b"), ==, CLI_USAGE);
	CHECK_HAS(err_text, "unexpected argument 'b'");
	CHECK_INT(DREY("strict"), ==, CLI_USAGE);
	CHECK_HAS(err_text, "on|off is missing");
	CHECK_INT(DREY("probe", "--timeout", "5"), ==, CLI_USAGE);
	CHECK_HAS(err_text, "drey probe: --timeout: ");
	CHECK_INT(DREY("bogus"), ==, CLI_USAGE);
	CHECK_HAS(err_text, "unknown command 'bogus'");
	CHECK_INT(DREY(NULL), ==, CLI_USAGE);
	CHECK_HAS(err_text, "Usage: drey COMMAND");
	CHECK_STR(out_text, "");
}

TEST(a_slip_of_the_pen_gets_a_suggestion)
{
	CHECK_INT(DREY("prbe"), ==, CLI_USAGE);
	CHECK_STR(err_text, "drey: unknown command 'prbe'; did you mean 'probe'?\n");
	CHECK_INT(DREY("\x1b[2Jprobe"), ==, CLI_USAGE);
	CHECK_HAS(err_text, "'\\x1b[2Jprobe'");
	CHECK_INT(DREY("probe", "--jsn"), ==, CLI_USAGE);
	CHECK_STR(
		err_text,
		"drey probe: unknown option --jsn; did you mean --json?; see `drey probe --help`\n");
	CHECK_INT(DREY("probe", "--cofnig=x"), ==, CLI_USAGE);
	CHECK_HAS(err_text, "unknown option --cofnig; did you mean --config?");
	CHECK_INT(DREY("probe", "--explode"), ==, CLI_USAGE);
	CHECK_HAS(err_text, "unknown option --explode;");
	CHECK_INT(DREY("probe", "--\x1b]0;x"), ==, CLI_USAGE);
	CHECK_HAS(err_text, "\\x1b]0;x");
}

TEST(letters_are_bundled)
{
	CHECK_INT(DREY("probe", "-cb.yaml"), ==, CLI_HELD);
	CHECK_STR(seen.config, "b.yaml");
	CHECK_INT(DREY("probe", "-c=b.yaml"), ==, CLI_HELD);
	CHECK_STR(seen.config, "b.yaml");
	CHECK_INT(DREY("probe", "-fc", "b.yaml", "-w", "a", "-wb"), ==, CLI_HELD);
	CHECK_STR(seen.config, "b.yaml");
	CHECK_STR(seen.words, "a b ");
	CHECK_INT(DREY("probe", "-fh"), ==, CLI_OK);
	CHECK_HAS(out_text, "Usage: drey probe");
	CHECK_INT(DREY("strict", "-fh"), ==, CLI_OK);
	CHECK_INT(DREY("probe", "-fx"), ==, CLI_USAGE);
	CHECK_HAS(err_text, "unknown option -x;");
	CHECK_INT(DREY("probe", "-f=1"), ==, CLI_USAGE);
	CHECK_HAS(err_text, "-f takes no value");
	CHECK_INT(DREY("probe", "-ff"), ==, CLI_USAGE);
	CHECK_HAS(err_text, "-f may be given only once");
	CHECK_INT(DREY("probe", "-fc"), ==, CLI_USAGE);
	CHECK_HAS(err_text, "-c needs a value (FILE)");
}

TEST(the_configuration_may_stand_before_the_command)
{
	CHECK_INT(DREY("-c", "a.yaml", "probe", "x"), ==, CLI_HELD);
	CHECK_STR(seen.config, "a.yaml");
	CHECK_STR(seen.arg, "x");
	CHECK_INT(DREY("--config=a.yaml", "probe"), ==, CLI_HELD);
	CHECK_STR(seen.config, "a.yaml");
	CHECK_INT(DREY("-ca.yaml", "help", "probe"), ==, CLI_OK);
	CHECK_HAS(out_text, "Usage: drey probe");
	CHECK_INT(DREY("-c", "a.yaml"), ==, CLI_USAGE);
	CHECK_INT(DREY("-c"), ==, CLI_USAGE);
	CHECK_INT(DREY("-c", "a.yaml", "probe", "-c", "b.yaml"), ==, CLI_USAGE);
	CHECK_HAS(err_text, "-c may be given only once");
	CHECK_INT(DREY("--json", "probe"), ==, CLI_USAGE);
}

TEST(a_document_has_a_format)
{
	CHECK_INT(DREY("probe", "-o", "yaml"), ==, CLI_HELD);
	CHECK(seen.json);
	CHECK_INT(DREY("probe", "--output=json"), ==, CLI_HELD);
	CHECK(seen.json);
	CHECK_INT(DREY("probe", "-o", "wide"), ==, CLI_USAGE);
	CHECK_HAS(err_text, "--output wide: expected json or yaml");
	CHECK_INT(DREY("probe", "-o", "json", "--json"), ==, CLI_USAGE);
	CHECK_HAS(err_text, "exclude each other");
}

TEST(help_goes_to_standard_output)
{
	CHECK_INT(DREY("--help"), ==, CLI_OK);
	CHECK_HAS(out_text, "  strict           wants one\n");
	CHECK_STR(err_text, "");
	CHECK_INT(DREY("probe", "--nope", "--help"), ==, CLI_OK);
	CHECK_HAS(out_text, "drey probe - look\n");
	CHECK_HAS(out_text,
		  "Usage: drey probe [--config FILE] [--json] [--output FORMAT] "
		  "[--timeout DURATION] [--no-wait] [--dry-run] [--word WORD]... [--flag] PATH\n");
	CHECK_HAS(out_text, "  -c, --config FILE");
	CHECK_HAS(out_text, "      --json ");
	CHECK_HAS(out_text, "  -h, --help");
	CHECK_HAS(out_text, "Exit status:\n  0  seen\n  1  not seen\n");
	CHECK_HAS(out_text, "Example:\n  drey probe x\n");
	CHECK_INT(DREY("help", "strict"), ==, CLI_OK);
	CHECK_HAS(out_text, "drey strict - wants one\n");
	CHECK_INT(DREY("help", "bogus"), ==, CLI_USAGE);
}

TEST(output_that_cannot_be_written_is_a_failure)
{
	char *argv[] = {(char *)"drey", (char *)"--help", NULL};
	FILE *full = fopen("/dev/full", "w");
	char *text = NULL;
	size_t len;
	FILE *err = open_memstream(&text, &len);

	if (!full) {
		tap_skip("no /dev/full");
	} else {
		CHECK_INT(cli_main(commands, 2, argv, full, err), ==, CLI_FAILED);
		fclose(full);
		fflush(err);
		CHECK_HAS(text, "cannot write the output");
	}
	fclose(err);
	free(text);
}

static int load(const char *path, struct err *err)
{
	struct cli cli = {.command = &probe};
	struct config config;

	cli.values[0] = path;
	return cli_config(&cli, &config, err);
}

TEST(a_missing_configuration_says_how_to_name_one)
{
	struct err err = {0};

	CHECK(load("/nonexistent/drey.yaml", &err) < 0);
	CHECK(err.kind == ERR_CONFIG);
	CHECK_HAS(
		err.msg,
		"configuration file /nonexistent/drey.yaml not found; pass --config FILE or set $DREY_CONFIG");
	setenv("DREY_CONFIG", "/nonexistent/by-env.yaml", 1);
	CHECK(load(NULL, &err) < 0);
	CHECK_HAS(err.msg, "/nonexistent/by-env.yaml");
	setenv("DREY_CONFIG", "", 1);
	CHECK(load(NULL, &err) < 0);
	CHECK_HAS(err.msg, CONFIG_DEFAULT_FILE);
	unsetenv("DREY_CONFIG");
}

TEST(some_options_may_be_repeated)
{
	CHECK_INT(DREY("probe", "--word", "a", "-w", "b", "--word=a"), ==, CLI_HELD);
	CHECK_STR(seen.words, "a b a ");
	CHECK_INT(DREY("probe"), ==, CLI_HELD);
	CHECK_STR(seen.words, "");
	CHECK_INT(DREY("probe", "--help"), ==, CLI_OK);
	CHECK_HAS(out_text, " [--word WORD]...");
}

int main(int argc, char **argv)
{
	int status;

	status = tap_main(argc, argv);
	free(out_text);
	free(err_text);
	free(seen.config);
	free(seen.timeout);
	free(seen.arg);
	free(seen.words);
	return status;
}
