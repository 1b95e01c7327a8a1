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
 * At most one operation (savepoint, stop, cancel, dispose) or one requested checkpoint is in flight, at
 * most one poll, one observation and one journal write.
 */
#ifndef DREY_CORE_LIFECYCLE_H
#define DREY_CORE_LIFECYCLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/handover/candidate.h"
#include "core/handover/handover.h"
#include "core/journal/journal.h"
#include "core/lifecycle/checkpointing.h"
#include "core/lifecycle/due_time.h"
#include "core/lifecycle/hang.h"
#include "core/lifecycle/job_state.h"
#include "core/lifecycle/lifecycle_config.h"
#include "core/lifecycle/notice.h"
#include "core/lifecycle/phase.h"
#include "core/lifecycle/steps.h"
#include "core/lifecycle/transition_progress.h"
#include "core/lifecycle/view.h"
#include "core/report/cause.h"
#include "core/rescale.h"
#include "core/resolve/facts.h"
#include "core/resolve/resolve.h"
#include "core/resolve/signs.h"
#include "core/rng.h"

enum operation_status {
	STATUS_ACCEPTED, /* the POST was accepted */
	STATUS_IN_PROGRESS,
	STATUS_COMPLETED,  /* location is set for savepoint and stop */
	STATUS_FAILED,     /* Flink says so; error is set, location too when a savepoint survived */
	STATUS_UNKNOWN_ID, /* 404: this JobManager does not know the trigger id */
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
	CONTROL_CHECKPOINT = 1 << 7,
	CONTROL_PARALLELISM = 1 << 8,
	/* of the transition under way: the cut may come; it is given up. Each nonce is carried out once */
	CONTROL_PROMOTE = 1 << 9,
	CONTROL_ABORT = 1 << 10,
	CONTROL_ACKNOWLEDGE = 1 << 11, /* of state that was lost: a person knows. Likewise */
};

enum event_type {
	EVENT_HELLO,    /* drey-init reported what is running; the first event */
	EVENT_TICK,     /* the deadline has come */
	EVENT_OBSERVED, /* facts and decision */
	EVENT_JOURNAL_WRITTEN,
	EVENT_JOURNAL_FAILED,
	/* it was checked, and no other drey has written it, as far as is known */
	EVENT_JOURNAL_SEEN,
	EVENT_STARTED,       /* exec succeeded */
	EVENT_LAUNCH_FAILED, /* Flink was not started */
	EVENT_REFUSED,       /* an effect must not be executed now: no failed attempt */
	EVENT_EXITED,        /* reaped: proven dead */
	EVENT_VIEW,
	EVENT_OPERATION,  /* answer to an operation's POST or poll */
	EVENT_DISPOSED,   /* the result of a disposal */
	EVENT_INSPECTED,  /* the savepoint that an operation reported was inspected */
	EVENT_CONTROL,    /* the desired state has changed */
	EVENT_STOPPING,   /* the container is being stopped */
	EVENT_CANDIDATE,  /* the record of another pod was read */
	EVENT_CHECKPOINT, /* answer to a requested checkpoint's POST or poll */
	EVENT_RESCALED,   /* answer to RESCALE */
	EVENT_LEASE,      /* the lease object was written, or is lost */
	EVENT_GATE,       /* the gates of the job here have reported */
	EVENT_GATE_KEYS,  /* the ConfigMap of gates that go by keys was read */
	EVENT_SIGNS,      /* what storage and HA show of the launch that lives */
	EVENT_COUNT,
};

