/* options - drey-init's command line and environment; docs/reference/drey-init.md describes both. */
#ifndef DREY_ENTRYPOINT_OPTIONS_H
#define DREY_ENTRYPOINT_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

struct options {
	bool agent; /* the command is an agent that speaks link.h */
	bool group; /* forward signals to the child's process group */
	bool verbose;
	int64_t grace_ms; /* 0: no deadline */
	bool remap[256];  /* this status of the child becomes 0 */
	char **argv;      /* the command; borrowed from main() */
};

/*
 * Returns -1 when *ret is filled, else the status to exit with: 0 after --help and --version,
 * otherwise 112 after a message.
 */
int options_parse(int argc, char **argv, struct options *ret);

#endif
