/* A collection on a store that contradicts itself: nothing is deleted that only one answer allows. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fs.h"
#include "gc_names.h"
#include "metadata_writer.h"
#include "run/gc/gc_needs.h"
#include "run/gc/gc_run.h"
#include "s3_stub.h"
#include "store_dir.h"

#define HOUR INT64_C(3600000)
#define DAY  (24 * HOUR)

#define JOB_0  "00000000000000000000000000000000"
#define JOB_1  "11111111111111111111111111111111"
#define JOB_2  "22222222222222222222222222222222"
#define OTHER  "ffffffffffffffffffffffffffffffff"
#define THEIRS "eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee"   /* in another directory */
#define SEEN   "ck/" JOB_1 "/shared/" GC_UUID("b1") /* what OTHER refers to */
#define UNSEEN "ck/" JOB_1 "/shared/" GC_UUID("b0")

/* What the store says wrongly, about keys that contain `key`. The stub has one thread, and its lock. */
struct lie {
	const char *key;
	bool absent;      /* objects are answered by 404 ... */
	int absent_times; /* ... so often; 0: always */
	bool removed;     /* and are gone from then on */
	bool hidden;      /* listings leave them out ... */
	int from, to; /* ... from listing number `from` on, before number `to`; 0: without end */
};

static struct {
	struct lie lie;
	int absent, listed, deleted;
	int readings;          /* that have begun */
	bool forgets;          /* the first reading sees another reference of OTHER */
	const char *late;      /* a key that the first reading does not list */
	const char *denied;    /* what is in this may not be read */
	bool keeps;            /* what is deleted stays */
	const char *takes_too; /* and this is deleted as well */
	const char *swapped;   /* the _metadata of this checkpoint refers to the next one */
	const char *refers;
} play;

/* Three launches, the last of which runs, and another application; all in one bucket. */
struct world {
	char *state;
	struct s3_stub *stub;
	struct setup setup;
	struct gc_run run;
	struct journal journal;
};

/* ---- the store ---- */

static void remove_object(struct s3_stub *stub, size_t at)
{
	memmove(&stub->objects[at], &stub->objects[at + 1],
		(stub->object_count - at - 1) * sizeof(*stub->objects));
	stub->object_count--;
}

static void remove_key(struct s3_stub *stub, const char *key)
{
	struct s3_object *object = s3_stub_find(stub, key);

	if (!object)
		return;
	free(object->key);
	remove_object(stub, (size_t)(object - stub->objects));
}

static void add_metadata(struct buf *to, int id, const char *refers)
{
	wr_head(to, 6, id);
	wr_i32(to, 0);
	wr_i32(to, 1);
	wr_operator(to, 6, "Map", "map-uid", 7);
	wr_i32(to, 1);
	wr_subtask(to, 6, 0);
	wr_u8(to, 3);
	wr_groups(to);
	if (refers)
		wr_file(to, refers, 4);
	else
		wr_bytes(to, 10);
	wr_u8(to, 0);
	wr_subtask_end(to, 6);
	wr_tail(to, 6, "org.apache.flink.runtime.checkpoint.CheckpointType");
}

static void content_of(const char *key, struct buf *to)
{
	const char *seen = play.forgets && play.readings < 2 ? UNSEEN : SEEN;
	cleanup_free char *uri = xasprintf("s3://b/%s", seen);
	const char *refers = strstr(key, OTHER) ? uri : NULL;

	if (play.swapped && strstr(key, play.swapped))
		refers = play.refers;
	add_metadata(to, atoi(strstr(key, "chk-") + 4), refers);
}

static bool is_hidden(const char *key, int number)
{
	const struct lie *lie = &play.lie;

	if (play.late && play.readings < 2 && strstr(key, play.late))
		return true;
	return lie->hidden && strstr(key, lie->key) && number >= lie->from &&
	       (!lie->to || number < lie->to);
}

static void answer_list(struct s3_stub *stub, const struct http_stub_request *request,
			struct http_stub_answer *answer)
{
	struct s3_object hidden = {0};
	int number = ++play.listed;

