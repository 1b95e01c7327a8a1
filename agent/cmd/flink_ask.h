/*
 * flink_ask - Flink's REST API, asked by a command itself instead of by the agent.
 *
 * Life cycle: flink_ask_open() -> ask by `rest` -> flink_ask_close().
 */
#ifndef DREY_CMD_FLINK_ASK_H
#define DREY_CMD_FLINK_ASK_H

#include "cmd/cli.h"
#include "run/config/setup.h"

struct flink_ask {
	struct flink_rest rest;
	struct setup setup; /* of which `rest` borrows */
};

/* -1: the configuration, or the keys of Flink's REST API, cannot be read. */
int flink_ask_open(const struct cli *cli, struct flink_ask *ret, struct err *err);
void flink_ask_close(struct flink_ask *ask);

#endif
