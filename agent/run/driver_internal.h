/*
 * driver_internal - what the parts of the driver share (part.h). Private to them.
 */
#ifndef DREY_RUN_DRIVER_INTERNAL_H
#define DREY_RUN_DRIVER_INTERNAL_H

#include "base/lane.h"
#include "base/log.h"
#include "base/loop.h"
#include "control/control_socket.h"
#include "core/desired.h"
#include "core/handover/side.h"
#include "core/lifecycle/lifecycle.h"
#include "core/report/conditions.h"
#include "core/trace/life_trace.h"
#include "run/driver.h"
#include "run/init_link.h"
#include "run/journal/journal_store.h"
#include "run/outputs/http_server.h"
#include "run/outputs/metrics.h"
#include "run/outputs/termination.h"
#include "run/part.h"

struct copy_part;
struct directory;
struct events;
struct failover_lock;
struct gate_keys_part;
struct gate_files;
struct gc_part;
struct ha;
struct handover_part;
struct hooks;
struct json;
struct jvm_line;
struct kube_lane;
struct leavings;
struct lease_part;
struct notifications;
struct observe_plan;
struct owner_watch;
struct ready;
struct relauncher;
struct resource;
struct resource_status;
struct scale_part;
struct spare_part;
struct standing;
struct start;
struct waiting_call;
struct used;
struct workload;

/* The custom resource, as inputs/resource.c has read it. */
struct resource_object {
	struct kube_lane *kube; /* for requests about it; NULL = none is used */
	const char *found;      /* does it exist? In a word; NULL = none is used */
	const char *uid;        /* NULL = there is none */
	const char *version;    /* its resourceVersion */
	bool deleting;
	int64_t reads;
	bool writing; /* a status is on its way (outputs/resource_status.c) */
};

/* The JVM that runs, as its process shows it. Borrowed from the part that reads it, until the next step. */
struct jvm_seen {
	bool looked;                 /* it was read, or that has failed; false: wait */
	const struct jvm_line *line; /* NULL: not known, or not to be used for another launch */
	const char *fingerprint;     /* of what the line was derived from */
};

struct driver {
	const struct setup *setup;
	struct log *log;
	struct loop *loop;
	struct loop_timer *timer;
	struct loop_signal *on_term;
	struct workers *workers;      /* of all lanes */
	struct kube_watches *watches; /* NULL: no Kubernetes */
	struct lane *journal_lane, *store_lane, *flink_lane, *dispose_lane;
	struct lane *review_lane; /* what nothing waits for */
	struct init_link *link;
	int flink_pid; /* of the process that drey-init runs; 0 = none, or not known */
	int64_t flink_since_unix_ms;   /* when it was started */
	bool flink_is_ours;            /* this agent has asked for it */
	struct leavings *leavings;     /* NULL: not opened */
	struct copy_part *copy;        /* NULL: no copy of the journal is kept */
	struct lease_part *lease;      /* NULL: no lease object is configured */
	struct relauncher *relauncher; /* NULL: not opened */
	struct control_server *control;
	struct waiting_call *waiting; /* answered once their journal write is acknowledged */
	struct directory *directory;  /* of the control files; NULL = none configured */
	struct used *used;            /* NULL = no object has the orders */
	struct resource *resource;    /* NULL = no custom resource is used */
	struct resource_object object;
	struct resource_status *resource_status; /* likewise */
	struct events *events; /* NULL = there is no object that they could be about */
	struct notifications *notifications; /* NULL = no webhook is configured */
	struct owner_watch *owner;           /* NULL = no owner is known */
	struct ready *ready;                 /* likewise */
	struct scale_part *scale;            /* NULL = drey scales nothing */
	struct hooks *hooks;                 /* NULL = no directory configured */
	struct gc_part *gc;                  /* NULL = cleanup is off */
	struct ha *ha;                       /* NULL: Flink has no high availability of its own */
	struct jvm_seen jvm;
	struct spare_part *spare; /* NULL = flink.spare is off */
	struct http_server *http; /* NULL: off, or the port is taken */
	struct loop_timer *http_retry;
	struct metrics metrics;
	struct journal_store *store;        /* of the application's journal */
	struct journal_store *shadow_store; /* of a candidate's; NULL = no blue/green */
	struct start *start;                /* until the journal is read */
	char *writer;                       /* names this process in the journal */
	int state_lock_fd;
	int flink_lock_fd;         /* taken before a start is decided, passed on with the launch */
	enum side side;            /* driver_choose_side() */
	bool holds_main;           /* a candidate's Flink may wait in main() */
	struct standing *standing; /* until the application is ours; NULL: no hand-overs */
	struct standing *standing_closed;    /* other lanes may still have jobs of it */
	struct handover_part *handover;      /* NULL: no hand-overs */
	struct gate_keys_part *gate_keys;    /* NULL: it has no gates that go by keys */
	struct gate_files *gate_files;       /* NULL: the job has no gates that drey drives */
	struct lifecycle_config life_config; /* setup->life, for the side */
	struct lifecycle life;
	struct life_trace trace;      /* of its last steps */
	struct json *decision;        /* the last one, as decision_document(); NULL = none yet */
	struct conditions conditions; /* as judged after the last step */
	bool alive;  /* life is initialised: HELLO has come and the journal is read */
	bool held;   /* the journal cannot be read: life only reports that */
	bool stands; /* held, because another pod owns the application, and reports on it */
	struct termination_last last; /* before the shutdown began */
	bool checking;                /* the journal is being checked */
	bool init_takes_lease;        /* drey-init understands LEASE */
	bool init_takes_spare;        /* ... and SPARE */
	bool fence_noted;             /* in the state directory, for the next agent */
	bool closing;                 /* the loop has ended: no more steps */
	struct gate gates[GATES];     /* what waits there */
	int64_t gate_number;          /* of what came last to one of them */
	int exit_status;              /* of the agent */
	struct err *err;              /* why it could not start */
	/* what is done before the first step, for /readyz: a constant; NULL: drey-init has not reported */
	_Atomic(const char *) starting;
};

