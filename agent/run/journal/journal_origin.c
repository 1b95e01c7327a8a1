#include "run/journal/journal_origin.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "kube/map_mark.h"
#include "kube/workload.h"
#include "run/journal/journal_map.h"

#define READ_MS  10000
#define NOTE_MS  3000 /* a write of the journal is acknowledged after it */
#define AGAIN_MS 60000
#define SECOND   1000 /* of creation times, in ms */

void journal_origin_init(struct journal_origin *origin, const struct setup_kube *kube, bool shadow)
{
	*origin = (struct journal_origin){
		.kube = kube, .client = kube_open(kube->client), .shadow = shadow};
}

void journal_origin_release(struct journal_origin *origin)
{
	if (origin->client)
		kube_free(origin->client);
	*origin = (struct journal_origin){0};
}

static int read_owner(const struct journal_origin *origin, int64_t timeout_ms,
		      struct workload *ret_workload, struct err *err)
{
	const struct setup_kube *kube = origin->kube;

	return workload_get(origin->client, kube->owner_kind, kube->owner, timeout_ms, ret_workload,
			    NULL, err);
}

/* What is to be known of the owner decides; `why` it is asked. */
static int ask_owner(const struct journal_origin *origin, const char *why,
		     struct workload *ret_owner, struct err *err)
{
	if (read_owner(origin, READ_MS, ret_owner, err) == 0)
		return 0;
	if (err && err->kind == ERR_ABSENT) /* of the owner, not of the journal */
		err->kind = ERR_RETRY;
	return err_wrap(err, "%s", why);
}

typedef int map_refusal(const struct configmap *map, const char *place, const char *why,
			struct err *err);

static int refuse_map(map_refusal *says, const struct journal_origin *origin,
		      const struct configmap *map, const char *why, struct err *err)
{
	cleanup_free char *place =
		xasprintf("ConfigMap %s/%s", kube_namespace(origin->client), map->name);

	return says(map, place, why, err);
}

/* It is empty. The one of a candidate comes and goes, and the owner knows nothing of it. */
static int vouch_empty(const struct journal_origin *origin, const struct configmap *map,
		       struct err *err)
{
	cleanup_workload struct workload owner = {0};

	if (origin->shadow || !origin->kube->owner)
		return 0;
	if (ask_owner(
		    origin,
		    "the ConfigMap of the journal is empty, and the owner of the pod says whether it was written before",
		    &owner, err) < 0)
		return -1;
	/* MUT: an empty map is none yet, whatever the owner of the pod says */
	if (owner.journal_marked)
		return refuse_map(map_mark_refuse_emptied, origin, map, "was deleted and made anew",
				  err);
	return 0;
}

int journal_origin_vouch(void *ctx, const struct configmap *map, struct err *err)
{
	const struct journal_origin *origin = ctx;
	cleanup_workload struct workload owner = {0};
	bool younger;

	if (!configmap_value(map, JOURNAL_MAP_KEY))
		return vouch_empty(origin, map, err);
	if (!origin->kube->owner)
		return refuse_map(map_mark_refuse_foreign, origin, map,
				  "has no mark " MAP_MARK_UID
				  ", and kubernetes.owner is none, so nothing tells who wrote it",
				  err);
	if (ask_owner(origin,
		      "the ConfigMap of the journal has no mark " MAP_MARK_UID
		      ", and its age is compared with that of the owner of the pod",
		      &owner, err) < 0)
		return -1;
	/* MUT: a journal without a mark is believed once there were marks */
	if (owner.journal_marked)
		return refuse_map(map_mark_refuse_foreign, origin, map,
				  "has no mark " MAP_MARK_UID
				  ", but the journal had one: it was deleted and made anew",
				  err);
	younger = owner.created_unix_ms >= 0 &&
		  map->created_unix_ms >= owner.created_unix_ms + SECOND;
	if (!younger)
		return refuse_map(
			map_mark_refuse_foreign, origin, map,
			"has no mark " MAP_MARK_UID
			" and was there before the owner of the pod: it is of an earlier installation, or of somebody else",
			err);
	return 0;
}

void journal_origin_note(struct journal_origin *origin)
{
	const struct setup_kube *kube = origin->kube;
	cleanup_workload struct workload owner = {0};
	int64_t now_ms = clock_mono_ms();

	if (origin->noted || !kube->owner || now_ms < origin->again_ms)
		return;
	origin->again_ms = now_ms + AGAIN_MS;
	if (read_owner(origin, NOTE_MS, &owner, NULL) < 0)
		return;
	origin->noted = owner.journal_marked;
	if (!origin->noted && !owner.deleting) {
		const struct workload_condition said = {
			.type = WORKLOAD_JOURNAL_MARKED,
			.status = "True",
			.reason = "Marked",
			.message =
				"the journal's ConfigMap has the mark of its object; one without it is refused",
			.since_unix_ms = clock_unix_ms(),
			.updated_unix_ms = clock_unix_ms(),
		};

		origin->noted =
			workload_apply_condition(origin->client, kube->owner_kind, kube->owner,
						 owner.uid, &said, NULL, NULL) == 0;
	}
}