	for (size_t i = 0; i < stub->object_count; i++)
		if (is_hidden(stub->objects[i].key, number)) {
			hidden = stub->objects[i];
			remove_object(stub, i);
			break;
		}
	s3_stub_list(stub, request, answer);
	if (!hidden.key)
		return;
	stub->objects[stub->object_count++] = hidden;
	qsort(stub->objects, stub->object_count, sizeof(*stub->objects), s3_stub_by_key);
}

static bool lies_about(const char *key)
{
	return play.lie.absent && strstr(key, play.lie.key) &&
	       (!play.lie.absent_times || play.absent < play.lie.absent_times);
}

static bool answers(struct s3_stub *stub, const struct http_stub_request *request,
		    struct http_stub_answer *answer)
{
	const char *key = request->target + strlen("/b/");

	if (!strncmp(request->target, "/b?", 3)) {
		answer_list(stub, request, answer);
		return true;
	}
	if (!strcmp(request->method, "DELETE")) {
		if (!play.keeps)
			remove_key(stub, key);
		if (play.takes_too)
			remove_key(stub, play.takes_too);
		play.deleted++;
		answer->status = 204;
		return true;
	}
	if (play.denied && strstr(key, play.denied)) {
		s3_stub_error(answer, 403, "AccessDenied", "");
		return true;
	}
	if (lies_about(key)) {
		play.absent++;
		if (play.lie.removed)
			remove_key(stub, key);
		s3_stub_error(answer, 404, "NoSuchKey", "");
		return true;
	}
	if (strcmp(request->method, "GET") != 0 || !strstr(key, "/_metadata") ||
	    !s3_stub_find(stub, key))
		return false;
	buf_addstr(&answer->headers, "ETag: \"e1\"\r\n");
	s3_stub_date(answer, "Last-Modified", S3_STUB_TIME_MS);
	content_of(key, &answer->body);
	return true;
}

static void put_metadata(struct world *w, const char *key)
{
	cleanup_buf struct buf content = BUF_INIT;

	content_of(key, &content);
	s3_stub_put(w->stub, key, (int64_t)content.len_bytes);
}

/* ---- the world ---- */

static void write_journal(struct world *w)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct err err = {0};

	CHECK_INT(journal_encode(&w->journal, &text, &err), ==, 0);
	dir_put(w->state, "journal.json", text.data, text.len_bytes);
}

static void on_reading(void *ctx, const char *what, size_t done)
{
	(void)ctx;
	(void)done;
	play.readings += !strcmp(what, "Flink's HA data");
}

static void begin(struct world *w)
{
	static const char *const jobs[] = {JOB_0, JOB_1, JOB_2};
	struct store_config *config = &w->setup.storage;

	memset(&play, 0, sizeof(play));
	*w = (struct world){.state = dir_new(), .stub = s3_stub_new()};
	w->stub->unsigned_ok = true;
	w->stub->fault = answers;
	config->s3.endpoint = xstrdup(w->stub->url);
	config->s3.endpoint_from = xstrdup("storage.s3.endpoint in drey.yaml");
	config->s3.access_key = xstrdup(S3_STUB_KEY);
	config->s3.secret_key = xstrdup(S3_STUB_SECRET);
	w->setup.config.application = (char *)"app";
	w->setup.config.state_directory = w->state;
	w->setup.places.checkpoint_dir = (char *)"s3://b/ck";
	w->setup.places.storage = &w->setup.storage;
	w->run.watch.reading = on_reading;
	journal_init(&w->journal, "app");
	for (int i = 0; i < 3; i++) {
		struct launch *launch = journal_add_launch(&w->journal);

		memcpy(launch->job_id, jobs[i], JOB_ID_BYTES);
		launch->checkpoint_dir = xstrdup("s3://b/ck");
		launch->intended_unix_ms = clock_unix_ms() - (30 - 10 * i) * DAY;
		launch->started_unix_ms = launch->proven_unix_ms = launch->intended_unix_ms;
	}
	write_journal(w);
	put_metadata(w, "ck/" JOB_0 "/chk-10/_metadata");
	s3_stub_put(w->stub, "ck/" JOB_0 "/shared/" GC_UUID("a0"), 4);
	put_metadata(w, "ck/" JOB_1 "/chk-20/_metadata");
	s3_stub_put(w->stub, SEEN, 4);
	put_metadata(w, "ck/" JOB_2 "/chk-30/_metadata");
	put_metadata(w, "ck/" OTHER "/chk-7/_metadata");
}

