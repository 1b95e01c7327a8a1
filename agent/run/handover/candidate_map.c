#include "run/handover/candidate_map.h"

#include <stdlib.h>
#include <string.h>

#include "base/backoff.h"
#include "base/json.h"
#include "base/mem.h"
#include "kube/map_mark.h"

#define ROUNDS         6 /* of one write: the writer of another key may be faster each time */
#define PAUSE_FIRST_MS 20
#define PAUSE_MOST_MS  500

void candidate_reading_release(struct candidate_reading *reading)
{
	free(reading->version);
	for (size_t i = 0; i < PLACES; i++)
		free(reading->texts[i]);
	/* not by assignment: clang-analyzer 14 loses that one and sees a use after free */
	memset(reading, 0, sizeof(*reading));
}

void candidate_map_take(const struct configmap *map, struct candidate_reading *reading)
{
	candidate_reading_release(reading);
	reading->present = true;
	reading->deleting = map->deleting;
	reading->version = xstrdup(map->resource_version);
	for (size_t i = 0; i < PLACES; i++)
		reading->texts[i] = xstrdup(configmap_value(map, candidate_keys[i]));
}

int candidate_map_read(struct kube *kube, const char *name, struct candidate_reading *reading,
		       struct err *err)
{
	cleanup_configmap struct configmap map = {0};
	int found = configmap_find(kube, name, &map, NULL, err);

	if (found < 0)
		return -1;
	if (found)
		candidate_map_take(&map, reading);
	else
		candidate_reading_release(reading);
	return 0;
}

/* ---- writing ---- */

static int create(const struct candidate_writer *writer, const char *text, struct configmap *ret,
		  struct err *err)
{
	cleanup_configmap struct configmap fresh = {.name = xstrdup(writer->name)};

	if (writer->made) {
		cleanup_free char *place =
			xasprintf("ConfigMap %s/%s", kube_namespace(writer->kube), writer->name);

		return map_mark_refuse_missing(place, err);
	}
	fresh.labels = configmap_labels(writer->application, "candidate");
	fresh.data = json_object();
	json_add_str(fresh.data, candidate_keys[writer->place], text);
	return configmap_create(writer->kube, &fresh, ret, NULL, err);
}

/* Leaves the other keys alone. */
static int patch(const struct candidate_writer *writer, const char *version, const char *text,
		 struct configmap *ret, struct err *err)
{
	cleanup_json struct json *body = json_object();

	json_add_str(json_add_object(body, "metadata"), "resourceVersion", version);
	json_add_str(json_add_object(body, "data"), candidate_keys[writer->place], text);
	return configmap_patch(writer->kube, writer->name, body, ret, NULL, err);
}

/* Whose record is it? What cannot be read belongs to no pod: it may be replaced, but only by comparison. */
static bool is_ours(const struct candidate_writer *writer, const char *text)
{
	struct candidate_record record;
	bool ours;

	if (!text || candidate_decode(text, strlen(text), writer->application, &record, NULL) < 0)
		return false;
	ours = !strcmp(record.uid, writer->uid);
	candidate_release(&record);
	return ours;
}

/* Another client was faster. 0: it was not about this key: try again. */
static int look_again(const struct candidate_writer *writer, struct candidate_reading *reading,
		      struct err *err)
{
	cleanup_free char *before = xstrdup(reading->texts[writer->place]);
	const char *now;

	if (candidate_map_read(writer->kube, writer->name, reading, err) < 0)
		return -1;
	now = reading->texts[writer->place];
	if (!now || xstrsame(before, now) || is_ours(writer, now))
		return 0;
	return err_set(err, ERR_BUSY, 0,
		       "another pod has written key '%s' of ConfigMap %s/%s in the meantime",
		       candidate_keys[writer->place], kube_namespace(writer->kube), writer->name);
}

/* One try. 1: done; 0: try again; -1: failed. */
static int write_once(const struct candidate_writer *writer, const char *text,
		      struct candidate_reading *reading, struct err *err)
{
	cleanup_configmap struct configmap got = {0};
	struct err why = {0};
	int rc = reading->present ? patch(writer, reading->version, text, &got, &why)
				  : create(writer, text, &got, &why);

	if (rc == 0) {
		candidate_map_take(&got, reading);
		return 1;
	}
	if (why.kind == ERR_BUSY || (why.kind == ERR_ABSENT && reading->present))
		return look_again(writer, reading, err);
	if (err)
		*err = why;
	return -1;
}

int candidate_map_write(const struct candidate_writer *writer, const char *text,
			struct candidate_reading *reading, struct err *err)
{
	for (int round = 1; round <= ROUNDS; round++) {
		int rc = !text && !reading->texts[writer->place]
				 ? 1
				 : write_once(writer, text, reading, err);

		/* what is written into such a map goes with it */
		if (rc > 0 && text && reading->deleting)
			return err_set(
				err, ERR_RETRY, 0,
				"ConfigMap %s/%s is being deleted but has finalizers; remove them, then drey writes a new one",
				kube_namespace(writer->kube), writer->name);
		if (rc != 0)
			return rc > 0 ? 0 : -1;
		if (kube_pause(writer->kube,
			       backoff_spread_ms(PAUSE_FIRST_MS, PAUSE_MOST_MS, round), err) < 0)
			return -1;
	}
	return err_set(err, ERR_RETRY, 0, "ConfigMap %s/%s is changed by others continuously",
		       kube_namespace(writer->kube), writer->name);
}
