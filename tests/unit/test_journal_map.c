#include "run/journal/journal_map.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "http_stub.h"
#include "tests/unit/tap.h"

#define PATH "/api/v1/namespaces/shop/configmaps"
#define NAME "orders-drey-journal"
#define US   "orders-0/uid-1/a"
#define THEM "orders-0/uid-2/b"

/* What the next change meets, once. */
enum fault {
	NO_FAULT,
	LOST_BEFORE, /* the connection breaks, nothing is done */
	LOST_AFTER,  /* it is done, the connection breaks */
	TOUCHED,     /* somebody changes a label just before */
	TAKEN,       /* another drey writes just before */
	DELETED,     /* it is deleted just before */
	REFUSED,     /* an admission rule says no */
	UNAVAILABLE, /* 503 */
	STORM,       /* TOUCHED, every time */
};

/* An API server with room for one ConfigMap, and a drey. */
struct world {
	struct http_stub *http;
	struct journal_map *map;
	pthread_mutex_t lock;
	char *journal, *seen, *labels; /* journal NULL and !keyless: there is no map */
	bool keyless;                  /* the map is there, without a journal in it */
	int version;
	enum fault fault;
	bool deleting, ending; /* the map; the namespace */
	int creates, patches, gets;
};

/* ---- the server ---- */

static void answer_failure(struct http_stub_answer *answer, int code, const char *reason,
			   const char *message)
{
	answer->status = code;
	buf_addf(&answer->body,
		 "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":"
		 "\"Failure\",\"message\":\"%s\",\"reason\":\"%s\",\"details\":{\"name\":\"" NAME
		 "\",\"kind\":\"configmaps\"},\"code\":%d}",
		 message, reason, code);
}

static void answer_map(const struct world *w, struct http_stub_answer *answer)
{
	cleanup_json struct json *object = json_object();
	struct json *metadata, *data;
	char version[16];

	json_add_str(object, "kind", "ConfigMap");
	json_add_str(object, "apiVersion", "v1");
	metadata = json_add_object(object, "metadata");
	json_add_str(metadata, "name", NAME);
	json_add_str(metadata, "uid", "u-1");
	snprintf(version, sizeof(version), "%d", w->version);
	json_add_str(metadata, "resourceVersion", version);
	if (w->deleting)
		json_add_str(metadata, "deletionTimestamp", "2026-11-21T12:00:00Z");
	data = json_add_object(object, "data");
	json_add_str_opt(data, JOURNAL_MAP_KEY, w->journal);
	json_add_str_opt(data, JOURNAL_MAP_SEEN_KEY, w->seen);
	json_print_pretty(object, &answer->body);
}

static char *document(int64_t sequence, const char *writer, const char *application)
{
	struct journal journal;
	struct buf text = BUF_INIT;

	journal_init(&journal, application);
	journal.sequence = sequence;
	xstrset(&journal.writer, writer);
	CHECK_INT(journal_encode(&journal, &text, NULL), ==, 0);
	journal_release(&journal);
	return buf_steal(&text);
}

static void meet(struct world *w)
{
	if (w->fault == TOUCHED || w->fault == STORM)
		w->version++;
	if (w->fault == TAKEN) {
		free(w->journal);
		w->journal = document(7, THEM, "orders");
		w->version++;
	}
	if (w->fault == DELETED)
		xstrset(&w->journal, NULL);
	if (w->fault != STORM && w->fault != LOST_BEFORE && w->fault != LOST_AFTER &&
	    w->fault != REFUSED && w->fault != UNAVAILABLE)
		w->fault = NO_FAULT;
}

static void take_data(struct world *w, const struct json *body)
{
	const char *journal = json_str(json_get(body, "data"), JOURNAL_MAP_KEY);
	const char *seen = json_str(json_get(body, "data"), JOURNAL_MAP_SEEN_KEY);

	if (journal)
		xstrset(&w->journal, journal);
	if (seen)
		xstrset(&w->seen, seen);
	w->version++;
}

