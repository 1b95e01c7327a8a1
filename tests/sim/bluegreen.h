/*
 * bluegreen - transitions (core/handover/transition_step.h) against models of two jobs, their gates and
 * their agents, from a seed. One history is some minutes of virtual time, tick by tick.
 *
 *   bluegreen.c          the world: time, accidents, people, the pods
 *   bluegreen_job.c      the job of a side: records, watermarks, checkpoints, what is committed
 *   bluegreen_gate.c     its gates: orders, acknowledgements, reports
 *   bluegreen_flip.c     the same of FLIP-504, and the ConfigMap that they share with drey
 *   bluegreen_look.c     the agents' looks at that ConfigMap, and at what Flink shows of such gates
 *   bluegreen_agent.c    the owner's agent, and the journal
 *   bluegreen_shadow.c   the candidate's agent
 *   bluegreen_oracle.c   what must never happen, and what must have happened in the end
 *
 * Both jobs read the same numbered records; each record that a gate lets pass is an output of that side,
 * which is committed when a checkpoint after it is confirmed, as with a two-phase sink. In the end each
 * record has to be there once: never less, and more only where the transition says so.
 */
#ifndef DREY_TESTS_BLUEGREEN_H
#define DREY_TESTS_BLUEGREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/handover/flip.h"
#include "core/handover/flip_track.h"
#include "core/handover/transition_step.h"
#include "core/rng.h"

#define BG_TICK_MS     INT64_C(100)
#define BG_SECOND      INT64_C(1000)
#define BG_SPLITS      3
#define BG_RECORDS     1100
#define BG_SNAPS       1500
#define BG_OUTS        12000
#define BG_SIDES       2
#define BG_TIME_ORIGIN INT64_C(10000000) /* of event time: 0 is "no cut" */
#define BG_LOCK_MS     (15 * BG_SECOND)

/* The ConfigMap of FLIP-504's gates, or a copy of it. */
struct bg_map {
	int64_t version;
	int64_t by_drey;          /* the version that drey has written last */
	char text[FLIP_KEYS][24]; /* "" = no such key */
};

/* What a gate of FLIP-504 is about to write: it reads the object first, and then puts it back. */
struct bg_put {
	int64_t ms; /* of the next step; 0 = nothing is to be written */
	bool has_read;
	enum flip_key key;
	char value[24];
	struct bg_map copy;
};

#define BG_PUTS 3 /* one of each kind */

struct bg_snap {
	int side, epoch;
	int launch;
	int64_t begun_ms;
	int64_t id;
	bool savepoint, stop, complete, confirmed, deleted;
	bool left; /* a savepoint that the job has gone back behind */
	int position[BG_SPLITS];
	int64_t watermark[BG_SPLITS], held_max[BG_SPLITS];
	int withheld[BG_SPLITS];
	size_t outs; /* outputs that are part of it */
};

struct bg_out {
	int split, record;
	int64_t time; /* as it was read here */
	bool committed, aborted, late;
};

/* One subtask: source, gate and sink. */
struct bg_task {
	int position; /* the next record */
	int64_t watermark, max_seen, held_max;
	int withheld; /* records at or above the cut, held back as the owner */
	int64_t last_ms;
	struct gate_order order, told; /* in force; on its way */
	int64_t told_ms;               /* when it arrives; 0 = none is on its way */
	bool acked, refused;
	/* a gate of FLIP-504 */
	struct bg_map view;
	int64_t view_ms;   /* when it sees the next version */
	int64_t spoken_ms; /* its first record of this attempt; 0 = none: it has no watermark yet */
	bool over;         /* its gauge */
	struct bg_put puts[BG_PUTS];
};

/* What Flink's REST shows of such gates: a copy that is some seconds old. */
struct bg_shown {
	int64_t next_ms, start_ms;
	int running, gauges, over;
	int64_t watermarks[BG_SPLITS];
};

enum bg_op { BG_OP_NONE, BG_OP_SAVE, BG_OP_STOP };

struct bg_job {
	bool alive, running, finished;
	int64_t run_ms;   /* when it begins to run */
	int64_t clock_ms; /* of the node where it was started */
	int64_t ended_ms; /* since when it is not alive */
	char replays[40]; /* this launch is for the replay of that hand-over */
	int64_t start_ms; /* of this launch; and what its agent knew then */
	int64_t start_sequence, start_born_ms;
	int epoch, from; /* from: the snapshot that this launch began with; -1 = none */
	struct bg_task tasks[BG_SPLITS];
	struct bg_out outs[BG_OUTS];
	size_t out_count;
	int64_t checkpoint_ms, complete_ms, confirm_ms; /* 0 = not planned */
	int open_snap, done_snap;
	enum bg_op op;
	int64_t op_trigger, op_ms;
	int op_snap;
	enum transition_work op_state;
	struct gate_order file; /* order.json */
	bool has_file;
	struct gate_report report; /* report.json */
	int launch;
	struct bg_shown shown;
	int64_t poison_ms; /* from then on it fails; 0 = never */
};

