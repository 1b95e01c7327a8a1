/*
 * status_view - the status document (core/report/status.h) as the commands read it. All member
 * names that the commands depend on are in status_view.c.
 */
#ifndef DREY_CMD_STATUS_VIEW_H
#define DREY_CMD_STATUS_VIEW_H

#include <stdbool.h>
#include <stdint.h>

struct json;

/* Everything is borrowed from the document; missing texts are "", numbers 0. */
struct status_view {
	const char *application, *phase, *cause, *reason, *last_error;
	int64_t last_error_unix_ms, last_error_launch;
	bool ready;            /* the condition */
	int64_t ready_unix_ms; /* since when it is as it is; 0 = not known */
	const char *desired_state;
	bool do_not_restart;

	/* the current launch */
	int64_t launch_number;
	const char *job_id, *generation, *flink_version;
	int64_t started_unix_ms;
	bool verified; /* Flink restored exactly the restore point */
	bool proven;   /* and completed a checkpoint */
	/* "RUNNING", as last reported by Flink; "" = not known */
	const char *job_state;
	int64_t tasks_running, tasks_total; /* total 0 = not known */
	const char *restore_path, *restore_kind;
	int64_t restore_checkpoint_id, restore_unix_ms; /* when it was complete; 0 = not known */

	/* the newest checkpoint and savepoint */
	int64_t checkpoint_id, checkpoint_unix_ms;
	const char *checkpoint_path;
	/* of this JobManager process; -1 = Flink has not told */
	int64_t checkpoints_completed, checkpoints_failed;
	int64_t checkpoint_failures;                            /* since the newest completed one */
	int64_t checkpoint_interval_ms, checkpoint_duration_ms; /* 0 = not known, or none */
	const char *savepoint_path, *savepoint_origin, *savepoint_format;
	int64_t savepoint_unix_ms;

	/* state that launches have given up, and that is not settled; path "" = none */
	const char *lost_path, *lost_reason;
	int64_t lost_ms, lost_launch, lost_unix_ms; /* when it was given up */

	/* the operation in flight; kind "" = none */
	const char *operation_kind, *operation_reason, *operation_format;
	int64_t operation_started_unix_ms;

	/* what was requested or is due and has not begun: objects with "what" and a list "for"; NULL = an older agent */
	const struct json *waits;

	/* the operation that ended last; kind "" = none */
	const char *last_kind, *last_reason, *last_nonce, *last_location, *last_operation_error;
	bool last_ok;
	int64_t last_ended_unix_ms;

	/* with hand-overs; role "" = off. The hand-over: state "" = there was none */
	const char *role, *owner_pod, *handover_state, *handover_to, *handover_why;
	int64_t handover_unix_ms; /* of that state */
	const char *returned;     /* why its version has returned the job; "" = it has not */
	int64_t returned_unix_ms;

	/* of the objects of the TaskManagers: the first that drey cannot scale, or else leaves to others, or else has
	 * scaled to 0, and how many such there are */
	const char *scale_kind, *scale_name, *scale_error;
	bool scale_contested;
	int64_t scale_objects;            /* 0 = none of these */
	int64_t scale_back;               /* of those at 0: so many TaskManagers will be back */
	const char *spare, *spare_reason; /* "ready"; why there is none; "" = off */

	int64_t failures, max_failures; /* failed attempts within the window of the limit */
	bool journal_broken;            /* writes fail, or another drey has taken over */
	const char *journal_error;      /* why it cannot be written or read */

	int64_t task_managers, slots_free, slots_total; /* task_managers -1 = not known */

	const struct json *settings; /* of the running job, launch.effective; NULL = not known */
	/* lists of the document; NULL = none */
	const struct json *conditions, *transitions;
	int64_t phase_unix_ms; /* since when it is in this phase, by the transitions; 0 = not known */
};

void status_view_read(const struct json *doc, struct status_view *ret_view);

/* The result of the savepoint requested with this nonce. Borrowed from the document. */
struct status_savepoint {
	bool ended, ok;
	const char *location, *error;
};
void status_view_savepoint(const struct json *doc, const char *nonce,
			   struct status_savepoint *ret_answer);

/* The result of the checkpoint requested with this nonce. location "": Flink does not show it. */
struct status_checkpoint {
	bool ended, ok;
	int64_t checkpoint_id;
	const char *location, *error;
};
void status_view_checkpoint(const struct json *doc, const char *nonce,
			    struct status_checkpoint *ret_answer);
/* The parallelism that was requested. Texts are never NULL; borrowed from the document. */
struct status_rescale {
	const char *waiting; /* nonce of the request that is not answered; "" = none */
	const char *state, *missing;
	const char *nonce, *error, *left_out; /* of the last answer */
	bool ok;
	int64_t slots_needed, slots_total, task_managers; /* needed 0 = not known */
};
void status_view_rescale(const struct json *doc, struct status_rescale *ret_rescale);

/* It comes from an agent that accepts requests with the name of the application. */
bool status_view_takes_application(const struct json *doc);

/* Another pod owns the application: of that the document knows no more than who it is. */
bool status_view_stands(const struct status_view *view);
/* It knows who that is: view->owner_pod. An agent that has just begun does not, and may be the owner. */
bool status_view_handed_over(const struct status_view *view);
/* Suspended, Cancelled, Finished, Failed. */
bool status_view_parked(const struct status_view *view);
bool status_view_is(const struct status_view *view, const char *phase);

/* When its last transition was; 0 = not known. */
int64_t status_view_changed(const struct status_view *view);

/* Exit status of `drey status`: CLI_OK Running and ready, CLI_PARKED, CLI_HELD, else CLI_FAILED. */
int status_view_exit(const struct status_view *view);

#endif