static void create(struct world *w, const struct json *body, struct http_stub_answer *answer)
{
	cleanup_buf struct buf labels = BUF_INIT;

	w->creates++;
	if (w->ending) {
		answer_failure(
			answer, 403, "Forbidden",
			"unable to create new content in namespace shop because it is being terminated");
	} else if (w->journal) {
		answer_failure(answer, 409, "AlreadyExists", "already exists");
	} else {
		json_print_pretty(json_get(json_get(body, "metadata"), "labels"), &labels);
		xstrset(&w->labels, buf_str(&labels));
		CHECK(!json_get(json_get(body, "metadata"), "ownerReferences"));
		take_data(w, body);
		answer_map(w, answer);
	}
}

static void patch(struct world *w, const struct json *body, struct http_stub_answer *answer)
{
	const char *version = json_str(json_get(body, "metadata"), "resourceVersion");

	w->patches++;
	CHECK(version != NULL);
	if (!w->journal) {
		answer_failure(answer, 404, "NotFound", "not found");
	} else if (!version || atoi(version) != w->version) {
		answer_failure(answer, 409, "Conflict", "the object has been modified");
	} else {
		take_data(w, body);
		answer_map(w, answer);
	}
}

static void remove_map(struct world *w, const struct json *body, struct http_stub_answer *answer)
{
	const char *version = json_str(json_get(body, "preconditions"), "resourceVersion");

	CHECK(version != NULL);
	if (!w->journal) {
		answer_failure(answer, 404, "NotFound", "not found");
	} else if (!version || atoi(version) != w->version) {
		answer_failure(answer, 409, "Conflict", "the precondition does not hold");
	} else {
		xstrset(&w->journal, NULL);
		answer_map(w, answer);
	}
}

static void answer_change(struct world *w, const struct http_stub_request *request,
			  struct http_stub_answer *answer)
{
	cleanup_json struct json *body =
		json_parse(request->body, request->body_len_bytes, 1 << 20, NULL);
	enum fault fault = w->fault;

	meet(w);
	if (fault == REFUSED || fault == UNAVAILABLE || fault == LOST_BEFORE) {
		w->fault = NO_FAULT;
		answer->reset = fault == LOST_BEFORE;
		if (fault == REFUSED)
			answer_failure(answer, 422, "Invalid", "policy 'no-journals' says no");
		if (fault == UNAVAILABLE)
			answer_failure(answer, 503, "ServiceUnavailable", "etcd is away");
		return;
	}
	if (!strcmp(request->method, "POST"))
		create(w, body, answer);
	else if (!strcmp(request->method, "DELETE"))
		remove_map(w, body, answer);
	else
		patch(w, body, answer);
	if (fault == LOST_AFTER) {
		w->fault = NO_FAULT;
		answer->reset = true;
	}
}

static void answer(void *ctx, const struct http_stub_request *request,
		   struct http_stub_answer *answer)
{
	struct world *w = ctx;

	pthread_mutex_lock(&w->lock);
	if (strcmp(request->method, "GET") != 0) {
		answer_change(w, request, answer);
	} else {
		w->gets++;
		CHECK_STR(request->target, PATH "/" NAME);
		if (w->journal || w->keyless)
			answer_map(w, answer);
		else
			answer_failure(answer, 404, "NotFound", "not found");
	}
	pthread_mutex_unlock(&w->lock);
}

/* ---- a drey ---- */

static struct journal_map *connect_to(const struct world *w)
{
	cleanup_free char *server = xasprintf("http://127.0.0.1:%d", http_stub_port(w->http));
	char name[] = "shop";
	struct kube_target config = {.server = server, .namespace = name};

	return journal_map_new(kube_new(&config, NULL), NAME, "orders");
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
	journal_map_free(w->map);
	http_stub_free(w->http);
	pthread_mutex_destroy(&w->lock);
	free(w->journal);
	free(w->seen);
	free(w->labels);
}

static struct err err;

static int read_as(struct journal_map *map, int64_t *ret_sequence)
{
	struct journal journal;

	err = (struct err){0};
	if (journal_map_read(map, &journal, &err) < 0)
		return -1;
	*ret_sequence = journal.sequence;
	journal_release(&journal);
	return 0;
}

static int put_as(struct journal_map *map, int64_t sequence, const char *writer)
{
	cleanup_free char *text = document(sequence, writer, "orders");

	err = (struct err){0};
	return journal_map_put(map, text, strlen(text), sequence, writer, &err);
}

