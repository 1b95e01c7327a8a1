/*
 * The part of the lease object: what it asks the store, and what it lets happen. The driver and the store
 * are played by this file; tests/servers/ tests the store, tests/e2e/test_lease.sh the whole.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "core/lease/lease_claim.h"
#include "gate_fake.h"
#include "run/driver_internal.h"
#include "run/lease/lease_place.h"
#include "store/store_object.h"
#include "store/stores.h"
#include "store_dir.h"
#include "tap.h"

#define LIMIT_MS 20000
#define OURS     "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define THEIRS   "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

struct rig {
	struct driver driver; /* first: the part gets this one */
	struct setup setup;
	int held, lost; /* events */
	int64_t longest_ms;
	bool flink_lives;
	atomic_int agains;
	char why[512];
};

/* The store, for the lane. */
static struct {
	atomic_bool exists, ignores, hangs;
	atomic_int checks, reads, writes, conflicts;
	struct buf body;
	char etag[STORE_ETAG_BYTES];
	struct err err; /* of every request; ERR_NONE: none */
} there;

void driver_step(struct driver *driver, const struct event *event)
{
	struct rig *rig = (struct rig *)driver;

	CHECK_INT(event->type, ==, EVENT_LEASE);
	if (event->lease.longest_ms) {
		rig->longest_ms = event->lease.longest_ms;
		driver->life.journal.lease_longest_ms = event->lease.longest_ms;
		return;
	}
	if (event->lease.sent_ms)
		rig->held++;
	else
		rig->lost++;
	snprintf(rig->why, sizeof(rig->why), "%s", event->lease.why ? event->lease.why : "");
}

void driver_again(struct driver *driver)
{
	((struct rig *)driver)->agains++;
}

int driver_take_flink_lock(struct driver *driver, struct err *err)
{
	return ((struct rig *)driver)->flink_lives ? err_set(err, ERR_BUSY, 0, "a Flink lives") : 0;
}

struct store *stores_get(struct stores *stores, const char *uri, struct err *err)
{
	(void)stores, (void)err;
	CHECK_STR(uri, "s3://b/lease.json");
	return (struct store *)stores;
}

void stores_release(struct stores *stores)
{
	(void)stores;
}

int store_object_read(struct store *store, const char *uri, int64_t timeout_ms,
		      struct store_object *ret, struct err *err)
{
	(void)store, (void)uri;
	CHECK_INT(timeout_ms, ==, 5000);
	there.reads++;
	while (there.hangs)
		usleep(1000);
	if (there.err.kind) {
		*err = there.err;
		return -1;
	}
	if (!there.exists)
		return err_set(err, ERR_ABSENT, 0, "404");
	buf_add(&ret->body, there.body.data, there.body.len_bytes);
	memcpy(ret->etag, there.etag, sizeof(ret->etag));
	return 0;
}

int store_object_write(struct store *store, const char *uri, const struct store_object *object,
		       int64_t timeout_ms, char ret_etag[STORE_ETAG_BYTES], struct err *err)
{
	(void)store, (void)uri, (void)timeout_ms;
	there.writes++;
	if (there.err.kind) {
		*err = there.err;
		return -1;
	}
	if (there.exists ? strcmp(object->etag, there.etag) != 0 : object->etag[0]) {
		there.conflicts++;
		return err_set(err, ERR_BUSY, 0, "412");
	}
	buf_clear(&there.body);
	buf_add(&there.body, object->body.data, object->body.len_bytes);
	snprintf(there.etag, sizeof(there.etag), "\"%d\"", (int)there.writes);
	memcpy(ret_etag, there.etag, STORE_ETAG_BYTES);
	there.exists = true;
	return 0;
}

int store_object_check(struct store *store, const char *uri, int64_t timeout_ms, struct err *err)
{
	(void)store, (void)timeout_ms;
	CHECK_STR(uri, "s3://b/lease.json.probe");
	there.checks++;
	return there.ignores ? err_set(err, ERR_CONFIG, 0, "the server ignores If-Match") : 0;
}

static void theirs(bool parked)
{
	struct lease_claim claim = {
		.sequence = ++there.writes, .duration_ms = 30000, .parked = parked};

	memcpy(claim.holder, THEIRS, sizeof(claim.holder));
	memcpy(claim.session, THEIRS, sizeof(claim.session));
	snprintf(claim.name, sizeof(claim.name), "west");
	buf_clear(&there.body);
	lease_claim_print(&claim, "orders", &there.body);
	snprintf(there.etag, sizeof(there.etag), "\"%d\"", (int)there.writes);
	there.exists = true;
}

