/* driver_ha: Flink's own high availability on Kubernetes. All requests run on one lane, in order; what is
 * known of the process is kept on the loop's thread. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "core/resolve/ha_keys.h"
#include "kube/kube_lane.h"
#include "run/driver_internal.h"
#include "run/ha/ha_observe.h"
#include "run/part.h"

#define PATIENCE_MS 1000 /* for a release that is under way when drey ends */
#define LEFT_ALONE                                                                                 \
	"Flink's leader lock is not released; the next JobManager may wait for the lease to expire"
#define LOOK_SOON_MS   2000          /* until the holder of the lock is known */
#define LOOK_HELD_MS   4000          /* while a JVM that will be held does not lead yet */
#define LOOK_LATER_MS  60000         /* then: sessions may change */
#define LOOK_EARLY_MS  10000         /* with something else, so much sooner */
#define SWEEP_AGAIN_MS (3600 * 1000) /* a map that could not be deleted */

struct ha {
	struct driver *driver;
	struct kube_lane kube;
	struct ha_unchanged unchanged; /* the lane's */
	struct loop_timer *timer;      /* the next look at the lock */

	struct failover_watch watch; /* of the process that is or was about to be started */
	char *watched_id;            /* its cluster id */
	char live[JOB_ID_BYTES];     /* launch whose process is known to live; "" = none */
	bool looking;                /* at the lock; one at a time */
	int64_t release_end_ms; /* the lock is being released: drey stays until then; 0 = not */
	/* the launch that it is prepared for: number of the gate, and what came of it */
	int64_t launch_number;
	enum gate_verdict launch;
	char *why_not;
	struct ha_job *old; /* maps of jobs, as they were read last */
	size_t old_count;
	char *old_id;           /* their cluster id */
	struct ha_query stays;  /* those that could not be deleted; no cluster_id: there are none */
	int64_t stays_until_ms; /* when they are read again */
	int64_t stays_since_operation; /* end of the last operation before that */
};

static bool is_fast(const struct ha *ha)
{
	return ha->driver->setup->kube.fast_failover && ha->driver->setup->ha.home;
}

/* ---- the lock, while the process lives ---- */

struct look_job {
	struct ha *ha;
	char *cluster_id;
	char launch_id[JOB_ID_BYTES];
	struct ha_cluster cluster;
	int result;
	struct err err;
};

static void look_work(void *arg)
{
	struct look_job *job = arg;

	job->result =
		ha_cluster_read(job->ha->kube.kube, job->cluster_id, &job->cluster, &job->err);
}

static void look_again(struct ha *ha, bool present)
{
	if (ha->watch.proven)
		loop_timer_set_early(ha->timer, LOOK_LATER_MS, LOOK_EARLY_MS);
	else
		loop_timer_set(ha->timer,
			       ha->driver->standing && !present ? LOOK_HELD_MS : LOOK_SOON_MS);
}

static void looked(void *arg, bool ran)
{
	struct look_job *job = arg;
	struct ha *ha = job->ha;
	bool was_known = ha->watch.proven;

	ha->looking = false;
	/* the whole reading has to lie in the life of the process */
	if (ran && job->result == 0 && !strcmp(ha->live, job->launch_id)) {
		failover_watch_see(&ha->watch, &job->cluster.lock);
		if (ha->watch.proven && !was_known)
			log_info(ha->driver->log, "Flink's leader lock is known",
				 LOG_STR("holder", ha->watch.seen.holder));
	}
	if (!ha->driver->closing && *ha->live)
		look_again(ha, ran && job->result == 0 && job->cluster.lock.present);
	ha_cluster_release(&job->cluster);
	free(job->cluster_id);
	free(job);
}

static void look(void *arg)
{
	struct ha *ha = arg;
	struct look_job *job;

	if (!*ha->live) /* the release takes too long */
		driver_again(ha->driver);
	if (ha->looking || !*ha->live)
		return;
	ha->looking = true;
	job = xcalloc(1, sizeof(*job));
	job->ha = ha;
	job->cluster_id = xstrdup(ha->watched_id);
	memcpy(job->launch_id, ha->live, JOB_ID_BYTES);
	lane_submit(ha->kube.lane, look_work, looked, job);
}

