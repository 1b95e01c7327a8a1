/*
 * lifecycle - the life of one application as a pure state machine.
 *
 * Events in, effects out: no clock, no files, no sockets. The driver (run/) executes the effects
 * and turns their results into events; the simulator does the same against models. What must be
 * durable is in lifecycle.journal, and an effect that acts on the world comes out only after the
 * journal write that announces it was acknowledged (EVENT_JOURNAL_WRITTEN).
 *
 * Life cycle: lifecycle_init() takes the journal over -> lifecycle_step() for every event, and
 * EVENT_TICK when lifecycle_deadline_ms() has come -> lifecycle_release().
 *
 * At most one operation (savepoint, stop, cancel, dispose) is in flight, at most one poll, one
 * observation and one journal write.
 */
#ifndef DREY_CORE_LIFECYCLE_H
#define DREY_CORE_LIFECYCLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/cause.h"
#include "core/facts.h"
#include "core/journal.h"
#include "core/notice.h"
#include "core/phase.h"
#include "core/resolve.h"
#include "core/retention.h"
#include "core/rng.h"
#include "core/schedule.h"

/* What SIGTERM to the container means as long as nobody tells whether it is an upgrade. */
enum sigterm_policy {
	SIGTERM_KEEP,      /* forward it, keep the state that there is; the next start continues */
	SIGTERM_SAVEPOINT, /* stop with savepoint inside the grace period */
	SIGTERM_UPGRADE,   /* always an upgrade: what upgrade_mode says */
};

/* How the job passes from one generation to the next. */
enum upgrade_mode {
	UPGRADE_BY_SAVEPOINT, /* stop with savepoint; from the newest checkpoint if that is impossible */
	UPGRADE_BY_LAST_STATE, /* end Flink; the next generation starts from the newest state */
	UPGRADE_STATELESS,     /* cancel; the next generation starts empty */
};

/* Why the container is to end, as far as whoever knows its owner can tell. */
enum upgrade {
	UPGRADE_UNKNOWN,
	UPGRADE_NO,  /* the same is started again: an eviction, a drain of the node */
	UPGRADE_YES, /* another generation follows, or none: scaled to 0, deleted */
};

struct lifecycle_config {
	/* savepoints */
	struct schedule savepoints; /* the periodic ones */
	struct retention retention;
	const char *savepoint_dir; /* URI; NULL = operations need Flink's own default */
	/* Where checkpoints and savepoints are found: the same but for what Flink leaves out of the names of
	 * files (s3.entropy.key). NULL = not known. */
	const char *listed_checkpoint_dir, *listed_savepoint_dir;
	const char *ha_cluster_id; /* of Flink's HA maps; NULL = it has no HA */
	bool drain_on_stop;
	/* launches */
	const char *result_store_dir; /* URI; each launch gets <dir>/<job id>; NULL = no own path */
	const char *id_space;         /* of the job ids, job_id.h; NULL = random ones */
	int64_t id_count;             /* of the numbers that may be used */
	const char *flink_version;    /* NULL = not known */
	bool application_ids;   /* Flink >= 2.3: application id and its result store as well */
	const char *generation; /* NULL = none given */
	struct policy policy;
	/* failures */
	int max_attempts; /* failed attempts inside the window before FAILED */
	int64_t attempts_window_ms;
	int64_t backoff_first_ms, backoff_max_ms; /* the first failure of a proven launch waits 0 */
	/* from exec to RUNNING with the restore verified; and so long a Flink may not know a job
	 * that ran */
	int64_t ready_deadline_ms;
	/* timing */
	int64_t poll_fast_ms, poll_slow_ms;
	int64_t poll_tasks_ms;     /* while all is well, between two of the slow ones; 0 = never */
	const char *task_managers; /* label selector of their Pods; NULL = not known */
	int64_t kill_after_ms;     /* from SIGTERM to SIGKILL of Flink */
	/* while Flink lives and nothing is written the journal is looked at so often: did another drey
	 * write it? 0 = never, because a lock keeps every other one out */
	int64_t journal_check_ms;
	/* What the names of the writers of this place (a pod) begin with, before a slash; NULL: there is no
	 * other place, because a lock keeps every other drey out. Borrowed. */
	const char *place;
	/* A launch of another place whose end nobody has seen may still run: so long after the first write
	 * of our own nothing is started, until whoever runs it has seen that write. 0 = no need to wait */
	int64_t takeover_ms;
	/* Fencing is strict: a Flink runs only so long after the moment at which the journal was asked for
	 * last and was ours. 0 = it is not: a journal that is out of reach ends nothing */
	int64_t lease_ms;
	int64_t hold_retry_first_ms, hold_retry_max_ms;
	int64_t stop_retry_ms; /* after a failed stop, while the job runs on */
	/* ends */
	enum sigterm_policy on_sigterm;
	enum upgrade_mode upgrade;
	bool exit_when_finished; /* end the container when the job has FINISHED (for kind: Job) */
};