static int64_t stored(const struct world *w)
{
	struct journal journal;
	int64_t sequence;

	http_stub_settle(w->http); /* the answer may have been lost */
	if (!w->journal || journal_decode(w->journal, strlen(w->journal), &journal, NULL) < 0)
		return -1;
	sequence = journal.sequence;
	journal_release(&journal);
	return sequence;
}

/* ---- the tests ---- */

#define WORLD_TEST(name) TEST_WITH(name, struct world, w, world_begin, world_end)

WORLD_TEST(the_first_write_creates_it_and_the_next_ones_replace_it)
{
	int64_t sequence = 0;

	CHECK_INT(read_as(w->map, &sequence), ==, -1);
	CHECK_INT(err.kind, ==, ERR_ABSENT);
	CHECK_INT(put_as(w->map, 1, US), ==, 0);
	CHECK_INT(put_as(w->map, 2, US), ==, 0);
	CHECK_INT(stored(w), ==, 2);
	CHECK_INT(w->creates, ==, 1);
	CHECK_INT(w->patches, ==, 1);
	CHECK_INT(w->gets, ==, 1);
	CHECK_HAS(w->labels, "\"app.kubernetes.io/managed-by\": \"drey\"");
	CHECK_HAS(w->labels, "\"app.kubernetes.io/instance\": \"orders\"");
	CHECK_HAS(w->labels, "\"app.kubernetes.io/component\": \"journal\"");
	CHECK_STR(journal_map_place(w->map), "ConfigMap shop/" NAME);
	CHECK_INT(read_as(w->map, &sequence), ==, 0);
	CHECK_INT(sequence, ==, 2);
}

TEST(a_write_whose_answer_was_lost_is_recognised)
{
	int64_t sequence;
	struct world w;

	for (int created = 0; created < 2; created++)
		for (int after = 0; after < 2; after++) {
			world_begin(&w);
			if (created) {
				(void)put_as(w.map, 1, US);
				CHECK_INT(read_as(w.map, &sequence), ==, 0);
			}
			w.fault = after ? LOST_AFTER : LOST_BEFORE;
			/* libcurl sends a patch again on another connection: its version is old if the
			 * first one was taken, and what is stored is ours */
			CHECK_INT(put_as(w.map, created + 1, US), ==, created ? 0 : -1);
			CHECK_INT(err.kind, ==, created ? ERR_NONE : ERR_RETRY);
			CHECK_INT(stored(&w), ==, after || created ? created + 1 : -1);
			/* the life cycle tries again with the next number */
			CHECK_INT(put_as(w.map, created + 2, US), ==, 0);
			CHECK_INT(stored(&w), ==, created + 2);
			CHECK_INT(put_as(w.map, created + 3, US), ==, 0);
			world_end(&w);
		}
}

WORLD_TEST(a_change_of_something_else_is_no_conflict)
{
	CHECK_INT(put_as(w->map, 1, US), ==, 0);
	w->fault = TOUCHED;
	CHECK_INT(put_as(w->map, 2, US), ==, 0);
	CHECK_INT(stored(w), ==, 2);
	w->fault = STORM;
	CHECK_INT(put_as(w->map, 3, US), ==, -1);
	CHECK_INT(err.kind, ==, ERR_RETRY);
	CHECK_HAS(err.msg, "changed by others continuously");
	CHECK_INT(stored(w), ==, 2);
	w->fault = NO_FAULT;
	CHECK_INT(put_as(w->map, 4, US), ==, 0);
}

WORLD_TEST(another_writer_ends_it)
{
	int64_t sequence;
	struct journal_map *other;

	other = connect_to(w);
	/* the race for the first write */
	CHECK_INT(read_as(w->map, &sequence), ==, -1);
	CHECK_INT(read_as(other, &sequence), ==, -1);
	CHECK_INT(put_as(w->map, 1, US), ==, 0);
	CHECK_INT(put_as(other, 1, THEM), ==, -1);
	CHECK_INT(err.kind, ==, ERR_BUSY);
	CHECK_HAS(err.msg, "was written by " US " in the meantime");
	/* taken over: the one before is the one to stop */
	CHECK_INT(read_as(other, &sequence), ==, 0);
	CHECK_INT(put_as(other, 2, THEM), ==, 0);
	CHECK_INT(put_as(w->map, 2, US), ==, -1);
	CHECK_INT(err.kind, ==, ERR_BUSY);
	CHECK_INT(put_as(w->map, 3, US), ==, -1);
	CHECK_INT(err.kind, ==, ERR_BUSY);
	CHECK_INT(stored(w), ==, 2);
	journal_map_free(other);
}