static void watch_process(struct ha *ha, const char *launch_id)
{
	memcpy(ha->live, launch_id, JOB_ID_BYTES);
	if (is_fast(ha))
		loop_timer_set(ha->timer, LOOK_SOON_MS);
}

static void process_started(struct driver *driver, const char *launch_id)
{
	struct ha *ha = driver->ha;

	if (!strcmp(ha->watch.launch_id, launch_id))
		watch_process(ha, launch_id);
}

static void ha_alive(struct driver *driver, const struct part_start *start)
{
	const struct launch *launch = journal_launch(&driver->life.journal);
	struct ha *ha = driver->ha;

	if (!ha || !launch || !xstrsame(launch->job_id, start->running) || !launch->started_unix_ms)
		return;
	failover_watch_begin(&ha->watch, launch->job_id, driver->setup->ha.home,
			     driver->setup->ha.rpc_port, NULL, launch->started_unix_ms);
	xstrset(&ha->watched_id, driver_launch_cluster_id(driver, launch));
	watch_process(ha, launch->job_id);
}

void driver_ha_hold(struct driver *driver, const struct launch *launch,
		    const struct failover_lock *lock)
{
	struct ha *ha = driver->ha;

	if (!ha)
		return;
	failover_watch_begin(&ha->watch, launch->job_id, driver->setup->ha.home,
			     driver->setup->ha.rpc_port, lock, clock_unix_ms());
	xstrset(&ha->watched_id, launch->ha_cluster_id);
}

bool driver_ha_may_kill(const struct driver *driver, const char *launch_id)
{
	const struct ha *ha = driver->ha;

	return ha && is_fast(ha) && ha->watch.proven && !strcmp(ha->live, launch_id);
}

/* ---- the lock, after its death ---- */

struct release_job {
	struct ha *ha;
	char *cluster_id;
	struct failover_watch watch;
	struct ha_release release;
};

static void release_work(void *arg)
{
	struct release_job *job = arg;

	ha_release_lock(job->ha->kube.kube, job->cluster_id, &job->watch, job->watch.launch_id,
			true, &job->release);
}

static void released(void *arg, bool ran)
{
	struct release_job *job = arg;
	struct log *log = job->ha->driver->log;
	const struct ha_release *release = &job->release;

	if (ran && release->kind == FAILOVER_DO_NOT)
		log_warn(log, LEFT_ALONE, LOG_STR("reason", release->reason));
	else if (ran && release->kind == FAILOVER_RELEASE)
		log_info(log, "released the leader lock of the dead Flink",
			 LOG_STR("reason", release->reason), LOG_I64("ms", release->took_ms));
	job->ha->release_end_ms = 0;
	if (ran && !job->ha->driver->closing)
		driver_again(job->ha->driver);
	failover_watch_release(&job->watch);
	free(job->cluster_id);
	free(job);
}

static void process_ended(struct driver *driver, const char *launch_id)
{
	struct ha *ha = driver->ha;
	struct release_job *job;
	struct err err = {0};

	ha->live[0] = '\0';
	loop_timer_stop(ha->timer);
	if (!is_fast(ha) || strcmp(ha->watch.launch_id, launch_id) != 0)
		return;
	/* what has ended may have been a script around the JVM */
	if (driver_take_flink_lock(driver, &err) < 0) {
		log_warn(driver->log, LEFT_ALONE, LOG_ERR(&err));
		return;
	}
	job = xcalloc(1, sizeof(*job));
	job->ha = ha;
	job->cluster_id = xstrdup(ha->watched_id);
	job->watch = ha->watch;
	ha->watch = (struct failover_watch){0};
	ha->release_end_ms = clock_mono_ms() + HA_RELEASE_TIMEOUT_MS;
	loop_timer_set(ha->timer, HA_RELEASE_TIMEOUT_MS);
	lane_submit(ha->kube.lane, release_work, released, job);
}

