/*
 * sim - runs the life cycle against models of the world, from a seed.
 *
 * One seed is one history: the simulator drives the real core (agent/core) through hours of virtual
 * time against models of drey-init, Flink, file storage, the journal store, REST and people, with
 * faults. After every step oracles check whether drey still keeps its promise. The same seed always
 * gives the same history.
 *
 *   sim.c      arguments, many seeds, figures
 *   world.c    virtual time, the queue of planned items, chance, the history as text
 *   agent.c    the driver: executes effects, feeds events, as agent/run/ does
 *   init.c     drey-init and the container: starts, signals, ends, deaths
 *   ha.c       what Flink keeps of a job outside its process
 *   flink.c    the JobManager and its job; operation.c: savepoint, stop, cancel over REST
 *   storage.c  checkpoints and savepoints, and what an observation sees of them
 *   store.c    the journal store: compare-and-swap, lost responses, failures
 *   directory.c  the control directory; user.c: people, accidents, the calm at the end
 *   feature.c  features of the world that can be left out one by one
 *   oracle*.c  what must never happen, and what must happen in the end
 *   notice.c   every notice is sent, and only once; checkpoint.c: requested checkpoints; spare.c: the warm spare
 *   silent.c   a Flink that lives and does not answer, and what storage shows of it
 *   ids.c      numbered job ids: drawn again, used up, and free again
 *   lease.c    the lease object, and another installation that shares it; bucket.c: its bucket is copied
 *   deployment.c  the pods of a Deployment, and its controller
 *   handover.c    what pods share, and what must be true of them: the candidate's ConfigMap, the leader locks
 *   standby.c     an agent that is not the owner: executes its effects
 *   lie*.c     stores, HA data, REST, journals and jobs that lie; see lie.h
 *   bluegreen*.c  a simulator of its own, of transitions; see bluegreen.h
 *
 * A history has two parts. Until `calm` everything may fail. Then nothing fails any more, a person
 * states the desired state once more, and it must be reached.
 */
#ifndef DREY_TESTS_SIM_H
#define DREY_TESTS_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/desired_inputs.h"
#include "core/handover/standby.h"
#include "core/lease/lease.h"
#include "core/lifecycle/lifecycle.h"
#include "core/rng.h"
#include "core/spare.h"
#include "core/trace/life_trace.h"
#include "tests/sim/bucket.h"
#include "tests/sim/lie.h"

#define SECOND_MS         INT64_C(1000)
#define MINUTE_MS         (60 * SECOND_MS)
#define PATH_BYTES        112
#define MONOTONIC_BASE_MS 1000 /* 0 means "not armed" in the life cycle */

/* What happens at a planned time. */
enum item_kind {
	/* the agent */
	ITEM_AGENT_START,
	ITEM_AGENT_CRASH,
	ITEM_TICK,
	ITEM_GATHER,
	ITEM_VERIFY,
	ITEM_INSPECT,
	ITEM_DISPOSED,
	ITEM_JOURNAL,
	ITEM_JOURNAL_CHECK,
	ITEM_POLL_LOOK,
	ITEM_POLL_ANSWER,
	ITEM_OPERATION_LOOK,
	ITEM_OPERATION_ANSWER,
	ITEM_STARTED,
	ITEM_LAUNCH_FAILED,
	ITEM_EXITED,
	/* drey-init and the container */
	ITEM_LAUNCH,
	ITEM_SIGNAL,
	ITEM_CONTAINER_START,
	ITEM_CONTAINER_DIE,
	ITEM_STOP_REQUEST,
	ITEM_ACK_DEADLINE,
	ITEM_GRACE_OVER,
	ITEM_LEASE_OVER,
	/* Flink */
	ITEM_POST, /* a POST arrives */
	ITEM_DISPOSE,
	ITEM_REST_UP,
	ITEM_SUBMIT,
	ITEM_RUN,
	ITEM_CHECKPOINT,
	ITEM_CHECKPOINT_DONE,
	ITEM_HA_ADD,
	ITEM_HA_DISCARD,
	ITEM_HA_CLEAN,
	ITEM_SAVEPOINT_DONE,
	ITEM_STOP_DONE,
	ITEM_CANCEL_DONE,
	ITEM_JOB_FAIL,
	ITEM_JOB_FINISH,
	ITEM_TASKS_LOST, /* the TaskManagers end */
	ITEM_TASKS_BACK,
	ITEM_FLINK_EXIT,
	/* people and accidents */
	ITEM_USER,
	ITEM_DIRECTORY,
	ITEM_DAMAGE,
	ITEM_VANISH,
	ITEM_HA_VANISH,
	ITEM_REPLACE, /* another pod replaces this one */
	ITEM_CLOCK_STEP,
	ITEM_OTHER_WRITER,
	ITEM_BACKUP,
	ITEM_JOURNAL_BACK, /* the backup is restored */
	ITEM_JOURNAL_LOST,
	ITEM_FLINK_KILL,
	ITEM_OUTSIDE,
	ITEM_CALM,
	ITEM_HELP,
	/* features */
	ITEM_ROLLBACK_COPY,
	ITEM_ROLLBACK,
	ITEM_CUT, /* a pod cannot reach the journal for some time */
	/* a requested checkpoint: a person, a POST arrives, a poll, the answer of either */
	ITEM_ASK,
	ITEM_ASK_POST,
	ITEM_ASK_LOOK,
	ITEM_ASK_ANSWER,
	/* the spare: at drey-init, at the agent, and an accident */
	ITEM_SPARE,
	ITEM_SPARE_WARM,
	ITEM_SPARE_END,
	ITEM_SPARE_DIES,
	ITEM_SPARE_READY,
	ITEM_SPARE_GONE,
	ITEM_JAR,
	/* another parallelism: a request at Flink, its answer, and what follows */
	ITEM_RESCALE,
	ITEM_RESCALE_ANSWER,
	ITEM_RESCALED,
	/* what storage and HA show of the launch that lives */
	ITEM_HANG,
	ITEM_SIGNS,
	/* the lease object: a turn of our agent, and of the other installation; it comes and goes, the store too */
	ITEM_LEASE,
	ITEM_LEASE_REFUSED,
	ITEM_LEASE_OTHER,
	ITEM_LEASE_THIRD, /* one on a copy of the bucket */
	ITEM_LEASE_OTHER_LIFE,
	ITEM_LEASE_AWAY,
	ITEM_BUCKET,
	/* hand-overs: the controller, people and accidents */
	ITEM_DEPLOY,
	ITEM_UPGRADE,
	ITEM_EVICT,
	ITEM_PARTITION,
	ITEM_PAUSE,
	/* a Flink with a leader lock */
	ITEM_RENEW,
	ITEM_LOCK_BACK, /* drey releases that of a dead one */
	ITEM_GO,        /* main() is let go */
	/* an agent that is not the owner, and one that hears of it */
	ITEM_STAND_TICK,
	ITEM_STAND_READ,
	ITEM_STAND_NEWS,
	ITEM_STAND_LOCK,
	ITEM_STAND_WANTED,
	ITEM_STAND_CHECKED,
	ITEM_STAND_RECORD,
	ITEM_STAND_WARM,
	ITEM_STAND_DOWN,
	ITEM_CANDIDATE,
	/* lies: one begins, one ends; the copy of the journal is written */
	ITEM_LIE,
	ITEM_LIE_ENDS,
	ITEM_COPY,
	/* numbered job ids: what dead launches have left is deleted; a person looks */
	ITEM_CLEAN,
	ITEM_NAMES,
};

