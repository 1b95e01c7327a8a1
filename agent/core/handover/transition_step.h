/*
 * transition_step - what the owner and the candidate do next in a transition. Pure: two tables of
 * rules, from the state on record and what each of them knows; docs/development/transition.md has them.
 *
 * Neither has a memory of its own. The state is in the journal, and facts are what is true now, so an
 * agent that comes back goes on where the last one was. The owner applies its move, writes the journal,
 * and acts when that write was acknowledged; the candidate acts at once, because it reads what is
 * written, and has nothing to write but its record.
 */
#ifndef DREY_CORE_TRANSITION_STEP_H
#define DREY_CORE_TRANSITION_STEP_H

#include "core/handover/gate.h"
#include "core/handover/gate_kind.h"
#include "core/handover/transition.h"

enum after_cut {
	AFTER_CUT_REPLAY,  /* the owner's job starts again from before the cut was in force */
	AFTER_CUT_FORWARD, /* the candidate's is started again and again */
};
extern const char *const after_cut_words[]; /* the same */

/* What people have chosen (blueGreen in the configuration). */
struct transition_policy {
	enum transition_gate gate;
	enum after_cut after_cut;
	bool manual;        /* the cut waits for a person */
	bool idle_passes;   /* a subtask without records counts as behind the cut */
	int64_t lead_ms;    /* between what was seen and the cut */
	int64_t align_ms;   /* the cut is a multiple of this; 0 = of nothing */
	int64_t at_unix_ms; /* a person wants this cut, or a later one; 0 = any */
	int64_t tries;      /* that may fail before this version is refused */
};

/* All of it: the section blueGreen, for the owner and the candidate. */
struct blue_green {
	struct transition_policy policy;
	/* event time that the candidate's watermark may be behind the owner's; without gates how long its job
	 * has to have run */
	int64_t caught_up_ms;
	int64_t settle_ms; /* for how long all gates are behind the cut, before the job is stopped */
	int64_t deadline_ms; /* of each state from seeding to ending, except arming */
	/* sinks keep their state on their side, so the candidate's job may leave some of the seed out */
	bool allow_non_restored;
};

enum transition_work {
	WORK_NONE,    /* it was not begun, or not by an agent that is known of */
	WORK_RUNNING, /* its result is awaited */
	WORK_DONE,
	WORK_FAILED,
};

/* What the owner knows. Reports and paths are borrowed. */
struct transition_facts {
	/* the candidate, by its record for this very hand-over */
	bool prepared, shadowing, caught_up;
	bool ahead;       /* gate_is_ahead() */
	bool failed;      /* it cannot continue without help */
	const char *says; /* why it is not prepared, or cannot go on; NULL = it has not said it */
	bool gone;        /* withdrawn, of another pod, or silent */
	bool ended;   /* nothing of its job runs any more: it says so, or its leader lock is free */
	bool follows; /* another pod of its template has taken its place */
	const struct gate_report *candidate_gate;
	/* the job here */
	bool runs;                 /* all its tasks do */
	bool ended_badly;          /* it has ended without a savepoint, and is not started again */
	enum transition_work work; /* the savepoint or stop of this state */
	struct transition_point made; /* of WORK_DONE */
	bool made_behind;             /* of a stop: the counts of its gates are behind the cut */
	int64_t stop_failures;        /* of this state, that are known of */
	const struct gate_report *gate;
	/* the checkpoint of gate_clean(); path NULL: there is none, or it is not known where it is */
	struct transition_point clean;
	bool settled;        /* all are behind the cut, for as long as stragglers are waited for */
	bool lives;          /* its Flink has not ended */
	bool replaying;      /* this launch was made for the replay point that is on record */
	bool replay_missing; /* that snapshot is not there any more */
	/* gates that go by keys: what they have chosen; they owe nothing; and the keys of this state are in the
	 * ConfigMap */
	int64_t chosen_unix_ms;
	bool keys_crossed, keys_written;
	bool chosen_past; /* a watermark had come to the cut when it was seen first */
	/* what is wanted */
	bool parks;    /* suspended or cancelled is wanted */
	bool brake;    /* do-not-restart */
	bool promoted; /* the cut may come */
	bool abort;    /* a person gives it up */
	bool replaced; /* the Deployment wants another version */
	bool late;     /* the deadline of this state has passed */
	/* with surge: of it also prepared, failed, says, gone, replaced; lives, work */
	bool idle;      /* nothing runs here, nor will, and the candidate can take it */
	bool may_stop;  /* the candidate is prepared, and nothing stands in the way of a stop */
	bool confirmed; /* it has said just now that it still is */
	bool fails, fails_long; /* ... but the job cannot be saved; for 30 s already */
	bool stops_fail;        /* as often as this version is tried */
	bool unsaved;           /* the job is handed over without a savepoint */
};

