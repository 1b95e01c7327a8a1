/* What is observed in object storage: the word of one answer alone is no absence. */
#include "core/resolve/facts.h"
#include "run/observe/observe_internal.h"
#include "s3_world.h"

#define JOB "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa02"
#define APP "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa03"

static int lies; /* how often the listing of what is hidden is a lie; then it is true */

static bool denies(struct s3_stub *stub, const struct http_stub_request *request,
		   struct http_stub_answer *answer)
{
	/* all but what is in the directory, by a condition on s3:prefix */
	if (strstr(request->target, "prefix=a%2F") && !strstr(request->target, "prefix=a%2Fck%2F"))
		return denied(stub, request, answer);
	if (strstr(request->target, "list-type") && !lies--)
		stub->hides = NULL;
	return false;
}

static const char *denied_name; /* what is listed, and not found */

static bool hides_name(struct s3_stub *stub, const struct http_stub_request *request,
		       struct http_stub_answer *answer)
{
	(void)stub;
	if (!strstr(request->target, denied_name) || strstr(request->target, "list-type"))
		return false;
	s3_stub_error(answer, 404, "NoSuchKey", "");
	return true;
}

static void hide(struct world *world, const char *name)
{
	denied_name = name;
	set_fault(world, hides_name);
}

static enum source_state state_of(struct world *world)
{
	struct observe_plan plan = {0};
	struct facts facts = {0};
	struct look look = {.plan = &plan, .facts = &facts, .stores = {.config = &world->config}};
	enum source_state state;

	plan.result_dir = (char *)"s3://b/results/one";
	memcpy(plan.result_job, JOB, sizeof(JOB));
	memcpy(plan.result_application, APP, sizeof(APP));
	observe_result(&look);
	state = facts.sources[SOURCE_RESULTS].state;
	stores_release(&look.stores);
	facts_release(&facts);
	return state;
}

TEST(an_empty_listing_is_believed_only_if_another_one_agrees)
{
	struct world world;

	begin(&world);
	CHECK_INT(state_of(&world), ==, SOURCE_ABSENT);
	s3_stub_put(world.stub, "results/one/" JOB ".json", 2);
	CHECK_INT(state_of(&world), ==, SOURCE_PRESENT);
	world.stub->hides = "results/one/";
	CHECK_INT(state_of(&world), ==, SOURCE_UNREADABLE);
	end(&world);
}

/* Flink 2.3 makes the directory of the application before its archive. */
TEST(an_archive_that_is_listed_and_not_found_is_unreadable)
{
	struct world world;

	begin(&world);
	s3_stub_put(world.stub, "results/one/" APP "/applications/" APP "/jobs/x", 2);
	CHECK_INT(state_of(&world), ==, SOURCE_ABSENT);
	s3_stub_put(world.stub, "results/one/" APP "/applications/" APP "/jobs/" JOB, 2);
	hide(&world, "jobs/" JOB);
	CHECK_INT(state_of(&world), ==, SOURCE_UNREADABLE);
	end(&world);
}

static enum source_state snapshots_of(struct world *world, enum source_kind source)
{
	struct observe_plan plan = {.storage = &world->config};
	struct facts facts = {0};
	struct look look = {.plan = &plan, .facts = &facts, .stores = {.config = &world->config}};
	enum source_state state;

	observe_list(&look, source, "s3://b/a/ck");
	state = facts.sources[source].state;
	stores_release(&look.stores);
	facts_release(&facts);
	return state;
}

TEST(no_snapshots_at_all_need_a_second_listing)
{
	static const enum source_kind kinds[] = {SOURCE_CHECKPOINTS, SOURCE_SAVEPOINTS};

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		struct world world;

		begin(&world);
		CHECK_INT(snapshots_of(&world, kinds[i]), ==, SOURCE_ABSENT);
		s3_stub_put(world.stub, "a/ck/" JOB "/chk-1/_metadata", 2);
		world.stub->hides = "a/ck/";
		CHECK_INT(snapshots_of(&world, kinds[i]), ==, SOURCE_UNREADABLE);
		/* who may not list the directory above asks this one again */
		lies = 1000;
		set_fault(&world, denies);
		CHECK_INT(snapshots_of(&world, kinds[i]), ==, SOURCE_ABSENT);
		lies = 1;
		CHECK_INT(snapshots_of(&world, kinds[i]), ==, SOURCE_UNREADABLE);
		end(&world);
	}
}

/* Listed so long after all was written. */
static enum integrity seen_of(struct world *world, const char *path, int64_t late_ms,
			      const char *why)
{
	struct observe_plan plan = {.storage = &world->config};
	struct facts facts = {.now_unix_ms = S3_STUB_TIME_MS + late_ms};
	struct look look = {.plan = &plan, .facts = &facts, .stores = {.config = &world->config}};
	const struct candidate *c;
	enum integrity integrity;

	observe_list(&look, SOURCE_CHECKPOINTS, "s3://b/a/ck");
	observe_peek(&look);
	c = facts_find(&facts, path);
	CHECK(c);
	integrity = c ? c->integrity : INTEGRITY_COMPLETE;
	if (c && why)
		CHECK_HAS(c->detail, why);
	stores_release(&look.stores);
	facts_release(&facts);
	return integrity;
}

