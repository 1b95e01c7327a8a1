/* control_path - the path of the control socket, for both sides. */
#ifndef DREY_RUN_CONTROL_PATH_H
#define DREY_RUN_CONTROL_PATH_H

#include <sys/un.h>

#include "base/err.h"

/* ERR_CONFIG when the path does not fit (the message names the limit). */
int control_path(const char *state_directory, struct sockaddr_un *ret_address, struct err *err);

#endif
