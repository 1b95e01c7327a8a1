/*
 * driver_internal - what the parts of the driver share. Not for anybody else.
 *
 *   driver.c          start, loop, one step, the link to drey-init
 *   effect_launch.c   LAUNCH, SIGNAL, STOP_ACK, EXIT
 *   effect_flink.c    POLL, TRIGGER, POLL_OPERATION
 *   effect_dispose.c  DISPOSE
 *   effect_state.c    OBSERVE, INSPECT, WRITE_JOURNAL, CHECK_JOURNAL
 *   driver_fence.c    the fence outlives the agent
 *   driver_start.c    what has to be known before the first step
 *   driver_control.c  requests of the commands
 *   driver_directory.c  the control inputs (core/desired_inputs)
 *   driver_resource.c  the custom resource
 *   driver_used.c     orders that were carried out are noted at the object that has them
 *   driver_event.c    Kubernetes Events
 *   driver_owner.c    what SIGTERM means, by what the pod belongs to
 *   driver_ready.c    the condition of what the pod belongs to
 *   driver_hooks.c    the executables of the hook directory
 *   driver_ha.c       Flink's own high availability on Kubernetes
 *   driver_http.c     probes, status and metrics over HTTP
 */
#ifndef DREY_RUN_DRIVER_INTERNAL_H
#define DREY_RUN_DRIVER_INTERNAL_H

#include "base/lane.h"
#include "base/log.h"
#include "base/loop.h"
#include "core/conditions.h"
#include "core/desired.h"
#include "core/lifecycle.h"
#include "run/control/control_socket.h"
#include "run/driver.h"
#include "run/http_server.h"
#include "run/init_link.h"
#include "run/journal_store.h"
#include "run/metrics.h"
#include "run/termination.h"

struct directory;
struct events;
struct ha;
struct hook_result;
struct hooks;
struct json;
struct observe_plan;
struct owner_watch;
struct ready;
struct resource;
struct start;
struct waiting_call;
struct used;
struct workload;

struct driver {
	const struct setup *setup;
	struct log *log;
	struct loop *loop;
	struct loop_timer *timer;
	struct loop_signal *on_term;
	struct lane *journal_lane, *store_lane, *flink_lane, *dispose_lane;
	struct init_link *link;
	struct control_server *control;
	struct waiting_call *waiting; /* answered once their journal write is acknowledged */
	struct directory *directory;  /* of the control files; NULL = none configured */
	struct used *used;            /* NULL = no object has the orders */
	struct resource *resource;    /* NULL = no custom resource is looked for */
	struct events *events;        /* NULL = there is nothing that they could be about */
	struct owner_watch *owner;    /* NULL = no owner is known */
	struct ready *ready;          /* likewise */
	struct hooks *hooks;          /* NULL = no directory configured */
	struct ha *ha;                /* NULL: Flink has no high availability of its own */
	struct http_server *http;     /* NULL: off, or the port is taken */
	struct loop_timer *http_retry;
	struct metrics metrics;
	struct journal_store *store;
	struct start *start; /* until the journal is read */
	char *writer;        /* names this process in the journal */
	int state_lock_fd;
	int flink_lock_fd; /* taken before a start is decided, given away with the launch */
	struct lifecycle life;
	struct conditions conditions; /* as judged after the last step */
	bool alive; /* life is initialised: HELLO has come and the journal is read */
	bool held;  /* the journal cannot be read: life only says so, for whoever asks */
	struct termination_last last; /* before the end began */
	bool checking;                /* the journal is being looked at */
	bool init_takes_lease;        /* drey-init understands LEASE */
	bool fence_noted;             /* in the state directory, for the next agent */
	bool closing;                 /* the loop has ended: no step any more */
	int init_status;              /* of drey-init, when drey ends */
	int exit_status;              /* of the agent */
	struct err *err;              /* why it could not start */
};

/* The journal write that contains what the last step has changed. */
int64_t driver_covering_write(const struct driver *driver);

/* Take one event through the state machine and execute what comes out. */
void driver_step(struct driver *driver, const struct event *event);

/* drey ends with driver->init_status, as soon as no part delays that. */
void driver_leave(struct driver *driver);

/* The agent ends after this callback. */
void driver_stop(struct driver *driver, int status);

void effect_launch(struct driver *driver);
/* Answers an effect_launch() that was put off. held: no failed attempt, looked at again later; CAUSE_NONE:
 * a failed attempt. */