static int check_as(struct journal_map *map, const char *writer)
{
	err = (struct err){0};
	return journal_map_check(map, writer, &err);
}

WORLD_TEST(another_writer_is_seen_without_a_write_of_our_own)
{
	struct journal_map *other;
	int64_t sequence;

	other = connect_to(w);
	CHECK_INT(check_as(w->map, US), ==, 0); /* there is none yet */
	CHECK_INT(put_as(w->map, 1, US), ==, 0);
	CHECK_INT(check_as(w->map, US), ==, 0);
	CHECK_INT(read_as(other, &sequence), ==, 0); /* reading takes nothing */
	CHECK_INT(check_as(w->map, US), ==, 0);
	CHECK_INT(put_as(other, 2, THEM), ==, 0);
	CHECK_INT(check_as(w->map, US), ==, -1);
	CHECK_INT(err.kind, ==, ERR_BUSY);
	CHECK_HAS(err.msg, "was written by " THEM " in the meantime");
	CHECK_INT(check_as(other, THEM), ==, 0);
	/* a write of ours whose answer was lost */
	free(w->journal);
	w->journal = document(2, US, "orders");
	w->version++;
	CHECK_INT(check_as(w->map, US), ==, 0);
	/* what cannot be understood, or is not there, is nobody's */
	free(w->journal);
	w->journal = xstrdup("{");
	w->version++;
	CHECK_INT(check_as(w->map, US), ==, -1);
	CHECK_INT(err.kind, ==, ERR_FORMAT);
	journal_map_free(other);
}

/* Two may come to the same number; who wrote it is what counts. */
WORLD_TEST(the_same_number_of_another_writer_is_not_ours)
{
	CHECK_INT(put_as(w->map, 1, US), ==, 0);
	CHECK_INT(put_as(w->map, 2, US), ==, 0);
	free(w->journal);
	w->journal = document(2, THEM, "orders");
	w->version++;
	CHECK_INT(check_as(w->map, US), ==, -1);
	CHECK_INT(err.kind, ==, ERR_BUSY);
	CHECK_INT(put_as(w->map, 3, US), ==, -1);
	CHECK_INT(err.kind, ==, ERR_BUSY);
	CHECK_INT(stored(w), ==, 2);
}

WORLD_TEST(one_that_was_taken_before_any_write_of_ours)
{
	int64_t sequence;

	w->journal = document(6, "orders-0/uid-0/z", "orders");
	CHECK_INT(read_as(w->map, &sequence), ==, 0);
	w->fault = TAKEN;
	CHECK_INT(put_as(w->map, 7, US), ==, -1);
	CHECK_INT(err.kind, ==, ERR_BUSY);
	CHECK_HAS(err.msg, THEM);
}

WORLD_TEST(one_that_vanishes_is_written_again_with_what_was_seen)
{
	CHECK_INT(put_as(w->map, 1, US), ==, 0);
	CHECK_INT(journal_map_save_seen(w->map, "{\"seen\":1}", &err), ==, 0);
	CHECK_STR(w->seen, "{\"seen\":1}");
	w->fault = DELETED;
	xstrset(&w->seen, NULL);
	CHECK_INT(put_as(w->map, 2, US), ==, 0);
	CHECK_INT(stored(w), ==, 2);
	CHECK_STR(w->seen, "{\"seen\":1}");
	CHECK_INT(w->creates, ==, 2);
	/* deleted, and written by another one since */
	w->fault = DELETED;
	CHECK_INT(put_as(w->map, 3, US), ==, 0);
}

WORLD_TEST(what_goes_with_the_map_is_not_durable)
{
	CHECK_INT(put_as(w->map, 1, US), ==, 0);
	w->deleting = true;
	for (int i = 2; i < 4; i++) {
		CHECK_INT(put_as(w->map, i, US), ==, -1);
		CHECK_INT(err.kind, ==, ERR_RETRY);
		CHECK_HAS(err.msg, "is being deleted but has finalizers; remove them");
	}
	/* the finalizers are gone, and so is the map */
	w->deleting = false;
	w->fault = DELETED;
	CHECK_INT(put_as(w->map, 4, US), ==, 0);
	CHECK_INT(stored(w), ==, 4);
}