enum job_state {
	JOB_UNKNOWN, /* not asked, or a word that we do not know */
	JOB_INITIALIZING,
	JOB_CREATED,
	JOB_RUNNING,
	JOB_FAILING,
	JOB_FAILED,
	JOB_CANCELLING,
	JOB_CANCELED,
	JOB_FINISHED,
	JOB_RESTARTING,
	JOB_SUSPENDED,
	JOB_RECONCILING,
};

/* A savepoint that this job has completed, whoever asked for it. */
struct seen_savepoint {
	int64_t id;
	const char *path;
	int64_t completed_unix_ms; /* 0 = not known */
	bool stop;                 /* of a stop with savepoint */
};

/* The tasks of the job and what they run on, as Flink counts them. */
struct cluster {
	bool tasks_known, slots_known;
	int tasks_total, tasks_running; /* one that has finished counts as running */
	int tasks_waiting;              /* not deployed: for slots, or for the pause of a restart */
	int task_managers, slots_total, slots_free;
};

/* What one look at Flink's REST API has shown. Strings are borrowed for the step. */
struct view {
	bool reachable;   /* REST answered at all */
	bool job_present; /* the job id is known there */
	enum job_state state;
	bool tasks_missing; /* not every task runs, or it is not known: a savepoint would fail */
	struct cluster cluster;
	bool restarts_known;
	int64_t restarts;       /* that Flink has made of this job, in this process */
	bool statistics_known;  /* the checkpoint statistics were read */
	bool checkpointing_off; /* proven: there are none for this job */
	bool restored;          /* latest.restored is there */
	int64_t restored_id;
	const char *restored_path;
	int64_t completed_id; /* latest completed checkpoint (no savepoint); 0 = none */
	const char *completed_path;
	int64_t completed_unix_ms;
	const struct seen_savepoint *savepoints; /* those that Flink remembers, in any order */
	size_t savepoint_count;
	const char *failure;   /* root cause when the job fails or restarts; NULL = none known */
	const char *other_job; /* id of another job of this Flink that has not ended; NULL = none */
};

enum operation_status {
	STATUS_ACCEPTED, /* the POST was taken */
	STATUS_IN_PROGRESS,
	STATUS_COMPLETED,  /* location is set for savepoint and stop */
	STATUS_FAILED,     /* Flink says so; error is set, location too when a savepoint survived */
	STATUS_UNKNOWN_ID, /* 404: this JobManager has never heard of the trigger id */
	STATUS_UNREACHABLE, /* no answer: nothing is known */
};

enum control_field {
	CONTROL_STATE = 1 << 0,
	CONTROL_DO_NOT_RESTART = 1 << 1,
	CONTROL_SAVEPOINT = 1 << 2,
	CONTROL_RESTART = 1 << 3,
	CONTROL_RESTORE = 1 << 4,
	CONTROL_NEW_START = 1 << 5, /* a person asks for a start: forget outcome and attempts */
	/* with RESTORE: the order was already there on the first read; its age is unknown */
	CONTROL_STANDING = 1 << 6,
};

enum event_type {
	EVENT_HELLO,    /* drey-init told what is running; the first event */
	EVENT_TICK,     /* the deadline has come */
	EVENT_OBSERVED, /* facts and decision */
	EVENT_JOURNAL_WRITTEN,
	EVENT_JOURNAL_FAILED,
	EVENT_JOURNAL_SEEN, /* it was looked at, and nobody else has written it, as far as that is known */
	EVENT_STARTED,       /* exec succeeded */
	EVENT_LAUNCH_FAILED, /* Flink was not started */
	EVENT_EXITED,        /* reaped: proven dead */
	EVENT_VIEW,
	EVENT_OPERATION, /* answer to an operation's POST or poll */
	EVENT_DISPOSED,  /* what came of a disposal */
	EVENT_INSPECTED, /* the savepoint that an operation reported was looked at */
	EVENT_CONTROL,   /* somebody changed what is wanted */
	EVENT_STOPPING,  /* the container is to end */
	EVENT_COUNT,
};