void driver_ha_held(struct driver *driver, const char *launch_id, bool started)
{
	if (driver->ha && started)
		process_started(driver, launch_id);
	else if (driver->ha)
		process_ended(driver, launch_id);
}

static void ha_event(struct driver *driver, const struct event *event)
{
	if (driver->ha && event->type == EVENT_STARTED)
		process_started(driver, event->process.launch_id);
	else if (driver->ha && event->type == EVENT_EXITED)
		process_ended(driver, event->process.launch_id);
}

/* ---- before a decision ---- */

struct observe_job {
	struct ha *ha;
	struct ha_query query;
	struct observe_plan *plan;
	struct ha_reading reading;
	lane_done_fn *then;
	void *arg;
};

static void observe_work(void *arg)
{
	struct observe_job *job = arg;

	ha_observe(job->ha->kube.kube, &job->query, &job->ha->unchanged, job->plan, &job->reading);
}

static void forget_old(struct ha *ha)
{
	for (size_t i = 0; i < ha->old_count; i++)
		ha_job_release(&ha->old[i]);
	free(ha->old);
	ha->old = NULL;
	ha->old_count = 0;
	xstrset(&ha->old_id, NULL);
}

static void observe_done(void *arg, bool ran)
{
	struct observe_job *job = arg;
	struct ha *ha = job->ha;

	forget_old(ha);
	ha->old = job->reading.jobs;
	ha->old_count = job->reading.job_count;
	xstrset(&ha->old_id, job->query.cluster_id);
	job->reading.jobs = NULL;
	job->reading.job_count = 0;
	ha_query_release(&ha->stays);
	ha_reading_release(&job->reading);
	ha_query_release(&job->query);
	job->then(job->arg, ran);
	free(job);
}

bool driver_ha_observe(struct driver *driver, struct observe_plan *plan, lane_done_fn *then,
		       void *arg)
{
	struct ha *ha = driver->ha;
	struct observe_job *job;

	if (!ha)
		return false;
	job = xcalloc(1, sizeof(*job));
	job->ha = ha;
	job->plan = plan;
	job->then = then;
	job->arg = arg;
	ha_query_for(driver->setup, driver_cluster_id(driver), &driver->life.journal, &job->query);
	lane_submit(ha->kube.lane, observe_work, observe_done, job);
	return true;
}

/* ---- before a start ---- */

struct prepare_job {
	struct ha *ha;
	int64_t number; /* of the gate */
	char *cluster_id;
	struct launch launch; /* only its ids and number */
	struct ha_cluster cluster;
	int result;
	struct err err;
};

static void prepare_work(void *arg)
{
	struct prepare_job *job = arg;

	job->result = ha_clean(job->ha->kube.kube, job->cluster_id, &job->launch,
			       &job->ha->unchanged, &job->cluster, &job->err);
}

static void prepared(void *arg, bool ran)
{
	struct prepare_job *job = arg;
	struct ha *ha = job->ha;
	struct driver *driver = ha->driver;
	const struct setup_ha *setup = &driver->setup->ha;

	if (ran && !driver->closing && ha->launch_number == job->number) {
		ha->launch = job->result < 0 ? GATE_REFUSED : GATE_PASSES;
		xstrset(&ha->why_not, job->result < 0 ? job->err.msg : NULL);
		if (job->result == 0) {
			failover_watch_begin(&ha->watch, job->launch.job_id, setup->home,
					     setup->rpc_port, &job->cluster.lock, clock_unix_ms());
			xstrset(&ha->watched_id, job->cluster_id);
		}
		driver_again(driver);
	}
	ha_cluster_release(&job->cluster);
	free(job->cluster_id);
	free(job);
}