TEST(nonsense_is_never_overwritten)
{
	static const struct {
		const char *text;
		enum err_kind kind;
		const char *says;
	} cases[] = {
		{"{}", ERR_FORMAT, "key 'journal.json': journal: "},
		{"", ERR_FORMAT, "key 'journal.json': journal: "},
		{"{\"schema\": 99, \"application\": \"orders\", \"sequence\": 1}", ERR_CONFIG,
		 "written by a newer drey (schema 99"},
	};
	int64_t sequence;
	struct world w;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		world_begin(&w);
		CHECK_INT(put_as(w.map, 1, US), ==, 0);
		xstrset(&w.journal, cases[i].text);
		w.version++;
		CHECK_INT(put_as(w.map, 2, US), ==, -1);
		CHECK_INT(err.kind, ==, cases[i].kind);
		CHECK_HAS(err.msg, cases[i].says);
		CHECK_HAS(err.msg, "it is not overwritten. Delete the ConfigMap, then drey writes");
		CHECK_STR(w.journal, cases[i].text);
		CHECK_INT(read_as(w.map, &sequence), ==, -1);
		CHECK_INT(err.kind, ==, cases[i].kind);
		/* which is the way out */
		xstrset(&w.journal, NULL);
		CHECK_INT(put_as(w.map, 3, US), ==, 0);
		CHECK_INT(stored(&w), ==, 3);
		world_end(&w);
	}
}

WORLD_TEST(a_map_without_the_key_is_not_absence)
{
	int64_t sequence;

	w->keyless = true;
	CHECK_INT(read_as(w->map, &sequence), ==, -1);
	CHECK_INT(err.kind, ==, ERR_FORMAT);
	CHECK_HAS(err.msg, "no key 'journal.json'");
}

WORLD_TEST(a_refusal_says_what_the_server_said)
{
	CHECK_INT(put_as(w->map, 1, US), ==, 0);
	w->fault = REFUSED;
	CHECK_INT(put_as(w->map, 2, US), ==, -1);
	CHECK_INT(err.kind, ==, ERR_CONFIG);
	CHECK_HAS(err.msg, "policy 'no-journals' says no");
	w->fault = UNAVAILABLE;
	CHECK_INT(put_as(w->map, 2, US), ==, -1);
	CHECK_INT(err.kind, ==, ERR_RETRY);
	CHECK_HAS(err.msg, "etcd is away");
	CHECK_INT(put_as(w->map, 3, US), ==, 0);
	/* the namespace goes, and the map with it */
	xstrset(&w->journal, NULL);
	w->ending = true;
	CHECK_INT(put_as(w->map, 4, US), ==, -1);
	CHECK_INT(err.kind, ==, ERR_DENIED);
	CHECK_HAS(err.msg, "because it is being terminated");
}

/* A backup of the cluster was put back while we ran: what we know is newer. */
WORLD_TEST(an_older_document_of_ours_is_replaced)
{
	for (int i = 1; i < 5; i++)
		CHECK_INT(put_as(w->map, i, US), ==, 0);
	free(w->journal);
	w->journal = document(2, US, "orders");
	w->version = 3;
	CHECK_INT(put_as(w->map, 5, US), ==, 0);
	CHECK_INT(stored(w), ==, 5);
}

WORLD_TEST(what_was_seen_stands_beside_our_own_document_only)
{
	int64_t sequence;
	struct journal_map *other;

	/* before there is a map: it goes along with it */
	CHECK_INT(journal_map_save_seen(w->map, "{\"seen\":0}", &err), ==, 0);
	CHECK(!w->seen);
	CHECK_INT(put_as(w->map, 1, US), ==, 0);
	CHECK_STR(w->seen, "{\"seen\":0}");
	w->fault = TOUCHED;
	CHECK_INT(journal_map_save_seen(w->map, "{\"seen\":1}", &err), ==, 0);
	CHECK_STR(w->seen, "{\"seen\":1}");
	CHECK_INT(stored(w), ==, 1);
	w->fault = LOST_AFTER;
	CHECK_INT(journal_map_save_seen(w->map, "{\"seen\":2}", &err), ==, 0);
	CHECK_STR(w->seen, "{\"seen\":2}");
	CHECK_INT(put_as(w->map, 2, US), ==, 0);
	other = connect_to(w);
	CHECK_INT(read_as(other, &sequence), ==, 0);
	CHECK_STR(journal_map_seen(other), "{\"seen\":2}");
	CHECK_INT(put_as(other, 3, THEM), ==, 0);
	err = (struct err){0};
	CHECK_INT(journal_map_save_seen(w->map, "{\"seen\":3}", &err), ==, -1);
	CHECK_INT(err.kind, ==, ERR_BUSY);
	CHECK_STR(w->seen, "{\"seen\":2}");
	journal_map_free(other);
}

