/*
 * fleet - the applications of a cluster, one line each, from their custom resources and their journals. Pure.
 *
 * Life cycle: a zeroed one -> fleet_add_resource(), fleet_add_journal(), fleet_add_broken(), fleet_add_unstarted() in any order ->
 * fleet_sort() -> fleet_text() or fleet_document() -> fleet_release().
 *
 * The status of a custom resource and a journal are of the same application if namespace and name of it are the same.
 * Then the one counts that has the later transition: a drey that may not write the resource leaves an old status there.
 */
#ifndef DREY_CMD_FLEET_H
#define DREY_CMD_FLEET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cmd/shown.h"
#include "cmd/term.h"

struct json;

struct fleet_row {
	char *namespace, *application;
	char *phase; /* "" = nothing was reported yet; "Unreadable" = see `error` */
	char *cause, *reason;
	char *desired;
	bool ready, ready_known; /* a journal does not tell */
	bool do_not_restart;
	int64_t phase_unix_ms;   /* since when it is in this phase; 0 = not known */
	int64_t changed_unix_ms; /* the last transition; 0 = not known */
	char *savepoint;         /* the newest one; "" = none */
	int64_t savepoint_unix_ms;
	char *error; /* why it cannot be read; NULL = it can */
};

struct fleet {
	struct fleet_row *rows; /* owned, with their strings */
	size_t count;
};

void fleet_release(struct fleet *fleet); /* zeroed afterwards */

/* A FlinkApplication, as the API server gives it. One without a status has the name of the resource. */
void fleet_add_resource(struct fleet *fleet, const struct json *object);
/* The status document of a journal. */
void fleet_add_journal(struct fleet *fleet, const char *namespace, const struct json *doc);
/* A journal that cannot be decoded. */
void fleet_add_broken(struct fleet *fleet, const char *namespace, const char *application,
		      const char *why);

/* One that has not started: in a word of Kubernetes, and a sentence. It gives way to anything else. */
void fleet_add_unstarted(struct fleet *fleet, const char *namespace, const char *application,
			 const char *word, const char *text);

/* It has a phase. */
bool fleet_knows(const struct fleet *fleet, const char *namespace, const char *application);

/* By namespace and application. */
void fleet_sort(struct fleet *fleet);

struct fleet_layout {
	struct term term;
	int64_t now_unix_ms;
	bool namespaces; /* a column of them */
	bool wide;       /* also what is desired, and the path of the savepoint */
};

/* Append the table; nothing if the fleet is empty. */
void fleet_text(const struct fleet *fleet, const struct fleet_layout *layout,
		struct shown *ret_text);

/* {applications [{namespace, application, phase, phaseUnixMs, ready, desired, doNotRestart, lastSavepoint {path,
 * completedUnixMs}, cause, reason, error}], unreadable [TEXT]}; the second list is `unreadable`, of which it gets a
 * copy. The caller frees. */
struct json *fleet_document(const struct fleet *fleet, const struct json *unreadable);

#endif
