#include "run/ha/ha_change.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "core/resolve/ha_keys.h"
#include "kube/configmap.h"

#define PATCH_MAX_BYTES (1024 * 1024)

/* `text`: a merge patch that carries the version. */
static int patch(struct kube *kube, const char *cluster_id, const char *text, struct err *err)
{
	cleanup_free char *name = ha_cluster_name(cluster_id);
	cleanup_json struct json *body = json_parse(text, strlen(text), PATCH_MAX_BYTES, err);

	if (!body)
		return -1;
	return configmap_patch(kube, name, body, NULL, NULL, err);
}

/* ---- the lock ---- */

/* One look and, if it is allowed, one try. 0: it is over; 1: another writer was faster. */
static int try_release(struct kube *kube, const char *cluster_id,
		       const struct failover_watch *watch, const char *launch_id, bool reaped,
		       struct ha_release *ret)
{
	struct failover_verdict verdict = {0};
	struct ha_cluster cluster = {0};
	struct err err = {0};
	int rc = 0;

	if (ha_cluster_read(kube, cluster_id, &cluster, &err) < 0) {
		ret->kind = FAILOVER_DO_NOT;
		snprintf(ret->reason, sizeof(ret->reason), "%s", err.msg);
		return 0;
	}
	failover_decide(watch, launch_id, reaped, &cluster.lock, clock_unix_ms(), &verdict);
	ret->kind = verdict.kind;
	snprintf(ret->reason, sizeof(ret->reason), "%s", verdict.reason);
	if (verdict.kind == FAILOVER_RELEASE && patch(kube, cluster_id, verdict.patch, &err) < 0) {
		ret->kind = FAILOVER_DO_NOT;
		snprintf(ret->reason, sizeof(ret->reason), "%s", err.msg);
		rc = err.kind == ERR_BUSY;
	}
	free(verdict.patch);
	ha_cluster_release(&cluster);
	return rc;
}

void ha_release_lock(struct kube *kube, const char *cluster_id, const struct failover_watch *watch,
		     const char *launch_id, bool reaped, struct ha_release *ret)
{
	int64_t begin_ms = clock_mono_ms();
	int rounds = HA_CHANGE_ROUNDS;

	*ret = (struct ha_release){0};
	while (try_release(kube, cluster_id, watch, launch_id, reaped, ret) && --rounds > 0 &&
	       clock_mono_ms() - begin_ms < HA_RELEASE_TIMEOUT_MS)
		;
	ret->took_ms = clock_mono_ms() - begin_ms;
}

/* ---- what would be started again ---- */

int64_t ha_unchanged_between(struct ha_unchanged *unchanged, const struct failover_lock *lock,
			     int64_t begin_ms, int64_t end_ms)
{
	if (lock->renew_time && xstrsame(unchanged->holder, lock->holder) &&
	    xstrsame(unchanged->renew_time, lock->renew_time))
		return begin_ms > unchanged->since_ms ? begin_ms - unchanged->since_ms : 0;
	xstrset(&unchanged->holder, lock->holder);
	xstrset(&unchanged->renew_time, lock->renew_time);
	unchanged->since_ms = end_ms;
	return 0;
}

int64_t ha_unchanged_ms(struct ha_unchanged *unchanged, const struct failover_lock *lock)
{
	int64_t now_ms = clock_mono_ms();

	return ha_unchanged_between(unchanged, lock, now_ms, now_ms);
}

void ha_unchanged_release(struct ha_unchanged *unchanged)
{
	free(unchanged->holder);
	free(unchanged->renew_time);
	*unchanged = (struct ha_unchanged){0};
}

/* A lock for which Flink would wait although nobody holds it. 0: it is none; 1: look again. */
static int release_ahead(struct kube *kube, const char *cluster_id, struct ha_unchanged *unchanged,
			 const struct ha_cluster *cluster, struct err *err)
{
	const struct failover_lock *lock = &cluster->lock;
	int64_t now_unix_ms = clock_unix_ms();
	cleanup_free char *why = NULL, *text = NULL;
	struct err failed = {0};

	/* MUT: Flink is started for a lock that it would wait for as long as a clock was ahead */
	if (!failover_lock_is_ahead(lock, now_unix_ms))
		return 0;
	if (!failover_lock_is_free(lock, cluster->server_unix_ms, ha_unchanged_ms(unchanged, lock),
				   &why))
		return err_set(
			err, ERR_BUSY, 0,
			"Flink would wait for the leader lock %s-cluster-config-map, which was renewed by a clock that is ahead of this Pod's; drey releases it when nobody renews it any more: %s",
			cluster_id, why);
	text = failover_lock_patch(lock, now_unix_ms);
	if (patch(kube, cluster_id, text, &failed) == 0 || failed.kind == ERR_BUSY)
		return 1;
	err_pass(err, &failed);
	return err_wrap(err,
			"cannot release a leader lock that was renewed by a clock that is ahead");
}

/* 0: there is nothing to do any more; 1: look again. */
static int clean_once(struct kube *kube, const char *cluster_id, const struct launch *launch,
		      struct ha_unchanged *unchanged, const struct ha_cluster *cluster,
		      struct err *err)
{
	const struct failover_lock *lock = &cluster->lock;
	cleanup_free char *text = NULL, *why = NULL;
	struct err failed = {0};

	if (lock->resource_version)
		text = ha_leftover_patch((const char *const *)cluster->stored,
					 cluster->stored_count, launch, lock->resource_version);
	if (!text)
		return release_ahead(kube, cluster_id, unchanged, cluster, err);
	/* MUT: a stored job is removed while another Flink may be alive */
	if (!failover_lock_is_free(lock, cluster->server_unix_ms, ha_unchanged_ms(unchanged, lock),
				   &why))
		return err_set(
			err, ERR_BUSY, 0,
			"Flink's HA data contain jobs of an earlier launch that would be started as well, and another Flink may be running: %s",
			why);
	if (patch(kube, cluster_id, text, &failed) == 0 || failed.kind == ERR_BUSY)
		return 1;
	err_pass(err, &failed);
	return err_wrap(err, "cannot remove jobs of an earlier launch from Flink's HA data");
}

int ha_clean(struct kube *kube, const char *cluster_id, const struct launch *launch,
	     struct ha_unchanged *unchanged, struct ha_cluster *ret_cluster, struct err *err)
{
	for (int round = 0; round < HA_CHANGE_ROUNDS; round++) {
		struct ha_cluster cluster;
		int rc;

		if (ha_cluster_read(kube, cluster_id, &cluster, err) < 0)
			return -1;
		rc = clean_once(kube, cluster_id, launch, unchanged, &cluster, err);
		if (rc == 0) {
			*ret_cluster = cluster;
			return 0;
		}
		ha_cluster_release(&cluster);
		if (rc < 0)
			return -1;
	}
	return err_set(
		err, ERR_BUSY, 0,
		"another process keeps writing %s-cluster-config-map: another Flink may be running",
		cluster_id);
}

/* ---- spent maps ---- */

int ha_job_delete(struct kube *kube, const char *cluster_id, const struct ha_job *job,
		  struct err *err)
{
	cleanup_free char *name = ha_job_name(cluster_id, job->job_id);
	struct err why = {0};

	if (configmap_delete(kube, name, job->uid, job->resource_version, NULL, &why) == 0 ||
	    why.kind == ERR_ABSENT)
		return 0;
	return err_pass(err, &why);
}