struct bg_journal {
	int64_t sequence;
	int owner_side, owner_uid, owner_generation;
	int writer_uid;
	struct handover handover;
	/* the operation of this state */
	enum bg_op op;
	int64_t trigger;
	enum transition_work work;
	int made; /* snapshot */
	int refused_generation;
};

/* What the candidate says of itself, as it is stored. */
struct bg_record {
	int uid, generation;
	char id[40];
	enum shadow_state state;
	bool jvm; /* a process of its job may be alive */
	struct gate_report gate;
	int64_t beat;
};

enum bg_look_step { BG_LOOK_NONE, BG_LOOK_FLINK, BG_LOOK_READ, BG_LOOK_WRITE };

/* What the ConfigMap is to say. */
struct bg_aim {
	bool writes;
	struct flip_keys keys;
	char id[40]; /* of the transition; "" = at rest */
	enum transition_state state;
	bool cut_recorded;
};

/* One look at Flink and the ConfigMap, one step after the other. */
struct bg_look {
	enum bg_look_step step;
	int64_t ms, next_ms, begun_ms;
	struct bg_aim aim;
	bool flink_ok, map_ok;
	int launch; /* 0 = Flink is not looked at */
	char id[40];
	int64_t at_unix_ms;
	struct bg_shown shown;
	struct bg_map map;
	int rounds;
};

/* What an agent knows of FLIP-504's gates. */
struct bg_flip {
	struct bg_look look;
	struct bg_aim aim;
	bool confirmed;
	int64_t asked_ms, looked_ms; /* a launch waits; the last look began */
	struct flip_track track;
	char report_id[40];
	/* flip_known */
	char known_id[40];
	enum transition_state known_state;
	int64_t toggle, since_ms, same_ms, written_ms, beat;
	bool judged, past;
	struct gate_keys_shown gate;
};

/* An agent of a pod; what it knows dies with it. */
struct bg_agent {
	bool alive, owns;
	int64_t back_ms;
	struct bg_journal journal; /* as it was read, or written, last */
	bool has_read;
	/* the owner */
	bool writing, landed;
	struct bg_journal next;
	int64_t born_ms, done_ms, land_ms, answer_ms, state_ms, settled_ms, stop_again_ms,
		finish_id;
	struct bg_record seen;
	int64_t seen_ms, near_beat;
	int near; /* beats in a row at which the candidate was near */
	struct gate_report report;
	int stop_failures;
	bool gives_up; /* its job is not started again */
	/* the candidate */
	enum shadow_state shadow;
	char shadows[40];  /* the life cycle has the job of this hand-over in memory; "" = none */
	bool record_known; /* it has written its record: what was in it before is known */
	bool begun;        /* ... and that said that the job of this hand-over has begun */
	bool told;         /* its record says so by itself */
	int64_t read_ms, prepared_ms, adopt_sequence;
	int relaunches;
	struct bg_flip flip;
};

#define BG_STARTS_SOON 4 /* as agent/core/lifecycle/lifecycle_pace.c */
#define BG_TIMES       10
#define BG_VAIN_MS     (2 * BG_SECOND)

/* When something has happened, the newest first. */
struct bg_times {
	int64_t ms[BG_TIMES + 1];
};

struct bg_pod {
	bool exists;
	int uid, generation;
	int64_t born_ms, back_ms;
	int64_t clock_ms; /* of its node: how far it is off */
	bool bad;         /* its version */
	struct bg_agent agent;
};

struct bg_side {
	struct bg_pod pod;
	int64_t clock_ms; /* where its Pods give records their times */
	struct bg_job job;
	char seeded[40]; /* the candidate's own journal is of this hand-over; "" = none */
	char begun[40];  /* its job has begun in this one, whatever is left of it */
	bool doomed;     /* its agent dies in this moment */
	struct bg_times starts, writes;
	int seed; /* ... and starts from this */
};