/* Features of the world; see feature.c. */
enum feature {
	FEATURE_ROLLBACK, /* volumes and HA data that come from a backup */
	FEATURE_MOVED, /* another container writes into other directories, or the job's code does */
	FEATURE_LINES, /* generations of two Flink lines */
	FEATURE_RIVALS, /* two pods that share only the journal, judged like one; see feature.c */
	FEATURE_CHECKPOINT, /* requested checkpoints, in every second history; see checkpoint.c */
	FEATURE_STOPS, /* a stop that fails again and again is given up, or done without a savepoint */
	FEATURE_SPARE,   /* the warm spare; see spare.c. Only when it is named, or with "all" */
	FEATURE_STALL,   /* jobs that complete no checkpoint any more. The same */
	FEATURE_LEASE,   /* another installation shares the lease object; see lease.c. The same */
	FEATURE_RESCALE, /* requests for another parallelism; see rescale.c. The same */
	FEATURE_SILENT, /* a Flink that lives and whose REST nobody reaches; see silent.c. The same */
	/* a Deployment whose pods hand over; see deployment.c. Only when it is named, and alone */
	FEATURE_HANDOVER,
	FEATURE_LIES, /* stores, HA data, REST and job code that lie; see lie.h. Only when it is named */
	FEATURE_BLUEGREEN, /* a simulator of its own; see bluegreen.h. Only when it is named, and alone */
	FEATURE_COUNT,
};

#define FEATURES_DEFAULT ((1U << FEATURE_SPARE) - 1)

/* When this ends, the item is void. */
enum scope {
	SCOPE_WORLD,
	SCOPE_CONTAINER,
	SCOPE_AGENT,
	SCOPE_FLINK,
	SCOPE_JOB, /* one attempt of the job: a restart inside Flink ends it */
	SCOPE_COUNT,
};

struct item {
	int64_t at_ms;
	uint64_t order; /* items planned earlier come first */
	enum item_kind kind;
	enum scope scope;
	int pod;
	uint64_t epoch; /* of the scope, when the item was planned */
	int64_t a, b;
	int launch; /* index in truth.launches */
	char id[JOB_ID_BYTES];
};

struct slot {
	int64_t at_ms;
	uint64_t order;
	int item; /* index in world.items */
};

/* Per mille of the cases, or mean milliseconds between two of them (0: never). */
struct chaos {
	int poll_lost, post_lost, answer_lost, list_fails, look_fails, journal_fails, journal_lost,
		journal_slow, checkpoint_fails, savepoint_fails, stop_half_fails, launch_fails,
		start_fails, term_ignored, cancel_ignored, wrong_restore;
	int64_t agent_crash_ms, container_die_ms, stop_request_ms, flink_kill_ms, job_fail_ms,
		job_finish_ms, damage_ms, vanish_ms, ha_vanish_ms, user_ms, clock_step_ms,
		other_writer_ms, journal_back_ms, journal_lost_ms, replace_ms, outside_ms,
		tasks_lost_ms;
};

/* ---- models ---- */

/* What an agent knows and may record. */
struct knowledge {
	uint64_t told;    /* the agent that learned it last; see oracle_tell() */
	uint64_t carried; /* the agent that has since made a write, landed or not */
	bool recorded;    /* such a write has landed */
};

