#include "run/ha/ha_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/ha_names.h"
#include "core/job_id.h"
#include "core/resolve/ha_keys.h"
#include "format/leader.h"
#include "kube/configmap.h"

#define TYPE_LABEL "flink-native-kubernetes"

/* ---- names ---- */

char *ha_cluster_name(const char *cluster_id)
{
	return xasprintf("%s-cluster-config-map", cluster_id);
}

char *ha_job_name(const char *cluster_id, const char *job_id)
{
	return xasprintf("%s-%s-config-map", cluster_id, job_id);
}

/* ---- what to look for ---- */

static void add_name(struct ha_query *query, const char *job_id)
{
	query->job_ids =
		xreallocarray(query->job_ids, query->job_count + 1, sizeof(*query->job_ids));
	snprintf(query->job_ids[query->job_count++], sizeof(*query->job_ids), "%s", job_id);
}

void ha_query_add(struct ha_query *query, const char *job_id)
{
	for (size_t i = 0; i < query->job_count; i++)
		if (!strcmp(query->job_ids[i], job_id))
			return;
	add_name(query, job_id);
}

/* Of the journal's ids only those that the Role names: the map of another one (random, or of an earlier
 * salt) cannot be read, and no Flink that may use the Role could go on with it. */
static void want_names(struct ha_query *query, const char *id_space, int64_t id_count,
		       const struct journal *journal)
{
	bool *read = ha_names_read(journal, id_space, id_count);
	char job_id[JOB_ID_BYTES];

	for (int64_t n = 0; n < id_count; n++) {
		if (!read[n])
			continue;
		job_id_name(id_space, n, job_id);
		add_name(query, job_id); /* none is like another one */
	}
	free(read);
}

void ha_query_init(struct ha_query *query, const char *cluster_id, const char *id_space,
		   int64_t id_count, const struct journal *journal)
{
	*query = (struct ha_query){.cluster_id = xstrdup(cluster_id), .by_label = !id_space};
	if (id_space)
		want_names(query, id_space, id_count, journal);
}

void ha_query_release(struct ha_query *query)
{
	free(query->cluster_id);
	free(query->job_ids);
	*query = (struct ha_query){0};
}

/* ---- one map ---- */

static bool is_labelled(const struct configmap *map, const char *cluster_id)
{
	const char *app = json_str(map->labels, "app"), *type = json_str(map->labels, "type");

	return app && type && !strcmp(app, cluster_id) && !strcmp(type, TYPE_LABEL);
}

static void take_session(struct failover_lock *lock, const char *key, const char *value)
{
	char host[LEADER_HOST_BYTES];
	int port = 0;
	bool known = leader_session_parse(value, host, &port, NULL) == 0;

	failover_lock_add_session(lock, key, value, known ? host : NULL, port);
}

static void take_record(struct failover_lock *lock, const char *text)
{
	struct leader leader;

	lock->recorded = text != NULL;
	if (!text || leader_parse(text, strlen(text), &leader, NULL) < 0)
		return;
	lock->understood = true;
	lock->holder = xstrdup(leader.holder);
	lock->renew_time = xstrdup(leader.renew_time);
	lock->renew_unix_ms = leader.renew_unix_ms;
	lock->acquire_unix_ms = leader.acquire_unix_ms;
	lock->duration_ms = leader.duration_ms;
	lock->iso = leader.iso;
	lock->transitions = leader.transitions;
	leader_release(&leader);
}

static void take_cluster(struct ha_cluster *cluster, const struct configmap *map)
{
	const struct json *item;

	cluster->lock.present = true;
	cluster->lock.deleting = map->deleting;
	cluster->lock.changed_unix_ms = map->changed_unix_ms;
	cluster->lock.resource_version = xstrdup(map->resource_version);
	take_record(&cluster->lock, json_str(map->annotations, LEADER_ANNOTATION));
	json_each (item, map->data) {
		const char *key = json_name(item);

		if (!strncmp(key, LEADER_KEY_PREFIX, strlen(LEADER_KEY_PREFIX)))
			take_session(&cluster->lock, key, json_text(item));
		if (!ha_key_is_stored(key))
			continue;
		cluster->stored = xreallocarray(cluster->stored, cluster->stored_count + 1,
						sizeof(*cluster->stored));
		cluster->stored[cluster->stored_count++] = xstrdup(key);
	}
}

static struct ha_map *take_map(struct ha_maps *maps, const struct kube *kube,
			       const struct configmap *from)
{
	struct ha_map *map = ha_maps_add(maps, from->name);
	const struct json *item;

	map->space = xstrdup(kube_namespace(kube));
	map->deleting = from->deleting;
	json_each (item, from->data)
		ha_map_put(map, json_name(item), json_text(item), strlen(json_text(item)));
	return map;
}

static void take_job(struct ha_reading *reading, const struct kube *kube,
		     const struct configmap *from)
{
	const struct ha_map *map = take_map(&reading->maps, kube, from);
	struct ha_job *job;

	reading->jobs =
		xreallocarray(reading->jobs, reading->job_count + 1, sizeof(*reading->jobs));
	job = &reading->jobs[reading->job_count++];
	*job = (struct ha_job){.uid = xstrdup(from->uid),
			       .resource_version = xstrdup(from->resource_version)};
	memcpy(job->job_id, map->job_id, JOB_ID_BYTES);
	job->ids = xcalloc(map->entry_count + 1, sizeof(*job->ids));
	for (size_t i = 0; i < map->entry_count; i++)
		if (map->entries[i].kind == HA_ENTRY_CHECKPOINT)
			job->ids[job->id_count++] = map->entries[i].checkpoint_id;
}