/* Strings and pointers are borrowed for the step. */
struct event {
	enum event_type type;
	union {
		struct {
			const char *running; /* launch (job) id of the live Flink, NULL = none */
			const char *last;    /* launch id that ended last, NULL = none known */
			int64_t running_number, last_number; /* of these launches; 0 = not known */
			bool fenced; /* an agent before, in this container, has lost the journal */
			int last_wait_status;
			bool stopping;
			int64_t grace_left_ms;
			enum upgrade upgrade; /* with stopping */
		} hello;
		struct {
			struct facts *facts; /* candidates; verdicts already written */
			const struct decision *decision;
		} observed;
		struct {
			int64_t sequence;
			bool conflict; /* FAILED: somebody else has written; we are fenced */
			const char *error;
			bool lost; /* SEEN: it is not there, or a backup is: to be written again */
			bool unknown; /* SEEN: it could not be looked at */
		} journal;
		struct {
			const char *launch_id;
			int64_t number; /* of the launch; 0 = not known */
			int wait_status;
			bool oom_killed;
			const char *error; /* LAUNCH_FAILED */
			/* LAUNCH_FAILED: no attempt, it must not be made now; CAUSE_NONE = a
			 * failed attempt */
			enum cause held;
			const char *meaning; /* EXITED: a sentence about the status */
		} process;
		struct view view;
		struct {
			const char *trigger_id;
			const char *job_id; /* that was asked about; NULL = not known */
			enum operation_status status;
			const char *location;
			const char *error;
		} operation;
		struct {
			const char *path;
			bool readable; /* false: could not be looked at, error says why */
			bool complete;
			int64_t checkpoint_id, size_bytes, file_count;
			const char *error;
		} inspected;
		struct {
			const char *path;
			const char *error; /* NULL: the savepoint is gone */
		} disposed;
		struct {
			unsigned fields; /* enum control_field */
			struct intent intent;
		} control;
		struct {
			int64_t grace_left_ms;
			enum upgrade upgrade;
		} stopping;
	};
};

enum effect_type {
	EFFECT_OBSERVE,       /* gather facts, resolve, answer EVENT_OBSERVED */
	EFFECT_WRITE_JOURNAL, /* lifecycle.journal as it is now; sequence */
	EFFECT_LAUNCH,        /* the current launch of the journal */
	EFFECT_POLL,          /* answer EVENT_VIEW; job id, depth */
	EFFECT_TRIGGER,       /* POST the journal's operation, answer EVENT_OPERATION */
	EFFECT_POLL_OPERATION,
	EFFECT_INSPECT, /* path; answer EVENT_INSPECTED */
	/* path; job_id: the Flink that runs this job deletes it, no other one; answer
	 * EVENT_DISPOSED */
	EFFECT_DISPOSE,
	EFFECT_SIGNAL,   /* signo to Flink; group = its whole process group */
	EFFECT_STOP_ACK, /* tell drey-init that the stop is in our hands */
	EFFECT_EXIT,     /* tell drey-init to end with status */
	EFFECT_NOTE,     /* a line for people: level, text */
	/* is it what was written last? Then EVENT_JOURNAL_SEEN. When another drey has written
	 * it: EVENT_JOURNAL_FAILED with conflict, and the sequence that was requested last; when
	 * it makes no sense any more, EVENT_JOURNAL_SEEN (unknown) and then the same without
	 * conflict */
	EFFECT_CHECK_JOURNAL,
	/* tell drey-init: SIGKILL for Flink at until_ms, and no launch after that, unless
	 * another EFFECT_LEASE puts it off; comes before the LAUNCH that it allows */
	EFFECT_LEASE,
	EFFECT_TELL, /* pass the notice to hooks, Kubernetes Events and metrics */
};

enum note_level {
	NOTE_INFO,
	NOTE_WARNING,
	NOTE_ERROR,
};

/* How much a poll asks for. */
enum poll_depth {
	POLL_TASKS, /* state and tasks; the rest only when they are not as they should be */
	POLL_JOB,   /* the checkpoint statistics, slots and TaskManagers as well */
	POLL_ALL,   /* and how often Flink has restarted the job */
};

