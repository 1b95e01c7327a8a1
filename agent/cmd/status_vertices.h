/*
 * status_vertices - `drey status --vertices`: where the records of the running job stay. Asks Flink
 * itself, from this process: the agent does not do it, and is not delayed by it.
 */
#ifndef DREY_CMD_STATUS_VERTICES_H
#define DREY_CMD_STATUS_VERTICES_H

#include "cmd/client.h"

/* client->view must have been read. Prints a table, or with --json one document; returns the exit
 * status of the command. */
int status_vertices(const struct client *client, bool json);

#endif