enum effect_type {
	EFFECT_OBSERVE,       /* gather facts, resolve, answer EVENT_OBSERVED */
	EFFECT_WRITE_JOURNAL, /* lifecycle.journal as it is now; sequence */
	EFFECT_LAUNCH,        /* the current launch of the journal */
	EFFECT_POLL,          /* answer EVENT_VIEW; job id, depth */
	EFFECT_TRIGGER,       /* POST the journal's operation, answer EVENT_OPERATION */
	EFFECT_POLL_OPERATION,
	EFFECT_INSPECT, /* path; answer EVENT_INSPECTED */
	EFFECT_DISPOSE, /* path; job_id: only the Flink that runs this job does; answer EVENT_DISPOSED */
	EFFECT_SIGNAL,   /* signo to Flink; group = its whole process group */
	EFFECT_STOP_ACK, /* tell drey-init that the agent handles the stop */
	EFFECT_EXIT,     /* tell drey-init to exit with status */
	EFFECT_NOTE,     /* a line for people: level, text */
	/* is it what was last written? Then EVENT_JOURNAL_SEEN. If another drey has written it:
	 * EVENT_JOURNAL_FAILED with conflict, and the sequence requested last; if it no longer
	 * makes sense, EVENT_JOURNAL_SEEN (unknown) and then the same without conflict */
	EFFECT_CHECK_JOURNAL,
	/* tell drey-init: SIGKILL at until_ms, no launch after that, unless another one extends it; before its LAUNCH */
	EFFECT_LEASE,
	EFFECT_STAND_DOWN, /* the journal is another pod's, and no Flink runs: be a standby */
	EFFECT_TELL,       /* pass the notice to hooks, Kubernetes Events and metrics */
	/* POST the journal's checkpoint, or poll the one with this trigger id; answer EVENT_CHECKPOINT */
	EFFECT_TRIGGER_CHECKPOINT,
	EFFECT_POLL_CHECKPOINT,
	/* job id; text: give the vertices of the job these bounds (a body for Flink), then look at
	 * them; NULL: only look. Answer EVENT_RESCALED */
	EFFECT_RESCALE,
	/* with blue/green: the gates of the job `id` are told `order`, for the transition with the id
	 * `text` (NULL: none is under way). What they report is EVENT_GATE, as long as there is one */
	EFFECT_GATE,
	/* gather the facts about the launch that lives: does it run? Answer EVENT_SIGNS */
	EFFECT_SIGNS,
	EFFECT_COUNT,
};

/* What Flink says to a POST of an operation or a checkpoint, or of its result. */
struct answer {
	const char *trigger_id;
	const char *job_id; /* that was queried; NULL = not known */
	enum operation_status status;
	const char *location; /* of a checkpoint: NULL = Flink does not show it (yet) */
	const char *error;
	int64_t checkpoint_id; /* of a checkpoint, COMPLETED */
};

/* Strings and pointers are borrowed for the step. */
struct event {
	enum event_type type;
	union {
		struct {
			const char *running; /* launch (job) id of the live Flink, NULL = none */
			const char *last;    /* launch id that ended last, NULL = none known */
			int64_t running_number, last_number; /* of these launches; 0 = not known */
			bool fenced; /* an earlier agent in this container was fenced */
			int last_wait_status;
			bool stopping;
			int64_t grace_left_ms;
			enum upgrade upgrade; /* with stopping */
			enum claim claim;     /* with hand-overs: why the journal is ours */
			enum wanted wanted;   /* idem: this pod's template, as known last */
			/* launch id of a Flink that was started before and waits in main(); it is
			 * not `running` then. NULL = none */
			const char *held;
		} hello;
		struct {
			struct facts *facts; /* candidates; verdicts already written */
			const struct decision *decision;
		} observed;
		struct {
			int64_t sequence;
			bool conflict; /* FAILED: another drey has written; this one is fenced */
			const char *error;
			bool lost;    /* SEEN: it is missing, or a backup: write it again */
			bool unknown; /* SEEN: it could not be read */
		} journal;
		struct {
			const char *launch_id;
			int64_t number; /* of the launch; 0 = not known */
			int wait_status;
			bool oom_killed;
			/* EXITED, LAUNCH_FAILED: it was started without Flink's scripts and its
			 * REST API never answered. No failed attempt: the next one uses them */
			bool shortcut;
			const char *error;   /* LAUNCH_FAILED */
			const char *meaning; /* EXITED: a sentence about the status */
		} process;
		struct {
			enum effect_type effect; /* OBSERVE, LAUNCH */
			enum cause cause;
			const char *why;       /* a sentence */
			const char *launch_id; /* LAUNCH: which one */
			/* OBSERVE: the facts, and the decision that must not be carried out; NULL =
			 * nothing was gathered */
			struct facts *facts;
			const struct decision *decision;
		} refused;
		struct view view;
		struct answer operation, checkpoint, answer; /* `answer`: of either */
		struct {
			const char *path;
			bool readable; /* false: could not be read, or was not found; error says why */
			bool complete;
			int64_t checkpoint_id, size_bytes, file_count;
			const char *error;
			bool background; /* as in the effect */
		} inspected;
		struct {
			const char *path;
			const char *error;  /* NULL: the savepoint is deleted, or needed */
			const char *needed; /* it stays: what refers to its files; NULL = nothing */
		} disposed;
		struct {
			unsigned fields; /* enum control_field */
			struct intent intent;
			const char *checkpoint_nonce; /* CHECKPOINT */
			bool checkpoint_full;
			const char *promote_nonce, *abort_nonce, *acknowledge_nonce;
			int64_t promote_at_unix_ms; /* the cut, in event time; 0 = as it comes */
		} control;
		struct {
			int64_t grace_left_ms;
			enum upgrade upgrade;
		} stopping;
		struct {
			enum candidate_place place;
			bool present, unreadable; /* without `present` only lock_is_free is set */
			struct party party;       /* borrowed */
			enum candidate_state state;
			int64_t beat, ask, answer;
			enum wanted wanted;             /* by the Deployment, now */
			const char *why;                /* of the state; NULL = none */
			struct candidate_shadow shadow; /* borrowed */
			bool lock_is_free; /* no Flink leads on the other side, and that was read */
		} candidate;
		struct {
			int64_t launch; /* number of the one that was asked */
			bool put;       /* bounds were to be set */
			/* COMPLETED: `vertices` is set; FAILED: Flink refuses, error says why */
			enum operation_status status;
			const char *error;
			const struct rescale_vertex *vertices;
			size_t vertex_count;
			bool slots_known;
			int slots_total, task_managers; /* that Flink has */
		} rescaled;
		struct {
			int64_t sent_ms; /* of the write that succeeded; 0 = it is another one's */
			const char *why; /* lost: a sentence */
			int64_t longest_ms; /* else: lease.longest_ms is another one; > 0 */
		} lease;
		struct {
			const char *launch_id; /* of the job whose gates they are */
			const char *
				transition; /* of the order that they go by; NULL = at rest, or none yet */
			bool ended; /* the last one: its Flink ends, or its job starts anew */
			struct gate_report report;
		} gate;
		struct gate_keys gate_keys; /* borrowed; only what was read */
		struct {
			int64_t launch; /* number of the one that was looked for */
			struct signs signs;
		} signs;
	};
};