struct effect {
	enum effect_type type;
	int64_t sequence;
	int64_t until_ms; /* LEASE: on the monotonic clock, which drey-init reads as well */
	int signo;
	bool group;
	int status;
	enum note_level level;
	enum poll_depth depth; /* POLL */
	enum cause cause;      /* NOTE that a phase begins: lifecycle.cause */
	char id[JOB_ID_BYTES]; /* POLL, DISPOSE, SIGNAL: job id; TRIGGER, POLL_OPERATION: trigger id */
	char *text;            /* INSPECT, DISPOSE: path; NOTE: the line; owned by the effect */
	struct notice notice; /* TELL; its strings are owned by the effect */
};

#define LIFECYCLE_MAX_EFFECTS 24

/* Filled by one step; the caller executes them in order, then effects_clear(). */
struct effects {
	struct effect list[LIFECYCLE_MAX_EFFECTS];
	size_t count;
};

enum launch_step {
	LAUNCH_NONE,
	LAUNCH_WRITING,  /* the intent is being written */
	LAUNCH_STARTING, /* drey-init was asked */
	LAUNCH_LIVE,     /* the process runs */
};

enum operation_step {
	STEP_NONE,
	STEP_WRITING,    /* the intent is being written */
	STEP_TRIGGERING, /* POST on its way, or to be sent again */
	STEP_POLLING,
	STEP_INSPECTING, /* the reported savepoint is being looked at */
	STEP_ENDING,     /* stop, cancel: waiting for the job's final state */
	STEP_SETTLING,   /* Flink has gone before its end was seen: looked for in storage */
};

struct lifecycle {
	const struct lifecycle_config *config;
	struct journal journal;
	struct rng rng;
	enum phase phase;
	enum cause cause; /* the same in one word; CAUSE_NONE = all is as it should be */
	char reason[512]; /* why this phase; for people */
	/* Another writer owns the journal: never write or launch again. Our own Flink is killed at once,
	 * with its whole process group, whether Flink has HA or not:
	 * - without HA nothing but drey keeps the job from running twice;
	 * - with HA Flink's leader election does, but a Flink that nobody looks after would stand by,
	 *   lead again after the next failure, and go on from what its own job id has;
	 * - no savepoint, and no SIGTERM: the state of a fenced job is nobody's, and a Flink that ends in
	 *   good order may commit, or delete checkpoints that the other one's job stands on.
	 * The container does not end: started again it would take the journal back from the other one,
	 * which then kills its job, and so on for ever. */
	bool fenced;
	bool terminating;              /* the container is to end: no launch any more */
	bool foreign;                  /* drey-init runs a Flink that the journal does not know */
	char foreign_id[JOB_ID_BYTES]; /* its launch id */
	bool left;                     /* drey-init was told to end */
	enum phase ended;              /* the end that was told last; PHASE_COUNT = none */

	/* the process */
	enum launch_step launch_step;
	bool launch_void; /* the last launch never left drey: the next one takes its place and its id */
	bool end_counts;  /* Flink is being ended, and that counts as a failed attempt */
	bool end_wanted;  /* Flink is being ended */
	char *end_reason; /* why; owned */

	/* requests in flight */
	bool observing, polling, disposing;
	char *keeper;       /* looked at before an older one is disposed of; owned, NULL = none */
	bool observe_again; /* what is wanted has changed under the observation */
	enum operation_step step;
	bool asking;            /* TRIGGER or POLL_OPERATION is on its way */
	bool accepted;          /* this JobManager has taken the operation's POST from us */
	char *stop_location;    /* the savepoint of the stop operation, once reported; owned */
	char *operation_error;  /* what went wrong although there is a savepoint; owned */
	bool savepoint_damaged; /* the stop operation's savepoint is proven incomplete */

	/* the journal write */
	bool want_write;
	int64_t requested, acknowledged; /* sequence numbers; equal = no write in flight */
	bool journal_broken;             /* the last write failed; repeated at journal_retry_ms */
	char *journal_error;             /* why; NULL = it is not broken; owned */
	int journal_failures;            /* in a row, for the backoff */
	/* effect.sequence: the write that has to come first, 0 = the next one */
	struct effects deferred;

	/* The newest checkpoint is on record within a minute: what was written last of it, when anything was,
	 * and when it is to be written if nothing else is; 0 = it is. */
	int64_t noted_checkpoint_id, noted_ms, note_ms;

