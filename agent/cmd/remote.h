/*
 * remote - what the commands with --remote share: a request from another Pod, without a connection to the drey that
 * carries it out. It goes through the control ConfigMap; the result is in the journal.
 *
 * Life cycle: remote_run() calls remote_open(), the work of the command, and remote_close().
 *
 * Rights: patch of the control ConfigMap, get of that of the journal; get of the owner of the JobManager's Pod is
 * useful (if it is scaled to 0, the command does not wait).
 */
#ifndef DREY_CMD_REMOTE_H
#define DREY_CMD_REMOTE_H

#include <stdbool.h>
#include <stdint.h>

#include "cmd/cli.h"
#include "core/desired.h"
#include "run/config/config.h"
#include "run/config/setup_kube.h"

struct journal;
struct journal_store;
struct json;
struct kube;

#define REMOTE_POLL_MS 2000
#define REMOTE_TAKE_MS 90000 /* three times what drey needs without a watch (control.poll) */

struct remote {
	const struct cli *cli;
	struct config config;
	struct setup_kube setup;
	struct kube *kube;
	struct journal_store *store;
	int64_t timeout_ms, began_ms; /* of the whole command; monotonic */
	char *reported;               /* the last progress; NULL = none */
	int64_t asked_ms;    /* monotonic: of the last request; 0 = nothing was requested */
	bool asked_resource; /* of the custom resource as well */
	bool taken;          /* drey has read it */
};

/* Why the application is stopped as desired, according to its journal: borrowed from `journal` or
 * constant; NULL: it should be running. */
const char *remote_parked(const struct journal *journal);

/* From its configuration to its exit status: opens, calls work(), closes. */
typedef int remote_fn(struct remote *remote, void *arg);
int remote_run(const struct cli *cli, remote_fn *work, void *arg);

/* What is left of the command's timeout; never negative. */
int64_t remote_left_ms(const struct remote *remote);

/* Wait until the next poll, at most until the timeout. */
void remote_pause(const struct remote *remote);

/* "PHASE: REASON" of the phase that it is in; borrowed. NULL: not known. */
const char *remote_last_words(const struct journal *journal);
bool remote_phase_is(const struct journal *journal, const char *phase);

/* Progress on cli->err, once for each text. */
void remote_report(struct remote *remote, const char *what);

/*
 * After an error: CLI_OK after a pause, for another try, or the exit status. The cause may be temporary at first: a
 * server that starts, a Role that was created a moment ago.
 */
int remote_try_again(struct remote *remote, struct err *err);

/* CLI_OK: the caller releases *ret_journal. CLI_ABSENT without a message: there is none. Else the exit status. */
int remote_read_journal(struct remote *remote, struct journal *ret_journal);

/* The exit status of a command that needs a journal, with its message. */
int remote_no_journal(const struct remote *remote);

/* What a command asks for, and what becomes of it. Each function returns the exit status. */
struct remote_goal {
	/* after each reading of the journal; or CLIENT_CONTINUE */
	int (*step)(void *arg, const struct journal *journal);
	/* there is no journal, and nothing was requested; or CLIENT_CONTINUE. NULL: remote_no_journal() */
	int (*absent)(void *arg);
	/* the timeout is over (CLI_TIMEOUT), or no drey has read the request (CLI_ABSENT), which was told */
	int (*gives_up)(void *arg, int status);
};

/*
 * Read the journal every REMOTE_POLL_MS until one of them ends the command. A request that is not `taken` within
 * REMOTE_TAKE_MS is given up. After a request a journal that cannot be read is tried again until the timeout.
 */
int remote_follow(struct remote *remote, const struct remote_goal *goal, void *arg);

/* Its desired number of Pods is 0, so no drey will ever respond. False if that cannot be read. */
bool remote_scaled_away(const struct remote *remote);

/* Set one key of the control ConfigMap: CLI_OK or the exit status. For a person (kubectl drey) as remote_ask_all():
 * the accounts of the chart have no right to the custom resource. */
int remote_ask(struct remote *remote, enum desired_key key, const char *value);

/* The same with several: desired_keys[] -> text in `keys`. What the custom resource has as well is set there, too,
 * because that takes precedence. */
int remote_ask_all(struct remote *remote, const struct json *keys);
int remote_ask_state(struct remote *remote, enum desired_state state);

/* "ConfigMap orders-drey-control", or the custom resource, if that was asked as well; the caller frees. */
char *remote_asked_in(const struct remote *remote);

/* No job is running, because of `why`: CLI_OK with --skip-parked, else CLI_PARKED. */
int remote_end_parked(const struct remote *remote, const char *why);

#endif