/* A checkpoint that is listed without a _metadata would be the newest with one: it is asked for by its name. */
TEST(a_metadata_that_no_listing_has_is_asked_for)
{
	static const char two[] = "s3://b/a/ck/" JOB "/chk-2";
	struct world world;

	begin(&world);
	s3_stub_put(world.stub, "a/ck/" JOB "/chk-1/_metadata", 2);
	s3_stub_put(world.stub, "a/ck/" JOB "/chk-2/state", 2);
	CHECK_INT(seen_of(&world, two, 0, "no _metadata"), ==, INTEGRITY_INCOMPLETE);
	s3_stub_put(world.stub, "a/ck/" JOB "/chk-2/_metadata", 2);
	world.stub->hides = "a/ck/" JOB "/chk-2/_metadata";
	CHECK_INT(seen_of(&world, two, 100000, "was not listed"), ==, INTEGRITY_UNREADABLE);
	/* written since: these bytes are no _metadata */
	CHECK_INT(seen_of(&world, two, 1000, "expected"), ==, INTEGRITY_DAMAGED);
	/* what is behind a completed one is not */
	s3_stub_put(world.stub, "a/ck/" JOB "/chk-3/_metadata", 2);
	CHECK_INT(seen_of(&world, two, 100000, "no _metadata"), ==, INTEGRITY_INCOMPLETE);
	end(&world);
}

static enum source_state checkpoints_of(struct world *world, int64_t late_ms, const char *why)
{
	char job[][JOB_ID_BYTES] = {APP, JOB};
	struct observe_plan plan = {.storage = &world->config,
				    .job_ids = job,
				    .job_id_count = 2,
				    .first = (char *)"s3://b/a/ck/" JOB "/chk-10"};
	struct facts facts = {.now_unix_ms = S3_STUB_TIME_MS + late_ms};
	struct look look = {.plan = &plan, .facts = &facts, .stores = {.config = &world->config}};
	enum source_state state;

	observe_list(&look, SOURCE_CHECKPOINTS, "s3://b/a/ck");
	observe_note_next(&look);
	observe_peek(&look);
	state = facts.sources[SOURCE_CHECKPOINTS].state;
	if (why)
		CHECK_HAS(facts.sources[SOURCE_CHECKPOINTS].detail, why);
	stores_release(&look.stores);
	facts_release(&facts);
	return state;
}

/* No other name tells that a listing has left out the newest checkpoint of all. */
TEST(the_checkpoint_after_the_newest_is_asked_for)
{
	struct world world;

	begin(&world);
	s3_stub_put(world.stub, "a/ck/" JOB "/chk-9/_metadata", 2);
	s3_stub_put(world.stub, "a/ck/" JOB "/chk-8/_metadata", 2);
	CHECK_INT(checkpoints_of(&world, 100000, NULL), ==, SOURCE_PRESENT);
	s3_stub_put(world.stub, "a/ck/" JOB "/chk-10/_metadata", 2);
	CHECK_INT(checkpoints_of(&world, 100000, NULL), ==, SOURCE_PRESENT);
	world.stub->hides = "a/ck/" JOB "/chk-10/_metadata";
	CHECK_INT(checkpoints_of(&world, 100000, "leaves out s3://b/a/ck/" JOB "/chk-10"), ==,
		  SOURCE_UNREADABLE);
	/* completed a moment ago, as by a container that was killed: it is there nevertheless */
	CHECK_INT(checkpoints_of(&world, 1000, "leaves out s3://b/a/ck/" JOB "/chk-10"), ==,
		  SOURCE_UNREADABLE);
	end(&world);
}

static bool fails_for_next(struct s3_stub *stub, const struct http_stub_request *request,
			   struct http_stub_answer *answer)
{
	(void)stub;
	if (!strstr(request->target, "chk-10"))
		return false;
	s3_stub_error(answer, 403, "AccessDenied", "not now");
	return true;
}

TEST(a_listing_is_not_believed_if_its_witness_gives_no_answer)
{
	struct world world;

	begin(&world);
	s3_stub_put(world.stub, "a/ck/" JOB "/chk-9/_metadata", 2);
	set_fault(&world, fails_for_next);
	CHECK_INT(checkpoints_of(&world, 100000, "may leave out s3://b/a/ck/" JOB "/chk-10"), ==,
		  SOURCE_UNREADABLE);
	end(&world);
}

/* The last launch was started from chk-9 of another job, and nothing of its own is listed. */
TEST(the_first_checkpoint_of_the_last_launch_is_asked_for)
{
	struct world world;

	begin(&world);
	s3_stub_put(world.stub, "a/ck/" APP "/chk-9/_metadata", 2);
	CHECK_INT(checkpoints_of(&world, 1000, NULL), ==, SOURCE_PRESENT);
	s3_stub_put(world.stub, "a/ck/" JOB "/chk-10/_metadata", 2);
	CHECK_INT(checkpoints_of(&world, 1000, NULL), ==, SOURCE_PRESENT);
	world.stub->hides = "a/ck/" JOB "/chk-10/_metadata";
	CHECK_INT(checkpoints_of(&world, 1000, "leaves out s3://b/a/ck/" JOB "/chk-10"), ==,
		  SOURCE_UNREADABLE);
	end(&world);
}