struct snap {
	char path[PATH_BYTES]; /* without scheme */
	uint64_t path_key;
	int next; /* in its list */
	enum snapshot_kind kind;
	int dir;       /* one of DIRS of its kind */
	bool hidden;   /* the job's code wrote it to a directory other than the configured one */
	bool of_wrong; /* the job had restored something else then */
	int launch;    /* index in truth.launches; -1: from outside */
	int64_t id;
	int64_t completed_unix_ms;
	bool complete;         /* _metadata exists */
	bool metadata_damaged; /* visible in the header */
	bool file_missing;     /* visible only by verification */
	bool deleted;
	int64_t struck_unix_ms;        /* when an accident has damaged or deleted it; 0 = never */
	char trigger_id[JOB_ID_BYTES]; /* of the operation that took it */
	bool outside;                  /* requested from outside drey */
	bool stop;                     /* taken by a stop */
	struct knowledge there;        /* that it was completed */
	struct knowledge numbered; /* ... and its id, from Flink or from reading the whole of it */
	struct knowledge named;    /* from the response about its operation, which has no id */
	bool acknowledged;         /* Flink's HA has had an entry for it */
	bool copied, copied_damaged, copied_missing; /* in the backup */
	/* when the lies that are told began: was it there, and its _metadata? */
	bool was_there[LIES_AT_ONCE], was_complete[LIES_AT_ONCE];
	/* by lies, for the decision under way; see lie.h */
	bool left_out, veiled, slandered, misread;
	bool unseen; /* a launch was decided while it was veiled */
};

#define PATH_LISTS     256
#define HA_MAX_ENTRIES 8

struct storage {
	struct snap *snaps;
	int count, capacity;
	int lists[PATH_LISTS]; /* by their paths, the newest first; as 1 + index: 0 is the end */
	int disposals;         /* on their way to Flink */
	int initial;           /* the configured one; -1 = none */
};

struct ha_entry {
	int snap;
	bool deleting; /* a deletion was started: counts as absent */
};

struct ha_map {
	bool exists;
	bool result; /* the job has finished: Flink only cleans up after it */
	struct ha_entry entries[HA_MAX_ENTRIES];
	int count;
	int64_t counter; /* id of the next checkpoint */
};

/* What really happened, for the oracles. */
struct truth_launch {
	char job_id[JOB_ID_BYTES];
	int base;       /* snapshot that the job restored; -1 = empty */
	int argument;   /* what the last command line named; differs if the launch was continued */
	bool requested; /* a person named the restore point */
	bool executed;
	bool ran;   /* the job was RUNNING: it has consumed and produced */
	bool wrong; /* it has restored something else: none of its snapshots may ever be used */
	const char *generation, *version;
	bool unsure; /* the same, but it ended before any agent could notice */
	int64_t begun_ms; /* when it was launched last; one can continue after a later one was forgotten */
	struct ha_map ha, ha_copy, ha_then; /* now, in the backup, when the lie about it began */
	enum job_end end;                   /* as Flink has recorded it */
	int64_t end_unix_ms;
	int stop; /* STOPPED: the savepoint */
	/* in the journal: its first number, and that of the last one that continued it */
	int64_t number, last_number;
	bool dir_deleted, record_deleted; /* of numbered ids: by drey gc, or by a person */
};

#define MAX_SERIAL 4096

struct truth {
	struct truth_launch *launches;
	int count, capacity;
	bool loss; /* some snapshot was damaged, has vanished, or may not be used: holding is right */
	bool finished;        /* a job has finished, and no person has requested a start since */
	bool mismatch;        /* some Flink has restored something else */
	bool journal_changed; /* it was lost, or is from a backup */
	/* there were two pods that share only the journal: one may have made something new since the
	 * other one read storage */
	bool two;
	bool rival;     /* another drey has written, or may have: being fenced can be right */
	bool half_stop; /* a stop failed after its savepoint */
	bool clock_set; /* the dates of storage and journal cannot be compared */
	char last_result[JOB_ID_BYTES]; /* trigger id of the last operation's result, when judged */
	bool last_ok;
	bool carried_out[MAX_SERIAL]; /* restore requests, by the number of their token */
};

#define PODS 4 /* two, unless there is a Deployment: its old ones may take their time to end */
#define DIRS 3 /* for checkpoints, and as many for savepoints */

#define IMAGE_BYTES ((size_t)1 << 20)

/* A document as it is stored; its strings and lists are in the block. */
struct image {
	struct journal journal;
	char *block;
	size_t used_bytes;
};

/* Which documents are encoded and decoded, as they are by a real store, and not only copied. */
enum text {
	TEXT_NONE,
	TEXT_READ, /* what an agent reads when it starts */
	TEXT_ALL,  /* each write too, and the steps of each agent are repeated from their trace */
};

struct jstore {
	bool exists;
	enum text text;
	struct image *image;         /* what is stored */
	struct image *written[PODS]; /* the write in flight */
	struct image *backup;        /* the backup */
	bool has_backup;
};

enum op_state { OP_RUNNING, OP_COMPLETED, OP_FAILED };

struct op {
	char trigger_id[JOB_ID_BYTES];
	enum operation_kind kind;
	enum op_state state;
	int snap; /* -1 = none */
	int made; /* CHECKPOINT: the one in progress; -1 = none */
	bool outside;
};

#define FLINK_MAX_OPS 64