static void end(struct world *w)
{
	gc_run_close(&w->run);
	s3_stub_free(w->stub);
	journal_release(&w->journal);
	store_config_release(&w->setup.storage);
	dir_removep(&w->state);
}

#define LIE_TEST(name) TEST_WITH(name, struct world, w, begin, end)

static void collect(struct world *w, int64_t keep)
{
	const struct gc_policy policy = {HOUR, keep, 0};
	struct err err = {0};

	if (!CHECK_INT(gc_run_open(&w->run, &w->setup, &err), ==, 0))
		tap_note("%s", err.msg);
	gc_run_collect(&w->run, &policy);
	gc_run_delete(&w->run);
}

static void check_nothing_deleted(const struct world *w, const char *why)
{
	CHECK_INT(play.deleted, ==, 0);
	CHECK_INT(w->run.deleted.files, ==, 0);
	CHECK_HAS(w->run.gc.stop ? w->run.gc.stop : w->run.ended.msg, why);
}

static bool there(const struct world *w, const char *key)
{
	return s3_stub_find(w->stub, key) != NULL;
}

LIE_TEST(an_honest_store_loses_what_nothing_needs)
{
	collect(w, 0);
	CHECK(!w->run.gc.stop);
	CHECK_STR(w->run.ended.msg, "");
	CHECK_INT(play.deleted, ==, 3);
	CHECK(there(w, SEEN));
	CHECK(there(w, "ck/" OTHER "/chk-7/_metadata"));
}

LIE_TEST(a_metadata_that_is_listed_and_not_found_stops_all)
{
	play.lie = (struct lie){.key = OTHER "/chk-7/_metadata", .absent = true};
	collect(w, 0);
	check_nothing_deleted(w, "its _metadata is listed, and reading it answers \"not found\"");
}

LIE_TEST(also_when_it_was_not_found_only_once)
{
	play.lie = (struct lie){.key = OTHER "/chk-7/_metadata", .absent = true, .absent_times = 1};
	collect(w, 0);
	check_nothing_deleted(w, OTHER "/chk-7 contradicts itself");
}

LIE_TEST(one_that_is_gone_from_a_new_listing_too_was_deleted)
{
	play.lie = (struct lie){.key = OTHER "/chk-7/_metadata",
				.absent = true,
				.absent_times = 1,
				.removed = true};
	collect(w, 0);
	CHECK(!w->run.gc.stop);
	CHECK_INT(play.deleted, ==, 4);
	CHECK(!there(w, SEEN));
}

LIE_TEST(one_that_leaves_files_behind_is_not_known_to_be_deleted)
{
	s3_stub_put(w->stub, "ck/" OTHER "/chk-7/" GC_UUID("77"), 4);
	play.lie = (struct lie){.key = OTHER "/chk-7/_metadata",
				.absent = true,
				.absent_times = 1,
				.removed = true};
	collect(w, 0);
	check_nothing_deleted(w, "it was completed, and has files, but no _metadata");
}

LIE_TEST(one_that_was_not_found_and_is_listed_again_stops_all)
{
	int before;

	/* not found, and hidden from the listing of its directory, but not from the round after it */
	collect(w, 0);
	before = play.listed;
	CHECK_INT(before, >, 3);
	gc_run_close(&w->run);
	put_metadata(w, "ck/" JOB_0 "/chk-10/_metadata");
	play.listed = play.deleted = 0;
	for (int at = 1; at < before; at++) {
		play.listed = play.absent = 0;
		play.lie = (struct lie){.key = OTHER "/chk-7/_metadata",
					.absent = true,
					.absent_times = 1,
					.hidden = true,
					.from = at,
					.to = at + 1};
		collect(w, 0);
		CHECK(there(w, SEEN));
		if (at + 1 < before)
			gc_run_close(&w->run);
	}
}