#define WRITE "00000000000000000000000000000abc"

static void claims_ours(const char *name, bool ended)
{
	struct lease_claim claim = {.sequence = 7, .duration_ms = 30000, .ended = ended};

	memcpy(claim.holder, OURS, sizeof(claim.holder));
	memcpy(claim.session, THEIRS, sizeof(claim.session));
	memcpy(claim.write, WRITE, sizeof(claim.write));
	snprintf(claim.name, sizeof(claim.name), "%s", name);
	buf_clear(&there.body);
	lease_claim_print(&claim, "orders", &there.body);
	snprintf(there.etag, sizeof(there.etag), "\"before\"");
	there.exists = true;
}

/* What an agent before this one has written, and what it has left in the state directory. */
static void ours_before(const struct rig *rig)
{
	struct lease_mark mark = {.sequence = 7};
	char place[LEASE_PLACE_BYTES];

	claims_ours("east", false);
	lease_mark_add(&mark, WRITE);
	lease_place(rig->setup.config.state_directory, NULL, place);
	CHECK(place[0]);
	CHECK_INT(lease_mark_store(rig->setup.config.state_directory, place, &mark, NULL), ==, 0);
}

static void rig_begin(struct rig *rig)
{
	struct journal journal;
	struct rng rng;

	memset(rig, 0, sizeof(*rig));
	there.exists = there.ignores = there.hangs = false;
	there.checks = there.reads = there.writes = there.conflicts = 0;
	there.err = (struct err){0};
	rig->setup.config.state_directory = dir_new();
	rig->setup.config.application = (char *)"orders";
	rig->setup.config.lease.uri = (char *)"s3://b/lease.json";
	rig->setup.config.lease.name = (char *)"east";
	rig->setup.config.lease.duration_ms = 30000;
	rig->setup.life.object_lease_ms = 30000;
	rig->driver.setup = &rig->setup;
	rig->driver.alive = true;
	rig->driver.loop = loop_new(NULL);
	rig->driver.workers = workers_new(rig->driver.loop, NULL);
	journal_init(&journal, "orders");
	journal.lease_id = xstrdup(OURS);
	rng_seed(&rng, 1);
	lifecycle_init(&rig->driver.life, &rig->setup.life, &journal, &rng);
	CHECK_INT(part_lease.open(&rig->driver, NULL), ==, 0);
}

static void rig_end(struct rig *rig)
{
	part_lease.close(&rig->driver);
	lifecycle_release(&rig->driver.life);
	workers_free(rig->driver.workers);
	loop_free(rig->driver.loop);
	buf_release(&there.body);
	dir_removep(&rig->setup.config.state_directory);
}

static void alive(struct rig *rig)
{
	part_lease.alive(&rig->driver, &(struct part_start){0});
}

static void run_until(struct rig *rig, const atomic_int *counter, int least)
{
	int64_t end_ms = clock_mono_ms() + LIMIT_MS;

	while (*counter < least && clock_mono_ms() < end_ms)
		loop_step(rig->driver.loop, 50, NULL);
	CHECK_INT(*counter, >=, least);
	for (int i = 0; i < 5; i++) /* its answer */
		loop_step(rig->driver.loop, 10, NULL);
}

static void run_until_held(struct rig *rig)
{
	int64_t end_ms = clock_mono_ms() + LIMIT_MS;

	while (!rig->held && clock_mono_ms() < end_ms)
		loop_step(rig->driver.loop, 50, NULL);
	CHECK_INT(rig->held, ==, 1);
}

static void refuses(struct rig *rig, enum gate_type type, enum cause cause, const char *why)
{
	struct gate gate = {.number = 1};

	CHECK_INT(part_lease.may(&rig->driver, type, &gate), ==, GATE_REFUSED);
	CHECK_INT(gate.cause, ==, cause);
	CHECK_HAS(gate.why, why);
}

