/*
 * check_object - the contract of store/store_object.h, checked against a real store.
 *
 *   check_object URI           conditional writes of the object URI, and of URI.race by several writers;
 *                              prints TAP
 *   check_object --one-by-one URI  the same, without the race
 *   check_object --refuse URI  the server does not know conditional writes, and that is noticed
 *   check_object --denied URI  nothing may be read or written
 *
 * Where the store is and how to sign in comes from the environment, as for drey itself.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "store/store.h"
#include "store/store_object.h"
#include "tests/unit/tap.h"

enum { WRITERS = 6, WINS = 12, TIMEOUT_MS = 20000 };

static const char *uri;
static enum { FULL, ONE_BY_ONE, REFUSE, DENIED } mode;
static struct store_config config;

static struct store *open_store(void)
{
	struct store *store = NULL;
	struct err err = {0};

	if (store_open(&config, uri, &store, &err)) {
		printf("Bail out! %s\n", err.msg);
		exit(1);
	}
	return store;
}

static int put(struct store *store, const char *to, const char *etag, const char *text,
	       char ret_etag[STORE_ETAG_BYTES], struct err *err)
{
	struct store_object object = {.body = BUF_INIT};
	int rc;

	snprintf(object.etag, sizeof(object.etag), "%s", etag);
	buf_addstr(&object.body, text);
	rc = store_object_write(store, to, &object, TIMEOUT_MS, ret_etag, err);
	buf_release(&object.body);
	return rc;
}

TEST(conditional_writes_are_kept_or_refused)
{
	struct store *store = open_store();
	cleanup_free char *probe = xasprintf("%s.probe", uri);
	struct err err = {0};

	if (mode == DENIED) {
		CHECK_INT(store_object_check(store, probe, TIMEOUT_MS, &err), ==, -1);
		CHECK_INT(err.kind, ==, ERR_DENIED);
	} else if (mode == REFUSE) {
		CHECK_INT(store_object_check(store, probe, TIMEOUT_MS, &err), ==, -1);
		CHECK_INT(err.kind, ==, ERR_CONFIG);
		tap_note("%s", err.msg);
	} else {
		for (int i = 0; i < 2; i++) /* the second time it is there */
			if (!CHECK_INT(store_object_check(store, probe, TIMEOUT_MS, &err), ==, 0))
				tap_note("%s", err.msg);
	}
	store_close(store);
}

TEST(one_writer_wins_and_knows_it)
{
	struct store *store = open_store();
	struct store_object object = {.body = BUF_INIT};
	char first[STORE_ETAG_BYTES] = "", second[STORE_ETAG_BYTES] = "";
	struct err err = {0};

	CHECK_INT(store_object_read(store, uri, TIMEOUT_MS, &object, &err), ==, -1);
	CHECK_INT(err.kind, ==, mode == DENIED ? ERR_DENIED : ERR_ABSENT);
	if (mode == DENIED || mode == REFUSE) {
		store_close(store);
		return;
	}
	CHECK_INT(put(store, uri, "\"0\"", "x", first, &err), ==, -1); /* there is none */
	CHECK_INT(err.kind, ==, ERR_BUSY);
	if (!CHECK_INT(put(store, uri, "", "one", first, &err), ==, 0))
		tap_note("%s", err.msg);
	CHECK_INT(put(store, uri, "", "two", second, &err), ==, -1);
	CHECK_INT(err.kind, ==, ERR_BUSY);
	CHECK_INT(store_object_read(store, uri, TIMEOUT_MS, &object, &err), ==, 0);
	CHECK_STR(buf_str(&object.body), "one");
	CHECK_STR(object.etag, first);
	buf_release(&object.body);
	if (!CHECK_INT(put(store, uri, first, "three", second, &err), ==, 0))
		tap_note("%s", err.msg);
	CHECK(strcmp(first, second) != 0);
	CHECK_INT(put(store, uri, first, "four", second, &err), ==, -1);
	CHECK_INT(err.kind, ==, ERR_BUSY);
	CHECK_INT(store_object_read(store, uri, TIMEOUT_MS, &object, &err), ==, 0);
	CHECK_STR(buf_str(&object.body), "three");
	buf_release(&object.body);
	store_close(store);
}

/* ---- a race ---- */

struct writer {
	pthread_t thread;
	char *to;
	int wins, lost, unknown;
};

/* Count up in the object, WINS times. */
static void *count_up(void *arg)
{
	struct writer *writer = arg;
	struct store *store = open_store();

	while (writer->wins < WINS && writer->lost < 1000 && writer->unknown < 5) {
		struct store_object object = {.body = BUF_INIT};
		char etag[STORE_ETAG_BYTES];
		struct err err = {0};
		char text[32];
		int rc = store_object_read(store, writer->to, TIMEOUT_MS, &object, &err);

		if (rc < 0 && err.kind != ERR_ABSENT) {
			writer->unknown++;
			continue;
		}
		snprintf(text, sizeof(text), "%d", rc < 0 ? 1 : atoi(buf_str(&object.body)) + 1);
		if (put(store, writer->to, object.etag, text, etag, &err) == 0)
			writer->wins++;
		else if (err.kind == ERR_BUSY)
			writer->lost++;
		else
			writer->unknown++;
		buf_release(&object.body);
	}
	store_close(store);
	return NULL;
}

TEST(of_several_writers_none_overwrites_another)
{
	cleanup_free char *to = xasprintf("%s.race", uri);
	struct writer writers[WRITERS] = {0};
	struct store *store = open_store();
	struct store_object object = {.body = BUF_INIT};
	struct err err = {0};
	int wins = 0, lost = 0, unknown = 0;

	if (mode != FULL) {
		CHECK(WRITERS > 1);
		store_close(store);
		return;
	}
	for (int i = 0; i < WRITERS; i++) {
		writers[i].to = to;
		CHECK_INT(pthread_create(&writers[i].thread, NULL, count_up, &writers[i]), ==, 0);
	}
	for (int i = 0; i < WRITERS; i++) {
		pthread_join(writers[i].thread, NULL);
		wins += writers[i].wins;
		lost += writers[i].lost;
		unknown += writers[i].unknown;
	}
	tap_note("%d writes, %d refused, %d unknown", wins, lost, unknown);
	CHECK_INT(store_object_read(store, to, TIMEOUT_MS, &object, &err), ==, 0);
	CHECK_INT(atoi(buf_str(&object.body)), ==, wins);
	CHECK_INT(wins, ==, WRITERS * WINS);
	CHECK_INT(lost, >, 0);
	CHECK_INT(unknown, ==, 0);
	buf_release(&object.body);
	store_close(store);
}

int main(int argc, char **argv)
{
	static const char *const words[] = {"", "--one-by-one", "--refuse", "--denied"};
	int status;

	for (int i = ONE_BY_ONE; argc == 3 && i <= DENIED; i++)
		if (!strcmp(argv[1], words[i]))
			mode = i;
	if (argc != 2 && mode == FULL) {
		fprintf(stderr, "usage: check_object [--one-by-one | --refuse | --denied] URI\n");
		return 2;
	}
	uri = argv[argc - 1];
	store_config_environment(&config, getenv);
	status = tap_main(0, NULL);
	store_config_release(&config);
	return status;
}