LIE_TEST(a_metadata_that_no_listing_names_is_asked_for)
{
	put_metadata(w, "ck/" JOB_1 "/chk-21/_metadata");
	s3_stub_put(w->stub, "ck/" JOB_1 "/chk-21/" GC_UUID("21"), 4);
	play.lie = (struct lie){.key = JOB_1 "/chk-21/_metadata", .hidden = true};
	collect(w, 0);
	check_nothing_deleted(w, "it is there, and was not listed");
}

LIE_TEST(what_was_never_completed_goes)
{
	s3_stub_put(w->stub, "ck/" JOB_1 "/chk-21/" GC_UUID("21"), 4);
	collect(w, 0);
	CHECK(!w->run.gc.stop);
	CHECK(!there(w, "ck/" JOB_1 "/chk-21/" GC_UUID("21")));
}

LIE_TEST(a_checkpoint_that_the_journal_knows_and_that_has_no_metadata_stops_all)
{
	s3_stub_put(w->stub, "ck/" JOB_1 "/chk-21/" GC_UUID("21"), 4);
	xstrset(&w->journal.launches[1].last_checkpoint_path, "s3://b/ck/" JOB_1 "/chk-21");
	write_journal(w);
	collect(w, 1);
	check_nothing_deleted(w, "chk-21 contradicts itself: it was completed");
}

LIE_TEST(unless_it_is_too_old_to_be_needed)
{
	s3_stub_put(w->stub, "ck/" JOB_1 "/chk-21/" GC_UUID("21"), 4);
	xstrset(&w->journal.launches[1].last_checkpoint_path, "s3://b/ck/" JOB_1 "/chk-21");
	write_journal(w);
	collect(w, 0);
	CHECK(!w->run.gc.stop);
	CHECK(!there(w, "ck/" JOB_1 "/chk-21/" GC_UUID("21")));
}

/* Flink's file system for S3 keeps markers of directories (fs.s3a.directory.marker.retention), also when drey gc has
 * deleted what was in them. */
LIE_TEST(an_empty_directory_is_what_is_left_of_one_that_was_deleted)
{
	s3_stub_put(w->stub, "ck/" JOB_1 "/chk-21/", 0);
	xstrset(&w->journal.launches[1].last_checkpoint_path, "s3://b/ck/" JOB_1 "/chk-21");
	write_journal(w);
	collect(w, 1);
	CHECK_STR(w->run.gc.stop ? w->run.gc.stop : "", "");
	CHECK_INT(play.deleted, >, 0);
}

LIE_TEST(unless_its_metadata_is_there_and_no_listing_has_it)
{
	s3_stub_put(w->stub, "ck/" JOB_1 "/chk-21/", 0);
	put_metadata(w, "ck/" JOB_1 "/chk-21/_metadata");
	xstrset(&w->journal.launches[1].last_checkpoint_path, "s3://b/ck/" JOB_1 "/chk-21");
	write_journal(w);
	play.lie = (struct lie){.key = JOB_1 "/chk-21/_metadata", .hidden = true};
	collect(w, 1);
	check_nothing_deleted(w, "its _metadata is there, and was not listed");
}

/* ---- a whole checkpoint that no listing has ---- */

LIE_TEST(a_checkpoint_that_no_listing_has_is_found_by_its_number)
{
	put_metadata(w, "ck/" JOB_1 "/chk-21/_metadata");
	play.lie = (struct lie){.key = JOB_1 "/chk-21/", .hidden = true};
	collect(w, 1);
	check_nothing_deleted(
		w, "chk-21/_metadata contradicts itself: it is there, and was not listed");
}

LIE_TEST(so_is_one_of_another_application)
{
	put_metadata(w, "ck/" OTHER "/chk-5/_metadata");
	play.lie = (struct lie){.key = OTHER "/chk-5/", .hidden = true};
	collect(w, 0);
	check_nothing_deleted(w, OTHER "/chk-5/_metadata contradicts itself");
}

