#include "run/journal/journal_map.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/backoff.h"
#include "base/json.h"
#include "base/mem.h"
#include "kube/map_mark.h"

#define ROUNDS         6 /* of one put(): another client may change the map's labels at the same time */
#define PAUSE_FIRST_MS 20
#define PAUSE_MOST_MS  500

struct journal_map {
	struct kube *kube;
	char *name, *application, *place;
	/* what is there, as far as we know */
	char *resource_version; /* NULL: there is none */
	int64_t sequence;       /* 0 = there was none */
	int64_t newest;         /* the highest that was read or written */
	char *writer;
	char *text; /* of that document; NULL = not known */
	char *seen;
	bool made;    /* the chart makes it */
	bool reading; /* one that is missing is none yet */
	journal_map_vouch *vouch;
	void *vouch_ctx;
	char *uid;     /* of the object with this version */
	bool marked;   /* with its own uid */
	bool applied;  /* the API server has the record that it was written */
	bool empty;    /* it is there without a journal */
	char *vouched; /* uid of one without a mark that is an earlier drey's */
};

struct journal_map *journal_map_new(struct kube *kube, const char *name, const char *application)
{
	struct journal_map *map = xcalloc(1, sizeof(*map));

	map->kube = kube;
	map->name = xstrdup(name);
	map->application = xstrdup(application);
	map->place = xasprintf("ConfigMap %s/%s", kube_namespace(kube), name);
	return map;
}

void journal_map_free(struct journal_map *map)
{
	if (!map)
		return;
	kube_free(map->kube);
	free(map->name);
	free(map->application);
	free(map->place);
	free(map->resource_version);
	free(map->writer);
	free(map->text);
	free(map->seen);
	free(map->uid);
	free(map->vouched);
	free(map);
}

void journal_map_stop(struct journal_map *map)
{
	kube_stop(map->kube);
}

void journal_map_made(struct journal_map *map, journal_map_vouch *vouch, void *ctx)
{
	map->made = true;
	map->vouch = vouch;
	map->vouch_ctx = ctx;
}

void journal_map_only_read(struct journal_map *map)
{
	map->reading = true;
}

bool journal_map_is_marked(const struct journal_map *map)
{
	return map->marked;
}

const char *journal_map_place(const struct journal_map *map)
{
	return map->place;
}

const char *journal_map_seen(const struct journal_map *map)
{
	return map->seen;
}

/* ---- what is there ---- */

/* Nothing was written yet, or it was emptied: what we know counts. */
static bool is_empty(const struct configmap *found)
{
	return !configmap_value(found, JOURNAL_MAP_KEY) && map_mark_says_empty(found);
}

/* May what is in it be believed? Whoever may only create maps cannot mark one with its own uid. */
static int trust(struct journal_map *map, const struct configmap *found, struct err *err)
{
	enum map_mark mark = map_mark_of(found);

	if (!map->made || mark == MAP_MARK_OWN || !configmap_value(found, JOURNAL_MAP_KEY))
		return 0;
	if (mark == MAP_MARK_OTHER)
		return map_mark_refuse_foreign(
			found, map->place,
			"has the mark of another object: it was deleted and made anew", err);
	if (xstris(map->vouched, found->uid))
		return 0;
	if (map->vouch(map->vouch_ctx, found, err) < 0)
		return -1;
	xstrset(&map->vouched, found->uid);
	return 0;
}

/* We know of nothing. Is it none yet? */
static int trust_empty(struct journal_map *map, const struct configmap *found, struct err *err)
{
	if (map_mark_of(found) == MAP_MARK_OWN) /* a person has emptied it, or drey has */
		return 0;
	if (map_mark_was_emptied(found))
		return map_mark_refuse_emptied(
			found, map->place,
			"was replaced as a whole, as by `helm upgrade --force` or `kubectl replace`",
			err);
	return map->made ? map->vouch(map->vouch_ctx, found, err) : 0;
}

static int decode(const struct journal_map *map, const struct configmap *found,
		  struct journal *ret_journal, struct err *err)
{
	const char *text = configmap_value(found, JOURNAL_MAP_KEY);