/* How long running jobs may take when the agent ends; a hanging one is left behind. */
#define LANE_PATIENCE_MS 1000

/* The journal write that contains the changes of the last step. */
int64_t driver_covering_write(const struct driver *driver);

/* Step the state machine with one event and execute its effects. */
void driver_step(struct driver *driver, const struct event *event);

/* Bring driver->conditions up to date. */
void driver_judge(struct driver *driver);

/* The machine has taken this event (life_trace_event(), taken over) in the phase `before`, and these
 * effects came of it. */
void driver_trace(struct driver *driver, struct json *event, enum phase before,
		  const struct effects *effects);

/* Tell all parts that the state may have changed. */
void driver_stepped(struct driver *driver);

/* The agent exits after this callback. */
void driver_stop(struct driver *driver, int status);

/* Execute it; its gate is open. */
void driver_execute(struct driver *driver, const struct effect *effect);

/* The effect cannot be executed: EVENT_REFUSED follows after this callback, or for a launch without a
 * cause EVENT_LAUNCH_FAILED. `why` is copied. */
void driver_refuse(struct driver *driver, enum effect_type effect, enum cause cause,
		   const char *why);

#define FLINK_LOCK_NAME "flink.lock" /* in the state directory */

/* effects/flink_lock.c: 0 also if it is already owned */
int driver_take_flink_lock(struct driver *driver, struct err *err);
/* A new open file description of it, not locked; the caller closes it. */
int driver_open_flink_lock(const struct driver *driver, struct err *err);

/* effects/spare.c: drey-init has sent this. True: it was about the spare, and about nothing else. */
bool driver_spare_heard(struct driver *driver, const struct link_msg *msg);
/* This launch is sent next: into the spare, if it may run there. `fingerprint`: what the launch is made
 * of now, as jvm_fingerprint() has it; NULL = it is not by the line of the last JVM. What is set in
 * `launch` is borrowed until the next step. */
void driver_spare_offer(struct driver *driver, const char *fingerprint,
			struct init_link_launch *launch);

/* journal/fence.c; after every step: note that this agent is fenced, for the next agent */
void driver_fence_step(struct driver *driver);
/* Has an earlier agent in this container noted that? */
bool driver_fence_was_noted(const struct driver *driver);

/* journal/start.c: after HELLO; later the machine is alive, or the driver stopped */
typedef void driver_link_fn(struct driver *driver, const struct link_msg *msg);
/* take() gets what was kept, when the machine is alive. */
void driver_start(struct driver *driver, const struct link_msg *hello, driver_link_fn *take);
/* A message that comes before the machine is alive. */
void driver_start_keep(struct driver *driver, const struct link_msg *msg);
void driver_start_close(struct driver *driver);
/* With hand-overs: the journal, as read last, is ours (it is taken over), with this right. `hello`: what
 * drey-init says now. */