struct flink {
	bool alive, rest_up, job_present, terminating, ignores_term;
	int64_t silent_until_ms; /* nobody reaches its REST until then; 0 = everybody does */
	bool hangs;              /* nothing but SIGKILL moves it */
	bool has_run;
	int launch;          /* index in truth.launches */
	int64_t job_unix_ms; /* its start, or its recovery */
	int base;            /* snapshot to restore, -1 = none */
	bool wrong;          /* restores something else */
	bool deletes;        /* its checkpoints when its job is cancelled, or it is shut down */
	int made_of;         /* the jars when it was started */
	enum job_state state;
	int64_t statistics_ms; /* from then on the statistics show the restore */
	/* the checkpoint statistics that REST returns: a response is repeated for 3 s */
	int64_t cached_ms; /* when it was made; -1 = never */
	int cached_restored, cached_completed;
	int64_t running_since_ms;
	int64_t stalls_ms; /* from then on its checkpoints fail; 0 = never */
	int64_t progress_ms; /* the last time that one completed, or that it began to run; 0 = never */
	int64_t gap_ms;      /* how long before that nothing had completed */
	bool tasks_lost;     /* it waits for slots, but its state is RUNNING */
	int64_t lost_ms;
	int restored, completed; /* snapshots; -1 = none */
	int restored_before;     /* of the previous attempt: shown until statistics_ms */
	int checkpoint_dir, savepoint_dir;
	int64_t next_id;
	int64_t checkpoint_interval_ms, checkpoint_takes_ms;
	int64_t add_ms; /* when its newest checkpoint is in the HA map */
	int retained;
	int stop_op; /* -1 = none in progress */
	bool cancel_ignored;
	/* CLEANUP_DONE from clean_ms on, PENDING before that; else what it always is */
	enum cleanup cleanup;
	int64_t clean_ms;
	bool uncleaned;  /* its job has ended, and it cannot clean up now */
	bool by_itself;  /* the job has ended without a stop */
	bool runs_again; /* after that it has lost its leadership, and recovered the job */
	uint64_t shown;  /* the agent that was shown that the job has ended, by its epoch */
	bool end_shown;
	int stopped_with;       /* the savepoint that the agent was told of then; -1 = none */
	int again_looks;        /* how often in a row it ran although that agent lived */
	int parallelism, upper; /* of its job, and what it is to become */
	/* hand-overs */
	char held_id[JOB_ID_BYTES]; /* it waits in main() for this launch; "" = it does not */
	bool main_held;
	enum side side;
	int64_t renewed_ms, joined_ms; /* its lock; when its TaskManagers are there */
	struct op ops[FLINK_MAX_OPS];
	int op_count;
	const char *failure;
};

struct init {
	bool alive, stopping, acknowledged, leaving;
	bool replaced; /* after it ends, it is not started again */
	char last[JOB_ID_BYTES];
	int last_wait_status;
	int64_t running_number, last_number; /* of the launches; 0 = none */
	bool fenced;                         /* an agent in it has lost the journal */
	int64_t lease_end_ms;
	int64_t grace_end_ms;
	int spare_number, spare_made_of; /* 0 = there is none */
	bool spare_ready;
};

#define VIEW_SAVEPOINTS 3

struct view_slot {
	struct view view;
	char restored_path[PATH_BYTES + 16], completed_path[PATH_BYTES + 16];
	struct seen_savepoint savepoints[VIEW_SAVEPOINTS];
	char savepoint_paths[VIEW_SAVEPOINTS][PATH_BYTES + 16];
	int told[1 + VIEW_SAVEPOINTS], told_count; /* snapshots that it shows as completed */
};

#define VIEW_SLOTS 4

/* What people have written to the files of the control directory. */
struct directory {
	bool used;
	char text[DESIRED_KEYS]
		 [32]; /* "" = there is no such file; for a restore request its token */
	enum desired_state state;
	bool do_not_restart;
	enum restore_request_kind restore;
	char path[PATH_BYTES];
	struct desired_seen saved, backup; /* the record of what was read; its backup */
};

/* One that reads and writes the lease object, and its request under way. */
struct lease_asker {
	struct lease lease;
	bool begun, was_held;
	int bucket;
	uint64_t token;
	enum lease_act act;
	enum lease_answer answer;
	struct lease_claim claim;
	char etag[LEASE_ETAG_BYTES];
	int64_t longest_ms; /* of the other one: in its journal */
};

struct agent {
	bool alive;
	/* it is not the owner: `standby` lives, and `life` does not */
	bool stands;
	struct standby standby;
	const struct journal *last_read; /* of the event that is decided on: while it is */
	uint64_t stand_token;
	int64_t stand_tick_ms;
	bool observe_waits; /* for the first reading of the control directory */
	struct desired_inputs inputs;
	bool seen_unsaved;
	int64_t seen_sequence; /* of the journal write that must be acknowledged first */
	struct lifecycle life;
	struct spare spare;
	struct lease_asker lease;
	int64_t spare_odd_ms;    /* since when an answer about it is missing; 0 = none is */
	struct life_trace trace; /* of its first steps */
	bool traced;             /* the next step belongs to them */
	char writer[32];
	int64_t file_sequence; /* as run/journal/journal_file knows it */
	int64_t tick_at_ms, last_tick_ms;
	uint64_t tick_token;
	int ticks_now; /* ticks since time last advanced */
	bool observing, writing;
	struct facts facts;
	struct decision decision;
	char request[PATH_BYTES]; /* to verify; "" = none */
	int64_t written_sequence;
	int write_fate;    /* see store.c */
	int64_t fenced_ms; /* since when; -1 = it is not */
	int64_t verified_told,
		proven_told; /* the launch whose notice was sent last, or read from the journal */
	struct view_slot views[VIEW_SLOTS];
	int view_next;
};