void effect_refuse_launch(struct driver *driver, const struct err *err, enum cause held);
void effect_signal(struct driver *driver, const struct effect *effect);
void effect_lease(struct driver *driver, const struct effect *effect);
void effect_stop_ack(struct driver *driver);
void effect_exit(struct driver *driver, const struct effect *effect);

void effect_poll(struct driver *driver, const struct effect *effect);
void effect_trigger(struct driver *driver, const struct effect *effect);
void effect_poll_operation(struct driver *driver, const struct effect *effect);

void effect_dispose(struct driver *driver, const struct effect *effect);

void effect_observe(struct driver *driver);
int driver_take_flink_lock(struct driver *driver, struct err *err); /* 0 also when it is held */
void effect_inspect(struct driver *driver, const struct effect *effect);
void effect_write_journal(struct driver *driver, const struct effect *effect);
void effect_check_journal(struct driver *driver);

/* A message of drey-init other than HELLO; the machine is alive. */
void driver_link(struct driver *driver, const struct link_msg *msg);

/* driver_fence.c; after every step: note that the journal is lost, for an agent that comes after this one */
void driver_fence_step(struct driver *driver);
/* Has an agent before, in this very container, noted that? */
bool driver_fence_was_noted(const struct driver *driver);

/* driver_start.c: after HELLO; later the machine is alive, or the driver stopped */
void driver_start(struct driver *driver, const struct link_msg *hello);
/* A message that comes before the machine is alive. */
void driver_start_keep(struct driver *driver, const struct link_msg *msg);
void driver_start_close(struct driver *driver);

/* The status document as people get it; the caller frees it. The machine is alive or held. */
struct json *driver_status(const struct driver *driver);

/* driver_http.c */
int driver_http_open(struct driver *driver, struct err *err);
void driver_http_close(struct driver *driver);

/* driver_directory.c */
int driver_directory_open(struct driver *driver, struct err *err);
void driver_directory_close(struct driver *driver);
/* After HELLO was taken: what was read meanwhile counts from now on. *seen is taken over. */
void driver_directory_alive(struct driver *driver, struct desired_seen *seen);
/* After every step: what has become durable is remembered as seen. */
void driver_directory_acknowledge(struct driver *driver);
/* False: nothing may be decided yet, because a do-not-restart could be in there; EFFECT_OBSERVE is carried
 * out when the directory was read. */
bool driver_directory_ready(struct driver *driver);
/* Before a start is decided: what does the ConfigMap say now? True: there is none to be asked. False:
 * fn() is called when it was read; unknown: why the desired state is not known at all, or NULL (when
 * it cannot be read now, what it said last still counts). */
typedef void driver_control_fn(void *arg, const char *unknown);
bool driver_directory_check(struct driver *driver, driver_control_fn *fn, void *arg);
/* For the status document: what it says and what is wrong with it. */
void driver_directory_status(const struct driver *driver, struct json *document);

/* What the spec of the custom resource asks for, as it was read; empty if there is no resource. NULL: it
 * could not be read, why says how. */
void driver_directory_offer(struct driver *driver, const struct desired *desired, bool there,
			    const struct err *why);
/* Access denied and never read by this process: ignored, unless one was seen earlier. */
void driver_directory_deny(struct driver *driver, const struct err *why);
/* Why a restore request that was made in time is not carried out; NULL = there is no such thing;
 * borrowed. */
const char *driver_directory_refused(const struct driver *driver);

/* The newest reading of an object that people leave orders in; NULL = it was not read, or is not there;
 * borrowed. */
enum control_object {
	CONTROL_OBJECT_MAP,
	CONTROL_OBJECT_RESOURCE,
	CONTROL_OBJECTS,
};
const struct desired *driver_directory_desired(const struct driver *driver,
					       enum control_object object);

/* driver_used.c; without Kubernetes all of this does nothing */
void driver_used_open(struct driver *driver);
void driver_used_close(struct driver *driver);
void driver_used_step(struct driver *driver); /* after every step */