static void prepare(struct ha *ha, int64_t number)
{
	const struct launch *launch = journal_launch(&ha->driver->life.journal);
	struct prepare_job *job = xcalloc(1, sizeof(*job));

	ha->launch_number = number;
	ha->launch = GATE_NOT_YET;
	job->ha = ha;
	job->number = number;
	job->cluster_id = xstrdup(driver_launch_cluster_id(ha->driver, launch));
	job->launch.number = launch->number;
	memcpy(job->launch.job_id, launch->job_id, JOB_ID_BYTES);
	memcpy(job->launch.application_id, launch->application_id, JOB_ID_BYTES);
	lane_submit(ha->kube.lane, prepare_work, prepared, job);
}

/* drey has killed a Flink so that the next one need not wait for it: nor shall it wait for its lock. */
static enum gate_verdict may_exit(const struct ha *ha, struct gate *gate)
{
	/* MUT: drey exits before the leader lock is released */
	if (ha->release_end_ms > clock_mono_ms())
		return gate_waits(gate, "the release of the leader lock", ha->release_end_ms);
	return GATE_PASSES;
}

/* A launch waits until Flink's HA has nothing that it would start as well. */
static enum gate_verdict ha_may(struct driver *driver, enum gate_type type, struct gate *gate)
{
	const struct lifecycle *life = &driver->life;
	struct ha *ha = driver->ha;
	struct decision parked;

	if (ha && type == GATE_EXIT)
		return may_exit(ha, gate);
	/* for one that is held this was done before it was started */
	if (!ha || type != GATE_LAUNCH || journal_launch_const(&life->journal)->held)
		return GATE_PASSES;
	if (ha->launch_number != gate->number)
		prepare(ha, gate->number);
	if (ha->launch == GATE_REFUSED)
		return gate_refuses(gate, CAUSE_HA_NOT_PREPARED, "%s", ha->why_not);
	if (ha->launch == GATE_NOT_YET && life->terminating)
		return gate_refuses(gate, CAUSE_HA_NOT_PREPARED, "the container is ending");
	if (ha->launch == GATE_NOT_YET)
		return gate_waits(gate, "Flink's HA", 0);
	/* do-not-restart may have been turned on meanwhile */
	if (resolve_parked(&life->journal, &driver->setup->life.policy, &parked))
		return gate_refuses(gate, parked.cause, "%s", parked.reason);
	return GATE_PASSES;
}

/* ---- maps of jobs that have gone ---- */

struct sweep_job {
	struct ha *ha;
	char *cluster_id;
	struct ha_job map;
	int result;
	struct err err;
};

static void sweep_work(void *arg)
{
	struct sweep_job *job = arg;

	job->result = ha_job_delete(job->ha->kube.kube, job->cluster_id, &job->map, &job->err);
}

/* It is read again after the next operation, or an hour: then there may be the right to delete it, and what has
 * changed in it is known. */
static void leave_for_later(struct ha *ha, const char *cluster_id, const char *job_id)
{
	if (!xstrsame(ha->stays.cluster_id, cluster_id)) {
		ha_query_release(&ha->stays);
		ha->stays.cluster_id = xstrdup(cluster_id);
	}
	ha_query_add(&ha->stays, job_id);
	ha->stays_until_ms = clock_mono_ms() + SWEEP_AGAIN_MS;
	ha->stays_since_operation = ha->driver->life.journal.last_operation.ended_unix_ms;
}

static void swept(void *arg, bool ran)
{
	struct sweep_job *job = arg;
	struct log *log = job->ha->driver->log;

	if (ran && job->result == 0) {
		log_info(log, "deleted the HA map of an earlier job",
			 LOG_STR("jobId", job->map.job_id));
	} else if (ran) {
		log_warn(log, "cannot delete the HA map of an earlier job; drey retries later",
			 LOG_STR("jobId", job->map.job_id), LOG_ERR(&job->err));
		leave_for_later(job->ha, job->cluster_id, job->map.job_id);
	}
	ha_job_release(&job->map);
	free(job->cluster_id);
	free(job);
}

