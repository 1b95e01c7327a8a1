/* The journal in a ConfigMap that the chart makes: empty and marked; and what somebody else has put in its place. */
#include "run/journal/journal_map.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "http_stub.h"
#include "kube/map_mark.h"
#include "tests/unit/tap.h"

#define NAME "orders-drey-journal"
#define US   "orders-0/uid-1/a"
#define THEM "orders-0/uid-2/b"

/* An API server with room for one ConfigMap. */
struct world {
	struct http_stub *http;
	struct journal_map *map;
	pthread_mutex_t lock;
	bool there;
	char *uid;
	struct json *data, *annotations;
	int version;
	bool applied; /* the record of metadata.managedFields */
	int applies;
	int refuse_applies; /* so many, from now on */
	int creates, deletes, patches;
	char *patched; /* the last one */
	int vouched;   /* how often it was asked */
	bool vouch;    /* what is said then, of content */
	bool written;  /* of an empty one: it was written before */
};

/* ---- the server ---- */

static void answer_failure(struct http_stub_answer *answer, int code, const char *reason)
{
	answer->status = code;
	buf_addf(&answer->body,
		 "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":"
		 "\"Failure\",\"message\":\"%s\",\"reason\":\"%s\",\"details\":{\"name\":\"" NAME
		 "\",\"kind\":\"configmaps\"},\"code\":%d}",
		 reason, reason, code);
}

static void answer_map(const struct world *w, struct http_stub_answer *answer)
{
	cleanup_json struct json *object = json_object();
	struct json *metadata, *managers, *manager;
	char version[16];

	snprintf(version, sizeof(version), "%d", w->version);
	json_add_str(object, "kind", "ConfigMap");
	json_add_str(object, "apiVersion", "v1");
	metadata = json_add_object(object, "metadata");
	json_add_str(metadata, "name", NAME);
	json_add_str(metadata, "uid", w->uid);
	json_add_str(metadata, "resourceVersion", version);
	json_add(metadata, "annotations", json_copy(w->annotations));
	managers = json_add_array(metadata, "managedFields");
	json_add_str(manager = json_add_object(managers, NULL), "manager", "drey");
	json_add_str(manager, "operation", w->applied ? "Apply" : "Update");
	json_add(object, "data", json_copy(w->data));
	json_print_pretty(object, &answer->body);
}

/* RFC 7386, of an object of strings. */
static void merge(struct json **into, const struct json *from)
{
	struct json *merged = json_object();
	const struct json *child;

	json_each (child, *into)
		if (!json_get(from, json_name(child)))
			json_add_str(merged, json_name(child), json_text(child));
	json_each (child, from)
		if (json_text(child))
			json_add_str(merged, json_name(child), json_text(child));
	json_free(*into);
	*into = merged;
}

static void patch(struct world *w, const struct http_stub_request *request,
		  struct http_stub_answer *answer)
{
	cleanup_json struct json *body =
		json_parse(request->body, request->body_len_bytes, 1 << 20, NULL);
	const struct json *metadata = json_get(body, "metadata");
	const char *version = json_str(metadata, "resourceVersion");

	w->patches++;
	free(w->patched);
	w->patched = xstrndup(request->body, request->body_len_bytes);
	CHECK(version != NULL);
	if (!w->there) {
		answer_failure(answer, 404, "NotFound");
	} else if (!version || atoi(version) != w->version) {
		answer_failure(answer, 409, "Conflict");
	} else {
		merge(&w->data, json_get(body, "data"));
		merge(&w->annotations, json_get(metadata, "annotations"));
		w->version++;
		answer_map(w, answer);
	}
}

/* Server-side apply, which takes JSON as well. */
static void apply(struct world *w, const struct http_stub_request *request,
		  struct http_stub_answer *answer)
{
	cleanup_json struct json *body =
		json_parse(request->body, request->body_len_bytes, 1 << 20, NULL);
	const struct json *metadata = json_get(body, "metadata");