LIE_TEST(and_one_after_the_last_that_the_journal_has_noted)
{
	static const char *const schemes[] = {"s3", "s3a"};

	remove_key(w->stub, "ck/" JOB_1 "/chk-20/_metadata");
	put_metadata(w, "ck/" JOB_1 "/chk-22/_metadata");
	play.lie = (struct lie){.key = JOB_1 "/chk-22/", .hidden = true};
	for (size_t i = 0; i < ARRAY_LEN(schemes); i++) {
		cleanup_free char *path = xasprintf("%s://b/ck/" JOB_1 "/chk-20", schemes[i]);

		xstrset(&w->journal.launches[1].last_checkpoint_path, path);
		write_journal(w);
		gc_run_close(&w->run);
		collect(w, 0);
		check_nothing_deleted(w, JOB_1 "/chk-22/_metadata contradicts itself");
	}
}

LIE_TEST(the_job_from_which_a_launch_was_restored_goes_on_where_nothing_is_listed)
{
	put_metadata(w, "theirs/" THEIRS "/chk-5/_metadata");
	put_metadata(w, "theirs/" THEIRS "/chk-6/_metadata");
	xstrset(&w->journal.launches[0].restore_path, "s3://b/theirs/" THEIRS "/chk-5");
	write_journal(w);
	collect(w, 0);
	CHECK_STR(w->run.gc.stop ? w->run.gc.stop : "", "");
	CHECK_INT(play.deleted, ==, 3);
}

LIE_TEST(one_that_cannot_be_looked_for_could_be_there)
{
	play.denied = JOB_1 "/chk-21/";
	collect(w, 0);
	check_nothing_deleted(w, JOB_1 "/chk-21/_metadata cannot be read");
}

LIE_TEST(one_that_is_completed_meanwhile_is_no_contradiction)
{
	int listings;

	put_metadata(w, "ck/" JOB_2 "/chk-31/_metadata");
	play.lie = (struct lie){.key = JOB_2 "/chk-31/", .hidden = true};
	collect(w, 1);
	check_nothing_deleted(w, "it is there, and was not listed");
	listings = play.listed;
	/* the first round has listed when it is asked for */
	for (int to = 2; to <= listings / 2; to++) {
		gc_run_close(&w->run);
		play.listed = 0;
		play.lie.to = to;
		collect(w, 1);
		CHECK_STR(w->run.gc.stop ? w->run.gc.stop : "", "");
	}
	CHECK_INT(listings, >, 5);
}

LIE_TEST(it_could_refer_to_what_is_asked_about)
{
	struct err err = {0};
	char *why = NULL;

	CHECK_INT(gc_needs(&w->setup, "s3://b/ck/" OTHER "/chk-7", &why, &err), ==, 0);
	put_metadata(w, "ck/" JOB_2 "/chk-31/_metadata");
	play.lie = (struct lie){.key = JOB_2 "/chk-31/", .hidden = true};
	CHECK_INT(gc_needs(&w->setup, "s3://b/ck/" OTHER "/chk-7", &why, &err), ==, -1);
	CHECK_HAS(err.msg, "chk-31/_metadata contradicts itself: it is there, and was not listed");
	free(why);
}

/* ---- a _metadata that is not what it should be ---- */

static void swap(struct world *w, const char *checkpoint, const char *refers)
{
	cleanup_free char *key = xasprintf("ck/%s/_metadata", checkpoint);

	play.swapped = checkpoint;
	play.refers = refers;
	remove_key(w->stub, key);
	put_metadata(w, key);
}

LIE_TEST(one_that_refers_to_a_later_job_is_that_of_another_checkpoint)
{
	swap(w, JOB_1 "/chk-20", "s3://b/ck/" JOB_2 "/shared/" GC_UUID("c0"));
	collect(w, 1);
	check_nothing_deleted(w,
			      JOB_1 "/chk-20 contradicts itself: it refers to files of job " JOB_2
				    ", which ran later");
}

LIE_TEST(a_damaged_name_in_one_stops_all)
{
	swap(w, OTHER "/chk-7", "s3://b/ck/" JOB_1 "/shared/0000X0b1-0000-4000-8000-0000000000b1");
	collect(w, 0);
	check_nothing_deleted(w, OTHER "/chk-7 is damaged: it refers to a file that is not there");
}