/* What follows, when the move is on record. */
enum transition_act {
	ACT_NONE,
	ACT_SAVE,     /* take a savepoint of the running job */
	ACT_STOP,     /* stop it with a savepoint */
	ACT_END,      /* end it, without one; it is not started again */
	ACT_GO_ON,    /* start it again from the savepoint of its stop, which came too early */
	ACT_GRANT,    /* the same write gives the journal to the candidate */
	ACT_RESTART,  /* start it from transition.replay, for this transition */
	ACT_NAME,     /* name the pod that has taken the candidate's place */
	ACT_CUT,      /* a cut is chosen */
	ACT_OPENED,   /* the output here is open, and nothing was held back */
	ACT_REPLAY,   /* it is open, and something was held back: choose where to start again */
	ACT_REPLAYED, /* the job runs from there */
	ACT_FOUND,    /* a cut that the gates have chosen is put on record */
	/* with surge */
	ACT_RETURN, /* the job is the owner's again: the state is `returned` */
	ACT_ASK,    /* ask the candidate whether it is still prepared */
	ACT_RENEW,  /* the deadline begins again */
	ACT_LATER,  /* look again when a job that fails has failed for long */
	ACTS,
};
const char *transition_act_name(enum transition_act act);

struct transition_move {
	enum transition_state state; /* the same as before, and ACT_NONE: nothing to do */
	enum transition_act act;
	bool counts;     /* a try has failed */
	bool quotes;     /* what the candidate says belongs to the reason */
	const char *why; /* a sentence without a full stop; static */
};

/* True: *ret_move is to be applied; with surge by who has asked, else by transition_apply(). */
bool transition_owner(const struct handover *handover, const struct transition_facts *facts,
		      const struct transition_policy *policy, struct transition_move *ret_move);

/* Begin one: the hand-over is being offered, with this sequence number of the journal; orders are numbered
 * from behind it on, so that none of an earlier transition, or of the rest after it, has the same. */
void transition_begin(struct handover *handover, int64_t sequence);

/* The candidate takes the job, when it has adopted the journal. */
void transition_take(struct handover *handover);

/* The hand-over as the move leaves it: state, cut, snapshots, tries, reason. Times are the caller's. */
void transition_apply(struct handover *handover, const struct transition_move *move,
		      const struct transition_facts *facts, const struct transition_policy *policy);

/* What the gates of the owner's job are to be told, and those of the candidate's. The owner goes by
 * what is durable, the candidate by what it has read. */
struct gate_order transition_owner_order(const struct handover *handover,
					 const struct transition_policy *policy);
struct gate_order transition_candidate_order(const struct handover *handover,
					     const struct transition_policy *policy);

/* What the gates of a job are told when no transition is under way. It is another content than the last
 * transition's, and so has another number. */
struct gate_order transition_rest_order(const struct handover *handover);

/* ---- the candidate ---- */

enum shadow_state {
	SHADOW_PREPARED,  /* its Flink waits in main(); nothing of the job runs */
	SHADOW_STARTING,  /* its job starts from the seed */
	SHADOW_RUNNING,   /* ... and has restored exactly that */
	SHADOW_CAUGHT_UP, /* its watermark is near the owner's */
	SHADOW_TAKEN,     /* it is the owner */
	SHADOW_FAILED,    /* its attempts are used up, or it restored something else */
	SHADOW_WITHDRAWN, /* nothing of it runs */
	SHADOW_STATES,
};
extern const char *const shadow_state_words[]; /* NULL at the end */
const char *shadow_state_name(enum shadow_state state);

struct shadow_facts {
	bool named;    /* the hand-over names this pod */
	bool stopping; /* the container is to end */
	bool prepared; /* its Flink waits in main(), or it needs none */
	bool seeded;   /* its own journal is of this hand-over */
	bool begun;    /* something else shows that its job has begun in this hand-over */
	bool runs;     /* its job runs, and was proven to have restored the seed */
	bool failed;   /* attempts used up, or another state restored */
	bool near;     /* its watermark has been near the owner's for three looks */
};

enum shadow_act {
	SHADOW_DO_NOTHING,
	SHADOW_DO_SEED,  /* make its own journal, and start the job by it */
	SHADOW_DO_GO_ON, /* a journal of this hand-over is there: go on by it */
	SHADOW_DO_KILL,  /* end Flink, the whole group: nothing that it has done counts */
	SHADOW_DO_ADOPT, /* take the journal, with what its own one has more */
	SHADOW_ACTS,
};
const char *shadow_act_name(enum shadow_act act);

struct shadow_move {
	enum shadow_state state;
	enum shadow_act act;
};

void transition_candidate(const struct handover *handover, const struct shadow_facts *facts,
			  enum shadow_state state, struct shadow_move *ret_move);

/* When the candidate has become the owner: may the seed go, and the cut be forgotten? `proven`: its job has
 * completed a checkpoint of its own. `finish_id`: the newest one when its gates had all taken GATE_FINISH;
 * -1 = they have not. */
bool transition_is_done(const struct handover *handover, const struct gate_report *report,
			bool proven, int64_t finish_id);

#endif
