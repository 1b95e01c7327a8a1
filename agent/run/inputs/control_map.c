#include "run/inputs/control_map.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/desired.h"
#include "kube/kube_lane.h"
#include "run/inputs/control_value.h"

#define PATIENCE_MS 1000 /* kube_stop() ends a call within 100 ms */

struct control_map {
	struct kube_lane kube;
	char *name;
};

struct reading {
	struct kube *kube;
	const char *name;
	control_map_fn *fn;
	void *arg;
	int result;
	struct configmap map;
	struct err err;
};

struct control_map *control_map_new(struct workers *workers, struct kube_client *client,
				    const char *name)
{
	struct control_map *map = xcalloc(1, sizeof(*map));

	map->name = xstrdup(name);
	map->kube = kube_lane_open(workers, client, "drey-kube-ctl");
	return map;
}

void control_map_free(struct control_map *map)
{
	if (!map)
		return;
	kube_lane_stop(&map->kube);
	if (kube_lane_close(&map->kube, PATIENCE_MS)) /* else the call that hangs uses it */
		free(map->name);
	free(map);
}

void control_map_desired(const struct configmap *from, struct desired *ret_desired)
{
	struct desired desired = {0};
	const struct json *value;

	json_each (value, from->data) {
		int key = desired_key_find(json_name(value));

		if (*json_name(value) == '.') /* as in a directory: not meant for us */
			continue;
		if (key < 0)
			control_value_ignore(&desired, json_name(value));
		else
			control_value_set(&desired, (enum desired_key)key, json_text(value),
					  strlen(json_text(value)));
	}
	control_value_judge(&desired);
	desired.used = xstrdup(json_str(from->annotations, DESIRED_USED_ANNOTATION));
	*ret_desired = desired;
}

static void read_work(void *arg)
{
	struct reading *reading = arg;

	reading->result =
		configmap_get(reading->kube, reading->name, &reading->map, NULL, &reading->err);
}

static void read_done(void *arg, bool ran)
{
	struct reading *reading = arg;
	cleanup_desired struct desired desired = {0};

	if (!ran)
		reading->result = err_set(&reading->err, ERR_RETRY, 0, "drey is exiting");
	if (reading->result == 0)
		control_map_desired(&reading->map, &desired);
	if (reading->result == 0 || reading->err.kind == ERR_ABSENT)
		reading->fn(reading->arg, &desired, reading->result < 0, NULL);
	else
		reading->fn(reading->arg, NULL, false, &reading->err);
	configmap_release(&reading->map);
	free(reading);
}

void control_map_read(struct control_map *map, control_map_fn *fn, void *arg)
{
	struct reading *reading = xcalloc(1, sizeof(*reading));

	reading->kube = map->kube.kube;
	reading->name = map->name;
	reading->fn = fn;
	reading->arg = arg;
	lane_submit(map->kube.lane, read_work, read_done, reading);
}
