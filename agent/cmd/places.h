/*
 * places - the directories that `drey resolve` and `drey snapshots` read: those of drey.yaml, or
 * those given by hand on a machine that has neither drey.yaml nor Flink.
 *
 * Life cycle: places_open() -> places_plan(), observe_gather() ... -> places_close(). Failures are
 * reported on cli->err and become the exit status of the command.
 */
#ifndef DREY_CMD_PLACES_H
#define DREY_CMD_PLACES_H

#include <stdbool.h>

#include "cmd/cli.h"
#include "core/journal/journal.h"
#include "core/resolve/resolve.h"
#include "run/config/setup.h"
#include "run/observe/observe.h"

struct ticker;

struct places {
	const struct cli *cli;
	bool by_hand;       /* no drey.yaml is read */
	bool configured;    /* `setup` is set */
	bool journal_given; /* or found through drey.yaml */
	struct setup setup;
	struct store_config storage; /* by hand: from the environment */
	struct observe_places where;
	struct policy policy;
	char *checkpoints, *savepoints; /* by hand: as URIs */
	char version_text[FLINK_VERSION_TEXT_BYTES];
	struct journal journal; /* empty if it could not be read */
	char *journal_error;    /* why it could not be read */
	struct ha_maps ha;
	bool ha_given;
	struct ticker *ticker; /* until places_read() */
};

/* The options that both commands have, in their tables. */
#define PLACES_OPTIONS                                                                             \
	{"checkpoints", 0, "URI", "directory of retained checkpoints, instead of drey.yaml's",     \
	 false},                                                                                   \
		{"savepoints", 0, "URI", "directory of savepoints, instead of drey.yaml's",        \
		 false},                                                                           \
		{"job-id", 0, "HEX", "with these directories: use only snapshots of this job",     \
		 true},                                                                            \
		{"journal", 0, "FILE",                                                             \
		 "a copy of drey's journal.json, instead of the journal\n"                         \
		 "of drey.yaml",                                                                   \
		 false},                                                                           \
	{                                                                                          \
		"ha-map", 0, "FILE",                                                               \
			"Flink's HA ConfigMaps, as `kubectl get configmap NAME -o\n"               \
			"json` (or yaml) prints them; or a directory with one file\n"              \
			"for each key; - is standard input",                                       \
			true                                                                       \
	}

/* CLI_OK or the exit status; after CLI_OK close it. The command has CLI_CONFIG, PLACES_OPTIONS and,
 * if it decides, flink-version and policy. */
int places_open(struct places *places, const struct cli *cli, bool decides);
void places_close(struct places *places);

/* What an observation needs; release with observe_plan_release(). */
void places_plan(struct places *places, struct observe_plan *ret_plan);

/* Everything has been read: all further output is the result. */
void places_read(struct places *places);

#endif
