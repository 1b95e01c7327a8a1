#include "run/handover/flip_map.h"

#include <stdlib.h>
#include <string.h>

#include "base/backoff.h"
#include "base/json.h"
#include "base/mem.h"
#include "kube/configmap.h"
#include "kube/map_mark.h"

#define ROUNDS         8 /* of one write: each subtask of a gate may write, too */
#define PAUSE_FIRST_MS 20
#define PAUSE_MOST_MS  500

void flip_reading_release(struct flip_reading *reading)
{
	free(reading->version);
	for (size_t i = 0; i < FLIP_KEYS; i++)
		free(reading->values[i]);
	memset(reading, 0, sizeof(*reading));
}

struct flip_values flip_reading_values(const struct flip_reading *reading)
{
	struct flip_values values;

	for (size_t i = 0; i < FLIP_KEYS; i++)
		values.of[i] = reading->values[i];
	return values;
}

static void keep_values(const struct configmap *map, struct flip_reading *reading)
{
	flip_reading_release(reading);
	reading->present = true;
	reading->version = xstrdup(map->resource_version);
	for (size_t i = 0; i < FLIP_KEYS; i++)
		reading->values[i] = xstrdup(configmap_value(map, flip_key_words[i]));
}

int flip_map_read(struct kube *kube, const char *name, struct flip_reading *reading,
		  struct err *err)
{
	cleanup_configmap struct configmap map = {0};
	int found = configmap_find(kube, name, &map, NULL, err);

	/* MUT: a ConfigMap of gates that cannot be read is not there */
	if (found < 0)
		return -1;
	if (found)
		keep_values(&map, reading);
	else
		flip_reading_release(reading);
	return 0;
}

/* ---- writing ---- */

struct writer {
	struct kube *kube;
	const char *name, *application; /* NULL: it is not created */
	struct flip_change changes[FLIP_KEYS];
	size_t count;
};

static void add_changes(const struct writer *writer, struct json *data)
{
	for (size_t i = 0; i < writer->count; i++) {
		const struct flip_change *change = &writer->changes[i];

		if (*change->value)
			json_add_str(data, flip_key_words[change->key], change->value);
		else
			json_add_null(data, flip_key_words[change->key]);
	}
}

static int create(const struct writer *writer, struct configmap *ret, struct err *err)
{
	cleanup_configmap struct configmap fresh = {.name = xstrdup(writer->name)};

	if (!writer->application) {
		cleanup_free char *place =
			xasprintf("ConfigMap %s/%s", kube_namespace(writer->kube), writer->name);

		return map_mark_refuse_missing(place, err);
	}
	fresh.labels = configmap_labels(writer->application, "bluegreen");
	fresh.data = json_object();
	add_changes(writer, fresh.data);
	return configmap_create(writer->kube, &fresh, ret, NULL, err);
}

static int patch_keys(const struct writer *writer, const char *version, struct configmap *ret,
		      struct err *err)
{
	cleanup_json struct json *body = json_object();

	json_add_str(json_add_object(body, "metadata"), "resourceVersion", version);
	add_changes(writer, json_add_object(body, "data"));
	return configmap_patch(writer->kube, writer->name, body, ret, NULL, err);
}

/* One try. 1: it says them; 0: try again; -1: failed. */
static int write_once(struct writer *writer, const struct flip_keys *keys,
		      struct flip_reading *reading, struct err *err)
{
	struct flip_values values = flip_reading_values(reading);
	cleanup_configmap struct configmap got = {0};
	struct err why = {0};
	int result;

	writer->count = flip_changes(keys, &values, writer->changes);
	if (!writer->count && reading->present)
		return 1;
	result = reading->present ? patch_keys(writer, reading->version, &got, &why)
				  : create(writer, &got, &why);
	if (result == 0) {
		keep_values(&got, reading);
		return 1;
	}
	/* a gate was faster, or the map was deleted */
	if (why.kind == ERR_BUSY || (why.kind == ERR_ABSENT && reading->present))
		return 0;
	*err = why;
	return -1;
}

int flip_map_write(struct kube *kube, const char *name, const char *application,
		   const struct flip_keys *keys, struct flip_reading *reading, struct err *err)
{
	struct writer writer = {.kube = kube, .name = name, .application = application};

	for (int round = 1; round <= ROUNDS; round++) {
		int result = flip_map_read(kube, name, reading, err);

		if (result == 0)
			result = write_once(&writer, keys, reading, err);
		if (result != 0)
			return result > 0 ? 0 : -1;
		if (kube_pause(kube, backoff_spread_ms(PAUSE_FIRST_MS, PAUSE_MOST_MS, round), err) <
		    0)
			return -1;
	}
	return err_set(err, ERR_RETRY, 0, "ConfigMap %s/%s is changed by others continuously",
		       kube_namespace(kube), name);
}