	w->applies++;
	CHECK_HAS(request->target, "?fieldManager=drey&force=true");
	if (w->refuse_applies > 0) {
		w->refuse_applies--;
		answer_failure(answer, 403, "Forbidden");
	} else if (!w->there || !xstrsame(json_str(metadata, "uid"), w->uid) ||
		   atoi(json_str(metadata, "resourceVersion")) != w->version) {
		answer_failure(answer, 409, "Conflict");
	} else {
		w->applied = json_get(metadata, "annotations") != NULL;
		merge(&w->annotations, json_get(metadata, "annotations"));
		w->version++;
		answer_map(w, answer);
	}
}

static void answer(void *ctx, const struct http_stub_request *request,
		   struct http_stub_answer *answer)
{
	struct world *w = ctx;

	pthread_mutex_lock(&w->lock);
	if (!strcmp(request->method, "PATCH") && strchr(request->target, '?')) {
		apply(w, request, answer);
	} else if (!strcmp(request->method, "PATCH")) {
		patch(w, request, answer);
	} else if (!strcmp(request->method, "GET") && w->there) {
		answer_map(w, answer);
	} else {
		w->creates += !strcmp(request->method, "POST");
		w->deletes += !strcmp(request->method, "DELETE");
		answer_failure(answer, 404, "NotFound");
	}
	pthread_mutex_unlock(&w->lock);
}

/* ---- what the chart, a person and a neighbour do ---- */

static void put_there(struct world *w, const char *uid)
{
	w->there = true;
	w->version += 100;
	w->applied = false;
	xstrset(&w->uid, uid);
	json_free(w->data);
	json_free(w->annotations);
	w->data = json_object();
	w->annotations = json_object();
}

static void chart_makes(struct world *w, const char *uid)
{
	put_there(w, uid);
	json_add_str(w->annotations, MAP_MARK_MADE, MAP_MARK_MADE_BY);
}

static char *document(int64_t sequence, const char *writer)
{
	struct journal journal;
	struct buf text = BUF_INIT;

	journal_init(&journal, "orders");
	journal.sequence = sequence;
	xstrset(&journal.writer, writer);
	CHECK_INT(journal_encode(&journal, &text, NULL), ==, 0);
	journal_release(&journal);
	return buf_steal(&text);
}

/* With every mark that can be known beforehand. */
static void neighbour_plants(struct world *w, const char *uid, const char *mark)
{
	cleanup_free char *text = document(7, THEM);

	chart_makes(w, uid);
	json_add_str(w->data, JOURNAL_MAP_KEY, text);
	json_add_str_opt(w->annotations, MAP_MARK_UID, mark);
}

/* By a person, who changes only that. */
static void emptied(struct world *w)
{
	json_free(w->data);
	w->data = json_object();
	w->version++;
}

/* By `helm upgrade --force`, `kubectl replace`: what the chart renders, and nothing else. The API server keeps its record. */
static void replaced(struct world *w)
{
	emptied(w);
	json_free(w->annotations);
	w->annotations = json_object();
	json_add_str(w->annotations, MAP_MARK_MADE, MAP_MARK_MADE_BY);
}

/* ---- a drey ---- */

static int vouch(void *ctx, const struct configmap *map, struct err *err)
{
	struct world *w = ctx;

	if (!configmap_value(map, JOURNAL_MAP_KEY))
		return w->written ? map_mark_refuse_emptied(map, "ConfigMap shop/" NAME,
							    "is another one", err)
				  : 0;
	w->vouched++;
	return w->vouch ? 0 : map_mark_refuse_foreign(map, "ConfigMap shop/" NAME, "is old", err);
}

static struct journal_map *connect_to(struct world *w)
{
	cleanup_free char *server = xasprintf("http://127.0.0.1:%d", http_stub_port(w->http));
	char name[] = "shop";
	struct kube_target config = {.server = server, .namespace = name};
	struct journal_map *map = journal_map_new(kube_new(&config, NULL), NAME, "orders");

	journal_map_made(map, vouch, w);
	return map;
}

