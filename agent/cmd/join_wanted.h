/* join_wanted - what the command line of `drey join` asks for; shared by its files. */
#ifndef DREY_CMD_JOIN_WANTED_H
#define DREY_CMD_JOIN_WANTED_H

#include <stddef.h>

#include "cmd/cli.h"

struct join_wanted {
	const char *services[CLI_MAX_REPEATS];
	size_t service_count;
	int port;
	const char *generation, *file, *class_archive;
	char *target;      /* of the question: path and query */
	char *resource_id; /* NULL with --ready */
};

#endif