enum note_level {
	NOTE_INFO,
	NOTE_WARNING,
	NOTE_ERROR,
};

struct effect {
	enum effect_type type;
	int64_t sequence;
	int64_t until_ms; /* LEASE: on the monotonic clock, which drey-init shares */
	int signo;
	bool group;
	int status;
	enum note_level level;
	enum poll_depth depth;   /* POLL */
	bool background;         /* INSPECT: nothing waits for it */
	bool plan;               /* POLL: the settings of the job, too */
	enum cause cause;        /* NOTE that a phase begins: lifecycle.cause */
	struct gate_order order; /* GATE */
	/* POLL, DISPOSE, SIGNAL, RESCALE, GATE: job id; TRIGGER, POLL_OPERATION, and those of a checkpoint: trigger
	 * id */
	char id[JOB_ID_BYTES];
	/* INSPECT, DISPOSE: path; NOTE: the line; RESCALE: the body; GATE: id of the hand-over; owned by
	 * the effect */
	char *text;
	struct notice notice; /* TELL; its strings are owned by the effect */
};

#define LIFECYCLE_MAX_EFFECTS 24

/* Filled by one step; the caller executes them in order, then effects_clear(). */
struct effects {
	struct effect list[LIFECYCLE_MAX_EFFECTS];
	size_t count;
};

struct life_state;

struct lifecycle {
	const struct lifecycle_config *config;
	struct journal journal;
	struct rng rng;
	enum phase phase;
	enum cause cause; /* the same in one word; CAUSE_NONE = all is as it should be */
	char reason[512]; /* why this phase; for people */
	/* Another writer owns the journal: never write or launch again. Our own Flink is killed
	 * immediately, with its whole process group, whether Flink has HA or not:
	 * - without HA nothing but drey keeps the job from running twice;
	 * - with HA Flink's leader election does, but an unsupervised Flink would stand by, lead
	 *   again after the next failure, and continue from what its own job id has;
	 * - no savepoint, and no SIGTERM: the state of a fenced job is not used, and a Flink that
	 *   exits in good order may commit, or delete checkpoints that the other drey's job
	 *   depends on.
	 * The container does not exit: restarted, it would take the journal back from the other
	 * drey, which would then kill its job, and so on without end. */
	bool fenced;
	/* The machine contradicts itself: what lifecycle_check() says; NULL = it does
	 * not. Nothing is decided any more; only the journal is still checked, so that
	 * another drey can take over. */
	const char *contradiction;
	bool terminating;              /* the container is being stopped: no more launches */
	bool foreign;                  /* drey-init runs a Flink that is not in the journal */
	char foreign_id[JOB_ID_BYTES]; /* its launch id */
	bool left;                     /* drey-init was told to exit */

