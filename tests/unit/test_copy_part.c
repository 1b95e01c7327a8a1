/*
 * The part that keeps a copy of the journal in storage: what it asks the store, how often, and what it leaves
 * alone. The driver and the store are played by this file; tests/unit/test_store_object.c has the stores.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "core/journal/journal_copy.h"
#include "gate_fake.h"
#include "run/driver_internal.h"
#include "store/store_object.h"
#include "store/stores.h"
#include "tap.h"

#define LIMIT_MS 20000
#define URI      "s3://b/ck/.drey/orders/journal.json"
#define JOB_1    "11111111111111111111111111111111"
#define JOB_2    "22222222222222222222222222222222"

struct rig {
	struct driver driver; /* first: the part gets this one */
	struct setup setup;
	int again;
};

/* The store, for the lane. */
static struct {
	atomic_bool exists, hangs;
	atomic_int reads, writes;
	struct buf body;
	char etag[STORE_ETAG_BYTES];
	struct err err; /* of every write; ERR_NONE: none */
} there;

void driver_again(struct driver *driver)
{
	((struct rig *)driver)->again++;
}

const char *journal_store_place(const struct journal_store *store)
{
	(void)store;
	return "ConfigMap shop/orders-drey-journal";
}

struct store *stores_get(struct stores *stores, const char *uri, struct err *err)
{
	(void)err;
	CHECK_STR(uri, URI);
	return (struct store *)stores;
}

void stores_release(struct stores *stores)
{
	(void)stores;
}

int store_object_read(struct store *store, const char *uri, int64_t timeout_ms,
		      struct store_object *ret, struct err *err)
{
	(void)store, (void)uri, (void)timeout_ms;
	there.reads++;
	if (!there.exists)
		return err_set(err, ERR_ABSENT, 0, "404");
	buf_add(&ret->body, there.body.data, there.body.len_bytes);
	memcpy(ret->etag, there.etag, sizeof(ret->etag));
	return 0;
}

static void put(const void *body, size_t len_bytes)
{
	static int number;

	buf_clear(&there.body);
	buf_add(&there.body, body, len_bytes);
	snprintf(there.etag, sizeof(there.etag), "\"%d\"", ++number);
	there.exists = true;
}

int store_object_put(struct store *store, const char *uri, size_t kept,
		     const struct store_object *object, int64_t timeout_ms,
		     char ret_etag[STORE_ETAG_BYTES], struct err *err)
{
	(void)store, (void)uri, (void)timeout_ms;
	CHECK_INT(kept, ==, strlen("s3://b/ck"));
	there.writes++;
	while (there.hangs)
		usleep(1000);
	if (there.err.kind) {
		*err = there.err;
		return -1;
	}
	if (there.exists ? strcmp(object->etag, there.etag) != 0 : object->etag[0])
		return err_set(err, ERR_BUSY, 0, "412");
	put(object->body.data, object->body.len_bytes);
	memcpy(ret_etag, there.etag, STORE_ETAG_BYTES);
	return 0;
}

static struct launch *launch(struct journal *journal, const char *job)
{
	struct launch *added = journal_add_launch(journal);

	snprintf(added->job_id, sizeof(added->job_id), "%s", job);
	added->started_unix_ms = 1000 * added->number;
	return added;
}

/* What another drey, or an earlier agent, has left there. */
static void left(const char *job, int64_t sequence)
{
	const struct journal_copy_head head = {.application = (char *)"orders",
					       .written_unix_ms = 5};
	cleanup_buf struct buf text = BUF_INIT;
	struct journal journal;

	journal_init(&journal, "orders");
	journal.sequence = sequence;
	journal.writer = xstrdup("west/uid/1");
	launch(&journal, job);
	CHECK_INT(journal_copy_encode(&journal, &head, &text, NULL), ==, 0);
	put(text.data, text.len_bytes);
	journal_release(&journal);
}