	if (!text)
		return err_set(err, ERR_FORMAT, 0,
			       "%s: no key '%s', so it is unknown whether the job has run before",
			       map->place, JOURNAL_MAP_KEY);
	if (journal_decode(text, strlen(text), ret_journal, err) < 0)
		return err_wrap(err, "%s, key '%s'", map->place, JOURNAL_MAP_KEY);
	return 0;
}

static void know(struct journal_map *map, const struct configmap *found)
{
	xstrset(&map->resource_version, found->resource_version);
	xstrset(&map->uid, found->uid);
	map->marked = map_mark_of(found) == MAP_MARK_OWN;
	map->applied = found->applied;
	map->empty = !configmap_value(found, JOURNAL_MAP_KEY);
	if (!map->empty) /* what was seen still counts when it was emptied */
		xstrset(&map->seen, configmap_value(found, JOURNAL_MAP_SEEN_KEY));
}

/* `text` may be NULL: only these two of it are known. */
static void know_document(struct journal_map *map, int64_t sequence, const char *writer,
			  const char *text)
{
	map->sequence = sequence;
	xstrset(&map->writer, writer);
	/* a backup that is about to be replaced does not make us forget what was stored before */
	if (text || sequence > map->newest)
		map->newest = sequence;
	if (text)
		xstrset(&map->text, text);
}

/* Is what was found there an earlier state of `text`, the newest that we know? */
static bool is_backup(const struct journal_map *map, const struct journal *found, const char *text)
{
	cleanup_journal struct journal ours = {0};

	if (!text || journal_decode(text, strlen(text), &ours, NULL) < 0)
		return false;
	return journal_is_backup(found, &ours, map->newest);
}

int journal_map_read(struct journal_map *map, struct journal *ret_journal, struct err *err)
{
	cleanup_configmap struct configmap found = {0};

	int there = configmap_find(map->kube, map->name, &found, NULL, err);

	if (there < 0)
		return -1;
	if (!there)
		return map->made && !map->reading
			       ? map_mark_refuse_missing(map->place, err)
			       : err_set(err, ERR_ABSENT, 0, "%s does not exist", map->place);
	if (is_empty(&found)) {
		if (trust_empty(map, &found, err) < 0)
			return -1;
		know(map, &found);
		return err_set(err, ERR_ABSENT, 0, "%s is empty: nothing was written to it yet",
			       map->place);
	}
	if (trust(map, &found, err) < 0 || decode(map, &found, ret_journal, err) < 0)
		return -1;
	know(map, &found);
	know_document(map, ret_journal->sequence, ret_journal->writer,
		      configmap_value(&found, JOURNAL_MAP_KEY));
	return 0;
}

/* ---- writing ---- */

static int create(struct journal_map *map, const char *text, struct configmap *ret, struct err *err)
{
	cleanup_configmap struct configmap fresh = {.name = xstrdup(map->name)};

	fresh.labels = configmap_labels(map->application, "journal");
	fresh.data = json_object();
	json_add_str(fresh.data, JOURNAL_MAP_KEY, text);
	/* one that has vanished: what was seen still counts */
	json_add_str_opt(fresh.data, JOURNAL_MAP_SEEN_KEY, map->seen);
	return configmap_create(map->kube, &fresh, ret, NULL, err);
}

/* A merge patch leaves alone what others have put there. */
static int patch(struct journal_map *map, const char *key, const char *text, struct configmap *ret,
		 struct err *err)
{
	cleanup_json struct json *body = json_object();
	struct json *metadata = json_add_object(body, "metadata");
	struct json *data = json_add_object(body, "data");

	/* MUT: the journal is patched without its version */
	json_add_str(metadata, "resourceVersion", map->resource_version);
	if (map->made && !map->marked)
		map_mark_add(metadata, map->uid);
	json_add_str(data, key, text);
	if (map->empty && map->seen)
		json_add_str(data, JOURNAL_MAP_SEEN_KEY, map->seen);
	else if (map->empty)
		json_add_null(data, JOURNAL_MAP_SEEN_KEY);
	return configmap_patch(map->kube, map->name, body, ret, NULL, err);
}

/* What is written into a map that is being deleted goes with it. */
static int refuse_deleting(const struct journal_map *map, struct err *err)
{
	return err_set(
		err, ERR_RETRY, 0,
		"%s is being deleted but has finalizers; remove them, then drey writes a new one",
		map->place);
}