	/* two dreys */
	bool has_written;      /* the journal was ours, since this agent began */
	bool takeover_pending; /* the wait for another place's launch begins with our first write */
	bool looks_early; /* the facts are gathered while the Flink of that launch may still add to them */
	bool checking;                        /* the journal is being looked at */
	int64_t write_sent_ms, check_sent_ms, /* when the last one was asked for */
		owned_ms; /* when the journal was asked for that turned out to be ours */

	int64_t polled_ms; /* when the last poll was sent: its answer is no newer than that */
	int64_t polled_job_ms, polled_all_ms; /* the last one of that depth, or deeper; 0 = none */

	/* what was seen last */
	struct {
		bool reachable, job_present;
		enum job_state state;
		int64_t not_restored_ms; /* since when RUNNING without the restore that we expect */
		int64_t savepoint_id;    /* savepoints up to this id are known */
		bool tasks_missing;      /* the job does not run, or not all of it */
		struct cluster cluster;
		int64_t all_ran_ms; /* when it was asked last and all tasks ran; 0 = never */
		int slots_used;     /* by the job, when all its tasks ran; 0 = not known */
		bool not_ready;     /* it was said that the tasks do not run */
		bool restarts_known;
		int64_t restarts;      /* by Flink, in this process */
		int64_t statistics_ms; /* polled_ms of the last look that has shown statistics */
		int64_t finished_ms;   /* since when FINISHED, and unclear how it came to that */
	} seen;

	/* deadlines on the monotonic clock, 0 = not armed */
	int64_t poll_ms, retry_ms, savepoint_ms, ready_ms, kill_ms, journal_retry_ms, stop_retry_ms,
		operation_poll_ms, operation_deadline_ms, exit_ms,
		check_ms,     /* the journal is looked at */
		takeover_ms,  /* another place's launch has seen that it is not the owner */
		lease_end_ms, /* Flink has to be gone soon */
		disposal_ms,  /* retention looks again; 0 = now */
		tasks_ms;     /* until then tasks may be missing */
	int64_t grace_end_ms; /* when the container will be killed; 0 = not known */
	enum operation_reason stop_reason; /* of the stop that waits */
	/* the container ends, and Flink is looked at once more before that: at most until then;
	 * 0 = it is not */
	int64_t look_ms;
	int64_t look_since_ms; /* an answer counts that was asked for after this */
	int64_t budget_end_ms; /* a stop of the container has to be over by then */
	enum upgrade upgrade;  /* why the container ends */
	int64_t lifted_ms;     /* when do-not-restart was lifted last, in this process */
	/* a stop waits for the savepoint in flight, and has to be over by then; 0 = none does */
	int64_t stop_by_ms;
	int holds; /* in a row, for the backoff */

	/* the step that runs */
	int64_t now_ms, now_unix_ms;
	struct effects *out;
};

/* Takes the journal over (the caller's struct is emptied). `config` is borrowed for the whole life.
 * Nothing happens until EVENT_HELLO. */
void lifecycle_init(struct lifecycle *life, const struct lifecycle_config *config,
		    struct journal *journal, const struct rng *rng);
void lifecycle_release(struct lifecycle *life);

/* Take one event. now_ms: monotonic; now_unix_ms: wall clock, only ever recorded or shown. */
void lifecycle_step(struct lifecycle *life, const struct event *event, int64_t now_ms,
		    int64_t now_unix_ms, struct effects *ret_effects);

/* True while a job runs that nobody wants to stop: a restore request (CONTROL_RESTORE) is then not
 * taken, because it would lie in wait for the next accident. */
bool lifecycle_refuses_restore(const struct lifecycle *life);

/* True as long as this agent has never owned the journal, and no Flink of it can run: a conflict of a write takes nothing
 * from it then. It is no fence, and the journal is to be read anew, by the next agent. */
bool lifecycle_is_newcomer(const struct lifecycle *life);

/* Monotonic time of the next EVENT_TICK; -1 = none. */
int64_t lifecycle_deadline_ms(const struct lifecycle *life);

void effects_clear(struct effects *effects);

const char *job_state_name(enum job_state state); /* "RUNNING", ... as Flink spells it */
enum job_state job_state_parse(const char *name); /* JOB_UNKNOWN for a word that we do not know */
bool job_state_is_final(enum job_state state);    /* FINISHED, CANCELED, FAILED */
const char *event_type_name(enum event_type type);
const char *effect_type_name(enum effect_type type);

#endif