struct bg_world {
	struct rng rng, more; /* more: of what not every history has */
	bool verbose, calm;
	int64_t now_ms, end_ms, calm_ms;
	int splits, record_ms, records, disorder_ms;
	int late_per_mille;
	int64_t clocks_ms; /* how far the clock of a node can be off */
	/* the job takes for the time of a record what the clock of its Pod says: the two sides do not agree */
	bool stamps;
	bool flip_first[BG_SIDES]; /* which version of FLIP-504's gates a side has */
	bool flip_mute;            /* none says CLEAR_TO_TEARDOWN */
	struct bg_map flip;
	bool trampled; /* a gate has put back what drey had changed meanwhile: no cut is sure any more */
	bool excused[BG_SPLITS]
		    [BG_RECORDS]; /* a gate had this record before it knew a cut below it */
	int64_t past_cut,
		past_ms; /* one that was in the past when it was chosen, and when that was */
	int64_t flip_ms, hand_ms; /* the cut was the one on record; a hand has changed it */
	int launch_next;
	int64_t idle_from_ms, idle_to_ms; /* of split 0 */
	struct transition_policy policy;
	int64_t caught_up_ms, settle_ms, prepare_ms, deadline_ms, arm_ms;
	/* per 100,000 ticks */
	int agent_dies, job_fails, jvm_dies, pod_dies, person, save_fails, journal_lost;
	bool store_lost;     /* somebody has deleted the application's journal */
	int64_t restored_ms; /* when it was there again */
	int64_t gives_up_ms; /* when nothing was to be given up for the last time */
	int wanted_generation, uid_next, epoch_next;
	bool parks, brake, promoted, abort, stuck;
	struct bg_journal store;
	struct bg_record map;
	int64_t map_beat;
	struct bg_side sides[BG_SIDES];
	struct bg_snap snaps[BG_SNAPS];
	int snap_count;
	/* what was committed: by jobs that count, and by those that were given up */
	uint8_t count[BG_SPLITS][BG_RECORDS], given_up[BG_SPLITS][BG_RECORDS];
	bool again[BG_SPLITS][BG_RECORDS], is_late[BG_SPLITS][BG_RECORDS];
	int64_t reported;   /* written twice, as the transitions that are done say */
	int64_t changed_ms; /* when the state was changed last */
	char ended_id[40];  /* the last hand-over that was granted */
	int ended_side;
	int64_t done, aborted, refused, replayed, doubled;
	char failure[400];
};

/* ---- bluegreen.c */
int64_t bg_below(struct bg_world *w, int64_t bound);
bool bg_lock_is_free(const struct bg_world *w, int side, int64_t watched_ms); /* since then */
bool bg_chance(struct bg_world *w, int per_mille); /* of a fault: never in the calm */
bool bg_odds(struct bg_world *w, int per_mille);
void bg_fail(struct bg_world *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void bg_say(struct bg_world *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void bg_lose_own(struct bg_world *w, int side, int per_mille);
void bg_lose_journals(struct bg_world *w, int per_mille);
void bg_store_is_back(struct bg_world *w);
struct figures;
bool bluegreen_run(uint64_t seed, bool verbose, struct figures *figures, char ret_failure[600]);

/* ---- bluegreen_job.c */
void bg_job_start(struct bg_world *w, int side, int snap, bool new_epoch);
void bg_job_end(struct bg_world *w, int side, const char *why);
void bg_job_fail_over(struct bg_world *w, int side);
void bg_job_tick(struct bg_world *w, int side);
int bg_newest(const struct bg_world *w, int side); /* -1 = none */
void bg_post(struct bg_world *w, int side, enum bg_op op, int64_t trigger);
int64_t bg_time_of(const struct bg_world *w, int split, int record);
int64_t bg_due_ms(const struct bg_world *w, int split, int record);

/* ---- bluegreen_gate.c */
void bg_gate_reset(struct bg_world *w, int side);  /* a new attempt of all subtasks */
void bg_gate_report(struct bg_world *w, int side); /* it is written */
void bg_gate_tick(struct bg_world *w, int side);
bool bg_gate_takes(struct bg_world *w, int side, int split, int record, int64_t time);

/* ---- bluegreen_flip.c */
bool bg_has_flip(const struct bg_world *w);
void bg_flip_reset(struct bg_world *w, int side); /* a new attempt of all subtasks */
void bg_flip_tick(struct bg_world *w, int side);
void bg_flip_accidents(struct bg_world *w);
bool bg_flip_takes(struct bg_world *w, int side, int split, int64_t time);
struct flip_values bg_flip_values(const struct bg_map *map);
void bg_flip_judge(struct bg_world *w);

/* ---- bluegreen_look.c */
void bg_look_tick(struct bg_world *w, int side);
void bg_look_dies(struct bg_world *w, int side);
bool bg_look_lets_start(struct bg_world *w, int side); /* the owner's; the candidate's */
void bg_look_know(struct bg_world *w, int side, struct transition_facts *facts);

/* ---- bluegreen_agent.c */
void bg_journal_copy(struct bg_journal *to, const struct bg_journal *from);
void bg_owner_tick(struct bg_world *w, int side);
void bg_land(struct bg_world *w, int side); /* a write on its way arrives, also without its agent */
void bg_agent_dies(struct bg_world *w, int side, const char *why);

/* ---- bluegreen_shadow.c */
void bg_shadow_tick(struct bg_world *w, int side);

/* ---- bluegreen_oracle.c */
void bg_stored(struct bg_world *w, const struct bg_journal *before, int uid);
void bg_judge(struct bg_world *w);
void bg_judge_stop(struct bg_world *w, int side, const struct bg_snap *snap);
void bg_judge_end(struct bg_world *w);
void bg_starts(struct bg_world *w, int side); /* its Flink */
/* A life cycle that starts its job again waits until then (pace_launch_ms()). */
bool bg_start_is_due(const struct bg_world *w, int side);
void bg_kills(struct bg_world *w, int side);  /* its agent is about to */
void bg_writes(struct bg_world *w, int side); /* its agent, the journal */

#endif