TEST(no_records_of_any_launch_need_a_second_listing)
{
	struct world world;

	begin(&world);
	for (int i = 0; i < 2; i++) {
		struct observe_plan plan = {.storage = &world.config,
					    .journal_state = SOURCE_ABSENT};
		struct facts facts = {0};
		struct look look = {
			.plan = &plan, .facts = &facts, .stores = {.config = &world.config}};

		plan.results_dir = (char *)"s3://b/results";
		observe_traces(&look);
		CHECK_INT(facts.results_listed.state, ==, i ? SOURCE_UNREADABLE : SOURCE_ABSENT);
		stores_release(&look.stores);
		facts_release(&facts);
		s3_stub_put(world.stub, "results/one/" JOB ".json", 2);
		world.stub->hides = "results/";
	}
	end(&world);
}

TEST(no_copy_of_the_journal_needs_a_listing)
{
	struct world world;

	begin(&world);
	for (int i = 0; i < 2; i++) {
		struct observe_plan plan = {.storage = &world.config,
					    .journal_state = SOURCE_ABSENT};
		struct facts facts = {0};
		struct look look = {
			.plan = &plan, .facts = &facts, .stores = {.config = &world.config}};

		plan.copy_uri = (char *)"s3://b/ck/.drey/orders/journal.json";
		observe_copy(&look);
		CHECK_INT(facts.sources[SOURCE_COPY].state, ==,
			  i ? SOURCE_UNREADABLE : SOURCE_ABSENT);
		stores_release(&look.stores);
		facts_release(&facts);
		s3_stub_put(world.stub, "ck/.drey/orders/journal.json", 2);
		hide(&world, "journal.json");
	}
	end(&world);
}

/* A snapshot that the journal names, of which `dir` is listed; NULL = no directory. */
static enum integrity named(struct world *world, const char *dir, const char *path,
			    enum snapshot_kind kind)
{
	struct snapshot snapshot = {
		.path = (char *)path, .kind = kind, .checkpoint_id = 8, .completed_unix_ms = 5};
	struct observe_places places = {.storage = &world->config};
	struct journal journal = {0};
	struct observe_plan plan;
	struct facts facts;
	enum integrity integrity = INTEGRITY_UNCHECKED;

	*(kind == SNAPSHOT_CHECKPOINT ? &places.checkpoint_dir : &places.savepoint_dir) = dir;
	memcpy(snapshot.job_id, JOB, sizeof(JOB));
	journal_add_snapshot(&journal, &snapshot);
	observe_plan_init(&plan, &places, &journal, NULL);
	observe_gather(&plan, &facts);
	if (CHECK_INT(facts.candidate_count, ==, 1))
		integrity = facts.candidates[0].integrity;
	facts_release(&facts);
	observe_plan_release(&plan);
	journal_release(&journal);
	return integrity;
}

/* Else an older one is started from, because a store denies one that the job's code has put elsewhere. */
TEST(what_the_journal_names_is_gone_only_if_a_listing_agrees)
{
	static const struct {
		const char *key, *path;
		enum snapshot_kind kind;
	} cases[] = {
		{"ck/" JOB "/chk-8/_metadata", "s3://b/ck/" JOB "/chk-8", SNAPSHOT_CHECKPOINT},
		{"sp/savepoint-aaaaaa-000000000001/_metadata",
		 "s3://b/sp/savepoint-aaaaaa-000000000001", SNAPSHOT_SAVEPOINT},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct world world;

		begin(&world);
		hide(&world, "_metadata");
		CHECK_INT(named(&world, NULL, cases[i].path, cases[i].kind), ==,
			  INTEGRITY_INCOMPLETE);
		s3_stub_put(world.stub, cases[i].key, 2);
		CHECK_INT(named(&world, NULL, cases[i].path, cases[i].kind), ==,
			  INTEGRITY_UNREADABLE);
		end(&world);
	}
}

/* That listing is the witness: no other is asked for. */
TEST(what_a_listing_covers_costs_no_other_one)
{
	struct world world;

	begin(&world);
	s3_stub_put(world.stub, "sp/note", 2);
	for (int covered = 0; covered < 2; covered++) {
		int before = world.stub->lists;

		CHECK_INT(named(&world, covered ? "s3://b/sp" : NULL,
				"s3://b/sp/savepoint-aaaaaa-000000000001", SNAPSHOT_SAVEPOINT),
			  ==, INTEGRITY_INCOMPLETE);
		CHECK_INT(world.stub->lists - before, ==, 1);
	}
	end(&world);
}

int main(int argc, char **argv)
{
	return tap_main(argc, argv);
}