/* What another drey of ours has written, before ours took over. */
static int put_after(struct journal_map *map, int64_t sequence)
{
	struct journal journal;
	cleanup_buf struct buf text = BUF_INIT;

	journal_init(&journal, "orders");
	journal.sequence = sequence;
	xstrset(&journal.writer, "orders-0/uid-0/z");
	journal_take_over(&journal, US);
	CHECK_INT(journal_encode(&journal, &text, NULL), ==, 0);
	journal_release(&journal);
	err = (struct err){0};
	return journal_map_put(map, text.data, text.len_bytes, sequence, US, &err);
}

WORLD_TEST(a_backup_of_an_older_writer_is_replaced)
{
	CHECK_INT(put_after(w->map, 5), ==, 0);
	free(w->journal);
	w->journal = document(3, "orders-0/uid-0/z", "orders");
	w->version += 2;
	CHECK_INT(check_as(w->map, US), ==, 1);
	CHECK_INT(put_after(w->map, 6), ==, 0);
	CHECK_INT(stored(w), ==, 6);
	CHECK_INT(check_as(w->map, US), ==, 0);
	/* of nobody knows whom */
	free(w->journal);
	w->journal = document(3, THEM, "orders");
	w->version += 2;
	CHECK_INT(check_as(w->map, US), ==, -1);
	CHECK_INT(err.kind, ==, ERR_BUSY);
	CHECK_INT(put_after(w->map, 7), ==, -1);
	CHECK_INT(err.kind, ==, ERR_BUSY);
	CHECK_INT(stored(w), ==, 3);
}

/* Its number is below that of our first write that arrives, when some before that have failed. */
WORLD_TEST(a_write_of_the_drey_before_us_after_we_have_read_is_no_backup)
{
	int64_t sequence;

	w->journal = document(3, "orders-0/uid-0/z", "orders");
	CHECK_INT(read_as(w->map, &sequence), ==, 0);
	CHECK_INT(sequence, ==, 3);
	free(w->journal);
	w->journal = document(4, "orders-0/uid-0/z", "orders");
	w->version += 2;
	CHECK_INT(put_after(w->map, 6), ==, -1);
	CHECK_INT(err.kind, ==, ERR_BUSY);
	CHECK_INT(stored(w), ==, 4);
}

WORLD_TEST(one_that_has_vanished_is_missed_by_a_look)
{
	CHECK_INT(put_after(w->map, 5), ==, 0);
	xstrset(&w->journal, NULL);
	CHECK_INT(check_as(w->map, US), ==, 1);
	CHECK_INT(put_after(w->map, 6), ==, 0);
	CHECK_INT(check_as(w->map, US), ==, 0);
}

WORLD_TEST(only_what_was_written_last_is_removed)
{
	int64_t sequence = 0;

	CHECK_INT(journal_map_remove(w->map, &err), ==, 0); /* there is none */
	CHECK_INT(put_as(w->map, 1, US), ==, 0);
	w->version++; /* another client */
	CHECK_INT(journal_map_remove(w->map, &err), ==, -1);
	CHECK_INT(err.kind, ==, ERR_BUSY);
	CHECK_INT(stored(w), ==, 1);
	CHECK_INT(read_as(w->map, &sequence), ==, 0);
	CHECK_INT(journal_map_remove(w->map, &err), ==, 0);
	CHECK(!w->journal);
	/* the next one begins anew */
	CHECK_INT(put_as(w->map, 1, US), ==, 0);
	CHECK_INT(w->creates, ==, 2);
}
