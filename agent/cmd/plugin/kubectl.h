/*
 * kubectl - the user's own kubectl, for what goes through the kubelet: logs and port-forward. $KUBECTL names another
 * program than the kubectl in PATH.
 *
 * Life cycle: kubectl_begin() -> kubectl_add()... -> kubectl_exec() or kubectl_start() -> kubectl_release().
 */
#ifndef DREY_CMD_KUBECTL_H
#define DREY_CMD_KUBECTL_H

#include <stdio.h>
#include <sys/types.h>

#include "base/err.h"
#include "cmd/cli.h"

#define KUBECTL_ENV   "KUBECTL"
#define KUBECTL_WORDS (CLI_MAX_REPEATS + 24)

struct kubectl {
	char *words[KUBECTL_WORDS + 1]; /* owned; NULL-terminated */
	size_t count;
};

/* The program, and the options that lead to the same cluster as `cli`, in this namespace. */
void kubectl_begin(struct kubectl *kubectl, const struct cli *cli, const char *namespace);
void kubectl_add(struct kubectl *kubectl, const char *word); /* NULL adds nothing */
/* Behind "--": words that may come from the cluster, and are never options. Nothing may follow them. */
void kubectl_add_names(struct kubectl *kubectl, const char *first, const char *second);
void kubectl_release(struct kubectl *kubectl);

/* It takes the place of this process. Returns only on failure: ERR_ABSENT, it was not found; ERR_SYS. */
int kubectl_exec(const struct kubectl *kubectl, struct err *err);

/* Start it as a child that gets the same Ctrl-C; *ret_out is its standard output, which the caller closes before it
 * waits for *ret_pid. */
int kubectl_start(const struct kubectl *kubectl, pid_t *ret_pid, FILE **ret_out, struct err *err);

/* Of the line "Forwarding from 127.0.0.1:43211 -> 8085" the local port; 0: it is another line. Pure. */
int kubectl_forwarded_port(const char *line);

#endif