TEST(without_the_lease_nothing_is_read_or_launched)
{
	struct rig rig;
	struct gate gate = {.number = 1};

	rig_begin(&rig);
	refuses(&rig, GATE_OBSERVE, CAUSE_LEASE_UNREADABLE, "not yet");
	theirs(false);
	alive(&rig);
	run_until(&rig, &there.reads, 1);
	refuses(&rig, GATE_OBSERVE, CAUSE_LEASE_ELSEWHERE, "west holds the lease");
	refuses(&rig, GATE_LAUNCH, CAUSE_LEASE_ELSEWHERE, "west holds the lease");
	CHECK_INT(part_lease.may(&rig.driver, GATE_TRIGGER, &gate), ==, GATE_PASSES);
	CHECK_INT(there.checks, ==, 0); /* nothing is written, not even to try */
	CHECK_INT(rig.held + rig.lost, ==, 0);
	rig_end(&rig);
}

TEST(the_lease_of_the_agent_before_is_taken_over_and_told)
{
	struct rig rig;
	struct gate gate = {.number = 1};
	cleanup_json struct json *document = json_object();

	rig_begin(&rig);
	ours_before(&rig);
	alive(&rig);
	run_until_held(&rig);
	CHECK_INT(there.checks, ==, 1);
	CHECK_INT(part_lease.may(&rig.driver, GATE_OBSERVE, &gate), ==, GATE_PASSES);
	CHECK_INT(part_lease.may(&rig.driver, GATE_LAUNCH, &gate), ==, GATE_PASSES);
	CHECK_HAS(buf_str(&there.body), "\"name\": \"east\"");
	part_lease.status(&rig.driver, document);
	CHECK(json_bool_or(json_get(document, "lease"), "held", false));
	/* and lost: it is said once, and nothing may be done any more */
	theirs(true);
	rig.driver.life.journal.intent.do_not_restart = true; /* which is written at once */
	part_lease.stepped(&rig.driver);
	run_until(&rig, &there.reads, 3);
	CHECK_INT(rig.lost, ==, 1);
	CHECK_HAS(rig.why, "not meant to run there");
	refuses(&rig, GATE_OBSERVE, CAUSE_LEASE_ELSEWHERE, "not meant to run there");
	rig_end(&rig);
}

/* Nothing is read in between: the answer to each write has the tag that the next one goes by. */
TEST(a_lease_that_is_held_is_renewed_by_the_tag_of_the_last_write)
{
	struct rig rig;
	int reads;

	rig_begin(&rig);
	ours_before(&rig);
	alive(&rig);
	run_until_held(&rig);
	reads = there.reads;
	for (int renewed = 1; renewed <= 3; renewed++) {
		int writes = there.writes;

		/* which is written at once */
		rig.driver.life.journal.intent.do_not_restart = renewed % 2;
		part_lease.stepped(&rig.driver);
		run_until(&rig, &there.writes, writes + 1);
		CHECK_HAS(buf_str(&there.body),
			  renewed % 2 ? "\"parked\": true" : "\"parked\": false");
	}
	CHECK_INT(there.reads, ==, reads);
	CHECK_INT(there.conflicts, ==, 0);
	CHECK_INT(rig.held, ==, 4);
	CHECK_INT(rig.lost, ==, 0);
	rig_end(&rig);
}

TEST(a_server_without_conditions_holds_no_lease)
{
	struct rig rig;

	rig_begin(&rig);
	there.ignores = true;
	ours_before(&rig);
	alive(&rig);
	run_until(&rig, &there.checks, 1);
	CHECK_INT(there.writes, ==, 0);
	refuses(&rig, GATE_OBSERVE, CAUSE_LEASE_UNREADABLE, "the server ignores If-Match");
	rig_end(&rig);
}

TEST(what_cannot_be_read_or_understood_is_not_taken)
{
	struct rig rig;

	rig_begin(&rig);
	err_set(&there.err, ERR_DENIED, 0, "HTTP 403 AccessDenied");
	alive(&rig);
	run_until(&rig, &there.reads, 1);
	refuses(&rig, GATE_OBSERVE, CAUSE_LEASE_UNREADABLE, "HTTP 403 AccessDenied");
	there.err = (struct err){0};
	ours_before(&rig);
	buf_addstr(&there.body, "rubbish");
	run_until(&rig, &there.reads, 2);
	refuses(&rig, GATE_OBSERVE, CAUSE_LEASE_UNREADABLE, "s3://b/lease.json: ");
	CHECK_INT(there.writes, ==, 0);
	rig_end(&rig);
}

static void *answers_late(void *arg)
{
	(void)arg;
	usleep(200000);
	there.hangs = false;
	return NULL;
}

