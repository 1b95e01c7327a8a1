/*
 * client - shared by the commands that talk to a running drey: configuration, requests, waiting.
 *
 * Life cycle: client_open() -> client_status(), client_send() -> client_close(); in most commands
 * client_run() with client_do() in it. Failures are reported on cli->err and return the exit status
 * of the command.
 */
#ifndef DREY_CMD_CLIENT_H
#define DREY_CMD_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

#include "cmd/cli.h"
#include "cmd/status_view.h"
#include "control/control_request.h"
#include "run/config/config.h"

struct json;

#define CLIENT_WAIT_MS INT64_C(600000) /* default of --timeout */

struct client {
	const struct cli *cli;
	struct config config;
	int64_t timeout_ms;
	struct json *status; /* the last document; `view` borrows from it */
	struct status_view view;
	int64_t ended_before_ms; /* when the last operation ended, at client_mark() */
	int64_t launch_before;   /* number of the launch then */
	char phase_before[24];
	int64_t lost_ms; /* monotonic: since when drey does not answer; 0 = it does */
	/* monotonic: since when client_stuck() finds it stuck; 0 = it does not */
	int64_t settling_ms;
	/* what a judge waits for now, instead of phase and reason; NULL = those; borrowed from `status` */
	const char *progress;
};

/* The command must have --config; --timeout is used if the command has it. CLI_OK or the exit
 * status; after CLI_OK close it. */
int client_open(struct client *client, const struct cli *cli);
void client_close(struct client *client);

/* Request the status: client->view is updated after CLI_OK. */
int client_status(struct client *client);

/* The same without a message. -1: client->view is what it was. */
int client_try_status(struct client *client, struct err *err);

/* The last steps of its life cycle, as a document that the caller frees. */
int client_trace(struct client *client, struct json **ret_trace);

/* Send a request; CLI_OK once it is durable. CLI_USAGE: the drey there runs another application. */
int client_send(struct client *client, const struct control_request *request);

/* Decide from client->view whether the wait is over: an exit status, or CLIENT_CONTINUE. */
#define CLIENT_CONTINUE (-1)
typedef int client_judge(struct client *client, void *arg);

/* client_status(), and remember the state before the next request. */
int client_mark(struct client *client);

/* An operation for this reason ("suspend") has ended since client_mark(). */
bool client_operation_ended(const struct client *client, const char *reason);

/* What drey does after a failed stop: "drey retries every 30 s", or what savepoints.onStopFailure says. */
#define CLIENT_STOP_BYTES 160
const char *client_stop_retries(const struct client *client, char text[CLIENT_STOP_BYTES]);

/* Under do-not-restart drey stays in phase Holding, whatever the desired state: the job has been
 * stopped as `desired` ("suspended") requires. */
bool client_stopped_and_held(const struct client *client, const char *desired);

/*
 * For judges of commands that wait for Running: CLI_FAILED, CLI_PARKED or CLI_HELD with a message
 * if the phase does not lead there automatically and has lasted for a while (longer if it was the
 * same before the request), else CLIENT_CONTINUE. CLI_FAILED if the job was handed over meanwhile.
 */
int client_stuck(struct client *client);

/* For commands that stop the job, and find that it was handed over since the request
 * (status_view_handed_over()): nothing runs here, and the next owner starts nothing while the request is
 * in force, so it is carried out. A line on cli->err: which pod has the application now, and that it is
 * `done` ("suspended"). */
void client_print_handed_over(const struct client *client, const char *done);

/* "restored savepoint PATH (checkpoint id 12)", or that it started empty; a line on cli->out. */
void client_print_restored(const struct client *client, void *arg); /* arg: not used */

/* Send a request that needs no waiting, and print `line`, or with --json the status after it. */
int client_tell(struct client *client, const struct control_request *request, const char *line);

/* The same with a fresh nonce, for a request that is carried out once. */
int client_tell_once(struct client *client, struct control_request request, const char *line);

/* A fresh nonce or token. */
int client_nonce(const struct cli *cli, char **ret_nonce);

/* --json: print the last status document, and return status. */
int client_print_json(const struct client *client, int status);

/* A command that makes a request, from its configuration to its exit status: client_open(),
 * fn(), client_close(). */
typedef int client_ask(struct client *client, void *arg);
int client_run(const struct cli *cli, client_ask *fn, void *arg);

/* What a command waits for, and what it then prints. */
struct client_goal {
	const char *what; /* "the savepoint" */
	client_judge *judge;
	void *arg; /* of judge() */
	void (*print)(const struct client *client, void *arg);
	/* for --dry-run: "start the job without any state"; NULL: the command's summary */
	const char *would;
	/* for Ctrl-C: what continues; NULL: "the request remains in force" */
	const char *interrupted;
};

/* With --dry-run only what would be requested. Else client_send(), client_wait() unless --no-wait is
 * given, and the answer: with --json the status document, else what goal->print() prints after CLI_OK. */
int client_do(struct client *client, const struct control_request *request,
	      const struct client_goal *goal);

/* client_do() for a snapshot of a job that runs or is about to: CLI_PARKED if there is none. The nonce of
 * the request is a fresh one, and the arg of the goal as well. */
int client_do_snapshot(struct client *client, struct control_request request,
		       struct client_goal goal);

#endif
