#include "options.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "status.h"
#include "util.h"

#define GRACE_ENV    "DREY_GRACE_SECONDS"
#define GRACE_MS     30000
#define GRACE_MAX_MS (INT64_C(7) * 24 * 3600 * 1000)

static const char help[] =
	"Usage: drey-init [options] [--] COMMAND [ARG...]\n"
	"       drey-init --agent [options] [--] AGENT [ARG...]\n"
	"Runs COMMAND as the first process of a container: forwards signals, reaps orphans, ends all\n"
	"processes within the grace period and exits with COMMAND's status.\n"
	"\n"
	"      --agent           COMMAND is the agent, which requests the launches\n"
	"      --grace SECONDS   time to stop after SIGTERM, before SIGKILL; 0: no limit\n"
	"                        (default $DREY_GRACE_SECONDS, then 30)\n"
	"  -e, --remap STATUS    exit with 0 when the command exits with STATUS; repeatable\n"
	"  -g, --group           forward signals to the command's process group\n"
	"  -v, --verbose         report what is started, forwarded and reaped\n"
	"  -s                    accepted for compatibility with tini; no effect\n"
	"  -h, --help            print this help\n"
	"      --version         print the version\n"
	"\n"
	"Exit status: the command's own; 128+N if signal N killed it; 126 or 127 if it cannot be\n"
	"executed or found; 112 usage, 113 system error, 114 no usable agent.\n";

enum { OPT_AGENT = 256, OPT_GRACE, OPT_VERSION };

static const struct option longs[] = {
	{"agent", no_argument, NULL, OPT_AGENT},     {"grace", required_argument, NULL, OPT_GRACE},
	{"remap", required_argument, NULL, 'e'},     {"group", no_argument, NULL, 'g'},
	{"verbose", no_argument, NULL, 'v'},         {"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, OPT_VERSION}, {0},
};

static int print(const char *text)
{
	return write(STDOUT_FILENO, text, strlen(text)) < 0 ? STATUS_SYSTEM : 0;
}

static int usage(const char *what, const char *arg)
{
	say("%s: %s; drey-init --help lists the options", what, arg);
	return STATUS_USAGE;
}

/* Seconds with up to three decimals; -1 for anything else. */
static int64_t parse_seconds_ms(const char *text)
{
	int64_t ms = 0, unit = 1000;
	const char *at = text;

	for (; *at >= '0' && *at <= '9' && ms <= GRACE_MAX_MS; at++)
		ms = ms * 10 + (*at - '0') * 1000;
	if (at > text && *at == '.')
		for (at++; *at >= '0' && *at <= '9' && unit > 1; at++)
			ms += (*at - '0') * (unit /= 10);
	return at > text && !*at && ms <= GRACE_MAX_MS ? ms : -1;
}

static int parse_status(const char *text)
{
	char *end;
	long status = strtol(text, &end, 10);

	return *text >= '0' && *text <= '9' && !*end && status <= 255 ? (int)status : -1;
}

static int parse_grace(const char *text, const char *where, struct options *o)
{
	o->grace_ms = parse_seconds_ms(text);
	if (o->grace_ms >= 0)
		return -1;
	say("%s is not a number of seconds from 0 to 604800: %s", where, text);
	return STATUS_USAGE;
}

/*
 * The image is started as `drey-init --agent -- /usr/bin/drey run`, and `docker run IMAGE drey verify X` puts
 * its words behind that: they are a command of their own, and no agent.
 */
static void take_words_of_image(char **argv, struct options *o)
{
	const char *slash = strrchr(argv[0], '/');

	if (!o->agent || strcmp(slash ? slash + 1 : argv[0], "drey") || !argv[1] ||
	    strcmp(argv[1], "run") || !argv[2] || strcmp(argv[2], "drey"))
		return;
	o->agent = argv[3] && !strcmp(argv[3], "run");
	argv[2] = argv[0];
	o->argv = argv + 2;
}

int options_parse(int argc, char **argv, struct options *ret)
{
	const char *env = getenv(GRACE_ENV);
	struct options o = {.grace_ms = GRACE_MS};
	char letter[] = "-?";
	int c, status;

	if (env && *env && (status = parse_grace(env, GRACE_ENV, &o)) >= 0)
		return status;
	opterr = 0;
	while ((c = getopt_long(argc, argv, "+:e:gvsh", longs, NULL)) != -1) {
		switch (c) {
		case OPT_AGENT:
			o.agent = true;
			break;
		case OPT_GRACE:
			if ((status = parse_grace(optarg, "--grace", &o)) >= 0)
				return status;
			break;
		case 'e':
			if (parse_status(optarg) < 0)
				return usage("--remap is not a status from 0 to 255", optarg);
			o.remap[parse_status(optarg)] = true;
			break;
		case 'g':
			o.group = true;
			break;
		case 'v':
			o.verbose = true;
			break;
		case 's':
			break;
		case 'h':
			return print(help);
		case OPT_VERSION:
			return print("drey-init " DREY_VERSION "\n");
		case ':':
			return usage("option needs a value", argv[optind - 1]);
		default:
			letter[1] = (char)optopt;
			return usage("unknown option", optopt ? letter : argv[optind - 1]);
		}
	}
	if (optind >= argc)
		return usage("COMMAND is missing", "put it after the options");
	o.argv = argv + optind;
	take_words_of_image(o.argv, &o);
	*ret = o;
	return -1;
}