/* driver_resource.c; where there is no Kubernetes, or no resource is wanted, all of this does nothing */
int driver_resource_open(struct driver *driver, struct err *err);
void driver_resource_close(struct driver *driver);
/* After every step: write the status, if that is worth it. */
void driver_resource_step(struct driver *driver);
/* False: fn() is called when it was read once more, and driver_directory_offer() before. */
typedef void driver_resource_fn(void *arg);
bool driver_resource_check(struct driver *driver, driver_resource_fn *fn, void *arg);
/* False: driver_leave() is called once more when the last status was written, or soon. */
bool driver_resource_exit(struct driver *driver);
/* Of the object that is ours; NULL = there is none; borrowed. */
const char *driver_resource_uid(const struct driver *driver);
/* For the status document: is there one? */
void driver_resource_status(const struct driver *driver, struct json *to);
/* Bring driver->conditions up to date. */
void driver_judge(struct driver *driver, int64_t now_unix_ms);

/* driver_event.c; without Kubernetes all of this does nothing */
int driver_event_open(struct driver *driver, struct err *err);
void driver_event_close(struct driver *driver);
void driver_event_notice(struct driver *driver, const struct notice *notice);
/* Tell this; reason and action are one word each. All is copied. */
void driver_event(struct driver *driver, bool warning, const char *reason, const char *action,
		  const char *note);

/* driver_owner.c; where no owner is known all of this does nothing */
int driver_owner_open(struct driver *driver, struct err *err);
void driver_owner_close(struct driver *driver);
void driver_owner_step(struct driver *driver);
/* SIGTERM has come. True: the owner is asked, and EVENT_STOPPING is taken when it has answered, within
 * 2 s; drey-init has its answer. */
bool driver_owner_stopping(struct driver *driver, const struct link_msg *msg);
/* The same for an agent that begins when SIGTERM has come already. Blocks, for 2 s at most: for a
 * lane. */
#define OWNER_REASON_BYTES 700
enum upgrade driver_owner_ask(const struct setup *setup, char *ret_reason, size_t reason_bytes);

/* driver_ready.c; where no owner is known all of this does nothing */
int driver_ready_open(struct driver *driver, struct err *err);
void driver_ready_close(struct driver *driver);
/* After every step: write the condition, if it is another one. */
void driver_ready_step(struct driver *driver);
/* The owner was read once more; NULL = it has gone. */
void driver_ready_owner(struct driver *driver, const struct workload *workload);
/* False: driver_leave() is called once more when the last condition was written, or soon. */
bool driver_ready_exit(struct driver *driver);

/* driver_hooks.c; without a hook directory all of this does nothing */
int driver_hooks_open(struct driver *driver, struct err *err);
void driver_hooks_abort(struct driver *driver); /* drey ends: kill what runs */
void driver_hooks_close(struct driver *driver);
void driver_hooks_notice(struct driver *driver, const struct notice *notice);
/* The result; NULL when it was not run, because drey ends. */
typedef void driver_hook_fn(void *arg, const struct hook_result *result);
/* True: the start may go on, because there are no hooks or this one has let exactly this start
 * (path: of the snapshot, NULL without one) pass; that counts once. */
bool driver_hooks_approved(struct driver *driver, const struct decision *decision,
			   const char *path);
void driver_hooks_approve(struct driver *driver, const struct decision *decision, const char *path);
void driver_hooks_pre_launch(struct driver *driver, const struct decision *decision,
			     const char *path, driver_hook_fn *then, void *arg);
/* False: effect_trigger() is called once more when the pre-stop hook has ended. */
bool driver_hooks_stop(struct driver *driver, const struct effect *effect);
/* False: driver_leave() is called once more when the hooks have ended, or soon. */
bool driver_hooks_exit(struct driver *driver);

/* driver_ha.c; where Flink has no high availability of its own all of this does nothing */
int driver_ha_open(struct driver *driver, struct err *err);
void driver_ha_close(struct driver *driver);
/* drey-init has said so. */
void driver_ha_started(struct driver *driver, const char *launch_id);
void driver_ha_exited(struct driver *driver, const char *launch_id); /* reaped; before the step */
void driver_ha_adopt(struct driver *driver, const char *launch_id);  /* it runs, says HELLO */
/* After every step: delete maps that are spent. */
void driver_ha_step(struct driver *driver);
/* True: the HA maps are being read into the plan, and then() is called as by a lane. */
bool driver_ha_observe(struct driver *driver, struct observe_plan *plan, lane_done_fn *then,
		       void *arg);
/* False: effect_launch() is called once more when Flink's HA is ready for this launch, or the launch
 * is refused. */
bool driver_ha_prepare(struct driver *driver);

/* driver_control.c */
int driver_control_open(struct driver *driver, struct err *err);
void driver_control_acknowledge(struct driver *driver);
void driver_control_close(struct driver *driver);

#endif