/* One that hangs for longer is left behind, as for every lane. */
TEST(an_answer_that_comes_while_drey_ends_changes_nothing)
{
	struct rig rig;
	pthread_t thread;

	rig_begin(&rig);
	there.hangs = true;
	alive(&rig);
	run_until(&rig, &there.reads, 1);
	refuses(&rig, GATE_OBSERVE, CAUSE_LEASE_UNREADABLE, "not yet");
	CHECK_INT(pthread_create(&thread, NULL, answers_late, NULL), ==, 0);
	rig.driver.closing = true;
	rig_end(&rig);
	CHECK_INT(rig.held + rig.lost, ==, 0);
	CHECK_INT(pthread_join(thread, NULL), ==, 0);
}

/* ---- whose lease it is ---- */

TEST(a_copy_of_the_journal_has_no_proof_and_waits)
{
	struct rig rig;

	rig_begin(&rig);
	claims_ours("east", false);
	alive(&rig);
	run_until(&rig, &there.reads, 2);
	CHECK_INT(there.writes, ==, 0);
	refuses(&rig, GATE_OBSERVE, CAUSE_LEASE_ELSEWHERE, "with the id of this journal");
	rig_end(&rig);
}

/* Neither a copy of the state directory: it is another place. */
TEST(a_copied_state_directory_is_no_proof)
{
	struct rig rig;
	char *original;
	cleanup_free char *command = NULL;

	rig_begin(&rig);
	ours_before(&rig);
	original = rig.setup.config.state_directory;
	rig.setup.config.state_directory = dir_new();
	command = xasprintf("cp -a %s/. %s/", original, rig.setup.config.state_directory);
	CHECK_INT(system(command), ==, 0);
	dir_removep(&original);
	alive(&rig);
	run_until(&rig, &there.reads, 2);
	CHECK_INT(there.writes, ==, 0);
	rig_end(&rig);
	/* nor is it one in another Pod */
	rig_begin(&rig);
	ours_before(&rig);
	rig.setup.kube.pod_uid = (char *)"another";
	alive(&rig);
	run_until(&rig, &there.reads, 2);
	CHECK_INT(there.writes, ==, 0);
	rig_end(&rig);
}

/* The mark must be there before the write is: the next agent may begin at any time. */
TEST(each_write_is_marked_before_it_is_sent)
{
	struct rig rig;
	struct lease_mark mark = {0};
	struct lease_claim claim = {0};
	char place[LEASE_PLACE_BYTES];

	rig_begin(&rig);
	ours_before(&rig);
	alive(&rig);
	run_until(&rig, &there.writes, 1);
	CHECK_INT(lease_claim_parse(buf_str(&there.body), there.body.len_bytes, "orders", &claim,
				    NULL),
		  ==, 0);
	CHECK_INT(claim.sequence, ==, 8);
	lease_place(rig.setup.config.state_directory, NULL, place);
	CHECK(lease_mark_load(rig.setup.config.state_directory, place, &mark));
	CHECK(lease_mark_has(&mark, claim.write));
	CHECK(lease_mark_has(&mark, WRITE));
	CHECK(!lease_mark_load(rig.setup.config.state_directory, "elsewhere", &mark));
	rig_end(&rig);
}

TEST(a_state_directory_that_cannot_be_written_does_not_cost_the_lease)
{
	struct rig rig;
	cleanup_free char *in_the_way = NULL;

	rig_begin(&rig);
	in_the_way = xasprintf("%s/lease.json.new", rig.setup.config.state_directory);
	CHECK_INT(mkdir(in_the_way, 0700), ==, 0);
	claims_ours("east", true);
	alive(&rig);
	run_until_held(&rig);
	rig_end(&rig);
}

TEST(the_journal_is_told_how_long_a_longer_claim_lasts)
{
	struct rig rig;
	struct lease_claim claim = {.sequence = 9, .duration_ms = 90000};

	rig_begin(&rig);
	memcpy(claim.holder, THEIRS, sizeof(claim.holder));
	memcpy(claim.session, THEIRS, sizeof(claim.session));
	lease_claim_print(&claim, "orders", &there.body);
	there.exists = true;
	alive(&rig);
	run_until(&rig, &there.reads, 1);
	CHECK_INT(rig.longest_ms, ==, 90000);
	rig_end(&rig);
}

/* ---- a copy of the bucket ---- */