	/* the process */
	enum launch_step launch_step;
	/* the last launch never left drey: the next one takes its place and its id */
	bool launch_void;
	bool end_counts;  /* Flink is being stopped, and that counts as a failed attempt */
	bool end_early;   /* its job failed before a restore was seen: main(), or the state */
	bool end_wanted;  /* Flink is being stopped */
	char *end_reason; /* why; owned */

	/* requests in flight */
	bool observing, polling;
	char *keeper_unread; /* the last savepoint to keep that could not be read; owned, NULL = none */
	bool observe_again;    /* the desired state changed during the observation */
	struct ask operation;  /* journal.operation */
	struct ask checkpoint; /* journal.checkpoint, unless it is LEFT */
	struct ask rescaling, disposal;
	/* what is being read: the savepoint that stays when an older one goes; the checkpoint from which the job is to be
	 * restarted, or from which it would continue without a savepoint; what the operation has made; a review */
	struct ask keeper, stalled, newest, result, reviewed;
	char *stop_location;    /* the savepoint of the stop operation, once reported; owned */
	char *operation_error;  /* what went wrong although there is a savepoint; owned */
	bool savepoint_damaged; /* the stop operation's savepoint is proven incomplete */
	/* Flink is ended without a savepoint: for the restart of this nonce (owned), for a suspend */
	char *ended_restart;
	bool ends_to_suspend;

	/* the journal write */
	bool want_write;
	int64_t requested, acknowledged; /* sequence numbers; equal = no write in flight */
	bool journal_broken;             /* the last write failed; repeated at journal_retry_ms */
	char *journal_error;             /* why; NULL = it is not broken; owned */
	/* effect.sequence: the write that has to come first, 0 = the next one */
	struct effects deferred;

	/* The newest checkpoint is recorded within a minute: the id written last, and when to write it if nothing
	 * else is written; 0 = it is recorded. */
	int64_t noted_checkpoint_id;
	due_time note_ms;

	/* hand-overs */
	struct {
		enum claim claim;
		enum wanted wanted; /* this pod's template, as known with that claim */
		/* the journal is given away: by the write that is under way or about to be; and
		 * that was acknowledged: it is never written again */
		bool giving, given;
		int64_t given_sequence;
		bool stood_down, ran; /* ran: the job has, since this agent began or it came back */
		struct candidate_seen seen[PLACES];
		int64_t begun_ms;         /* when this agent began */
		int64_t asked, asked_ms;  /* the last question on record, and since when */
		int64_t ask_sent_ms;      /* when the last one was written */
		int64_t failing_since_ms; /* since when no savepoint can be taken; 0 = it can */
		int64_t failed_ms;        /* when that was so last */
		bool stop_failed;         /* and why is not known yet */
		int64_t probation_end_ms;
		char held_id[JOB_ID_BYTES]; /* of a Flink that waits in main(); "" = none */
		bool held_ends;             /* it was killed */
		due_time deadline_ms, ask_again_ms, held_kill_ms;
	} handover;

	/* blue/green; lifecycle_transition*.c */
	struct gates_known gate;
	struct transition_progress transition;