static bool is_known(const struct journal_map *map, const struct journal *now)
{
	return map->sequence && now->sequence == map->sequence &&
	       !strcmp(now->writer ? now->writer : "", map->writer ? map->writer : "");
}

static int refuse_another(struct journal_map *map, const struct configmap *found,
			  const struct journal *now, struct err *err)
{
	if (trust(map, found, err) < 0) /* it was not written by a drey, and fences nobody */
		return -1;
	return err_set(err, ERR_BUSY, 0,
		       "%s was written by %s in the meantime (sequence %" PRId64
		       ", expected %" PRId64 ")",
		       map->place, now->writer ? now->writer : "another drey", now->sequence,
		       map->sequence);
}

static int refuse_nonsense(struct journal_map *map, const struct configmap *found,
			   const struct err *why, struct err *err)
{
	if (trust(map, found, err) < 0)
		return -1;
	return err_set(err, why->kind, 0,
		       "%s; it is not overwritten. %s, then drey writes it again", why->msg,
		       map->made ? "Empty it" : "Delete the ConfigMap");
}

int journal_map_check(struct journal_map *map, const char *writer, struct err *err)
{
	cleanup_configmap struct configmap found = {0};
	struct err why = {0};
	cleanup_journal struct journal now = {0};
	int there = configmap_find(map->kube, map->name, &found, NULL, err), result = 0;

	if (there < 0)
		return -1;
	if (!there) /* one that was never written is not missed */
		return map->sequence ? 1 : 0;
	if (map->resource_version && found.resource_version &&
	    !strcmp(map->resource_version, found.resource_version))
		return 0;
	if (is_empty(&found))
		return map->sequence ? 1 : 0;
	if (decode(map, &found, &now, &why) < 0)
		return refuse_nonsense(map, &found, &why, err);
	if (is_known(map, &now) ||
	    (now.sequence > map->sequence && now.writer && !strcmp(now.writer, writer)))
		result = 0;
	else if (is_backup(map, &now, map->text) || (now.writer && !strcmp(now.writer, writer)))
		result = 1;
	else
		result = refuse_another(map, &found, &now, err);
	return result;
}

/* Another client has written the map. 1: it has our document already; 0: try again; -1: not ours. */
static int look_again(struct journal_map *map, const char *text, int64_t sequence,
		      const char *writer, struct err *err)
{
	cleanup_configmap struct configmap found = {0};
	struct err why = {0};
	cleanup_journal struct journal now = {0};
	bool ours, known;
	int there = configmap_find(map->kube, map->name, &found, NULL, err), result;

	if (there < 0)
		return -1;
	if (!there) {
		xstrset(&map->resource_version, NULL);
		return map->made ? map_mark_refuse_missing(map->place, err) : 0;
	}
	if (is_empty(&found)) {
		know(map, &found);
		return 0;
	}
	if (decode(map, &found, &now, &why) < 0)
		return refuse_nonsense(map, &found, &why, err);
	ours = now.writer && !strcmp(now.writer, writer) && now.sequence <= sequence;
	known = is_known(map, &now);
	result = ours && now.sequence == sequence;
	if (ours || known || is_backup(map, &now, text))
		know(map, &found);
	else
		result = refuse_another(map, &found, &now, err);
	if (result >= 0)
		know_document(map, now.sequence, now.writer, NULL);
	if (result > 0 && found.deleting)
		result = refuse_deleting(map, err);
	return result;
}

/* It has our document. Nothing is done that relies on it before what replaces the whole map cannot make it look new. As
 * put_once(). */
static int witness(struct journal_map *map, struct err *err)
{
	cleanup_configmap struct configmap got = {0};
	struct err why = {0};

	if (!map->made || map->applied)
		return 1;
	if (configmap_apply(map->kube, map->name,
			    map_mark_witness(map->name, map->uid, map->resource_version, true),
			    &got, NULL, &why) < 0) {
		if (why.kind ==
		    ERR_BUSY) /* it was changed, or is another one: the next patch looks */
			return 0;
		return err_pass(err, &why);
	}
	know(map, &got);
	return 1;
}

static int look_and_witness(struct journal_map *map, const char *text, int64_t sequence,
			    const char *writer, struct err *err)
{
	int result = look_again(map, text, sequence, writer, err);

	return result > 0 ? witness(map, err) : result;
}

