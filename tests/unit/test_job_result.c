#include "format/job_result.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/mem.h"
#include "tap.h"

#define JOB "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa01"

typedef int parse_fn(const char *text, size_t len_bytes, struct job_result *ret_result,
		     struct err *err);

static const char *const versions[] = {"1.20.0", "2.3.0"};

static void load(const char *version, const char *name, struct buf *text)
{
	cleanup_free char *path = xasprintf("tests/fixtures/results/%s-%s", version, name);
	struct err err = {0};

	CHECK_INT(fs_read(path, JOB_RESULT_MAX_BYTES, text, &err), ==, 0);
}

static void reads(parse_fn *parse, const char *name, enum job_result_status status, int digit,
		  bool stopped)
{
	for (size_t i = 0; i < ARRAY_LEN(versions); i++) {
		cleanup_buf struct buf text = BUF_INIT;
		struct job_result result = {0};
		struct err err = {0};

		load(versions[i], name, &text);
		CHECK_INT(parse(buf_str(&text), text.len_bytes, &result, &err), ==, 0);
		CHECK_STR(err.msg, "");
		CHECK_INT(result.status, ==, status);
		CHECK_INT(result.job_id[31], ==, '0' + digit);
		CHECK_INT(strlen(result.job_id), ==, 32);
		if (stopped)
			CHECK_HAS(result.stop, "file:/data/sp/savepoint-aaaaaa-");
		else
			CHECK(result.stop == NULL);
		job_result_release(&result);
	}
}

TEST(reads_what_flink_has_written_to_its_job_result_store)
{
	reads(job_result_parse, "succeeded.json", JOB_RESULT_SUCCEEDED, 1, false);
	reads(job_result_parse, "failed.json", JOB_RESULT_FAILED, 2, false);
	reads(job_result_parse, "canceled.json", JOB_RESULT_CANCELED, 3, false);
	reads(job_result_parse, "unknown.json", JOB_RESULT_UNKNOWN, 4, false);
}

TEST(reads_the_archive_of_a_job)
{
	reads(job_archive_parse, "archive-finished", JOB_RESULT_SUCCEEDED, 1, false);
	reads(job_archive_parse, "archive-canceled", JOB_RESULT_CANCELED, 3, false);
	reads(job_archive_parse, "archive-failed", JOB_RESULT_FAILED, 4, false);
}

TEST(an_archive_tells_a_stop_from_an_end)
{
	reads(job_archive_parse, "archive-stopped", JOB_RESULT_SUCCEEDED, 2, true);
}

static void refused(parse_fn *parse, const char *text, enum err_kind kind, const char *why)
{
	struct job_result result = {0};
	struct err err = {0};

	CHECK_INT(parse(text, strlen(text), &result, &err), ==, -1);
	CHECK_INT(err.kind, ==, kind);
	CHECK_HAS(err.msg, why);
	CHECK_STR(result.job_id, "");
}

#define ENTRY(id, status, version)                                                                 \
	"{\"result\":{\"id\":" id ",\"application-status\":" status "},\"version\":" version "}"

TEST(an_entry_that_is_none_is_refused)
{
	refused(job_result_parse, "", ERR_FORMAT, "byte");
	refused(job_result_parse, "[]", ERR_FORMAT, "version");
	refused(job_result_parse, "{\"version\":1}", ERR_FORMAT, "'result'");
	refused(job_result_parse, ENTRY("\"xyz\"", "\"FAILED\"", "1"), ERR_FORMAT, "not a job id");
	refused(job_result_parse, ENTRY("\"" JOB "\"", "\"DONE\"", "1"), ERR_FORMAT, "DONE");
	refused(job_result_parse, ENTRY("\"" JOB "\"", "1", "1"), ERR_FORMAT, "application-status");
	refused(job_result_parse, ENTRY("\"" JOB "\"", "\"FAILED\"", "0"), ERR_FORMAT, "version");
	refused(job_result_parse, ENTRY("\"" JOB "\"", "\"FAILED\"", "2"), ERR_CONFIG, "newer");
}

/* Flink was killed while it wrote: wherever it breaks off, no entry is taken for another one. */
TEST(half_an_entry_is_refused)
{
	cleanup_buf struct buf text = BUF_INIT;

	load("2.3.0", "failed.json", &text);
	for (size_t len = 0; len < text.len_bytes; len++) {
		struct job_result result = {0};

		CHECK(job_result_parse(buf_str(&text), len, &result, NULL) < 0);
	}
}

/* Its end may be missing: it may be huge, and only the head is read. */
TEST(half_an_archive_says_all_or_nothing)
{
	cleanup_buf struct buf text = BUF_INIT;
	bool was_read = false;

	load("1.20.0", "archive-stopped", &text);
	for (size_t len = 0; len < text.len_bytes; len++) {
		struct job_result result = {0};
		bool is_read = job_archive_parse(buf_str(&text), len, &result, NULL) == 0;

		CHECK(is_read || !was_read);
		CHECK(!is_read || result.status == JOB_RESULT_SUCCEEDED);
		was_read = is_read;
		job_result_release(&result);
	}
	CHECK(was_read);
}

#define ARCHIVE(answers) "{\"archive\":[" answers "]}"
#define OVERVIEW(jobs)   "{\"path\":\"/jobs/overview\",\"json\":\"{\\\"jobs\\\":" jobs "}\"}"

TEST(an_archive_that_is_none_is_refused)
{
	refused(job_archive_parse, "", ERR_FORMAT, "not an archive of Flink");
	refused(job_archive_parse, "{\"result\":{}}", ERR_FORMAT, "not an archive of Flink");
	refused(job_archive_parse, ARCHIVE(""), ERR_FORMAT, "no state of the job");
	refused(job_archive_parse, ARCHIVE(OVERVIEW("[]")), ERR_FORMAT, "expected one");
	refused(job_archive_parse, ARCHIVE(OVERVIEW("[{},{}]")), ERR_FORMAT, "expected one");
	refused(job_archive_parse, ARCHIVE(OVERVIEW("[{}]")), ERR_FORMAT, "'jid'");
	refused(job_archive_parse, ARCHIVE("{\"path\":\"\\ud800\",\"json\":\"\"}"), ERR_FORMAT, "");
}