static void rig_begin(struct rig *rig)
{
	struct journal journal;
	struct rng rng;

	memset(rig, 0, sizeof(*rig));
	there.exists = there.hangs = false;
	there.reads = there.writes = 0;
	there.err = (struct err){0};
	rig->setup.config.application = (char *)"orders";
	rig->setup.copy_uri = (char *)URI;
	rig->setup.copy_dir = "s3://b/ck";
	rig->driver.setup = &rig->setup;
	rig->driver.alive = true;
	rig->driver.loop = loop_new(NULL);
	rig->driver.workers = workers_new(rig->driver.loop, NULL);
	journal_init(&journal, "orders");
	journal.sequence = 10;
	rng_seed(&rng, 1);
	lifecycle_init(&rig->driver.life, &rig->setup.life, &journal, &rng);
	CHECK_INT(part_copy.open(&rig->driver, NULL), ==, 0);
}

static void rig_end(struct rig *rig)
{
	part_copy.close(&rig->driver);
	lifecycle_release(&rig->driver.life);
	workers_free(rig->driver.workers);
	loop_free(rig->driver.loop);
	buf_release(&there.body);
}

static struct journal *journal_of(struct rig *rig)
{
	return &rig->driver.life.journal;
}

static void step_until(struct rig *rig, const atomic_int *counter, int least)
{
	int64_t end_ms = clock_mono_ms() + LIMIT_MS;

	part_copy.stepped(&rig->driver);
	while (*counter < least && clock_mono_ms() < end_ms)
		loop_step(rig->driver.loop, 50, NULL);
	CHECK_INT(*counter, >=, least);
	for (int i = 0; i < 5; i++) /* its answer */
		loop_step(rig->driver.loop, 10, NULL);
}

/* Long enough for anything that would come at once. */
static void rest(struct rig *rig)
{
	for (int i = 0; i < 20; i++) {
		part_copy.stepped(&rig->driver);
		loop_step(rig->driver.loop, 5, NULL);
	}
}

static const char *status_error(struct rig *rig, struct json *document)
{
	part_copy.status(&rig->driver, document);
	return json_str(json_get(document, "journalCopy"), "error");
}

static struct journal_copy *what_is_there(void)
{
	struct journal_copy *copy = NULL;
	struct err err = {0};

	if (!CHECK_INT(journal_copy_decode(buf_str(&there.body), there.body.len_bytes, &copy, &err),
		       ==, 0))
		tap_note("%s", err.msg);
	return copy;
}

TEST(an_application_without_a_launch_writes_nothing)
{
	struct rig rig;

	rig_begin(&rig);
	rest(&rig);
	CHECK_INT(there.reads + there.writes, ==, 0);
	rig_end(&rig);
}

TEST(a_launch_is_written_and_then_there_is_rest)
{
	struct rig rig;
	struct journal_copy *copy;

	rig_begin(&rig);
	launch(journal_of(&rig), JOB_1);
	step_until(&rig, &there.writes, 1);
	copy = what_is_there();
	CHECK_STR(copy->journal.launches[0].job_id, JOB_1);
	CHECK_STR(copy->head.place, "ConfigMap shop/orders-drey-journal");
	journal_copy_free(copy);
	rest(&rig);
	CHECK_INT(there.reads, ==, 1);
	CHECK_INT(there.writes, ==, 1);
	/* checkpoints of a running job change the journal, and not the copy */
	journal_of(&rig)->sequence++;
	rig.driver.life.requested = rig.driver.life.acknowledged = journal_of(&rig)->sequence;
	journal_launch(journal_of(&rig))->last_checkpoint_id = 7;
	rest(&rig);
	CHECK_INT(there.writes, ==, 1);
	/* within a minute there is no second one */
	journal_of(&rig)->intent.state = DESIRED_SUSPENDED;
	rest(&rig);
	CHECK_INT(there.writes, ==, 1);
	rig_end(&rig);
}

TEST(only_what_the_journal_itself_has_is_copied)
{
	struct rig rig;

	rig_begin(&rig);
	launch(journal_of(&rig), JOB_1);
	rig.driver.life.requested = journal_of(&rig)->sequence + 1;
	rest(&rig);
	CHECK_INT(there.writes, ==, 0);
	rig.driver.life.acknowledged = rig.driver.life.requested;
	rig.driver.life.fenced = true;
	rest(&rig);
	CHECK_INT(there.reads + there.writes, ==, 0);
	rig.driver.life.fenced = false;
	step_until(&rig, &there.writes, 1);
	rig_end(&rig);
}