/* One try. 1: done; 0: try again; -1: failed. */
static int put_once(struct journal_map *map, const char *text, int64_t sequence, const char *writer,
		    struct err *err)
{
	cleanup_configmap struct configmap got = {0};
	struct err why = {0};
	int result;

	if (map->made && !map->resource_version) /* it may be there again */
		return look_and_witness(map, text, sequence, writer, err);
	result = map->resource_version ? patch(map, JOURNAL_MAP_KEY, text, &got, &why)
				       : create(map, text, &got, &why);
	if (result == 0) {
		know(map, &got);
		know_document(map, sequence, writer, text);
		return got.deleting ? refuse_deleting(map, err) : witness(map, err);
	}
	if (why.kind == ERR_BUSY)
		return look_and_witness(map, text, sequence, writer, err);
	if (why.kind == ERR_ABSENT && map->resource_version) {
		xstrset(&map->resource_version, NULL);
		return 0;
	}
	if (why.kind == ERR_ABSENT) /* of the namespace; there is nothing to be created in */
		why.kind = ERR_RETRY;
	return err_pass(err, &why);
}

int journal_map_put(struct journal_map *map, const char *text, size_t len_bytes, int64_t sequence,
		    const char *writer, struct err *err)
{
	cleanup_free char *copy = xstrndup(text, len_bytes);

	for (int round = 1; round <= ROUNDS; round++) {
		int result = put_once(map, copy, sequence, writer, err);

		if (result > 0)
			return 0;
		if (result < 0)
			return -1;
		if (kube_pause(map->kube, backoff_spread_ms(PAUSE_FIRST_MS, PAUSE_MOST_MS, round),
			       err) < 0)
			return -1;
	}
	return err_set(err, ERR_RETRY, 0, "%s is changed by others continuously", map->place);
}

/* All that is drey's in it, and the record that there was something: it may be replaced as a whole now. What others have put
 * there stays. */
static int empty(struct journal_map *map, struct configmap *ret, struct err *err)
{
	cleanup_json struct json *body = json_object();
	struct json *metadata = json_add_object(body, "metadata");
	struct json *data = json_add_object(body, "data");

	json_add_str(metadata, "resourceVersion", map->resource_version);
	if (!map->marked)
		map_mark_add(metadata, map->uid);
	json_add_null(data, JOURNAL_MAP_KEY);
	json_add_null(data, JOURNAL_MAP_SEEN_KEY);
	if (configmap_patch(map->kube, map->name, body, ret, NULL, err) < 0)
		return -1;
	if (ret->applied)
		(void)configmap_apply(
			map->kube, map->name,
			map_mark_witness(map->name, ret->uid, ret->resource_version, false), NULL,
			NULL, NULL);
	return 0;
}

int journal_map_remove(struct journal_map *map, struct err *err)
{
	cleanup_configmap struct configmap got = {0};
	struct err why = {0};
	int result = 0;

	if (map->resource_version && map->made)
		result = map->empty ? 0 : empty(map, &got, &why);
	else if (map->resource_version)
		result = configmap_delete(map->kube, map->name, NULL, map->resource_version, NULL,
					  &why);
	if (result < 0 && why.kind != ERR_ABSENT)
		return err_pass(err, &why);
	if (map->made)
		xstrset(&map->seen, NULL);
	xstrset(&map->resource_version, NULL);
	know_document(map, 0, NULL, NULL);
	return 0;
}

int journal_map_save_seen(struct journal_map *map, const char *text, struct err *err)
{
	for (int round = 1; round <= ROUNDS; round++) {
		cleanup_configmap struct configmap got = {0};
		struct err why = {0};

		if (!map->resource_version || map->empty) { /* it goes along with the first write */
			xstrset(&map->seen, text);
			return 0;
		}
		if (patch(map, JOURNAL_MAP_SEEN_KEY, text, &got, &why) == 0) {
			know(map, &got);
			return 0;
		}
		if (why.kind == ERR_ABSENT) {
			xstrset(&map->resource_version, NULL);
			continue;
		}
		if (why.kind != ERR_BUSY)
			return err_pass(err, &why);
		/* only what we know already is ours to stand beside */
		if (look_again(map, map->text, map->sequence, map->writer ? map->writer : "", err) <
		    0)
			return -1;
	}
	return err_set(err, ERR_RETRY, 0, "%s is changed by others continuously", map->place);
}