LIE_TEST(what_is_missing_of_one_that_is_needed_stops_all)
{
	swap(w, JOB_2 "/chk-30", "s3://b/ck/" JOB_1 "/shared/" GC_UUID("e0"));
	remove_key(w->stub, "ck/" OTHER "/chk-7/_metadata"); /* nothing refers to SEEN */
	put_metadata(w, "ck/" JOB_2 "/chk-31/_metadata");
	collect(w, 0);
	check_nothing_deleted(w, JOB_2 "/chk-30 is needed, and refers to a file in");
}

/* ---- two readings ---- */

LIE_TEST(what_the_second_reading_needs_stops_all)
{
	play.forgets = true;
	collect(w, 0);
	check_nothing_deleted(w, "two readings of the storage contradict each other");
	CHECK_HAS(w->run.gc.stop, GC_UUID("b1"));
	CHECK_HAS(w->run.gc.stop, "a snapshot that stays refers to them");
	CHECK_INT(gc_total(&w->run.gc, GC_DELETE).files, ==, 0);
	CHECK(w->run.gc.sums[GC_STOPPED].files > 0);
}

LIE_TEST(what_only_the_second_reading_has_seen_stays)
{
	play.late = GC_UUID("a0");
	collect(w, 0);
	CHECK(!w->run.gc.stop);
	CHECK_INT(w->run.gc.sums[GC_NEW].files, ==, 1);
	CHECK_INT(play.deleted, ==, 2);
	CHECK(there(w, "ck/" JOB_0 "/shared/" GC_UUID("a0")));
}

LIE_TEST(nothing_is_read_again_if_nothing_is_to_be_deleted)
{
	collect(w, 0);
	gc_run_close(&w->run);
	play.readings = 0;
	collect(w, 0);
	CHECK_INT(play.readings, ==, 1);
}

/* ---- the plan, and what came of it ---- */

static void read_plan(const struct world *w, struct buf *ret)
{
	cleanup_free char *path = xasprintf("%s/cleanup.json", w->state);
	struct err err = {0};

	if (!CHECK_INT(fs_read(path, 100000, ret, &err), ==, 0))
		tap_note("%s", err.msg);
}

LIE_TEST(a_deletion_is_written_down_with_its_result)
{
	cleanup_buf struct buf plan = BUF_INIT;

	collect(w, 0);
	read_plan(w, &plan);
	CHECK_HAS(buf_str(&plan), "\"planned\": {");
	CHECK_HAS(buf_str(&plan), "\"directory\": \"s3://b/ck/" JOB_0 "\"");
	CHECK_HAS(buf_str(&plan), "\"replaced\": {");
	CHECK_HAS(buf_str(&plan), "\"failed\": 0");
	CHECK_HAS(buf_str(&plan), "\"ended\": null");
}

LIE_TEST(without_a_plan_nothing_is_deleted)
{
	dir_mkdir(w->state, "cleanup.json");
	collect(w, 0);
	check_nothing_deleted(w, "the plan of the deletion cannot be written");
}

LIE_TEST(what_is_listed_after_its_deletion_is_said)
{
	cleanup_buf struct buf plan = BUF_INIT;

	play.keeps = true;
	collect(w, 0);
	CHECK_HAS(w->run.ended.msg,
		  "a check after the deletion has failed: 3 files are there still");
	read_plan(w, &plan);
	CHECK_HAS(buf_str(&plan), "3 files are there still");
}

LIE_TEST(a_last_launch_that_has_lost_its_complete_snapshot_meanwhile_is_said)
{
	play.takes_too = "ck/" JOB_2 "/chk-30/_metadata";
	collect(w, 0);
	CHECK_HAS(w->run.ended.msg, "no complete snapshot of the last launch was found after it");
}

LIE_TEST(so_is_one_that_has_lost_what_is_kept_as_a_way_back)
{
	play.takes_too = "ck/" JOB_1 "/chk-20/_metadata";
	collect(w, 1);
	CHECK_INT(play.deleted, ==, 2);
	CHECK_HAS(w->run.ended.msg, JOB_1 "/chk-20 stays, but is not listed after it");
}

int main(int argc, char **argv)
{
	return tap_main(argc, argv);
}
