/* status - the exit statuses of drey-init that are not the command's own; see docs/reference/drey-init.md. */
#ifndef DREY_ENTRYPOINT_STATUS_H
#define DREY_ENTRYPOINT_STATUS_H

enum {
	STATUS_CONFIG = 2,     /* the agent's own: it could not use its configuration */
	STATUS_USAGE = 112,    /* drey-init's command line or environment */
	STATUS_SYSTEM = 113,   /* fork, pipe or memory, after retries */
	STATUS_NO_AGENT = 114, /* the agent could not be executed, or uses another link version */
	STATUS_NOT_EXECUTABLE = 126, /* as shells do */
	STATUS_NOT_FOUND = 127,
	STATUS_SIGNAL = 128, /* + the number of the signal */
};

#endif