static void sweep(struct ha *ha)
{
	const struct journal *journal = &ha->driver->life.journal;

	for (size_t i = 0; i < ha->old_count; i++) {
		struct ha_job *map = &ha->old[i];
		struct sweep_job *job;

		if (!*map->job_id ||
		    !ha_map_is_spent(journal, map->job_id, map->ids, map->id_count))
			continue;
		job = xcalloc(1, sizeof(*job));
		job->ha = ha;
		job->cluster_id = xstrdup(ha->old_id);
		job->map = *map;
		*map = (struct ha_job){0};
		lane_submit(ha->kube.lane, sweep_work, swept, job);
	}
}

struct reread_job {
	struct ha *ha;
	struct ha_query query;
	struct ha_reading reading;
};

static void reread_work(void *arg)
{
	struct reread_job *job = arg;

	ha_read(job->ha->kube.kube, &job->query, &job->reading);
}

/* In the place of one that was deleted, or behind all others. */
static void keep_old(struct ha *ha, struct ha_job *map)
{
	size_t i = 0;

	while (i < ha->old_count && *ha->old[i].job_id)
		i++;
	if (i == ha->old_count)
		ha->old = xreallocarray(ha->old, ++ha->old_count, sizeof(*ha->old));
	ha->old[i] = *map;
	*map = (struct ha_job){0};
}

static void reread_done(void *arg, bool ran)
{
	struct reread_job *job = arg;
	struct ha *ha = job->ha;
	bool known = job->reading.state == SOURCE_PRESENT;

	/* those of the other side are read when the job is there again */
	ran = ran && xstrsame(ha->old_id, job->query.cluster_id);
	for (size_t i = 0; ran && known && i < job->reading.job_count; i++)
		keep_old(ha, &job->reading.jobs[i]);
	for (size_t i = 0; ran && !known && i < job->query.job_count; i++)
		leave_for_later(ha, job->query.cluster_id, job->query.job_ids[i]);
	ha_reading_release(&job->reading);
	ha_query_release(&job->query);
	free(job);
}

static void reread_due(struct ha *ha)
{
	struct reread_job *job;

	if (!ha->stays.cluster_id ||
	    (clock_mono_ms() < ha->stays_until_ms &&
	     ha->driver->life.journal.last_operation.ended_unix_ms == ha->stays_since_operation))
		return;
	job = xcalloc(1, sizeof(*job));
	job->ha = ha;
	job->query = ha->stays;
	ha->stays = (struct ha_query){0};
	lane_submit(ha->kube.lane, reread_work, reread_done, job);
}

static void ha_stepped(struct driver *driver)
{
	struct ha *ha = driver->ha;

	if (!ha || !*ha->live || driver_in_shadow(driver))
		return;
	if (ha->old_count)
		sweep(ha);
	reread_due(ha);
}

/* ---- begin and end ---- */

static int ha_open(struct driver *driver, struct err *err)
{
	const struct setup *setup = driver->setup;
	struct ha *ha;

	(void)err;
	if (!setup->ha.on)
		return 0;
	driver->ha = ha = xcalloc(1, sizeof(*ha));
	ha->driver = driver;
	ha->kube = kube_lane_open(driver->workers, setup->kube.client, "drey-ha");
	ha->timer = loop_timer_new(driver->loop, look, ha);
	if (setup->kube.fast_failover && !setup->ha.home)
		log_warn(
			driver->log,
			"no fast failover: a killed JobManager is replaced only after its lease expires",
			LOG_STR("reason", setup->ha.why_not_home));
	return 0;
}

static void ha_close(struct driver *driver)
{
	struct ha *ha = driver->ha;
	bool ended;

	if (!ha)
		return;
	ended = kube_lane_close(&ha->kube, PATIENCE_MS);
	loop_timer_free(ha->timer);
	forget_old(ha);
	free(ha->why_not);
	free(ha->watched_id);
	ha_query_release(&ha->stays);
	failover_watch_release(&ha->watch);
	if (!ended) /* an abandoned request still uses the rest */
		return;
	ha_unchanged_release(&ha->unchanged);
	free(ha);
	driver->ha = NULL;
}

const struct part part_ha = {
	.name = "ha",
	.open = ha_open,
	.alive = ha_alive,
	.event = ha_event,
	.may = ha_may,
	.stepped = ha_stepped,
	.close = ha_close,
};