static void world_begin(struct world *w)
{
	*w = (struct world){.version = 10};
	pthread_mutex_init(&w->lock, NULL);
	w->http = http_stub_new(answer, w);
	w->map = connect_to(w);
}

static void world_end(struct world *w)
{
	CHECK_INT(w->creates, ==, 0);
	CHECK_INT(w->deletes, ==, 0);
	journal_map_free(w->map);
	http_stub_free(w->http);
	pthread_mutex_destroy(&w->lock);
	free(w->uid);
	free(w->patched);
	json_free(w->data);
	json_free(w->annotations);
}

static struct err err;

static int read_as(struct journal_map *map)
{
	struct journal journal;

	err = (struct err){0};
	if (journal_map_read(map, &journal, &err) < 0)
		return -1;
	journal_release(&journal);
	return 0;
}

static int put_as(struct journal_map *map, int64_t sequence, const char *writer)
{
	cleanup_free char *text = document(sequence, writer);

	err = (struct err){0};
	return journal_map_put(map, text, strlen(text), sequence, writer, &err);
}

static int64_t stored(const struct world *w)
{
	const char *text = json_str(w->data, JOURNAL_MAP_KEY);
	struct journal journal;
	int64_t sequence;

	if (!text || journal_decode(text, strlen(text), &journal, NULL) < 0)
		return -1;
	sequence = journal.sequence;
	journal_release(&journal);
	return sequence;
}

#define WORLD_TEST(name) TEST_WITH(name, struct world, w, world_begin, world_end)

/* ---- the tests ---- */

WORLD_TEST(an_empty_one_of_the_chart_is_none_yet_and_the_first_write_marks_it)
{
	chart_makes(w, "u-1");
	CHECK_INT(read_as(w->map), ==, -1);
	CHECK_INT(err.kind, ==, ERR_ABSENT);
	CHECK_HAS(err.msg, "is empty");
	CHECK(!journal_map_is_marked(w->map));
	CHECK_INT(put_as(w->map, 1, US), ==, 0);
	CHECK_INT(stored(w), ==, 1);
	CHECK_STR(json_str(w->annotations, MAP_MARK_UID), "u-1");
	CHECK_STR(json_str(w->annotations, MAP_MARK_MADE), MAP_MARK_MADE_BY);
	CHECK(journal_map_is_marked(w->map));
	CHECK_INT(put_as(w->map, 2, US), ==, 0);
	CHECK(!strstr(w->patched, MAP_MARK_UID));
	CHECK_INT(read_as(w->map), ==, 0);
	CHECK_INT(w->vouched, ==, 0);
}

WORLD_TEST(two_that_find_it_empty_do_not_both_write)
{
	struct journal_map *other = connect_to(w);

	chart_makes(w, "u-1");
	CHECK_INT(read_as(w->map), ==, -1);
	CHECK_INT(read_as(other), ==, -1);
	CHECK_INT(put_as(w->map, 1, US), ==, 0);
	CHECK_INT(put_as(other, 1, THEM), ==, -1);
	CHECK_INT(err.kind, ==, ERR_BUSY);
	CHECK_INT(stored(w), ==, 1);
	journal_map_free(other);
}

WORLD_TEST(one_that_is_missing_is_no_absence_and_is_not_created)
{
	CHECK_INT(read_as(w->map), ==, -1);
	CHECK_INT(err.kind, ==, ERR_RETRY);
	CHECK_HAS(err.msg, "ConfigMap shop/" NAME " does not exist, and drey does not create it");
	CHECK_HAS(err.msg, "`helm upgrade`");
	/* while it runs: what it knows is kept until the chart has made another one */
	chart_makes(w, "u-1");
	CHECK_INT(read_as(w->map), ==, -1);
	CHECK_INT(put_as(w->map, 1, US), ==, 0);
	CHECK_INT(journal_map_save_seen(w->map, "{}", NULL), ==, 0);
	w->there = false;
	CHECK_INT(journal_map_check(w->map, US, &err), ==, 1);
	CHECK_INT(put_as(w->map, 2, US), ==, -1);
	CHECK_INT(err.kind, ==, ERR_RETRY);
	CHECK_INT(put_as(w->map, 3, US), ==, -1);
	CHECK_HAS(err.msg, "does not exist");
	chart_makes(w, "u-2");
	CHECK_INT(put_as(w->map, 4, US), ==, 0);
	CHECK_INT(stored(w), ==, 4);
	CHECK_STR(json_str(w->data, JOURNAL_MAP_SEEN_KEY), "{}");
	CHECK_STR(json_str(w->annotations, MAP_MARK_UID), "u-2");
}

