/*
 * standby - the life of a pod that does not own the application, as a pure state machine: candidate,
 * reserve, or one that only waits.
 *
 * Events in, effects out, as in lifecycle.h. It reads the journal and never writes it. What it says
 * of itself is its record (`record`), in the ConfigMap of the candidate. When the journal gives it
 * the job, EFFECT_OWN comes out: from then on the agent is a lifecycle, on exactly the journal that
 * was decided on, and this machine has ended.
 *
 * A candidate that holds (hold: main) starts Flink under the job id that the offer reserves; its
 * main() waits for the go file, which only the lifecycle writes, after its claim is durable. So
 * nothing of this machine can run the job.
 *
 * In a transition (transition.h) the job of a candidate runs in the shadow: STANDBY_DO_SHADOW begins a
 * life cycle on a journal of its own, and this machine continues beside it. It watches the application's
 * journal, keeps up its record, kills the job when that is over, and adopts when the job is granted. Each
 * of the two ends with the agent, and the next one begins by what the journal says.
 *
 * Life cycle: standby_init() -> standby_step() for every event, and STANDBY_TICK when
 * standby_deadline_ms() has come -> standby_release().
 */
#ifndef DREY_CORE_HANDOVER_STANDBY_H
#define DREY_CORE_HANDOVER_STANDBY_H

#include "core/handover/candidate.h"
#include "core/handover/handover.h"
#include "core/report/cause.h"

struct journal;

/* All strings are borrowed for the whole life. */
struct standby_config {
	const char *application;
	struct party me; /* its side is chosen when an owner is known */
	const char *generation, *flink_version;
	struct role_limits limits;
	const struct blue_green *blue_green; /* NULL: the mode is another one */
	bool hold_main;                      /* a candidate starts Flink, and holds its main() */
	int max_attempts;                    /* of that, in a row */
	int64_t retry_first_ms, retry_max_ms;
	int64_t kill_after_ms;     /* from SIGTERM to SIGKILL of a Flink that must end */
	int64_t ready_deadline_ms; /* from the start of Flink until main() is held */
};

enum standby_event_type {
	STANDBY_HELLO, /* drey-init reported what is running; the first event */
	STANDBY_TICK,
	STANDBY_JOURNAL, /* it was read, or could not be */
	STANDBY_LOCK,    /* the leader lock of a side was read */
	STANDBY_WANTED,  /* the Deployment was read */
	STANDBY_CHECKED, /* the answer to STANDBY_DO_CHECK */
	STANDBY_RECORD, /* the record was written, or another candidate has the place, or it failed */
	STANDBY_STARTED,  /* Flink was started */
	STANDBY_FAILED,   /* it was not */
	STANDBY_WARM,     /* what a look at the Flink that is held has shown */
	STANDBY_EXITED,   /* Flink has ended */
	STANDBY_STOPPING, /* the container is being stopped */
	STANDBY_JOB,      /* in the shadow: what the life cycle knows of the job */
	STANDBY_ADOPTED,  /* it was tried, and has failed */
};

struct standby_event {
	enum standby_event_type type;
	union {
		struct {
			const char *running; /* job id of the live Flink; NULL = none; borrowed */
			bool stopping;
		} hello;
		struct {
			const struct journal *journal; /* NULL: absent, or not readable; borrowed */
			bool absent;
			/* a newer one, as a watch has seen it: it may be out of date, and is no
			 * ground for a write */
			bool by_watch;
			/* in a transition: the journal of the job in the shadow is of this hand-over; it
			 * could not be read */
			bool seeded, own_unread;
			bool own_elsewhere; /* its last launch was another pod's */
			/* with this sequence number it is an earlier state of what this pod has seen; 0 = it is
			 * not; `journal` is NULL then */
			int64_t put_back;
		} read;
		struct {
			enum side side;
			enum side_lock lock;
		} lock;
		enum wanted wanted;
		struct {
			bool ok;
			const char *decision, *why; /* borrowed */
		} checked;
		struct {
			bool ok, taken; /* taken: another living candidate has the place */
			/* not written: an earlier agent of this pod has said there that the job in the shadow
			 * has begun */
			bool begun;
		} record;
		struct {
			const char *launch_id;
			const char *why; /* FAILED, EXITED: a sentence */
			bool waits;      /* FAILED: it may not be started yet; no failed attempt */
		} process;
		struct {
			bool held;  /* main() is held */
			bool went;  /* ... or it was, and was told to go on */
			bool known; /* the other members */
			int task_managers, slots_free;
			int strangers; /* TaskManagers of another generation */
		} warm;
		struct {
			bool runs;                      /* and has restored what it had to */
			bool failed;                    /* it is not started again automatically */
			const char *why;                /* failed: a sentence; borrowed */
			const struct gate_report *gate; /* NULL: as before; borrowed */
		} job;
	};
};