	/* another parallelism of the running job; lifecycle_rescale.c */
	struct {
		bool settling, reached; /* accepted by Flink: does the job run with it already? */
		int failures;           /* in a row, for the backoff */
		due_time again_ms;
		int64_t since_ms;       /* when Flink accepted it */
		struct parallelism put; /* what RESCALE asks for, if it sets bounds */
		bool put_requested;     /* by a request that is not answered yet */
		char *left_out;         /* of it; owned */
		char *missing; /* which vertices do not run with it yet; owned, NULL = all do */
		/* when last seen: what its bounds need, and what Flink has */
		bool slots_known;
		int64_t slots_needed, slots_total, task_managers;
		int64_t subtasks; /* of the job, when last seen; 0 = not seen */
		int tasks;        /* of the job, when all of them last ran; 0 = not seen */
		int64_t restarts; /* of this Flink's job, that were made for another parallelism */
		/* the bounds that the job had by itself, by vertex id; not known after the first
		 * request if this agent did not see it */
		struct {
			char *id;
			struct rescale_bounds bounds;
		} * own;
		size_t own_count;
	} rescale;

	/* two dreys */
	bool has_written;      /* the journal was ours, since this agent began */
	bool takeover_pending; /* the wait for another place's launch begins with our first write */
	bool checking;         /* the journal is being checked */
	int64_t check_sent_ms, /* when the last one was requested */
		owned_ms;      /* when the last journal that proved to be ours was requested */
	int64_t leased_ms;     /* the same of the lease object; 0 = it is not ours */
	bool lease_assumed;    /* only an agent before this one knew it, and has told drey-init */

	int64_t polled_ms; /* when the last poll was sent: its answer is at best from then */

	struct { /* what was last seen */
		bool reachable, job_present;
		enum job_state state;
		int64_t job_unix_ms, job_since_ms; /* as in struct view; first seen then */
		int64_t operation_job_ms; /* polled_ms of the last that saw the operation's job */
		int64_t stopped_ms; /* the stop was on record, unseen: earlier polls tell nothing */
		int64_t not_restored_ms; /* since when RUNNING without the restore that we expect */
		int64_t savepoint_id;    /* savepoints up to this id are known */
		bool tasks_missing;      /* the job does not run, or not all of it */
		struct cluster cluster;
		/* the first and the last poll that saw all tasks running; 0 = never */
		int64_t first_ran_ms, all_ran_ms;
		int slots_used; /* by the job, when all its tasks ran; 0 = not known */
		bool not_ready; /* it was reported that the tasks do not run */
		bool restarts_known;
		int64_t restarts;      /* by Flink, in this process */
		int64_t restarts_ms;   /* polled_ms of the last poll that returned them */
		int64_t statistics_ms; /* polled_ms of the last poll that returned statistics */
		/* the last poll that asked for statistics could not read them; has proven that there are none */
		bool statistics_failed, checkpointing_off;
		struct checkpointing checkpointing; /* with statistics_ms: as last told */
		struct checkpoint_plan plan;
		int64_t plan_ms; /* the settings are asked for from then on; 0 = the job has not run */
		struct settings_seen settings;
		/* Flink's picture of the job, taken for the settings; it has no later failure */
		int64_t picture_until_ms;
		/* When a completed checkpoint was seen first, or since when there could be one: all tasks run,
		 * but for short restarts, and no operation is in flight. 0 = there cannot be one */
		int64_t progress_ms;
		bool checkpoints_failing; /* it was reported that they fail */
		int64_t finished_ms;      /* since when FINISHED for an unclear reason */
		/* the last answer of REST, 0 = none yet; and why there is none now, "" = there is one */
		int64_t answered_unix_ms;
		char silence[200];
		struct { /* of life, where Flink says nothing (lifecycle_signs.c) */
			bool asking, alive;           /* alive: the last answer said so */
			bool for_ready, for_handover; /* the deadlines that wait for the answer, */
			bool for_hang;                /* and who looks whether it hangs */
			bool waited; /* for the first checkpoint, longer than for REST */
			int unread;  /* answers in a row that tell nothing, for the backoff */
		} signs;
		struct hang hang;
	} seen;

	due_time poll_ms, retry_ms, savepoint_ms, ready_ms, kill_ms, journal_retry_ms,
		stop_retry_ms, exit_ms, check_ms,
		asks_ms, /* the first poll or deadline of what is asked for (struct ask) */
		full_checkpoint_ms, /* the next periodic one */
		lease_end_ms,       /* Flink must have ended soon after */
		disposal_ms,        /* retention checks again; 0 = now */
		tasks_ms,           /* until then tasks may be missing */
		savepoint_retry_ms, /* a requested savepoint is repeated; 0 = no pause */
		clean_ms,           /* SIGTERM waits for Flink's cleanup until then */
		look_ms; /* until then Flink is polled once more before it is stopped; 0 = it is not */
	int64_t takeover_ms; /* the drey of another place's launch knows by then that it is not the owner */
	enum upgrade upgrade;     /* why the container is being stopped */
	int holds;                /* in a row, for the backoff */
	bool hurried, late_again; /* lifecycle_lease.c: decided again at once; too late again */
	/* effects that come too often and must wait (lifecycle_pace.c) until postponed_ms */
	struct effects postponed;
	due_time postponed_ms;

