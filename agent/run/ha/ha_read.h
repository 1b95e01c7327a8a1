/*
 * ha_read - Flink's HA ConfigMaps from the API server: those of one cluster id, and no others.
 *
 * The names of the maps are known, so that a Role can list them: the cluster's map, and one for
 * each job that was ever launched. If no Role lists them (random job ids), they are found by their
 * labels. Either way a map is ours only if it has exactly the name that Flink gives it and Flink's
 * labels app=<cluster id>, type=flink-native-kubernetes: a map of another application whose cluster
 * id begins with ours does not count, nor does a map created by hand.
 *
 * Blocks: for lanes and commands. An error is never absence: only a 404 of the map itself is.
 * Source: org.apache.flink.kubernetes.utils.Constants and KubernetesUtils, Flink 1.15 to 2.3.
 */
#ifndef DREY_RUN_HA_READ_H
#define DREY_RUN_HA_READ_H

#include "base/err.h"
#include "core/journal/journal.h"
#include "core/lifecycle/failover.h"
#include "core/resolve/facts.h"
#include "format/ha_map.h"
#include "kube/kube.h"

/* What to look for. */
struct ha_query {
	char *cluster_id;
	bool by_label; /* list; else by name: */
	char (*job_ids)[JOB_ID_BYTES];
	size_t job_count;
};

/* journal NULL: it could not be read. Numbered ids: those of core/ha_names.h. id_space NULL: job ids are random, and maps are listed. */
void ha_query_init(struct ha_query *query, const char *cluster_id, const char *id_space,
		   int64_t id_count, const struct journal *journal);
void ha_query_add(struct ha_query *query, const char *job_id); /* one more by name; twice is once */
void ha_query_release(struct ha_query *query);                 /* zeroed is allowed */

/* The cluster's map. */
struct ha_cluster {
	struct failover_lock lock;
	char **stored; /* keys of core/resolve/ha_keys.h */
	size_t stored_count;
	int64_t server_unix_ms; /* when it was read, by the API server's clock; 0 = not said */
};

/* 0 also when there is none: lock.present is false then. ERR_FORMAT: there is one of that name that is not
 * Flink's. Release with ha_cluster_release(). */
int ha_cluster_read(struct kube *kube, const char *cluster_id, struct ha_cluster *ret,
		    struct err *err);
void ha_cluster_release(struct ha_cluster *cluster); /* zeroed is allowed */

/* The map of one job, as far as is needed to delete it. */
struct ha_job {
	char job_id[JOB_ID_BYTES];
	char *uid, *resource_version;
	int64_t *ids; /* of the checkpoints that it names */
	size_t id_count;
};
void ha_job_release(struct ha_job *job);

/* All of them. */
struct ha_reading {
	struct ha_cluster cluster;
	struct ha_maps maps;
	struct ha_job *jobs;
	size_t job_count;
	enum source_state state; /* PRESENT, or UNREADABLE: something may be missing */
	char *detail;            /* why */
};

/* Never fails: what cannot be read is a fact too. */
void ha_read(struct kube *kube, const struct ha_query *query, struct ha_reading *ret);
void ha_reading_release(struct ha_reading *reading); /* zeroed is allowed */
#define cleanup_ha_reading __attribute__((cleanup(ha_reading_release)))

/* Names of the maps; the caller frees. */
char *ha_cluster_name(const char *cluster_id);
char *ha_job_name(const char *cluster_id, const char *job_id);

#endif