struct driver_claim {
	enum claim claim;
	enum side side;
	enum wanted wanted;      /* this pod's template */
	char held[JOB_ID_BYTES]; /* launch id of the Flink that waits in main(); "" = none */
	bool shadow; /* the journal is that of a candidate: its job runs in the shadow */
};
void driver_start_own(struct driver *driver, const struct link_msg *hello, struct journal *journal,
		      const struct driver_claim *claim);
/* Its job runs in the shadow of another pod's. */
static inline bool driver_in_shadow(const struct driver *driver)
{
	return driver->life_config.handover.shadow;
}
/* Where the journal of the machine is. */
static inline struct journal_store *driver_store(const struct driver *driver)
{
	return driver_in_shadow(driver) ? driver->shadow_store : driver->store;
}
/* Until then: what people see of this pod. */
void driver_start_show(struct driver *driver, enum phase phase, enum cause cause,
		       const char *reason);

/* The status document as users get it; the caller frees it. The machine is alive or held. The second one is for people: it has
 * the history and what waits, too. */
struct json *driver_status(const struct driver *driver);
struct json *driver_status_full(const struct driver *driver);

/* What the spec of the custom resource asks for, as read; empty if there is no resource. NULL: it
 * could not be read (see `why`). */
void driver_directory_offer(struct driver *driver, const struct desired *desired, bool there,
			    const struct err *why);
/* Access denied and never read by this process: ignored, unless one was seen earlier. */
void driver_directory_deny(struct driver *driver, const struct err *why);
/* Why a restore request that was made in time is not carried out; NULL = no such request;
 * borrowed. */
const char *driver_directory_refused(const struct driver *driver);

/* The newest reading of an object with orders; NULL = not read, or there is none; borrowed. */
enum control_object {
	CONTROL_OBJECT_MAP,
	CONTROL_OBJECT_RESOURCE,
	CONTROL_OBJECTS,
};
const struct desired *driver_directory_desired(const struct driver *driver,
					       enum control_object object);

/* inputs/resource.c: it may have gone, or be another one: it is read again */
void driver_resource_doubt(struct driver *driver);

/* outputs/events.c: post this Event, if there is an object that it could be about; reason and action
 * are one word each. Everything is copied. */
void driver_event(struct driver *driver, bool warning, const char *reason, const char *action,
		  const char *note);

/* inputs/sigterm.c: what SIGTERM means, for an agent that starts after it. Blocks for at most 2 s: for
 * a lane. */
#define OWNER_REASON_BYTES 700
enum upgrade driver_owner_ask(const struct setup *setup, char *ret_reason, size_t reason_bytes);

/* outputs/ready_condition.c: the owner was read again; NULL = it no longer exists */
void driver_ready_owner(struct driver *driver, const struct workload *workload);

/* ha/ha_side.c: which of its two sides the application is on, for all that is observed and launched from
 * now on; what runs is not touched. Where there is one cluster id, there is one side. */
void driver_choose_side(struct driver *driver, enum side side);
/* The cluster id of Flink's HA on that side; NULL: Flink has no HA; borrowed from the setup. */
const char *driver_cluster_id(const struct driver *driver);
/* The one that this launch has or will have: its own, if it is on record. Borrowed from both. */
const char *driver_launch_cluster_id(const struct driver *driver, const struct launch *launch);

/* ha/ha.c: false: Flink has no high availability of its own. True: the HA maps are being read into the plan; then() is called afterwards, as by a lane. */
bool driver_ha_observe(struct driver *driver, struct observe_plan *plan, lane_done_fn *then,
		       void *arg);
/* The same file, for a Flink that is started before the machine is alive: this launch is about to be
 * started, with the lock as it is; its process was started, or has ended. */
void driver_ha_hold(struct driver *driver, const struct launch *launch,
		    const struct failover_lock *lock);
void driver_ha_held(struct driver *driver, const char *launch_id, bool started);
/* The same file: if this launch were killed now, would its leader lock be released? Not if the owner
 * of the lock is not known yet; the successor would wait for the lease to expire. */
bool driver_ha_may_kill(const struct driver *driver, const char *launch_id);

#endif