/* Of two installations that share a bucket, the one without the lease leaves everything alone. */
TEST(without_the_lease_nothing_is_written)
{
	struct rig rig;

	rig_begin(&rig);
	rig.setup.config.lease.uri = (char *)"s3://b/lease.json";
	launch(journal_of(&rig), JOB_1);
	rest(&rig);
	CHECK_INT(there.reads + there.writes, ==, 0);
	rig.driver.life.leased_ms = 1;
	step_until(&rig, &there.writes, 1);
	rig_end(&rig);
}

TEST(an_agent_that_starts_again_does_not_write_what_is_there)
{
	struct rig rig;

	rig_begin(&rig);
	left(JOB_1, 10);
	launch(journal_of(&rig), JOB_1);
	step_until(&rig, &there.reads, 1);
	rest(&rig);
	CHECK_INT(there.reads, ==, 1);
	CHECK_INT(there.writes, ==, 0);
	rig_end(&rig);
}

TEST(what_knows_more_is_left_there_and_said)
{
	struct rig rig;
	struct journal_copy *copy;
	struct conditions_outside outside = {0};
	cleanup_json struct json *document = json_object(), *later = json_object();

	rig_begin(&rig);
	left(JOB_2, 90);
	launch(journal_of(&rig), JOB_1);
	step_until(&rig, &there.reads, 1);
	rest(&rig);
	CHECK_INT(there.writes, ==, 0);
	CHECK_HAS(status_error(&rig, document), "written by west/uid/1");
	part_copy.outside(&rig.driver, &outside);
	CHECK(outside.copy.newer);
	/* a launch of this journal runs: it is the one that lives */
	journal_launch(journal_of(&rig))->verified_unix_ms = 5000;
	step_until(&rig, &there.writes, 1);
	copy = what_is_there();
	CHECK_STR(copy->journal.launches[0].job_id, JOB_1);
	journal_copy_free(copy);
	CHECK(!status_error(&rig, later));
	rig_end(&rig);
}

TEST(a_damaged_one_is_replaced)
{
	struct rig rig;

	rig_begin(&rig);
	put("{\"journalCopy\": 1", 16);
	launch(journal_of(&rig), JOB_1);
	step_until(&rig, &there.writes, 1);
	journal_copy_free(what_is_there());
	rig_end(&rig);
}

TEST(one_of_a_later_drey_is_not)
{
	static const char later[] = "{\"journalCopy\": 9}";
	struct rig rig;
	cleanup_json struct json *document = json_object();

	rig_begin(&rig);
	put(later, strlen(later));
	launch(journal_of(&rig), JOB_1);
	step_until(&rig, &there.reads, 1);
	rest(&rig);
	CHECK_INT(there.writes, ==, 0);
	CHECK_HAS(status_error(&rig, document), "written by a later drey");
	rig_end(&rig);
}

TEST(a_bucket_without_write_permission_is_said_and_delays_nothing)
{
	struct rig rig;
	struct gate gate = {.number = 1};
	struct conditions_outside outside = {0};
	cleanup_json struct json *document = json_object();

	rig_begin(&rig);
	err_set(&there.err, ERR_DENIED, 0, "HTTP 403 AccessDenied");
	launch(journal_of(&rig), JOB_1);
	step_until(&rig, &there.writes, 1);
	rest(&rig);
	CHECK_INT(there.writes, ==, 1);
	CHECK_HAS(status_error(&rig, document), "HTTP 403 AccessDenied");
	part_copy.outside(&rig.driver, &outside);
	CHECK_STR(outside.copy.error, "HTTP 403 AccessDenied");
	for (int type = 0; type < GATES; type++)
		if (type != GATE_EXIT)
			CHECK_INT(part_copy.may(&rig.driver, (enum gate_type)type, &gate), ==,
				  GATE_PASSES);
	rig_end(&rig);
}