WORLD_TEST(what_was_planted_is_not_read)
{
	neighbour_plants(w, "u-1", NULL);
	CHECK_INT(read_as(w->map), ==, -1);
	CHECK_INT(err.kind, ==, ERR_CONFIG);
	CHECK_INT(w->vouched, ==, 1);
	CHECK_HAS(err.msg, "`kubectl annotate --overwrite configmap " NAME " drey.dev/uid=u-1`");
	neighbour_plants(w, "u-2", "guessed");
	CHECK_INT(read_as(w->map), ==, -1);
	CHECK_INT(err.kind, ==, ERR_CONFIG);
	CHECK_HAS(err.msg, "has the mark of another object");
	CHECK_INT(w->vouched, ==, 1);
	/* a person takes the responsibility */
	neighbour_plants(w, "u-3", "u-3");
	CHECK_INT(read_as(w->map), ==, 0);
	/* or empties it: of the chart, or with its own mark */
	emptied(w);
	CHECK_INT(read_as(w->map), ==, -1);
	CHECK_INT(err.kind, ==, ERR_ABSENT);
}

WORLD_TEST(an_empty_one_of_nobody_is_not_believed)
{
	put_there(w, "u-1");
	CHECK_INT(read_as(w->map), ==, -1);
	CHECK_INT(err.kind, ==, ERR_FORMAT);
	CHECK_HAS(err.msg, "no key 'journal.json'");
}

WORLD_TEST(that_of_an_earlier_drey_is_asked_about_once_and_marked)
{
	w->vouch = true;
	neighbour_plants(w, "u-1", NULL);
	CHECK_INT(read_as(w->map), ==, 0);
	CHECK_INT(read_as(w->map), ==, 0);
	CHECK_INT(w->vouched, ==, 1);
	CHECK(!journal_map_is_marked(w->map));
	CHECK_INT(put_as(w->map, 8, US), ==, 0);
	CHECK_STR(json_str(w->annotations, MAP_MARK_UID), "u-1");
	CHECK(journal_map_is_marked(w->map));
	w->vouch = false;
	CHECK_INT(read_as(w->map), ==, 0);
}

WORLD_TEST(what_is_planted_while_it_runs_fences_nobody)
{
	chart_makes(w, "u-1");
	CHECK_INT(read_as(w->map), ==, -1);
	CHECK_INT(put_as(w->map, 1, US), ==, 0);
	neighbour_plants(w, "u-2", NULL);
	err = (struct err){0};
	CHECK_INT(journal_map_check(w->map, US, &err), ==, -1);
	CHECK_INT(err.kind, ==, ERR_CONFIG);
	CHECK_INT(put_as(w->map, 2, US), ==, -1);
	CHECK_INT(err.kind, ==, ERR_CONFIG);
	CHECK_INT(stored(w), ==, 7);
	/* what cannot be read, too */
	json_free(w->data);
	w->data = json_object();
	json_add_str(w->data, JOURNAL_MAP_KEY, "{");
	w->version++;
	CHECK_INT(put_as(w->map, 3, US), ==, -1);
	CHECK_INT(err.kind, ==, ERR_CONFIG);
	/* until somebody empties it */
	emptied(w);
	CHECK_INT(put_as(w->map, 4, US), ==, 0);
	CHECK_INT(stored(w), ==, 4);
}