/* The claim of the agent before, as it stands in the object, with the URI that it was written to. */
static void before_at(const struct rig *rig, const char *uri)
{
	struct lease_claim claim = {0};

	ours_before(rig);
	CHECK_INT(lease_claim_parse(buf_str(&there.body), there.body.len_bytes, "orders", &claim,
				    NULL),
		  ==, 0);
	snprintf(claim.uri, sizeof(claim.uri), "%s", uri);
	buf_clear(&there.body);
	lease_claim_print(&claim, "orders", &there.body);
}

TEST(a_lease_that_came_with_its_bucket_is_not_taken_by_its_mark)
{
	struct rig rig;

	rig_begin(&rig);
	before_at(&rig, "s3://west/lease.json");
	alive(&rig);
	run_until(&rig, &there.reads, 2);
	CHECK_INT(there.writes, ==, 0);
	refuses(&rig, GATE_OBSERVE, CAUSE_LEASE_COPIED,
		"was written for s3://west/lease.json, and this is s3://b/lease.json");
	rig_end(&rig);
}

TEST(another_spelling_of_the_object_is_no_copy_and_what_is_written_has_one)
{
	static const char *const spellings[] = {"s3://b/lease.json", "s3a://b//lease.json/",
						"s3p://KEY:SECRET@b/lease.json"};
	struct lease_claim claim = {0};

	for (size_t i = 0; i < sizeof(spellings) / sizeof(spellings[0]); i++) {
		struct rig rig;

		rig_begin(&rig);
		before_at(&rig, spellings[i]);
		alive(&rig);
		run_until_held(&rig);
		CHECK_INT(lease_claim_parse(buf_str(&there.body), there.body.len_bytes, "orders",
					    &claim, NULL),
			  ==, 0);
		CHECK_STR(claim.uri, "s3://b/lease.json");
		rig_end(&rig);
	}
}

/* ---- its end ---- */

TEST(when_drey_exits_the_lease_is_given_back)
{
	struct rig rig;
	struct gate gate = {.number = 1};
	struct lease_claim claim = {0};

	rig_begin(&rig);
	claims_ours("east", true); /* by the Pod before: no proof is needed */
	alive(&rig);
	run_until_held(&rig);
	rig.driver.life.fenced =
		true; /* and even then: what it says is only that this Flink has ended */
	CHECK_INT(part_lease.may(&rig.driver, GATE_EXIT, &gate), ==, GATE_NOT_YET);
	CHECK_STR(gate.waits[0].what, "the lease to be given back");
	refuses(&rig, GATE_LAUNCH, CAUSE_LEASE_ELSEWHERE, "was given back");
	run_until(&rig, &rig.agains, 1);
	CHECK_INT(part_lease.may(&rig.driver, GATE_EXIT, &gate), ==, GATE_PASSES);
	CHECK_INT(lease_claim_parse(buf_str(&there.body), there.body.len_bytes, "orders", &claim,
				    NULL),
		  ==, 0);
	CHECK(claim.ended);
	CHECK_STR(claim.holder, OURS);
	rig_end(&rig);
}

TEST(a_lease_is_not_given_back_while_a_flink_lives)
{
	struct rig rig;
	struct gate gate = {.number = 1};

	rig_begin(&rig);
	claims_ours("east", true);
	alive(&rig);
	run_until_held(&rig);
	rig.flink_lives = true;
	CHECK_INT(part_lease.may(&rig.driver, GATE_EXIT, &gate), ==, GATE_PASSES);
	CHECK(strstr(buf_str(&there.body), "\"ended\": false") != NULL);
	rig_end(&rig);
}

TEST(an_exit_does_not_wait_for_a_store_that_does_not_answer)
{
	struct rig rig;
	struct gate gate = {.number = 1};

	rig_begin(&rig);
	claims_ours("east", true);
	alive(&rig);
	run_until_held(&rig);
	err_set(&there.err, ERR_RETRY, 0, "no route to the store");
	CHECK_INT(part_lease.may(&rig.driver, GATE_EXIT, &gate), ==, GATE_NOT_YET);
	CHECK_INT(gate.waits[0].until_ms - clock_mono_ms(), <=, 1000);
	run_until(&rig, &rig.agains, 1);
	CHECK_INT(part_lease.may(&rig.driver, GATE_EXIT, &gate), ==, GATE_PASSES);
	rig_end(&rig);
}
