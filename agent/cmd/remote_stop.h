/*
 * remote_stop - the job stopped from another Pod: by the key state of the control ConfigMap, and of the custom resource
 * if that has a desired state, which takes precedence.
 *
 * Rights, beside those of remote.h: get and patch of the custom resource; without them drey ignores the request if the
 * resource has a desired state.
 */
#ifndef DREY_CMD_REMOTE_STOP_H
#define DREY_CMD_REMOTE_STOP_H

#include <stdbool.h>
#include <stdint.h>

#include "core/journal/journal.h"

/* Of the commands that can do it. */
#define REMOTE_STOP_OPTIONS                                                                        \
	{"remote", 0, NULL,                                                                        \
	 "from another Pod: send the request through the control\n"                                \
	 "ConfigMap, and read the result from the journal",                                        \
	 false},                                                                                   \
		{"skip-parked", 0, NULL,                                                           \
		 "with --remote: exit with 0 if no job is meant to run\n"                          \
		 "(parked, scaled to 0, never started)",                                           \
		 false},                                                                           \
	{                                                                                          \
		"withdraw", 0, NULL,                                                               \
			"with --remote: if it fails or times out, withdraw the\n"                  \
			"request, so that the job keeps running",                                  \
			false                                                                      \
	}

struct cli;

struct stop_request {
	enum desired_state goal;      /* DESIRED_SUSPENDED or DESIRED_CANCELLED */
	bool asked;                   /* it is in the control ConfigMap */
	bool taken;                   /* the journal has shown that drey has read it */
	int64_t ended_before_unix_ms; /* when the last operation before it ended; 0 = never */
};

enum stop_step {
	STOP_WAIT,   /* *ret_text: what for */
	STOP_ASK,    /* not asked: the job runs, so this is the moment */
	STOP_DONE,   /* *ret_text: the savepoint; NULL: none, as desired */
	STOP_PARKED, /* no job is running, and none is meant to: *ret_text says why */
	STOP_HELD, /* not asked: no job is running, but one is meant to; *ret_text: why drey holds */
	STOP_FAILED, /* asked: *ret_text says why */
};

/* What the journal says of it. A savepoint needs a job that runs, so before that it is not asked for: drey would park
 * without one. *ret_text is borrowed from `journal` or constant. */
enum stop_step remote_stop_judge(const struct journal *journal, const struct stop_request *request,
				 const char **ret_text);

/* CLI_OK, or CLI_USAGE with a message: options that do not go together. */
int remote_stop_usage(const struct cli *cli);

/* `drey suspend --remote` and `drey cancel --remote`, from the configuration to the exit status. */
int remote_stop(const struct cli *cli, enum desired_state goal);

#endif