WORLD_TEST(a_backup_of_ours_under_another_uid_is_replaced)
{
	cleanup_free char *text = document(1, US);

	chart_makes(w, "u-1");
	CHECK_INT(read_as(w->map), ==, -1);
	CHECK_INT(put_as(w->map, 1, US), ==, 0);
	CHECK_INT(put_as(w->map, 2, US), ==, 0);
	chart_makes(w, "u-2");
	json_add_str(w->data, JOURNAL_MAP_KEY, text);
	json_add_str(w->annotations, MAP_MARK_UID, "u-1");
	CHECK_INT(put_as(w->map, 3, US), ==, 0);
	CHECK_INT(stored(w), ==, 3);
	CHECK_STR(json_str(w->annotations, MAP_MARK_UID), "u-2");
}

WORLD_TEST(one_that_is_emptied_while_it_runs_is_written_again_with_what_was_seen)
{
	chart_makes(w, "u-1");
	CHECK_INT(read_as(w->map), ==, -1);
	CHECK_INT(put_as(w->map, 1, US), ==, 0);
	CHECK_INT(journal_map_save_seen(w->map, "{\"a\":1}", NULL), ==, 0);
	emptied(w);
	CHECK_INT(journal_map_check(w->map, US, &err), ==, 1);
	CHECK_INT(put_as(w->map, 2, US), ==, 0);
	CHECK_INT(stored(w), ==, 2);
	CHECK_STR(json_str(w->data, JOURNAL_MAP_SEEN_KEY), "{\"a\":1}");
}

WORLD_TEST(what_was_seen_is_not_written_before_there_is_a_journal)
{
	chart_makes(w, "u-1");
	json_add_str(w->data, JOURNAL_MAP_SEEN_KEY, "{\"old\":1}");
	CHECK_INT(read_as(w->map), ==, -1);
	CHECK(!journal_map_seen(w->map));
	CHECK_INT(journal_map_save_seen(w->map, "{\"a\":1}", NULL), ==, 0);
	CHECK_INT(w->patches, ==, 0);
	CHECK_INT(put_as(w->map, 1, US), ==, 0);
	CHECK_STR(json_str(w->data, JOURNAL_MAP_SEEN_KEY), "{\"a\":1}");
	emptied(w);
	json_add_str(w->data, JOURNAL_MAP_SEEN_KEY, "{\"old\":1}");
	{
		struct journal_map *next = connect_to(w);

		CHECK_INT(read_as(next), ==, -1);
		CHECK_INT(put_as(next, 1, THEM), ==, 0);
		CHECK(!json_str(w->data, JOURNAL_MAP_SEEN_KEY));
		journal_map_free(next);
	}
}

WORLD_TEST(that_of_a_candidate_is_emptied_and_not_deleted)
{
	chart_makes(w, "u-1");
	json_add_str(w->data, "of-another", "1");
	CHECK_INT(read_as(w->map), ==, -1);
	CHECK_INT(journal_map_remove(w->map, &err), ==, 0);
	CHECK_INT(w->patches, ==, 0);
	CHECK_INT(read_as(w->map), ==, -1);
	CHECK_INT(put_as(w->map, 1, US), ==, 0);
	CHECK_INT(journal_map_save_seen(w->map, "{}", NULL), ==, 0);
	w->version++;
	CHECK_INT(journal_map_remove(w->map, &err), ==, -1);
	CHECK_INT(err.kind, ==, ERR_BUSY);
	CHECK_INT(read_as(w->map), ==, 0);
	CHECK_INT(journal_map_remove(w->map, &err), ==, 0);
	CHECK_INT(json_len(w->data), ==, 1);
	/* it may be replaced as a whole until the next one */
	CHECK(!w->applied);
	replaced(w);
	CHECK_INT(read_as(w->map), ==, -1);
	CHECK_INT(err.kind, ==, ERR_ABSENT);
	CHECK_INT(put_as(w->map, 1, THEM), ==, 0);
	CHECK_INT(stored(w), ==, 1);
	CHECK(!json_str(w->data, JOURNAL_MAP_SEEN_KEY));
	w->there = false;
	CHECK_INT(journal_map_remove(w->map, &err), ==, 0);
}