/* A container with its processes. There is one, except while it is being replaced. */
struct pod {
	uint64_t epochs[SCOPE_COUNT];
	struct lifecycle_config config; /* its generation is this pod's own */
	int dirs[2];                    /* by snapshot_kind; configured when it was started */
	int64_t cut_until_ms;           /* it cannot reach the journal before this time */
	struct agent agent;
	struct init init;
	struct flink flink;
	struct lease_mark lease_mark; /* in its state directory */
	/* of a Deployment */
	bool exists, ending, ready;
	int template; /* index in world.templates */
	int64_t ready_since_ms, paused_until_ms;
	int64_t clock_ms; /* how far the clock of its node is ahead */
	char name[16], uid[16], place[34];
	struct standby_config stand_config;
};

#define TEMPLATES 64

/* A version of the Pod template, and its ReplicaSet. */
struct template
{
	char generation[8], text[32];
	int desired; /* pods; 0 or 1 */
};

/* candidate.json and so on */
struct map_record {
	bool present;
	char uid[16], name[16], template[32];
	enum side side;
	enum candidate_state state;
	int64_t beat, ask, answer;
	int64_t written_ms;
};

struct leader {
	int pod;        /* -1 = nobody leads */
	uint64_t epoch; /* of its Flink */
	int64_t until_ms;
};

struct user {
	enum desired_state wanted;
	bool do_not_restart;
	int serial; /* of nonces and tokens */
	int helps, restarting;
	char untimely[32]; /* token of a request that was made while the job ran */
};

struct figures {
	uint64_t steps, launches, running, savepoints, stops, cancels, agent_crashes,
		container_deaths, holds, failures, finished, suspended, fenced, requests, damaged,
		mismatches, continued, journals_changed, replaced, spares, spare_launches,
		handovers, returned, forced, upgrades, asked, rescales, leases, lies, adopted,
		ids_again, ids_used_up, buckets;
	/* bluegreen: transitions that were done, given up, ...; records written twice */
	uint64_t transitions, given_up, replayed, refused, doubled;
	uint64_t flip_done, flip_given_up, flip_replayed, flip_excused, flip_trampled;
	uint64_t hash; /* hash of everything that has happened */
};

/* Reused for every history. */
struct memory {
	struct image images[3 + PODS]; /* the last one: of the journal's copy */
	struct slot *queue;
	size_t queue_cap;
	struct item *items;
	int *unused_items;
};

struct world {
	uint64_t seed;
	bool verbose;
	struct rng rng;
	struct chaos chaos;
	bool calm, done;
	bool ha; /* Flink runs with high availability */
	/* each pod has its own state directory, and no lock that the other one sees: only the journal
	 * is shared, as on Kubernetes */
	bool apart;
	bool other_scheduler; /* Flink's cannot change the parallelism of a running job */
	int64_t twice_ms;     /* since when two Flinks have been alive; -1 = they are not */
	bool upgrades;        /* generations come and go; one of them is bad until the calm */
	const char *next_generation;
	bool shared; /* another application writes into the same directories */
	int64_t now_ms, calm_ms, end_ms;
	int64_t wall_unix_ms; /* wall clock at now_ms == 0 */
	struct memory *memory;
	size_t queue_len; /* binary heap of the items */
	size_t unused_count;
	uint64_t next_order;
	struct pod pods[PODS];
	/* the current pod: see world_enter() */
	int pod;
	struct agent *agent;
	struct init *init;
	struct flink *flink;
	uint64_t *epochs;
	struct lifecycle_config *config; /* of the current pod */
	struct storage storage;
	struct jstore store;
	struct truth truth;
	struct user user;
	struct directory directory;
	struct figures *figures;
	/* features */
	unsigned features;
	struct rng luck;
	struct rng asks; /* of FEATURE_CHECKPOINT */
	int64_t ask_ms;  /* mean time between two requests */
	uint64_t asked;
	int64_t rollback_ms, cut_ms; /* mean time between two */
	bool copied;
	int jars;    /* which ones there are: a number that grows */
	int dirs[2]; /* by snapshot_kind; configured for a container that starts now */
	int own_dir; /* set by the job's code for its checkpoints; -1 = not set */
	struct template templates[TEMPLATES];
	int template_count, wanted; /* by the Deployment */
	int pod_serial;
	int64_t min_ready_ms;
	int64_t clocks_ms; /* how far the clock of a node can be off */
	bool holds_none;   /* candidates start no Flink */
	int64_t upgrade_ms, evict_ms, partition_ms, pause_ms; /* mean time between two */
	struct {
		struct lease_object objects[BUCKETS];
		struct lease_asker other, third; /* third: on a copy of the bucket */
		bool other_lives, other_held, third_lives;
		int64_t other_length_ms;
		int64_t other_clock_ms,
			other_permille;   /* its monotonic clock: its zero, its speed */
		int64_t away_until_ms[2]; /* for us, for the other one */
		int64_t away_ms, other_ms;
	} lease;
	struct buckets buckets;
	struct lies lies;
	struct {
		struct rng rng;
		char (*names)[JOB_ID_BYTES];
		int64_t count; /* 0 = job ids are random */
		bool long_paths, object_store,
			used_up;             /* the last: drey has said so since a person looked */
		int64_t clean_ms, person_ms; /* mean time between two */
	} ids;
	struct map_record records[PLACES];
	struct leader leaders[SIDES];
	char failure[600]; /* "" = none */
};

/* ---- world.c */

/* Run one history; false if an oracle found a violation: *ret_failure. */
bool world_run(uint64_t seed, unsigned features, bool verbose, enum text text,
	       struct memory *memory, struct figures *figures, char ret_failure[600]);