/* 0 also when there is none. reading NULL: only the lock is wanted. */
static int read_cluster(struct kube *kube, const char *cluster_id, struct ha_cluster *cluster,
			struct ha_reading *reading, struct err *err)
{
	cleanup_kube_answer struct kube_answer answer = {0};
	cleanup_configmap struct configmap map = {0};
	cleanup_free char *name = ha_cluster_name(cluster_id);
	int found = configmap_find(kube, name, &map, &answer, err);

	if (found <= 0)
		return found;
	if (!is_labelled(&map, cluster_id))
		return err_set(err, ERR_FORMAT, 0,
			       "ConfigMap %s does not have the labels app=%s, type=" TYPE_LABEL
			       " that Flink sets",
			       name, cluster_id);
	cluster->server_unix_ms = answer.date_unix_ms > 0 ? answer.date_unix_ms : 0;
	take_cluster(cluster, &map);
	if (reading)
		take_map(&reading->maps, kube, &map);
	return 0;
}

int ha_cluster_read(struct kube *kube, const char *cluster_id, struct ha_cluster *ret,
		    struct err *err)
{
	struct ha_cluster cluster = {0};

	if (read_cluster(kube, cluster_id, &cluster, NULL, err) < 0)
		return -1;
	*ret = cluster;
	return 0;
}

void ha_cluster_release(struct ha_cluster *cluster)
{
	failover_lock_release(&cluster->lock);
	for (size_t i = 0; i < cluster->stored_count; i++)
		free(cluster->stored[i]);
	free(cluster->stored);
	*cluster = (struct ha_cluster){0};
}

/* ---- all maps ---- */

/* Of each job of the query; no name: there is none. */
struct fetch {
	struct configmap *maps;
};

static int fetched(void *ctx, size_t index, struct configmap *map, const struct err *why,
		   struct err *err)
{
	struct fetch *fetch = ctx;

	if (why && why->kind != ERR_ABSENT)
		return err_pass(err, why);
	if (!why) {
		fetch->maps[index] = *map;
		*map = (struct configmap){0};
	}
	return 0;
}

static int read_jobs(struct kube *kube, const struct ha_query *query, struct ha_reading *reading,
		     struct err *err)
{
	char **names = xcalloc(query->job_count + 1, sizeof(*names));
	struct fetch fetch = {.maps = xcalloc(query->job_count + 1, sizeof(*fetch.maps))};
	int rc;

	for (size_t i = 0; i < query->job_count; i++)
		names[i] = ha_job_name(query->cluster_id, query->job_ids[i]);
	rc = configmap_get_many(kube, (const char *const *)names, query->job_count, fetched, &fetch,
				err);
	for (size_t i = 0; i < query->job_count; i++) {
		if (fetch.maps[i].name && is_labelled(&fetch.maps[i], query->cluster_id))
			take_job(reading, kube, &fetch.maps[i]);
		configmap_release(&fetch.maps[i]);
		free(names[i]);
	}
	free(fetch.maps);
	free(names);
	return rc;
}

/* "<cluster id>-<32 hex>-config-map", and not of a cluster id that only begins like ours. */
static bool is_job_name(const char *name, const char *cluster_id)
{
	size_t len = strlen(cluster_id), digits = JOB_ID_BYTES - 1;

	return !strncmp(name, cluster_id, len) && name[len] == '-' &&
	       strspn(name + len + 1, "0123456789abcdef") == digits &&
	       !strcmp(name + len + 1 + digits, "-config-map");
}

struct listing {
	const struct kube *kube;
	const char *cluster_id;
	struct ha_reading *reading;
};

static int take_listed(void *ctx, const struct configmap *map, struct err *err)
{
	struct listing *listing = ctx;

	(void)err;
	if (is_labelled(map, listing->cluster_id) && is_job_name(map->name, listing->cluster_id))
		take_job(listing->reading, listing->kube, map);
	return 0;
}

static int list_jobs(struct kube *kube, const struct ha_query *query, struct ha_reading *reading,
		     struct err *err)
{
	struct listing listing = {
		.kube = kube, .cluster_id = query->cluster_id, .reading = reading};
	cleanup_free char *selector = xasprintf("app=%s,type=" TYPE_LABEL, query->cluster_id);

	return configmap_list(kube, selector, take_listed, &listing, err);
}

void ha_read(struct kube *kube, const struct ha_query *query, struct ha_reading *ret)
{
	struct err err = {0};
	int rc;

	*ret = (struct ha_reading){.state = SOURCE_PRESENT};
	rc = read_cluster(kube, query->cluster_id, &ret->cluster, ret, &err);
	if (rc == 0 && query->by_label)
		rc = list_jobs(kube, query, ret, &err);
	else if (rc == 0)
		rc = read_jobs(kube, query, ret, &err);
	if (rc < 0) {
		ret->state = SOURCE_UNREADABLE;
		ret->detail = xstrdup(err.msg);
	}
}

void ha_reading_release(struct ha_reading *reading)
{
	ha_cluster_release(&reading->cluster);
	ha_maps_release(&reading->maps);
	for (size_t i = 0; i < reading->job_count; i++)
		ha_job_release(&reading->jobs[i]);
	free(reading->jobs);
	free(reading->detail);
	*reading = (struct ha_reading){0};
}

void ha_job_release(struct ha_job *job)
{
	free(job->uid);
	free(job->resource_version);
	free(job->ids);
	*job = (struct ha_job){0};
}