WORLD_TEST(one_that_is_replaced_as_a_whole_while_it_runs_is_written_again)
{
	chart_makes(w, "u-1");
	CHECK_INT(read_as(w->map), ==, -1);
	CHECK_INT(put_as(w->map, 1, US), ==, 0);
	CHECK(w->applied);
	CHECK_INT(journal_map_save_seen(w->map, "{\"a\":1}", NULL), ==, 0);
	replaced(w);
	CHECK_INT(journal_map_check(w->map, US, &err), ==, 1);
	CHECK_INT(put_as(w->map, 2, US), ==, 0);
	CHECK_INT(stored(w), ==, 2);
	CHECK_STR(json_str(w->data, JOURNAL_MAP_SEEN_KEY), "{\"a\":1}");
	CHECK_STR(json_str(w->annotations, MAP_MARK_UID), "u-1");
	CHECK_INT(w->applies, ==, 1);
}

WORLD_TEST(one_that_was_replaced_as_a_whole_is_not_none_yet)
{
	struct journal_map *next;

	chart_makes(w, "u-1");
	CHECK_INT(read_as(w->map), ==, -1);
	CHECK_INT(put_as(w->map, 1, US), ==, 0);
	replaced(w);
	next = connect_to(w);
	CHECK_INT(read_as(next), ==, -1);
	CHECK_INT(err.kind, ==, ERR_RETRY);
	CHECK_HAS(err.msg, "ConfigMap shop/" NAME " is empty, but drey has written to it");
	CHECK_HAS(err.msg, "`kubectl annotate --overwrite configmap " NAME " drey.dev/uid=u-1`");
	/* a person says that it is meant */
	json_add_str(w->annotations, MAP_MARK_UID, "u-1");
	w->version++;
	CHECK_INT(read_as(next), ==, -1);
	CHECK_INT(err.kind, ==, ERR_ABSENT);
	CHECK_INT(put_as(next, 1, THEM), ==, 0);
	CHECK_INT(stored(w), ==, 1);
	journal_map_free(next);
}

WORLD_TEST(nor_is_one_of_which_the_owner_of_the_pod_says_that_it_was_written)
{
	chart_makes(w, "u-2");
	w->written = true;
	CHECK_INT(read_as(w->map), ==, -1);
	CHECK_INT(err.kind, ==, ERR_RETRY);
	CHECK_HAS(err.msg, "it is another one");
	CHECK_INT(w->patches, ==, 0);
}

WORLD_TEST(a_write_counts_when_the_record_of_it_is_there)
{
	struct journal_map *other = connect_to(w);

	chart_makes(w, "u-1");
	CHECK_INT(read_as(w->map), ==, -1);
	w->refuse_applies = 1;
	CHECK_INT(put_as(w->map, 1, US), ==, -1);
	CHECK_INT(err.kind, ==, ERR_DENIED);
	CHECK_INT(stored(w), ==, 1);
	/* once more: our document is there already */
	CHECK_INT(put_as(w->map, 1, US), ==, 0);
	CHECK(w->applied);
	/* another client was faster than the record */
	w->applied = false;
	CHECK_INT(read_as(w->map), ==, 0);
	CHECK_INT(read_as(other), ==, 0);
	CHECK_INT(put_as(other, 2, THEM), ==, 0);
	CHECK_INT(put_as(w->map, 2, US), ==, -1);
	CHECK_INT(err.kind, ==, ERR_BUSY);
	journal_map_free(other);
}

WORLD_TEST(for_what_only_reads_one_that_is_missing_is_none_yet)
{
	journal_map_only_read(w->map);
	CHECK_INT(read_as(w->map), ==, -1);
	CHECK_INT(err.kind, ==, ERR_ABSENT);
}
