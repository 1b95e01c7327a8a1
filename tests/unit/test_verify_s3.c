/* Verify in an object store: what only its answers can say. */
#include "metadata_writer.h"
#include "s3_world.h"
#include "store/verify.h"

static struct buf metadata;
static const char *state_headers;

static bool serve(struct s3_stub *stub, const struct http_stub_request *request,
		  struct http_stub_answer *answer)
{
	(void)stub;
	if (strstr(request->target, "_metadata")) {
		buf_add(&answer->body, metadata.data, metadata.len_bytes);
		return true;
	}
	buf_addstr(&answer->headers, state_headers);
	buf_addstr(&answer->body, "01234567890123456789");
	return true;
}

TEST(a_snapshot_with_an_archived_file_is_unreadable_and_the_remedy_is_named)
{
	cleanup_buf struct buf keyed = BUF_INIT;
	struct verify_report report;
	struct world world;

	begin(&world);
	wr_u8(&keyed, 3);
	wr_groups(&keyed);
	wr_relative(&keyed, "state", 20);
	wr_snapshot(&metadata, 4, 7, &keyed);
	set_fault(&world, serve);
	state_headers = "x-amz-storage-class: GLACIER\r\n";
	CHECK_INT(verify_snapshot(&world.config, "s3://b/ck/chk-7", &report, &world.err), ==, 0);
	CHECK_STR(verify_verdict_name(report.verdict), "unreadable");
	if (CHECK_INT(report.problem_count, ==, 1)) {
		CHECK_STR(report.problems[0].path, "s3://b/ck/chk-7/state");
		CHECK_HAS(report.problems[0].detail, "is archived; request its restore");
	}
	verify_release(&report);
	state_headers = "x-amz-storage-class: STANDARD\r\n";
	CHECK_INT(verify_snapshot(&world.config, "s3://b/ck/chk-7", &report, &world.err), ==, 0);
	CHECK_STR(verify_verdict_name(report.verdict), "complete");
	verify_release(&report);
	buf_release(&metadata);
	end(&world);
}

/* The state file answers 404, whatever a listing says. */
static bool hides_state(struct s3_stub *stub, const struct http_stub_request *request,
			struct http_stub_answer *answer)
{
	(void)stub;
	if (strstr(request->target, "list-type"))
		return false;
	if (strstr(request->target, "_metadata"))
		buf_add(&answer->body, metadata.data, metadata.len_bytes);
	else
		s3_stub_error(answer, 404, "NoSuchKey", "");
	return true;
}

TEST(a_state_file_is_missing_only_if_its_directory_does_not_list_it)
{
	cleanup_buf struct buf keyed = BUF_INIT;
	struct verify_report report;
	struct world world;

	begin(&world);
	wr_u8(&keyed, 3);
	wr_groups(&keyed);
	wr_relative(&keyed, "state", 20);
	wr_snapshot(&metadata, 4, 7, &keyed);
	s3_stub_put(world.stub, "ck/chk-7/_metadata", 20);
	set_fault(&world, hides_state);
	CHECK_INT(verify_snapshot(&world.config, "s3://b/ck/chk-7", &report, &world.err), ==, 0);
	CHECK_STR(verify_verdict_name(report.verdict), "damaged");
	verify_release(&report);
	s3_stub_put(world.stub, "ck/chk-7/state", 20);
	CHECK_INT(verify_snapshot(&world.config, "s3://b/ck/chk-7", &report, &world.err), ==, 0);
	CHECK_STR(verify_verdict_name(report.verdict), "unreadable");
	if (CHECK_INT(report.problem_count, ==, 1))
		CHECK_HAS(report.problems[0].detail, "listed");
	verify_release(&report);
	buf_release(&metadata);
	end(&world);
}

/* The state file answers with 15 bytes, whatever a listing says. */
static bool shortens_state(struct s3_stub *stub, const struct http_stub_request *request,
			   struct http_stub_answer *answer)
{
	(void)stub;
	if (strstr(request->target, "list-type"))
		return false;
	if (strstr(request->target, "_metadata"))
		buf_add(&answer->body, metadata.data, metadata.len_bytes);
	else
		buf_addstr(&answer->body, "012345678901234");
	return true;
}

TEST(a_state_file_has_another_size_only_if_its_listing_agrees)
{
	cleanup_buf struct buf keyed = BUF_INIT;
	struct verify_report report;
	struct world world;

	begin(&world);
	wr_u8(&keyed, 3);
	wr_groups(&keyed);
	wr_relative(&keyed, "state", 20);
	wr_snapshot(&metadata, 4, 7, &keyed);
	s3_stub_put(world.stub, "ck/chk-7/_metadata", 20);
	s3_stub_put(world.stub, "ck/chk-7/state", 15);
	s3_stub_put(world.stub, "ck/chk-7/state-2", 20);
	set_fault(&world, shortens_state);
	CHECK_INT(verify_snapshot(&world.config, "s3://b/ck/chk-7", &report, &world.err), ==, 0);
	CHECK_STR(verify_verdict_name(report.verdict), "damaged");
	if (CHECK_INT(report.problem_count, ==, 1))
		CHECK_STR(report.problems[0].detail, "has 15 bytes, expected 20");
	verify_release(&report);
	s3_stub_find(world.stub, "ck/chk-7/state")->size_bytes = 20;
	CHECK_INT(verify_snapshot(&world.config, "s3://b/ck/chk-7", &report, &world.err), ==, 0);
	CHECK_STR(verify_verdict_name(report.verdict), "unreadable");
	if (CHECK_INT(report.problem_count, ==, 1))
		CHECK_HAS(report.problems[0].detail,
			  "is listed with 20 bytes, but answered with 15");
	verify_release(&report);
	buf_release(&metadata);
	end(&world);
}

/* Every single request answers 404, whatever a listing says. */
static bool hides_files(struct s3_stub *stub, const struct http_stub_request *request,
			struct http_stub_answer *answer)
{
	(void)stub;
	if (strstr(request->target, "list-type"))
		return false;
	s3_stub_error(answer, 404, "NoSuchKey", "");
	return true;
}

TEST(a_metadata_is_missing_only_if_its_directory_does_not_list_it)
{
	struct verify_report report;
	struct world world;

	begin(&world);
	set_fault(&world, hides_files);
	CHECK_INT(verify_snapshot(&world.config, "s3://b/ck/chk-7", &report, &world.err), ==, 0);
	CHECK_STR(verify_verdict_name(report.verdict), "damaged");
	verify_release(&report);
	s3_stub_put(world.stub, "ck/chk-7/_metadata", 20);
	CHECK_INT(verify_snapshot(&world.config, "s3://b/ck/chk-7", &report, &world.err), ==, 0);
	CHECK_STR(verify_verdict_name(report.verdict), "unreadable");
	if (CHECK_INT(report.problem_count, ==, 1))
		CHECK_HAS(report.problems[0].detail, "is listed, but was not found");
	verify_release(&report);
	end(&world);
}