	struct life_state *own; /* what only a few files of this room read (lifecycle_state.h) */

	/* the step that runs */
	int64_t now_ms, now_unix_ms;
	struct effects *out;
};

/* While the journal cannot be read: Holding, with this reason; takes no events. Release it, then lifecycle_init(). */
void lifecycle_init_unread(struct lifecycle *life, const struct lifecycle_config *config,
			   const char *application, const char *why);

/* The same in place of one that another pod has. */
void lifecycle_init_standing(struct lifecycle *life, const struct lifecycle_config *config,
			     const char *application, enum phase phase, enum cause cause,
			     const char *why);

/* Takes the journal over (the caller's struct is emptied). `config` is borrowed for the whole life.
 * Nothing happens until EVENT_HELLO. */
void lifecycle_init(struct lifecycle *life, const struct lifecycle_config *config,
		    struct journal *journal, const struct rng *rng);
void lifecycle_release(struct lifecycle *life);

/* Take one event. now_ms: monotonic; now_unix_ms: wall clock, only ever recorded or shown. */
void lifecycle_step(struct lifecycle *life, const struct event *event, int64_t now_ms,
		    int64_t now_unix_ms, struct effects *ret_effects);

/* A job runs that is not to be stopped: a restore request is refused, as it would apply to the next restart. */
bool lifecycle_refuses_restore(const struct lifecycle *life);

/* It has never owned the journal, and no Flink of its own can run: a write conflict does not fence it. */
bool lifecycle_is_newcomer(const struct lifecycle *life);

/* Waits the machine for this effect, or its answer? It may give one up before it was executed (id: the trigger id). */
bool lifecycle_awaits(const struct lifecycle *life, enum effect_type effect, const char *id);

bool lifecycle_is_durable(const struct lifecycle *life); /* all that it has decided is on record */
/* Must this pod be kept ready, whatever the job does (handover.h)? */
bool lifecycle_keeps_ready(const struct lifecycle *life);
/* The phase for people: a job that runs in the shadow is not Running. */
enum phase lifecycle_phase(const struct lifecycle *life);
/* Is the job offered to a pod that is prepared? And who is this one: owner, until it has given it away? */
bool lifecycle_is_prepared(const struct lifecycle *life);
enum role lifecycle_role(const struct lifecycle *life);
/* It has taken the job, which does not run yet, or runs it in the shadow: not ready, however it looks. */
bool lifecycle_is_unready(const struct lifecycle *life);

/* Why, now, a transition cannot be promoted (at this cut; 0 = any) or aborted, or no loss acknowledged; NULL = it can. */
const char *lifecycle_refuses_promote(const struct lifecycle *life, int64_t at_unix_ms);
const char *lifecycle_refuses_abort(const struct lifecycle *life);
const char *lifecycle_refuses_acknowledge(const struct lifecycle *life);

/* A transition is being given up: does a Flink lead on the other side (EVENT_CANDIDATE)? */
bool lifecycle_asks_for_lock(const struct lifecycle *life);

/* The running job, with the parallelism that Flink has accepted: "it needs 8 slots, and there are 4 (2 TaskManagers)"; NULL: there
 * are enough, or it is not known. The caller frees. */
char *lifecycle_slots_short(const struct lifecycle *life);

/* Fenced, or in contradiction with itself: it starts nothing, takes no requests, and life.reason says why. */
bool lifecycle_is_inert(const struct lifecycle *life);

/* Monotonic time of the next EVENT_TICK; -1 = none. */
int64_t lifecycle_deadline_ms(const struct lifecycle *life);

/* What the machine contradicts itself in, as a clause; NULL = in nothing. Each step ends with it. */
const char *lifecycle_check(const struct lifecycle *life);

void effects_clear(struct effects *effects);
const char *event_type_name(enum event_type type);
const char *effect_type_name(enum effect_type type);

#endif