void memory_init(struct memory *memory);
void memory_release(struct memory *memory);

void world_enter(struct world *w, int pod);
const struct pod *world_other(const struct world *w); /* the other pod */

/* From a stream of its own, of what only some histories have: the others stay as they are. Each call draws once. */
int64_t stream_between(struct rng *rng, int64_t low, int64_t high);
bool stream_odds(struct rng *rng, int per_mille);
int64_t below(struct world *w, int64_t bound);
int64_t between(struct world *w, int64_t low, int64_t high);
bool chance(struct world *w, int per_mille); /* of a fault: never in the calm */
bool odds(struct world *w, int per_mille);   /* of anything else */
int64_t unix_now(const struct world *w);
int64_t pod_unix_now(const struct world *w); /* by the clock of the current pod's node */

/* Plan an item. Borrowed until the next call, to set a, b and id. */
struct item *plan(struct world *w, int64_t in_ms, enum item_kind kind, enum scope scope);
void plan_again(struct world *w, int64_t mean_ms, enum item_kind kind); /* 0: never */
int64_t mean_of(struct world *w, int off_per_mille, int64_t least_min, int64_t most_min);

void narrate(struct world *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Without --seed the arguments are not evaluated. */
#define say(w, ...) ((w)->verbose ? narrate((w), __VA_ARGS__) : (void)0)
void fail(struct world *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* ---- agent.c */
void agent_start(struct world *w);
void agent_crash(struct world *w, const char *why);
void agent_step(struct world *w, const struct event *event);
void agent_gather(struct world *w);
void agent_item(struct world *w, const struct item *item);

/* ---- init.c */
void init_item(struct world *w, const struct item *item);
void init_flink_ended(struct world *w, int wait_status);
void init_exit(struct world *w, int status);
void container_replace(struct world *w);
void container_die(struct world *w, const char *why);

/* ---- flink.c */
void flink_start(struct world *w, int launch);
void flink_end(struct world *w, int wait_status, bool tell);
void flink_forgotten(struct world *w);
void flink_signal(struct world *w, int signo);
void flink_item(struct world *w, const struct item *item);
void flink_attempt_ends(struct world *w);
void flink_completed(struct world *w, int snap); /* a checkpoint counts from now on */
bool flink_is_stalled(const struct world *w);    /* its checkpoints fail */

/* ---- flink_over.c */
void flink_job_over(struct world *w, enum job_state state); /* a final state */
void flink_cleans_up(struct world *w);
/* Flink 1.x goes on without its leadership. Its job is gone, and is recovered when it leads again; the operations of the job before
 * are reported as in progress from then on. Flink 2.x ends. */
bool flink_survives_its_leadership(const struct world *w);
void flink_leads_no_more(struct world *w);
void flink_end_is_shown(struct world *w, int savepoint); /* to the agent; -1: without one */
void flink_judge_again(struct world *w);
/* Part of oracle_signal(): it is not killed before it has cleaned up after its job. */
void flink_judge_kill(struct world *w, const struct effect *effect);

/* ---- flink_view.c */
/* What the statistics show as restored. They survive a restart inside Flink. */
int flink_reported_restore(const struct world *w);
/* The answer to a poll for what Flink does after its job has ended. */
void flink_view_cleanup(struct world *w, struct view_slot *slot);
void flink_view(struct world *w, const char *job_id, struct view_slot *slot);
const char *rest_path(const struct world *w, int snap, char *buffer, size_t size_bytes);

/* ---- operation.c */
void operation_post(struct world *w, const struct item *item);
void operation_item(struct world *w, const struct item *item);
void operations_fail(struct world *w);
void operation_outside(struct world *w);
struct op *operation_find(struct world *w, const char *trigger_id);
enum operation_status
operation_shown(const struct op *op); /* what Flink answers about it; NULL = no such */
struct op *operation_add(struct world *w, const char *trigger_id, enum operation_kind kind);

/* ---- checkpoint.c; only in histories with FEATURE_CHECKPOINT ---- */
void checkpoint_draw(struct world *w); /* the configuration of such a history */
void checkpoint_begin(struct world *w);
void checkpoint_item(struct world *w, const struct item *item);
void checkpoint_trigger(struct world *w, const struct effect *effect);
void checkpoint_poll(struct world *w, const struct effect *effect);
void checkpoint_result(struct world *w, int snap, bool ok); /* of the job: completed, or not */
void checkpoint_judge(struct world *w);                     /* oracle, after each step */
bool checkpoint_reached(const struct world *w);             /* no request waits */

/* ---- ha.c */
/* The job runs from this snapshot: what its HA had after that, it has gone back behind. Only where HA data are shown that are not
 * those of now; else the start itself was wrong. */
void ha_goes_on_from(struct world *w, int launch, int snap);
int ha_newest(const struct world *w, int launch); /* -1 = none */
bool ha_names(const struct world *w, int launch, int snap);
void ha_begin(struct world *w, int launch, int base, int64_t next_id); /* the job runs */
void ha_job_over(struct world *w, int launch);
void ha_item(struct world *w, const struct item *item);
void ha_vanish(struct world *w);
void ha_observe(struct world *w, struct facts *facts);

/* ---- storage.c */
int storage_add(struct world *w, enum snapshot_kind kind, int launch, int64_t id);
const char *storage_dir(enum snapshot_kind kind, int dir); /* with scheme */
void storage_complete(struct world *w, int snap);
int storage_find(const struct world *w, const char *path); /* -1 = absent */
bool snap_usable(const struct snap *snap);
void storage_gather(struct world *w, struct facts *ret_facts);
void storage_peek(struct world *w, struct candidate *candidate);
/* What EFFECT_INSPECT requests; the caller frees operators and detail. */
void storage_inspect(struct world *w, struct candidate *c);
/* What DECISION_VERIFY requests. */
void storage_check(struct world *w, struct facts *facts, size_t index);

/* ---- store.c */
void journal_copy(struct journal *to, const struct journal *from);
void image_put(struct image *image, const struct journal *from);
void store_begin_write(struct world *w, int64_t sequence);
void store_check(struct world *w);  /* has another one written it? */
void store_land(struct world *w);   /* the write in flight takes effect, or not */
void store_finish(struct world *w); /* ... and is acknowledged */
bool store_read(struct world *w, struct journal *ret_journal);
const struct journal *store_glance(struct world *w); /* NULL: it cannot be read */
void store_other_writer(struct world *w);
void store_back_up(struct world *w);
void store_put_back(struct world *w);
void store_lose(struct world *w);

/* ---- directory.c */
void directory_begin(struct world *w); /* a new agent */
void directory_write(struct world *w, const struct event *asked);
void directory_look(struct world *w);
void directory_acknowledge(struct world *w);
void directory_lose(struct world *w); /* together with the journal, as below */
void directory_back_up(struct world *w);
void directory_put_back(struct world *w);
void directory_release(struct world *w);

/* ---- user.c */
void user_begin(struct world *w);
void user_item(struct world *w, const struct item *item);
/* Between a check and its consequence (a launch, a disposal) drey cannot notice an accident. */
bool drey_decides(const struct world *w);

/* ---- feature.c */
bool features_parse(const char *text,
		    unsigned *ret_features); /* "none", "all", or names with commas */
void features_draw(struct world *w, unsigned features);
void features_begin(struct world *w);
void features_container(struct world *w); /* a container starts */
void feature_item(struct world *w, const struct item *item);
bool has(const struct world *w, enum feature feature);
/* Oracle: the job may be ended for a restart whose stops have all failed: it has a checkpoint that the next
 * start may take. */
bool stop_may_be_left_out(const struct world *w, const struct launch *launch);
bool is_cut_off(const struct world *w); /* the current pod cannot reach the journal */
void volumes_back_up(struct world *w);
void volumes_put_back(struct world *w); /* all of the backup, without the HA data */
int64_t luck_below(struct world *w, int64_t bound);
int64_t luck_between(struct world *w, int64_t low, int64_t high);
bool luck(struct world *w, int per_mille);

/* ---- spare.c; only in histories with FEATURE_SPARE */
void spare_begin(struct world *w);
void spare_item(struct world *w, const struct item *item);
void spare_look(struct world *w); /* the agent: after each step */
void spare_offer(struct world *w, struct item *launch);
void spare_answered(struct world *w, bool in_spare);
void spare_over(struct world *w, const char *why); /* drey-init: it is dead */
/* drey-init is asked for a launch. False: the spare did not take it, and it comes again. */
bool spare_takes(struct world *w, const struct item *item);

/* ---- silent.c */
void silent_flink_starts(struct world *w); /* only in histories with FEATURE_SILENT */
bool flink_answers(const struct world *w);
void silent_seek(struct world *w);
void silent_item(struct world *w, const struct item *item);
void silent_judge_signal(
	struct world *w,
	const struct effect *effect); /* oracle: a launch that lives is not ended by a deadline */
bool silent_excuses_signal(const struct world *w,
			   const struct effect *effect); /* it hangs, or has to show its threads */

/* ---- rescale.c; only in histories with FEATURE_RESCALE, except for the last two */
bool rescale_wish(struct world *w, struct event *event, const char *nonce);
void rescale_ask(struct world *w, const struct effect *effect);
void rescale_item(struct world *w, const struct item *item);
void rescale_flink_starts(struct world *w);
bool rescale_reached(const struct world *w);

/* ---- lease.c; only in histories with FEATURE_LEASE */
void lease_begins(struct world *w);
void lease_agent_begins(struct world *w);
void lease_agent_stepped(struct world *w);
void lease_agent_exits(struct world *w);
/* oracle, in every world: a launch that must be killed at once */
void lease_no_vain_launch(struct world *w);
/* False: the effect is refused. */
bool lease_lets(struct world *w, const struct effect *effect);
bool lease_explains_kill(const struct world *w);
void lease_item(struct world *w, const struct item *item);
void lease_one_job(struct world *w);                                /* oracle */
bool lease_holds(struct world *w, const struct lease_asker *asker); /* by its own clock */
/* The third one begins: from a copy of our journal. */
void lease_third_begins(struct world *w);

/* ---- ids.c; only in histories with numbered job ids */
void ids_draw(struct world *w);
void ids_begin(struct world *w);
void ids_release(struct world *w);
void ids_item(struct world *w, const struct item *item);
bool ids_help(struct world *w); /* a person raises their number, if none is left */
/* With long paths the journal keeps few launches. */
void ids_shorten(struct world *w, struct journal *journal);
const char *ids_trace(const struct world *w, int launch); /* what is left of it; NULL = nothing */
void ids_observe(struct world *w, struct facts *facts);
void ids_observe_map(struct world *w, struct facts *facts, int launch);
/* oracle: may a launch, or a hand-over, have this id? `before`: the journal without it. */
void ids_judge(struct world *w, const char *job_id, const struct journal *before);
/* After a decision: is it true? `reserved`: the id that a hand-over had set aside before it. */
void ids_judge_used_up(struct world *w, const char *reserved);
void ids_judge_launch(struct world *w, const char *job_id); /* the last one of the journal */
void ids_drawn(struct world *w, const char *job_id);        /* a launch has it */
/* The launch on record; a numbered id may be that of several. -1 = no such. */
int truth_of(const struct world *w, const struct launch *launch);
bool truth_is_record(const struct world *w, const struct launch *launch, int index);

/* ---- deployment.c; this and the next two only in histories with FEATURE_HANDOVER ---- */
void deployment_draw(struct world *w); /* the configuration of such a history */
void deployment_begin(struct world *w);
void deployment_calm(struct world *w);
void deployment_item(struct world *w, const struct item *item);
void deployment_job_ends(
	struct world *w); /* an accident: it is cut off just then, and Flink cannot clean up */
void pod_gone(struct world *w); /* the container of a deleted pod has ended */
bool deployment_reached(
	const struct world *w); /* nothing is under way, and the right pod has the job */
const char *pod_wanted_generation(const struct world *w);

/* ---- handover.c ---- */
void handover_store(struct world *w,
		    const struct journal *written); /* oracle: may this pod write it? */
void handover_news(struct world *w);                /* the journal was written */
void handover_describe(struct world *w);
void handover_one_job(struct world *w); /* oracle: never two jobs */
void handover_item(struct world *w, const struct item *item);
void handover_tell(struct world *w); /* a new owner hears of the others */
void leader_start(struct world *w);  /* a Flink of this pod starts */
bool leader_is(struct world *w);     /* ... and leads, or does now */
void leader_ended(struct world *w, bool clean);
void leader_job_over(struct world *w);
bool flink_is_held(const struct flink *flink);
void flink_start_held(struct world *w, const char *job_id, enum side side);
/* an accident has met the snapshot of a held launch after its decision */
bool handover_struck_since(const struct world *w, int base);
void handover_goes(struct world *w); /* EFFECT_LAUNCH of a launch whose Flink waits */

/* ---- standby.c ---- */
void stand_begin(struct world *w); /* the agent starts, or stands down */
void stand_end(struct world *w);   /* it dies, or owns */
void stand_step(struct world *w, const struct standby_event *event);
void stand_item(struct world *w, const struct item *item);

/* ---- agent.c, continued ---- */
/* The journal is this agent's: taken over. */
void agent_own(struct world *w, struct journal *journal, enum claim claim, enum side side,
	       enum wanted wanted);
/* ---- init.c, continued ---- */
void init_stop(struct world *w, int64_t grace_ms, enum upgrade upgrade);

/* ---- oracle.c */
void oracle_launch(struct world *w);
/* A start from before damaged state is on record, and no longer than it may be. */
void oracle_loss(struct world *w, const struct launch *launch, int base);
/* An earlier launch from the same snapshot has given up what is newer, which is said until it is settled. */
bool oracle_gave_up(const struct world *w, int base, int newest);
/* A launch after `head` has restored something else, and the record of that is gone with the journal and its copy: what it
 * made looks like any other state, and a listing that is cut shows nothing else. */
bool oracle_took_for_good(const struct world *w, int head, int base);
/* The maps that drey was shown are old, and the true one is gone: `base` is damaged, or what is newer is a checkpoint of the
 * same job, which these maps do not acknowledge. The decision says so. */
bool oracle_continues_as_shown(const struct world *w, int index, int base);
/* It was deleted, or a file of it was. A Flink that takes such an entry cannot start, and says so. */
bool oracle_lacks_files(const struct snap *snap);
/* The last launch gives up something newer than that, and says so. */
bool oracle_loss_covers(const struct world *w, int snap);
void oracle_trigger(struct world *w, const struct effect *effect);
void oracle_signal(struct world *w, const struct effect *effect);
void oracle_dispose(struct world *w, int snap);
void oracle_journal(struct world *w, const struct journal *journal);
void oracle_tell(struct world *w, int snap);        /* the agent learns that it was completed */
void oracle_tell_number(struct world *w, int snap); /* ... and its id */
void oracle_tell_name(struct world *w, int snap);   /* ... and its path */
void oracle_carried(struct world *w); /* what the agent knows becomes part of a write that starts */
void oracle_recorded(struct world *w);  /* ... and that write lands */
void oracle_forgotten(struct world *w); /* the journal was lost, or is from a backup */
void oracle_step(struct world *w);
void oracle_one_job(struct world *w);               /* after every step */
int oracle_newest(const struct world *w, int head); /* newest usable living snapshot; -1 = none */
bool oracle_cannot_see(const struct world *w, const struct snap *snap); /* nor can drey */
bool oracle_reached(const struct world *w);
void oracle_end(struct world *w);
void oracle_stays_finished(struct world *w, bool requested, int base);
int truth_find(const struct world *w, const char *job_id); /* the last such; -1 = none */
int truth_head(const struct world *w);                     /* the last launch that ran; -1 = none */

/* ---- trace.c */
void trace_start(struct world *w); /* the agent's life cycle is new */
struct json *trace_event(const struct world *w, const struct event *event); /* before the step */
void trace_step(struct world *w, struct json *event, enum phase before,
		const struct effects *effects);
void trace_end(struct world *w); /* the agent is gone: repeat what it did */

/* ---- notice.c */
void notice_begin(struct agent *agent);                             /* it has read the journal */
void notice_adopt(struct agent *agent, const struct journal *copy); /* a copy becomes its journal */
void notice_check(struct world *w, const struct effects *effects);  /* of a step */

#endif