/* Two dreys that both write would otherwise take turns for ever. */
TEST(one_that_was_written_by_another_since_is_looked_at_again)
{
	struct rig rig;
	struct gate gate = {.number = 1};
	struct journal_copy *copy;
	cleanup_json struct json *document = json_object();

	rig_begin(&rig);
	launch(journal_of(&rig), JOB_1)->verified_unix_ms = 5;
	step_until(&rig, &there.writes, 1);
	left(JOB_2, 90);
	journal_of(&rig)->intent.state = DESIRED_SUSPENDED;
	part_copy.may(&rig.driver, GATE_EXIT, &gate);
	step_until(&rig, &there.reads, 2);
	rest(&rig);
	CHECK_INT(there.writes, ==, 2);
	CHECK_INT(there.reads, ==, 2);
	copy = what_is_there();
	CHECK_STR(copy->journal.launches[0].job_id, JOB_2);
	journal_copy_free(copy);
	CHECK_HAS(status_error(&rig, document), "knows more than this journal");
	CHECK_INT(part_copy.may(&rig.driver, GATE_EXIT, &gate), ==, GATE_PASSES);
	rig_end(&rig);
}

TEST(when_drey_ends_the_last_change_is_written)
{
	struct rig rig;
	struct gate gate = {.number = 1};
	struct journal_copy *copy;

	rig_begin(&rig);
	launch(journal_of(&rig), JOB_1);
	step_until(&rig, &there.writes, 1);
	CHECK_INT(part_copy.may(&rig.driver, GATE_OBSERVE, &gate), ==, GATE_PASSES);
	journal_of(&rig)->intent.state = DESIRED_SUSPENDED;
	CHECK_INT(part_copy.may(&rig.driver, GATE_EXIT, &gate), ==, GATE_NOT_YET);
	CHECK(gate.waits[0].until_ms > 0 && gate.waits[0].until_ms <= clock_mono_ms() + 1000);
	step_until(&rig, &there.writes, 2);
	CHECK_INT(part_copy.may(&rig.driver, GATE_EXIT, &gate), ==, GATE_PASSES);
	CHECK(rig.again > 0);
	copy = what_is_there();
	CHECK_INT(copy->journal.intent.state, ==, DESIRED_SUSPENDED);
	journal_copy_free(copy);
	rig_end(&rig);
}

TEST(a_store_that_hangs_does_not_keep_drey_from_ending)
{
	struct rig rig;
	struct gate gate = {.number = 1};
	int64_t began_ms = clock_mono_ms();

	rig_begin(&rig);
	there.hangs = true;
	launch(journal_of(&rig), JOB_1);
	part_copy.stepped(&rig.driver);
	while (!there.writes && clock_mono_ms() < began_ms + LIMIT_MS)
		loop_step(rig.driver.loop, 20, NULL);
	began_ms = clock_mono_ms();
	CHECK_INT(part_copy.may(&rig.driver, GATE_EXIT, &gate), ==, GATE_NOT_YET);
	while (!rig.again && clock_mono_ms() < began_ms + LIMIT_MS)
		loop_step(rig.driver.loop, 20, NULL);
	CHECK_INT(part_copy.may(&rig.driver, GATE_EXIT, &gate), ==, GATE_PASSES);
	CHECK(clock_mono_ms() - began_ms < 5000);
	there.hangs = false;
	rig_end(&rig);
}

TEST(without_a_copy_the_status_says_why)
{
	struct rig rig;
	struct conditions_outside outside = {0};
	cleanup_json struct json *document = json_object();

	rig_begin(&rig);
	part_copy.close(&rig.driver);
	rig.setup.copy_uri = NULL;
	rig.setup.copy_off = (char *)"drey itself does not write to the store of hdfs://nn/ck";
	CHECK_INT(part_copy.open(&rig.driver, NULL), ==, 0);
	launch(journal_of(&rig), JOB_1);
	rest(&rig);
	CHECK_INT(there.reads + there.writes, ==, 0);
	CHECK_HAS(status_error(&rig, document), "hdfs://nn/ck");
	part_copy.outside(&rig.driver, &outside);
	CHECK_HAS(outside.copy.off, "hdfs://nn/ck");
	rig_end(&rig);
}