enum standby_effect_type {
	STANDBY_DO_READ,     /* the journal; answer STANDBY_JOURNAL */
	STANDBY_DO_LOCK,     /* read the lock of `side`; answer STANDBY_LOCK */
	STANDBY_DO_WANTED,   /* read the Deployment; answer STANDBY_WANTED */
	STANDBY_DO_CHECK,    /* may this version start from the state there is? */
	STANDBY_DO_RECORD,   /* write standby.record; answer STANDBY_RECORD */
	STANDBY_DO_LAUNCH,   /* start Flink, held; standby.job_id, effect.side */
	STANDBY_DO_WARM,     /* look at it; answer STANDBY_WARM */
	STANDBY_DO_KILL,     /* SIGKILL to Flink's whole group; id */
	STANDBY_DO_OWN,      /* the journal of this very event is ours: standby.verdict */
	STANDBY_DO_EXIT,     /* tell drey-init to exit */
	STANDBY_DO_STOP_ACK, /* tell drey-init that the agent handles the stop */
	STANDBY_DO_NOTE,     /* a line for people: text */
	/* the life cycle of the job in the shadow, by its own journal; `seed`: which is made from the journal
	 * of this very event */
	STANDBY_DO_SHADOW,
	STANDBY_DO_ADOPT, /* take the journal, with what its own one has more; a failure: STANDBY_ADOPTED */
	STANDBY_DO_AGAIN, /* the agent ends: the next one begins by what the journal says */
};

/* of a sentence: what does not fit of a job comes with the names of some operators */
#define STANDBY_SENTENCE_BYTES 1024

struct standby_effect {
	enum standby_effect_type type;
	enum side side;
	char id[JOB_ID_BYTES];
	bool warning, seed;
	char text[STANDBY_SENTENCE_BYTES];
};

#define STANDBY_MAX_EFFECTS 16

struct standby_effects {
	struct standby_effect list[STANDBY_MAX_EFFECTS];
	size_t count;
};

enum standby_flink {
	STANDBY_FLINK_NONE,
	STANDBY_FLINK_ASKED,   /* drey-init was asked */
	STANDBY_FLINK_STARTED, /* main() is not held yet */
	STANDBY_FLINK_HELD,
	STANDBY_FLINK_ENDING, /* it must end */
};

struct standby {
	const struct standby_config *config;
	struct role_verdict verdict;
	enum cause cause;
	char reason[STANDBY_SENTENCE_BYTES]; /* for people */
	bool terminating, acked, owned, left;

	/* what is known */
	bool read_once, readable, absent, reading;
	int64_t sequence; /* of the journal as read last */
	int64_t put_back; /* of an older one that somebody has put in its place; 0 = nobody has */
	char *writer;     /* of it */
	bool ever_launched;
	char *last_generation; /* of the last launch; NULL = none, or not known */
	struct handover handover;
	struct party owner;
	int64_t changed_ms,
		state_ms; /* since when the journal, and the state of the hand-over, are as they are */
	enum wanted wanted;
	enum side_lock locks[SIDES];
	/* the question whether the owner lives: it answers by writing the journal */
	bool asks;               /* it was asked, and has not answered */
	int64_t silent_since_ms; /* since when that is on record; 0 = it is not */
	int64_t heir_since_ms;   /* since when the verdict is that; 0 = it is not */
	int64_t ask_ms;          /* when to ask again; 0 = at once */

	/* what it says */
	struct candidate_record record;
	bool has_record, record_dirty, recording, place_taken;
	bool record_known;        /* this agent has written it: what was in it before is known */
	bool tells_job, told_job; /* that the job begins is in the write under way; is on record */
	int64_t record_retry_ms;

	/* the Flink that is held */
	enum standby_flink flink;
	char job_id[JOB_ID_BYTES];
	int attempts;      /* that have failed, in a row */
	bool gave_up;      /* the attempts for this hand-over are used up */
	char failure[256]; /* of the last one */
	int strangers;
	bool checked, checking;
	int64_t warm_since_ms; /* 0 = it is not */

	/* a transition */
	bool seeded, own_unread, own_elsewhere; /* as read last */
	bool went;                              /* main() was told to go on, as seen last */
	bool begun;     /* an earlier agent of this pod has said that the job has */
	bool in_shadow; /* the life cycle has the job, and Flink */
	bool adopting;
	enum shadow_state shadow_state;
	bool job_runs, job_failed;
	int64_t runs_since_ms, adopt_ms; /* 0 = it does not; at once */

	/* deadlines on the monotonic clock, 0 = not armed */
	int64_t look_ms, read_ms, lock_ms, wanted_ms, beat_ms, warm_ms, launch_ms, start_end_ms,
		check_ms, exit_ms, kill_again_ms, ripe_ms;

	int64_t now_ms, now_unix_ms;
	struct standby_effects *out;
};

void standby_init(struct standby *standby, const struct standby_config *config);
void standby_release(struct standby *standby);

void standby_step(struct standby *standby, const struct standby_event *event, int64_t now_ms,
		  int64_t now_unix_ms, struct standby_effects *ret_effects);

/* Monotonic time of the next STANDBY_TICK; -1 = none. */
int64_t standby_deadline_ms(const struct standby *standby);

/* Does this pod count as ready, so that Kubernetes keeps it, or ends the other one? */
bool standby_is_ready(const struct standby *standby);

/* In the shadow: may the job be started now, by the journal as it was read last? */
bool standby_may_start(const struct standby *standby);

/* ... and is it on record that it begins? Until then its journal would be the only trace of it. */
bool standby_has_told(const struct standby *standby);

/* Which side's TaskManagers may join this pod; false: none. */
bool standby_side(const struct standby *standby, enum side *ret_side);

const char *standby_event_name(enum standby_event_type type);
const char *standby_effect_name(enum standby_effect_type type);

#endif
